//! What Weir keeps as objects comes back as it was.

use jiff::Timestamp;
use proptest::prelude::*;
use weir_api::{EnvironmentStatus, Freeze, Observation, Promotion};
use weir_core as core;
use weir_core::{Hold, Outcome, Reason, Report};

fn moment(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn release(revision: &str) -> core::Release {
    let of = |name: &str| (name.parse().unwrap(), revision.parse().unwrap());
    core::Release::new([of("HelmRelease/podinfo"), of("Kustomization/base")]).unwrap()
}

/// Passes an object through JSON, as the API server does.
fn through_json<T: serde::Serialize + serde::de::DeserializeOwned>(object: &T) -> T {
    let json = serde_json::to_value(object).unwrap();
    assert_eq!(weir_api::validate(&json), [], "{json:#}");
    serde_json::from_value(json).unwrap()
}

/// A promotion with something in every field, as far as `shape` asks for it.
fn promotion(ordinal: u64, second: i64, shape: u16) -> core::Promotion {
    let has = |bit: u16| shape & (1 << bit) != 0;
    let key = core::PromotionKey {
        pipeline: "default/podinfo".parse().unwrap(),
        environment: "Prod_EU".parse().unwrap(),
        ordinal,
    };
    let asked = core::Actor { name: "ada@example.org".into(), groups: vec!["release".into()] };
    let mut made = core::Promotion::new(key, "qa".parse().unwrap(), release("6.2.0"), has(0).then(|| asked.clone()));
    let commit: core::CommitId = "a".repeat(40).parse().unwrap();
    let reasons = [
        Reason::Suspended,
        Reason::Soaking { environment: "qa".parse().unwrap(), healthy: moment(1), opens: moment(second) },
        Reason::NotHealthyYet { environment: "qa".parse().unwrap(), release: None, target: None, message: None },
        Reason::Deploying { targets: vec!["default/prod/podinfo".parse().unwrap()], until: Some(moment(second)) },
        Reason::AwaitingApproval {
            release: release("6.2.0"),
            given: vec!["bob".into()],
            need: 2,
            from: core::Approvers { users: ["ada".to_owned()].into(), groups: ["release".to_owned()].into() },
            except: Some("ada".into()),
        },
    ];
    let holds: Vec<_> = reasons.into_iter().map(|reason| Hold { reason, since: moment(second) }).collect();
    if has(1) {
        made.holds.clone_from(&holds);
    }
    if has(2) {
        made.skips = vec![release("6.1.9"), release("6.1.8")];
    }
    made.soaked = has(3).then(|| moment(second));
    if has(4) {
        made.overridden = holds;
    }
    if has(5) {
        made.phase = core::Phase::Delivered;
        let note = has(6).then(|| "merged by ada".into());
        made.history = vec![core::Turn { phase: core::Phase::Delivered, at: moment(second), note }];
    }
    if has(7) {
        made.approvals = vec![core::Approval { by: asked, release: release("6.2.0"), at: moment(second) }];
    }
    if has(13) {
        let by = core::Actor::named("bob");
        made.rejection = Some(core::Rejection { by, at: moment(second), why: has(14).then(|| "not today".into()) });
    }
    if has(8) {
        made.leg.intent = Some(core::Intent::Merge(commit.clone()));
        made.leg.facts.base = Some(core::Base {
            commit: commit.clone(),
            seen: moment(second),
            declares: core::Declared::Releases(vec![release("6.1.9")]),
        });
        made.leg.facts.branch = Some(core::Branch {
            name: "promotion-default-podinfo-prod".parse().unwrap(),
            at: None,
            parent: commit.clone(),
            intended: commit.clone(),
            pushed: has(15).then(|| commit.clone()),
        });
        made.leg.facts.problem = Some(core::Problem {
            with: core::ProblemWith::RateLimit,
            message: "slow down".into(),
            retry: moment(second),
        });
    }
    if has(9) {
        made.leg.facts.proposal = Some(core::Proposal {
            id: "17".into(),
            url: Some("https://example.org/17".into()),
            state: core::ProposalState::Merged { at: moment(second), by: Some("ada".into()) },
            head: commit,
            release: has(10).then(|| release("6.2.0")),
            checks: core::Checks::Pending(vec!["ci".into()]),
            review: core::Review::Approved,
            merge_asked_by: has(12).then(|| "bob".into()),
            conflict: has(11),
            changed_by: None,
        });
    }
    made
}

proptest! {
    #[test]
    fn a_promotion_loses_nothing_as_an_object(ordinal in 0..i64::MAX as u64, second in 0..4_000_000_000_i64, shape: u16) {
        let record = promotion(ordinal, second, shape);
        prop_assert_eq!(through_json(&Promotion::from_core(&record)).to_core().unwrap(), record);
    }
}

#[test]
fn a_promotion_that_a_person_made_without_status_is_pending() {
    let mut object = Promotion::from_core(&promotion(3, 0, 1));
    object.status = None;
    assert_eq!(object.to_core().unwrap(), promotion(3, 0, 1));
}

#[test]
fn a_status_that_cannot_be_understood_names_its_field() {
    let mut object = Promotion::from_core(&promotion(3, 0, 0xffff));
    object.status.as_mut().unwrap().holds.as_mut().unwrap()[0] =
        serde_json::json!({ "reason": "Bored", "since": "2026-01-01T00:00:00Z" });
    let violations = object.to_core().unwrap_err();
    assert_eq!(violations[0].path, "status.holds");
    assert!(violations[0].message.contains("Bored"), "{violations:?}");
}

#[test]
fn an_observation_loses_nothing_as_an_object() {
    let success = Report { at: moment(10), received: moment(11), outcome: Outcome::Succeeded("1.0".parse().unwrap()) };
    let failure = Report { at: moment(20), received: moment(21), outcome: Outcome::Failed { message: "no".into() } };
    let pipeline = "default/podinfo".parse().unwrap();
    for target in [None, Some("default/dev/podinfo".parse().unwrap())] {
        let key = core::ObservationKey {
            environment: "dev".parse().unwrap(),
            target,
            workload: "HelmRelease/podinfo".parse().unwrap(),
        };
        for reported in [
            core::Observation::first(success.clone()),
            core::Observation::first(failure.clone()),
            core::Observation::first(success.clone()).and(failure.clone()),
        ] {
            let object = through_json(&Observation::from_core(&pipeline, &key, &reported));
            assert_eq!(object.to_core().unwrap(), (pipeline.clone(), key.clone(), reported));
        }
    }
}

#[test]
fn a_freeze_loses_nothing_as_an_object() {
    let everything = core::Freeze {
        name: "all".parse().unwrap(),
        selector: core::Selector::default(),
        reason: "holidays".into(),
        by: "ada".into(),
        from: moment(5),
        until: None,
    };
    let selector = core::Selector { release: Some("6.2.0".parse().unwrap()), ..core::Selector::default() };
    let one = core::Freeze { selector, until: Some(moment(9)), ..everything.clone() };
    for freeze in [everything, one] {
        assert_eq!(through_json(&Freeze::from_core(&freeze)).to_core().unwrap(), freeze);
    }
}

#[test]
fn what_is_remembered_of_an_environment_comes_back() {
    let record = core::EnvironmentRecord {
        runs: Some(release("6.1.8")),
        order: vec![core::FirstSuccess { release: release("6.1.8"), at: moment(7) }],
        refusals: vec![core::Refusal { release: release("6.1.9"), at: moment(8), why: "taken back".into() }],
        last_ordinal: 4,
        ..core::EnvironmentRecord::default()
    };
    let mut status = EnvironmentStatus::default();
    assert_eq!(status.to_core().unwrap(), core::EnvironmentRecord::default());
    status.remember(&record);
    assert_eq!(status.to_core().unwrap(), record);
}

fn proposal(ordinal: u64, second: i64, shape: u16) -> core::PlainProposal {
    let has = |bit: u16| shape & (1 << bit) != 0;
    let commit: core::CommitId = "b".repeat(40).parse().unwrap();
    let wish = || core::Wish { by: "ada".into(), at: moment(second), head: commit.clone(), why: Some("now".into()) };
    let by: Option<std::sync::Arc<str>> = has(0).then(|| "ada".into());
    let state = match (has(1), has(2)) {
        (false, _) => core::PlainState::Open,
        (true, false) => core::PlainState::Merged { at: moment(second), by, commit: commit.clone() },
        (true, true) => core::PlainState::Closed { at: moment(second), by, note: has(3).then(|| "no".into()) },
    };
    core::PlainProposal {
        key: promotion(ordinal, second, 0).key,
        repository: core::RepoUrl::new("https://example.org/a").unwrap(),
        base: "main".parse().unwrap(),
        branch: "promotion-default-podinfo-prod".parse().unwrap(),
        parent: commit.clone(),
        head: commit.clone(),
        release: release("6.2.0"),
        edits: if has(4) {
            vec![core::Edit { file: "a.yaml".into(), before: "6.1.0".into(), after: "6.2.0".into() }]
        } else {
            Vec::new()
        },
        title: "Promote podinfo 6.2.0 to prod".into(),
        body: if has(5) { "why".into() } else { String::new() },
        opened: moment(second),
        state,
        merge: has(6).then(wish),
        reviews: if has(8) {
            let verdict = if has(9) { core::Verdict::Approved } else { core::Verdict::ChangesRequested };
            vec![core::PlainReview {
                by: "bob".into(),
                verdict,
                head: commit.clone(),
                at: moment(second),
                why: has(4).then(|| "so".into()),
            }]
        } else {
            Vec::new()
        },
        comments: if has(10) {
            vec![core::Comment { by: "bob".into(), body: "fine".into(), at: moment(second) }]
        } else {
            Vec::new()
        },
    }
}

proptest! {
    #[test]
    fn a_proposal_loses_nothing_as_an_object(ordinal in 0..i64::MAX as u64, second in 0..4_000_000_000_i64, shape: u16) {
        let record = proposal(ordinal, second, shape);
        prop_assert_eq!(through_json(&weir_api::Proposal::from_core(&record)).to_core().unwrap(), record);
    }
}

#[test]
fn a_proposal_does_not_keep_the_credentials_of_its_repository() {
    let mut record = proposal(1, 0, 0);
    record.repository = core::RepoUrl::new("https://me:geheim@example.org/a").unwrap();
    let object = weir_api::Proposal::from_core(&record);
    assert!(!serde_json::to_string(&object).unwrap().contains("geheim"));
}
