//! Stores a report durably, once.

use weir_core::{Observation, ObservationKey, PipelineKey, Report};
use weir_ports::{Notice, Record, RecordKey, StoreError, Stored};

use crate::{problem::Problem, state::Shared};

/// How often it is tried anew because somebody else wrote the same record.
const ROUNDS: usize = 32;

/// What became of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// It says nothing that is not known.
    Known,
    /// Something newer was reported before it came, so it changes nothing.
    Outdated,
    /// It is stored.
    Stored,
}

/// Stores a report beside what was reported before.
pub(super) async fn keep(
    shared: &Shared,
    pipeline: &PipelineKey,
    key: &ObservationKey,
    report: &Report,
) -> Result<Kept, Problem> {
    let record = RecordKey::Observation(pipeline.clone(), key.clone());
    for _ in 0..ROUNDS {
        match attempt(shared, pipeline, key, &record, report).await {
            Ok(kept) => return Ok(kept),
            Err(StoreError::Exists(_) | StoreError::Moved(_)) => refresh(shared, &record).await?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::unavailable("busy", format!("{record} is being written by many; try again")))
}

async fn attempt(
    shared: &Shared,
    pipeline: &PipelineKey,
    key: &ObservationKey,
    record: &RecordKey,
    report: &Report,
) -> Result<Kept, StoreError> {
    let place = (key.environment.clone(), key.target.clone());
    // The version first: if the record changes in between, the store refuses.
    let version = shared.world().version(record);
    let known = shared.world().look(pipeline, |known| {
        let reports = known.snapshot().observations.get(&place)?;
        reports.get(&key.workload).cloned()
    });
    let known = version.zip(known.flatten());
    let next = match &known {
        Some((_, known)) => known.clone().and(report.clone()),
        None => Observation::first(report.clone()),
    };
    if let Some((_, known)) = known.as_ref().filter(|(_, known)| says_the_same(known, &next)) {
        let told = (known.last.at, &known.last.outcome) == (report.at, &report.outcome);
        return Ok(if told { Kept::Known } else { Kept::Outdated });
    }
    let record = Record::Observation(pipeline.clone(), key.clone(), Box::new(next));
    let version = match known {
        Some((version, _)) => shared.backend.replace(record.clone(), version).await?,
        None => shared.backend.create(record.clone()).await?,
    };
    shared.world().keep(Stored { record, version });
    Ok(Kept::Stored)
}

/// Takes in what somebody else wrote, which may come late through the watch.
async fn refresh(shared: &Shared, record: &RecordKey) -> Result<(), Problem> {
    match shared.backend.get(record).await? {
        Some(stored) => shared.world().keep(stored),
        None => {
            if let Some(version) = shared.world().version(record) {
                shared.world().note(Notice::Removed(record.clone(), version));
            }
        }
    }
    Ok(())
}

/// When the same event is posted again, only the time of its receipt differs.
fn says_the_same(known: &Observation, next: &Observation) -> bool {
    let last = |reported: &Observation| (reported.last.at, reported.last.outcome.clone());
    known.success == next.success && known.failed == next.failed && last(known) == last(next)
}
