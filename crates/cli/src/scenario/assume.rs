//! What happens by itself in a scenario: Flux deploys, people merge.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use weir_core::{EnvironmentName, Fact, Phase, ProposalState, Reason, Rehearsal};

/// What is going to happen by itself, and when.
#[derive(Debug, Default)]
pub(super) struct Assumptions {
    deploy_after: Option<SignedDuration>,
    merge_after: Option<SignedDuration>,
    deploy: BTreeMap<EnvironmentName, Due>,
    merge: BTreeMap<EnvironmentName, Due>,
}

#[derive(Debug, Clone, Copy)]
struct Due {
    /// The promotion that it is about.
    ordinal: u64,
    /// `None`: it happened, or it was said what happened instead.
    at: Option<Timestamp>,
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
        let names = rehearsal.pipeline.environments().iter().map(|environment| &environment.name);
        for name in names {
            let Some(promotion) = rehearsal.promotion(name) else { continue };
            let ordinal = promotion.key.ordinal;
            let waits = promotion.phase == Phase::Delivered;
            schedule(&mut self.deploy, name, ordinal, waits, self.deploy_after, rehearsal.now);
            let open = promotion.leg.facts.proposal.as_ref().is_some_and(|it| it.state == ProposalState::Open);
            let only_review = promotion.holds.iter().all(|hold| matches!(hold.reason, Reason::AwaitingReview { .. }));
            let waits = promotion.phase == Phase::Proposed && open && only_review && !promotion.holds.is_empty();
            schedule(&mut self.merge, name, ordinal, waits, self.merge_after, rehearsal.now);
        }
    }

    /// A person says how an environment stands: what was assumed of it does not count any more.
    pub(super) fn heed(&mut self, fact: &Fact) {
        if let Fact::Seen { environment, .. } | Fact::Lost { environment, .. } = fact
            && let Some(due) = self.deploy.get_mut(environment)
        {
            due.at = None;
        }
    }

    /// When something happens by itself next.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.deploy.values().chain(self.merge.values()).filter_map(|due| due.at).min()
    }

    /// Lets happen what is due.
    pub(super) fn happen(&mut self, rehearsal: &mut Rehearsal) -> Result<Vec<Assumed>, weir_core::FactError> {
        let mut assumed = Vec::new();
        let now = rehearsal.now;
        for environment in due(&mut self.merge, now) {
            rehearsal.happen(Fact::Merged { environment: environment.clone(), by: "somebody".into() })?;
            assumed.push(Assumed { environment, sentence: "somebody merges the proposal".to_owned() });
        }
        for environment in due(&mut self.deploy, now) {
            rehearsal.deploy(&environment)?;
            let release = rehearsal.promotion(&environment).map(|promotion| promotion.release.to_string());
            let sentence = format!("Flux deploys {}", release.unwrap_or_default());
            assumed.push(Assumed { environment, sentence });
        }
        Ok(assumed)
    }
}

/// Begins to wait, goes on waiting, or stops.
fn schedule(
    all: &mut BTreeMap<EnvironmentName, Due>,
    name: &EnvironmentName,
    ordinal: u64,
    waits: bool,
    after: Option<SignedDuration>,
    now: Timestamp,
) {
    let Some(after) = after else { return };
    if !waits {
        all.remove(name);
    } else if all.get(name).is_none_or(|due| due.ordinal != ordinal) {
        all.insert(name.clone(), Due { ordinal, at: now.checked_add(after).ok() });
    }
}

fn due(all: &mut BTreeMap<EnvironmentName, Due>, now: Timestamp) -> Vec<EnvironmentName> {
    let mut names = Vec::new();
    for (name, due) in all {
        if due.at.is_some_and(|at| at <= now) {
            due.at = None;
            names.push(name.clone());
        }
    }
    names
}
