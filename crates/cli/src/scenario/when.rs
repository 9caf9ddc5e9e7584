//! Times in a scenario.

use anyhow::{Result, anyhow};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

/// A time, or a time after the step before: `2026-11-13T14:30:00Z`, `+1h30m`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(super) enum When {
    At(Timestamp),
    After(SignedDuration),
}

impl TryFrom<String> for When {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        if let Some(duration) = text.strip_prefix('+') {
            return Ok(Self::After(weir_api::parse_duration(duration)?));
        }
        let time = text.parse().map_err(|_| {
            anyhow!(
                "`{text}` is not a time: write one such as `2026-11-13T14:30:00Z`, or `+1h30m` after the step before"
            )
        })?;
        Ok(Self::At(time))
    }
}

impl When {
    pub(super) fn is_relative(self) -> bool {
        matches!(self, Self::After(_))
    }

    /// The time, if the step before was at `last`.
    pub(super) fn after(self, last: Option<Timestamp>) -> Result<Timestamp> {
        match (self, last) {
            (Self::At(time), _) => Ok(time),
            (Self::After(duration), Some(last)) => Ok(last.checked_add(duration)?),
            (Self::After(_), None) => Err(anyhow!("after what? write a time, or `start`")),
        }
    }
}

/// A stretch of time: `5m`, `1h30m`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Duration(pub(super) SignedDuration);

impl TryFrom<String> for Duration {
    type Error = weir_api::DurationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        weir_api::parse_duration(&text).map(Self)
    }
}
