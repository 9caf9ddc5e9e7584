//! A proposal that is no longer wanted.

use std::sync::Arc;

use weir_core::{Intent, PlainState, Promotion, ProposalState};
use weir_ports::{Clock as _, ConfigRepos as _, Push, RepoError};

use super::{Carrier, Load, Trouble};
use crate::ports::Ports;

impl<P: Ports> Carrier<'_, P> {
    /// Closes the proposal with a note, and removes its branch.
    pub(super) async fn close(&self, load: &mut Load<'_>, note: Arc<str>) -> Result<(), Trouble> {
        if let Some(proposal) = load.proposal.clone().filter(|proposal| proposal.state == PlainState::Open) {
            let state = PlainState::Closed { at: self.ports.clock().now(), by: None, note: Some(note) };
            self.end(load, &proposal.key, state).await?;
        }
        self.see_proposal(load)?;
        self.tidy(load).await
    }

    /// Closes the proposal of a promotion of which nobody knows any more how it was to be carried out. Its branch stays.
    pub(super) async fn abandon(&self, promotion: Promotion) -> Result<(), Trouble> {
        let Some(Intent::Close(note)) = promotion.leg.intent.clone() else { return Ok(()) };
        let state = PlainState::Closed { at: self.ports.clock().now(), by: None, note: Some(note) };
        if let Some(proposal) = self.proposal(&promotion).await? {
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
        if load.proposal.as_ref().is_some_and(|proposal| proposal.state == PlainState::Open) {
            return Ok(());
        }
        if let Some(tip) = load.tip.clone().filter(|_| load.is_ours()) {
            let push = Push { branch: load.branch.clone(), commit: None, expect: Some(tip) };
            match self.ports.repos().push(&load.access, &push).await {
                // Somebody was faster, or writes to it right now.
                Ok(()) | Err(RepoError::NoBranch { .. } | RepoError::Moved { .. }) => load.tip = None,
                Err(error) => return Err(error.into()),
            }
        }
        load.facts().branch = None;
        Ok(())
    }
}
