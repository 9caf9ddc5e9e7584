//! Everything that is known about one pipeline at one moment: the input of [`crate::plan`].

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    freeze::Freeze,
    hold::Hold,
    name::EnvironmentName,
    observation::{Observation, ObservationKey, Report, Sighting, Unreachable},
    pipeline::TargetKey,
    promotion::Promotion,
    release::{Release, WorkloadKey},
};

/// Everything that is known about one pipeline. What does not concern it does no harm.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// What is remembered of each environment.
    pub environments: BTreeMap<EnvironmentName, EnvironmentRecord>,
    /// What the watches see. A target that is missing is not watched: it is known by its reports alone.
    pub sightings: BTreeMap<TargetKey, Arc<Sighting>>,
    /// The targets that nobody can watch, because their cluster was looked for and is not defined.
    pub undefined: BTreeSet<TargetKey>,
    /// What was reported, by environment and target. Without a target it is known only that some target reported.
    pub observations: BTreeMap<(EnvironmentName, Option<TargetKey>), BTreeMap<WorkloadKey, Observation>>,
    /// The promotions of the pipeline, in any order.
    pub promotions: Vec<Promotion>,
    /// The freezes in the world, in any order.
    pub freezes: Vec<Freeze>,
}

impl Snapshot {
    /// What people have to know about how a target is known, if that is not as it looks.
    pub fn remark(&self, target: &TargetKey) -> Option<String> {
        let cluster = target.cluster.as_ref().filter(|_| self.undefined.contains(target))?;
        Some(format!("there is no GitopsCluster `{cluster}`; Weir knows this target by signed events only"))
    }

    /// Takes in a report.
    pub fn observe(&mut self, key: ObservationKey, report: Report) {
        let reports = self.observations.entry((key.environment, key.target)).or_default();
        let known = reports.remove(&key.workload);
        let known = match known {
            None => Observation::first(report),
            Some(known) => known.and(report),
        };
        reports.insert(key.workload, known);
    }
}

/// The memory of an environment: what must survive restarts, dead clusters and pruning. Written only when its meaning
/// changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentRecord {
    /// The targets as last seen.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub targets: BTreeMap<TargetKey, TargetRecord>,
    /// The last release that every target ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Release>,
    /// The order in which releases first succeeded here. The oldest are forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<FirstSuccess>,
    /// The releases that shall not come here again. Never forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refusal>,
    /// The highest ordinal before the present one, whose record may have been removed by now.
    #[serde(default)]
    pub last_ordinal: u64,
    /// Why the candidate that has no promotion yet has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Hold>,
}

/// A target as last seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetRecord {
    /// The last release that it ran with every workload settled and healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<Release>,
    /// Since when it has run that release without a break. `None`: it does not now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub healthy_since: Option<Timestamp>,
    /// Why it cannot be read now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<Unreachable>,
}

/// When a release first succeeded in an environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstSuccess {
    /// The release.
    pub release: Release,
    /// When.
    pub at: Timestamp,
}

/// A release that shall not come to an environment again, unless a person asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The release.
    pub release: Release,
    /// When it was refused.
    pub at: Timestamp,
    /// Why, in one sentence.
    pub why: Arc<str>,
}

impl EnvironmentRecord {
    /// How many releases the order remembers.
    pub const ORDER: usize = 64;

    /// The refusal of a release, if there is one.
    pub fn refusal(&self, release: &Release) -> Option<&Refusal> {
        self.refusals.iter().find(|refusal| refusal.release == *release)
    }

    /// When a release first succeeded here, as far as that is remembered.
    pub fn first_success(&self, release: &Release) -> Option<Timestamp> {
        self.order.iter().rev().find(|first| release.covers(&first.release)).map(|first| first.at)
    }

    /// Refuses a release, once.
    pub(crate) fn refuse(&mut self, release: &Release, at: Timestamp, why: impl Into<Arc<str>>) {
        if self.refusal(release).is_none() {
            self.refusals.push(Refusal { release: release.clone(), at, why: why.into() });
        }
    }
}
