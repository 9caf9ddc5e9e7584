//! Servers that all tests of a binary share. The first test that asks starts them; they end with the process.
//!
//! Keep out of each other's way with [`Cluster::namespace`](super::Cluster::namespace) and [`unique`](super::unique). A
//! test that needs to stop a server, or other settings, starts its own.

use tokio::sync::OnceCell;

use super::{Cluster, Gitea, Hub, Leaf};

/// An API server with nothing on it.
pub async fn hub() -> &'static Hub {
    static HUB: OnceCell<Hub> = OnceCell::const_new();
    HUB.get_or_init(Cluster::start).await
}

/// An API server with all of Flux.
pub async fn leaf() -> &'static Leaf {
    static LEAF: OnceCell<Leaf> = OnceCell::const_new();
    LEAF.get_or_init(Leaf::start).await
}

/// A forge.
pub async fn gitea() -> &'static Gitea {
    static GITEA: OnceCell<Gitea> = OnceCell::const_new();
    GITEA.get_or_init(Gitea::start).await
}
