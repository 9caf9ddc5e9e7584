//! A pipeline, in a list and in full.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use weir_core::{Actor, Application, Environment, Phase, PipelineKey, Reason, Running, RunningState, plan};
use weir_engine::Known;
use weir_ports::Flaw;

use super::{EnvironmentView, Release, environment};

/// A pipeline, in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PipelineSummary {
    /// Its namespace.
    namespace: String,
    /// Its name.
    name: String,
    /// The one workload that it promotes. Missing: whatever carries its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    workload: Option<String>,
    /// Whether a definition of it is in force.
    defined: bool,
    /// What keeps its definition from being read. The one before it is still in force, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<String>,
    /// Nothing is written to Git while it is suspended.
    pub(crate) suspended: bool,
    /// Whether something failed, or waits for somebody to mend it.
    pub(crate) problem: bool,
    /// Its environments, first to last.
    pub(crate) environments: Vec<EnvironmentSummary>,
}

/// An environment, in a list of pipelines.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EnvironmentSummary {
    /// Its name.
    name: String,
    /// The last release that every target ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Release>,
    /// The release of the promotion whose turn it is, or was last.
    #[serde(skip_serializing_if = "Option::is_none")]
    release: Option<Release>,
    /// The phase of that promotion.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub(crate) phase: Option<Phase>,
    /// The names of the holds, most binding first.
    pub(crate) holds: Vec<&'static str>,
    /// `healthy`, `progressing`, `failed`, `unreachable`; or `unknown`, if nothing is seen. The worst of all targets.
    health: &'static str,
    /// The clusters of its targets, as `NAMESPACE/NAME`, by name. The one that the pipeline lives on is not told.
    clusters: BTreeSet<String>,
}

/// A pipeline in full.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PipelineView {
    /// Its namespace.
    namespace: String,
    /// Its name.
    name: String,
    /// The one workload that it promotes. Missing: whatever carries its label.
    #[serde(skip_serializing_if = "Option::is_none")]
    workload: Option<String>,
    /// Whether it is still defined.
    defined: bool,
    /// Nothing is written to Git while it is suspended.
    suspended: bool,
    /// Whether its definition suspends it: then nobody can resume it here.
    suspended_by_definition: bool,
    /// Its environments, first to last.
    environments: Vec<EnvironmentView>,
    /// What keeps its definition from being read. What is shown is the definition before, which is still in force.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
    /// When time alone changes something.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_check: Option<Timestamp>,
}

impl PipelineSummary {
    /// Shows a pipeline as its records say. Nothing is planned for a list.
    pub(crate) fn new(known: &Known, unread: Option<&str>) -> Self {
        let pipeline = known.pipeline();
        Self {
            unread: unread.map(str::to_owned),
            namespace: pipeline.key.namespace.to_string(),
            name: pipeline.key.name.to_string(),
            workload: workload(known),
            defined: known.definition().is_some(),
            suspended: pipeline.suspended,
            problem: unread.is_some() || pipeline.environments().iter().any(|it| is_a_problem(known, it)),
            environments: pipeline.environments().iter().map(|it| EnvironmentSummary::new(known, it)).collect(),
        }
    }

    /// A pipeline of which nothing is known, but that its definition cannot be read.
    pub(crate) fn unread(key: &PipelineKey, why: &str) -> Self {
        Self {
            namespace: key.namespace.to_string(),
            name: key.name.to_string(),
            workload: None,
            defined: false,
            unread: Some(why.to_owned()),
            suspended: false,
            problem: true,
            environments: Vec::new(),
        }
    }
}

impl EnvironmentSummary {
    fn new(known: &Known, environment: &Environment) -> Self {
        let record = known.snapshot().environments.get(&environment.name);
        let newest = known.newest(&environment.name);
        Self {
            name: environment.name.to_string(),
            runs: record.and_then(|record| record.runs.as_ref()).map(Release::from),
            release: newest.map(|newest| Release::from(&newest.release)),
            phase: newest.map(|newest| newest.phase),
            holds: reasons(known, environment).map(Reason::name).collect(),
            health: health(known, environment),
            clusters: environment.targets.iter().filter_map(|it| Some(it.cluster.as_ref()?.to_string())).collect(),
        }
    }
}

impl PipelineView {
    /// Shows everything about a pipeline to somebody, as it is decided now.
    pub(crate) fn new(known: &Known, who: &Actor, unread: &[Flaw], now: Timestamp) -> Self {
        let pipeline = known.pipeline();
        let plan = plan(pipeline, known.snapshot(), now);
        let each = pipeline.environments().iter();
        Self {
            namespace: pipeline.key.namespace.to_string(),
            name: pipeline.key.name.to_string(),
            workload: workload(known),
            defined: known.definition().is_some(),
            suspended: pipeline.suspended,
            suspended_by_definition: known.definition().is_some_and(|definition| definition.pipeline.suspended),
            environments: each.filter_map(|it| environment(known, who, unread, it, &plan, now)).collect(),
            problems: unread.iter().map(|flaw| flaw.told(true)).collect(),
            next_check: plan.next_check,
        }
    }
}

fn workload(known: &Known) -> Option<String> {
    match &known.pipeline().application {
        Application::Workload(workload) => Some(workload.to_string()),
        Application::Labelled => None,
    }
}

/// What holds an environment, as its records say: its newest promotion, and what has none yet.
fn reasons<'a>(known: &'a Known, environment: &Environment) -> impl Iterator<Item = &'a Reason> {
    let promotion = known.newest(&environment.name).into_iter().flat_map(|newest| &newest.holds);
    let record = known.snapshot().environments.get(&environment.name).into_iter().flat_map(|record| &record.holds);
    promotion.chain(record).map(|hold| &hold.reason)
}

/// How the workloads of an environment are: the worst of them counts.
fn health(known: &Known, environment: &Environment) -> &'static str {
    let record = known.snapshot().environments.get(&environment.name);
    if record.is_some_and(|record| record.targets.values().any(|target| target.unreachable.is_some())) {
        return "unreachable";
    }
    let mut worst = "unknown";
    for running in running(known, environment) {
        match running.state {
            RunningState::Failed => return "failed",
            RunningState::Progressing => worst = "progressing",
            RunningState::Healthy if worst == "unknown" => worst = "healthy",
            RunningState::Healthy => {}
        }
    }
    worst
}

/// The workloads of an environment, on all targets and on none.
fn running<'a>(known: &'a Known, environment: &'a Environment) -> impl Iterator<Item = Running<'a>> {
    let targets = environment.targets.iter().map(Some).chain([None]);
    targets.flat_map(|target| known.snapshot().running(&environment.name, target))
}

/// Something failed, or waits for somebody to mend it. What waits for its time or for a person's word is no problem.
fn is_a_problem(known: &Known, environment: &Environment) -> bool {
    let failed = known.newest(&environment.name).is_some_and(|newest| newest.phase == Phase::Failed);
    let broken = |reason: &Reason| {
        matches!(
            reason,
            Reason::NoStrategy { .. }
                | Reason::OrderUnknown { .. }
                | Reason::NoRevision { .. }
                | Reason::TargetUnreachable { .. }
                | Reason::NothingToEdit { .. }
                | Reason::AmbiguousMarker { .. }
                | Reason::RepositoryUnavailable { .. }
                | Reason::ForgeUnavailable { .. }
                | Reason::RateLimited { .. }
                | Reason::BranchChangedByHand { .. }
                | Reason::ChecksFailing { .. }
                | Reason::DeployFailed { .. }
        )
    };
    let unhealthy = running(known, environment).any(|running| running.state == RunningState::Failed);
    failed || unhealthy || reasons(known, environment).any(broken)
}
