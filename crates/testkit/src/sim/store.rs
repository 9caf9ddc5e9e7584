//! A store in memory.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{Stream, stream};
use tokio::sync::Notify;
use weir_ports::{Notice, Record, RecordKey, RecordVersion, Store, StoreError, Stored};

use super::fate::{Fate, Turn};

/// Records in memory, under some fate.
#[derive(Debug, Clone)]
pub struct SimStore {
    shared: Arc<Shared>,
    fate: Fate,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    version: u64,
    records: BTreeMap<RecordKey, Stored>,
    log: Vec<Notice>,
}

impl SimStore {
    pub(super) fn new(fate: Fate) -> Self {
        Self { shared: Arc::default(), fate }
    }

    pub(super) fn under(&self, fate: Fate) -> Self {
        Self { shared: self.shared.clone(), fate }
    }

    /// What is chosen of the records, as they are now.
    pub fn select<T>(&self, choose: impl Fn(&Record) -> Option<T>) -> Vec<T> {
        self.state().records.values().filter_map(|stored| choose(&stored.record)).collect()
    }

    /// How often anything was written.
    pub fn writes(&self) -> usize {
        self.state().log.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a change, if fate lets it through.
    async fn change<T>(&self, change: impl FnOnce(&mut State) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let lost = || StoreError::Unavailable("the weather is bad".to_owned());
        let turn = self.fate.before().await;
        if turn == Turn::Refused {
            return Err(lost());
        }
        let done = change(&mut self.state());
        self.shared.changed.notify_waiters();
        self.fate.after().await;
        if turn == Turn::Lost { Err(lost()) } else { done }
    }
}

impl State {
    fn keep(&mut self, record: Record) -> RecordVersion {
        self.version += 1;
        let stored = Stored { record, version: RecordVersion(self.version) };
        self.log.push(Notice::Changed(stored.clone()));
        self.records.insert(stored.record.key(), stored);
        RecordVersion(self.version)
    }
}

impl Store for SimStore {
    async fn get(&self, key: &RecordKey) -> Result<Option<Stored>, StoreError> {
        self.change(|state| Ok(state.records.get(key).cloned())).await
    }

    async fn freezes(&self) -> Result<Vec<Stored>, StoreError> {
        let is_freeze = |stored: &&Stored| matches!(stored.record, Record::Freeze(_));
        self.change(|state| Ok(state.records.values().filter(is_freeze).cloned().collect())).await
    }

    async fn create(&self, record: Record) -> Result<RecordVersion, StoreError> {
        self.change(|state| {
            let key = record.key();
            if state.records.contains_key(&key) {
                return Err(StoreError::Exists(key));
            }
            Ok(state.keep(record))
        })
        .await
    }

    async fn replace(&self, record: Record, at: RecordVersion) -> Result<RecordVersion, StoreError> {
        self.change(|state| {
            let key = record.key();
            if state.records.get(&key).is_none_or(|known| known.version != at) {
                return Err(StoreError::Moved(key));
            }
            Ok(state.keep(record))
        })
        .await
    }

    async fn remove(&self, key: &RecordKey, at: RecordVersion) -> Result<(), StoreError> {
        self.change(|state| {
            let Some(known) = state.records.get(key) else { return Ok(()) };
            if known.version != at {
                return Err(StoreError::Moved(key.clone()));
            }
            state.records.remove(key);
            state.version += 1;
            state.log.push(Notice::Removed(key.clone(), RecordVersion(state.version)));
            Ok(())
        })
        .await
    }

    fn watch(&self) -> impl Stream<Item = Notice> + Send + Unpin + 'static {
        let state = self.state();
        let listed = state.records.values().cloned().map(Notice::Changed).chain([Notice::Listed]);
        let watcher = Watcher {
            shared: self.shared.clone(),
            fate: self.fate.clone(),
            waiting: listed.collect(),
            listing: true,
            seen: state.log.len(),
        };
        Box::pin(stream::unfold(watcher, |mut watcher| async move { Some((watcher.next().await, watcher)) }))
    }
}

struct Watcher {
    shared: Arc<Shared>,
    fate: Fate,
    waiting: VecDeque<Notice>,
    listing: bool,
    seen: usize,
}

impl Watcher {
    async fn next(&mut self) -> Notice {
        loop {
            let shared = self.shared.clone();
            let changed = shared.changed.notified();
            let news: Vec<_> = shared.state.lock().unwrap_or_else(PoisonError::into_inner).log[self.seen..].to_vec();
            self.seen += news.len();
            self.waiting.extend(news);
            if self.waiting.is_empty() {
                changed.await;
                continue;
            }
            if !self.listing {
                self.fate.delay().await;
            }
            let Some(notice) = self.take() else { continue };
            if notice == Notice::Listed {
                self.listing = false;
            } else if !self.listing && self.fate.chance().happens(self.fate.weather().repeated) {
                self.waiting.push_front(notice.clone());
            }
            return notice;
        }
    }

    /// The next notice, or one of another record that came after it.
    fn take(&mut self) -> Option<Notice> {
        if !self.listing && self.fate.chance().happens(self.fate.weather().reordered) {
            let first = self.waiting.front().and_then(key);
            let second = self.waiting.get(1).and_then(key);
            if second.is_some() && first != second {
                return self.waiting.remove(1);
            }
        }
        self.waiting.pop_front()
    }
}

fn key(notice: &Notice) -> Option<RecordKey> {
    match notice {
        Notice::Changed(stored) => Some(stored.record.key()),
        Notice::Removed(key, _) => Some(key.clone()),
        Notice::Listed => None,
    }
}
