//! What is to be done next, and when: one job of a kind and name at a time, never twice at once.
//!
//! It knows no clock and spawns nothing; whoever drives it says what time it is.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

/// Jobs that wait for their time, and jobs that are being done.
#[derive(Debug)]
pub(crate) struct Queue<J> {
    waiting: BTreeMap<J, Timestamp>,
    /// The same, in the order of their times.
    order: BTreeSet<(Timestamp, J)>,
    running: BTreeMap<J, Option<Timestamp>>,
}

impl<J: Clone + Ord> Queue<J> {
    pub(crate) fn new() -> Self {
        Self { waiting: BTreeMap::new(), order: BTreeSet::new(), running: BTreeMap::new() }
    }

    /// A job shall be done at that time, or earlier if that was asked for before. One that is being done right now is
    /// done again after that: it may have looked before whatever it was asked for happened.
    pub(crate) fn add(&mut self, job: J, at: Timestamp) {
        if let Some(again) = self.running.get_mut(&job) {
            *again = Some(again.map_or(at, |known| known.min(at)));
            return;
        }
        match self.waiting.get(&job) {
            Some(known) if *known <= at => return,
            Some(known) => {
                self.order.remove(&(*known, job.clone()));
            }
            None => {}
        }
        self.order.insert((at, job.clone()));
        self.waiting.insert(job, at);
    }

    /// The next job whose time has come. It is being done until [`done`](Self::done).
    pub(crate) fn take(&mut self, now: Timestamp) -> Option<J> {
        let due = self.order.first().is_some_and(|(at, _)| *at <= now);
        let (_, job) = due.then(|| self.order.pop_first()).flatten()?;
        self.waiting.remove(&job);
        self.running.insert(job.clone(), None);
        Some(job)
    }

    /// A job was done, and wants to be done again at that time.
    pub(crate) fn done(&mut self, job: J, next: Option<Timestamp>) {
        let again = self.running.remove(&job).flatten();
        let at = [again, next].into_iter().flatten().min();
        if let Some(at) = at {
            self.add(job, at);
        }
    }

    /// When the next job is due.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Whether a job waits or is being done.
    pub(crate) fn has(&self, job: &J) -> bool {
        self.waiting.contains_key(job) || self.running.contains_key(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(n: i64) -> Timestamp {
        Timestamp::from_second(n).unwrap()
    }

    #[test]
    fn the_earliest_time_that_was_asked_for_counts() {
        let mut queue = Queue::new();
        queue.add("a", second(20));
        queue.add("a", second(10));
        queue.add("a", second(30));
        assert_eq!((queue.take(second(9)), queue.next()), (None, Some(second(10))));
        assert_eq!((queue.take(second(10)), queue.take(second(99))), (Some("a"), None));
    }

    #[test]
    fn jobs_come_in_the_order_of_their_times() {
        let mut queue = Queue::new();
        for (job, at) in [("b", 2), ("c", 3), ("a", 1)] {
            queue.add(job, second(at));
        }
        let taken: Vec<_> = std::iter::from_fn(|| queue.take(second(9))).collect();
        assert_eq!(taken, ["a", "b", "c"]);
    }

    #[test]
    fn what_is_asked_for_while_it_is_being_done_is_done_again_and_never_twice_at_once() {
        let mut queue = Queue::new();
        queue.add("a", second(1));
        assert_eq!(queue.take(second(1)), Some("a"));
        queue.add("a", second(2));
        assert_eq!(queue.take(second(9)), None);
        queue.done("a", Some(second(50)));
        assert_eq!(queue.take(second(2)), Some("a"));
        queue.done("a", None);
        assert!(!queue.has(&"a"));
    }
}
