//! Pull requests on forges: one port, one file per forge.

use jiff::Timestamp;
use weir_core::{BranchName, CommitId};
use weir_ports::{Between, Forge, ForgeAccess, ForgeError, PullRequest, Shown, Wanted};

/// All forges that Weir talks to.
#[derive(Debug, Clone, Default)]
pub struct Forges {}

impl Forge for Forges {
    async fn find(&self, access: &ForgeAccess, _: &Between) -> Result<Option<PullRequest>, ForgeError> {
        Err(ForgeError::Unsupported(access.kind))
    }

    async fn ensure(&self, access: &ForgeAccess, _: &Wanted) -> Result<PullRequest, ForgeError> {
        Err(ForgeError::Unsupported(access.kind))
    }

    async fn merge(&self, access: &ForgeAccess, _: &str, _: &CommitId) -> Result<(), ForgeError> {
        Err(ForgeError::Unsupported(access.kind))
    }

    async fn close(&self, access: &ForgeAccess, _: &str, _: &str) -> Result<(), ForgeError> {
        Err(ForgeError::Unsupported(access.kind))
    }

    async fn show(&self, access: &ForgeAccess, _: &CommitId, _: &Shown) -> Result<(), ForgeError> {
        Err(ForgeError::Unsupported(access.kind))
    }

    async fn changed(&self, access: &ForgeAccess, _: Timestamp) -> Result<Vec<BranchName>, ForgeError> {
        Err(ForgeError::Unsupported(access.kind))
    }
}
