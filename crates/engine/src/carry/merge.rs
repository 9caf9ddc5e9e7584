//! The release on the base branch: by merging a proposal that was reviewed, or by pushing.

use weir_core::{Base, CommitId, Declared, Intent, PlainProposal, PlainState, PromotionKey};
use weir_ports::{Clock as _, ConfigRepos as _, Push, Record, RecordKey, Store as _, Stored};

use super::{Carrier, Load, Trouble, declares};
use crate::ports::Ports;

impl<P: Ports> Carrier<'_, P> {
    /// Has the release on the base branch, without a proposal.
    pub(super) async fn push(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        let edited = load.places.edited(load.scope(), &load.promotion.release)?;
        if edited.edits.is_empty() {
            return Ok(());
        }
        let commit = self.commit(load, &edited).await?;
        self.still(load, &Intent::Push)?;
        self.move_base(load, commit).await
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
            let commit = if load.base == proposal.parent {
                head.clone()
            } else {
                let edited = load.places.edited(load.scope(), &proposal.release)?;
                self.commit(load, &edited).await?
            };
            self.still(load, &Intent::Merge(head.clone()))?;
            self.move_base(load, commit).await?;
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

    /// Moves the base branch from where it was looked at to a commit that declares the release.
    async fn move_base(&self, load: &mut Load<'_>, commit: CommitId) -> Result<(), Trouble> {
        let branch = load.repository.base.clone();
        let push = Push { branch, commit: Some(commit.clone()), expect: Some(load.base.clone()) };
        self.ports.repos().push(&load.access, &push).await?;
        tracing::info!(promotion = %load.promotion.key, %commit, "delivered to the base branch");
        load.base = commit.clone();
        let declares = Declared::Releases(vec![load.promotion.release.clone()]);
        load.facts().base = Some(Base { commit, seen: self.ports.clock().now(), declares });
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
