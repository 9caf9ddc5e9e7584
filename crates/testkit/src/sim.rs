//! Simulated ports with a seed.
//!
//! A [`Sim`] is everything that outlives a crash: records, repositories, the time. [`Sim::ports`] are the ports of one
//! run of an engine, with all the faults of the [`Weather`]; [`Sim::calm`] are those of everybody else. They must run on
//! a single-threaded runtime whose time is paused.

mod catalog;
mod chance;
mod clock;
mod clusters;
mod fate;
mod forge;
mod journal;
mod ownership;
mod repos;
mod store;

use std::sync::Arc;

use weir_engine::Ports;

pub use catalog::SimCatalog;
pub use chance::Chance;
pub use clock::SimClock;
pub use clusters::SimClusters;
pub use fate::{Fate, Weather};
pub use forge::{Kept, SimForge};
pub use journal::SimJournal;
pub use ownership::SimOwnership;
pub use repos::{BaseMove, SimRepos};
pub use store::SimStore;

/// Everything that outlives a crash.
#[derive(Debug, Clone)]
pub struct Sim {
    /// Where all chance comes from.
    pub chance: Chance,
    /// What time it is.
    pub clock: SimClock,
    /// The records.
    pub store: SimStore,
    /// The repositories.
    pub repos: SimRepos,
    /// Their pull requests.
    pub forge: SimForge,
    /// What runs where.
    pub clusters: SimClusters,
    /// The definitions.
    pub catalog: SimCatalog,
    /// Who did what.
    pub journal: SimJournal,
}

impl Sim {
    /// A world in which nothing has happened.
    pub fn new(seed: u64) -> Self {
        let chance = Chance::new(seed);
        let fate = Fate::calm(chance.clone());
        let clock = SimClock::new(chance.clone());
        let repos = SimRepos::new(fate.clone(), clock.clone());
        Self {
            store: SimStore::new(fate.clone()),
            clusters: SimClusters::new(fate.clone()),
            forge: SimForge::new(repos.clone(), fate, clock.clone()),
            repos,
            catalog: SimCatalog::default(),
            journal: SimJournal::default(),
            chance,
            clock,
        }
    }

    /// The ports of one run of an engine, which this fate befalls.
    pub fn ports(&self, fate: &Fate) -> SimPorts {
        SimPorts {
            store: self.store.under(fate.clone()),
            repos: self.repos.under(fate.clone()),
            forge: self.forge.under(fate.clone()),
            catalog: self.catalog.clone(),
            clusters: self.clusters.under(fate.clone()),
            ownership: SimOwnership::default(),
            clock: self.clock.clone(),
        }
    }

    /// The ports of everybody else, which always work.
    pub fn calm(&self) -> Arc<SimPorts> {
        Arc::new(self.ports(&Fate::calm(self.chance.clone())))
    }
}

/// The ports of one run of an engine.
#[derive(Debug)]
pub struct SimPorts {
    store: SimStore,
    repos: SimRepos,
    forge: SimForge,
    catalog: SimCatalog,
    clusters: SimClusters,
    ownership: SimOwnership,
    clock: SimClock,
}

impl SimPorts {
    /// The same, but only as long as this says so.
    #[must_use]
    pub fn owned_by(self, ownership: SimOwnership) -> Self {
        Self { ownership, ..self }
    }
}

impl Ports for SimPorts {
    type Catalog = SimCatalog;
    type Store = SimStore;
    type Repos = SimRepos;
    type Forge = SimForge;
    type Clusters = SimClusters;
    type Ownership = SimOwnership;
    type Clock = SimClock;

    fn catalog(&self) -> &SimCatalog {
        &self.catalog
    }

    fn store(&self) -> &SimStore {
        &self.store
    }

    fn repos(&self) -> &SimRepos {
        &self.repos
    }

    fn forge(&self) -> &SimForge {
        &self.forge
    }

    fn clusters(&self) -> &SimClusters {
        &self.clusters
    }

    fn ownership(&self) -> &SimOwnership {
        &self.ownership
    }

    fn clock(&self) -> &SimClock {
        &self.clock
    }
}
