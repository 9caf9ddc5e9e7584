//! The release on the base branch: by merging a proposal that was reviewed, or by pushing.

use weir_core::{Base, CommitId, Declared, Intent, PlainProposal, PlainState, PromotionKey};
use weir_ports::{Clock as _, Record, RecordKey, Store as _, Stored};

use super::{
    Carrier, Load, Trouble, declares,
    train::{Passenger, Reviewed},
};
use crate::ports::Ports;

impl<P: Ports> Carrier<'_, P> {
    /// Has the release on the base branch, without a proposal.
    pub(super) async fn push(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        if declares(load, &load.promotion.release) {
            return Ok(());
        }
        self.change_base(load, Intent::Push, None).await
    }

    /// Merges the proposal, if this is still its head, and if it would still change what was reviewed.
    ///
    /// On a base branch that has not moved, the base becomes the reviewed commit itself. On one that has, the same values
    /// are changed on top of it; if they are no longer the same, the proposal has to be made anew.
    pub(super) async fn merge(&self, load: &mut Load<'_>, head: &CommitId) -> Result<(), Trouble> {
        let Some(proposal) = load.proposal.clone() else { return Ok(()) };
        let reviewed = proposal.state == PlainState::Open && proposal.head == *head;
        if !reviewed {
            return Ok(());
        }
        if !declares(load, &proposal.release) {
            let known = load.promotion.leg.facts.proposal.as_ref();
            if load.tip.as_ref() != Some(head) || known.is_none_or(|known| known.conflict) {
                return Ok(());
            }
            let PlainProposal { parent, edits, .. } = proposal.clone();
            let reviewed = Reviewed { parent, head: head.clone(), edits };
            self.change_base(load, Intent::Merge(head.clone()), Some(reviewed)).await?;
        }
        let state = PlainState::Merged {
            at: self.ports.clock().now(),
            by: proposal.merge_asked_by().cloned(),
            commit: load.base.clone(),
        };
        self.end(load, &proposal.key, state).await?;
        self.see_proposal(load)?;
        self.tidy(load).await
    }

    /// A proposal whose release the base branch declares was merged, whoever did it and by which commit.
    pub(super) async fn see_merge(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        let open = load.proposal.clone().filter(|proposal| proposal.state == PlainState::Open);
        let Some(proposal) = open.filter(|proposal| declares(load, &proposal.release)) else { return Ok(()) };
        let (at, by) = (self.ports.clock().now(), proposal.merge_asked_by().cloned());
        self.end(load, &proposal.key, PlainState::Merged { at, by, commit: load.base.clone() }).await
    }

    /// Has the base branch declare the release.
    async fn change_base(
        &self,
        load: &mut Load<'_>,
        intent: Intent,
        reviewed: Option<Reviewed>,
    ) -> Result<(), Trouble> {
        let promotion = load.promotion.clone();
        let release = promotion.release.clone();
        let declared = promotion.leg.facts.base.as_ref().map(|base| base.declares.clone());
        let passenger = Passenger { intent, release: release.clone(), declared, reviewed, promotion };
        let arrived = self.ride(load, passenger).await?;
        tracing::info!(promotion = %load.promotion.key, commit = %arrived.base, "delivered to the base branch");
        load.base = arrived.base.clone();
        let (commit, seen) = (arrived.base, self.ports.clock().now());
        load.facts().base = Some(Base { commit, seen, declares: Declared::Releases(vec![release]) });
        Ok(())
    }

    /// Writes down what became of a proposal.
    pub(super) async fn end(&self, load: &mut Load<'_>, key: &PromotionKey, state: PlainState) -> Result<(), Trouble> {
        load.proposal = self.finish(key, state).await?;
        Ok(())
    }

    /// Ends a proposal, unless it has ended otherwise. Returns what became of it.
    pub(super) async fn finish(&self, key: &PromotionKey, state: PlainState) -> Result<Option<PlainProposal>, Trouble> {
        let stored = self.ports.store().get(&RecordKey::Proposal(key.clone())).await?;
        let Some(Stored { record: Record::Proposal(mut known), version }) = stored else { return Ok(None) };
        if known.state == PlainState::Open {
            known.state = state;
            let record = Record::Proposal(known.clone());
            let version = self.ports.store().replace(record.clone(), version).await?;
            tracing::info!(proposal = %key, "proposal ended");
            self.world.keep(Stored { record, version });
        }
        Ok(Some(*known))
    }
}
