//! What befalls a call: delay, failure before or after it had its effect, and the crash of whoever made it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::sync::Notify;

use super::Chance;

/// How bad it is, in times out of a thousand calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weather {
    /// The longest that a call takes, in milliseconds.
    pub delay: u64,
    /// A call takes up to a hundred times as long.
    pub slow: u64,
    /// A call fails and has had no effect.
    pub refused: u64,
    /// A call fails and has had its effect.
    pub answer_lost: u64,
    /// A change is told again.
    pub repeated: u64,
    /// A change is told before an earlier one of another record.
    pub reordered: u64,
}

/// What befalls the calls of one run of an engine.
#[derive(Debug, Clone)]
pub struct Fate {
    chance: Chance,
    weather: Weather,
    calls: Arc<AtomicU64>,
    crash_at: u64,
    crashed: Arc<Notify>,
}

/// Whether a call that comes through tells so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// It works.
    Well,
    /// It has no effect, and says that it failed.
    Refused,
    /// It has its effect, and says that it failed.
    Lost,
}

impl Fate {
    /// Nothing ever goes wrong.
    pub fn calm(chance: Chance) -> Self {
        Self::new(chance, Weather::default(), None)
    }

    /// Calls go wrong as the weather has it. The one with the number `crash_at` never returns: it is the crash.
    pub fn new(chance: Chance, weather: Weather, crash_at: Option<u64>) -> Self {
        let crash_at = crash_at.unwrap_or(u64::MAX);
        Self { chance, weather, calls: Arc::default(), crash_at, crashed: Arc::default() }
    }

    /// Returns when the engine has crashed.
    pub async fn crashed(&self) {
        self.crashed.notified().await;
    }

    pub(super) fn chance(&self) -> &Chance {
        &self.chance
    }

    pub(super) fn weather(&self) -> &Weather {
        &self.weather
    }

    /// Before a call has its effect.
    pub(super) async fn before(&self) -> Turn {
        self.count().await;
        self.delay().await;
        if self.chance.happens(self.weather.refused) {
            return Turn::Refused;
        }
        if self.chance.happens(self.weather.answer_lost) { Turn::Lost } else { Turn::Well }
    }

    /// After a call had its effect.
    pub(super) async fn after(&self) {
        self.count().await;
        self.delay().await;
    }

    async fn count(&self) {
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.crash_at {
            self.crashed.notify_one();
            std::future::pending::<()>().await;
        }
    }

    pub(super) async fn delay(&self) {
        if self.weather.delay > 0 {
            let longest =
                if self.chance.happens(self.weather.slow) { self.weather.delay * 100 } else { self.weather.delay };
            tokio::time::sleep(Duration::from_millis(self.chance.below(longest))).await;
        }
    }
}
