//! The time of this machine.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use jiff::Timestamp;
use weir_ports::Clock;

/// How long is slept at most before the clock is read again.
const NAP: Duration = Duration::from_secs(10);

/// The clock of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    /// Sleeps in naps: the clock may be set, and a machine may be suspended, and neither moves a timer.
    async fn sleep_until(&self, moment: Timestamp) {
        while let Ok(left) = Duration::try_from(moment.duration_since(Timestamp::now()))
            && !left.is_zero()
        {
            tokio::time::sleep(left.min(NAP)).await;
        }
    }

    /// Every [`RandomState`] has keys that were drawn from the system's source, so an empty hash of one is a number
    /// that nobody foresees. Good enough to spread retries, and used for nothing that has to be secret.
    fn random(&self) -> u64 {
        RandomState::new().hash_one(())
    }
}
