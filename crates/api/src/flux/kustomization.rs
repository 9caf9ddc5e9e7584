//! A Kustomization counts as deployed when what it applied is what it attempted, and it is ready.

use serde_json::Value;
use weir_core::{Version, Workload, WorkloadState};

use super::{
    Context, Source,
    conditions::{self, Progress},
    failed, reads_source,
};

/// What a Kustomization runs, or is on its way to. Its version is that of its source.
pub(super) fn read(object: &Value, context: &Context<'_>) -> Workload {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str);
    let applied = text("/status/lastAppliedRevision");
    let attempted = text("/status/lastAttemptedRevision");
    let version = |revision: Option<&str>| {
        let source = Source {
            kind: text("/spec/sourceRef/kind").or(context.source.and_then(|source| source.kind)),
            follows: context.source.and_then(|source| source.follows),
            revision,
        };
        if revision.is_some() { source.version(reads_source(context.version)) } else { Version::Nothing }
    };
    let progress = conditions::progress(object);
    let unhealthy = conditions::is(object, "Healthy", "False");
    match progress {
        Progress::Failed(message) => failed(version(attempted.or(applied)), message),
        Progress::Done if unhealthy => {
            failed(version(attempted.or(applied)), conditions::message_of(object, "Healthy"))
        }
        Progress::Done if applied.is_some() && applied == attempted => {
            Workload { version: version(applied), state: WorkloadState::Healthy }
        }
        Progress::Done | Progress::UnderWay => {
            Workload { version: version(attempted.or(applied)), state: WorkloadState::Progressing }
        }
    }
}
