//! A clock that goes on when everybody waits.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;
use weir_ports::Clock;

use super::Chance;

/// The paused time of the runtime, as a clock.
#[derive(Debug, Clone)]
pub struct SimClock {
    begin: Instant,
    chance: Chance,
}

impl SimClock {
    pub(super) fn new(chance: Chance) -> Self {
        Self { begin: Instant::now(), chance }
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.begin.elapsed()).unwrap_or_default();
        let begin = Timestamp::from_second(1_700_000_000).unwrap_or_default();
        begin.checked_add(passed).unwrap_or(begin)
    }

    async fn sleep_until(&self, moment: Timestamp) {
        let left = Duration::try_from(moment.duration_since(self.now())).unwrap_or_default();
        tokio::time::sleep(left).await;
    }

    fn random(&self) -> u64 {
        self.chance.next()
    }
}
