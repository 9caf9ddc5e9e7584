//! Measures what is done with Git repositories.

use std::time::Instant;

use weir_core::{BranchName, CommitId};
use weir_ports::{Change, Commit, ConfigRepos, FileQuery, Push, Pushed, RepoAccess, RepoError, RepoFile};

use super::Metrics;

/// Repositories, with every call measured.
#[derive(Debug, Clone)]
pub struct Timed<R> {
    repos: R,
    metrics: Metrics,
}

impl<R> Timed<R> {
    /// Measures these repositories.
    pub fn new(repos: R, metrics: Metrics) -> Self {
        Self { repos, metrics }
    }

    async fn time<T>(
        &self,
        operation: &'static str,
        call: impl Future<Output = Result<T, RepoError>> + Send,
    ) -> Result<T, RepoError> {
        let begun = Instant::now();
        let done = call.await;
        let outcome = done.as_ref().map_or_else(word, |_| "ok");
        self.metrics.git(operation, outcome, begun.elapsed());
        done
    }
}

impl<R: ConfigRepos> ConfigRepos for Timed<R> {
    async fn look(&self, access: &RepoAccess, branches: &[BranchName]) -> Result<Vec<Option<CommitId>>, RepoError> {
        self.time("look", self.repos.look(access, branches)).await
    }

    async fn below(&self, access: &RepoAccess, name: &BranchName) -> Result<Vec<(BranchName, CommitId)>, RepoError> {
        self.time("below", self.repos.below(access, name)).await
    }

    async fn commit(&self, access: &RepoAccess, commit: &CommitId) -> Result<Commit, RepoError> {
        self.time("commit", self.repos.commit(access, commit)).await
    }

    async fn files(
        &self,
        access: &RepoAccess,
        commit: &CommitId,
        query: &FileQuery,
    ) -> Result<Vec<RepoFile>, RepoError> {
        self.time("files", self.repos.files(access, commit, query)).await
    }

    async fn prepare(&self, access: &RepoAccess, change: &Change) -> Result<CommitId, RepoError> {
        self.time("prepare", self.repos.prepare(access, change)).await
    }

    async fn push(&self, access: &RepoAccess, push: &Push) -> Result<Pushed, RepoError> {
        self.time("push", self.repos.push(access, push)).await
    }
}

/// An error in a word.
fn word(error: &RepoError) -> &'static str {
    match error {
        RepoError::Unreachable { .. } => "unreachable",
        RepoError::RateLimited { .. } => "rate-limited",
        RepoError::Unauthorized { .. } => "unauthorized",
        RepoError::Untrusted { .. } => "untrusted",
        RepoError::NotFound { .. } => "not-found",
        RepoError::Folder { .. } => "folder",
        RepoError::Empty { .. } => "empty",
        RepoError::NoBranch { .. } => "no-branch",
        RepoError::Moved { .. } => "moved",
        RepoError::Protected { .. } => "protected",
        RepoError::NoCommit { .. } => "no-commit",
        RepoError::NotAFile { .. } => "not-a-file",
        RepoError::TooLarge { .. } => "too-large",
        RepoError::DiskFull { .. } => "disk-full",
        RepoError::Damaged { .. } => "damaged",
        RepoError::TimedOut { .. } => "timed-out",
        RepoError::Other { .. } => "other",
    }
}
