//! The record of the next promotion into an environment: what it takes over from the one before.

use crate::{
    gate::Actor,
    name::{EnvironmentName, PipelineKey},
    pipeline::Pipeline,
    promotion::{Promotion, PromotionKey, Proposal, ProposalState},
    release::Release,
    snapshot::Snapshot,
};

/// What the next promotion into an environment comes after.
pub(crate) struct Turnover<'a> {
    /// The promotion with the highest ordinal.
    pub(crate) before: Option<&'a Promotion>,
    /// What the environment remembers.
    pub(crate) last_ordinal: u64,
}

impl Turnover<'_> {
    /// The next promotion. It takes over a proposal that is still open, so that none is opened twice, and the approvals
    /// that were given for its release.
    pub(crate) fn next(
        &self,
        pipeline: &PipelineKey,
        environment: &EnvironmentName,
        from: EnvironmentName,
        release: Release,
    ) -> Promotion {
        let highest = self.before.map_or(0, |promotion| promotion.key.ordinal).max(self.last_ordinal);
        let ordinal = highest.saturating_add(1);
        let key = PromotionKey { pipeline: pipeline.clone(), environment: environment.clone(), ordinal };
        let mut promotion = Promotion::new(key, from, release, None);
        if let Some(before) = self.before {
            let open = |proposal: &&Proposal| proposal.state == ProposalState::Open;
            promotion.leg.facts.proposal = before.leg.facts.proposal.as_ref().filter(open).cloned();
            promotion.leg.facts.branch.clone_from(&before.leg.facts.branch);
            let given = before.approvals.iter().filter(|approval| approval.release == promotion.release);
            promotion.approvals = given.cloned().collect();
        }
        promotion
    }
}

/// Why a person cannot ask for a promotion.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No such environment.
    #[error("the pipeline has no environment `{0}`")]
    Environment(EnvironmentName),
    /// Nothing comes before it.
    #[error("`{0}` is the first environment: nothing is promoted into it")]
    First(EnvironmentName),
}

/// The record that asks for a release on behalf of a person. Whoever creates it first has the turn.
pub fn request(
    pipeline: &Pipeline,
    snapshot: &Snapshot,
    environment: &EnvironmentName,
    release: Release,
    by: Actor,
) -> Result<Promotion, RequestError> {
    let environments = pipeline.environments();
    let position = environments.iter().position(|known| known.name == *environment);
    let position = position.ok_or_else(|| RequestError::Environment(environment.clone()))?;
    let from = position.checked_sub(1).and_then(|before| environments.get(before));
    let from = from.ok_or_else(|| RequestError::First(environment.clone()))?.name.clone();
    let ours =
        |promotion: &&Promotion| promotion.key.environment == *environment && promotion.key.pipeline == pipeline.key;
    let before = snapshot.promotions.iter().filter(ours).max_by_key(|promotion| promotion.key.ordinal);
    let last_ordinal = snapshot.environments.get(environment).map_or(0, |record| record.last_ordinal);
    let mut promotion = Turnover { before, last_ordinal }.next(&pipeline.key, environment, from, release);
    promotion.requested_by = Some(by);
    Ok(promotion)
}
