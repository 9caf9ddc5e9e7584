//! One client for each forge and credentials, used again and again.

use std::sync::{Arc, Mutex, PoisonError};

use super::Fingerprint;

/// How many are kept. Who has more forges and credentials than this opens some connections anew.
const MOST: usize = 256;

/// What was made for a forge and credentials, the one that was used last at the end.
#[derive(Debug)]
pub(crate) struct Pool<T>(Mutex<Vec<(Fingerprint, Arc<T>)>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// What was made before, or is made now.
    pub(crate) fn get<E>(&self, key: Fingerprint, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match all.iter().position(|(known, _)| *known == key) {
            Some(place) => all.remove(place).1,
            None => Arc::new(make()?),
        };
        if all.len() == MOST {
            all.remove(0);
        }
        all.push((key, Arc::clone(&found)));
        Ok(found)
    }
}
