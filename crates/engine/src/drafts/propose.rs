//! A draft on its branch, and on a forge its pull request.

use jiff::Timestamp;
use weir_core::Pipeline;
use weir_ports::{Clock as _, ConfigRepos as _, Forge as _, Journal, PullRequest, Push, RepoAccess, RepoError, Wanted};

use super::{Commit, Definitions, Draft, DraftError, Drafts, Place, WholeDraft, words};
use crate::{LABEL, people::Asked, ports::Ports};

impl<P: Ports, J: Journal> Drafts<'_, P, J> {
    /// Proposes the definition of a pipeline that is not there yet. `text` is what defines it. A draft that is open
    /// already gets the new text.
    pub async fn propose(&self, asked: &Asked, pipeline: &Pipeline, text: &str) -> Result<WholeDraft, DraftError> {
        let key = &pipeline.key;
        self.is_free(key)?;
        let (branch, file) = (Definitions::branch(key)?, self.definitions.file(key)?);
        let place = self.place(key).await?;
        let access = &place.access;
        if self.text(access, &place.base, &file).await?.is_some() {
            return Err(DraftError::OnBase { file, base: self.definitions.repository.base.clone() });
        }
        let known = match &place.tip {
            Some(tip) => Some(self.read(access, key, tip.clone()).await?),
            None => None,
        };
        if known.as_ref().is_some_and(|known| !known.is_ours) {
            return Err(DraftError::Foreign(branch));
        }
        let found = self.pull_request(access, key).await?;
        let before = known.as_ref().map(|known| known.draft.at);
        let stands = known.filter(|known| known.text.as_deref() == Some(text)).map(|known| known.draft);
        let stands = stands.filter(|draft| !is_over(found.as_ref(), draft));
        let is_open = self.definitions.forge.is_none() || found.as_ref().is_some_and(PullRequest::is_open);
        let (draft, is_new) = match stands {
            Some(draft) => (draft, false),
            None => (self.draft(asked, pipeline, text, &place, before).await?, true),
        };
        let work = async {
            if is_new {
                let push = Push { branch, commit: Some(draft.head.clone()), expect: place.tip.clone() };
                match self.ports.repos().push(access, &push).await {
                    Err(RepoError::Moved { now, .. }) => return Err(DraftError::Changed { key: key.clone(), now }),
                    pushed => pushed?,
                };
                tracing::info!(draft = %key, branch = %draft.branch, "draft proposed");
            }
            self.open(access, &draft, pipeline).await
        };
        // What was done before is not done once more, but for the words of the pull request.
        let pull_request =
            if is_new || !is_open { self.doing(asked, ("define", &draft), work).await? } else { work.await? };
        Ok(WholeDraft { draft, text: Some(text.to_owned()), is_ours: true, pull_request })
    }

    /// Makes the commit of a draft, on top of the base branch. It is another one than that of the draft `before`.
    async fn draft(
        &self,
        asked: &Asked,
        Pipeline { key, .. }: &Pipeline,
        text: &str,
        Place { access, base, .. }: &Place,
        before: Option<Timestamp>,
    ) -> Result<Draft, DraftError> {
        let (by, why) = words::asked(asked);
        let (branch, file) = (Definitions::branch(key)?, self.definitions.file(key)?);
        // Git knows of seconds.
        let now = self.ports.clock().now().as_second();
        let after = before.map_or(now, |before| now.max(before.as_second() + 1));
        let at = Timestamp::from_second(after).unwrap_or_default();
        let parent = base.clone();
        let message = words::message(key, &by, why.as_deref());
        let head = self.commit(access, &file, Commit { parent, text, message, at }).await?;
        Ok(Draft { key: key.clone(), branch, file, head, by, why, at })
    }

    /// Has a pull request from the branch, on a forge.
    async fn open(
        &self,
        access: &RepoAccess,
        draft: &Draft,
        pipeline: &Pipeline,
    ) -> Result<Option<PullRequest>, DraftError> {
        let Some(forge) = self.forge(access) else { return Ok(None) };
        let wanted = Wanted {
            between: self.between(&draft.key)?,
            title: words::title(&draft.key),
            body: words::body(draft, pipeline),
            once: words::once(draft),
            label: Some(LABEL.to_owned()),
        };
        let opened = self.ports.forge().ensure(&forge, &wanted).await?;
        // A forge may take a moment to notice what was pushed.
        Ok(Some(PullRequest { head: draft.head.clone(), ..opened }))
    }
}

/// Whether the pull request of this very commit has ended. Whoever ended it is not overruled: it takes another one.
fn is_over(found: Option<&PullRequest>, draft: &Draft) -> bool {
    found.is_some_and(|found| !found.is_open() && found.body.contains(&words::once(draft)))
}
