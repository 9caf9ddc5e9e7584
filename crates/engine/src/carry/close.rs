//! A proposal that is no longer wanted.

use std::sync::Arc;

use weir_core::{Intent, Place, PlainState, Promotion, ProposalState};
use weir_ports::{Clock as _, ConfigRepos as _, Forge as _, PullRequest, PullRequestState, Push, RepoError};

use super::{Carrier, Load, Proposed, Trouble};
use crate::ports::Ports;

impl<P: Ports> Carrier<'_, P> {
    /// Closes the proposal with a note, and removes its branch.
    pub(super) async fn close(&self, load: &mut Load<'_>, note: Arc<str>) -> Result<(), Trouble> {
        match load.proposed.clone() {
            Proposed::Here(Some(proposal)) if proposal.state == PlainState::Open => {
                let state = PlainState::Closed { at: self.ports.clock().now(), by: None, note: Some(note) };
                self.end(load, &proposal.key, state).await?;
            }
            Proposed::There(access, Some(found)) if found.is_open() => {
                self.ports.forge().close(&access, &found.id, &note).await?;
                let state = PullRequestState::Closed { by: None };
                load.proposed = Proposed::There(access, Some(PullRequest { state, ..found }));
            }
            _ => {}
        }
        self.see_proposal(load).await?;
        self.tidy(load).await
    }

    /// Leaves the place where the branch was written before the definition said otherwise.
    pub(super) async fn leave(&self, promotion: Promotion, at: &Place) -> Result<(), Trouble> {
        let strategy = at.strategy()?;
        let Some(repository) = strategy.repository() else { return Ok(()) };
        let note = match &promotion.leg.intent {
            Some(Intent::Close(note)) => note.clone(),
            _ => "The pipeline goes another way by now.".into(),
        };
        let mut load = self.load(promotion, repository, strategy.forge()).await?;
        self.close(&mut load, note).await?;
        // Nothing is known yet of wherever it goes on.
        load.facts().base = None;
        if load.promotion.phase.is_live() {
            load.facts().proposal = None;
        }
        self.learn(&mut load).await
    }

    /// Closes the proposal of a promotion of which nobody knows any more how it was to be carried out.
    pub(super) async fn abandon(&self, promotion: Promotion) -> Result<(), Trouble> {
        let Some(Intent::Close(note)) = promotion.leg.intent.clone() else { return Ok(()) };
        let state = PlainState::Closed { at: self.ports.clock().now(), by: None, note: Some(note) };
        if let Some(proposal) = self.find_own(&promotion).await? {
            self.finish(&proposal.key, state).await?;
        }
        self.amend(&promotion.key, |facts| {
            if let Some(proposal) = &mut facts.proposal {
                proposal.state = ProposalState::Closed { by: None };
            }
        })
        .await
    }

    /// Removes the branch of a proposal that is over, unless somebody else has written to it. Then it is theirs, and
    /// either way nothing of ours is left.
    pub(super) async fn tidy(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        if load.proposed.is_open() {
            return Ok(());
        }
        if let Some(tip) = load.tip.clone().filter(|_| load.is_ours()) {
            let push = Push { branch: load.branch.clone(), commit: None, expect: Some(tip) };
            match self.ports.repos().push(&load.access, &push).await {
                // Somebody was faster, or writes to it right now.
                Ok(_) | Err(RepoError::NoBranch { .. } | RepoError::Moved { .. }) => load.tip = None,
                Err(error) => return Err(error.into()),
            }
        }
        load.facts().branch = None;
        Ok(())
    }
}
