//! What opens a repository.

use secrecy::ExposeSecret as _;
use thiserror::Error;
use weir_core::{Namespace, Repository};
use weir_ports::{Catalog as _, CatalogError, Credentials, CredentialsError, RepoAccess};

use crate::ports::Ports;

/// Why the Secret of a repository cannot be used.
#[derive(Debug, Clone, Error)]
pub enum NoAccess {
    /// It is not there.
    #[error(transparent)]
    Secret(#[from] CatalogError),
    /// What it holds is of no use.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
}

/// What opens a repository, now.
pub(crate) async fn access(
    ports: &impl Ports,
    namespace: &Namespace,
    repository: &Repository,
) -> Result<RepoAccess, NoAccess> {
    let url = repository.url.clone();
    let Some(name) = &repository.secret else { return Ok(RepoAccess::open(url)) };
    let secret = ports.catalog().secret(namespace, name).await?;
    let keys = secret.iter().map(|(key, value)| (key, value.expose_secret()));
    Ok(RepoAccess { url, credentials: Credentials::from_secret(keys)? })
}
