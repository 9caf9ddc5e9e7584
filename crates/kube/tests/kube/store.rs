//! Records, one at a time, each with a version: what holds for every kind.

use std::sync::Arc;

use weir_core::Phase;
use weir_ports::{Record, RecordKey, RecordVersion, Store, StoreError};
use weir_testkit::{
    records::{memory, observation, one_of_each, promotion, promotion_key, proposal, said, said_key},
    servers::unique,
};

use crate::ground::ground;

#[tokio::test]
async fn what_was_kept_is_read_back_as_it_was_also_by_another_process() {
    let ground = ground("kept").await;
    let (pipeline, store) = (ground.pipeline("podinfo").await, ground.store());
    let records = one_of_each(&pipeline, &unique("friday"));
    for record in &records {
        let version = store.create(record.clone()).await.unwrap();
        let found = store.get(&record.key()).await.unwrap().unwrap();
        assert_eq!((&found.record, found.version), (record, version));
    }
    let other = ground.store();
    for record in &records {
        assert_eq!(other.get(&record.key()).await.unwrap().unwrap().record, *record);
    }
    assert_eq!(other.get(&said_key(&ground.key("other"))).await.unwrap(), None);
    let none = RecordKey::Promotion(promotion_key(&pipeline, "prod", 99));
    assert_eq!(other.get(&none).await.unwrap(), None);
}

#[tokio::test]
async fn whoever_creates_a_record_first_has_it() {
    let ground = ground("first").await;
    let pipeline = ground.pipeline("podinfo").await;
    let (one, other) = (ground.store(), ground.store());
    for record in one_of_each(&pipeline, &unique("friday")) {
        one.create(record.clone()).await.unwrap();
        assert_eq!(one.create(record.clone()).await, Err(StoreError::Exists(record.key())));
        assert_eq!(other.create(record.clone()).await, Err(StoreError::Exists(record.key())));
    }
}

#[tokio::test]
async fn a_record_that_moved_is_neither_replaced_nor_removed() {
    let ground = ground("moved").await;
    let pipeline = ground.pipeline("podinfo").await;
    let (one, other) = (ground.store(), ground.store());
    let freezing = unique("friday");
    for (record, later) in one_of_each(&pipeline, &freezing).into_iter().zip(later(&pipeline, &freezing)) {
        let key = record.key();
        let moved = StoreError::Moved(key.clone());
        assert_eq!(one.replace(record.clone(), RecordVersion(1)).await, Err(moved.clone()));
        let first = one.create(record.clone()).await.unwrap();
        let seen = other.get(&key).await.unwrap().unwrap().version;
        let second = one.replace(later.clone(), first).await.unwrap();
        assert!(second > first, "{key}");
        assert_eq!(one.replace(record.clone(), first).await, Err(moved.clone()));
        assert_eq!(other.replace(record.clone(), seen).await, Err(moved.clone()));
        assert_eq!(other.remove(&key, seen).await, Err(moved.clone()));
        assert_eq!(other.get(&key).await.unwrap().unwrap().record, later);
        one.remove(&key, second).await.unwrap();
        one.remove(&key, second).await.unwrap();
        assert_eq!(other.get(&key).await.unwrap(), None);
        let anew = one.create(record.clone()).await.unwrap();
        assert!(anew > second, "{key}");
    }
}

/// What each of [`one_of_each`] could become.
fn later(pipeline: &str, freezing: &str) -> Vec<Record> {
    let mut stop = weir_testkit::records::freeze(freezing);
    stop.selector.pipeline = None;
    stop.reason = "it is still Friday".into();
    let mut review = proposal(pipeline, "https://git.example.org/fleet.git");
    review.title = "promote podinfo further".into();
    review.edits.clear();
    vec![
        said(pipeline, false),
        memory(pipeline, "prod", 4),
        Record::Promotion(Box::new(promotion(pipeline, "prod", 3, Phase::Delivered))),
        observation(pipeline, "podinfo", "2.0"),
        Record::Freeze(stop),
        Record::Proposal(Box::new(review)),
    ]
}

#[tokio::test]
async fn nothing_is_written_when_nothing_changed() {
    let ground = ground("same").await;
    let (pipeline, store) = (ground.pipeline("podinfo").await, ground.store());
    for record in one_of_each(&pipeline, &unique("friday")) {
        let version = store.create(record.clone()).await.unwrap();
        let before = ground.version("podinfo").await;
        let found = ground.store().get(&record.key()).await.unwrap().unwrap().version;
        assert_eq!(store.replace(record.clone(), version).await.unwrap(), version, "{}", record.key());
        assert_eq!(ground.version("podinfo").await, before);
        assert_eq!(ground.store().get(&record.key()).await.unwrap().unwrap().version, found);
    }
}

#[tokio::test]
async fn names_that_only_look_alike_are_different_records() {
    let ground = ground("alike").await;
    let store = ground.store();
    for name in ["a", "a-b"] {
        ground.pipeline(name).await;
    }
    for (name, environment) in [("a-b", "c"), ("a", "b-c"), ("a", "B-c")] {
        let turn = promotion(&ground.key(name), environment, 1, Phase::Pending);
        store.create(Record::Promotion(Box::new(turn))).await.unwrap();
        store.create(memory(&ground.key(name), environment, 1)).await.unwrap();
    }
}

#[tokio::test]
async fn the_credentials_of_a_repository_are_not_kept() {
    let ground = ground("credentials").await;
    let (pipeline, store) = (ground.pipeline("podinfo").await, ground.store());
    let record = Record::Proposal(Box::new(proposal(&pipeline, "https://user:geheim@git.example.org/fleet.git")));
    store.create(record.clone()).await.unwrap();
    let clean = Record::Proposal(Box::new(proposal(&pipeline, "https://git.example.org/fleet.git")));
    assert_eq!(store.get(&record.key()).await.unwrap().unwrap().record, clean);
    let kept = ground.hub.kubectl(&["get", "proposals", "-n", &ground.namespace, "-o", "yaml"]).await;
    assert!(!kept.contains("geheim"), "{kept}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_replace_the_same_version_exactly_one_wins() {
    let ground = ground("many").await;
    let pipeline = ground.pipeline("podinfo").await;
    let stores: Vec<_> = (0..4).map(|_| Arc::new(ground.store())).collect();
    stores[0].create(memory(&pipeline, "prod", 0)).await.unwrap();
    for round in 1..6 {
        let mut seen = Vec::new();
        for (number, store) in stores.iter().enumerate() {
            let record = memory(&pipeline, "prod", round * 100 + number as u64);
            let version = store.get(&record.key()).await.unwrap().unwrap().version;
            seen.push((Arc::clone(store), record, version));
        }
        let mut attempts = Vec::new();
        for (store, record, version) in seen {
            attempts.push(tokio::spawn(async move { (store.replace(record.clone(), version).await, record) }));
        }
        let mut winners = Vec::new();
        for attempt in attempts {
            match attempt.await.unwrap() {
                (Ok(_), record) => winners.push(record),
                (Err(error), record) => assert_eq!(error, StoreError::Moved(record.key())),
            }
        }
        let [record] = winners.try_into().unwrap();
        assert_eq!(stores[0].get(&record.key()).await.unwrap().unwrap().record, record);
    }
}
