//! Records that have an object of their own.

use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use serde_json::json;
use weir_api::Violation;
use weir_ports::{RecordKey, RecordVersion, StoreError, Stored};

use super::HubStore;
use crate::hub::{
    MANAGER, fault,
    kept::{Changes, Kept, Place},
    pipelines::version,
};

impl HubStore {
    pub(super) async fn read<K: Kept>(&self, key: &RecordKey) -> Result<Option<Stored>, StoreError> {
        let (api, name) = self.place::<K>(key)?;
        let Some(object) = api.get_opt(&name).await.map_err(|error| fault::unavailable(&error))? else {
            return Ok(None);
        };
        let version = RecordVersion(version(object.meta()));
        self.pipelines().saw(version.0);
        let damaged = |reason: String| fault::about(key, format!("it is kept, but cannot be read any more: {reason}"));
        match object.record() {
            None => Ok(None),
            Some(Err(violations)) => Err(damaged(sentences(&violations))),
            Some(Ok(record)) if record.key() != *key => Err(damaged(format!("its object keeps {}", record.key()))),
            Some(Ok(record)) => Ok(Some(Stored { record, version })),
        }
    }

    /// Makes the object, and then writes its status.
    pub(super) async fn make<K: Kept>(&self, key: &RecordKey, mut object: K) -> Result<RecordVersion, StoreError> {
        if let Some(pipeline) = key.pipeline() {
            let defining = self.pipelines().find(pipeline).await.map_err(|error| fault::unavailable(&error))?;
            let defining = defining.ok_or_else(|| fault::about(key, format!("there is no Pipeline `{pipeline}`")))?;
            object.meta_mut().owner_references = Some(vec![defining.owner()]);
        }
        let (api, name) = self.place::<K>(key)?;
        let parameters = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
        match api.create(&parameters, &object).await {
            Ok(made) => {
                let at = RecordVersion(version(made.meta()));
                if !object.has_status() {
                    return Ok(at);
                }
                self.wrote(key, at);
                self.say::<K>(key, object, at).await.map_err(|error| exists(key, error))
            }
            Err(error) if fault::is(&error, 409) => {
                let found = api.get_opt(&name).await.map_err(|error| fault::unavailable(&error))?;
                let unfinished = found.filter(|found| found.record().is_none());
                let Some(found) = unfinished else { return Err(StoreError::Exists(key.clone())) };
                let at = RecordVersion(version(found.meta()));
                self.change(key, object, at).await.map_err(|error| exists(key, error))
            }
            // The pipeline was deleted and made anew: the next attempt belongs to the new one.
            Err(error) => Err(fault::unavailable(&error)),
        }
    }

    /// Replaces what the object says, if it is still at this version.
    pub(super) async fn change<K: Kept>(
        &self,
        key: &RecordKey,
        object: K,
        at: RecordVersion,
    ) -> Result<RecordVersion, StoreError> {
        let at = match K::CHANGES {
            Changes::Status => at,
            Changes::Spec | Changes::Both => self.specify(key, &object, at).await?,
        };
        if K::CHANGES == Changes::Spec { Ok(at) } else { self.say(key, object, at).await }
    }

    /// Writes the spec, and leaves labels and whatever else others put there.
    async fn specify<K: Kept>(
        &self,
        key: &RecordKey,
        object: &K,
        at: RecordVersion,
    ) -> Result<RecordVersion, StoreError> {
        let (api, name) = self.place::<K>(key)?;
        let steps = json!([
            // The API server takes it for the version that was read, and refuses if that moved.
            { "op": "replace", "path": "/metadata/resourceVersion", "value": at.0.to_string() },
            { "op": "replace", "path": "/spec", "value": object.spec() },
        ]);
        let steps = serde_json::from_value(steps).map_err(|error| fault::about(key, error))?;
        let parameters = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        let written = api.patch(&name, &parameters, &Patch::Json::<()>(steps)).await;
        written.map(|written| RecordVersion(version(written.meta()))).map_err(|error| moved(key, &error))
    }

    /// Writes the status.
    async fn say<K: Kept>(
        &self,
        key: &RecordKey,
        mut object: K,
        at: RecordVersion,
    ) -> Result<RecordVersion, StoreError> {
        let (api, name) = self.place::<K>(key)?;
        object.meta_mut().resource_version = Some(at.0.to_string());
        let parameters = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
        let written = api.replace_status(&name, &parameters, &object).await;
        written.map(|written| RecordVersion(version(written.meta()))).map_err(|error| moved(key, &error))
    }

    pub(super) async fn delete<K: Kept>(&self, key: &RecordKey, at: RecordVersion) -> Result<(), StoreError> {
        let (api, name) = self.place::<K>(key)?;
        let only = Preconditions { resource_version: Some(at.0.to_string()), uid: None };
        match api.delete(&name, &DeleteParams::background().preconditions(only)).await {
            Ok(_) => Ok(()),
            Err(error) if fault::is(&error, 404) => Ok(()),
            Err(error) => Err(moved(key, &error)),
        }
    }

    fn place<K: Kept>(&self, key: &RecordKey) -> Result<(kube::Api<K>, String), StoreError> {
        let place = Place::of_record(key).ok_or_else(|| fault::about(key, "it has no object of its own"))?;
        Ok((K::api(self.client(), place.namespace.as_deref()), place.name))
    }
}

/// Everything that is wrong with an object, as one sentence.
pub(super) fn sentences(violations: &[Violation]) -> String {
    violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("; ")
}

fn moved(key: &RecordKey, error: &kube::Error) -> StoreError {
    if fault::is_moved(error) { StoreError::Moved(key.clone()) } else { fault::unavailable(error) }
}

/// Whoever was faster while it was being made has it.
fn exists(key: &RecordKey, error: StoreError) -> StoreError {
    match error {
        StoreError::Moved(_) => StoreError::Exists(key.clone()),
        other => other,
    }
}
