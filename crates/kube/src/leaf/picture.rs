//! What is known of one cluster.

use std::{collections::BTreeMap, sync::Arc};

use kube::api::ApiResource;
use serde_json::Value;
use tokio::time::Instant;
use weir_core::{Name, Namespace, WorkloadKind};

use super::{fault::Trouble, trim::Kept};

/// Both kinds of workloads.
pub(super) const KINDS: [WorkloadKind; 2] = [WorkloadKind::HelmRelease, WorkloadKind::Kustomization];

/// What is known of a cluster. What was seen stays while something is wrong.
#[derive(Default)]
pub(super) struct Picture {
    pub(super) access: Access,
    /// What is wrong with all of it.
    pub(super) trouble: Option<Trouble>,
    pub(super) kinds: BTreeMap<WorkloadKind, Kind>,
    pub(super) details: BTreeMap<Place, Details>,
}

/// Whether there is a way in.
#[derive(Default)]
pub(super) enum Access {
    /// Nobody knows yet.
    #[default]
    Unknown,
    /// No such cluster is defined.
    Undefined,
    /// There is, but it cannot be used.
    Closed(Trouble),
    /// There is.
    Open,
}

/// A kind of workloads.
#[derive(Default)]
pub(super) struct Kind {
    pub(super) served: Served,
    /// Since when the API server has not known it any more. One that has just started may not know it yet.
    pub(super) doubt: Option<Instant>,
    /// The workloads of the namespaces that were listed.
    pub(super) namespaces: BTreeMap<Namespace, BTreeMap<Name, Kept>>,
    /// What is wrong with its watches.
    pub(super) troubles: BTreeMap<Scope, Trouble>,
}

/// Whether a cluster has a kind.
#[derive(Default, Clone, PartialEq)]
pub(super) enum Served {
    /// Nobody knows yet.
    #[default]
    Unknown,
    /// It does not.
    Missing(Trouble),
    /// Like this.
    As(ApiResource),
}

/// What a watch sees.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// All namespaces.
    All,
    /// One.
    Namespace(Namespace),
}

/// Where a workload is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) kind: WorkloadKind,
    pub(super) namespace: Namespace,
    pub(super) name: Name,
}

/// What a workload alone does not tell.
#[derive(Default)]
pub(super) struct Details {
    /// The images that it runs.
    pub(super) images: Detail<Vec<Arc<str>>>,
    /// The Flux source that it deploys from.
    pub(super) source: Detail<Value>,
}

/// Something that is read beside a workload.
pub(super) struct Detail<T> {
    /// What was read last, and the fingerprint of the workload then.
    pub(super) read: Option<(u64, T)>,
    /// Why it cannot be read.
    pub(super) trouble: Option<Trouble>,
}

impl<T> Default for Detail<T> {
    fn default() -> Self {
        Self { read: None, trouble: None }
    }
}

impl<T> Detail<T> {
    /// What was read, if it was read of the workload as it is now.
    pub(super) fn current(&self, fingerprint: u64) -> Option<&T> {
        self.read.as_ref().filter(|(of, _)| *of == fingerprint).map(|(_, read)| read)
    }

    /// What was read last.
    pub(super) fn last(&self) -> Option<&T> {
        self.read.as_ref().map(|(_, read)| read)
    }
}

impl Picture {
    /// A kind of workloads.
    pub(super) fn kind(&self, kind: WorkloadKind) -> Option<&Kind> {
        self.kinds.get(&kind)
    }

    /// Whether a cluster has to be asked again which kinds it has.
    pub(super) fn lacks_kinds(&self) -> bool {
        KINDS.iter().any(|kind| !matches!(self.kind(*kind).map(|it| &it.served), Some(Served::As(_))))
    }
}

impl Kind {
    /// What is wrong with the watch that sees a namespace.
    pub(super) fn trouble(&self, namespace: &Namespace) -> Option<&Trouble> {
        self.troubles.get(&Scope::All).or_else(|| self.troubles.get(&Scope::Namespace(namespace.clone())))
    }
}

/// The group of a kind, the versions of it that can be read, newest first, and its name in addresses.
pub(super) fn resource(kind: WorkloadKind) -> (&'static str, &'static [&'static str], &'static str) {
    match kind {
        WorkloadKind::HelmRelease => ("helm.toolkit.fluxcd.io", &["v2", "v2beta2", "v2beta1"], "helmreleases"),
        WorkloadKind::Kustomization => ("kustomize.toolkit.fluxcd.io", &["v1", "v1beta2"], "kustomizations"),
    }
}

/// A kind in every version of it that can be read, newest first.
pub(super) fn resources(kind: WorkloadKind) -> impl Iterator<Item = ApiResource> {
    let (group, versions, plural) = resource(kind);
    versions.iter().map(move |version| ApiResource {
        group: group.to_owned(),
        version: (*version).to_owned(),
        api_version: format!("{group}/{version}"),
        kind: kind.to_string(),
        plural: plural.to_owned(),
    })
}

/// A kind in the newest of these versions that can be read.
pub(super) fn newest(kind: WorkloadKind, served: &[&str]) -> Option<ApiResource> {
    resources(kind).find(|resource| served.contains(&resource.version.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_that_can_be_read_is_taken() {
        let version = |served: &[&str]| newest(WorkloadKind::HelmRelease, served).map(|it| it.version);
        assert_eq!(version(&["v2beta1", "v2", "v2beta2"]).as_deref(), Some("v2"));
        assert_eq!(version(&["v2beta1", "v2beta2"]).as_deref(), Some("v2beta2"));
        assert_eq!(version(&["v3alpha1"]), None);
    }
}
