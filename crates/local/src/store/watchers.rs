//! Those who follow the store, and what waits to be told to them.
//!
//! A follower that is slow makes nobody wait. What it has not been told yet is kept once for each record, the last state
//! only, and a record that came and went meanwhile is forgotten: so what waits is never more than the records that there
//! are and those that the follower believes to be there.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use weir_ports::{Notice, RecordKey, RecordVersion, Stored};

/// A change that is on the disk.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) key: RecordKey,
    pub(super) version: RecordVersion,
    pub(super) change: Change,
}

/// What happened to a record.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Created(Arc<Stored>),
    Replaced(Arc<Stored>),
    Removed,
}

/// Everybody who follows.
#[derive(Default)]
pub(super) struct Watchers(Mutex<Followers>);

#[derive(Default)]
struct Followers {
    all: Vec<Arc<Watcher>>,
    closed: bool,
}

impl Watchers {
    /// From now on the watcher is told every change.
    pub(super) fn register(&self) -> Arc<Watcher> {
        let watcher = Arc::new(Watcher::default());
        let mut followers = guard(&self.0);
        if followers.closed {
            watcher.close();
        }
        followers.all.push(Arc::clone(&watcher));
        watcher
    }

    pub(super) fn unregister(&self, watcher: &Arc<Watcher>) {
        guard(&self.0).all.retain(|other| !Arc::ptr_eq(other, watcher));
    }

    /// Tells everybody what was committed, in the order in which it was.
    pub(super) fn publish(&self, events: &[Event]) {
        for watcher in &guard(&self.0).all {
            watcher.hear(events);
        }
    }

    /// Nothing will change any more.
    pub(super) fn close(&self) {
        let mut followers = guard(&self.0);
        followers.closed = true;
        for watcher in &followers.all {
            watcher.close();
        }
    }
}

/// One who follows.
#[derive(Default)]
pub(super) struct Watcher {
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Default)]
struct Waiting {
    /// By the time at which a record was first waiting, so that one which changes all the time has its turn too.
    queue: BTreeMap<u64, Entry>,
    places: BTreeMap<RecordKey, u64>,
    last_place: u64,
    /// The version of the store at which everything was listed. What is not newer is known.
    listed: Option<RecordVersion>,
    closed: bool,
}

struct Entry {
    key: RecordKey,
    version: RecordVersion,
    /// What it is now. `None`: gone.
    state: Option<Arc<Stored>>,
    /// Whether the follower may have been told of an earlier state, and so has to be told that it is gone.
    known: bool,
}

impl Watcher {
    fn hear(&self, events: &[Event]) {
        let mut waiting = guard(&self.waiting);
        for event in events {
            waiting.add(event);
        }
        drop(waiting);
        self.bell.notify_one();
    }

    fn close(&self) {
        guard(&self.waiting).closed = true;
        self.bell.notify_one();
    }

    /// Everything up to this version was read from the disk.
    pub(super) fn listed(&self, version: RecordVersion) {
        let mut waiting = guard(&self.waiting);
        waiting.listed = Some(version);
        let old: Vec<_> = waiting.queue.iter().filter(|(_, entry)| entry.version <= version).map(|(n, _)| *n).collect();
        for place in old {
            waiting.take(place);
        }
    }

    /// What to tell next; waits until there is something. `None`: the store is closed.
    pub(super) async fn next(&self) -> Option<Notice> {
        loop {
            // Asked for before looking, so that a bell in between is heard.
            let bell = self.bell.notified();
            {
                let mut waiting = guard(&self.waiting);
                let first = waiting.queue.keys().next().copied();
                if let Some(entry) = first.and_then(|place| waiting.take(place)) {
                    return Some(entry.into_notice());
                }
                if waiting.closed {
                    return None;
                }
            }
            bell.await;
        }
    }
}

impl Waiting {
    fn add(&mut self, event: &Event) {
        if self.listed.is_some_and(|listed| event.version <= listed) {
            return;
        }
        let (state, is_new) = match &event.change {
            Change::Created(stored) => (Some(Arc::clone(stored)), true),
            Change::Replaced(stored) => (Some(Arc::clone(stored)), false),
            Change::Removed => (None, false),
        };
        match self.places.get(&event.key).copied() {
            Some(place) if state.is_none() && self.queue.get(&place).is_some_and(|entry| !entry.known) => {
                self.take(place);
            }
            Some(place) => {
                if let Some(entry) = self.queue.get_mut(&place) {
                    (entry.version, entry.state) = (event.version, state);
                }
            }
            None => {
                self.last_place += 1;
                // Before the list is read, it is not known what will be in it.
                let known = !is_new || self.listed.is_none();
                let entry = Entry { key: event.key.clone(), version: event.version, state, known };
                self.queue.insert(self.last_place, entry);
                self.places.insert(event.key.clone(), self.last_place);
            }
        }
    }

    fn take(&mut self, place: u64) -> Option<Entry> {
        let entry = self.queue.remove(&place)?;
        self.places.remove(&entry.key);
        Some(entry)
    }
}

impl Entry {
    fn into_notice(self) -> Notice {
        match self.state {
            Some(stored) => Notice::Changed(Arc::unwrap_or_clone(stored)),
            None => Notice::Removed(self.key, self.version),
        }
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use weir_ports::{PipelineRecord, Record};

    use super::*;

    fn event(name: &str, version: u64, change: fn(Arc<Stored>) -> Change) -> Event {
        let record = Record::Pipeline(format!("default/{name}").parse().unwrap(), PipelineRecord::default());
        let (key, version) = (record.key(), RecordVersion(version));
        Event { key, version, change: change(Arc::new(Stored { record, version })) }
    }

    fn waiting(watcher: &Watcher) -> Vec<u64> {
        guard(&watcher.waiting).queue.values().map(|entry| entry.version.0).collect()
    }

    #[test]
    fn a_record_waits_once_however_often_it_changes() {
        let watcher = Watcher::default();
        watcher.listed(RecordVersion(0));
        for version in 1..1000 {
            watcher.hear(&[event("a", version, Change::Replaced)]);
        }
        assert_eq!(waiting(&watcher), [999]);
    }

    #[test]
    fn a_record_that_came_and_went_is_not_told() {
        let watcher = Watcher::default();
        watcher.listed(RecordVersion(0));
        watcher.hear(&[
            event("a", 1, Change::Created),
            event("a", 2, Change::Replaced),
            event("b", 3, Change::Created),
        ]);
        watcher.hear(&[event("a", 4, |_| Change::Removed)]);
        assert_eq!(waiting(&watcher), [3]);
    }

    #[test]
    fn that_a_listed_record_is_gone_is_told_even_if_it_came_while_the_list_was_read() {
        let watcher = Watcher::default();
        watcher.hear(&[event("a", 1, Change::Created), event("a", 2, |_| Change::Removed)]);
        watcher.listed(RecordVersion(1));
        assert_eq!(waiting(&watcher), [2]);
    }

    #[test]
    fn what_the_list_knows_is_not_told_again() {
        let watcher = Watcher::default();
        watcher.hear(&[event("a", 1, Change::Created)]);
        watcher.listed(RecordVersion(2));
        watcher.hear(&[event("b", 2, Change::Created), event("c", 3, Change::Created)]);
        assert_eq!(waiting(&watcher), [3]);
    }
}
