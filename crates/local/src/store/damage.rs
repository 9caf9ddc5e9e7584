//! What cannot be read any more. It is told, left where it is, and does not stop anything else.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::row::RowKey;

/// Something in the store that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreProblem {
    /// Which record.
    pub record: String,
    /// Why it cannot be read.
    pub reason: String,
}

impl fmt::Display for StoreProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { record, reason } = self;
        write!(f, "{record} is kept, but cannot be read: {reason}; mend its JSON in `weir.db`, or restore a backup")
    }
}

/// What was found damaged: rows, and all of them for as long as they cannot be listed.
#[derive(Default)]
pub(super) struct Damage(Mutex<Found>);

#[derive(Default)]
struct Found {
    rows: BTreeMap<RowKey, String>,
    list: Option<String>,
}

impl Damage {
    pub(super) fn found(&self, key: RowKey, reason: String) {
        self.lock().rows.insert(key, reason);
    }

    /// The row was written anew, or is gone.
    pub(super) fn mended(&self, key: &RowKey) {
        self.lock().rows.remove(key);
    }

    /// Why the records could not be listed at the last attempt. `None`: they could.
    pub(super) fn listed(&self, failure: Option<String>) {
        self.lock().list = failure;
    }

    pub(super) fn problems(&self) -> Vec<StoreProblem> {
        let found = self.lock();
        let list = found.list.iter().map(|reason| ("everything".to_owned(), reason));
        let rows = found.rows.iter().map(|(key, reason)| (key.to_string(), reason));
        list.chain(rows).map(|(record, reason)| StoreProblem { record, reason: reason.clone() }).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
