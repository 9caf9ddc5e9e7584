//! The time of a plan.

use std::cell::Cell;

use jiff::Timestamp;

/// The time at which a plan is made, and the next moment at which time alone changes it.
pub(crate) struct Moment {
    pub(crate) now: Timestamp,
    next: Cell<Option<Timestamp>>,
}

impl Moment {
    pub(crate) fn new(now: Timestamp) -> Self {
        Self { now, next: Cell::new(None) }
    }

    /// The plan changes at that time, if nothing else happens.
    pub(crate) fn changes(&self, at: Option<Timestamp>) {
        if let Some(at) = at.filter(|at| *at > self.now) {
            self.next.set(Some(self.next.get().map_or(at, |next| next.min(at))));
        }
    }

    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.next.get()
    }
}
