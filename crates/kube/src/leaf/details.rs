//! What is read beside a workload: the images that it runs, and the source that it deploys from.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use super::{
    fault::{Class, Fault},
    inventory,
    picture::Place,
    source::Reference,
};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject},
};
use serde_json::{Value, json};

/// How many images of a workload are shown.
const MOST_IMAGES: usize = 50;

/// What was read.
pub(super) struct Read {
    pub(super) images: Result<Vec<Arc<str>>, Fault>,
    /// `None`: nobody asked for it.
    pub(super) source: Option<Result<Value, Fault>>,
}

/// Reads beside workloads.
#[derive(Clone)]
pub(super) struct Reader {
    pub(super) client: Client,
    pub(super) server: Arc<str>,
    pub(super) deadline: Duration,
}

impl Reader {
    /// Reads what a workload alone does not tell.
    pub(super) async fn read(&self, place: &Place, workload: &Value, source: bool) -> Read {
        let images = self.images(workload).await;
        let source = if source { Some(self.source(place, workload).await) } else { None };
        Read { images, source }
    }

    async fn images(&self, workload: &Value) -> Result<Vec<Arc<str>>, Fault> {
        // An older Flux keeps no count of what a release consists of.
        let Some(entries) = inventory::entries(workload) else { return Ok(Vec::new()) };
        if workload.pointer("/spec/kubeConfig").is_some() {
            return Err(Fault::settled("what it runs is on yet another cluster, as its `spec.kubeConfig` says"));
        }
        let mut images = BTreeSet::new();
        for entry in entries {
            let found = self.get(&entry.resource, entry.namespace.as_str(), &entry.name).await?;
            // It may have gone since.
            let Some(object) = found else { continue };
            images.extend(entry.images(&object).map(Arc::from));
        }
        Ok(images.into_iter().take(MOST_IMAGES).collect())
    }

    /// The source, as far as it says what its revision means.
    async fn source(&self, place: &Place, workload: &Value) -> Result<Value, Fault> {
        let Some(reference) = Reference::of(place.kind, workload) else {
            return Err(Fault::settled(format!("{}/{} names no source", place.kind, place.name)));
        };
        let namespace = reference.namespace.unwrap_or(place.namespace.as_str());
        let found = self.get_any(reference.resources(), namespace, reference.name).await?;
        let Some(source) = found else {
            return Err(Fault::settled(format!("there is no {} `{namespace}/{}`", reference.kind, reference.name)));
        };
        let revision = source.pointer("/status/artifact/revision");
        Ok(json!({
            "kind": reference.kind,
            "spec": {"ref": source.pointer("/spec/ref").cloned().unwrap_or_else(|| json!({}))},
            "status": {"artifact": {"revision": revision}},
        }))
    }

    /// An object, in whichever of these versions the cluster serves it.
    pub(super) async fn get_any(
        &self,
        versions: impl Iterator<Item = ApiResource> + Send,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, Fault> {
        for resource in versions {
            match self.get(&resource, namespace, name).await {
                Err(fault) if fault.class == Class::Unknown => {}
                Ok(None) => {}
                other => return other,
            }
        }
        Ok(None)
    }

    /// An object, if there is one.
    pub(super) async fn get(
        &self,
        resource: &ApiResource,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, Fault> {
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, resource);
        let right = format!("get {} in namespace `{namespace}`", resource.plural);
        match tokio::time::timeout(self.deadline, api.get_opt(name)).await {
            Ok(Ok(found)) => Ok(found.and_then(|object| serde_json::to_value(object).ok())),
            Ok(Err(error)) => Err(Fault::of(&error, &self.server, &right)),
            Err(_) => Err(Fault::late(&self.server, self.deadline)),
        }
    }
}
