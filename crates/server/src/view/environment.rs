//! An environment: what runs in it, what would enter it, and why that is not further.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use weir_core::{
    Actor, Environment, EnvironmentPlan, ForgeKind, Gate, Merge, Plan, Running, RunningState, Strategy, TargetKey,
    explain,
};
use weir_engine::{Awaited, Known};
use weir_ports::Flaw;

use super::{Explanation, Hold, PromotionView, Release, Step, all};

/// An environment, and everything that is known of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnvironmentView {
    /// Its name.
    name: String,
    /// The last release that every target ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<Release>,
    /// Where it runs.
    targets: Vec<TargetView>,
    /// What was reported without telling by which target.
    reported: Vec<WorkloadView>,
    /// How a release gets into it. Missing: it is only shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<StrategyView>,
    /// What has to be true before a release may enter.
    gates: Vec<GateView>,
    /// The promotion whose turn it is, or was last.
    #[serde(skip_serializing_if = "Option::is_none")]
    promotion: Option<PromotionView>,
    /// What is decided about it now.
    plan: PlanView,
    /// The release that goes on as soon as people agree: the newest, unless another one goes first whatever they say.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<AwaitedView>,
    /// The releases that shall not come here again.
    refusals: Vec<RefusalView>,
    /// Why it is not further.
    explanation: Explanation,
}

/// What is decided about an environment now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanView {
    /// The release that is next, if no promotion carries it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    candidate: Option<Release>,
    /// The step that is being taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<Step>,
    /// Everything that holds it, most binding first.
    holds: Vec<Hold>,
    /// Those of them that hold the candidate and not the promotion whose turn it is.
    next_holds: Vec<Hold>,
    /// When time alone changes the plan of the pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_check: Option<Timestamp>,
}

/// A target as last seen.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetView {
    /// As it is named: `CLUSTER-NAMESPACE/CLUSTER/NAMESPACE`, or `NAMESPACE`.
    name: String,
    /// The cluster, as `NAMESPACE/NAME`. Missing: the one that the pipeline lives on.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    /// The namespace there.
    namespace: String,
    /// How it is known what runs there: `watch`, because Weir reads its cluster; or `events`, what Flux or CI reported last.
    detection: &'static str,
    /// The last release that it ran with every workload healthy.
    #[serde(skip_serializing_if = "Option::is_none")]
    release: Option<Release>,
    /// Since when it has run that release without a break. Missing: it does not now.
    #[serde(skip_serializing_if = "Option::is_none")]
    healthy_since: Option<Timestamp>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreachable: Option<UnreachableView>,
    /// What else has to be known about it, such as that its `GitopsCluster` does not exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Its workloads.
    workloads: Vec<WorkloadView>,
}

/// Why a target cannot be read.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UnreachableView {
    /// What went wrong.
    error: String,
    /// Since when.
    since: Timestamp,
}

/// A workload, as it is seen, or was reported.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkloadView {
    /// `HelmRelease` or `Kustomization`.
    kind: String,
    /// Its name.
    name: String,
    /// The version that it runs, or is on its way to; of one that is known by reports, the last that was deployed.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// The container images that it runs, where its cluster is watched.
    images: Vec<String>,
    /// `healthy`, `progressing` or `failed`.
    state: &'static str,
    /// What Flux said when it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Since when the version has been known to run without a break.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    /// When the last report came. Missing: it is seen, and not known by reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_report: Option<Timestamp>,
}

/// How a release gets into an environment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StrategyView {
    /// `pull-request`, `push` or `notification`.
    name: &'static str,
    /// Who keeps the proposals: `github`, `gitlab`, `gitea`, `bitbucket-server`, `bitbucket-cloud`, `azure-devops`, or
    /// `git`, which is Weir itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    forge: Option<&'static str>,
    /// The repository, without credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    /// The branch that is changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<String>,
    /// When a release may leave the environment before: `any`, `all`, a count or a percentage.
    when: String,
    /// Who merges: `people` or `auto`.
    merge: &'static str,
}

/// A condition on entering an environment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GateView {
    /// `approval`, `window` or `soak`.
    name: &'static str,
    /// What it asks for.
    sentence: String,
}

/// A release that shall not come here again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RefusalView {
    /// Which.
    release: Release,
    /// Since when.
    at: Timestamp,
    /// Why.
    why: String,
}

/// A release that waits for people to agree.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AwaitedView {
    /// Which.
    release: Release,
    /// Whether an approval of whoever asks would count.
    counts: bool,
    /// Whether they agreed already.
    given: bool,
}

/// Shows one environment, to somebody. `None`: the plan does not know it.
pub(crate) fn environment(
    known: &Known,
    who: &Actor,
    unread: &[Flaw],
    environment: &Environment,
    plan: &Plan,
    now: Timestamp,
) -> Option<EnvironmentView> {
    let decided = plan.environments.iter().find(|it| it.name == environment.name)?;
    let explanation = explain(known.pipeline(), known.snapshot(), &environment.name, now)?;
    let record = known.snapshot().environments.get(&environment.name);
    let refusals = record.map(|record| record.refusals.as_slice()).unwrap_or_default();
    Some(EnvironmentView {
        name: environment.name.to_string(),
        runs: record.and_then(|record| record.runs.as_ref()).map(Release::from),
        targets: environment.targets.iter().map(|it| target(known, environment, it)).collect(),
        reported: workloads(known, environment, None),
        strategy: environment.promotion.as_ref().map(StrategyView::from),
        gates: all(&environment.gates),
        promotion: known.newest(&environment.name).map(PromotionView::from),
        approval: Awaited::before(known, environment, plan, who).map(AwaitedView::from),
        plan: planned(decided, plan.next_check),
        refusals: all(refusals),
        explanation: Explanation::from(explanation).despite(unread),
    })
}

impl From<Awaited> for AwaitedView {
    fn from(Awaited { release, counts, given }: Awaited) -> Self {
        Self { release: Release::from(&release), counts, given }
    }
}

fn planned(decided: &EnvironmentPlan, next_check: Option<Timestamp>) -> PlanView {
    PlanView {
        candidate: decided.candidate.as_ref().map(Release::from),
        step: decided.step.as_ref().map(Step::from),
        holds: all(&decided.holds),
        next_holds: all(&decided.next),
        next_check,
    }
}

fn target(known: &Known, environment: &Environment, key: &TargetKey) -> TargetView {
    let record = known.snapshot().environments.get(&environment.name).and_then(|record| record.targets.get(key));
    let unreachable = record.and_then(|record| record.unreachable.as_ref());
    TargetView {
        name: key.to_string(),
        cluster: key.cluster.as_ref().map(ToString::to_string),
        namespace: key.namespace.to_string(),
        detection: if known.snapshot().sightings.contains_key(key) { "watch" } else { "events" },
        release: record.and_then(|record| record.release.as_ref()).map(Release::from),
        healthy_since: record.and_then(|record| record.healthy_since),
        message: known.snapshot().remark(key),
        unreachable: unreachable.map(|it| UnreachableView { error: it.error.to_string(), since: it.since }),
        workloads: workloads(known, environment, Some(key)),
    }
}

fn workloads(known: &Known, environment: &Environment, target: Option<&TargetKey>) -> Vec<WorkloadView> {
    known.snapshot().running(&environment.name, target).iter().map(WorkloadView::from).collect()
}

impl From<&Running<'_>> for WorkloadView {
    fn from(running: &Running<'_>) -> Self {
        Self {
            kind: running.workload.kind.to_string(),
            name: running.workload.name.to_string(),
            version: running.version.map(str::to_owned),
            images: running.images.iter().map(ToString::to_string).collect(),
            state: match running.state {
                RunningState::Healthy => "healthy",
                RunningState::Progressing => "progressing",
                RunningState::Failed => "failed",
            },
            message: running.message.map(str::to_owned),
            since: running.since,
            last_report: running.reported,
        }
    }
}

impl From<&weir_core::Policy> for StrategyView {
    fn from(policy: &weir_core::Policy) -> Self {
        let (name, forge, repository) = match &policy.strategy {
            Strategy::PullRequest(it) => ("pull-request", Some(forge(it.forge)), Some(&it.repository)),
            Strategy::Push(repository) => ("push", None, Some(repository)),
            Strategy::Notification => ("notification", None, None),
        };
        let merge = match policy.merge {
            Merge::People => "people",
            Merge::Auto => "auto",
        };
        Self {
            name,
            forge,
            repository: repository.map(|it| it.url.to_string()),
            base: repository.map(|it| it.base.to_string()),
            when: policy.when.to_string(),
            merge,
        }
    }
}

pub(crate) fn forge(kind: ForgeKind) -> &'static str {
    match kind {
        ForgeKind::GitHub => "github",
        ForgeKind::GitLab => "gitlab",
        ForgeKind::Gitea => "gitea",
        ForgeKind::BitbucketServer => "bitbucket-server",
        ForgeKind::BitbucketCloud => "bitbucket-cloud",
        ForgeKind::AzureDevOps => "azure-devops",
        ForgeKind::Git => "git",
    }
}

impl From<&Gate> for GateView {
    fn from(gate: &Gate) -> Self {
        match gate {
            Gate::Approval(it) => {
                Self { name: "approval", sentence: format!("{} have to agree; {} may", it.count, it.from) }
            }
            Gate::Window(window) => Self { name: "window", sentence: window.to_string() },
            Gate::Soak(duration) => {
                Self { name: "soak", sentence: format!("healthy in the environment before for {duration:#}") }
            }
        }
    }
}

impl From<&weir_core::Refusal> for RefusalView {
    fn from(it: &weir_core::Refusal) -> Self {
        Self { release: (&it.release).into(), at: it.at, why: it.why.to_string() }
    }
}
