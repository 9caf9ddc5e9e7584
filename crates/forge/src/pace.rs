//! How patient Weir is with a forge.

use std::time::Duration;

/// How patient Weir is with a forge.
#[derive(Debug, Clone)]
pub struct Pace {
    /// How long one request may take.
    pub timeout: Duration,
    /// How often a request that may be repeated is sent altogether.
    pub attempts: u32,
    /// How long to wait before the second attempt; twice as long before the next, and so on.
    pub pause: Duration,
    /// How long a forge may ask to wait before it counts as a limit.
    pub wait: Duration,
    /// How many requests are under way at a time, with one set of credentials.
    pub at_once: usize,
    /// How long a forge says that a pull request cannot be merged before that is believed. It says so too while it
    /// has not found out, and takes its time when the base of many pull requests has moved.
    pub settled: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            attempts: 3,
            pause: Duration::from_millis(250),
            wait: Duration::from_secs(5),
            at_once: 8,
            settled: Duration::from_mins(1),
        }
    }
}
