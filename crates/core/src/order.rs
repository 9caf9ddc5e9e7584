//! Which of two releases is newer.

use std::cmp::Ordering;

use crate::{release::Release, snapshot::EnvironmentRecord};

/// Compares releases by semantic version if all of them have one, otherwise by the order of their first success in the
/// environment that they come from. `None`: nobody knows.
pub(crate) struct Order<'a> {
    by_version: bool,
    record: &'a EnvironmentRecord,
}

impl<'a> Order<'a> {
    /// The order among these releases.
    pub(crate) fn among<'r>(releases: impl IntoIterator<Item = &'r Release>, record: &'a EnvironmentRecord) -> Self {
        let by_version = releases.into_iter().all(|release| version(release).is_some());
        Self { by_version, record }
    }

    /// The order between two releases.
    pub(crate) fn between(one: &Release, other: &Release, record: &'a EnvironmentRecord) -> Self {
        Self::among([one, other], record)
    }

    /// How `one` stands to `other`.
    pub(crate) fn compare(&self, one: &Release, other: &Release) -> Option<Ordering> {
        if one == other {
            return Some(Ordering::Equal);
        }
        if self.by_version {
            let order = version(one)?.cmp_precedence(&version(other)?);
            if order != Ordering::Equal {
                return Some(order);
            }
        }
        let (one, other) = (self.record.first_success(one)?, self.record.first_success(other)?);
        // Two that were first seen at the same look have no order.
        Some(one.cmp(&other)).filter(|order| *order != Ordering::Equal)
    }

    pub(crate) fn is_newer(&self, one: &Release, than: &Release) -> bool {
        self.compare(one, than) == Some(Ordering::Greater)
    }

    pub(crate) fn is_older(&self, one: &Release, than: &Release) -> bool {
        self.compare(one, than) == Some(Ordering::Less)
    }
}

fn version(release: &Release) -> Option<semver::Version> {
    release.single()?.semver()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::snapshot::FirstSuccess;

    fn release(text: &str) -> Release {
        Release::of("HelmRelease/app".parse().unwrap(), text.parse().unwrap())
    }

    fn record(order: &[&str]) -> EnvironmentRecord {
        let at = |n: usize| Timestamp::from_second(i64::try_from(n).unwrap()).unwrap();
        let order = order.iter().enumerate().map(|(n, text)| FirstSuccess { release: release(text), at: at(n) });
        EnvironmentRecord { order: order.collect(), ..EnvironmentRecord::default() }
    }

    fn compare(one: &str, other: &str, order: &[&str]) -> Option<Ordering> {
        let (one, other, record) = (release(one), release(other), record(order));
        Order::between(&one, &other, &record).compare(&one, &other)
    }

    #[test]
    fn semantic_versions_are_compared_as_such() {
        assert_eq!(compare("1.10.0", "1.9.0", &[]), Some(Ordering::Greater));
        assert_eq!(compare("v2.0.0-rc.1", "2.0.0", &[]), Some(Ordering::Less));
    }

    #[test]
    fn other_versions_are_compared_by_first_success() {
        assert_eq!(compare("abc", "def", &["def", "abc"]), Some(Ordering::Greater));
        assert_eq!(compare("abc", "1.0.0", &["abc", "1.0.0"]), Some(Ordering::Less));
        assert_eq!(compare("1.0.0+a", "1.0.0+b", &["1.0.0+b", "1.0.0+a"]), Some(Ordering::Greater));
    }

    #[test]
    fn without_either_nobody_knows() {
        assert_eq!(compare("abc", "def", &["abc"]), None);
        let both = EnvironmentRecord {
            order: ["abc", "def"].map(|text| FirstSuccess { release: release(text), at: Timestamp::UNIX_EPOCH }).into(),
            ..EnvironmentRecord::default()
        };
        let (one, other) = (release("abc"), release("def"));
        assert_eq!(Order::between(&one, &other, &both).compare(&one, &other), None);
    }
}
