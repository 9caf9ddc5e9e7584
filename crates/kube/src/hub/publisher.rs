//! What people see with `kubectl`: the status of Pipelines, and Events.
//!
//! [`status`](Shown::status) is pure. It says the same as the API does, because it asks the same functions of the core,
//! and it holds no durations and no moments that move by themselves, so time passing alone writes nothing.

mod condition;
mod event;
mod status;

use kube::api::{Patch, PatchParams};
use serde_json::json;
use weir_api::{PipelineGroup, PipelineStatus};
use weir_core::{Pipeline, PipelineKey, Promotion, Snapshot};
use weir_ports::StoreError;

use super::{
    HubStore, STATUS_MANAGER, fault,
    pipelines::{Defining, PipelineObject, resource},
};
pub(super) use event::{Subject, tell};

/// What is shown of a pipeline: everything that the status is made from.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The generation of the object that the pipeline was read from.
    pub generation: i64,
    /// The pipeline as it is decided on.
    pub pipeline: &'a Pipeline,
    /// What it is decided on.
    pub snapshot: &'a Snapshot,
    /// What is wrong with the definition.
    pub problems: &'a [String],
    /// The time.
    pub now: jiff::Timestamp,
}

/// What came of publishing a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// It said something else before.
    Written,
    /// It says so already.
    Unchanged,
    /// There is no such Pipeline.
    Gone,
}

/// Writes what people see.
#[derive(Clone)]
pub struct Publisher {
    store: HubStore,
    events: event::Announced,
}

impl Publisher {
    /// Shows what this store keeps.
    pub fn new(store: HubStore) -> Self {
        Self { store, events: event::Announced::default() }
    }

    /// The Pipelines that there are, whether they are understood or not.
    pub fn pipelines(&self) -> Vec<PipelineKey> {
        self.store.pipelines().all().into_iter().map(|(key, _)| key).collect()
    }

    /// The generation of the object that defines a pipeline, as last seen.
    pub fn generation(&self, key: &PipelineKey) -> Option<i64> {
        let defining = self.store.pipelines().defining(key)?;
        Some(defining.object.metadata.generation.unwrap_or_default())
    }

    /// Writes the status of a pipeline, if it says something else. Records in it are left alone.
    pub async fn publish(&self, shown: &Shown<'_>) -> Result<Published, StoreError> {
        let key = &shown.pipeline.key;
        let pipelines = self.store.pipelines();
        let Some(defining) = pipelines.find(key).await.map_err(|error| fault::unavailable(&error))? else {
            return Ok(Published::Gone);
        };
        let status = shown.status(&defining.object.status.clone().unwrap_or_default());
        self.write(defining.group, key, &defining.object, status).await
    }

    /// Says of the Pipeline of the older group that it has no effect, because the newer group has one of the same name.
    pub async fn shadow(&self, key: &PipelineKey, now: jiff::Timestamp) -> Result<Published, StoreError> {
        let pipelines = self.store.pipelines();
        let older = PipelineGroup::Wego;
        if pipelines.object(older, key).is_none() {
            pipelines.fetch(key).await.map_err(|error| fault::unavailable(&error))?;
        }
        let is_newer = |found: Defining| found.group != older;
        let Some(object) = pipelines.object(older, key).filter(|_| pipelines.defining(key).is_some_and(is_newer))
        else {
            return Ok(Published::Gone);
        };
        let status = status::shadowed(key, &object, now);
        self.write(older, key, &object, status).await
    }

    /// Says what a Pipeline that is deleted waits for.
    pub(super) async fn leaving(
        &self,
        group: PipelineGroup,
        key: &PipelineKey,
        object: &PipelineObject,
        words: &str,
        now: jiff::Timestamp,
    ) -> Result<Published, StoreError> {
        self.write(group, key, object, status::leaving(object, words, now)).await
    }

    /// Writes a status, if it says something else.
    async fn write(
        &self,
        group: PipelineGroup,
        key: &PipelineKey,
        object: &PipelineObject,
        status: PipelineStatus,
    ) -> Result<Published, StoreError> {
        if status == status::visible(&object.status.clone().unwrap_or_default()) {
            return Ok(Published::Unchanged);
        }
        let pipelines = self.store.pipelines();
        let kind = resource(group);
        let metadata = &object.metadata;
        let body = json!({
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": { "name": metadata.name, "namespace": metadata.namespace, "uid": metadata.uid },
            "status": status,
        });
        let api = pipelines.api(group, &key.namespace);
        let parameters = PatchParams::apply(STATUS_MANAGER).force();
        match api.patch_status(key.name.as_str(), &parameters, &Patch::Apply(body)).await {
            Ok(written) => pipelines.observe(group, written),
            // Deleted, or deleted and made anew.
            Err(error) if fault::is_moved(&error) => return Ok(Published::Gone),
            Err(error) => return Err(fault::unavailable(&error)),
        }
        Ok(Published::Written)
    }

    /// Tells, as Events on the Pipeline, which phases a promotion entered lately.
    ///
    /// The name of an Event is made from the promotion, the phase and the time, so whoever tells it again, after a restart
    /// or in another process, finds it told. What is older than Events are kept for is not told any more.
    pub async fn announce(&self, promotion: &Promotion, now: jiff::Timestamp) -> Result<(), StoreError> {
        let key = &promotion.key.pipeline;
        let found = self.store.pipelines().find(key).await.map_err(|error| fault::unavailable(&error))?;
        let Some(defining) = found else { return Ok(()) };
        let subject = Subject::of(&defining);
        self.events.announce(self.store.pipelines().client(), &subject, promotion, now).await
    }
}
