//! The release on the base branch: by merging a proposal that was reviewed, or by pushing.

use weir_core::{Base, CommitId, Declared, Intent, PlainProposal, PlainState};
use weir_ports::{Clock as _, Forge as _, ForgeAccess, PullRequest};

use super::{
    Carrier, Load, Proposed, Trouble, declares,
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

    /// Merges the proposal, if this is still its head.
    pub(super) async fn merge(&self, load: &mut Load<'_>, head: &CommitId) -> Result<(), Trouble> {
        match load.proposed.clone() {
            Proposed::Here(Some(proposal)) => self.merge_own(load, proposal, head).await,
            Proposed::There(access, Some(found)) => self.merge_there(load, &access, &found, head).await,
            Proposed::Here(None) | Proposed::There(_, None) => Ok(()),
        }
    }

    /// Merges a proposal of our own, if it would still change what was reviewed.
    ///
    /// On a base branch that has not moved, the base becomes the reviewed commit itself. On one that has, the same values
    /// are changed on top of it; if they are no longer the same, the proposal has to be made anew.
    async fn merge_own(&self, load: &mut Load<'_>, proposal: PlainProposal, head: &CommitId) -> Result<(), Trouble> {
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
        self.see_proposal(load).await?;
        self.tidy(load).await
    }

    /// Has the forge merge the pull request, and looks at what came of it.
    async fn merge_there(
        &self,
        load: &mut Load<'_>,
        access: &ForgeAccess,
        found: &PullRequest,
        head: &CommitId,
    ) -> Result<(), Trouble> {
        if !found.is_open() || found.head != *head {
            return Ok(());
        }
        // Right before the change that others see: gates may have closed, and freezes may have come.
        self.catch_up(std::slice::from_ref(&load.promotion.key)).await?;
        if !self.wants(&load.promotion.key, &Intent::Merge(head.clone())) {
            return Err(Trouble::Unwanted);
        }
        self.ports.forge().merge(access, &found.id, head).await?;
        tracing::info!(promotion = %load.promotion.key, pull_request = %found.url, "merged");
        let looked = self.load(load.promotion.clone(), load.repository, load.forge).await?;
        *load = Load { written: load.written.clone(), ..looked };
        self.tidy(load).await
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
}
