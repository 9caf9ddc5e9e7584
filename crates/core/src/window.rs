//! Times at which an environment may be entered: periods that begin by a cron schedule, in a time zone.

use std::sync::{Arc, Mutex};

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// Periods at which an environment may, or may not, be entered.
///
/// It is open while a period of `allow` lasts (or if there is none in the list) and no period of `deny` does.
#[derive(Debug, Clone, Default)]
pub struct Window {
    allow: Vec<Period>,
    deny: Vec<Period>,
    /// The last answer, and since when it holds. Schedules are slow to search, and an answer holds for hours.
    known: Arc<Mutex<Option<(Timestamp, WindowState)>>>,
}

/// Whether a window is open, and until when that is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowState {
    /// Open or closed.
    pub open: bool,
    /// When that changes. `None`: never, as far as can be seen.
    pub changes: Option<Timestamp>,
}

/// How many beginnings and ends of periods are looked at for the next change. What does not change within so many (270
/// years of days) does not change.
const SIGHT: usize = 100_000;

impl Window {
    /// Open during `allow` (or always, if that is empty), and closed during `deny` whatever `allow` says.
    pub fn new(allow: Vec<Period>, deny: Vec<Period>) -> Self {
        Self { allow, deny, known: Arc::default() }
    }

    /// Whether it is open at that time, and when this changes.
    pub fn at(&self, now: Timestamp) -> WindowState {
        if let Ok(known) = self.known.lock()
            && let Some((since, state)) = *known
            && since <= now
            && state.changes.is_none_or(|changes| now < changes)
        {
            return state;
        }
        let open = self.is_open(now);
        let state = WindowState { open, changes: self.next_change(now, open) };
        if let Ok(mut known) = self.known.lock() {
            *known = Some((now, state));
        }
        state
    }

    fn is_open(&self, at: Timestamp) -> bool {
        let lasts = |period: &Period| period.end(at).is_some();
        (self.allow.is_empty() || self.allow.iter().any(lasts)) && !self.deny.iter().any(lasts)
    }

    /// Jumps from one moment at which it could change to the next.
    fn next_change(&self, now: Timestamp, open: bool) -> Option<Timestamp> {
        let mut at = now;
        for _ in 0..SIGHT {
            at = if open { self.may_close(at)? } else { self.may_open(at)? };
            if self.is_open(at) != open {
                return Some(at);
            }
        }
        None
    }

    /// The next moment at which a denied period begins, or the longest allowed one ends.
    fn may_close(&self, at: Timestamp) -> Option<Timestamp> {
        let denied = self.deny.iter().filter_map(|period| period.next_begin(at)).min();
        let allowed = self.allow.iter().filter_map(|period| period.end(at)).max();
        denied.into_iter().chain(allowed).min().filter(|at| *at < Timestamp::MAX)
    }

    /// The next moment at which the longest denied period is over, or an allowed one begins.
    fn may_open(&self, at: Timestamp) -> Option<Timestamp> {
        let denied = self.deny.iter().filter_map(|period| period.end(at)).max();
        let begins = || self.allow.iter().filter_map(|period| period.next_begin(at)).min();
        denied.or_else(begins).filter(|at| *at < Timestamp::MAX)
    }
}

impl PartialEq for Window {
    fn eq(&self, other: &Self) -> bool {
        self.allow == other.allow && self.deny == other.deny
    }
}

impl std::fmt::Display for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |periods: &[Period]| periods.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match (self.allow.is_empty(), self.deny.is_empty()) {
            (_, true) => write!(f, "open {}", list(&self.allow)),
            (true, false) => write!(f, "closed {}", list(&self.deny)),
            (false, false) => write!(f, "open {}; closed {}", list(&self.allow), list(&self.deny)),
        }
    }
}

/// Stretches of time of the same length that begin by a schedule.
#[derive(Debug, Clone)]
pub struct Period {
    cron: Arc<Cron>,
    schedule: Arc<str>,
    duration: SignedDuration,
    zone: TimeZone,
    zone_name: Arc<str>,
    /// Whether each stretch lasts until the next one begins, every day.
    always: bool,
}

/// Why a period cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PeriodError {
    /// The schedule.
    #[error("`{schedule}` is not a cron schedule: {problem}; write five fields, for example `0 9 * * MON-FRI`")]
    Schedule {
        /// As it was written.
        schedule: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The time zone.
    #[error("`{0}` is not a time zone: use a name such as `Europe/Berlin` or `UTC`")]
    Zone(String),
    /// The duration.
    #[error("a period of `{0}` is too short: it has to last at least a minute")]
    Duration(SignedDuration),
}

impl Period {
    /// A period that begins at every time of a cron schedule (five fields) in a time zone and lasts for `duration`.
    pub fn new(schedule: &str, duration: SignedDuration, zone: &str) -> Result<Self, PeriodError> {
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let cron = parser.parse(schedule).map_err(|error| PeriodError::Schedule {
            schedule: schedule.to_owned(),
            problem: plain(&error.to_string()),
        })?;
        if duration < SignedDuration::from_mins(1) {
            return Err(PeriodError::Duration(duration));
        }
        let found = TimeZone::get(zone).map_err(|_| PeriodError::Zone(zone.to_owned()))?;
        let always = has_no_gap(&cron, schedule, duration);
        let (schedule, zone_name) = (schedule.into(), zone.into());
        Ok(Self { cron: Arc::new(cron), schedule, duration, zone: found, zone_name, always })
    }

    /// When the stretch that `at` is in ends by its own schedule; `None` if `at` is in none.
    fn end(&self, at: Timestamp) -> Option<Timestamp> {
        if self.always {
            return Some(Timestamp::MAX);
        }
        let local = at.to_zoned(self.zone.clone());
        let begin = self.cron.find_previous_occurrence(&local, true).ok()?;
        let end = begin.timestamp().checked_add(self.duration).ok()?;
        (end > at).then_some(end)
    }

    /// The next moment after `at` at which a stretch begins.
    fn next_begin(&self, at: Timestamp) -> Option<Timestamp> {
        let local = at.to_zoned(self.zone.clone());
        self.cron.find_next_occurrence(&local, false).ok().map(|begin| begin.timestamp())
    }
}

/// Whether a schedule that is the same every day leaves no moment of the day uncovered.
fn has_no_gap(cron: &Cron, schedule: &str, duration: SignedDuration) -> bool {
    let fields: Vec<_> = schedule.split_whitespace().collect();
    if fields.len() != 5 || fields[2..].iter().any(|field| *field != "*") {
        return false;
    }
    let mut at = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
    let Ok(first) = cron.find_next_occurrence(&at, true) else { return false };
    at = first.clone();
    loop {
        let Ok(next) = cron.find_next_occurrence(&at, false) else { return false };
        if next.timestamp().duration_since(at.timestamp()) > duration {
            return false;
        }
        if next.timestamp().duration_since(first.timestamp()) >= SignedDuration::from_hours(24) {
            return true;
        }
        at = next;
    }
}

/// The library's sentence, without its prefixes and full stop.
fn plain(problem: &str) -> String {
    let problem = problem.rsplit(": ").next().unwrap_or(problem).trim_end_matches('.');
    problem.to_lowercase()
}

impl PartialEq for Period {
    fn eq(&self, other: &Self) -> bool {
        self.schedule == other.schedule && self.duration == other.duration && self.zone_name == other.zone_name
    }
}

impl std::fmt::Display for Period {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` for {:#} in {}", self.schedule, self.duration, self.zone_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn office() -> Period {
        Period::new("0 9 * * MON-FRI", SignedDuration::from_hours(8), "Europe/Berlin").unwrap()
    }

    #[test]
    fn a_window_is_open_during_its_periods_in_its_own_time_zone() {
        let window = Window::new(vec![office()], vec![]);
        let friday = window.at(time("2026-11-13T10:00:00+01:00"));
        assert_eq!(friday, WindowState { open: true, changes: Some(time("2026-11-13T17:00:00+01:00")) });
        let evening = window.at(time("2026-11-13T17:00:00+01:00"));
        assert_eq!(evening, WindowState { open: false, changes: Some(time("2026-11-16T09:00:00+01:00")) });
    }

    #[test]
    fn a_window_follows_daylight_saving_time() {
        let window = Window::new(vec![office()], vec![]);
        assert_eq!(window.at(time("2026-03-27T18:00:00Z")).changes, Some(time("2026-03-30T09:00:00+02:00")));
    }

    #[test]
    fn a_denied_period_closes_an_allowed_one() {
        let lunch = Period::new("0 12 * * *", SignedDuration::from_hours(1), "Europe/Berlin").unwrap();
        let window = Window::new(vec![office()], vec![lunch]);
        assert_eq!(window.at(time("2026-11-13T11:00:00+01:00")).changes, Some(time("2026-11-13T12:00:00+01:00")));
        let noon = window.at(time("2026-11-13T12:30:00+01:00"));
        assert_eq!(noon, WindowState { open: false, changes: Some(time("2026-11-13T13:00:00+01:00")) });
    }

    #[test]
    fn periods_that_touch_make_one_opening() {
        let hours = Period::new("0 * * * *", SignedDuration::from_hours(1), "UTC").unwrap();
        let night = Period::new("0 22 * * *", SignedDuration::from_hours(2), "UTC").unwrap();
        let window = Window::new(vec![hours], vec![night]);
        assert_eq!(window.at(time("2026-11-13T10:30:00Z")).changes, Some(time("2026-11-13T22:00:00Z")));
    }

    #[test]
    fn a_window_that_never_changes_says_so() {
        let never = Period::new("0 0 31 2 *", SignedDuration::from_hours(1), "UTC").unwrap();
        let denied = Window::new(vec![], vec![never.clone()]);
        assert_eq!(denied.at(time("2026-11-13T10:30:00Z")), WindowState { open: true, changes: None });
        let allowed = Window::new(vec![never], vec![]);
        assert_eq!(allowed.at(time("2026-11-13T10:30:00Z")), WindowState { open: false, changes: None });
    }

    #[test]
    fn a_period_without_gaps_is_always() {
        let always = Period::new("*/5 * * * *", SignedDuration::from_mins(5), "Europe/Berlin").unwrap();
        let now = time("2026-11-13T10:30:00Z");
        assert_eq!(Window::new(vec![always.clone()], vec![]).at(now), WindowState { open: true, changes: None });
        assert_eq!(Window::new(vec![], vec![always]).at(now), WindowState { open: false, changes: None });
        let gaps = Period::new("*/5 * * * *", SignedDuration::from_mins(4), "Europe/Berlin").unwrap();
        assert_eq!(Window::new(vec![gaps], vec![]).at(now).changes, Some(time("2026-11-13T10:34:00Z")));
    }

    #[test]
    fn a_window_sees_far_through_short_periods() {
        let hourly = Period::new("0 * * * *", SignedDuration::from_hours(1), "UTC").unwrap();
        let december = Period::new("0 0 1 12 *", SignedDuration::from_hours(744), "UTC").unwrap();
        let window = Window::new(vec![hourly], vec![december]);
        assert_eq!(window.at(time("2026-12-02T10:00:00Z")).changes, Some(time("2027-01-01T00:00:00Z")));
        assert_eq!(window.at(time("2026-01-02T10:00:00Z")).changes, Some(time("2026-12-01T00:00:00Z")));
        let weekend = Period::new("* * * * SAT,SUN", SignedDuration::from_mins(1), "UTC").unwrap();
        let window = Window::new(vec![], vec![weekend]);
        assert_eq!(window.at(time("2026-11-14T10:00:00Z")).changes, Some(time("2026-11-16T00:00:00Z")));
    }

    #[test]
    fn what_is_known_of_a_window_is_asked_again_once_it_changed() {
        let window = Window::new(vec![office()], vec![]);
        for (at, open) in [
            ("2026-11-13T10:00:00Z", true),
            ("2026-11-13T15:59:59Z", true),
            ("2026-11-13T16:00:00Z", false),
            ("2026-11-13T10:00:00Z", true),
        ] {
            assert_eq!(window.at(time(at)).open, open, "{at}");
        }
    }

    #[test]
    fn a_period_that_makes_no_sense_is_refused_with_what_is_allowed() {
        let hour = SignedDuration::from_hours(1);
        assert!(Period::new("every day", hour, "UTC").unwrap_err().to_string().contains("MON-FRI"));
        assert!(Period::new("0 0 9 * * MON", hour, "UTC").is_err());
        assert!(Period::new("0 9 * * *", hour, "Mars/Olympus").unwrap_err().to_string().contains("Europe/Berlin"));
        assert!(Period::new("0 9 * * *", SignedDuration::ZERO, "UTC").is_err());
    }
}
