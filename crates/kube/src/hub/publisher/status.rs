//! The status of a Pipeline, from what is known of the pipeline.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use weir_api::{
    ClusterKind, ClusterRef, EnvironmentStatus, HoldStatus, PipelineStatus, Shadowed, TargetStatus, WaitingApproval,
    WorkloadStatus,
};
use weir_core::{
    Environment, EnvironmentPlan, EnvironmentRecord, Hold, PipelineKey, Plan, Reason, Release, Running, RunningState,
    Snapshot, TargetKey, apply, plan,
};

use super::{PipelineObject, Shown, condition};

/// How long the one line about all environments may be.
const LINE: usize = 1024;

/// How many workloads of a target, and how many images of a workload, a status shows.
const WORKLOADS: usize = 50;
const IMAGES: usize = 20;

impl Shown<'_> {
    /// The status, without the records in it. Conditions that stay what they were keep their times.
    pub fn status(&self, before: &PipelineStatus) -> PipelineStatus {
        let decided = plan(self.pipeline, self.snapshot, self.now);
        let snapshot = apply(&decided, self.snapshot.clone());
        let mut environments = BTreeMap::new();
        for (definition, planned) in self.pipeline.environments().iter().zip(&decided.environments) {
            let record = snapshot.environments.get(&definition.name);
            let targets = definition.targets.iter().map(|target| self.target(definition, target, record));
            let targets: Vec<_> = targets.collect();
            let status = EnvironmentStatus {
                waiting_approval: waiting(planned, &snapshot),
                holds: (!planned.holds.is_empty()).then(|| planned.holds.iter().map(hold).collect()),
                targets: (!targets.is_empty()).then_some(targets),
                record: None,
            };
            environments.insert(definition.name.to_string(), status);
        }
        let conditions = condition::conditions(self, &decided, &line(&decided, &snapshot));
        let known = before.conditions.as_deref().unwrap_or_default();
        PipelineStatus {
            observed_generation: Some(self.generation),
            conditions: Some(condition::with_times(conditions, known, self.now)),
            suspended: None,
            environments: (!environments.is_empty()).then_some(environments),
        }
    }

    /// That a target on Weir's own cluster is not watched, because nothing of Flux is there.
    fn remark(&self, target: &TargetKey) -> Option<String> {
        let is_here = target.cluster.is_none() && self.snapshot.undefined.contains(target);
        is_here.then(|| "Flux is not on this cluster; Weir knows this target by signed events only".to_owned())
    }

    fn target(
        &self,
        environment: &Environment,
        target: &TargetKey,
        record: Option<&EnvironmentRecord>,
    ) -> TargetStatus {
        let known = record.and_then(|record| record.targets.get(target));
        let unreachable = known.and_then(|known| known.unreachable.as_ref());
        let running = self.snapshot.running(&environment.name, Some(target));
        TargetStatus {
            cluster_ref: target.cluster.as_ref().map(|cluster| ClusterRef {
                api_version: None,
                kind: ClusterKind::GitopsCluster,
                name: cluster.name.to_string(),
                namespace: Some(cluster.namespace.to_string()),
            }),
            namespace: target.namespace.to_string(),
            ready: unreachable.is_none() && known.is_some_and(|known| known.healthy_since.is_some()),
            revision: known.and_then(|known| known.release.as_ref()).map(ToString::to_string),
            error: unreachable.map(|unreachable| unreachable.error.to_string()),
            message: self.snapshot.remark(target).or_else(|| self.remark(target)),
            workloads: (!running.is_empty()).then(|| running.iter().take(WORKLOADS).map(workload).collect()),
        }
    }
}

/// The status of a Pipeline that has no effect.
pub(super) fn shadowed(key: &PipelineKey, object: &PipelineObject, now: Timestamp) -> PipelineStatus {
    let words = Shadowed { namespace: key.namespace.to_string(), name: key.name.to_string() }.to_string();
    let stalled = |generation| condition::stalled("Shadowed", &words, generation);
    PipelineStatus { environments: None, ..judged(object, stalled, now) }
}

/// The status of a Pipeline that is deleted: what it last said, and what it waits for.
pub(super) fn leaving(object: &PipelineObject, words: &str, now: Timestamp) -> PipelineStatus {
    judged(object, |generation| condition::leaving(words, generation), now)
}

/// The status that an object has, with other conditions.
fn judged(object: &PipelineObject, conditions: impl FnOnce(i64) -> Vec<Condition>, now: Timestamp) -> PipelineStatus {
    let generation = object.metadata.generation.unwrap_or_default();
    let status = object.status.clone().unwrap_or_default();
    let known = status.conditions.as_deref().unwrap_or_default();
    PipelineStatus {
        observed_generation: Some(generation),
        conditions: Some(condition::with_times(conditions(generation), known, now)),
        ..visible(&status)
    }
}

fn hold(hold: &Hold) -> HoldStatus {
    HoldStatus {
        reason: hold.reason.name().to_owned(),
        message: hold.reason.to_string(),
        remedy: hold.reason.remedy().to_string(),
        since: condition::second(hold.since),
    }
}

fn workload(running: &Running<'_>) -> WorkloadStatus {
    let images: Vec<_> = running.images.iter().take(IMAGES).map(ToString::to_string).collect();
    WorkloadStatus {
        kind: running.workload.kind.to_string(),
        name: running.workload.name.to_string(),
        version: running.version.map(str::to_owned),
        images: (!images.is_empty()).then_some(images),
        ready: running.state == RunningState::Healthy,
        message: running.message.map(str::to_owned),
    }
}

/// Every environment, what it runs, and why the next release is not there: `dev 6.2.0, prod 6.1.6: AwaitingApproval`.
fn line(decided: &Plan, snapshot: &Snapshot) -> String {
    let each = decided.environments.iter().map(|planned| {
        let runs = snapshot.environments.get(&planned.name).map(releases).unwrap_or_default();
        let runs = if runs.is_empty() { "-".to_owned() } else { runs.join(" and ") };
        match planned.holds.first() {
            Some(hold) => format!("{} {runs}: {}", planned.name, hold.reason.name()),
            None => format!("{} {runs}", planned.name),
        }
    });
    let line = each.collect::<Vec<_>>().join(", ");
    if line.chars().count() <= LINE { line } else { line.chars().take(LINE - 1).chain(['…']).collect() }
}

/// What the targets of an environment run, each release once.
fn releases(record: &EnvironmentRecord) -> Vec<String> {
    let mut found: Vec<&Release> = Vec::new();
    for release in record.targets.values().filter_map(|target| target.release.as_ref()) {
        if !found.contains(&release) {
            found.push(release);
        }
    }
    found.into_iter().map(ToString::to_string).collect()
}

fn waiting(planned: &EnvironmentPlan, snapshot: &Snapshot) -> Option<WaitingApproval> {
    planned.holds.iter().find(|hold| matches!(hold.reason, Reason::AwaitingApproval { .. }))?;
    let turn = snapshot
        .promotions
        .iter()
        .find(|it| it.key.environment == planned.name && Some(it.key.ordinal) == planned.promotion);
    let release = turn.map(|promotion| &promotion.release).or(planned.candidate.as_ref())?;
    Some(WaitingApproval { revision: release.to_string() })
}

/// What a status shows, beside the records in it.
pub(super) fn visible(status: &PipelineStatus) -> PipelineStatus {
    let environments = status.environments.iter().flatten().filter_map(|(name, environment)| {
        let shown = EnvironmentStatus { record: None, ..environment.clone() };
        (shown != EnvironmentStatus::default()).then(|| (name.clone(), shown))
    });
    let environments: BTreeMap<_, _> = environments.collect();
    PipelineStatus {
        suspended: None,
        environments: (!environments.is_empty()).then_some(environments),
        ..status.clone()
    }
}
