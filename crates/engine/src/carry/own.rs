//! A proposal that Weir keeps itself: opened, looked at, ended.

use weir_core::{
    Checks, CommitId, PlainProposal, PlainState, Promotion, PromotionKey, Proposal, ProposalState, promotion_name,
};
use weir_ports::{Clock as _, Record, RecordKey, Store as _, StoreError, Stored};

use super::{Carrier, Load, Proposed, Trouble, declares, places::Edited, words};
use crate::{ports::Ports, world::Known};

impl<P: Ports> Carrier<'_, P> {
    /// The proposal of a promotion, in any state: the one that its facts name, or one that is open for the environment.
    pub(super) async fn find_own(&self, promotion: &Promotion) -> Result<Option<PlainProposal>, Trouble> {
        let key = self.world.look(&promotion.key.pipeline, |known| find(known, promotion)).flatten();
        // A record that was made right before a crash, or that the watch has not told of yet.
        let key = key.unwrap_or_else(|| promotion.key.clone());
        let stored = self.ports.store().get(&RecordKey::Proposal(key)).await?;
        let Some(Stored { record: Record::Proposal(proposal), version }) = stored else { return Ok(None) };
        self.world.keep(Stored { record: Record::Proposal(proposal.clone()), version });
        Ok(Some(*proposal))
    }

    /// What the proposal tells about the promotion.
    pub(super) fn own_facts(&self, load: &Load<'_>, proposal: &PlainProposal) -> Result<Option<Proposal>, Trouble> {
        // Somebody else has the turn by now.
        if proposal.key.ordinal > load.promotion.key.ordinal {
            return Ok(None);
        }
        let known = load.promotion.leg.facts.proposal.as_ref();
        let mine = proposal.key == load.promotion.key
            || known.is_some_and(|known| *known.id == *promotion_name(&proposal.key));
        let state = match &proposal.state {
            PlainState::Open => ProposalState::Open,
            PlainState::Merged { at, by, .. } => ProposalState::Merged { at: *at, by: by.clone() },
            PlainState::Closed { by: Some(by), .. } => ProposalState::Closed { by: Some(by.clone()) },
            // Weir closed it on behalf of the promotion before: this one has none yet.
            PlainState::Closed { by: None, .. } if load.promotion.phase.is_live() => return Ok(None),
            PlainState::Closed { by: None, .. } => ProposalState::Closed { by: None },
        };
        let open = state == ProposalState::Open;
        // What was over before this promotion began says nothing about it.
        if !open && !mine {
            return Ok(None);
        }
        let theirs = open && load.tip.is_some() && !load.is_ours();
        let gone = load.tip.as_ref() != Some(&proposal.head);
        let moved = || -> Result<bool, Trouble> {
            Ok(load.base != proposal.parent && {
                let edits = load.places.edited(load.scope(), &proposal.release)?.edits;
                !edits.is_empty() && edits != proposal.edits
            })
        };
        let conflict = open && !theirs && (gone || moved()?);
        Ok(Some(Proposal {
            id: promotion_name(&proposal.key).into(),
            url: self.settings.address_of(&proposal.key),
            state,
            head: proposal.head.clone(),
            release: Some(proposal.release.clone()),
            checks: Checks::Passing,
            review: proposal.review(),
            merge_asked_by: proposal.merge_asked_by().cloned(),
            conflict,
            changed_by: theirs.then(|| "somebody".into()),
        }))
    }

    /// Keeps the proposal: the one that is open, with a new head, or a new one.
    pub(super) async fn open_own(
        &self,
        load: &Load<'_>,
        known: Option<&PlainProposal>,
        head: CommitId,
        edited: Edited,
    ) -> Result<PlainProposal, Trouble> {
        let now = self.ports.clock().now();
        let promotion = &load.promotion;
        let body = self.body(promotion, &edited);
        let fresh = PlainProposal {
            key: promotion.key.clone(),
            repository: load.repository.url.clone(),
            base: load.repository.base.clone(),
            branch: load.branch.clone(),
            parent: load.base.clone(),
            head,
            release: promotion.release.clone(),
            edits: edited.edits,
            title: words::title(promotion),
            body,
            opened: now,
            state: PlainState::Open,
            merge: None,
            reviews: Vec::new(),
            comments: Vec::new(),
        };
        match known.filter(|known| known.state == PlainState::Open) {
            Some(known) => self.update(RecordKey::Proposal(known.key.clone()), &fresh).await,
            None => self.create(fresh).await,
        }
    }

    async fn create(&self, fresh: PlainProposal) -> Result<PlainProposal, Trouble> {
        let record = Record::Proposal(Box::new(fresh.clone()));
        match self.ports.store().create(record.clone()).await {
            Ok(version) => {
                tracing::info!(proposal = %fresh.key, title = fresh.title, "proposal opened");
                self.world.keep(Stored { record, version });
                Ok(fresh)
            }
            // It was opened before, by this promotion, and may be closed by now.
            Err(StoreError::Exists(key)) => self.update(key, &fresh).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Gives an open proposal another head. What people said stays, and counts for the head they said it of.
    async fn update(&self, key: RecordKey, fresh: &PlainProposal) -> Result<PlainProposal, Trouble> {
        let stored = self.ports.store().get(&key).await?;
        let Some(Stored { record: Record::Proposal(known), version }) = stored else { return Err(Trouble::Stale) };
        if known.state != PlainState::Open {
            return Err(Trouble::Stale);
        }
        let same = known.head == fresh.head && known.release == fresh.release;
        let proposal = PlainProposal {
            key: known.key.clone(),
            opened: known.opened,
            merge: known.merge.clone(),
            reviews: known.reviews.clone(),
            comments: known.comments.clone(),
            body: if same { known.body.clone() } else { fresh.body.clone() },
            ..fresh.clone()
        };
        if proposal != *known {
            let record = Record::Proposal(Box::new(proposal.clone()));
            let version = self.ports.store().replace(record.clone(), version).await?;
            tracing::info!(proposal = %proposal.key, title = proposal.title, "proposal updated");
            self.world.keep(Stored { record, version });
        }
        Ok(proposal)
    }

    /// A proposal whose release the base branch declares was merged, whoever did it and by which commit.
    pub(super) async fn see_merge(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        let Proposed::Here(Some(proposal)) = load.proposed.clone() else { return Ok(()) };
        if proposal.state != PlainState::Open || !declares(load, &proposal.release) {
            return Ok(());
        }
        let (at, by) = (self.ports.clock().now(), proposal.merge_asked_by().cloned());
        self.end(load, &proposal.key, PlainState::Merged { at, by, commit: load.base.clone() }).await
    }

    /// Writes down what became of a proposal.
    pub(super) async fn end(&self, load: &mut Load<'_>, key: &PromotionKey, state: PlainState) -> Result<(), Trouble> {
        load.proposed = Proposed::Here(self.finish(key, state).await?);
        Ok(())
    }

    /// Ends a proposal, unless it has ended otherwise. Returns what became of it. What Git has is merged, whatever was
    /// said meanwhile.
    pub(super) async fn finish(&self, key: &PromotionKey, state: PlainState) -> Result<Option<PlainProposal>, Trouble> {
        let stored = self.ports.store().get(&RecordKey::Proposal(key.clone())).await?;
        let Some(Stored { record: Record::Proposal(mut known), version }) = stored else { return Ok(None) };
        let merged = matches!(state, PlainState::Merged { .. }) && matches!(known.state, PlainState::Closed { .. });
        if known.state == PlainState::Open || merged {
            known.state = state;
            let record = Record::Proposal(known.clone());
            let version = self.ports.store().replace(record.clone(), version).await?;
            tracing::info!(proposal = %key, "proposal ended");
            self.world.keep(Stored { record, version });
        }
        Ok(Some(*known))
    }
}

fn find(known: &Known, promotion: &Promotion) -> Option<PromotionKey> {
    let mut into = known.proposals().filter(|proposal| proposal.key.environment == promotion.key.environment);
    let named = promotion.leg.facts.proposal.as_ref().map(|proposal| &*proposal.id);
    let open = into.clone().filter(|proposal| proposal.state == PlainState::Open).last();
    let named = into.find(|proposal| Some(&*promotion_name(&proposal.key)) == named);
    named.filter(|named| named.state == PlainState::Open).or(open).or(named).map(|proposal| proposal.key.clone())
}
