//! Times that people write.

use std::str::FromStr;

use jiff::Timestamp;
use serde::Deserialize;

/// A time with a zone, such as `2026-11-13T14:30:00Z`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Time(pub(crate) Timestamp);

impl FromStr for Time {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |_| anyhow::anyhow!("`{text}` is not a time with a zone: write one such as `2026-11-13T14:30:00Z`");
        text.parse().map(Self).map_err(wrong)
    }
}

impl TryFrom<String> for Time {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Time> for Timestamp {
    fn from(time: Time) -> Self {
        time.0
    }
}

/// The time, or the default.
pub(crate) fn or(written: Option<Time>, default: Timestamp) -> Timestamp {
    written.map_or(default, |time| time.0)
}

/// The time, to the second: people read it.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}
