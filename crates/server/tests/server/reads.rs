//! What is shown, and how lists are filtered and paged.

use std::sync::Arc;

use serde_json::{Value, json};
use weir_core::{EnvironmentRecord, FirstSuccess, Phase, Sighting, Turn};
use weir_ports::{CatalogNotice, Flaw, Record, Seen};

use crate::{
    house::{House, upgraded},
    records::{PODINFO, SHOP, promotion, proposed},
};

#[tokio::test]
async fn what_ran_in_an_environment_is_told_with_how_it_came() {
    let house = House::open().await;
    let path = |environment: &str| format!("/api/v1/pipelines/team-a/shop/environments/{environment}/history");
    assert!(house.get(&path("prod")).await.names().is_empty());
    let mut came = promotion(SHOP, "prod", 1, "2.0.0", Phase::Succeeded);
    let at = |second: i64| jiff::Timestamp::from_second(second).unwrap();
    let turn = |phase, second| Turn { phase, at: at(second), note: None };
    came.history = vec![turn(Phase::Pending, 10), turn(Phase::Succeeded, 21)];
    let before = promotion(SHOP, "prod", 1, "1.0.0", Phase::Succeeded).release;
    let order = [(before, at(0)), (came.release.clone(), at(20))].map(|(release, at)| FirstSuccess { release, at });
    let record = EnvironmentRecord { order: order.to_vec(), ..EnvironmentRecord::default() };
    house.write(Record::Environment(SHOP.parse().unwrap(), "prod".parse().unwrap(), Box::new(record))).await;
    house.journal.past.lock().unwrap().push(came);
    let told = house.get(&path("prod")).await.ok(200).json;
    let [new, old] = told["items"].as_array().unwrap().as_slice() else { panic!("{told}") };
    assert_eq!((&new["release"]["name"], &new["promotion"]["name"]), (&json!("2.0.0"), &json!("shop-prod-1")));
    assert_eq!((&old["release"]["name"], &old["promotion"]), (&json!("1.0.0"), &Value::Null));
    assert_eq!((&old["since"], &old["until"]), (&json!("1970-01-01T00:00:00Z"), &json!("1970-01-01T00:00:20Z")));
    house.get(&path("nowhere")).await.problem(404);
    house.get("/api/v1/pipelines/team-a/nothing/environments/prod/history").await.problem(404);
}

#[tokio::test]
async fn what_a_list_does_not_know_is_refused() {
    let house = House::open().await;
    let refused = async |query: &str| house.get(&format!("/api/v1/{query}")).await.problem(400).to_owned();
    let words = refused("pipelines?namespce=default").await;
    assert!(words.starts_with("`namespce` is nothing that this list knows; it knows `namespace`, `name`"), "{words}");
    assert!(words.contains("`continue`"), "{words}");
    assert!(refused("pipelines?hold=Sleeping").await.contains("there is no hold `Sleeping`; there are `Suspended`"));
    assert!(refused("pipelines?phase=Done").await.contains("Done"));
    for list in ["pipelines", "promotions", "proposals", "versions", "freezes", "audit"] {
        assert_eq!(refused(&format!("{list}?limit=0")).await, "`limit` has to be 1 at least");
        refused(&format!("{list}?nonsense=1")).await;
    }
    let words = house.get("/api/v1/nonsense").await.problem(404).to_owned();
    assert_eq!(words, "there is nothing at `/api/v1/nonsense`");
}

#[tokio::test]
async fn a_pipeline_is_shown_whole() {
    let house = House::open().await;
    house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    let mut next = promotion(PODINFO, "qa", 1, "6.2.0", Phase::Proposed);
    proposed(&mut next, Some("https://forge.example.org/pull/7"));
    house.promotion(&next).await;

    let shown = house.get("/api/v1/pipelines/default/podinfo").await.ok(200).json;
    let names: Vec<_> = shown["environments"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["dev", "qa", "prod"]);
    let dev = &shown["environments"][0];
    assert_eq!(dev["targets"][0]["detection"], "events");
    assert_eq!(dev["targets"][0]["name"], "default/dev/podinfo");
    assert_eq!(dev["targets"][0]["workloads"][0]["version"], "6.2.0");
    assert_eq!(dev["targets"][0]["workloads"][0]["state"], "healthy");
    assert_eq!(dev["explanation"]["verdict"], "first");
    let qa = &shown["environments"][1];
    assert_eq!(qa["promotion"]["proposal"]["url"], "https://forge.example.org/pull/7");
    assert_eq!(qa["promotion"]["phase"], "Proposed");
    assert_eq!(qa["strategy"]["forge"], "github");
    assert!(qa["explanation"]["headline"].as_str().unwrap().contains("6.2.0"), "{qa}");

    let alone = house.get("/api/v1/pipelines/default/podinfo/environments/qa").await.ok(200).json;
    assert_eq!(alone["promotion"], qa["promotion"]);
    let why = house.get("/api/v1/pipelines/default/podinfo/environments/qa/explain").await.ok(200).json;
    assert_eq!(why["headline"], qa["explanation"]["headline"]);
    house.get("/api/v1/pipelines/default/podinfo/environments/nowhere").await.problem(404);
    house.get("/api/v1/pipelines/default/nothing").await.problem(404);
    house.get("/api/v1/pipelines/NO/nothing").await.problem(404);
}

#[tokio::test]
async fn a_list_tells_how_each_environment_is_and_where() {
    let house = House::open().await;
    house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    let listed = house.get("/api/v1/pipelines?name=podinfo").await.ok(200).json;
    let [dev, qa] = [0, 1].map(|place| &listed["items"][0]["environments"][place]);
    assert_eq!((&dev["health"], &dev["clusters"]), (&json!("healthy"), &json!(["default/dev"])));
    assert_eq!(qa["health"], "unknown");
    let mut failed = upgraded("6.3.0", 2);
    failed["reason"] = json!("UpgradeFailed");
    failed["severity"] = json!("error");
    house.report("dev", &failed).await.ok(202);
    let listed = house.get("/api/v1/pipelines?name=podinfo").await.ok(200).json;
    assert_eq!(listed["items"][0]["environments"][0]["health"], "failed");
}

#[tokio::test]
async fn a_cluster_that_is_not_defined_is_told_with_its_targets_until_it_is() {
    let house = House::open().await;
    let key = PODINFO.parse().unwrap();
    let interest = house.world.look(&key, |known| known.interest().cloned()).flatten().unwrap();
    let see = |sighting: Option<Sighting>| {
        let (pipeline, target) = (key.clone(), "default/dev/podinfo".parse().unwrap());
        house.world.see(Seen { pipeline, interest: interest.clone(), target, sighting: sighting.map(Arc::new) });
    };
    see(None);
    let words = "there is no GitopsCluster `default/dev`; Weir knows this target by signed events only";
    let place = "/api/v1/pipelines/default/podinfo/environments/dev";
    assert_eq!(house.get(place).await.ok(200).json["targets"][0]["message"], words);
    let why = house.get(&format!("{place}/explain")).await.ok(200).json;
    assert!(why["reasons"][0]["sentence"].as_str().unwrap().ends_with(words), "{why}");
    see(Some(Sighting::default()));
    assert_eq!(house.get(place).await.ok(200).json["targets"][0].get("message"), None);
}

#[tokio::test]
async fn a_definition_is_shown_as_it_was_written() {
    let house = House::open().await;
    let told = house.get("/api/v1/pipelines/default/podinfo/manifest").await.ok(200);
    assert_eq!((told.header("content-type"), &*told.text), ("application/yaml", "kind: Pipeline\n"));
    house.get("/api/v1/pipelines/default/nothing/manifest").await.problem(404);
    let mut house = House::tokens().await;
    house.act_as("team-a-view");
    house.get("/api/v1/pipelines/default/podinfo/manifest").await.problem(403);
}

#[tokio::test]
async fn gates_are_shown_as_sentences() {
    let house = House::open().await;
    let prod = house.get("/api/v1/pipelines/team-a/shop/environments/prod").await.ok(200).json;
    assert_eq!(prod["gates"][0]["name"], "approval");
    assert_eq!(prod["gates"][0]["sentence"], "1 have to agree; anybody of group `release` may");
    assert_eq!(prod["strategy"]["repository"], "https://git.example.org/config.git");
}

#[tokio::test]
async fn pipelines_are_filtered() {
    let house = House::open().await;
    house.post("/api/v1/pipelines/team-a/shop/suspend", json!({})).await.ok(204);
    house.promotion(&promotion(PODINFO, "qa", 1, "6.2.0", Phase::Failed)).await;
    let names = async |query: &str| {
        let page = house.get(&format!("/api/v1/pipelines?{query}")).await.ok(200);
        page.names().join(" ")
    };
    assert_eq!(names("").await, "podinfo shop");
    assert_eq!(names("namespace=team-a").await, "shop");
    assert_eq!(names("name=info").await, "podinfo");
    assert_eq!(names("suspended=true").await, "shop");
    assert_eq!(names("phase=Failed").await, "podinfo");
    assert_eq!(names("problem=true").await, "podinfo");
    assert_eq!(names("problem=false").await, "shop");
    assert_eq!(names("hold=Soaking").await, "");
    house.get("/api/v1/pipelines?suspended=perhaps").await.problem(400);
}

#[tokio::test]
async fn lists_are_paged_in_a_stable_order() {
    let house = House::open().await;
    for name in ["a", "b", "c", "d"] {
        house.define(&format!(
            "{{apiVersion: pipelines.weave.works/v1alpha1, kind: Pipeline, metadata: {{name: {name}, namespace: pages}}, \
             spec: {{environments: [{{name: dev, targets: [{{namespace: x}}]}}]}}}}"
        ));
    }
    let first = house.get("/api/v1/pipelines?namespace=pages&limit=3").await.ok(200);
    assert_eq!(first.names(), ["a", "b", "c"]);
    let token = first.json["continue"].as_str().unwrap();
    let second = house.get(&format!("/api/v1/pipelines?namespace=pages&limit=3&continue={token}")).await.ok(200);
    assert_eq!(second.names(), ["d"]);
    assert!(second.json["continue"].is_null());
    let exact = house.get("/api/v1/pipelines?namespace=pages&limit=4").await.ok(200);
    assert!(exact.json["continue"].is_null());
    house.get("/api/v1/pipelines?continue=nonsense").await.problem(400);
}

#[tokio::test]
async fn promotions_of_the_past_are_paged_newest_first_and_none_is_shown_twice() {
    let house = House::open().await;
    let past = |ordinal| promotion(PODINFO, "qa", ordinal, "6.2.0", Phase::Succeeded);
    house.journal.past.lock().unwrap().extend((1..=5).map(past));
    let first = house.get("/api/v1/promotions?limit=2").await.ok(200);
    assert_eq!(first.names(), ["podinfo-qa-5", "podinfo-qa-4"]);
    // Another one begins, and moves the rest along.
    house.journal.past.lock().unwrap().push(past(6));
    let token = first.json["continue"].as_str().unwrap();
    let second = house.get(&format!("/api/v1/promotions?limit=2&continue={token}")).await.ok(200);
    let token = second.json["continue"].as_str().unwrap();
    let third = house.get(&format!("/api/v1/promotions?limit=2&continue={token}")).await.ok(200);
    assert_eq!([second.names(), third.names()].concat(), ["podinfo-qa-3", "podinfo-qa-2", "podinfo-qa-1"]);
    assert!(third.json["continue"].is_null());

    assert_eq!(house.get("/api/v1/promotions?live=true").await.names(), Vec::<&str>::new());
    assert_eq!(house.get("/api/v1/promotions?phase=Succeeded&namespace=team-a").await.names(), Vec::<&str>::new());
    house.get("/api/v1/promotions?phase=Nonsense").await.problem(400);
    house.get("/api/v1/promotions?pipeline=podinfo").await.problem(400);
    let shown = house.get("/api/v1/promotions/default/podinfo-qa-2").await.ok(200);
    assert_eq!(shown.json["ordinal"], 2);
    house.get("/api/v1/promotions/default/podinfo-qa-99").await.problem(404);
    house.get("/api/v1/promotions/default/nonsense").await.problem(404);
}

#[tokio::test]
async fn a_promotion_is_found_by_its_name() {
    let house = House::open().await;
    house.promotion(&promotion(SHOP, "prod", 3, "2.0.0", Phase::Pending)).await;
    let shown = house.get("/api/v1/promotions/team-a/shop-prod-3").await.ok(200);
    assert_eq!(shown.json["release"]["workloads"]["HelmRelease/shop"], "2.0.0");
    house.get("/api/v1/promotions/default/shop-prod-3").await.problem(404);
}

#[tokio::test]
async fn what_runs_where_is_filtered_and_paged() {
    let house = House::open().await;
    house.report("dev", &upgraded("6.3.0", 1)).await.ok(202);
    for cluster in ["qa", "perf"] {
        let path = format!("/promotion/default/podinfo/qa?cluster={cluster}");
        house.event(&path, &upgraded("6.2.0", 1)).send().await.unwrap();
    }
    let targets = async |query: &str| {
        let page = house.get(&format!("/api/v1/versions?{query}")).await.ok(200);
        let items = page.json["items"].as_array().unwrap().iter();
        items.map(|item| item["target"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    let (dev, qa, perf) = ("default/dev/podinfo", "default/qa/podinfo", "default/perf/podinfo");
    assert_eq!(targets("").await, format!("{dev} {perf} {qa}"));
    assert_eq!(targets("version=6.2.0").await, format!("{perf} {qa}"));
    assert_eq!(targets("version=6.*").await, format!("{dev} {perf} {qa}"));
    assert_eq!(targets("version=6.").await, "");
    assert_eq!(targets("environment=qa&cluster=qa").await, qa);
    assert_eq!(targets("cluster=default/dev").await, dev);
    assert_eq!(targets("workload=podinfo&healthy=true&pipeline=podinfo&namespace=default").await, targets("").await);
    assert_eq!(targets("workload=Kustomization/podinfo").await, "");
    let page = house.get("/api/v1/versions?limit=2").await;
    let token = page.json["continue"].as_str().unwrap();
    assert_eq!(targets(&format!("continue={token}")).await, qa);
    assert_eq!(page.json["items"][0]["images"], json!([]));
}

#[tokio::test]
async fn the_status_tells_what_is_wrong_with_the_definitions() {
    let house = House::open().await;
    house.world.define(CatalogNotice::Problems(vec![Flaw::remark(Vec::new(), "a.yaml: line 3: no such field")]));
    let status = house.get("/api/v1/status").await.ok(200).json;
    assert_eq!(status["ready"], true);
    assert_eq!(status["problems"][0], "a.yaml: line 3: no such field");
    assert_eq!(status["counts"]["pipelines"], 2);
    assert_eq!(status["actor"]["name"], "local");
}

#[tokio::test]
async fn a_pipeline_that_cannot_be_read_is_told_with_what_is_in_force() {
    let house = House::open().await;
    let flaw = |key: &str| {
        let (place, problem) = (Some("there".to_owned()), "spec.environments[0]: no".to_owned());
        Flaw { pipelines: vec![key.parse().unwrap()], unread: true, place, problem }
    };
    house.world.define(CatalogNotice::Problems(vec![flaw(PODINFO), flaw("default/new"), flaw("z/last")]));
    let listed = house.get("/api/v1/pipelines").await.ok(200).json;
    let told = |it: &Value| json!([it["name"], it["defined"], it["unread"], it["problem"]]);
    let told: Vec<_> = listed["items"].as_array().unwrap().iter().map(told).collect();
    let why = "spec.environments[0]: no";
    let new = |name: &str| json!([name, false, why, true]);
    assert_eq!(
        told,
        [new("new"), json!(["podinfo", true, why, true]), json!(["shop", true, null, false]), new("last")]
    );
    let mut names = Vec::new();
    let mut next = Some(String::new());
    while let Some(from) = next {
        let page = house.get(&format!("/api/v1/pipelines?limit=1{from}")).await.ok(200);
        names.extend(page.names().into_iter().map(str::to_owned));
        next = page.json["continue"].as_str().map(|more| format!("&continue={more}"));
    }
    assert_eq!(names, ["new", "podinfo", "shop", "last"], "page by page");
    for path in ["", "/environments/dev", "/environments/dev/explain"] {
        let told = house.get(&format!("/api/v1/pipelines/default/new{path}")).await;
        let wanted = "pipeline `default/new` cannot be read: spec.environments[0]: no; no definition is in force";
        assert_eq!(told.problem(409), wanted);
    }
    let words = "spec.environments[0]: no; the definition before it is still in force";
    let why = house.get("/api/v1/pipelines/default/podinfo/environments/qa/explain").await.ok(200).json;
    let first = &why["reasons"][0];
    assert_eq!((&first["name"], &first["sentence"]), (&json!("InvalidDefinition"), &json!(words)));
    let shown = house.get("/api/v1/pipelines/default/podinfo").await.ok(200).json;
    assert_eq!(shown["problems"], json!([words]));
    house.world.define(CatalogNotice::Problems(Vec::new()));
    let shown = house.get("/api/v1/pipelines/default/podinfo").await.ok(200).json;
    assert_eq!(shown.get("problems"), None);
}

#[tokio::test]
async fn a_pipeline_that_is_deleted_after_its_records_is_gone() {
    let house = House::open().await;
    house.get("/api/v1/pipelines/team-a/shop").await.ok(200);
    house.world.define(CatalogNotice::Gone(SHOP.parse().unwrap()));
    house.get("/api/v1/pipelines/team-a/shop").await.problem(404);
}

#[tokio::test]
async fn readiness_follows_the_world_and_life_does_not() {
    let house = House::build(|_| {}).await;
    house.get("/healthz").await.ok(200);
    house.get("/readyz").await.problem(503);
    house.ready();
    house.get("/readyz").await.ok(200);
}

#[tokio::test]
async fn what_runs_on_a_cluster_that_cannot_be_read_is_not_called_healthy() {
    let house = House::open().await;
    house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    let row = async || house.get("/api/v1/versions?environment=dev").await.ok(200).json["items"][0].clone();
    assert_eq!((&row().await["healthy"], &row().await["unreachable"]), (&json!(true), &json!(false)));
    let key: weir_core::PipelineKey = PODINFO.parse().unwrap();
    let environment: weir_core::EnvironmentName = "dev".parse().unwrap();
    let known = house.world.look(&key, |known| known.snapshot().environments.get(&environment).cloned()).flatten();
    let mut record = known.unwrap_or_default();
    let since = "2024-01-01T00:00:00Z".parse().unwrap();
    let target = record.targets.entry("default/dev/podinfo".parse().unwrap()).or_default();
    target.unreachable = Some(weir_core::Unreachable { error: "gone".into(), since });
    house.write(weir_ports::Record::Environment(key, environment, Box::new(record))).await;
    assert_eq!((&row().await["healthy"], &row().await["unreachable"]), (&json!(false), &json!(true)));
    assert!(house.get("/api/v1/versions?healthy=true").await.names().is_empty());
}
