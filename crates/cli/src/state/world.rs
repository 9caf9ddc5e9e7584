//! A state, turned into what the core decides on.

use std::{collections::BTreeMap, sync::Arc};

use anyhow::{Result, anyhow};
use jiff::{SignedDuration, Timestamp};
use weir_core::{
    Base, CommitId, Declared, EnvironmentName, EnvironmentRecord, FirstSuccess, Intent, Pipeline, Release, Sighting,
    Snapshot, TargetKey, TargetRecord, Version, WorkloadState, apply, plan,
};

use super::{Environment, Health, State, Target, Workload, release};
use crate::{document::Source, time};

/// Everything that is known about one pipeline, and what Git would say if it were asked.
#[derive(Debug, Default)]
pub(crate) struct World {
    /// What is known.
    pub(crate) snapshot: Snapshot,
    /// What the base branch declares for an environment, where the state says so.
    pub(crate) declares: BTreeMap<EnvironmentName, Declared>,
    /// What the base branch declares where the state does not: what runs there.
    runs: BTreeMap<EnvironmentName, Vec<Release>>,
}

impl State {
    /// What the core decides on.
    pub(crate) fn world(&self, source: &Source<'_>, pipeline: &Pipeline, now: Timestamp) -> Result<World> {
        self.check(source)?;
        let mut world = World::default();
        for (name, environment) in &self.environments.0 {
            let definition = source.at(name.referenced, pipeline.environment_named(&name.value))?;
            Reader { source, pipeline, now, world: &mut world }.environment(definition, environment)?;
        }
        world.snapshot.freezes.extend(self.freezes.iter().map(|freeze| freeze.to_core(now)));
        for promotion in &self.promotions {
            let earlier = world.snapshot.promotions.as_slice();
            let mut promotion = promotion.to_core(source, pipeline, earlier, now)?;
            promotion.leg.facts.base = Some(world.base(&promotion.key.environment, now)?);
            world.snapshot.promotions.push(promotion);
        }
        Ok(world)
    }
}

impl World {
    /// Looks where Weir would look before it writes: what the base branch declares for what shall be promoted.
    pub(crate) fn look(&mut self, pipeline: &Pipeline, now: Timestamp) -> Result<()> {
        let decided = apply(&plan(pipeline, &self.snapshot, now), self.snapshot.clone());
        let wanted = |promotion: &&weir_core::Promotion| promotion.leg.intent == Some(Intent::Locate);
        for promotion in decided.promotions.iter().filter(wanted) {
            let mut promotion = promotion.clone();
            promotion.leg.facts.base = Some(self.base(&promotion.key.environment, now)?);
            match self.snapshot.promotions.iter_mut().find(|known| known.key == promotion.key) {
                Some(known) => *known = promotion,
                None => self.snapshot.promotions.push(promotion),
            }
        }
        Ok(())
    }

    fn base(&self, environment: &EnvironmentName, seen: Timestamp) -> Result<Base> {
        let running = || Declared::Releases(self.runs.get(environment).cloned().unwrap_or_default());
        let declares = self.declares.get(environment).cloned().unwrap_or_else(running);
        Ok(Base { commit: made_up_commit()?, seen, declares })
    }
}

/// A commit that nobody made, for what needs one.
pub(super) fn made_up_commit() -> Result<CommitId> {
    Ok("0".repeat(40).parse()?)
}

struct Reader<'a> {
    source: &'a Source<'a>,
    pipeline: &'a Pipeline,
    now: Timestamp,
    world: &'a mut World,
}

impl Reader<'_> {
    fn environment(&mut self, definition: &weir_core::Environment, written: &Environment) -> Result<()> {
        let mut record = EnvironmentRecord::default();
        let mut listed = Vec::new();
        for target in &written.targets {
            let found = definition.target_named(target.value.cluster.as_deref(), target.value.namespace.as_deref());
            let key = self.source.at(target.referenced, found)?;
            if listed.contains(&key) {
                return Err(self.source.error(target.referenced, format_args!("target `{key}` is listed twice")));
            }
            listed.push(key);
            self.target(key, &target.value, &mut record)?;
        }
        if let Some(runs) = &written.runs {
            let rest = Target {
                cluster: None,
                namespace: None,
                runs: Some(runs.clone()),
                state: written.state,
                message: written.message.clone(),
                since: written.since,
                workloads: crate::document::Entries::default(),
                unreachable: None,
            };
            for key in definition.targets.iter().filter(|key| !listed.contains(key)) {
                self.target(key, &rest, &mut record)?;
            }
        }
        for refusal in &written.refusals {
            let release = release(self.source, self.pipeline, &refusal.release)?;
            let at = time::or(refusal.at, self.now);
            record.refusals.push(weir_core::Refusal { release, at, why: refusal.why.as_str().into() });
        }
        record.order = self.order(written)?;
        if let Some(declares) = &written.declares {
            let releases = vec![release(self.source, self.pipeline, declares)?];
            self.world.declares.insert(definition.name.clone(), Declared::Releases(releases));
        }
        let mut running: Vec<_> = record.targets.values().filter_map(|target| target.release.clone()).collect();
        running.sort();
        running.dedup();
        self.world.runs.insert(definition.name.clone(), running);
        self.world.snapshot.environments.insert(definition.name.clone(), record);
        Ok(())
    }

    /// The order of first success, with times that only say what came before what.
    fn order(&self, written: &Environment) -> Result<Vec<FirstSuccess>> {
        let mut order = Vec::new();
        for (position, text) in written.order.iter().rev().enumerate() {
            let before = SignedDuration::from_secs(i64::try_from(position)? + 1);
            let at = self.now.checked_sub(before)?;
            order.insert(0, FirstSuccess { release: release(self.source, self.pipeline, text)?, at });
        }
        Ok(order)
    }

    fn target(&mut self, key: &TargetKey, written: &Target, record: &mut EnvironmentRecord) -> Result<()> {
        let mut workloads = BTreeMap::new();
        for (workload, says) in &written.workloads.0 {
            self.source.at(workload.referenced, self.pipeline.check_workload(&workload.value))?;
            let seen = self.source.at(workload.referenced, seen(says))?;
            workloads.insert(workload.value.clone(), seen);
        }
        if let Some(runs) = &written.runs {
            if !workloads.is_empty() {
                let words = "write `runs` or `workloads`, not both";
                return Err(self.source.error(runs.referenced, words));
            }
            let release = release(self.source, self.pipeline, runs)?;
            let state = state(written.state, written.message.as_deref());
            let each = release.members().iter().map(|(workload, revision)| {
                let version = Version::Revision(revision.clone());
                (workload.clone(), weir_core::Workload { version, state: state.clone() })
            });
            workloads.extend(each);
        }
        let healthy = workloads.values().all(|workload| workload.state == WorkloadState::Healthy);
        let unreachable = written.unreachable.as_ref().map(|why| weir_core::Unreachable {
            error: why.error.as_str().into(),
            since: time::or(why.since, self.now),
        });
        let release = release_of(&workloads).filter(|_| healthy);
        if release.is_some() {
            // Without a time it counts as healthy from when it is looked at; the core sees to that itself.
            record.targets.insert(
                key.clone(),
                TargetRecord { release, healthy_since: written.since.map(Into::into), unreachable: None },
            );
        }
        self.world
            .snapshot
            .sightings
            .insert(key.clone(), Arc::new(Sighting { unreachable, workloads, ..Sighting::default() }));
        Ok(())
    }
}

fn release_of(workloads: &BTreeMap<weir_core::WorkloadKey, weir_core::Workload>) -> Option<Release> {
    let members = workloads.iter().map(|(key, workload)| match &workload.version {
        Version::Revision(revision) => Some((key.clone(), revision.clone())),
        Version::Branch(_) | Version::Nothing => None,
    });
    Release::new(members.collect::<Option<Vec<_>>>()?).ok()
}

fn seen(written: &Workload) -> Result<weir_core::Workload> {
    let version = match (&written.revision, &written.branch) {
        (Some(_), Some(_)) => return Err(anyhow!("write `revision` or `branch`, not both")),
        (Some(revision), None) => Version::Revision(revision.0.clone()),
        (None, Some(branch)) => Version::Branch(branch.as_str().into()),
        (None, None) => Version::Nothing,
    };
    Ok(weir_core::Workload { version, state: state(written.state, written.message.as_deref()) })
}

fn state(health: Health, message: Option<&str>) -> WorkloadState {
    match health {
        Health::Healthy => WorkloadState::Healthy,
        Health::Progressing => WorkloadState::Progressing,
        Health::Failed => WorkloadState::Failed { message: message.unwrap_or("the deployment failed").into() },
    }
}
