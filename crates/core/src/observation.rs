//! What is known about deployments: what a watch sees now, and what alerts and CI reported.

use std::{collections::BTreeMap, sync::Arc};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    name::EnvironmentName,
    pipeline::TargetKey,
    release::{Revision, WorkloadKey},
};

/// What the watch of one target sees now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sighting {
    /// Set while the target cannot be read; its workloads are then what was seen last, and count for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<Unreachable>,
    /// The pipeline's workloads in it.
    #[serde(default)]
    pub workloads: BTreeMap<WorkloadKey, Workload>,
    /// The container images that they run, as far as they were read. For people; nothing is decided by it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<WorkloadKey, Vec<Arc<str>>>,
}

/// Why a target cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreachable {
    /// What went wrong.
    pub error: Arc<str>,
    /// Since when.
    pub since: Timestamp,
}

/// One workload as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Which version it runs, or is on its way to.
    pub version: Version,
    /// How that is going.
    pub state: WorkloadState,
}

/// Which version a workload runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Version {
    /// One that can be promoted.
    Revision(Revision),
    /// A commit on a branch, which cannot: Weir's own merge would be the next one.
    Branch(Arc<str>),
    /// Nothing is deployed yet.
    Nothing,
}

/// How a deployment is going.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkloadState {
    /// It succeeded, and nothing is under way.
    Healthy,
    /// It is under way.
    Progressing,
    /// It failed, or was rolled back.
    Failed {
        /// What Flux said.
        message: Arc<str>,
    },
}

/// What a report is about. Without a target it is known only that some target of the environment reported.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObservationKey {
    /// The environment it was reported for.
    pub environment: EnvironmentName,
    /// The target, if the report told.
    pub target: Option<TargetKey>,
    /// The workload.
    pub workload: WorkloadKey,
}

/// What was reported about one workload, kept durably: the last success and the last event.
///
/// Reports are ordered by the time of the event, so a late one changes nothing that a newer one said. Flux tells it to the
/// second: of what happened in the same one, a failure counts. Durations run from the time of receipt, because the clock
/// of another machine is not to be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observation {
    /// The newest event.
    pub last: Report,
    /// The newest success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<Success>,
    /// When the newest failure happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Timestamp>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// When it happened, by the clock of the sender.
    pub at: Timestamp,
    /// When Weir received it.
    pub received: Timestamp,
    /// What happened.
    pub outcome: Outcome,
}

/// What an event says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// This revision was deployed.
    Succeeded(Revision),
    /// The deployment of this revision failed or was rolled back.
    Failed {
        /// What Flux said.
        message: Arc<str>,
    },
}

/// The newest success, and since when it has lasted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Success {
    /// When it happened, by the clock of the sender.
    pub at: Timestamp,
    /// What was deployed.
    pub revision: Revision,
    /// Since when Weir has known it to be deployed without a break.
    pub since: Timestamp,
}

impl Observation {
    /// The first report about a workload.
    pub fn first(report: Report) -> Self {
        let (success, failed) = match &report.outcome {
            Outcome::Succeeded(revision) => {
                (Some(Success { at: report.at, revision: revision.clone(), since: report.received }), None)
            }
            Outcome::Failed { .. } => (None, Some(report.at)),
        };
        Self { last: report, success, failed }
    }

    /// A further report. Whatever the order in which reports come in, the same release is known to run afterwards.
    #[must_use]
    pub fn and(mut self, report: Report) -> Self {
        let newest = (report.at, &report.outcome) >= (self.last.at, &self.last.outcome);
        match &report.outcome {
            Outcome::Succeeded(revision) => {
                let later = self.success.as_ref().is_none_or(|s| (report.at, revision) >= (s.at, &s.revision));
                if later {
                    let unbroken = matches!(&self.last.outcome, Outcome::Succeeded(last) if last == revision);
                    let since = self.success.take().filter(|_| unbroken).map_or(report.received, |s| s.since);
                    self.success = Some(Success { at: report.at, revision: revision.clone(), since });
                }
            }
            Outcome::Failed { .. } => {
                let known = self.failed.is_some_and(|failed| report.at <= failed);
                // A failure that is reported late still broke the run, though nobody knows when it was over.
                if let Some(success) = self.success.as_mut().filter(|_| !newest && !known) {
                    success.since = success.since.max(report.received);
                }
                self.failed = self.failed.max(Some(report.at));
            }
        }
        if newest {
            self.last = report;
        }
        self
    }

    /// What the last event said, if it was a failure.
    pub fn failure(&self) -> Option<&Arc<str>> {
        match &self.last.outcome {
            Outcome::Succeeded(_) => None,
            Outcome::Failed { message } => Some(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(n: i64) -> Timestamp {
        Timestamp::from_second(n).unwrap()
    }

    fn success(at: i64, received: i64, revision: &str) -> Report {
        let outcome = Outcome::Succeeded(revision.parse().unwrap());
        Report { at: second(at), received: second(received), outcome }
    }

    fn failure(at: i64, received: i64) -> Report {
        Report { at: second(at), received: second(received), outcome: Outcome::Failed { message: "no".into() } }
    }

    #[test]
    fn a_late_report_changes_nothing_that_a_newer_one_said() {
        let seen = Observation::first(success(20, 21, "2.0")).and(success(10, 30, "1.0"));
        assert_eq!(seen.success.as_ref().unwrap().revision.as_str(), "2.0");
        assert_eq!(seen.success.unwrap().since, second(21));
    }

    #[test]
    fn a_repeated_success_does_not_restart_the_clock() {
        let seen = Observation::first(success(10, 11, "1.0")).and(success(20, 21, "1.0"));
        assert_eq!(seen.success.unwrap().since, second(11));
    }

    #[test]
    fn a_failure_restarts_the_clock_whether_it_comes_in_time_or_late() {
        let in_time = Observation::first(success(10, 11, "1.0")).and(failure(15, 16)).and(success(20, 21, "1.0"));
        assert_eq!(in_time.success.unwrap().since, second(21));
        let late = Observation::first(success(10, 11, "1.0")).and(success(20, 21, "1.0")).and(failure(15, 30));
        assert_eq!(late.failure(), None);
        assert_eq!(late.success.unwrap().since, second(30));
    }

    #[test]
    fn a_failure_that_is_delivered_twice_counts_once() {
        let seen = Observation::first(success(10, 11, "1.0")).and(failure(15, 16)).and(success(20, 21, "1.0"));
        assert_eq!(seen.and(failure(15, 40)).success.unwrap().since, second(21));
    }

    #[test]
    fn of_what_happened_in_the_same_second_a_failure_counts() {
        let after = Observation::first(success(10, 11, "1.0")).and(failure(10, 12));
        let before = Observation::first(failure(10, 11)).and(success(10, 12, "1.0"));
        assert!(after.failure().is_some() && before.failure().is_some());
        assert_eq!(before.and(success(11, 13, "1.0")).failure(), None);
    }

    #[test]
    fn a_failed_event_marks_the_workload_unhealthy() {
        let seen = Observation::first(success(10, 11, "1.0")).and(failure(20, 21));
        assert!(seen.failure().is_some());
    }
}
