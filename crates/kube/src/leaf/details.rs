//! What is read beside a workload: the images that it runs, and the source that it deploys from.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject},
};
use serde_json::{Value, json};
use weir_core::WorkloadKind;

use super::{
    fault::{Class, Fault},
    inventory,
    picture::Place,
};

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
        // Whichever version a workload asks for, a cluster may serve another.
        for version in reference.versions {
            let resource = reference.resource(version);
            let found = match self.get(&resource, namespace, reference.name).await {
                Err(fault) if fault.class == Class::Unknown => None,
                other => other?,
            };
            if let Some(source) = found {
                let revision = source.pointer("/status/artifact/revision");
                return Ok(json!({
                    "kind": reference.kind,
                    "spec": {"ref": source.pointer("/spec/ref").cloned().unwrap_or_else(|| json!({}))},
                    "status": {"artifact": {"revision": revision}},
                }));
            }
        }
        Err(Fault::settled(format!("there is no {} `{namespace}/{}`", reference.kind, reference.name)))
    }

    /// An object, if there is one.
    async fn get(&self, resource: &ApiResource, namespace: &str, name: &str) -> Result<Option<Value>, Fault> {
        let api: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), namespace, resource);
        let right = format!("get {} in namespace `{namespace}`", resource.plural);
        match tokio::time::timeout(self.deadline, api.get_opt(name)).await {
            Ok(Ok(found)) => Ok(found.map(|object| object.data)),
            Ok(Err(error)) => Err(Fault::of(&error, &self.server, &right)),
            Err(_) => Err(Fault::late(&self.server, self.deadline)),
        }
    }
}

/// The source that a workload names.
struct Reference<'a> {
    kind: &'a str,
    name: &'a str,
    namespace: Option<&'a str>,
    plural: &'static str,
    versions: &'static [&'static str],
}

impl<'a> Reference<'a> {
    fn of(kind: WorkloadKind, workload: &'a Value) -> Option<Self> {
        let found = match kind {
            WorkloadKind::Kustomization => workload.pointer("/spec/sourceRef"),
            WorkloadKind::HelmRelease => {
                workload.pointer("/spec/chartRef").or_else(|| workload.pointer("/spec/chart/spec/sourceRef"))
            }
        }?;
        let text = |field: &str| found.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        let kind = text("kind")?;
        let (plural, versions): (_, &[_]) = match kind {
            "GitRepository" => ("gitrepositories", &["v1", "v1beta2"]),
            "OCIRepository" => ("ocirepositories", &["v1", "v1beta2"]),
            "HelmRepository" => ("helmrepositories", &["v1", "v1beta2"]),
            "HelmChart" => ("helmcharts", &["v1", "v1beta2"]),
            "Bucket" => ("buckets", &["v1", "v1beta2"]),
            "ExternalArtifact" => ("externalartifacts", &["v1"]),
            _ => return None,
        };
        Some(Self { kind, name: text("name")?, namespace: text("namespace"), plural, versions })
    }

    fn resource(&self, version: &str) -> ApiResource {
        const GROUP: &str = "source.toolkit.fluxcd.io";
        ApiResource {
            group: GROUP.to_owned(),
            version: version.to_owned(),
            api_version: format!("{GROUP}/{version}"),
            kind: self.kind.to_owned(),
            plural: self.plural.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_names_its_source_in_the_way_of_its_kind() {
        let named = |kind, workload: &Value| {
            let reference = Reference::of(kind, workload)?;
            let resource = reference.resource(reference.versions[0]);
            let namespace = reference.namespace.map(str::to_owned);
            Some((resource.api_version, resource.plural, namespace, reference.name.to_owned()))
        };
        let ours = json!({"spec": {"sourceRef": {"kind": "GitRepository", "name": "a", "namespace": "flux"}}});
        let expected = |plural: &str, namespace: Option<&str>, name: &str| {
            let version = "source.toolkit.fluxcd.io/v1".to_owned();
            Some((version, plural.to_owned(), namespace.map(str::to_owned), name.to_owned()))
        };
        assert_eq!(named(WorkloadKind::Kustomization, &ours), expected("gitrepositories", Some("flux"), "a"));
        let chart = json!({"spec": {"chart": {"spec": {"sourceRef": {"kind": "Bucket", "name": "b"}}}}});
        assert_eq!(named(WorkloadKind::HelmRelease, &chart), expected("buckets", None, "b"));
        let by_reference = json!({"spec": {"chartRef": {"kind": "OCIRepository", "name": "c"}}});
        assert_eq!(named(WorkloadKind::HelmRelease, &by_reference), expected("ocirepositories", None, "c"));
        assert_eq!(named(WorkloadKind::HelmRelease, &json!({"spec": {}})), None);
    }
}
