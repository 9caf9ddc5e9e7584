//! What Flux objects and events mean.
//!
//! [`workload`] reads a HelmRelease or Kustomization as a watch delivers it; [`event`] reads what the notification
//! controller posts. Both decide by fields that Flux defines: conditions, history, reasons. No human message is ever
//! parsed, and nothing that Flux may leave out is depended on.
//!
//! Objects are compared by group and kind, never by version: the same object is `v2beta1` to one cluster and `v2` to
//! another.

mod conditions;
mod event;
mod helm_release;
mod image;
mod kustomization;
mod source;

use serde_json::Value;
use weir_core::{Name, NameError, Version, VersionRule, Workload, WorkloadKey, WorkloadKind, WorkloadState};

pub use event::{EventError, Heard, Ignored, Reported, event};
pub use source::{Follows, Source};

/// What is known beside the object itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// What counts as the version, if the pipeline says so.
    pub version: Option<&'a VersionRule>,
    /// The Flux source that the object deploys from, if it was read.
    pub source: Option<Source<'a>>,
    /// The container images that the object runs, if they were read.
    pub images: &'a [String],
}

/// Why a JSON object is not a workload.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// Another kind.
    #[error("`{kind}` of `{api_version}` is not a Flux object that deploys something")]
    Kind {
        /// Its group and version.
        api_version: String,
        /// Its kind.
        kind: String,
    },
    /// A name that Kubernetes would not have taken.
    #[error(transparent)]
    Name(#[from] NameError),
}

/// Reads a HelmRelease or Kustomization: which workload it is, which version it runs, and how that is going.
pub fn workload(object: &Value, context: &Context<'_>) -> Result<(WorkloadKey, Workload), WorkloadError> {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("/apiVersion"), text("/kind"));
    let kind = workload_kind(api_version, kind)
        .ok_or_else(|| WorkloadError::Kind { api_version: api_version.to_owned(), kind: kind.to_owned() })?;
    let key = WorkloadKey { kind, name: Name::new(text("/metadata/name"))? };
    let mut seen = match kind {
        WorkloadKind::HelmRelease => helm_release::read(object, context),
        WorkloadKind::Kustomization => kustomization::read(object, context),
    };
    if let Some(VersionRule::Image(name)) = context.version {
        image::replace(&mut seen, name, context.images);
    }
    Ok((key, seen))
}

/// The pipeline that a workload's label names. It joins by it if the pipeline has no `appRef`.
pub fn pipeline_label(object: &Value) -> Option<&str> {
    let labels = object.pointer("/metadata/labels")?;
    let names = ["pipelines.weave.works/pipeline", "pipelines.wego.weave.works/pipeline"];
    names.iter().find_map(|name| labels.get(name)?.as_str())
}

/// The kind of workload that a group and kind are, whatever the version.
fn workload_kind(api_version: &str, kind: &str) -> Option<WorkloadKind> {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    match (group, kind) {
        ("helm.toolkit.fluxcd.io", "HelmRelease") => Some(WorkloadKind::HelmRelease),
        ("kustomize.toolkit.fluxcd.io", "Kustomization") => Some(WorkloadKind::Kustomization),
        _ => None,
    }
}

fn reads_source(rule: Option<&VersionRule>) -> bool {
    rule == Some(&VersionRule::Source)
}

fn failed(version: Version, message: impl AsRef<str>) -> Workload {
    Workload { version, state: WorkloadState::Failed { message: short(message.as_ref()).into() } }
}

/// A message of Flux in a length that a status can keep: Helm's logs may be in it.
fn short(message: &str) -> String {
    const LONGEST: usize = 1000;
    let text = message.trim();
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}
