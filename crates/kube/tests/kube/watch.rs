//! The list and what comes after it.

use std::collections::BTreeMap;

use weir_core::Phase;
use weir_kube::hub::HubStore;
use weir_ports::{Notice, Record, RecordKey, RecordVersion, Store, Stored};
use weir_testkit::{
    records::{memory, one_of_each, promotion, said},
    servers::unique,
};

use crate::ground::{Ground, ground, next};

/// What somebody who follows knows of one namespace, and of freezes.
#[derive(Default)]
pub(crate) struct Follower {
    pub(crate) known: BTreeMap<RecordKey, Stored>,
    newest: BTreeMap<RecordKey, RecordVersion>,
    pub(crate) listed: bool,
}

impl Follower {
    pub(crate) fn take(&mut self, notice: Notice) {
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

    /// What is known of a pipeline.
    pub(crate) fn of(&self, pipeline: &str) -> Vec<Record> {
        let ours = self
            .known
            .values()
            .filter(|stored| stored.record.key().pipeline().is_some_and(|key| key.to_string() == pipeline));
        ours.map(|stored| stored.record.clone()).collect()
    }
}

pub(crate) async fn list(store: &HubStore) -> Follower {
    let (mut follower, mut stream) = (Follower::default(), store.watch());
    while !follower.listed {
        follower.take(next(&mut stream).await);
    }
    follower
}

/// Takes in what comes until a pipeline is known like this.
pub(crate) async fn until(
    follower: &mut Follower,
    stream: &mut (impl futures_core::Stream<Item = Notice> + Unpin),
    is_so: impl Fn(&Follower) -> bool,
) {
    while !is_so(follower) {
        follower.take(next(stream).await);
    }
}

async fn scene(name: &str) -> (Ground, String, HubStore) {
    let ground = ground(name).await;
    let pipeline = ground.pipeline("podinfo").await;
    let store = ground.store();
    (ground, pipeline, store)
}

#[tokio::test]
async fn every_record_is_told_first_and_then_that_this_was_all() {
    let (ground, pipeline, store) = scene("list").await;
    assert!(list(&store).await.of(&pipeline).is_empty());
    let records = one_of_each(&pipeline, &unique("friday"));
    for record in &records {
        store.create(record.clone()).await.unwrap();
    }
    for store in [store, ground.store()] {
        let listed = list(&store).await;
        for record in &records {
            assert_eq!(listed.known.get(&record.key()).map(|stored| &stored.record), Some(record));
        }
    }
}

#[tokio::test]
async fn changes_by_this_process_and_by_others_are_told_with_the_versions_that_count() {
    let (ground, pipeline, store) = scene("changes").await;
    let (other, freezing) = (ground.store(), unique("friday"));
    let (mut follower, mut stream) = (Follower::default(), store.watch());
    until(&mut follower, &mut stream, |follower| follower.listed).await;
    for writer in [&store, &other] {
        for record in one_of_each(&pipeline, &freezing) {
            let key = record.key();
            let created = writer.create(record.clone()).await.unwrap();
            until(&mut follower, &mut stream, |it| it.known.get(&key).is_some_and(|it| it.record == record)).await;
            let told = follower.known[&key].version;
            assert!(told >= created);
            store.remove(&key, told).await.unwrap();
            until(&mut follower, &mut stream, |it| !it.known.contains_key(&key)).await;
        }
    }
}

#[tokio::test]
async fn a_pipeline_that_is_deleted_takes_its_records_along() {
    let (ground, pipeline, store) = scene("deleted").await;
    store.create(memory(&pipeline, "prod", 1)).await.unwrap();
    store.create(said(&pipeline, true)).await.unwrap();
    let (mut follower, mut stream) = (Follower::default(), store.watch());
    until(&mut follower, &mut stream, |follower| follower.listed).await;
    assert_eq!(follower.of(&pipeline).len(), 2);
    ground.hub.kubectl(&["delete", "pipeline", "podinfo", "-n", &ground.namespace]).await;
    until(&mut follower, &mut stream, |follower| follower.of(&pipeline).is_empty()).await;
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_no_reason_to_stop() {
    let (ground, pipeline, store) = scene("damaged").await;
    let namespace = &ground.namespace;
    let broken = format!(
        "{{apiVersion: pipelines.weave.works/v1alpha1, kind: Promotion, metadata: {{name: broken, namespace: \
         {namespace}}}, spec: {{pipeline: podinfo, environment: prod, ordinal: 1, from: dev, release: {{nonsense: x}}}}}}"
    );
    ground.hub.apply(&broken).await;
    let turn = Record::Promotion(Box::new(promotion(&pipeline, "prod", 3, Phase::Pending)));
    store.create(turn.clone()).await.unwrap();
    assert_eq!(list(&store).await.of(&pipeline), [turn]);
}
