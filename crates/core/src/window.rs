//! Times at which an environment may be entered: periods that begin by a cron schedule, in a time zone.

use std::sync::Arc;

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// Periods at which an environment may, or may not, be entered.
///
/// It is open while a period of `allow` lasts (or if there is none in the list) and no period of `deny` does.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// Open during these.
    pub allow: Vec<Period>,
    /// Closed during these, whatever `allow` says.
    pub deny: Vec<Period>,
}

/// Whether a window is open, and until when that is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowState {
    /// Open or closed.
    pub open: bool,
    /// When that changes. `None`: not as far as can be seen.
    pub changes: Option<Timestamp>,
}

/// How many beginnings and ends of periods are looked at for the next change. A schedule that does not change anything
/// within so many does not change anything that a person would wait for.
const SIGHT: usize = 512;

impl Window {
    /// Whether it is open at that time, and when this changes.
    pub fn at(&self, now: Timestamp) -> WindowState {
        let open = self.is_open(now);
        let mut time = now;
        for _ in 0..SIGHT {
            let Some(next) = self.allow.iter().chain(&self.deny).filter_map(|period| period.next_edge(time)).min()
            else {
                break;
            };
            if self.is_open(next) != open {
                return WindowState { open, changes: Some(next) };
            }
            time = next;
        }
        WindowState { open, changes: None }
    }

    fn is_open(&self, at: Timestamp) -> bool {
        let lasts = |period: &Period| period.lasts(at);
        (self.allow.is_empty() || self.allow.iter().any(lasts)) && !self.deny.iter().any(lasts)
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
        let cron = parser
            .parse(schedule)
            .map_err(|error| PeriodError::Schedule { schedule: schedule.to_owned(), problem: error.to_string() })?;
        if duration < SignedDuration::from_mins(1) {
            return Err(PeriodError::Duration(duration));
        }
        let found = TimeZone::get(zone).map_err(|_| PeriodError::Zone(zone.to_owned()))?;
        Ok(Self { cron: Arc::new(cron), schedule: schedule.into(), duration, zone: found, zone_name: zone.into() })
    }

    fn lasts(&self, at: Timestamp) -> bool {
        self.end(at).is_some()
    }

    /// When the stretch that `at` is in ends by its own schedule; `None` if `at` is in none.
    fn end(&self, at: Timestamp) -> Option<Timestamp> {
        let local = at.to_zoned(self.zone.clone());
        let begin = self.cron.find_previous_occurrence(&local, true).ok()?;
        let end = begin.timestamp().checked_add(self.duration).ok()?;
        (end > at).then_some(end)
    }

    /// The next moment after `at` at which a stretch begins or ends.
    fn next_edge(&self, at: Timestamp) -> Option<Timestamp> {
        let local = at.to_zoned(self.zone.clone());
        let begin = self.cron.find_next_occurrence(&local, false).ok().map(|begin| begin.timestamp());
        [self.end(at), begin].into_iter().flatten().min()
    }
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
        let window = Window { allow: vec![office()], deny: vec![] };
        let friday = window.at(time("2026-11-13T10:00:00+01:00"));
        assert_eq!(friday, WindowState { open: true, changes: Some(time("2026-11-13T17:00:00+01:00")) });
        let evening = window.at(time("2026-11-13T17:00:00+01:00"));
        assert_eq!(evening, WindowState { open: false, changes: Some(time("2026-11-16T09:00:00+01:00")) });
    }

    #[test]
    fn a_window_follows_daylight_saving_time() {
        let window = Window { allow: vec![office()], deny: vec![] };
        assert_eq!(window.at(time("2026-03-27T18:00:00Z")).changes, Some(time("2026-03-30T09:00:00+02:00")));
    }

    #[test]
    fn a_denied_period_closes_an_allowed_one() {
        let lunch = Period::new("0 12 * * *", SignedDuration::from_hours(1), "Europe/Berlin").unwrap();
        let window = Window { allow: vec![office()], deny: vec![lunch] };
        assert_eq!(window.at(time("2026-11-13T11:00:00+01:00")).changes, Some(time("2026-11-13T12:00:00+01:00")));
        let noon = window.at(time("2026-11-13T12:30:00+01:00"));
        assert_eq!(noon, WindowState { open: false, changes: Some(time("2026-11-13T13:00:00+01:00")) });
    }

    #[test]
    fn periods_that_touch_make_one_opening() {
        let hours = Period::new("0 * * * *", SignedDuration::from_hours(1), "UTC").unwrap();
        let night = Period::new("0 22 * * *", SignedDuration::from_hours(2), "UTC").unwrap();
        let window = Window { allow: vec![hours], deny: vec![night] };
        assert_eq!(window.at(time("2026-11-13T10:30:00Z")).changes, Some(time("2026-11-13T22:00:00Z")));
    }

    #[test]
    fn a_window_that_never_closes_says_so() {
        let always = Period::new("* * * * *", SignedDuration::from_hours(1), "UTC").unwrap();
        let window = Window { allow: vec![always], deny: vec![] };
        assert_eq!(window.at(time("2026-11-13T10:30:00Z")), WindowState { open: true, changes: None });
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
