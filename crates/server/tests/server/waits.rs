//! Whoever wants to see what follows from an event waits for it.

use std::time::Duration;

use weir_core::Phase;

use crate::{
    house::{Answer, House, answer, soon, upgraded},
    records::{PODINFO, promotion, proposed},
};

impl House {
    async fn waiting(&self, seconds: u8) -> Answer {
        let request = self.event("/promotion/default/podinfo/dev", &upgraded("6.2.0", 1));
        answer(soon(request.header("prefer", format!("wait={seconds}")).send()).await.unwrap()).await
    }
}

/// Runs two things at once, and gives what the first gave.
async fn while_<T>(first: impl Future<Output = T>, second: impl Future<Output = ()>) -> T {
    tokio::join!(first, second).0
}

/// Until an event is stored.
async fn stored(house: &House) {
    soon(async {
        while house.store.writes() == 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_proposal_is_waited_for() {
    let house = House::open().await;
    let told = while_(house.waiting(20), async {
        stored(&house).await;
        let mut next = promotion(PODINFO, "qa", 1, "6.2.0", Phase::Proposed);
        proposed(&mut next, Some("https://forge.example.org/pull/7"));
        house.promotion(&next).await;
    })
    .await
    .ok(201);
    assert_eq!(told.header("location"), "https://forge.example.org/pull/7");
    assert_eq!(told.header("preference-applied"), "wait=20");
    assert_eq!(told.json["phase"], "Proposed");
    assert_eq!(told.json["release"]["name"], "6.2.0");
}

#[tokio::test]
async fn a_delivery_without_a_proposal_is_waited_for() {
    let house = House::open().await;
    let told = while_(house.waiting(20), async {
        stored(&house).await;
        house.promotion(&promotion(PODINFO, "qa", 1, "6.2.0", Phase::Delivered)).await;
    })
    .await
    .ok(204);
    assert_eq!(told.text, "");
}

#[tokio::test]
async fn what_is_held_is_told_at_once() {
    let house = House::open().await;
    house.post("/api/v1/pipelines/default/podinfo/suspend", serde_json::json!({})).await.ok(204);
    let told = house.waiting(20).await.ok(202);
    assert_eq!(told.json["holds"][0]["name"], "Suspended");
    assert_eq!(told.header("preference-applied"), "wait=20");
}

#[tokio::test]
async fn when_the_time_is_up_it_is_accepted_all_the_same() {
    let house = House::open().await;
    let told = house.waiting(0).await.ok(202);
    assert_eq!(told.header("location"), "/api/v1/pipelines/default/podinfo/environments/qa");
}

#[tokio::test]
async fn a_server_that_stops_lets_nobody_wait() {
    let house = House::open().await;
    let request = house.event("/promotion/default/podinfo/dev", &upgraded("6.2.0", 1)).header("prefer", "wait=60");
    let waiting = tokio::spawn(request.send());
    stored(&house).await;
    house.stop().await;
    assert_eq!(soon(waiting).await.unwrap().unwrap().status(), 202);
}

#[tokio::test]
async fn where_too_many_wait_the_others_are_answered_at_once() {
    let house = House::with(|settings| settings.limits.waits = 0).await;
    let told = tokio::time::timeout(Duration::from_secs(10), house.waiting(60)).await.unwrap();
    told.ok(202);
}
