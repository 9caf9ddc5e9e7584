//! What happens by itself in a scenario: Flux deploys, people merge.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use weir_core::{
    Declared, EnvironmentName, Fact, FactError, Phase, Promotion, ProposalState, Reason, Rehearsal, Release, TargetKey,
    WorkloadState,
};

/// What is going to happen by itself, and when.
#[derive(Debug, Default)]
pub(super) struct Assumptions {
    deploy_after: Option<SignedDuration>,
    merge_after: Option<SignedDuration>,
    /// What Git declares, and whether Flux still has to deploy it.
    declared: BTreeMap<EnvironmentName, Deployment>,
    /// The newest promotions whose delivery was heeded, by their ordinals. What somebody declares after a delivery counts
    /// more than the delivery.
    delivered: BTreeMap<EnvironmentName, u64>,
    /// The proposals that wait for nothing but review, by the ordinal of their promotions.
    merges: BTreeMap<EnvironmentName, (u64, Timestamp)>,
}

#[derive(Debug)]
struct Deployment {
    release: Release,
    /// `None`: it is done, or a step said how all targets stand.
    at: Option<Timestamp>,
    /// The targets of which a step said how they stand.
    told: BTreeSet<TargetKey>,
}

/// Something that happened by itself.
pub(super) struct Assumed {
    pub(super) environment: EnvironmentName,
    pub(super) sentence: String,
}

impl Assumptions {
    /// Flux deploys, and people merge, after so much time; or not by themselves.
    pub(super) fn new(deploy_after: Option<SignedDuration>, merge_after: Option<SignedDuration>) -> Self {
        Self { deploy_after, merge_after, ..Self::default() }
    }

    /// Looks for what is going to happen from now on.
    pub(super) fn look(&mut self, rehearsal: &Rehearsal) {
        for environment in rehearsal.pipeline.environments() {
            let name = &environment.name;
            self.look_for_delivery(name, rehearsal);
            let Some(promotion) = rehearsal.promotion(name) else { continue };
            let open = promotion.leg.facts.proposal.as_ref().is_some_and(|it| it.state == ProposalState::Open);
            let only_review = promotion.holds.iter().all(|hold| matches!(hold.reason, Reason::AwaitingReview { .. }));
            let waits = promotion.phase == Phase::Proposed && open && only_review && !promotion.holds.is_empty();
            let ordinal = promotion.key.ordinal;
            if !waits {
                self.merges.remove(name);
            } else if self.merges.get(name).is_none_or(|(known, _)| *known != ordinal)
                && let Some(at) = self.merge_after.and_then(|after| rehearsal.now.checked_add(after).ok())
            {
                self.merges.insert(name.clone(), (ordinal, at));
            }
        }
    }

    /// What was delivered last is what Git declares, whatever promotion has the turn by now.
    fn look_for_delivery(&mut self, environment: &EnvironmentName, rehearsal: &Rehearsal) {
        let is_delivered = |it: &&Promotion| it.key.environment == *environment && it.phase == Phase::Delivered;
        let delivered = rehearsal.snapshot.promotions.iter().filter(is_delivered);
        let Some(newest) = delivered.max_by_key(|promotion| promotion.key.ordinal) else { return };
        let ordinal = newest.key.ordinal;
        if self.delivered.get(environment).is_none_or(|heeded| *heeded < ordinal) {
            self.delivered.insert(environment.clone(), ordinal);
            self.declare(environment, what_was_delivered(newest), rehearsal.now);
        }
    }

    /// Git declares something now, which Flux is going to deploy.
    fn declare(&mut self, environment: &EnvironmentName, release: &Release, now: Timestamp) {
        let Some(after) = self.deploy_after else { return };
        if self.declared.get(environment).is_none_or(|known| known.release != *release) {
            let at = now.checked_add(after).ok();
            let deployment = Deployment { release: release.clone(), at, told: BTreeSet::new() };
            self.declared.insert(environment.clone(), deployment);
        }
    }

    /// A step says how targets stand: what was assumed of them does not count any more.
    pub(super) fn heed(&mut self, fact: &Fact, now: Timestamp) {
        match fact {
            Fact::Seen { environment, target, .. } | Fact::Lost { environment, target, .. } => {
                let Some(deployment) = self.declared.get_mut(environment) else { return };
                match target {
                    Some(target) => drop(deployment.told.insert(target.clone())),
                    None => deployment.at = None,
                }
            }
            Fact::Declared { environment, declares: Declared::Releases(releases) } => {
                if let [release] = releases.as_slice() {
                    self.declare(environment, release, now);
                }
            }
            _ => {}
        }
    }

    /// When something happens by itself next.
    pub(super) fn next(&self) -> Option<Timestamp> {
        let merges = self.merges.values().map(|(_, at)| *at);
        self.declared.values().filter_map(|deployment| deployment.at).chain(merges).min()
    }

    /// Lets happen what is due.
    pub(super) fn happen(&mut self, rehearsal: &mut Rehearsal) -> Result<Vec<Assumed>, FactError> {
        let now = rehearsal.now;
        let mut assumed = Vec::new();
        let due: Vec<_> =
            self.merges.extract_if(.., |_, (_, at)| *at <= now).map(|(environment, _)| environment).collect();
        for environment in due {
            rehearsal.happen(Fact::Merged { environment: environment.clone(), by: "somebody".into() })?;
            assumed.push(Assumed { environment, sentence: "somebody merges the proposal".to_owned() });
        }
        for (environment, deployment) in &mut self.declared {
            if deployment.at.is_some_and(|at| at <= now) {
                deployment.at = None;
                assumed.extend(deploy(environment, deployment, rehearsal)?);
            }
        }
        Ok(assumed)
    }
}

/// What a merged proposal held, which is not what was promoted if it was merged before Weir wrote that into it.
fn what_was_delivered(promotion: &Promotion) -> &Release {
    let proposal = promotion.leg.facts.proposal.as_ref();
    let merged = proposal.filter(|proposal| matches!(proposal.state, ProposalState::Merged { .. }));
    merged.and_then(|proposal| proposal.release.as_ref()).unwrap_or(&promotion.release)
}

/// Flux deploys, on the targets that can be seen and of which nothing else was said.
fn deploy(
    environment: &EnvironmentName,
    deployment: &Deployment,
    rehearsal: &mut Rehearsal,
) -> Result<Option<Assumed>, FactError> {
    let release = &deployment.release;
    let all = rehearsal.pipeline.environment(environment).map(|it| it.targets.clone()).unwrap_or_default();
    let lost =
        |target: &TargetKey| rehearsal.snapshot.sightings.get(target).is_some_and(|seen| seen.unreachable.is_some());
    let some: Vec<_> =
        all.iter().filter(|target| !deployment.told.contains(target) && !lost(target)).cloned().collect();
    let names: Vec<_> = some.iter().map(ToString::to_string).collect();
    let place = if some.len() == all.len() { String::new() } else { format!(" on {}", names.join(", ")) };
    let none = some.is_empty();
    for target in some {
        let (environment, target) = (environment.clone(), Some(target));
        let state = WorkloadState::Healthy;
        rehearsal.happen(Fact::Seen { environment, target, release: release.clone(), state })?;
    }
    let sentence = format!("Flux deploys {release}{place}");
    Ok((!none).then(|| Assumed { environment: environment.clone(), sentence }))
}
