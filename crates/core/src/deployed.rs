//! What is deployed: how each target of an environment stands, and what is remembered of it.
//!
//! A target has a release only when every workload in it is settled and healthy. What is seen counts; what was reported
//! counts for targets that are not watched.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use jiff::Timestamp;

use crate::{
    name::EnvironmentName,
    observation::{Observation, Unreachable, Version, Workload, WorkloadState},
    order::Order,
    pipeline::{Application, Environment, TargetKey},
    release::{Release, WorkloadKey},
    snapshot::{EnvironmentRecord, FirstSuccess, Snapshot, TargetRecord},
};

/// An environment as it stands.
pub(crate) struct Place<'a> {
    pub(crate) definition: &'a Environment,
    pub(crate) targets: Vec<Target<'a>>,
    /// What some target reported, without saying which one it is.
    pub(crate) reported: Option<Standing<'a>>,
    /// What is remembered, brought up to date. Borrowed as long as nothing changed.
    pub(crate) record: Cow<'a, EnvironmentRecord>,
    /// Whether every target has a release.
    settled: bool,
    /// Whether they all have the same.
    unanimous: bool,
}

pub(crate) struct Target<'a> {
    pub(crate) key: &'a TargetKey,
    pub(crate) standing: Standing<'a>,
    /// What was known of it before this look.
    known: Option<&'a TargetRecord>,
}

/// How one target stands.
pub(crate) enum Standing<'a> {
    /// Every workload is settled and healthy.
    Runs { release: Cow<'a, Release>, since: Timestamp },
    /// A deployment is under way, or failed.
    Unsettled { attempted: Option<Release>, failed: bool, message: Option<Arc<str>> },
    /// Healthy, but what runs cannot be promoted.
    NoRevision { workload: &'a WorkloadKey, found: Arc<str> },
    /// Nothing is known to be there.
    Empty,
    /// It cannot be read.
    Unreachable(&'a Unreachable),
}

impl Standing<'_> {
    /// The release that it runs now, settled and healthy.
    pub(crate) fn runs(&self) -> Option<&Release> {
        match self {
            Self::Runs { release, .. } => Some(release),
            _ => None,
        }
    }
}

impl<'a> Place<'a> {
    /// Looks at an environment.
    pub(crate) fn look(
        definition: &'a Environment,
        application: &Application,
        snapshot: &'a Snapshot,
        now: Timestamp,
    ) -> Self {
        let known = snapshot.environments.get(&definition.name);
        let targets: Vec<_> = definition
            .targets
            .iter()
            .map(|key| {
                let known = known.and_then(|record| record.targets.get(key));
                Target { key, standing: stand(&definition.name, key, application, snapshot, known, now), known }
            })
            .collect();
        let reported = reports(snapshot, &definition.name, None)
            .map(|reports| stand_as_reported(reports, application, None, now))
            .filter(|standing| !matches!(standing, Standing::Empty));
        let record = known.map_or_else(|| Cow::Owned(EnvironmentRecord::default()), Cow::Borrowed);
        let settled = !targets.is_empty() && targets.iter().all(|target| target.standing.runs().is_some());
        let mut place = Self { definition, targets, reported, record, settled, unanimous: false };
        place.remember(now);
        place
    }

    pub(crate) fn name(&self) -> &'a EnvironmentName {
        &self.definition.name
    }

    /// Whether every target runs a release.
    pub(crate) fn runs(&self, release: &Release) -> bool {
        match self.agreed() {
            Some(agreed) => agreed.covers(release),
            None => {
                self.settled
                    && self.targets.iter().all(|target| target.standing.runs().is_some_and(|r| r.covers(release)))
            }
        }
    }

    /// The release that every target has.
    pub(crate) fn agreed(&self) -> Option<&Release> {
        self.targets.first().filter(|_| self.unanimous).and_then(|target| target.standing.runs())
    }

    /// What a target runs, or ran when it was last seen to be healthy.
    pub(crate) fn last_release<'p>(&'p self, target: &'p Target<'a>) -> Option<&'p Release> {
        let remembered = || self.record.targets.get(target.key).and_then(|record| record.release.as_ref());
        target.standing.runs().or_else(remembered)
    }

    fn remember(&mut self, now: Timestamp) {
        self.remember_targets();
        self.remember_order(now);
        self.remember_runs(now);
    }

    fn remember_targets(&mut self) {
        let mut changed: Vec<(&TargetKey, TargetRecord)> = Vec::new();
        let mut found = 0;
        for target in &self.targets {
            found += usize::from(target.known.is_some());
            if !target.known.is_some_and(|known| target.standing.is_remembered(known)) {
                changed.push((target.key, target.standing.remembered(target.known)));
            }
        }
        let gone = self.record.targets.len() > found;
        if gone {
            let still: BTreeSet<_> = self.definition.targets.iter().collect();
            self.record.to_mut().targets.retain(|key, _| still.contains(key));
        }
        if !changed.is_empty() {
            let changed = changed.into_iter().map(|(key, target)| (key.clone(), target));
            self.record.to_mut().targets.extend(changed);
        }
    }

    fn remember_order(&mut self, now: Timestamp) {
        let standings = self.targets.iter().map(|target| &target.standing).chain(&self.reported);
        for release in standings.filter_map(Standing::runs) {
            // Looking from the back finds what runs now at once.
            if self.record.order.iter().rev().any(|first| first.release == *release) {
                continue;
            }
            let order = &mut self.record.to_mut().order;
            order.push(FirstSuccess { release: release.clone(), at: now });
            if order.len() > EnvironmentRecord::ORDER {
                order.remove(0);
            }
        }
    }

    /// Notices that the whole environment moved, and refuses what it went back from.
    fn remember_runs(&mut self, now: Timestamp) {
        let Some(first) = self.targets.first().and_then(|target| target.standing.runs()).filter(|_| self.settled)
        else {
            return;
        };
        if !self.targets[1..].iter().all(|target| target.standing.runs() == Some(first)) {
            return;
        }
        self.unanimous = true;
        if self.record.runs.as_ref() == Some(first) {
            return;
        }
        let release = first.clone();
        let record = self.record.to_mut();
        let before = record.runs.replace(release.clone());
        if let Some(before) = before
            && Order::between(&release, &before, record).is_older(&release, &before)
        {
            record.refuse(&before, now, format!("{} went back to {release}", self.definition.name));
        }
    }
}

impl Standing<'_> {
    /// Whether that is what is remembered already.
    fn is_remembered(&self, old: &TargetRecord) -> bool {
        match self {
            Self::Runs { release, since } => {
                old.healthy_since == Some(*since)
                    && old.unreachable.is_none()
                    && old.release.as_ref() == Some(&**release)
            }
            Self::Unreachable(why) => old.unreachable.as_ref() == Some(*why),
            Self::Empty => *old == TargetRecord::default(),
            Self::Unsettled { .. } | Self::NoRevision { .. } => {
                old.healthy_since.is_none() && old.unreachable.is_none()
            }
        }
    }

    fn remembered(&self, old: Option<&TargetRecord>) -> TargetRecord {
        let old = old.cloned().unwrap_or_default();
        match self {
            Self::Runs { release, since } => TargetRecord {
                release: Some(release.clone().into_owned()),
                healthy_since: Some(*since),
                unreachable: None,
            },
            Self::Unsettled { .. } | Self::NoRevision { .. } => {
                TargetRecord { healthy_since: None, unreachable: None, ..old }
            }
            Self::Empty => TargetRecord::default(),
            Self::Unreachable(why) => TargetRecord { unreachable: Some((*why).clone()), ..old },
        }
    }
}

fn reports<'a>(
    snapshot: &'a Snapshot,
    environment: &EnvironmentName,
    target: Option<&TargetKey>,
) -> Option<&'a BTreeMap<WorkloadKey, Observation>> {
    if snapshot.observations.is_empty() {
        return None;
    }
    snapshot.observations.get(&(environment.clone(), target.cloned()))
}

fn stand<'a>(
    environment: &EnvironmentName,
    key: &TargetKey,
    application: &Application,
    snapshot: &'a Snapshot,
    remembered: Option<&'a TargetRecord>,
    now: Timestamp,
) -> Standing<'a> {
    let Some(sighting) = snapshot.sightings.get(key) else {
        return reports(snapshot, environment, Some(key))
            .map_or(Standing::Empty, |reports| stand_as_reported(reports, application, remembered, now));
    };
    if let Some(why) = &sighting.unreachable {
        return Standing::Unreachable(why);
    }
    let workloads = sighting.workloads.iter().filter(|(key, _)| application.includes(key));
    stand_as_seen(workloads, remembered, now)
}

/// How a target stands by its workloads.
fn stand_as_seen<'a>(
    workloads: impl Iterator<Item = (&'a WorkloadKey, &'a Workload)> + Clone,
    remembered: Option<&'a TargetRecord>,
    since: Timestamp,
) -> Standing<'a> {
    if let Some(known) = remembered
        && let (Some(release), Some(since)) = (&known.release, known.healthy_since)
        && is_same(workloads.clone(), release)
    {
        return Standing::Runs { release: Cow::Borrowed(release), since };
    }
    let worst = workloads.clone().find(|(_, workload)| matches!(workload.state, WorkloadState::Failed { .. }));
    let worst = worst.or_else(|| workloads.clone().find(|(_, workload)| workload.state == WorkloadState::Progressing));
    if let Some((_, workload)) = worst {
        let message = match &workload.state {
            WorkloadState::Failed { message } => Some(message.clone()),
            WorkloadState::Healthy | WorkloadState::Progressing => None,
        };
        return Standing::Unsettled { attempted: release_of(workloads), failed: message.is_some(), message };
    }
    for (workload, seen) in workloads.clone() {
        match &seen.version {
            Version::Branch(found) => return Standing::NoRevision { workload, found: found.clone() },
            Version::Nothing => return Standing::Unsettled { attempted: None, failed: false, message: None },
            Version::Revision(_) => {}
        }
    }
    release_of(workloads).map_or(Standing::Empty, |release| Standing::Runs { release: Cow::Owned(release), since })
}

/// How a target stands by what it reported. The clock runs from receipt.
fn stand_as_reported<'a>(
    reports: &'a BTreeMap<WorkloadKey, Observation>,
    application: &Application,
    remembered: Option<&'a TargetRecord>,
    now: Timestamp,
) -> Standing<'a> {
    let ours = || reports.iter().filter(|(key, _)| application.includes(key));
    if let Some(message) = ours().find_map(|(_, seen)| seen.failure()) {
        // An event of a failure does not say what failed, only that it is no longer the last success that runs.
        return Standing::Unsettled { attempted: None, failed: true, message: Some(message.clone()) };
    }
    let members = ours().filter_map(|(key, seen)| Some((key.clone(), seen.success.as_ref()?.revision.clone())));
    let Ok(release) = Release::new(members) else { return Standing::Empty };
    let since = ours().filter_map(|(_, seen)| Some(seen.success.as_ref()?.since)).max().unwrap_or(now);
    match remembered.and_then(|known| known.release.as_ref()) {
        Some(known) if *known == release => Standing::Runs { release: Cow::Borrowed(known), since },
        _ => Standing::Runs { release: Cow::Owned(release), since },
    }
}

/// Whether these workloads are healthy and make up exactly that release.
fn is_same<'a>(workloads: impl Iterator<Item = (&'a WorkloadKey, &'a Workload)>, release: &Release) -> bool {
    let mut members = release.members().iter();
    for (key, workload) in workloads {
        let Some((member, wanted)) = members.next() else { return false };
        let runs = matches!(&workload.version, Version::Revision(found) if found == wanted);
        if member != key || !runs || workload.state != WorkloadState::Healthy {
            return false;
        }
    }
    members.next().is_none()
}

fn release_of<'a>(workloads: impl Iterator<Item = (&'a WorkloadKey, &'a Workload)>) -> Option<Release> {
    let members = workloads.map(|(key, workload)| match &workload.version {
        Version::Revision(revision) => Some((key.clone(), revision.clone())),
        Version::Branch(_) | Version::Nothing => None,
    });
    Release::new(members.collect::<Option<Vec<_>>>()?).ok()
}
