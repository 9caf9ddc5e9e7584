//! An open proposal with the release on its branch.

use weir_core::{Branch, CommitId, Intent, PlainProposal, PlainState, Promotion};
use weir_ports::{
    Change, Clock as _, ConfigRepos as _, Push, Record, RecordKey, RepoError, Store as _, StoreError, Stored,
};

use super::{Carrier, Load, Trouble, places::Edited, words};
use crate::ports::Ports;

impl<P: Ports> Carrier<'_, P> {
    pub(super) async fn propose(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        let open = load.proposal.as_ref().is_some_and(|proposal| proposal.state == PlainState::Open);
        if open && !load.is_ours() {
            // The fact is seen already: the branch is theirs now.
            return Ok(());
        }
        let edited = load.places.edited(load.scope(), &load.promotion.release)?;
        if edited.edits.is_empty() {
            // There is no place, or all of them say so already. Both are facts of the base branch.
            return Ok(());
        }
        // What was opened a moment ago need not be made once more, only to be found there.
        if !self.wants(&load.promotion.key, &Intent::Propose) {
            return Err(Trouble::Unwanted);
        }
        let commit = self.commit(load, &load.promotion, &load.base, &edited).await?;
        // Right before the change that others see: gates may have closed, and freezes may have come.
        if !self.wants(&load.promotion.key, &Intent::Propose) {
            return Err(Trouble::Unwanted);
        }
        let pushed = load.tip.clone().filter(|_| load.is_ours());
        let written = Branch { name: load.branch.clone(), parent: load.base.clone(), intended: commit.clone(), pushed };
        load.facts().branch = Some(written);
        self.learn(load).await?;
        if load.tip.as_ref() != Some(&commit) {
            let push = Push { branch: load.branch.clone(), commit: Some(commit.clone()), expect: load.tip.clone() };
            match self.ports.repos().push(&load.access, &push).await {
                // Somebody removed the branch since it was looked at.
                Err(RepoError::NoBranch { .. }) => return Err(Trouble::Stale),
                pushed => pushed?,
            }
            load.tip = Some(commit.clone());
        }
        self.open(load, commit, edited).await?;
        self.see_proposal(load)
    }

    /// The commit that a promotion makes on top of another.
    pub(super) async fn commit(
        &self,
        load: &Load<'_>,
        promotion: &Promotion,
        parent: &CommitId,
        edited: &Edited,
    ) -> Result<CommitId, Trouble> {
        let change = Change {
            parent: parent.clone(),
            files: edited.files.clone(),
            message: words::message(promotion, &edited.edits),
            author: self.settings.author.clone(),
            // The same on every attempt, so that the commit is the same.
            at: promotion.history.first().map(|turn| turn.at).unwrap_or_default(),
        };
        Ok(self.ports.repos().prepare(&load.access, &change).await?)
    }

    /// Keeps the proposal: the one that is open, with a new head, or a new one.
    async fn open(&self, load: &mut Load<'_>, head: CommitId, edited: Edited) -> Result<(), Trouble> {
        let now = self.ports.clock().now();
        let promotion = &load.promotion;
        let body = self
            .world
            .look(&promotion.key.pipeline, |known| {
                words::body(promotion, &edited.edits, known.pipeline(), known.snapshot(), now)
            })
            .unwrap_or_default();
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
        let known =
            load.proposal.as_ref().filter(|known| known.state == PlainState::Open).map(|known| known.key.clone());
        let proposal = match known {
            Some(key) => self.update(RecordKey::Proposal(key), &fresh).await?,
            None => self.create(fresh).await?,
        };
        load.proposal = Some(proposal);
        Ok(())
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
}
