//! Definitions that a test changes as it likes.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{Stream, stream};
use tokio::sync::Notify;
use weir_core::{ClusterKey, Name, Namespace, PipelineKey};
use weir_ports::{Catalog, CatalogError, CatalogNotice, ClusterError, Definition, Flaw, ManifestUnread, Secret};

/// The definitions.
#[derive(Debug, Clone, Default)]
pub struct SimCatalog(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    log: Mutex<Vec<CatalogNotice>>,
    changed: Notify,
}

impl SimCatalog {
    /// Defines a pipeline, or defines it anew.
    pub fn define(&self, definition: Definition) {
        self.tell(CatalogNotice::Defined(Arc::new(definition)));
    }

    /// Removes a pipeline.
    pub fn remove(&self, key: PipelineKey) {
        self.tell(CatalogNotice::Gone(key));
    }

    /// Tells everything that is wrong with the definitions.
    pub fn complain(&self, problems: Vec<Flaw>) {
        self.tell(CatalogNotice::Problems(problems));
    }

    fn tell(&self, notice: CatalogNotice) {
        self.0.log.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
        self.0.changed.notify_waiters();
    }

    /// What is defined now.
    fn list(&self) -> (VecDeque<CatalogNotice>, usize) {
        let log = self.0.log.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut now, mut problems) = (BTreeMap::new(), Vec::new());
        for notice in log.iter() {
            match notice {
                CatalogNotice::Defined(definition) => {
                    now.insert(definition.pipeline.key.clone(), definition.clone());
                }
                CatalogNotice::Gone(key) => {
                    now.remove(key);
                }
                CatalogNotice::Problems(told) => problems.clone_from(told),
                CatalogNotice::Listed => {}
            }
        }
        let defined = now.into_values().map(CatalogNotice::Defined);
        let problems = (!problems.is_empty()).then_some(CatalogNotice::Problems(problems));
        (defined.chain(problems).chain([CatalogNotice::Listed]).collect(), log.len())
    }
}

impl Catalog for SimCatalog {
    fn watch(&self) -> impl Stream<Item = CatalogNotice> + Send + Unpin + 'static {
        let (list, seen) = self.list();
        let shared = self.0.clone();
        Box::pin(stream::unfold((shared, list, seen), |(shared, mut list, mut seen)| async move {
            loop {
                if let Some(notice) = list.pop_front() {
                    return Some((notice, (shared, list, seen)));
                }
                let changed = shared.changed.notified();
                let log: Vec<_> = shared.log.lock().unwrap_or_else(PoisonError::into_inner)[seen..].to_vec();
                if log.is_empty() {
                    changed.await;
                } else {
                    seen += log.len();
                    list.extend(log);
                }
            }
        }))
    }

    async fn manifest(&self, _: &PipelineKey) -> Result<Option<String>, ManifestUnread> {
        Ok(None)
    }

    async fn kubeconfig(&self, _: &ClusterKey) -> Result<Option<Name>, ClusterError> {
        Ok(None)
    }

    async fn secret(&self, namespace: &Namespace, name: &Name) -> Result<Secret, CatalogError> {
        Err(CatalogError::NoSecret { namespace: namespace.clone(), name: name.clone() })
    }
}
