//! Pull requests on forges: the [`Forge`] port, one file per forge, and the one way to talk to them.
//!
//! [`Forges`] finds the forge of a repository by its address, and does what the port asks for: each verb looks first,
//! does only what is missing, and may be repeated. It decides nothing. [`hook`] tells whether an event that a forge posts
//! is really from there, and what it is about; it believes no event that is not signed.
//!
//! Credentials are in one header of a request and nowhere else: not in addresses, logs, errors or what is shown for
//! debugging. They are sent to the forge that the repository's address names, and never on to another server.

mod address;
mod gitea;
pub mod hook;
mod http;
mod pace;

use std::sync::Arc;

use jiff::Timestamp;
use weir_core::{BranchName, CommitId, ForgeKind};
use weir_ports::{Between, Forge, ForgeAccess, ForgeError, PullRequest, Shown, Wanted};

use crate::{
    address::Address,
    gitea::Gitea,
    http::{Client, Pool, SignIn},
};
pub use pace::Pace;

/// All forges that Weir talks to. Clones share their connections and what they know.
#[derive(Debug, Clone, Default)]
pub struct Forges {
    pace: Pace,
    gitea: Arc<Pool<(Client, gitea::Memory)>>,
}

/// A Gitea or Forgejo, opened with some credentials, and a repository there.
struct OnGitea {
    site: Arc<(Client, gitea::Memory)>,
    address: Address,
}

impl OnGitea {
    fn repository(&self) -> Gitea<'_> {
        Gitea::new(&self.site.0, &self.site.1, &self.address)
    }
}

impl Forges {
    /// All forges, with another patience than the usual.
    pub fn new(pace: Pace) -> Self {
        Self { pace, gitea: Arc::default() }
    }

    fn open(&self, access: &ForgeAccess) -> Result<OnGitea, ForgeError> {
        if access.kind != ForgeKind::Gitea {
            return Err(ForgeError::Unsupported(access.kind));
        }
        let address = Address::of(&access.url)?;
        let sign_in = SignIn::new(&address, &access.credentials);
        let make =
            |sign_in| Ok((Client::new(&address.site, gitea::API, sign_in, &self.pace)?, gitea::Memory::default()));
        let site = self.gitea.get(sign_in.fingerprint(&address), || make(sign_in))?;
        Ok(OnGitea { site, address })
    }
}

impl Forge for Forges {
    async fn find(&self, access: &ForgeAccess, between: &Between) -> Result<Option<PullRequest>, ForgeError> {
        self.open(access)?.repository().find(between).await
    }

    async fn ensure(&self, access: &ForgeAccess, wanted: &Wanted) -> Result<PullRequest, ForgeError> {
        self.open(access)?.repository().ensure(wanted).await
    }

    async fn merge(&self, access: &ForgeAccess, id: &str, head: &CommitId) -> Result<(), ForgeError> {
        self.open(access)?.repository().merge(id, head).await
    }

    async fn close(&self, access: &ForgeAccess, id: &str, note: &str) -> Result<(), ForgeError> {
        self.open(access)?.repository().close(id, note).await
    }

    async fn show(&self, access: &ForgeAccess, commit: &CommitId, shown: &Shown) -> Result<(), ForgeError> {
        self.open(access)?.repository().show(commit, shown).await
    }

    async fn changed(&self, access: &ForgeAccess, since: Timestamp) -> Result<Vec<BranchName>, ForgeError> {
        self.open(access)?.repository().changed(since).await
    }
}
