//! What is measured.

use jiff::{SignedDuration, Timestamp};
use weir_core::{Edit, EnvironmentRecord, FirstSuccess, Phase, Turn};
use weir_ports::Record;

use crate::{
    house::{House, soon, upgraded},
    records::{PODINFO, SHOP, plain, promotion},
};

impl House {
    async fn measures(&self, line: &str) -> bool {
        let text = self.get("/metrics").await.ok(200).text;
        text.lines().any(|it| it == line)
    }
}

#[tokio::test]
async fn what_there_is_is_counted() {
    let house = House::open().await;
    house.promotion(&promotion(PODINFO, "qa", 1, "6.2.0", Phase::Pending)).await;
    house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    house.report("dev", &upgraded("6.2.0", 1)).await.ok(202);
    house.get("/promotion/default/podinfo/dev").await.problem(405);
    for line in [
        "weir_pipelines 2",
        "weir_promotions{phase=\"Pending\"} 1",
        "weir_promotions{phase=\"Failed\"} 0",
        "weir_holds{hold=\"Soaking\"} 0",
        "weir_catalog_problems 0",
        "weir_webhook_total{code=\"202\"} 2",
        "weir_webhook_total{code=\"405\"} 1",
        "weir_webhook_seconds_count{outcome=\"stored\"} 1",
        "weir_webhook_seconds_count{outcome=\"known\"} 1",
        "weir_requests_total{method=\"POST\",route=\"/promotion/{namespace}/{pipeline}/{environment}\",code=\"202\"} 2",
    ] {
        assert!(house.measures(line).await, "{line}\n{}", house.get("/metrics").await.text);
    }
}

#[tokio::test]
async fn a_promotion_is_timed_once() {
    let house = House::open().await;
    // It is served by now, and so it is measured.
    house.get("/healthz").await.ok(200);
    let now = Timestamp::now();
    let mut next = promotion(PODINFO, "qa", 1, "6.2.0", Phase::Proposed);
    let first =
        FirstSuccess { release: next.release.clone(), at: now.checked_sub(SignedDuration::from_secs(20)).unwrap() };
    let record = EnvironmentRecord { order: vec![first], ..EnvironmentRecord::default() };
    let key = next.key.pipeline.clone();
    house.write(Record::Environment(key, "dev".parse().unwrap(), Box::new(record))).await;
    house.promotion(&next).await;
    soon(async { while !house.measures("weir_event_to_proposal_seconds_count 1").await {} }).await;
    next.phase = Phase::Succeeded;
    next.history.push(Turn { phase: Phase::Succeeded, at: Timestamp::now(), note: None });
    house.promotion(&next).await;
    soon(async { while !house.measures("weir_event_to_healthy_seconds_count 1").await {} }).await;
    assert!(house.measures("weir_event_to_proposal_seconds_count 1").await);
    assert!(house.measures("weir_event_to_proposal_seconds_bucket{le=\"30.0\"} 1").await);
    assert!(house.measures("weir_event_to_proposal_seconds_bucket{le=\"10.0\"} 0").await);

    // What was over before the server began is not its own.
    let mut old = promotion(PODINFO, "qa", 2, "6.2.0", Phase::Proposed);
    old.history[0].at = now.checked_sub(SignedDuration::from_hours(1)).unwrap();
    house.promotion(&old).await;
    let newer = promotion(PODINFO, "qa", 3, "6.2.0", Phase::Proposed);
    house.promotion(&newer).await;
    soon(async { while !house.measures("weir_event_to_proposal_seconds_count 2").await {} }).await;
}

#[tokio::test]
async fn git_is_timed() {
    let house = House::open().await;
    let mut proposal = plain(&promotion(SHOP, "prod", 1, "2.0.0", Phase::Proposed));
    proposal.edits = vec![Edit { file: "a.yaml".into(), before: "1".into(), after: "2".into() }];
    house.write(Record::Proposal(Box::new(proposal))).await;
    house.get("/api/v1/proposals/team-a/shop-prod-1/diff").await.problem(409);
    assert!(house.measures("weir_git_seconds_count{operation=\"files\",outcome=\"no-commit\"} 1").await);
}
