//! The Flux source that something is made from.

use kube::api::ApiResource;
use serde_json::Value;
use weir_core::WorkloadKind;

/// The source that a workload names.
pub(super) struct Reference<'a> {
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    pub(super) namespace: Option<&'a str>,
    plural: &'static str,
    versions: &'static [&'static str],
}

impl<'a> Reference<'a> {
    /// The source of a workload.
    pub(super) fn of(kind: WorkloadKind, workload: &'a Value) -> Option<Self> {
        let found = match kind {
            WorkloadKind::Kustomization => workload.pointer("/spec/sourceRef"),
            WorkloadKind::HelmRelease => {
                workload.pointer("/spec/chartRef").or_else(|| workload.pointer("/spec/chart/spec/sourceRef"))
            }
        }?;
        Self::read(found)
    }

    /// The source of a chart.
    pub(super) fn of_chart(chart: &'a Value) -> Option<Self> {
        Self::read(chart.pointer("/spec/sourceRef")?)
    }

    /// A chart that Flux made for a workload.
    pub(super) fn chart(namespace: &'a str, name: &'a str) -> Self {
        Self { kind: "HelmChart", name, namespace: Some(namespace), plural: "helmcharts", versions: &["v1", "v1beta2"] }
    }

    fn read(found: &'a Value) -> Option<Self> {
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

    /// What to ask for. Whichever version a workload names, a cluster may serve another.
    pub(super) fn resources(&self) -> impl Iterator<Item = ApiResource> {
        self.versions.iter().map(|version| self.resource(version))
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
    use serde_json::json;

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
