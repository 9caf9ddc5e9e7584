//! When a forge wants to be left alone.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp, fmt::rfc2822::DateTimeParser};
use reqwest::{
    StatusCode,
    header::{HeaderMap, RETRY_AFTER},
};

/// How long to wait where a forge wants fewer requests and does not say until when.
const USUAL: SignedDuration = SignedDuration::from_mins(1);

/// No forge is left alone for longer than this, whatever it says.
const LONGEST: SignedDuration = SignedDuration::from_hours(1);

/// Until when nothing is sent with these credentials.
#[derive(Debug, Default)]
pub(super) struct Budget(Mutex<Option<Timestamp>>);

impl Budget {
    /// Until when nothing may be sent, if that is still to come.
    pub(super) fn spent(&self, now: Timestamp) -> Option<Timestamp> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).filter(|until| *until > now)
    }

    pub(super) fn spend(&self, until: Timestamp) {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *spent = Some(spent.map_or(until, |known| known.max(until)));
    }
}

/// What an answer asks of whoever sends the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// Nothing.
    Nothing,
    /// To try again, after this time if it is given.
    Again(Option<SignedDuration>),
    /// To send nothing before then.
    Silence(Timestamp),
}

/// Reads what an answer asks for. Waits of up to `wait` are no limit.
pub(super) fn asks(status: StatusCode, headers: &HeaderMap, now: Timestamp, wait: SignedDuration) -> Asks {
    let after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).and_then(|text| pause(text, now));
    let after = after.map(|after| after.clamp(SignedDuration::ZERO, LONGEST));
    let until = |after: SignedDuration| now.checked_add(after).unwrap_or(now);
    match status {
        StatusCode::TOO_MANY_REQUESTS => Asks::Silence(until(after.unwrap_or(USUAL))),
        // Some forges say so with the status for what is not allowed.
        StatusCode::FORBIDDEN => after.map_or(Asks::Nothing, |after| Asks::Silence(until(after))),
        StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => match after {
            Some(after) if after > wait => Asks::Silence(until(after)),
            after => Asks::Again(after),
        },
        _ => Asks::Nothing,
    }
}

/// `Retry-After`: seconds, or a date.
fn pause(text: &str, now: Timestamp) -> Option<SignedDuration> {
    if let Ok(seconds) = text.trim().parse::<u32>() {
        return Some(SignedDuration::from_secs(seconds.into()));
    }
    let until = DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    Some(until.duration_since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(status: u16, after: Option<&str>) -> Asks {
        let mut headers = HeaderMap::new();
        if let Some(after) = after {
            headers.insert(RETRY_AFTER, after.parse().unwrap());
        }
        asks(StatusCode::from_u16(status).unwrap(), &headers, now(), SignedDuration::from_secs(5))
    }

    fn now() -> Timestamp {
        "2026-08-07T12:00:00Z".parse().unwrap()
    }

    fn silence(until: &str) -> Asks {
        Asks::Silence(until.parse().unwrap())
    }

    #[test]
    fn a_short_wait_is_kept_and_a_long_one_is_a_limit() {
        assert_eq!(ask(503, Some("3")), Asks::Again(Some(SignedDuration::from_secs(3))));
        assert_eq!(ask(502, None), Asks::Again(None));
        assert_eq!(ask(503, Some("90")), silence("2026-08-07T12:01:30Z"));
        assert_eq!(ask(503, Some("Fri, 07 Aug 2026 12:10:00 GMT")), silence("2026-08-07T12:10:00Z"));
        assert_eq!(ask(429, Some("1")), silence("2026-08-07T12:00:01Z"));
        assert_eq!(ask(429, None), silence("2026-08-07T12:01:00Z"));
        assert_eq!(ask(429, Some("soon")), silence("2026-08-07T12:01:00Z"));
        assert_eq!(ask(403, Some("30")), silence("2026-08-07T12:00:30Z"));
    }

    #[test]
    fn no_forge_keeps_weir_away_for_ever() {
        assert_eq!(ask(429, Some("4000000000")), silence("2026-08-07T13:00:00Z"));
        assert_eq!(ask(429, Some("Fri, 07 Aug 2026 11:00:00 GMT")), silence("2026-08-07T12:00:00Z"));
    }

    #[test]
    fn other_answers_ask_for_nothing() {
        for status in [200, 304, 403, 404, 500] {
            assert_eq!(ask(status, None), Asks::Nothing, "{status}");
        }
        assert_eq!(ask(404, Some("30")), Asks::Nothing);
    }

    #[test]
    fn a_budget_is_spent_until_the_last_moment_that_was_named() {
        let budget = Budget::default();
        assert_eq!(budget.spent(now()), None);
        let later = now().checked_add(SignedDuration::from_secs(9)).unwrap();
        budget.spend(later);
        budget.spend(now());
        assert_eq!(budget.spent(now()), Some(later));
        assert_eq!(budget.spent(later), None);
    }
}
