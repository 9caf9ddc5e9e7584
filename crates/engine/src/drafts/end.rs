//! What becomes of a draft on a plain Git server: merged, or closed.

use weir_core::{CommitId, PipelineKey};
use weir_ports::{ConfigRepos as _, Journal, Push, RepoAccess, RepoError};

use super::{Commit, Draft, DraftError, Drafts, Place, WholeDraft, words};
use crate::{people::Asked, ports::Ports};

/// How often it is tried anew because somebody else moved the base branch.
const ROUNDS: usize = 5;

impl<P: Ports, J: Journal> Drafts<'_, P, J> {
    /// Puts a draft onto the base branch, at the head that one looked at, and removes its branch. Returns the commit of
    /// the base branch that has it.
    pub async fn merge(&self, asked: &Asked, key: &PipelineKey, head: &CommitId) -> Result<CommitId, DraftError> {
        let (place, whole) = self.at(key, head).await?;
        let WholeDraft { draft, text: Some(text), is_ours: true, .. } = whole else {
            return Err(DraftError::Foreign(whole.draft.branch));
        };
        let access = &place.access;
        if self.text(access, &place.base, &draft.file).await?.is_none() {
            self.is_free(key)?;
        }
        let work = async {
            let merged = self.land(access, place.base.clone(), &draft, &text).await?;
            match self.remove(access, &draft).await {
                // It is merged all the same; what somebody put there meanwhile is theirs.
                Err(DraftError::Changed { now, .. }) => tracing::warn!(draft = %key, %now, "the branch has moved"),
                removed => removed?,
            }
            tracing::info!(draft = %key, commit = %merged, "draft merged");
            Ok(merged)
        };
        self.doing(asked, ("merge", &draft), work).await
    }

    /// Removes a draft, at the head that one looked at, whoever wrote it.
    pub async fn close(&self, asked: &Asked, key: &PipelineKey, head: &CommitId) -> Result<(), DraftError> {
        let (place, whole) = self.at(key, head).await?;
        let work = async {
            self.remove(&place.access, &whole.draft).await?;
            tracing::info!(draft = %key, "draft closed");
            Ok(())
        };
        self.doing(asked, ("close", &whole.draft), work).await
    }

    /// A draft that is decided about here, and is where somebody looked at it.
    async fn at(&self, key: &PipelineKey, head: &CommitId) -> Result<(Place, WholeDraft), DraftError> {
        let place = self.place(key).await?;
        if self.definitions.forge.is_some() {
            let found = self.pull_request(&place.access, key).await?;
            return Err(DraftError::OnForge(found.map(|found| found.url.to_string())));
        }
        match &place.tip {
            None => Err(DraftError::NoDraft(key.clone())),
            Some(now) if now != head => Err(DraftError::Changed { key: key.clone(), now: now.clone() }),
            Some(tip) => {
                let whole = self.read(&place.access, key, tip.clone()).await?;
                Ok((place, whole))
            }
        }
    }

    /// Has the base branch have the file. On one that has not moved, it becomes the reviewed commit itself; on one that
    /// has, the same file is added on top of it.
    async fn land(
        &self,
        access: &RepoAccess,
        mut base: CommitId,
        draft: &Draft,
        text: &str,
    ) -> Result<CommitId, DraftError> {
        let branch = &self.definitions.repository.base;
        for _ in 0..ROUNDS {
            match self.text(access, &base, &draft.file).await? {
                // It was merged before, and cut off then.
                Some(there) if there == text => return Ok(base),
                Some(_) => return Err(DraftError::OnBase { file: draft.file.clone(), base: branch.clone() }),
                None => {}
            }
            let message = words::message(&draft.key, &draft.by, draft.why.as_deref());
            let again = Commit { parent: base.clone(), text, message, at: draft.at };
            // On the parent that the draft has, this is its own commit.
            let commit = self.commit(access, &draft.file, again).await?;
            let push = Push { branch: branch.clone(), commit: Some(commit.clone()), expect: Some(base) };
            match self.ports.repos().push(access, &push).await {
                Err(RepoError::Moved { now, .. }) => base = now,
                pushed => {
                    pushed?;
                    return Ok(commit);
                }
            }
        }
        Err(DraftError::Busy(branch.clone()))
    }

    /// Removes the branch, if nobody has moved it.
    async fn remove(&self, access: &RepoAccess, draft: &Draft) -> Result<(), DraftError> {
        let push = Push { branch: draft.branch.clone(), commit: None, expect: Some(draft.head.clone()) };
        match self.ports.repos().push(access, &push).await {
            Err(RepoError::NoBranch { .. }) => Ok(()),
            Err(RepoError::Moved { now, .. }) => Err(DraftError::Changed { key: draft.key.clone(), now }),
            pushed => pushed.map(drop).map_err(DraftError::from),
        }
    }
}
