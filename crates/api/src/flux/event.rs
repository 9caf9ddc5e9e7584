//! What an event of Flux reports.
//!
//! A reason decides, and nothing else. Success is a short list; failures and rollbacks are another; every other reason is
//! ignored, and said to be. One exception is for the first proposal's example: the helm-controller of `v2beta1` wrote
//! the severity as reason, so there `info` is a success and `error` a failure.

use std::{collections::BTreeMap, fmt};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use weir_core::{
    FluxSuffix, Name, NameError, Namespace, Outcome, Report, Revision, Version, VersionRule, WorkloadKey, WorkloadKind,
};

use super::{Source, reads_source, short, workload_kind};

/// What was heard in an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// A deployment succeeded or failed.
    Report(Reported),
    /// Nothing that changes what is known. It may still be worth a look at the workload.
    Nothing(Ignored),
}

/// A deployment that succeeded or failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// The workload.
    pub workload: WorkloadKey,
    /// Its namespace on the cluster that it runs on.
    pub namespace: Namespace,
    /// The cluster, if the alert adds `cluster` to its events. A hint: whoever writes the alert writes this.
    pub cluster: Option<String>,
    /// The object's identity on its cluster, to compare with what a watch sees.
    pub uid: Option<String>,
    /// What happened.
    pub report: Report,
}

/// Why an event changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Ignored {
    /// It is about an object that deploys nothing.
    #[error("`{kind}` of `{api_version}` is not a Flux object that deploys something")]
    Kind {
        /// The object's group and version.
        api_version: String,
        /// The object's kind.
        kind: String,
    },
    /// Its reason is neither a success nor a failure.
    #[error("reason `{0}` is neither a success nor a failure")]
    Reason(String),
    /// It says that something succeeded, but not what.
    #[error("the event has no `revision` in its metadata")]
    NoRevision,
    /// A HelmRelease deploys charts, and this is the version of none.
    #[error("the `revision` of the event, `{0}`, is not a version that a chart can have")]
    NoChart(String),
    /// What succeeded is a commit on a branch.
    #[error("`{0}` is a commit on a branch, which cannot be promoted")]
    Branch(String),
    /// The version is that of an image, which events do not tell.
    #[error("the version is that of image `{0}`, which an event does not tell")]
    Image(String),
}

/// Why a JSON text is no event of Flux.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// Its form is another.
    #[error("this is not an event of Flux: {0}")]
    Form(#[from] serde_json::Error),
    /// It names an object that cannot exist.
    #[error("the event is about an object that cannot exist: {0}")]
    Name(#[from] NameError),
}

/// Reads the body of an event. `version` is the pipeline's setting, if it has one.
///
/// An event cannot tell whether Helm tests are still to come. Where the workload can be read, that decides; where it
/// cannot, `TestFailed` takes the success back.
pub fn event(body: &[u8], received: Timestamp, version: Option<&VersionRule>) -> Result<Heard, EventError> {
    let event: Event = serde_json::from_slice(body)?;
    let object = &event.involved_object;
    let Some(kind) = workload_kind(&object.api_version, &object.kind) else {
        let (api_version, kind) = (object.api_version.clone(), object.kind.clone());
        return Ok(Heard::Nothing(Ignored::Kind { api_version, kind }));
    };
    let workload = WorkloadKey { kind, name: Name::new(&object.name)? };
    let namespace = Namespace::new(&object.namespace)?;
    let outcome = match event.meaning(kind) {
        Meaning::Nothing => return Ok(Heard::Nothing(Ignored::Reason(event.reason.unwrap_or_default()))),
        Meaning::Failure => Outcome::Failed { message: event.words().into() },
        Meaning::Success => match event.revision(kind, version) {
            Ok(revision) => Outcome::Succeeded(revision),
            Err(ignored) => return Ok(Heard::Nothing(ignored)),
        },
    };
    let told = event.timestamp.as_deref().and_then(|text| text.parse::<Timestamp>().ok());
    // A clock that is ahead would outrank every report until that time has come.
    let at = told.map_or(received, |at| at.min(received));
    let cluster = event.text("cluster").filter(|name| !name.is_empty()).map(str::to_owned);
    let report = Report { at, received, outcome };
    Ok(Heard::Report(Reported { workload, namespace, cluster, uid: event.involved_object.uid, report }))
}

enum Meaning {
    Success,
    Failure,
    Nothing,
}

const HELM_SUCCESS: [&str; 3] = ["InstallSucceeded", "UpgradeSucceeded", "TestSucceeded"];
/// A rollback or an uninstallation that succeeded is the end of a deployment that did not.
const HELM_FAILURE: [&str; 7] = [
    "InstallFailed",
    "UpgradeFailed",
    "TestFailed",
    "RollbackSucceeded",
    "RollbackFailed",
    "UninstallSucceeded",
    "UninstallFailed",
];
const KUSTOMIZE_SUCCESS: [&str; 1] = ["ReconciliationSucceeded"];
const KUSTOMIZE_FAILURE: [&str; 5] =
    ["HealthCheckFailed", "ReconciliationFailed", "BuildFailed", "PruneFailed", "ArtifactFailed"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    involved_object: Involved,
    reason: Option<String>,
    message: Option<String>,
    timestamp: Option<String>,
    metadata: Option<BTreeMap<String, Value>>,
    reporting_controller: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Involved {
    kind: String,
    name: String,
    namespace: String,
    api_version: String,
    uid: Option<String>,
}

impl Event {
    fn meaning(&self, kind: WorkloadKind) -> Meaning {
        let reason = self.reason.as_deref().unwrap_or_default();
        let (success, failure): (&[&str], &[&str]) = match kind {
            WorkloadKind::HelmRelease => (&HELM_SUCCESS, &HELM_FAILURE),
            WorkloadKind::Kustomization => (&KUSTOMIZE_SUCCESS, &KUSTOMIZE_FAILURE),
        };
        match reason {
            _ if success.contains(&reason) => Meaning::Success,
            _ if failure.contains(&reason) => Meaning::Failure,
            "info" if self.is_of_first_helm_controller() => Meaning::Success,
            "error" if self.is_of_first_helm_controller() => Meaning::Failure,
            _ => Meaning::Nothing,
        }
    }

    fn is_of_first_helm_controller(&self) -> bool {
        self.involved_object.api_version == "helm.toolkit.fluxcd.io/v2beta1"
            && matches!(self.reporting_controller.as_deref(), None | Some("helm-controller"))
    }

    fn revision(&self, kind: WorkloadKind, rule: Option<&VersionRule>) -> Result<Revision, Ignored> {
        if let Some(VersionRule::Image(image)) = rule {
            return Err(Ignored::Image(image.to_string()));
        }
        let text = self.detail("revision").filter(|text| !text.is_empty()).ok_or(Ignored::NoRevision)?;
        let version = match kind {
            WorkloadKind::HelmRelease => {
                if !may_be_of_a_chart(text) {
                    return Err(Ignored::NoChart(text.to_owned()));
                }
                let suffix = self.detail("oci-digest").map_or(FluxSuffix::Unknown, FluxSuffix::Digest);
                Revision::from_flux(text, suffix).map_or(Version::Nothing, Version::Revision)
            }
            WorkloadKind::Kustomization => {
                Source { revision: Some(text), ..Source::default() }.version(reads_source(rule))
            }
        };
        match version {
            Version::Revision(revision) => Ok(revision),
            Version::Branch(_) => Err(Ignored::Branch(text.to_owned())),
            Version::Nothing => Err(Ignored::NoRevision),
        }
    }

    /// What Flux adds to an event: with the object's group before it, or without, as notification-controller strips it.
    fn detail(&self, key: &str) -> Option<&str> {
        let group = self.involved_object.api_version.split('/').next().unwrap_or_default();
        let long = format!("{group}/{key}");
        self.text(key).or_else(|| self.text(&long))
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.metadata.as_ref()?.get(key)?.as_str()
    }

    fn words(&self) -> String {
        let said = self.message.as_deref().filter(|message| !message.trim().is_empty());
        short(said.or(self.reason.as_deref()).unwrap_or_default())
    }
}

/// Helm takes `v1.2.3`, and numbers that are left out; nothing else but a semantic version.
fn may_be_of_a_chart(version: &str) -> bool {
    let version = version.strip_prefix('v').unwrap_or(version);
    let (numbers, rest) = version.split_at(version.find(['-', '+']).unwrap_or(version.len()));
    let numbers: Vec<_> = numbers.split('.').collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let is_rest = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'+' | b'.');
    numbers.len() <= 3 && numbers.iter().all(is_number) && rest.bytes().all(is_rest)
}

impl fmt::Display for Reported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, namespace, report, .. } = self;
        match &report.outcome {
            Outcome::Succeeded(revision) => write!(f, "{workload} in {namespace} runs {revision}"),
            Outcome::Failed { message } => write!(f, "{workload} in {namespace} failed: {message}"),
        }
    }
}
