//! What Flux posts, and what it is answered.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use weir_core::ObservationKey;
use weir_ports::{Record, RecordKey, Store as _};
use weir_server::Unsigned;

use crate::house::{House, KEY, answer, sign, upgraded};

const DEV: &str = "/promotion/default/podinfo/dev";

fn without(mut event: Value, path: &str, key: &str) -> Value {
    event.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(key);
    event
}

fn with(mut event: Value, path: &str, value: Value) -> Value {
    *event.pointer_mut(path).unwrap() = value;
    event
}

impl House {
    async fn post_event(&self, path: &str, event: &Value) -> crate::house::Answer {
        answer(self.event(path, event).send().await.unwrap()).await
    }

    async fn post_unsigned(&self, path: &str, event: &Value) -> crate::house::Answer {
        answer(self.request(Method::POST, path).json(event).send().await.unwrap()).await
    }
}

#[tokio::test]
async fn a_success_is_stored_before_it_is_answered() {
    let house = House::open().await;
    let told = house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    assert_eq!(told.json["outcome"], "stored");
    assert_eq!(told.json["message"], "HelmRelease/podinfo in podinfo runs 6.2.0");
    assert_eq!(told.json["version"], "6.2.0");
    assert_eq!(told.json["target"], "default/dev/podinfo");
    assert_eq!(told.json["next"], "qa");
    assert_eq!(told.json["follow"], "/api/v1/pipelines/default/podinfo/environments/qa");
    assert_eq!(told.header("location"), "/api/v1/pipelines/default/podinfo/environments/qa");

    let key = ObservationKey {
        environment: "dev".parse().unwrap(),
        target: Some("default/dev/podinfo".parse().unwrap()),
        workload: "HelmRelease/podinfo".parse().unwrap(),
    };
    let key = RecordKey::Observation("default/podinfo".parse().unwrap(), key);
    let Some(Record::Observation(_, _, stored)) = house.store.get(&key).await.unwrap().map(|it| it.record) else {
        panic!("it is not stored");
    };
    assert_eq!(stored.success.unwrap().revision.as_str(), "6.2.0");
}

#[tokio::test]
async fn an_event_that_is_posted_again_is_stored_once() {
    let house = House::open().await;
    house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    let writes = house.store.writes();
    let again = house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    assert_eq!(again.json["outcome"], "known");
    // A replay of what a newer event replaced changes nothing either.
    house.report("dev", &upgraded("6.3.0", 2)).await.ok(202);
    assert_eq!(house.report("dev", &upgraded("6.2.0", 1)).await.ok(202).json["outcome"], "outdated");
    assert_eq!(house.store.writes(), writes + 1);
}

#[tokio::test]
async fn events_that_come_at_once_are_all_stored() {
    let house = House::open().await;
    let events: Vec<_> = (1..40).map(|second| upgraded(&format!("6.2.{second}"), second)).collect();
    let all = events.iter().map(|event| house.report("dev", event));
    for told in futures_util::future::join_all(all).await {
        told.ok(202);
    }
    let versions = house.get("/api/v1/versions").await.ok(200);
    assert_eq!(versions.json["items"][0]["version"], "6.2.39");
}

#[tokio::test]
async fn a_record_that_somebody_else_wrote_is_read_again() {
    let house = House::open().await;
    house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    // Another process writes the record, and this one has not heard of it.
    let other = House::build(|_| {}).await;
    other.ready();
    for stored in house.store.select(|record| Some(record.clone())) {
        other.store.create(stored).await.unwrap();
    }
    other.report("dev", &upgraded("6.3.0", 2)).await.ok(202);
    let versions = other.get("/api/v1/versions").await;
    assert_eq!(versions.json["items"][0]["version"], "6.3.0");
}

#[tokio::test]
async fn a_failure_is_stored_and_takes_the_health_away() {
    let house = House::open().await;
    house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    let failure = with(upgraded("6.3.0", 2), "/reason", json!("UpgradeFailed"));
    let told = house.report("dev", &failure).await.ok(202);
    assert_eq!(told.json["version"], Value::Null);
    let versions = house.get("/api/v1/versions?healthy=false").await;
    assert_eq!(versions.json["items"][0]["version"], "6.2.0");
}

#[tokio::test]
async fn what_is_neither_success_nor_failure_is_answered_with_why_it_is_ignored() {
    let house = House::open().await;
    let told = house.report("dev", &with(upgraded("1", 1), "/reason", json!("DriftCorrected"))).await.ok(200);
    assert_eq!(told.json["outcome"], "ignored");
    assert_eq!(told.json["message"], "reason `DriftCorrected` is neither a success nor a failure");
    assert_eq!(house.store.writes(), 0);
}

#[tokio::test]
async fn the_last_environment_reports_that_a_release_arrived() {
    let house = House::open().await;
    let told = house.report("prod", &upgraded("6.2.0", 1)).await.ok(202);
    assert_eq!(told.json["next"], Value::Null);
    assert_eq!(told.header("location"), "/api/v1/pipelines/default/podinfo/environments/prod");
}

#[tokio::test]
async fn only_post_is_known() {
    let house = House::open().await;
    let told = house.get(DEV).await;
    told.problem(405);
    assert_eq!(told.header("allow"), "POST");
}

#[tokio::test]
async fn until_the_pipelines_are_known_none_is_missing() {
    let house = House::build(|_| {}).await;
    for path in [DEV, "/promotion/default/nothing/dev"] {
        let told = house.post_event(path, &upgraded("1", 1)).await;
        told.problem(503);
        assert_eq!(told.header("retry-after"), "2");
    }
    house.ready();
    house.post_event(DEV, &upgraded("1", 1)).await.ok(202);
}

#[tokio::test]
async fn a_pipeline_that_is_not_there_is_missing() {
    let house = House::open().await;
    for path in ["/promotion/default/nothing/dev", "/promotion/Default/podinfo/dev", "/promotion/default/podinfo"] {
        house.post_event(path, &upgraded("1", 1)).await.problem(404);
    }
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_unread() {
    let house = House::open().await;
    let long = with(upgraded("1", 1), "/message", json!("x".repeat(1 << 20)));
    house.post_event(DEV, &long).await.problem(413);
    house.post_event("/promotion/default/nothing/dev", &long).await.problem(404);
}

#[tokio::test]
async fn every_algorithm_is_known() {
    let house = House::open().await;
    for (second, algorithm) in (1..).zip(["sha224", "sha256", "sha384", "sha512"]) {
        let body = upgraded("1", second).to_string();
        let request = house.request(Method::POST, DEV).header("x-signature", sign(algorithm, KEY, body.as_bytes()));
        assert_eq!(request.body(body).send().await.unwrap().status(), StatusCode::ACCEPTED, "{algorithm}");
    }
}

#[tokio::test]
async fn an_event_without_the_right_signature_is_refused_before_it_is_read() {
    let house = House::open().await;
    let body = "no event at all";
    let right = sign("sha256", KEY, body.as_bytes());
    let wrong =
        [sign("sha256", "another key", body.as_bytes()), sign("sha256", KEY, b"another body"), "sha1=00".to_owned()];
    for signature in wrong.iter().map(String::as_str).chain([right.trim_start_matches("sha256="), ""]) {
        let request = house.request(Method::POST, DEV).header("x-signature", signature).body(body);
        let told = answer(request.send().await.unwrap()).await;
        told.problem(401);
        assert!(!told.text.contains(&right[7..]), "the right signature is told");
        assert!(!told.header("www-authenticate").is_empty());
    }
    let request = house.request(Method::POST, DEV).body(body);
    answer(request.send().await.unwrap()).await.problem(401);
    let request = house.request(Method::POST, DEV).header("x-signature", right).body(body);
    answer(request.send().await.unwrap()).await.problem(400);
    assert_eq!(house.store.writes(), 0);
}

#[tokio::test]
async fn who_cannot_sign_is_not_told_which_environments_there_are() {
    let house = House::open().await;
    let told = house.post_unsigned("/promotion/default/podinfo/nowhere", &upgraded("1", 1)).await;
    assert!(!told.problem(401).contains("qa"));
}

#[tokio::test]
async fn a_secret_without_a_key_is_told_without_its_name() {
    let house = House::open().await;
    house.catalog.put("default", "promotion-hmac", "token", KEY);
    let told = house.post_event(DEV, &upgraded("1", 1)).await;
    assert_eq!(told.problem(401), "there is no key to check the signature with; Weir's log says why");
    house.catalog.put("default", "promotion-hmac", "hmac-key", "");
    house.post_event(DEV, &upgraded("1", 1)).await.problem(401);
}

#[tokio::test]
async fn an_event_that_makes_no_sense_here_is_told_why() {
    let house = House::with(|settings| settings.unsigned = Unsigned::Accept).await;
    let event = upgraded("6.2.0", 1);
    let object = |field: &str, value: &str| with(event.clone(), &format!("/involvedObject/{field}"), json!(value));
    let refused = [
        ("dev", without(event.clone(), "/metadata", "revision"), "no `revision`"),
        ("nowhere", event.clone(), "no environment `nowhere`"),
        ("dev", object("name", "other"), "`HelmRelease/other` is not a workload"),
        ("dev", object("kind", "HelmChart"), "is not a Flux object"),
        ("dev", object("namespace", "elsewhere"), "no such target"),
        ("dev", object("name", "NO NAME"), "cannot exist"),
    ];
    for (environment, event, why) in refused {
        let told = house.report(environment, &event).await;
        assert!(told.problem(422).contains(why), "{}", told.text);
    }
    house.define(
        "{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {name: bare, namespace: default}, \
         spec: {environments: [{name: dev, targets: []}]}}",
    );
    let told = house.post_unsigned("/promotion/default/bare/dev", &event).await;
    assert!(told.problem(422).contains("has no targets"));
    assert_eq!(house.store.writes(), 0);
}

#[tokio::test]
async fn what_is_no_event_is_told_so() {
    let house = House::open().await;
    house.report("dev", &json!({"hello": "world"})).await.problem(400);
    house.report("dev", &json!([])).await.problem(400);
}

#[tokio::test]
async fn the_target_is_the_one_that_the_address_or_the_event_names() {
    let house = House::open().await;
    let target = async |query: &str, cluster: Option<&str>| {
        let mut event = upgraded("6.2.0", 1);
        if let Some(cluster) = cluster {
            event["metadata"]["cluster"] = json!(cluster);
        }
        house.post_event(&format!("/promotion/default/podinfo/qa{query}"), &event).await
    };
    assert_eq!(target("?cluster=perf", None).await.ok(202).json["target"], "default/perf/podinfo");
    assert_eq!(target("?cluster=perf", Some("qa")).await.ok(202).json["target"], "default/perf/podinfo");
    assert_eq!(target("", Some("qa")).await.ok(202).json["target"], "default/qa/podinfo");
    // Two targets have that namespace, so it counts for the environment.
    assert_eq!(target("", None).await.ok(202).json["target"], Value::Null);
    assert!(target("", Some("unheard-of")).await.problem(422).contains("no such target"));
    assert!(target("?cluster=unheard-of", None).await.problem(422).contains("no such target"));
}

#[tokio::test]
async fn an_event_that_nothing_signs_is_refused_unless_the_machine_trusts_itself() {
    let path = "/promotion/team-a/shop/dev";
    let mut event = upgraded("2.0.0", 1);
    event["involvedObject"]["name"] = json!("shop");
    event["involvedObject"]["namespace"] = json!("shop-dev");

    let house = House::open().await;
    let told = house.post_unsigned(path, &event).await;
    assert!(told.problem(401).contains("create a Secret with `hmac-key`"));

    let house = House::with(|settings| settings.unsigned = Unsigned::Accept).await;
    house.post_unsigned(path, &event).await.ok(202);
    let elsewhere = house.request(Method::POST, path).header("host", "evil.example").json(&event);
    answer(elsewhere.send().await.unwrap()).await.problem(403);
    // What has a Secret still has to be signed.
    house.post_unsigned(DEV, &upgraded("1", 1)).await.problem(401);

    let house = House::with(|settings| {
        settings.unsigned = Unsigned::Accept;
        settings.authentication = weir_server::Authentication::Tokens;
    })
    .await;
    house.post_unsigned(path, &event).await.problem(401);
}

#[tokio::test]
async fn a_signed_event_may_come_from_anywhere() {
    let house = House::open().await;
    let request = house.event(DEV, &upgraded("1", 1)).header("host", "weir.example.org");
    answer(request.send().await.unwrap()).await.ok(202);
}
