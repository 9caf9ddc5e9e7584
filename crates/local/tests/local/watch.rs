//! The list and what comes after it.

use std::{collections::BTreeMap, future::poll_fn, pin::Pin, sync::Arc, task::Poll, time::Duration};

use futures_core::Stream;
use tempfile::TempDir;
use weir_core::Phase;
use weir_local::LocalStore;
use weir_ports::{Notice, Record, RecordKey, RecordVersion, Store, StoreError, Stored};
use weir_testkit::records::{memory, one_of_each, promotion, said, said_key};

const DEADLINE: Duration = Duration::from_secs(30);

async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    let next = poll_fn(|context| Pin::new(&mut *stream).poll_next(context));
    tokio::time::timeout(DEADLINE, next).await.unwrap()
}

/// What somebody who follows knows.
#[derive(Default)]
struct Follower {
    known: BTreeMap<RecordKey, Stored>,
    newest: BTreeMap<RecordKey, RecordVersion>,
    listed: bool,
}

impl Follower {
    fn take(&mut self, notice: Notice) {
        let (key, version) = match &notice {
            Notice::Changed(stored) => (stored.record.key(), stored.version),
            Notice::Removed(key, version) => (key.clone(), *version),
            Notice::Listed => {
                assert!(!self.listed, "listed once");
                self.listed = true;
                return;
            }
        };
        let before = self.newest.insert(key.clone(), version);
        assert!(before.is_none_or(|before| before <= version), "in order for each record");
        match notice {
            Notice::Changed(stored) => self.known.insert(key, stored),
            _ => self.known.remove(&key),
        };
    }

    async fn list(store: &LocalStore) -> BTreeMap<RecordKey, Stored> {
        let (mut follower, mut stream) = (Self::default(), store.watch());
        while !follower.listed {
            follower.take(next(&mut stream).await.unwrap());
        }
        follower.known
    }
}

#[tokio::test]
async fn every_record_is_told_first_and_then_that_this_was_all() {
    let folder = TempDir::new().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    assert!(Follower::list(&store).await.is_empty());
    for record in one_of_each("default/podinfo", "friday") {
        store.create(record).await.unwrap();
    }
    let listed: Vec<_> = Follower::list(&store).await.into_values().map(|stored| stored.record.key()).collect();
    let mut kept: Vec<_> = one_of_each("default/podinfo", "friday").iter().map(Record::key).collect();
    kept.sort();
    assert_eq!(listed, kept);
}

#[tokio::test]
async fn changes_are_told_after_the_list_and_the_end_when_the_store_is_closed() {
    let folder = TempDir::new().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    let mut stream = store.watch();
    assert_eq!(next(&mut stream).await, Some(Notice::Listed));
    let first = store.create(said("default/a", false)).await.unwrap();
    let created = Stored { record: said("default/a", false), version: first };
    assert_eq!(next(&mut stream).await, Some(Notice::Changed(created)));
    store.remove(&said_key("default/a"), first).await.unwrap();
    let told = next(&mut stream).await;
    assert!(matches!(told, Some(Notice::Removed(key, version)) if key == said_key("default/a") && version > first));
    store.close().await;
    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test]
async fn a_change_that_was_answered_is_there_to_be_told() {
    let folder = TempDir::new().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    let mut stream = store.watch();
    assert_eq!(next(&mut stream).await, Some(Notice::Listed));
    for number in 0..50 {
        store.create(said(&format!("default/a-{number}"), false)).await.unwrap();
        let told = poll_fn(|context| Poll::Ready(Pin::new(&mut stream).poll_next(context))).await;
        assert!(told.is_ready(), "without waiting");
    }
}

/// A small generator of chance, so that a failing seed can be tried again.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Creates, replaces and removes a few records, whatever others do to them.
async fn scribble(store: Arc<LocalStore>, seed: u64) {
    let mut chance = Chance(seed);
    for step in 0..60 {
        let number = chance.below(6);
        let record = match chance.below(3) {
            0 => said(&format!("default/p{number}"), step % 2 == 0),
            1 => memory(&format!("default/p{number}"), "prod", step),
            _ => Record::Promotion(Box::new(promotion("default/p", "prod", number, Phase::Pending))),
        };
        let found = store.get(&record.key()).await.unwrap();
        let done = match found {
            None => store.create(record).await.map(|_| ()),
            Some(found) if chance.below(3) == 0 => store.remove(&record.key(), found.version).await,
            Some(found) => store.replace(record, found.version).await.map(|_| ()),
        };
        assert!(!matches!(done, Err(StoreError::Unavailable(_))));
    }
}

/// The law of the watch, tried with followers that begin at any time and read at any pace.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_applies_what_is_told_ends_up_with_what_is_kept() {
    for seed in 0..12_u64 {
        let folder = TempDir::new().unwrap();
        let store = Arc::new(LocalStore::open(folder.path()).unwrap());
        let writers: Vec<_> = (0..6).map(|n| tokio::spawn(scribble(Arc::clone(&store), seed * 100 + n))).collect();
        let followers = (0..4).map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for _ in 0..number * 7 {
                    tokio::task::yield_now().await;
                }
                let (mut follower, mut stream) = (Follower::default(), store.watch());
                let mut pace = Chance(seed + number);
                let end = said_key("default/end");
                while !follower.known.contains_key(&end) || !follower.listed {
                    follower.take(next(&mut stream).await.unwrap());
                    for _ in 0..pace.below(20) {
                        tokio::task::yield_now().await;
                    }
                }
                // The end is the last change, but a record may have its turn after it.
                let rest = tokio::time::timeout(Duration::ZERO, async {
                    while let Some(notice) = next(&mut stream).await {
                        follower.take(notice);
                    }
                });
                rest.await.ok();
                follower.known
            })
        });
        let followers: Vec<_> = followers.collect();
        for writer in writers {
            writer.await.unwrap();
        }
        store.create(said("default/end", true)).await.unwrap();
        let kept = Follower::list(&store).await;
        for follower in followers {
            assert_eq!(follower.await.unwrap(), kept, "seed {seed}");
        }
    }
}
