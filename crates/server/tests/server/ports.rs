//! Ports in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use futures_util::{Stream, stream};
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use weir_core::{Actor, ClusterKey, Name, Namespace, PlainProposal, Promotion, PromotionKey};
use weir_engine::Ports;
use weir_ports::{
    Access, AccessError, Catalog, CatalogError, CatalogNotice, Clock, ClusterError, Deed, DeedQuery, HistoryQuery,
    Journal, ManifestUnread, Noted, Scope, Secret, StoreError, Verb,
};
use weir_server::Timed;
use weir_testkit::sim::{Sim, SimClusters, SimForge, SimOwnership, SimRepos, SimStore};

pub(crate) struct TestPorts {
    pub(crate) catalog: TestCatalog,
    pub(crate) store: SimStore,
    pub(crate) repos: Timed<SimRepos>,
    pub(crate) forge: SimForge,
    pub(crate) clusters: SimClusters,
    pub(crate) ownership: SimOwnership,
    pub(crate) clock: RealClock,
}

impl TestPorts {
    pub(crate) fn new(sim: &Sim, metrics: &weir_server::Metrics) -> Self {
        Self {
            catalog: TestCatalog::default(),
            store: sim.store.clone(),
            repos: Timed::new(sim.repos.clone(), metrics.clone()),
            forge: sim.forge.clone(),
            clusters: sim.clusters.clone(),
            ownership: SimOwnership::default(),
            clock: RealClock,
        }
    }
}

impl Ports for TestPorts {
    type Catalog = TestCatalog;
    type Store = SimStore;
    type Repos = Timed<SimRepos>;
    type Forge = SimForge;
    type Clusters = SimClusters;
    type Ownership = SimOwnership;
    type Clock = RealClock;

    fn catalog(&self) -> &TestCatalog {
        &self.catalog
    }
    fn store(&self) -> &SimStore {
        &self.store
    }
    fn repos(&self) -> &Timed<SimRepos> {
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
    fn clock(&self) -> &RealClock {
        &self.clock
    }
}

pub(crate) struct RealClock;

impl Clock for RealClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    async fn sleep_until(&self, _: Timestamp) {
        std::future::pending::<()>().await;
    }

    fn random(&self) -> u64 {
        4
    }
}

/// Secrets, by namespace and name. Definitions are put into the world by hand.
#[derive(Clone, Default)]
pub(crate) struct TestCatalog(Arc<Mutex<BTreeMap<(String, String), Secret>>>);

impl TestCatalog {
    pub(crate) fn put(&self, namespace: &str, name: &str, key: &str, value: &str) {
        let secret = [(key.to_owned(), value.as_bytes().to_vec())].into_iter().collect();
        self.0.lock().unwrap().insert((namespace.to_owned(), name.to_owned()), secret);
    }
}

impl Catalog for TestCatalog {
    fn watch(&self) -> impl Stream<Item = CatalogNotice> + Send + Unpin + 'static {
        stream::iter([CatalogNotice::Listed])
    }

    async fn manifest(&self, pipeline: &weir_core::PipelineKey) -> Result<Option<String>, ManifestUnread> {
        Ok((pipeline.name.as_str() == "podinfo").then(|| "kind: Pipeline\n".to_owned()))
    }

    async fn kubeconfig(&self, _: &ClusterKey) -> Result<Option<Name>, ClusterError> {
        Ok(None)
    }

    async fn secret(&self, namespace: &Namespace, name: &Name) -> Result<Secret, CatalogError> {
        let found = self.0.lock().unwrap().get(&(namespace.to_string(), name.to_string())).cloned();
        found.ok_or_else(|| CatalogError::NoSecret { namespace: namespace.clone(), name: name.clone() })
    }
}

#[derive(Default)]
pub(crate) struct TestJournal {
    deeds: Mutex<Vec<Deed>>,
    /// Oldest first.
    pub(crate) past: Mutex<Vec<Promotion>>,
    pub(crate) proposals: Mutex<Vec<PlainProposal>>,
}

impl TestJournal {
    /// What was done, as `VERB OBJECT by NAME: WHY`.
    pub(crate) fn told(&self) -> Vec<String> {
        let tell = |deed: &Deed| {
            let why = deed.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            format!("{} {} by {}{why}", deed.verb, deed.object, deed.by.name)
        };
        self.deeds.lock().unwrap().iter().map(tell).collect()
    }
}

impl Journal for TestJournal {
    async fn note(&self, deed: &Deed) -> Result<(), StoreError> {
        self.deeds.lock().unwrap().push(deed.clone());
        Ok(())
    }

    async fn deeds(&self, query: &DeedQuery) -> Result<Vec<Noted>, StoreError> {
        let deeds = self.deeds.lock().unwrap();
        let numbered = (1_u64..).zip(deeds.iter()).collect::<Vec<_>>().into_iter().rev();
        let fits = |(number, deed): &(u64, &Deed)| {
            query.before.is_none_or(|before| *number < before)
                && query.namespace.as_ref().is_none_or(|wanted| deed.home() == Some(wanted))
                && query.pipeline.as_ref().is_none_or(|wanted| deed.pipeline.as_ref() == Some(wanted))
                && query.by.as_ref().is_none_or(|wanted| deed.by.name == *wanted)
        };
        let found = numbered.filter(fits).take(query.limit);
        Ok(found.map(|(number, deed)| Noted { number, deed: deed.clone() }).collect())
    }

    async fn promotions(&self, query: &HistoryQuery) -> Result<Vec<Promotion>, StoreError> {
        let past = self.past.lock().unwrap();
        let fits = |it: &&Promotion| {
            query.pipeline.as_ref().is_none_or(|wanted| it.key.pipeline == *wanted)
                && query.namespace.as_ref().is_none_or(|wanted| it.key.pipeline.namespace == *wanted)
                && query.environment.as_ref().is_none_or(|wanted| it.key.environment == *wanted)
                && (query.phases.is_empty() || query.phases.contains(&it.phase))
        };
        Ok(past.iter().rev().filter(fits).skip(query.skip).take(query.limit).cloned().collect())
    }

    async fn proposal(&self, key: &PromotionKey) -> Result<Option<PlainProposal>, StoreError> {
        Ok(self.proposals.lock().unwrap().iter().find(|it| it.key == *key).cloned())
    }
}

/// `geheim-NAME` is the token of NAME. `admin` may everything; `NAMESPACE-view`, `NAMESPACE-promote` and so on may that in
/// the namespace, and look at it; `NAMESPACE-operate` is promote, rollback and pause. `NAMESPACE.PIPELINE-promote` may that
/// with the one pipeline.
pub(crate) struct TestAccess;

impl Access for TestAccess {
    async fn identify(&self, token: &SecretString) -> Result<Option<Actor>, AccessError> {
        let token = token.expose_secret();
        if token == "geheim-broken" {
            return Err(AccessError("the directory is away".to_owned()));
        }
        Ok(token.strip_prefix("geheim-").filter(|name| *name != "stranger").map(Actor::named))
    }

    async fn may(&self, who: &Actor, what: Verb, scope: Scope<'_>) -> Result<bool, AccessError> {
        if who.name == "admin" {
            return Ok(true);
        }
        let Some((home, right)) = who.name.rsplit_once('-') else { return Ok(false) };
        let rights: &[Verb] = match right {
            "operate" => &[Verb::Promote, Verb::Rollback, Verb::Pause],
            "promote" => &[Verb::Promote],
            "rollback" => &[Verb::Rollback],
            "pause" => &[Verb::Pause],
            "approve" => &[Verb::Approve],
            "define" => &[Verb::Define],
            _ => &[],
        };
        let (home, only) = home.split_once('.').map_or((home, None), |(home, only)| (home, Some(only)));
        let here = scope.namespace().is_some_and(|namespace| namespace.as_str() == home);
        let this = only.is_none_or(|only| scope.pipeline().is_some_and(|name| name.as_str() == only));
        Ok(here && (what == Verb::View || (rights.contains(&what) && this)))
    }

    async fn homes(&self, who: &Actor) -> Result<BTreeSet<Namespace>, AccessError> {
        let home = who.name.rsplit_once('-').map(|(home, _)| home.split('.').next().unwrap_or_default());
        let home = home.and_then(|home| home.parse().ok());
        Ok(home.into_iter().collect())
    }

    fn right(&self, what: Verb) -> String {
        format!("the badge {what:?}")
    }
}
