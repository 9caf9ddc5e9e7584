//! What a proposal changes, file by file, for reviewers.

use thiserror::Error;
use weir_core::{CommitId, PlainProposal, PromotionKey, Repository, promotion_name};
use weir_ports::{ConfigRepos as _, FilePath, FileQuery, PathGlob, RepoAccess, RepoError};

use crate::{
    access::{NoAccess, access},
    ports::Ports,
    world::{Known, World},
};

/// One file that a proposal changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where it is.
    pub path: FilePath,
    /// What it was. Empty, if it was not there.
    pub before: String,
    /// What it becomes. Empty, if it goes.
    pub after: String,
}

/// Why it cannot be shown.
#[derive(Debug, Error)]
pub enum NoDifference {
    /// The environment has no repository any more.
    #[error("proposal `{0}` belongs to an environment that has no repository any more")]
    NoRepository(String),
    /// What opens the repository.
    #[error(transparent)]
    Access(#[from] NoAccess),
    /// The repository.
    #[error(transparent)]
    Repository(#[from] RepoError),
}

/// What a proposal that Weir keeps changes: its head, compared with the commit that it builds on.
pub async fn difference(
    proposal: &PlainProposal,
    world: &World,
    ports: &impl Ports,
) -> Result<Vec<Difference>, NoDifference> {
    let key = &proposal.key;
    let repository = world.look(&key.pipeline, |known| repository(known, key)).flatten();
    let repository = repository.ok_or_else(|| NoDifference::NoRepository(promotion_name(key)))?;
    let access = access(ports, &key.pipeline.namespace, &repository).await?;
    let mut paths: Vec<_> = proposal.edits.iter().filter_map(|edit| FilePath::new(&edit.file).ok()).collect();
    paths.dedup();
    let before = texts(ports, &access, &proposal.parent, &paths).await?;
    let after = texts(ports, &access, &proposal.head, &paths).await?;
    let all = paths.into_iter().zip(before.into_iter().zip(after));
    Ok(all.map(|(path, (before, after))| Difference { path, before, after }).collect())
}

fn repository(known: &Known, key: &PromotionKey) -> Option<Repository> {
    known.pipeline().environment(&key.environment)?.promotion.as_ref()?.strategy.repository().cloned()
}

/// The texts of files, in the order of their paths.
async fn texts(
    ports: &impl Ports,
    access: &RepoAccess,
    commit: &CommitId,
    paths: &[FilePath],
) -> Result<Vec<String>, RepoError> {
    // A pattern that happens to fit more files than the one is sorted out below.
    let within = paths.iter().filter_map(|path| PathGlob::new(path.as_str()).ok()).collect();
    let files = ports.repos().files(access, commit, &FileQuery { contains: None, within }).await?;
    let text = |path: &FilePath| {
        let file = files.iter().find(|file| file.path == *path);
        file.map(|file| String::from_utf8_lossy(&file.content).into_owned()).unwrap_or_default()
    };
    Ok(paths.iter().map(text).collect())
}
