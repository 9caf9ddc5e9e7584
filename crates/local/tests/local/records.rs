//! Records of every kind, as small as they can be.

use jiff::Timestamp;
use weir_core::{
    EnvironmentRecord, Freeze, Observation, ObservationKey, Outcome, Phase, PlainProposal, PlainState, Promotion,
    PromotionKey, Release, RepoUrl, Report, Selector, TargetRecord,
};
use weir_ports::{PipelineRecord, Record, RecordKey};

pub(crate) fn second(n: i64) -> Timestamp {
    Timestamp::from_second(n).unwrap()
}

pub(crate) fn release(revision: &str) -> Release {
    Release::of("HelmRelease/podinfo".parse().unwrap(), revision.parse().unwrap())
}

pub(crate) fn promotion_key(pipeline: &str, environment: &str, ordinal: u64) -> PromotionKey {
    PromotionKey { pipeline: pipeline.parse().unwrap(), environment: environment.parse().unwrap(), ordinal }
}

pub(crate) fn promotion(pipeline: &str, environment: &str, ordinal: u64, phase: Phase) -> Promotion {
    let key = promotion_key(pipeline, environment, ordinal);
    Promotion { phase, ..Promotion::new(key, "dev".parse().unwrap(), release("1.0"), None) }
}

/// What people said about a pipeline; the flag is what changes in these tests.
pub(crate) fn said(pipeline: &str, suspended: bool) -> Record {
    Record::Pipeline(pipeline.parse().unwrap(), PipelineRecord { suspended })
}

pub(crate) fn said_key(pipeline: &str) -> RecordKey {
    RecordKey::Pipeline(pipeline.parse().unwrap())
}

/// The memory of an environment; the ordinal is what changes in these tests.
pub(crate) fn memory(pipeline: &str, environment: &str, last_ordinal: u64) -> Record {
    let target = TargetRecord { release: Some(release("1.0")), healthy_since: Some(second(5)), unreachable: None };
    let targets = [("default/prod/podinfo".parse().unwrap(), target)].into();
    let record = EnvironmentRecord { targets, last_ordinal, ..EnvironmentRecord::default() };
    Record::Environment(pipeline.parse().unwrap(), environment.parse().unwrap(), Box::new(record))
}

pub(crate) fn freeze(name: &str) -> Freeze {
    Freeze {
        name: name.parse().unwrap(),
        selector: Selector { pipeline: Some("podinfo".parse().unwrap()), ..Selector::default() },
        reason: "it is Friday".into(),
        by: "anna".into(),
        from: second(10),
        until: None,
    }
}

pub(crate) fn observation(pipeline: &str, workload: &str, revision: &str) -> Record {
    let key = ObservationKey {
        environment: "prod".parse().unwrap(),
        target: None,
        workload: format!("HelmRelease/{workload}").parse().unwrap(),
    };
    let outcome = Outcome::Succeeded(revision.parse().unwrap());
    let seen = Observation::first(Report { at: second(1), received: second(2), outcome });
    Record::Observation(pipeline.parse().unwrap(), key, Box::new(seen))
}

pub(crate) fn proposal(repository: &str) -> PlainProposal {
    let commit: weir_core::CommitId = "0123456789012345678901234567890123456789".parse().unwrap();
    PlainProposal {
        key: promotion_key("default/podinfo", "prod", 3),
        repository: RepoUrl::new(repository).unwrap(),
        base: "main".parse().unwrap(),
        branch: "promotion-podinfo-prod".parse().unwrap(),
        parent: commit.clone(),
        head: commit,
        release: release("1.0"),
        files: vec!["apps/prod.yaml".into()],
        title: "promote podinfo".into(),
        body: "It is healthy in `qa`.".into(),
        opened: second(7),
        state: PlainState::Open,
        merge: None,
        close: None,
        reviews: Vec::new(),
        comments: Vec::new(),
    }
}

/// One record of every kind.
pub(crate) fn one_of_each() -> Vec<Record> {
    vec![
        said("default/podinfo", true),
        memory("default/podinfo", "prod", 3),
        Record::Promotion(Box::new(promotion("default/podinfo", "prod", 3, Phase::Proposed))),
        observation("default/podinfo", "podinfo", "1.0"),
        Record::Freeze(freeze("friday")),
        Record::Proposal(Box::new(proposal("https://git.example.org/fleet.git"))),
    ]
}
