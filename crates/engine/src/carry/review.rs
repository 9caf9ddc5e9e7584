//! What is found of a proposal that Weir keeps itself, as facts.

use weir_core::{Checks, PlainProposal, PlainState, Promotion, Proposal, ProposalState, promotion_name};
use weir_ports::{Record, RecordKey, Store as _, Stored};

use super::{Carrier, Load, Trouble};
use crate::{ports::Ports, world::Known};

impl<P: Ports> Carrier<'_, P> {
    /// The proposal of a promotion, in any state: the one that its facts name, or one that is open for the environment.
    pub(super) async fn proposal(&self, promotion: &Promotion) -> Result<Option<PlainProposal>, Trouble> {
        let key = self.world.look(&promotion.key.pipeline, |known| find(known, promotion)).flatten();
        // A record that was made right before a crash, or that the watch has not told of yet.
        let key = key.unwrap_or_else(|| promotion.key.clone());
        let stored = self.ports.store().get(&RecordKey::Proposal(key)).await?;
        let Some(Stored { record: Record::Proposal(proposal), version }) = stored else { return Ok(None) };
        self.world.keep(Stored { record: Record::Proposal(proposal.clone()), version });
        Ok(Some(*proposal))
    }

    /// Brings the facts of the proposal up to date.
    pub(super) fn see_proposal(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        let Some(proposal) = &load.proposal else {
            load.facts().proposal = None;
            return Ok(());
        };
        let known = load.promotion.leg.facts.proposal.as_ref();
        let mine = proposal.key == load.promotion.key
            || known.is_some_and(|known| *known.id == *promotion_name(&proposal.key));
        let state = match &proposal.state {
            PlainState::Open => ProposalState::Open,
            PlainState::Merged { at, by, .. } => ProposalState::Merged { at: *at, by: by.clone() },
            PlainState::Closed { by: Some(by), .. } => ProposalState::Closed { by: Some(by.clone()) },
            // Weir closed it on behalf of the promotion before: this one has none yet.
            PlainState::Closed { by: None, .. } if load.promotion.phase.is_live() => {
                load.facts().proposal = None;
                return Ok(());
            }
            PlainState::Closed { by: None, .. } => ProposalState::Closed { by: None },
        };
        let open = state == ProposalState::Open;
        // What was over before this promotion began says nothing about it.
        if !open && !mine {
            load.facts().proposal = None;
            return Ok(());
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
        let facts = Proposal {
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
        };
        load.facts().proposal = Some(facts);
        Ok(())
    }
}

fn find(known: &Known, promotion: &Promotion) -> Option<weir_core::PromotionKey> {
    let mut into = known.proposals().filter(|proposal| proposal.key.environment == promotion.key.environment);
    let named = promotion.leg.facts.proposal.as_ref().map(|proposal| &*proposal.id);
    let open = into.clone().filter(|proposal| proposal.state == PlainState::Open).last();
    let named = into.find(|proposal| Some(&*promotion_name(&proposal.key)) == named);
    named.filter(|named| named.state == PlainState::Open).or(open).or(named).map(|proposal| proposal.key.clone())
}
