//! Records on Kubernetes.
//!
//! Promotions, reports, freezes and proposals are an object each (`objects`), named so that *already exists* is the lock.
//! An object and its status are two writes. Whoever dies between them leaves a promotion that is pending, which is one
//! that was just asked for, or a report or proposal that says nothing yet: that is nobody's record, and the next who
//! creates it completes it. The memory of environments, and what people said about a pipeline, are parts of the
//! Pipeline's status (`memory`). What changes is told by watches (`notices`).
//!
//! Every write carries the resource version of what it replaces, and is refused by the API server if that moved.

mod memory;
mod notices;
mod objects;
mod told;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures_core::Stream;
use futures_util::StreamExt as _;
use kube::{Client, api::ListParams};
use weir_api::{Freeze, Observation, Promotion, Proposal};
use weir_ports::{Notice, Record, RecordKey, RecordVersion, Store, StoreError, Stored};

use super::{
    fault,
    kept::{Kept as _, Kind, Place},
    pipelines::{Part, Pipelines, version},
};
use told::Told;

/// The records of a cluster. Its clones are the same store.
#[derive(Clone)]
pub struct HubStore {
    shared: Arc<Shared>,
}

struct Shared {
    pipelines: Pipelines,
    followers: Mutex<Vec<Weak<Told>>>,
}

impl HubStore {
    /// The records of the cluster that this client talks to.
    pub fn new(client: Client) -> Self {
        Self { shared: Arc::new(Shared { pipelines: Pipelines::new(client), followers: Mutex::default() }) }
    }

    pub(super) fn pipelines(&self) -> &Pipelines {
        &self.shared.pipelines
    }

    fn client(&self) -> &Client {
        self.pipelines().client()
    }

    /// Whoever follows has to be told when what was written here is gone, even if the watch never tells that it came.
    fn wrote(&self, key: &RecordKey, version: RecordVersion) {
        self.pipelines().saw(version.0);
        let Some((kind, place)) = Kind::of(key).zip(Place::of_record(key)) else { return };
        let mut followers = self.shared.followers.lock().unwrap_or_else(PoisonError::into_inner);
        followers.retain(|follower| match follower.upgrade() {
            Some(told) => {
                told.expect(kind, &place, key);
                true
            }
            None => false,
        });
    }
}

impl Store for HubStore {
    async fn get(&self, key: &RecordKey) -> Result<Option<Stored>, StoreError> {
        match Kind::of(key) {
            None => self.recall(key).await,
            Some(Kind::Promotion) => self.read::<Promotion>(key).await,
            Some(Kind::Observation) => self.read::<Observation>(key).await,
            Some(Kind::Freeze) => self.read::<Freeze>(key).await,
            Some(Kind::Proposal) => self.read::<Proposal>(key).await,
        }
    }

    async fn freezes(&self) -> Result<Vec<Stored>, StoreError> {
        let all = Freeze::api(self.pipelines().client(), None).list(&ListParams::default()).await;
        let all = all.map_err(|error| fault::unavailable(&error))?;
        let stored = |object: Freeze| {
            let version = RecordVersion(version(&object.metadata));
            Some(Stored { record: object.record()?.ok()?, version })
        };
        Ok(all.items.into_iter().filter_map(stored).collect())
    }

    async fn create(&self, record: Record) -> Result<RecordVersion, StoreError> {
        let key = record.key();
        let version = match &record {
            Record::Pipeline(..) | Record::Environment(..) => self.remember(&record, None).await,
            Record::Promotion(promotion) => self.make(&key, Promotion::from_core(promotion)).await,
            Record::Observation(pipeline, workload, reported) => {
                self.make(&key, Observation::from_core(pipeline, workload, reported)).await
            }
            Record::Freeze(freeze) => self.make(&key, Freeze::from_core(freeze)).await,
            Record::Proposal(proposal) => self.make(&key, Proposal::from_core(proposal)).await,
        }?;
        self.wrote(&key, version);
        Ok(version)
    }

    async fn replace(&self, record: Record, at: RecordVersion) -> Result<RecordVersion, StoreError> {
        let key = record.key();
        let version = match &record {
            Record::Pipeline(..) | Record::Environment(..) => self.remember(&record, Some(at)).await,
            Record::Promotion(promotion) => self.change(&key, Promotion::from_core(promotion), at).await,
            Record::Observation(pipeline, workload, reported) => {
                self.change(&key, Observation::from_core(pipeline, workload, reported), at).await
            }
            Record::Freeze(freeze) => self.change(&key, Freeze::from_core(freeze), at).await,
            Record::Proposal(proposal) => self.change(&key, Proposal::from_core(proposal), at).await,
        }?;
        self.wrote(&key, version);
        Ok(version)
    }

    async fn remove(&self, key: &RecordKey, at: RecordVersion) -> Result<(), StoreError> {
        match Kind::of(key) {
            None => self.forget(key, at).await,
            Some(Kind::Promotion) => self.delete::<Promotion>(key, at).await,
            Some(Kind::Observation) => self.delete::<Observation>(key, at).await,
            Some(Kind::Freeze) => self.delete::<Freeze>(key, at).await,
            Some(Kind::Proposal) => self.delete::<Proposal>(key, at).await,
        }
    }

    fn watch(&self) -> impl Stream<Item = Notice> + Send + Unpin + 'static {
        let told = Arc::new(Told::default());
        self.shared.followers.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&told));
        notices::notices(self.clone(), told).boxed()
    }
}

/// The part of a status that keeps a record, and whose status it is.
fn part(key: &RecordKey) -> Result<(&weir_core::PipelineKey, Part), StoreError> {
    Part::of(key).ok_or_else(|| StoreError::Unavailable(format!("{key} is not kept in the status of its pipeline")))
}
