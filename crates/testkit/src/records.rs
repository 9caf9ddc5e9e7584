//! Records of every kind, as small as they can be: what a store is tried with.
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "this is the inside of tests: a name that is none fails them"
)]

use jiff::Timestamp;
use weir_core::{
    Edit, EnvironmentRecord, Freeze, Observation, ObservationKey, Outcome, Phase, PlainProposal, PlainState, Promotion,
    PromotionKey, Release, RepoUrl, Report, Selector, TargetRecord,
};
use weir_ports::{PipelineRecord, Record, RecordKey};

/// A moment.
pub fn second(n: i64) -> Timestamp {
    Timestamp::from_second(n).unwrap()
}

/// A release of one chart.
pub fn release(revision: &str) -> Release {
    Release::of("HelmRelease/podinfo".parse().unwrap(), revision.parse().unwrap())
}

/// A turn.
pub fn promotion_key(pipeline: &str, environment: &str, ordinal: u64) -> PromotionKey {
    PromotionKey { pipeline: pipeline.parse().unwrap(), environment: environment.parse().unwrap(), ordinal }
}

/// A promotion from `dev`.
pub fn promotion(pipeline: &str, environment: &str, ordinal: u64, phase: Phase) -> Promotion {
    let key = promotion_key(pipeline, environment, ordinal);
    Promotion { phase, ..Promotion::new(key, "dev".parse().unwrap(), release("1.0"), None) }
}

/// What people said about a pipeline; the flag is what changes in these tests.
pub fn said(pipeline: &str, suspended: bool) -> Record {
    Record::Pipeline(pipeline.parse().unwrap(), PipelineRecord { suspended })
}

/// Which record that is.
pub fn said_key(pipeline: &str) -> RecordKey {
    RecordKey::Pipeline(pipeline.parse().unwrap())
}

/// The memory of an environment; the ordinal is what changes in these tests.
pub fn memory(pipeline: &str, environment: &str, last_ordinal: u64) -> Record {
    let target = TargetRecord { release: Some(release("1.0")), healthy_since: Some(second(5)), unreachable: None };
    let targets = [("default/prod/podinfo".parse().unwrap(), target)].into();
    let record = EnvironmentRecord { targets, last_ordinal, ..EnvironmentRecord::default() };
    Record::Environment(pipeline.parse().unwrap(), environment.parse().unwrap(), Box::new(record))
}

/// A stop.
pub fn freeze(name: &str) -> Freeze {
    Freeze {
        name: name.parse().unwrap(),
        selector: Selector { pipeline: Some("podinfo".parse().unwrap()), ..Selector::default() },
        reason: "it is Friday".into(),
        by: "anna".into(),
        from: second(10),
        until: None,
    }
}

/// What was reported about a workload of `prod`.
pub fn observation(pipeline: &str, workload: &str, revision: &str) -> Record {
    let key = ObservationKey {
        environment: "prod".parse().unwrap(),
        target: None,
        workload: format!("HelmRelease/{workload}").parse().unwrap(),
    };
    let outcome = Outcome::Succeeded(revision.parse().unwrap());
    let seen = Observation::first(Report { at: second(1), received: second(2), outcome });
    Record::Observation(pipeline.parse().unwrap(), key, Box::new(seen))
}

/// A proposal of a pipeline's third promotion into `prod`.
pub fn proposal(pipeline: &str, repository: &str) -> PlainProposal {
    let commit: weir_core::CommitId = "0123456789012345678901234567890123456789".parse().unwrap();
    PlainProposal {
        key: promotion_key(pipeline, "prod", 3),
        repository: RepoUrl::new(repository).unwrap(),
        base: "main".parse().unwrap(),
        branch: "promotion-podinfo-prod".parse().unwrap(),
        parent: commit.clone(),
        head: commit,
        release: release("1.0"),
        edits: vec![Edit { file: "apps/prod.yaml".into(), before: "1.0.0".into(), after: "1.1.0".into() }],
        title: "promote podinfo".into(),
        body: "It is healthy in `qa`.".into(),
        opened: second(7),
        state: PlainState::Open,
        merge: None,
        reviews: Vec::new(),
        comments: Vec::new(),
    }
}

/// One record of every kind. A freeze is of no pipeline, so it has a name of its own.
pub fn one_of_each(pipeline: &str, freezing: &str) -> Vec<Record> {
    vec![
        said(pipeline, true),
        memory(pipeline, "prod", 3),
        Record::Promotion(Box::new(promotion(pipeline, "prod", 3, Phase::Proposed))),
        observation(pipeline, "podinfo", "1.0"),
        Record::Freeze(freeze(freezing)),
        Record::Proposal(Box::new(proposal(pipeline, "https://git.example.org/fleet.git"))),
    ]
}
