//! What is known at one moment, as a person writes it down: the document `State`.

mod promotion;
mod world;

use jiff::Timestamp;
use serde::{Deserialize, de::IgnoredAny};
use serde_saphyr::Spanned;
use weir_core::{EnvironmentName, Name, Namespace, Pipeline, Selector, WorkloadKey};

use crate::{
    document::{Entries, Source},
    naming::Reported,
    time::{self, Time},
};

pub(crate) use promotion::CheckList;
pub(crate) use world::World;

/// What is known at one moment.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "version and kind were checked before")]
pub(crate) struct State {
    api_version: IgnoredAny,
    kind: IgnoredAny,
    /// The moment.
    pub(crate) at: Option<Time>,
    #[serde(default)]
    environments: Entries<EnvironmentName, Environment>,
    #[serde(default)]
    promotions: Vec<promotion::Promotion>,
    #[serde(default)]
    freezes: Vec<Freeze>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Environment {
    /// For every target that is not listed.
    runs: Option<Spanned<String>>,
    #[serde(default)]
    state: Health,
    message: Option<String>,
    since: Option<Time>,
    #[serde(default)]
    targets: Vec<Spanned<Target>>,
    #[serde(default)]
    refusals: Vec<Refusal>,
    #[serde(default)]
    order: Vec<Spanned<String>>,
    declares: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Target {
    cluster: Option<String>,
    namespace: Option<String>,
    runs: Option<Spanned<String>>,
    #[serde(default)]
    state: Health,
    message: Option<String>,
    since: Option<Time>,
    #[serde(default)]
    workloads: Entries<WorkloadKey, Workload>,
    unreachable: Option<Unreachable>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Workload {
    revision: Option<Reported>,
    branch: Option<String>,
    #[serde(default)]
    state: Health,
    message: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Health {
    #[default]
    Healthy,
    Progressing,
    Failed,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Unreachable {
    error: String,
    since: Option<Time>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Refusal {
    release: Spanned<String>,
    why: String,
    at: Option<Time>,
}

/// A freeze, in states and in scenarios.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Freeze {
    name: Name,
    reason: String,
    by: String,
    namespace: Option<Namespace>,
    pipeline: Option<Name>,
    environment: Option<EnvironmentName>,
    release: Option<Reported>,
    from: Option<Time>,
    until: Option<Spanned<Time>>,
}

impl State {
    /// Whether it makes sense, as far as it alone tells.
    pub(crate) fn check(&self, source: &Source<'_>) -> anyhow::Result<()> {
        self.freezes.iter().try_for_each(|freeze| freeze.check(source))
    }
}

impl Freeze {
    /// It ends after it begins.
    pub(crate) fn check(&self, source: &Source<'_>) -> anyhow::Result<()> {
        match (&self.from, &self.until) {
            (Some(from), Some(until)) if until.value.0 <= from.0 => {
                Err(source.error(until.referenced, "`until` has to be later than `from`"))
            }
            _ => Ok(()),
        }
    }

    /// The freeze; without `from` it counts from then on.
    pub(crate) fn to_core(&self, then: Timestamp) -> weir_core::Freeze {
        let selector = Selector {
            namespace: self.namespace.clone(),
            pipeline: self.pipeline.clone(),
            environment: self.environment.clone(),
            release: self.release.clone().map(|release| release.0),
        };
        weir_core::Freeze {
            name: self.name.clone(),
            selector,
            reason: self.reason.clone(),
            by: self.by.clone(),
            from: time::or(self.from, then),
            until: self.until.as_ref().map(|until| until.value.into()),
        }
    }
}

/// A release that is written somewhere in a file.
pub(crate) fn release(
    source: &Source<'_>,
    pipeline: &Pipeline,
    written: &Spanned<String>,
) -> anyhow::Result<weir_core::Release> {
    source.at(written.referenced, pipeline.release_named(&written.value))
}
