//! How a client prefers to be answered: RFC 7240.

use std::time::Duration;

use axum::http::HeaderMap;

/// The longest that anybody waits.
const LONGEST: u64 = 60;

/// How long to wait for an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefer {
    /// It is not said.
    Unsaid,
    /// That many seconds.
    Wait(u64),
    /// Not at all.
    Async,
}

impl Prefer {
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let lines = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
        for wish in lines.flat_map(|line| line.split(',')) {
            let wish = wish.split(';').next().unwrap_or_default();
            let (name, value) = wish.split_once('=').unwrap_or((wish, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "respond-async" => return Self::Async,
                "wait" => {
                    if let Ok(seconds) = value.trim().trim_matches('"').parse::<u64>() {
                        return Self::Wait(seconds.min(LONGEST));
                    }
                }
                _ => {}
            }
        }
        Self::Unsaid
    }

    /// How long to wait, if it is usual to wait that long.
    pub(crate) fn time(self, usual: u64) -> Duration {
        Duration::from_secs(match self {
            Self::Unsaid => usual,
            Self::Wait(seconds) => seconds,
            Self::Async => 0,
        })
    }

    /// What to answer in `Preference-Applied`.
    pub(crate) fn applied(self) -> Option<String> {
        match self {
            Self::Unsaid => None,
            Self::Wait(seconds) => Some(format!("wait={seconds}")),
            Self::Async => Some("respond-async".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wish_that_makes_sense_counts() {
        let read = |line: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert("prefer", axum::http::HeaderValue::from_static(line));
            Prefer::read(&headers)
        };
        assert_eq!(read("wait=10"), Prefer::Wait(10));
        assert_eq!(read("handling=lenient, Wait = \"5\"; x=1"), Prefer::Wait(5));
        assert_eq!(read("wait=100000"), Prefer::Wait(60));
        assert_eq!(read("respond-async, wait=10"), Prefer::Async);
        assert_eq!(read("wait=soon"), Prefer::Unsaid);
    }
}
