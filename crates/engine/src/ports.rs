//! The ports that an engine works through, as one.

use weir_ports::{Catalog, Clock, Clusters, ConfigRepos, Forge, Ownership, Store};

/// Everything that the engine needs of the world.
pub trait Ports: Send + Sync + 'static {
    /// What people define.
    type Catalog: Catalog;
    /// What must survive.
    type Store: Store;
    /// What environments run.
    type Repos: ConfigRepos;
    /// Where people review changes.
    type Forge: Forge;
    /// What runs where.
    type Clusters: Clusters;
    /// What this process acts for.
    type Ownership: Ownership;
    /// Time and chance.
    type Clock: Clock;

    /// What people define.
    fn catalog(&self) -> &Self::Catalog;
    /// What must survive.
    fn store(&self) -> &Self::Store;
    /// What environments run.
    fn repos(&self) -> &Self::Repos;
    /// Where people review changes.
    fn forge(&self) -> &Self::Forge;
    /// What runs where.
    fn clusters(&self) -> &Self::Clusters;
    /// What this process acts for.
    fn ownership(&self) -> &Self::Ownership;
    /// Time and chance.
    fn clock(&self) -> &Self::Clock;
}
