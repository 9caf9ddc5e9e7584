//! Rows that cannot be read any more.

use std::{future::poll_fn, pin::Pin};

use futures_core::Stream;
use tempfile::TempDir;
use weir_core::Phase;
use weir_local::LocalStore;
use weir_ports::{HistoryQuery, Journal, Notice, Record, RecordVersion, Store, StoreError};
use weir_testkit::records::{promotion, promotion_key, said};

async fn damaged() -> (TempDir, LocalStore) {
    let folder = TempDir::new().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    for ordinal in 1..=2 {
        let record = Record::Promotion(Box::new(promotion("default/podinfo", "prod", ordinal, Phase::Pending)));
        store.create(record).await.unwrap();
    }
    store.create(said("default/podinfo", true)).await.unwrap();
    store.close().await;
    let database = rusqlite::Connection::open(folder.path().join("weir.db")).unwrap();
    let cut = "UPDATE records SET json = substr(json, 1, 100) WHERE name = 'podinfo-prod-1'";
    assert_eq!(database.execute(cut, ()).unwrap(), 1);
    drop(database);
    let store = LocalStore::open(folder.path()).unwrap();
    (folder, store)
}

async fn list(store: &LocalStore) -> Vec<Record> {
    let (mut stream, mut records) = (store.watch(), Vec::new());
    while let Some(Notice::Changed(stored)) = poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await {
        records.push(stored.record);
    }
    records
}

#[tokio::test]
async fn a_damaged_record_is_told_and_the_others_are_served() {
    let (_folder, store) = damaged().await;
    assert_eq!(list(&store).await.len(), 2);
    let problems = store.problems();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].record, "Promotion `default/podinfo/prod/podinfo-prod-1`");
    assert!(problems[0].to_string().contains("cannot be read: EOF"), "{}", problems[0]);
}

#[tokio::test]
async fn a_damaged_record_is_not_taken_for_one_that_is_missing() {
    let (_folder, store) = damaged().await;
    let record = Record::Promotion(Box::new(promotion("default/podinfo", "prod", 1, Phase::Pending)));
    assert!(matches!(store.get(&record.key()).await, Err(StoreError::Unavailable(_))));
    assert_eq!(store.create(record.clone()).await, Err(StoreError::Exists(record.key())));
}

#[tokio::test]
async fn a_damaged_record_is_mended_by_writing_it_anew() {
    let (_folder, store) = damaged().await;
    list(&store).await;
    let record = Record::Promotion(Box::new(promotion("default/podinfo", "prod", 1, Phase::Failed)));
    store.replace(record.clone(), RecordVersion(1)).await.unwrap();
    assert_eq!(store.get(&record.key()).await.unwrap().unwrap().record, record);
    assert!(store.problems().is_empty());
}

#[tokio::test]
async fn the_past_is_told_without_what_is_damaged_in_it() {
    let (_folder, store) = damaged().await;
    let all =
        HistoryQuery { pipeline: None, namespace: None, environment: None, phases: Vec::new(), skip: 0, limit: 10 };
    let told = store.promotions(&all).await.unwrap();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].key, promotion_key("default/podinfo", "prod", 2));
    assert_eq!(store.problems().len(), 1);
}
