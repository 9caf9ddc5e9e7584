//! A pull request on a forge: opened, looked at, and shown what holds it.

use weir_core::{BranchName, CommitId, Hold, Intent, Promotion, Proposal, ProposalState, Reason, Release, Repository};
use weir_ports::{Between, Clock as _, Forge as _, ForgeAccess, PullRequest, PullRequestState, Shown, Wanted};

use super::{
    Carrier, Load, Proposed, Trouble,
    places::Edited,
    words::{self, Turn},
};
use crate::{LABEL, ports::Ports};

impl<P: Ports> Carrier<'_, P> {
    /// The pull request of an environment, in any state.
    pub(super) async fn find_there(
        &self,
        promotion: &Promotion,
        repository: &Repository,
        branch: &BranchName,
        access: &ForgeAccess,
    ) -> Result<Option<PullRequest>, Trouble> {
        Ok(self.ports.forge().find(access, &between(promotion, repository, branch)).await?)
    }

    /// Has a pull request from the branch, as this promotion wants it.
    pub(super) async fn open_there(
        &self,
        load: &Load<'_>,
        access: &ForgeAccess,
        head: CommitId,
        edited: &Edited,
    ) -> Result<PullRequest, Trouble> {
        let promotion = &load.promotion;
        let wanted = Wanted {
            between: between(promotion, load.repository, &load.branch),
            title: words::pull_request_title(promotion),
            body: self.body(promotion, edited),
            once: words::mark(promotion),
            label: Some(LABEL.to_owned()),
        };
        let opened = self.ports.forge().ensure(access, &wanted).await?;
        tracing::info!(promotion = %promotion.key, pull_request = %opened.url, "proposed");
        // A forge may take a moment to notice what was pushed.
        Ok(PullRequest { head, ..opened })
    }

    /// What the pull request tells about the promotion.
    pub(super) async fn facts_there(&self, load: &Load<'_>, found: &PullRequest) -> Result<Option<Proposal>, Trouble> {
        let Promotion { key, leg, phase, release, .. } = &load.promotion;
        let known = leg.facts.proposal.as_ref().filter(|known| known.id == found.id);
        // What was over before this promotion took its turn says nothing about it, nor what a later one opened.
        let (turn, ours) = (words::turn(key, &found.body), Turn::of(&load.promotion));
        if turn.is_some_and(|turn| turn.is_after(ours)) || !found.is_open() && turn != Some(ours) {
            return Ok(None);
        }
        let state = match (&found.state, known.map(|known| &known.state)) {
            (PullRequestState::Open, _) => ProposalState::Open,
            // What was said of its end stays said.
            (_, Some(ended @ (ProposalState::Merged { .. } | ProposalState::Closed { .. }))) => ended.clone(),
            (PullRequestState::Merged { by, .. }, _) => {
                let ours = matches!(leg.intent, Some(Intent::Merge(_)));
                ProposalState::Merged { at: self.ports.clock().now(), by: by.clone().filter(|_| !ours) }
            }
            (PullRequestState::Closed { by }, _) => {
                // That it shall be closed is written down before Weir does it. Whoever else did is a person.
                let ours = matches!(leg.intent, Some(Intent::Close(_))) || !phase.is_live();
                ProposalState::Closed { by: (!ours).then(|| by.clone().unwrap_or_else(|| "somebody".into())) }
            }
        };
        let open = found.is_open();
        let theirs = open && load.tip.is_some() && !load.is_ours();
        let written = leg.facts.branch.as_ref();
        let proposed: Option<Release> = if open && turn != Some(ours) {
            // Its text is still that of the release before: whoever pushed did not come to changing it.
            None
        } else {
            let known = known.filter(|known| known.head == found.head).and_then(|known| known.release.clone());
            known.or_else(|| written.is_some_and(|written| written.intended == found.head).then(|| release.clone()))
        };
        let gone = load.tip.as_ref() != Some(&found.head);
        let conflict = open && !theirs && (gone || found.conflict || self.has_moved(load, proposed.as_ref()).await?);
        Ok(Some(Proposal {
            id: found.id.clone(),
            url: Some(found.url.clone()),
            state,
            head: found.head.clone(),
            release: proposed,
            checks: found.checks.clone(),
            review: found.review,
            merge_asked_by: None,
            conflict,
            changed_by: theirs.then(|| "somebody".into()),
        }))
    }

    /// Whether a value that the branch changes is another on the base branch by now.
    async fn has_moved(&self, load: &Load<'_>, release: Option<&Release>) -> Result<bool, Trouble> {
        let (Some(written), Some(release)) = (&load.promotion.leg.facts.branch, release) else { return Ok(false) };
        if written.parent == load.base {
            return Ok(false);
        }
        let before = self.memory.places(self.ports, &load.access, &written.parent).await?;
        let (before, now) =
            (before.edited(load.scope(), release)?.edits, load.places.edited(load.scope(), release)?.edits);
        Ok(!now.is_empty() && now != before)
    }

    /// Shows beside the head of the pull request what holds it.
    pub(super) async fn show(&self, load: &Load<'_>) -> Result<(), Trouble> {
        let Proposed::There(access, Some(found)) = &load.proposed else { return Ok(()) };
        if !found.is_open() || !load.is_ours() {
            return Ok(());
        }
        // Reviews and checks are the forge's own, and stand there already.
        let ours = |hold: &&Hold| {
            let theirs = matches!(
                hold.reason,
                Reason::AwaitingReview { .. } | Reason::ChecksPending { .. } | Reason::ChecksFailing { .. }
            );
            !theirs
        };
        let held = load.promotion.holds.iter().find(ours);
        let sentence = held.map_or_else(|| "nothing holds it".to_owned(), |hold| hold.reason.to_string());
        let shown = Shown { open: held.is_none(), sentence, url: self.settings.page_of(&load.promotion.key.pipeline) };
        if self.memory.shows(&load.promotion.key, &found.head, &shown) {
            return Ok(());
        }
        self.ports.forge().show(access, &found.head, &shown).await?;
        self.memory.shown(&load.promotion.key, &found.head, shown);
        Ok(())
    }
}

fn between(promotion: &Promotion, repository: &Repository, branch: &BranchName) -> Between {
    Between { head: branch.clone(), base: repository.base.clone(), mark: words::sign(&promotion.key) }
}
