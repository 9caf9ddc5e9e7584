//! What is known of the workloads in a target, for people: what is seen, or else what was reported.

use std::sync::Arc;

use jiff::Timestamp;

use crate::{
    name::EnvironmentName,
    observation::{Observation, Sighting, Version, Workload, WorkloadState},
    pipeline::TargetKey,
    release::WorkloadKey,
    snapshot::Snapshot,
};

/// A workload in a target.
#[derive(Debug, Clone, PartialEq)]
pub struct Running<'a> {
    /// Which one.
    pub workload: &'a WorkloadKey,
    /// What it runs, or is on its way to: a revision, or the branch that it follows. `None`: nothing is known.
    pub version: Option<&'a str>,
    /// How that is going.
    pub state: RunningState,
    /// What Flux says about a failure.
    pub message: Option<&'a str>,
    /// The container images that it runs, as far as they were read.
    pub images: &'a [Arc<str>],
    /// Since when it has been healthy, as far as that is known.
    pub since: Option<Timestamp>,
    /// When it was last reported. `None`: it is seen.
    pub reported: Option<Timestamp>,
}

/// How a workload is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunningState {
    /// The deployment succeeded.
    Healthy,
    /// It is under way.
    Progressing,
    /// It failed.
    Failed,
}

impl Snapshot {
    /// The workloads of a target. `None`: those of which it is only known that some target of the environment reported
    /// them.
    pub fn running<'a>(&'a self, environment: &EnvironmentName, target: Option<&TargetKey>) -> Vec<Running<'a>> {
        if let Some(seen) = target.and_then(|target| self.sightings.get(target)) {
            let record = self.environments.get(environment);
            let since = target.and_then(|target| record?.targets.get(target)?.healthy_since);
            return seen.workloads.iter().map(|(key, workload)| Running::seen(key, workload, seen, since)).collect();
        }
        let reports = self.observations.get(&(environment.clone(), target.cloned()));
        reports.into_iter().flatten().map(|(key, reported)| Running::reported(key, reported)).collect()
    }
}

impl<'a> Running<'a> {
    fn seen(key: &'a WorkloadKey, seen: &'a Workload, sighting: &'a Sighting, since: Option<Timestamp>) -> Self {
        let (state, message) = match &seen.state {
            WorkloadState::Healthy => (RunningState::Healthy, None),
            WorkloadState::Failed { message } => (RunningState::Failed, Some(&**message)),
            WorkloadState::Progressing => (RunningState::Progressing, None),
        };
        Self {
            workload: key,
            version: match &seen.version {
                Version::Revision(revision) => Some(revision.as_str()),
                Version::Branch(name) => Some(name),
                Version::Nothing => None,
            },
            state,
            message,
            images: sighting.images.get(key).map(Vec::as_slice).unwrap_or_default(),
            since: since.filter(|_| state == RunningState::Healthy),
            reported: None,
        }
    }

    fn reported(workload: &'a WorkloadKey, reported: &'a Observation) -> Self {
        let (success, failure) = (reported.success.as_ref(), reported.failure());
        Self {
            workload,
            version: success.map(|success| success.revision.as_str()),
            state: if failure.is_none() { RunningState::Healthy } else { RunningState::Failed },
            message: failure.map(|message| &**message),
            images: &[],
            since: success.filter(|_| failure.is_none()).map(|success| success.since),
            reported: Some(reported.last.received),
        }
    }
}
