//! Records, one at a time, each with a version.

use std::sync::Arc;

use tempfile::TempDir;
use weir_local::{LocalStore, OpenError};
use weir_ports::{Record, RecordVersion, Store, StoreError};
use weir_testkit::records::{memory, one_of_each, promotion, proposal, said, said_key};

fn open(folder: &TempDir) -> LocalStore {
    LocalStore::open(folder.path()).unwrap()
}

#[tokio::test]
async fn what_was_kept_is_read_back_as_it_was_also_by_the_next_process() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    for record in one_of_each("default/podinfo", "friday") {
        let version = store.create(record.clone()).await.unwrap();
        let found = store.get(&record.key()).await.unwrap().unwrap();
        assert_eq!((found.record, found.version), (record, version));
    }
    store.close().await;
    let store = open(&folder);
    for record in one_of_each("default/podinfo", "friday") {
        assert_eq!(store.get(&record.key()).await.unwrap().unwrap().record, record);
    }
    assert_eq!(store.get(&said_key("default/other")).await.unwrap(), None);
}

#[tokio::test]
async fn whoever_creates_a_record_first_has_it() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    for record in one_of_each("default/podinfo", "friday") {
        store.create(record.clone()).await.unwrap();
        assert_eq!(store.create(record.clone()).await, Err(StoreError::Exists(record.key())));
    }
}

#[tokio::test]
async fn a_record_that_moved_is_neither_replaced_nor_removed() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    let key = said_key("default/podinfo");
    let moved = Err(StoreError::Moved(key.clone()));
    assert_eq!(store.replace(said("default/podinfo", true), RecordVersion(1)).await, moved);
    let first = store.create(said("default/podinfo", false)).await.unwrap();
    let second = store.replace(said("default/podinfo", true), first).await.unwrap();
    assert!(second > first);
    assert_eq!(store.replace(said("default/podinfo", false), first).await, moved);
    assert_eq!(store.remove(&key, first).await, Err(StoreError::Moved(key.clone())));
    store.remove(&key, second).await.unwrap();
    store.remove(&key, second).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap(), None);
}

#[tokio::test]
async fn a_record_that_is_made_anew_has_a_higher_version_also_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    for record in one_of_each("default/podinfo", "friday") {
        let first = store.create(record.clone()).await.unwrap();
        store.remove(&record.key(), first).await.unwrap();
    }
    let last = store.create(said("default/last", false)).await.unwrap();
    store.remove(&said_key("default/last"), last).await.unwrap();
    store.close().await;
    let store = open(&folder);
    for record in one_of_each("default/podinfo", "friday") {
        assert!(store.create(record).await.unwrap() > last);
    }
}

#[tokio::test]
async fn names_that_only_look_alike_are_different_records() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    let turns = [("default/a-b", "c"), ("default/a", "b-c"), ("other/a", "b-c"), ("default/a", "B-c")];
    for (pipeline, environment) in turns {
        let turn = promotion(pipeline, environment, 1, weir_core::Phase::Pending);
        store.create(Record::Promotion(Box::new(turn))).await.unwrap();
        store.create(memory(pipeline, environment, 1)).await.unwrap();
    }
}

#[tokio::test]
async fn the_credentials_of_a_repository_are_not_kept() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    let record =
        Record::Proposal(Box::new(proposal("default/podinfo", "https://user:geheim@git.example.org/fleet.git")));
    store.create(record.clone()).await.unwrap();
    let clean = Record::Proposal(Box::new(proposal("default/podinfo", "https://git.example.org/fleet.git")));
    assert_eq!(store.get(&record.key()).await.unwrap().unwrap().record, clean);
    store.close().await;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|bytes| bytes == b"geheim"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_replace_the_same_version_exactly_one_wins() {
    let folder = TempDir::new().unwrap();
    let store = Arc::new(open(&folder));
    let mut version = store.create(memory("default/podinfo", "prod", 0)).await.unwrap();
    for round in 1..20 {
        let attempts = (0..64).map(|contender| {
            let store = Arc::clone(&store);
            let record = memory("default/podinfo", "prod", round * 100 + contender);
            tokio::spawn(async move { (store.replace(record.clone(), version).await, record) })
        });
        let attempts: Vec<_> = attempts.collect();
        let mut winners = Vec::new();
        for attempt in attempts {
            match attempt.await.unwrap() {
                (Ok(version), record) => winners.push((version, record)),
                (Err(error), record) => assert_eq!(error, StoreError::Moved(record.key())),
            }
        }
        let [(won, record)] = winners.try_into().unwrap();
        let found = store.get(&record.key()).await.unwrap().unwrap();
        assert_eq!((found.version, found.record), (won, record));
        version = won;
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_harms_nobody() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    for number in 0..200 {
        let dropped = store.create(said(&format!("default/dropped-{number}"), false));
        let kept = store.create(said(&format!("default/kept-{number}"), false));
        tokio::select! {
            biased;
            kept = kept => { kept.unwrap(); }
            _ = async { tokio::join!(dropped, std::future::pending::<()>()) } => {}
        }
    }
    assert!(store.get(&said_key("default/kept-199")).await.unwrap().is_some());
}

#[tokio::test]
async fn a_database_of_a_newer_weir_is_refused_with_what_to_do() {
    let folder = TempDir::new().unwrap();
    open(&folder).close().await;
    let file = folder.path().join("weir.db");
    rusqlite::Connection::open(&file).unwrap().execute_batch("PRAGMA user_version = 42").unwrap();
    let error = LocalStore::open(folder.path()).err().unwrap();
    assert_eq!(
        error.to_string(),
        format!(
            "`{}` has version 42, and this Weir knows no version after 2; run the newer Weir that wrote it, or restore \
             a backup from before",
            file.display()
        )
    );
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_as_it_is() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("weir.db");
    std::fs::write(&file, "my notes, which are dear to me ".repeat(100)).unwrap();
    assert!(matches!(LocalStore::open(folder.path()), Err(OpenError::Database { .. })));
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("my notes"));
}

#[tokio::test]
async fn the_log_of_the_database_is_moved_into_it_while_it_is_used() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder);
    let database = || std::fs::metadata(folder.path().join("weir.db")).unwrap().len();
    let before = database();
    for ordinal in 1..=1000 {
        let record = promotion("a/x", "prod", ordinal, weir_core::Phase::Pending);
        store.create(Record::Promotion(Box::new(record))).await.unwrap();
    }
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while database() < before + 100_000 {
        assert!(std::time::Instant::now() < deadline, "{before} bytes, and {} now", database());
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
