//! What cannot be read any more. It is told, left where it is, and does not stop anything else.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, PoisonError},
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

/// The rows that were found damaged.
#[derive(Default)]
pub(super) struct Damage(Mutex<BTreeMap<RowKey, String>>);

impl Damage {
    pub(super) fn found(&self, key: RowKey, reason: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, reason);
    }

    /// The row was written anew, or is gone.
    pub(super) fn mended(&self, key: &RowKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    pub(super) fn problems(&self) -> Vec<StoreProblem> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|(key, reason)| StoreProblem { record: key.to_string(), reason: reason.clone() }).collect()
    }
}
