//! All repositories of one process.

use std::{
    collections::HashMap,
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use thiserror::Error;
use weir_core::{BranchName, CommitId};
use weir_ports::{Change, Commit, ConfigRepos, Doing, FileQuery, Push, Pushed, RepoAccess, RepoError, RepoFile};

use crate::{
    address::Transport,
    cache::Cache,
    fault::Fault,
    gather::Gather,
    look::Looks,
    prepare::Made,
    program::Git,
    push::Queue,
    settings::Settings,
    sign_in::{PRIVATE, SignIn},
};

/// Git repositories, each with a cache in one folder.
pub struct GitRepos {
    git: Git,
    repositories: Mutex<HashMap<String, Arc<Repository>>>,
    _lock: File,
}

/// One repository: its cache, and the questions and pushes that wait for their turn.
pub(crate) struct Repository {
    pub(crate) cache: Cache,
    pub(crate) looks: Looks,
    pub(crate) prepares: Gather<(), Change, Result<Arc<[Made]>, Fault>>,
    pub(crate) queue: Queue,
}

/// Why a folder cannot be used for caches.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It cannot be written to.
    #[error("opening the cache folder `{}` failed; make it a folder that Weir may write to", folder.display())]
    Io {
        /// Which folder.
        folder: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// Another process uses it.
    #[error(
        "the cache folder `{}` is in use by another process; give each process a folder of its own",
        folder.display()
    )]
    InUse {
        /// Which folder.
        folder: PathBuf,
    },
}

impl GitRepos {
    /// Keeps caches in this folder, which no other process may use at the same time.
    pub fn open(folder: impl AsRef<Path>, settings: Settings) -> Result<Self, OpenError> {
        let folder = folder.as_ref();
        let failed = |source| OpenError::Io { folder: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(failed)?;
        let root = folder.canonicalize().map_err(failed)?;
        let lock = File::create(root.join("weir.lock")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse { folder: folder.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        remove_private(&root).map_err(failed)?;
        Ok(Self { git: Git::new(settings, root), repositories: Mutex::default(), _lock: lock })
    }

    fn repository(&self, sign_in: &SignIn) -> Arc<Repository> {
        let folder = sign_in.address.folder();
        let mut all = self.repositories.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.git.root.join(&folder);
        let new = || {
            Arc::new(Repository {
                cache: Cache::new(path),
                looks: Looks::default(),
                prepares: Gather::default(),
                queue: Queue::default(),
            })
        };
        Arc::clone(all.entry(folder).or_insert_with(new))
    }

    fn sign_in(&self, access: &RepoAccess, doing: Doing) -> Result<(SignIn, Arc<Repository>), RepoError> {
        let sign_in =
            SignIn::new(access, &self.git.root).map_err(|error| Fault::from(error).into_error(doing, &access.url))?;
        if sign_in.address.transport == Transport::File && !self.git.settings.allow_folders {
            return Err(RepoError::Folder { repository: access.url.clone() });
        }
        let repository = self.repository(&sign_in);
        Ok((sign_in, repository))
    }
}

impl ConfigRepos for GitRepos {
    async fn look(&self, access: &RepoAccess, branches: &[BranchName]) -> Result<Vec<Option<CommitId>>, RepoError> {
        let (sign_in, repository) = self.sign_in(access, Doing::Looking)?;
        let found = repository.look(&self.git, &sign_in, branches).await;
        match repository.heed(&sign_in, found) {
            Ok(Some(heads)) => Ok(heads),
            Ok(None) => Err(RepoError::Empty { repository: access.url.clone() }),
            Err(fault) => Err(fault.into_error(Doing::Looking, &access.url)),
        }
    }

    async fn below(&self, access: &RepoAccess, name: &BranchName) -> Result<Vec<(BranchName, CommitId)>, RepoError> {
        let (sign_in, repository) = self.sign_in(access, Doing::Looking)?;
        let found = repository.below(&self.git, &sign_in, name).await;
        repository.heed(&sign_in, found).map_err(|fault| fault.into_error(Doing::Looking, &access.url))
    }

    async fn commit(&self, access: &RepoAccess, commit: &CommitId) -> Result<Commit, RepoError> {
        let (sign_in, repository) = self.sign_in(access, Doing::Reading)?;
        let found = repository.commit(&self.git, &sign_in, access, commit).await;
        repository.heed(&sign_in, found).unwrap_or_else(|fault| Err(fault.into_error(Doing::Reading, &access.url)))
    }

    async fn files(
        &self,
        access: &RepoAccess,
        commit: &CommitId,
        query: &FileQuery,
    ) -> Result<Vec<RepoFile>, RepoError> {
        let (sign_in, repository) = self.sign_in(access, Doing::Reading)?;
        let found = repository.files(&self.git, &sign_in, access, commit, query).await;
        repository.heed(&sign_in, found).unwrap_or_else(|fault| Err(fault.into_error(Doing::Reading, &access.url)))
    }

    async fn prepare(&self, access: &RepoAccess, change: &Change) -> Result<CommitId, RepoError> {
        let (sign_in, repository) = self.sign_in(access, Doing::Preparing)?;
        let made = repository.prepare(&self.git, &sign_in, access, change).await;
        repository.heed(&sign_in, made).unwrap_or_else(|fault| Err(fault.into_error(Doing::Preparing, &access.url)))
    }

    async fn push(&self, access: &RepoAccess, push: &Push) -> Result<Pushed, RepoError> {
        let (sign_in, repository) = self.sign_in(access, Doing::Pushing)?;
        repository.push(&self.git, &sign_in, access, push).await
    }
}

impl Repository {
    /// Credentials that the server no longer lets in do not get to see the cache, either.
    pub(crate) fn heed<T>(&self, sign_in: &SignIn, result: Result<T, Fault>) -> Result<T, Fault> {
        if let Err(Fault::Unauthorized(_) | Fault::NotFound(_)) = &result {
            self.cache.turn_away(sign_in.fingerprint);
        }
        result
    }
}

/// Private files of a process that was killed.
fn remove_private(root: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PRIVATE) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}
