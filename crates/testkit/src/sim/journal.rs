//! A journal that only listens.

use std::sync::{Arc, Mutex, PoisonError};

use weir_core::{PlainProposal, Promotion, PromotionKey};
use weir_ports::{Deed, DeedQuery, HistoryQuery, Journal, Noted, StoreError};

/// What people did, in memory.
#[derive(Debug, Clone, Default)]
pub struct SimJournal(Arc<Mutex<Vec<Deed>>>);

impl Journal for SimJournal {
    async fn note(&self, deed: &Deed) -> Result<(), StoreError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(deed.clone());
        Ok(())
    }

    async fn deeds(&self, query: &DeedQuery) -> Result<Vec<Noted>, StoreError> {
        let deeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let numbered = deeds.iter().enumerate().rev().take(query.limit);
        Ok(numbered.map(|(place, deed)| Noted { number: place as u64, deed: deed.clone() }).collect())
    }

    async fn promotions(&self, _: &HistoryQuery) -> Result<Vec<Promotion>, StoreError> {
        Ok(Vec::new())
    }

    async fn proposal(&self, _: &PromotionKey) -> Result<Option<PlainProposal>, StoreError> {
        Ok(None)
    }
}
