//! What was read from repositories and may be asked for again. It can be lost at any time.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use weir_core::CommitId;
use weir_ports::{ConfigRepos as _, FileQuery, RepoAccess, RepoError};

use crate::{
    carry::{MARKER, Places, Stations},
    ports::Ports,
};

/// How many commits are remembered. Many promotions of one repository are made on one commit.
const REMEMBERED: usize = 32;

type Remembered = (String, CommitId, Arc<tokio::sync::OnceCell<Arc<Places>>>);

/// The places of the commits that were read last.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    commits: Mutex<VecDeque<Remembered>>,
    /// The changes that wait for a base branch.
    pub(crate) stations: Stations,
}

impl Memory {
    /// The places of a commit. Whoever asks while they are being read waits for that.
    pub(crate) async fn places(
        &self,
        ports: &impl Ports,
        access: &RepoAccess,
        commit: &CommitId,
    ) -> Result<Arc<Places>, RepoError> {
        let query = FileQuery { contains: Some(MARKER.to_owned()), ..FileQuery::default() };
        let cell = self.cell(access, commit);
        let read = || async {
            let files = ports.repos().files(access, commit, &query).await?;
            Ok(Arc::new(Places::read(files)))
        };
        cell.get_or_try_init(read).await.cloned()
    }

    fn cell(&self, access: &RepoAccess, commit: &CommitId) -> Arc<tokio::sync::OnceCell<Arc<Places>>> {
        let mut commits = self.commits.lock().unwrap_or_else(PoisonError::into_inner);
        let url = access.url.reveal();
        if let Some((_, _, cell)) = commits.iter().find(|(known, id, _)| known == url && id == commit) {
            return cell.clone();
        }
        if commits.len() == REMEMBERED {
            commits.pop_front();
        }
        let cell = Arc::default();
        commits.push_back((url.to_owned(), commit.clone(), Arc::clone(&cell)));
        cell
    }
}
