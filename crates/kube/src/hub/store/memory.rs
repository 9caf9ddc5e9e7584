//! Records in the status of a Pipeline.
//!
//! All of them are applied together, because who applies a part of what it applied before gives up the rest. Only one of
//! them may have changed since they were read, and the resource version makes sure of that.

use std::collections::BTreeMap;

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use weir_core::PipelineKey;
use weir_ports::{Record, RecordKey, RecordVersion, StoreError, Stored};

use super::{HubStore, part};
use crate::hub::{
    MANAGER, fault,
    pipelines::{Defining, Part, resource, status, version},
};

/// How often a write is tried anew because something else in the status of the pipeline changed.
const ROUNDS: usize = 16;

impl HubStore {
    /// Reads a record from the status of its pipeline.
    pub(super) async fn recall(&self, key: &RecordKey) -> Result<Option<Stored>, StoreError> {
        let (pipeline, part) = part(key)?;
        let found = self.pipelines().fetch(pipeline).await.map_err(|error| fault::unavailable(&error))?;
        let Some((content, version)) = found.and_then(|found| found.record(&part).cloned()) else { return Ok(None) };
        let damaged = |reason| fault::about(key, format!("it is kept, but cannot be read any more: {reason}"));
        let record = part.read(pipeline, &content).map_err(damaged)?;
        Ok(Some(Stored { record, version }))
    }

    /// Writes a record into the status of its pipeline. `None`: there shall not be one yet.
    pub(super) async fn remember(
        &self,
        record: &Record,
        at: Option<RecordVersion>,
    ) -> Result<RecordVersion, StoreError> {
        let key = record.key();
        let content = Part::content(record).ok_or_else(|| fault::about(&key, "it cannot be written"))?;
        self.put(&key, Some(content), at).await
    }

    /// Takes a record out of the status of its pipeline.
    pub(super) async fn forget(&self, key: &RecordKey, at: RecordVersion) -> Result<(), StoreError> {
        self.put(key, None, Some(at)).await.map(|_| ())
    }

    async fn put(
        &self,
        key: &RecordKey,
        content: Option<Value>,
        at: Option<RecordVersion>,
    ) -> Result<RecordVersion, StoreError> {
        let (pipeline, part) = part(key)?;
        let broken = |error: &kube::Error| fault::unavailable(error);
        let mut found = self.pipelines().find(pipeline).await.map_err(|error| broken(&error))?;
        let mut is_fresh = false;
        for _ in 0..ROUNDS {
            let Some(defining) = found else {
                // A record that is gone with its pipeline is removed already.
                let gone = || fault::about(key, format!("there is no Pipeline `{pipeline}` to keep it"));
                return if content.is_none() { Ok(RecordVersion(self.pipelines().newest())) } else { Err(gone()) };
            };
            let mut records = defining.records.clone();
            match (records.get(&part), at, &content) {
                (None, Some(at), None) => return Ok(at),
                (Some(_), None, _) => return Err(StoreError::Exists(key.clone())),
                (None, Some(_), _) => return Err(StoreError::Moved(key.clone())),
                (Some((_, known)), Some(at), _) if *known != at => return Err(StoreError::Moved(key.clone())),
                (Some((known, version)), _, Some(content)) if known == content => {
                    if is_fresh {
                        return Ok(*version);
                    }
                    // Nothing is written, so the API server does not say whether it moved.
                    found = self.pipelines().fetch(pipeline).await.map_err(|error| broken(&error))?;
                    is_fresh = true;
                    continue;
                }
                _ => {}
            }
            match &content {
                Some(content) => drop(records.insert(part.clone(), (content.clone(), RecordVersion(0)))),
                None => drop(records.remove(&part)),
            }
            let used = version(&defining.object.metadata);
            match self.apply(pipeline, &defining, &records).await {
                Ok(written) => return Ok(RecordVersion(written)),
                Err(error) if fault::is(&error, 409) => {
                    let known = self.pipelines().defining(pipeline);
                    let newer = known.filter(|known| version(&known.object.metadata) > used);
                    found = match newer {
                        Some(newer) => Some(newer),
                        None => self.pipelines().fetch(pipeline).await.map_err(|error| broken(&error))?,
                    };
                }
                Err(error) if fault::is(&error, 404) => {
                    found = self.pipelines().fetch(pipeline).await.map_err(|error| broken(&error))?;
                }
                Err(error) => return Err(broken(&error)),
            }
        }
        Err(fault::about(key, format!("the status of Pipeline `{pipeline}` changes all the time")))
    }

    /// Writes all records of a pipeline into the status of the object that defines it by now.
    pub(in crate::hub) async fn take_over(&self, pipeline: &PipelineKey, heir: &Defining) -> Result<(), StoreError> {
        if heir.records.is_empty() {
            return Ok(());
        }
        let written = self.apply(pipeline, heir, &heir.records).await;
        written.map(|_| ()).map_err(|error| fault::unavailable(&error))
    }

    /// Applies all records of a pipeline, over the state of its object that is known.
    async fn apply(
        &self,
        pipeline: &PipelineKey,
        defining: &Defining,
        records: &BTreeMap<Part, (Value, RecordVersion)>,
    ) -> Result<u64, kube::Error> {
        let kind = resource(defining.group);
        let metadata = &defining.object.metadata;
        let body = json!({
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {
                "name": metadata.name,
                "namespace": metadata.namespace,
                "uid": metadata.uid,
                "resourceVersion": metadata.resource_version,
            },
            "status": status(records),
        });
        let api = self.pipelines().api(defining.group, &pipeline.namespace);
        let parameters = PatchParams::apply(MANAGER).force();
        let written = api.patch_status(pipeline.name.as_str(), &parameters, &Patch::Apply(body)).await?;
        let at = version(&written.metadata);
        self.pipelines().observe(defining.group, written);
        Ok(at)
    }
}
