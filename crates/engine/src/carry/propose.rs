//! An open proposal with the release on its branch.

use weir_core::{Branch, CommitId, Intent, Promotion};
use weir_ports::{Change, Clock as _, ConfigRepos as _, Push, Pushed, RepoError};

use super::{Carrier, Load, Proposed, Trouble, places::Edited, words};
use crate::ports::Ports;

impl<P: Ports> Carrier<'_, P> {
    pub(super) async fn propose(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        if load.proposed.is_open() && !load.is_ours() {
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
        let before = load.promotion.leg.facts.branch.as_ref();
        let tip = load.tip.as_ref().filter(|_| load.is_ours());
        let made = (load.base.clone(), commit.clone());
        load.facts().branch = Some(Branch::next(before, load.branch.clone(), load.place(), made, tip));
        self.learn(load).await?;
        // Right before the change that others see: gates may have closed, freezes may have come, and a newer release that
        // has the turn by now may not know of the commit.
        if !self.wants(&load.promotion.key, &Intent::Propose) {
            return Err(Trouble::Unwanted);
        }
        let mut pushed = Pushed::Before;
        if load.tip.as_ref() != Some(&commit) {
            let push = Push { branch: load.branch.clone(), commit: Some(commit.clone()), expect: load.tip.clone() };
            pushed = match self.ports.repos().push(&load.access, &push).await {
                // Somebody removed the branch since it was looked at.
                Err(RepoError::NoBranch { .. }) => return Err(Trouble::Stale),
                pushed => pushed?,
            };
            load.tip = Some(commit.clone());
        }
        let is_news = self.memory.is_new_push(&load.promotion.key, &commit);
        if is_news && pushed == Pushed::Before && load.proposed.is_missing_there() {
            // A forge may open two for two who ask at once; of two pushes only one moves the branch.
            return Err(Trouble::Pushed);
        }
        // The push may have taken long.
        if !self.has_the_turn(&load.promotion.key) {
            return Err(Trouble::Unwanted);
        }
        load.proposed = match load.proposed.clone() {
            Proposed::Here(known) => Proposed::Here(Some(self.open_own(load, known.as_ref(), commit, edited).await?)),
            Proposed::There(access, _) => {
                let opened = self.open_there(load, &access, commit, &edited).await?;
                Proposed::There(access, Some(opened))
            }
        };
        self.see_proposal(load).await
    }

    /// What a proposal says, in Markdown.
    pub(super) fn body(&self, promotion: &Promotion, edited: &Edited) -> String {
        let now = self.ports.clock().now();
        let body = self.world.look(&promotion.key.pipeline, |known| {
            let (pipeline, snapshot) = (known.pipeline(), known.snapshot());
            let source =
                words::Source { pipeline, snapshot, now, page: self.settings.page_of(&promotion.key.pipeline) };
            words::body(promotion, &edited.edits, &source)
        });
        body.unwrap_or_default()
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
}
