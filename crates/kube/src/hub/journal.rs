//! The past, as far as a cluster keeps it.
//!
//! What people do is a line in the log, which is the record that lasts; an Event on the Pipeline, which the API server
//! keeps for an hour; and an entry in a list of this process, which answers questions and holds the last thousand.
//! Promotions are the objects, which are pruned in time: who wants all of them collects the log.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use kube::{Api, api::ListParams};
use weir_core::{PlainProposal, Promotion, PromotionKey};
use weir_ports::{Deed, DeedQuery, HistoryQuery, Journal, Noted, StoreError};

use super::{HubStore, fault, publisher};

/// How many deeds this process remembers.
const KEPT: usize = 1000;

/// Who did what, and what became of promotions.
pub struct HubJournal {
    store: HubStore,
    deeds: Mutex<Deeds>,
}

#[derive(Default)]
struct Deeds {
    last: u64,
    kept: VecDeque<Noted>,
}

impl HubJournal {
    /// The past of what this store keeps.
    pub fn new(store: HubStore) -> Self {
        Self { store, deeds: Mutex::default() }
    }

    fn remember(&self, deed: Deed) {
        let mut deeds = self.deeds.lock().unwrap_or_else(PoisonError::into_inner);
        deeds.last += 1;
        let number = deeds.last;
        deeds.kept.push_front(Noted { number, deed });
        deeds.kept.truncate(KEPT);
    }
}

impl Journal for HubJournal {
    async fn note(&self, deed: &Deed) -> Result<(), StoreError> {
        let Deed { by, verb, object, detail, why, .. } = deed;
        self.remember(deed.clone());
        let Some(key) = &deed.pipeline else { return Ok(()) };
        // An Event is for those who look; that it cannot be written is no reason to refuse what was asked.
        if let Some(defining) = self.store.pipelines().defining(key) {
            let detail = detail.as_deref().map(|detail| format!(" {detail}")).unwrap_or_default();
            let why = why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
            let note = format!("{} {verb} {object}{detail}{why}", by.name);
            let subject = publisher::Subject::of(&defining);
            let told = publisher::tell(self.store.pipelines().client(), &subject, (verb, note), deed.at).await;
            if let Err(error) = told {
                tracing::warn!(%error, "an Event cannot be written");
            }
        }
        Ok(())
    }

    async fn deeds(&self, query: &DeedQuery) -> Result<Vec<Noted>, StoreError> {
        let deeds = self.deeds.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |noted: &&Noted| {
            let Noted { number, deed } = noted;
            query.before.is_none_or(|before| *number < before)
                && query.by.as_ref().is_none_or(|by| deed.by.name == *by)
                && query.pipeline.as_ref().is_none_or(|wanted| deed.pipeline.as_ref() == Some(wanted))
                && query.namespace.as_ref().is_none_or(|wanted| deed.home() == Some(wanted))
        };
        Ok(deeds.kept.iter().filter(fits).take(query.limit).cloned().collect())
    }

    async fn promotions(&self, query: &HistoryQuery) -> Result<Vec<Promotion>, StoreError> {
        let client = self.store.pipelines().client().clone();
        let namespace = query.pipeline.as_ref().map(|pipeline| &pipeline.namespace).or(query.namespace.as_ref());
        let api: Api<weir_api::Promotion> = match namespace {
            Some(namespace) => Api::namespaced(client, namespace.as_str()),
            None => Api::all(client),
        };
        let found = api.list(&ListParams::default()).await.map_err(|error| fault::unavailable(&error))?;
        let fits = |promotion: &Promotion| {
            query.pipeline.as_ref().is_none_or(|pipeline| promotion.key.pipeline == *pipeline)
                && query.environment.as_ref().is_none_or(|environment| promotion.key.environment == *environment)
                && (query.phases.is_empty() || query.phases.contains(&promotion.phase))
        };
        let read = found
            .into_iter()
            .filter_map(|object| Some((object.metadata.creation_timestamp.clone(), object.to_core().ok()?)));
        let mut promotions: Vec<_> = read.filter(|(_, promotion)| fits(promotion)).collect();
        promotions.sort_by(|(made, a), (later, b)| (later, &b.key).cmp(&(made, &a.key)));
        Ok(promotions.into_iter().map(|(_, promotion)| promotion).skip(query.skip).take(query.limit).collect())
    }

    /// What is removed here is gone: the collected log is the past.
    async fn proposal(&self, _: &PromotionKey) -> Result<Option<PlainProposal>, StoreError> {
        Ok(None)
    }
}
