//! What forges post, and what they are answered.

use reqwest::{Method, RequestBuilder};

use crate::house::{Answer, House, KEY, answer, sign};

const HOOK: &str = "/hooks/forge/team-b/site";
const BODY: &str = r#"{"action":"closed","pull_request":{"head":{"label":"promotion-team-b-site-prod"}}}"#;

/// A pipeline whose pull requests are on a Gitea.
const SITE: &str = "
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: site, namespace: team-b}
spec:
  appRef: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: site}
  promotion:
    strategy:
      pull-request:
        type: gitea
        url: https://git.example.org/team-b/config.git
        baseBranch: main
        secretRef: {name: site-git}
      secretRef: {name: site-events}
  environments:
    - name: dev
      targets: [{namespace: site-dev}]
    - name: prod
      targets: [{namespace: site-prod}]
";

impl House {
    async fn with_site() -> Self {
        let house = Self::open().await;
        house.define(SITE);
        house.catalog.put("team-b", "site-git", "hmac-key", KEY);
        house.catalog.put("team-b", "site-events", "hmac-key", "geheim-another");
        house
    }

    fn posted(&self, path: &str, event: &str, body: &str) -> RequestBuilder {
        self.request(Method::POST, path).header("x-gitea-event", event).body(body.to_owned())
    }

    async fn post_signed(&self, path: &str, event: &str, key: &str, body: &str) -> Answer {
        let signature = sign("sha256", key, body.as_bytes());
        let signature = signature.trim_start_matches("sha256=");
        tell(self.posted(path, event, body).header("x-gitea-signature", signature)).await
    }
}

async fn tell(request: RequestBuilder) -> Answer {
    answer(request.send().await.unwrap()).await
}

#[tokio::test]
async fn an_event_that_is_signed_is_taken_and_stores_nothing() {
    let house = House::with_site().await;
    let told = house.post_signed(HOOK, "pull_request", KEY, BODY).await.ok(202);
    assert!(told.text.is_empty());
    let signature = sign("sha256", KEY, BODY.as_bytes());
    tell(house.posted(HOOK, "push", BODY).header("x-hub-signature-256", signature)).await.ok(202);
    house.post_signed(HOOK, "fork", KEY, "{}").await.ok(204);
    assert_eq!(house.store.writes(), 0);
    let metrics = house.get("/metrics").await.ok(200).text;
    for line in [
        "weir_webhook_seconds_count{outcome=\"heard\"} 2",
        "weir_webhook_seconds_count{outcome=\"ignored\"} 1",
        "weir_webhook_total{code=\"202\"} 2",
        "weir_requests_total{method=\"POST\",route=\"/hooks/forge/{namespace}/{name}\",code=\"204\"} 1",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
    }
}

#[tokio::test]
async fn an_event_without_the_right_signature_is_refused_before_it_is_read() {
    let house = House::with_site().await;
    house.post_signed(HOOK, "push", "geheim-falsch", "no event").await.problem(401);
    // Whoever signs what Flux reports does not speak for the forge.
    house.post_signed(HOOK, "push", "geheim-another", BODY).await.problem(401);
    let told = tell(house.posted(HOOK, "push", BODY)).await;
    assert!(told.problem(401).contains("has no signature"));
    assert_eq!(told.header("www-authenticate"), "X-Hub-Signature-256");
    let told = tell(house.posted(HOOK, "push", BODY).header("x-gitea-signature", "")).await;
    told.problem(401);
    house.post_signed(HOOK, "push", KEY, "no event").await.problem(400);
}

#[tokio::test]
async fn unsigned_events_are_never_taken() {
    let house = House::with(|settings| settings.unsigned = weir_server::Unsigned::Accept).await;
    house.define(SITE);
    // There is no Secret, or none with a key.
    let told = tell(house.posted(HOOK, "push", BODY)).await;
    let words = "there is no key to check the signature with; Weir's log says why";
    assert_eq!(told.problem(401), words, "a stranger learns no names");
    house.catalog.put("team-b", "site-git", "token", KEY);
    let told = tell(house.posted(HOOK, "push", BODY)).await;
    assert_eq!(told.problem(401), words);
    // Nor is there one for a forge whose events are not understood, or for none at all.
    for path in ["/hooks/forge/default/podinfo", "/hooks/forge/team-a/shop"] {
        let told = house.post_signed(path, "push", KEY, BODY).await;
        assert!(told.problem(401).contains("nothing signs"), "{}", told.text);
    }
}

#[tokio::test]
async fn a_pipeline_that_is_not_there_is_missing_once_that_is_known() {
    let house = House::build(|_| {}).await;
    house.post_signed(HOOK, "push", KEY, BODY).await.problem(503);
    house.ready();
    house.post_signed(HOOK, "push", KEY, BODY).await.problem(404);
    house.post_signed("/hooks/forge/Team-b/site", "push", KEY, BODY).await.problem(404);
    house.get(HOOK).await.problem(405);
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_unread() {
    let house = House::with_site().await;
    house.post_signed(HOOK, "push", KEY, &"x".repeat((1 << 20) + 1)).await.problem(413);
}
