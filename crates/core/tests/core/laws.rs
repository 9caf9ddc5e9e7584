//! What holds in every world.

use std::sync::Arc;

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use proptest::{
    prelude::*,
    test_runner::{RngAlgorithm, TestRng, TestRunner},
};
use weir_core::{
    Actor, Approval, Base, Checks, Declared, Fact, Gate, Hold, Intent, Observation, Outcome, Phase, Plan, Policy,
    Promotion, ProposalState, Remedy, Report, Review, Sighting, Unreachable, When, WorkloadState, Write, apply, plan,
};

use crate::{
    story::{pull_request, release, target},
    world::{World, history},
};

/// Tries a law at every point of many histories: the same ones every time, or with `PROPTEST_CASES` set, so many others.
fn in_every_world(law: impl Fn(&World, &Plan)) {
    let config = ProptestConfig { max_shrink_iters: 4000, failure_persistence: None, ..ProptestConfig::default() };
    let seed = TestRng::from_seed(RngAlgorithm::ChaCha, b"a promotion that explains itself");
    let mut runner = match std::env::var_os("PROPTEST_CASES") {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, seed),
    };
    let outcome = runner.run(&history(), |(pipeline, events)| {
        let mut world = World::new(pipeline);
        for event in &events {
            world.happens(event);
            law(&world, &world.plan());
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

fn by_environment(promotions: &[Promotion]) -> BTreeMap<&str, Vec<&Promotion>> {
    let mut found: BTreeMap<&str, Vec<&Promotion>> = BTreeMap::new();
    for promotion in promotions {
        found.entry(promotion.key.environment.as_str()).or_default().push(promotion);
    }
    for promotions in found.values_mut() {
        promotions.sort_by_key(|promotion| promotion.key.ordinal);
    }
    found
}

fn writes_to_git(intent: &Intent) -> bool {
    matches!(intent, Intent::Propose | Intent::Push | Intent::Merge(_) | Intent::Notify)
}

#[test]
fn a_plan_is_deterministic() {
    in_every_world(|world, plan| assert_eq!(*plan, world.plan()));
}

#[test]
fn planning_again_after_applying_writes_nothing() {
    in_every_world(|world, plan| {
        let again = world.decided().plan();
        assert_eq!(again.writes, [], "after {plan:#?}");
        assert_eq!(again.environments, plan.environments);
        assert_eq!(again.next_check, plan.next_check);
    });
}

#[test]
fn nothing_is_created_past_the_last_environment_or_out_of_turn() {
    in_every_world(|world, plan| {
        let names: Vec<_> = world.rehearsal.pipeline.environments().iter().map(|known| &known.name).collect();
        for write in &plan.writes {
            let Write::Create(promotion) = write else { continue };
            let position = names.iter().position(|name| **name == promotion.key.environment).unwrap();
            assert!(position > 0);
            assert_eq!(*names[position - 1], promotion.from);
            assert!(!world.rehearsal.snapshot.promotions.iter().any(|known| known.key == promotion.key));
        }
    });
}

#[test]
fn there_are_never_two_live_promotions_into_one_environment() {
    in_every_world(|world, _| {
        let decided = world.decided();
        for (name, promotions) in by_environment(&decided.rehearsal.snapshot.promotions) {
            let live: Vec<_> = promotions.iter().filter(|promotion| promotion.phase.is_live()).collect();
            assert!(live.len() <= 1, "{name}: {live:#?}");
            if let Some(live) = live.first() {
                assert_eq!(live.key, promotions.last().unwrap().key, "the highest ordinal is the live one");
            }
        }
    });
}

#[test]
fn nothing_is_promoted_that_was_not_seen_healthy() {
    in_every_world(|world, _| {
        for promotion in &world.decided().rehearsal.snapshot.promotions {
            if promotion.leg.intent.as_ref().is_some_and(writes_to_git) {
                let seen = |name: &weir_core::EnvironmentName| {
                    world.healthy.contains(&(name.clone(), promotion.release.clone()))
                };
                assert!(seen(&promotion.from) || seen(&promotion.key.environment), "{promotion:#?}");
            }
        }
    });
}

#[test]
fn the_order_in_which_records_are_listed_does_not_matter() {
    in_every_world(|world, plan| {
        let mut shuffled = world.clone();
        shuffled.rehearsal.snapshot.promotions.reverse();
        shuffled.rehearsal.snapshot.freezes.reverse();
        let again = shuffled.plan();
        assert_eq!(again.environments, plan.environments);
        assert_eq!(again.next_check, plan.next_check);
        let same =
            again.writes.iter().all(|write| plan.writes.contains(write)) && again.writes.len() == plan.writes.len();
        assert!(same, "{:#?}\n{:#?}", again.writes, plan.writes);
    });
}

proptest! {
    #[test]
    fn the_order_in_which_reports_arrive_does_not_change_what_is_known_to_run(
        reports in proptest::collection::vec((0..40i64, 0..4usize), 1..8),
        order in any::<proptest::sample::Index>(),
    ) {
        let versions = ["1.0.0", "1.1.0", "abc"];
        let report = |(at, what): &(i64, usize), received: i64| Report {
            at: jiff::Timestamp::from_second(*at).unwrap(),
            received: jiff::Timestamp::from_second(1000 + received).unwrap(),
            outcome: versions.get(*what).map_or(
                Outcome::Failed { message: "no".into() },
                |version| Outcome::Succeeded(version.parse().unwrap()),
            ),
        };
        let fold = |reports: &[(i64, usize)]| {
            let mut known: Option<Observation> = None;
            for (position, next) in reports.iter().enumerate() {
                let next = report(next, i64::try_from(position).unwrap());
                known = Some(match known {
                    None => Observation::first(next),
                    Some(known) => known.and(next),
                });
            }
            known.unwrap()
        };
        let mut other = reports.clone();
        other.rotate_left(order.index(reports.len()));
        let (one, other) = (fold(&reports), fold(&other));
        prop_assert_eq!(one.success.map(|s| s.revision), other.success.map(|s| s.revision));
        prop_assert_eq!(one.last.outcome, other.last.outcome);
    }
}

#[test]
fn what_belongs_to_others_never_changes_the_plan() {
    in_every_world(|world, plan| {
        let mut larger = world.clone();
        let snapshot = &mut larger.rehearsal.snapshot;
        let error = Unreachable { error: "gone".into(), since: world.rehearsal.now };
        snapshot
            .sightings
            .insert(target("stranger"), Arc::new(Sighting { unreachable: Some(error), ..Sighting::default() }));
        let mut foreign: Vec<_> = snapshot.promotions.clone();
        for promotion in &mut foreign {
            promotion.key.pipeline = "default/other".parse().unwrap();
            promotion.key.ordinal += 1000;
        }
        snapshot.promotions.extend(foreign);
        assert_eq!(larger.plan(), *plan);
    });
}

#[test]
fn a_candidate_without_a_step_always_has_a_hold() {
    in_every_world(|world, plan| {
        for environment in &plan.environments {
            assert!(environment.candidate.is_none() || !environment.holds.is_empty(), "{environment:#?}");
        }
        for promotion in &world.decided().rehearsal.snapshot.promotions {
            let moves = promotion.leg.intent.is_some() || !promotion.holds.is_empty();
            assert!(!promotion.phase.is_live() || moves, "{promotion:#?}");
        }
    });
}

#[test]
fn nothing_is_written_to_git_while_a_gate_is_closed() {
    in_every_world(|world, _| {
        let decided = world.decided();
        let (pipeline, now) = (&decided.rehearsal.pipeline, decided.rehearsal.now);
        for promotion in &decided.rehearsal.snapshot.promotions {
            if !promotion.leg.intent.as_ref().is_some_and(writes_to_git) {
                continue;
            }
            let asked = promotion.requested_by.is_some();
            assert!(!pipeline.suspended && !pipeline.deleted);
            for freeze in &decided.rehearsal.snapshot.freezes {
                let stops = freeze.selector.selects(&pipeline.key, &promotion.key.environment, &promotion.release);
                let overruled = asked && freeze.selector.is_quarantine() && freeze.from <= promotion.history[0].at;
                assert!(!freeze.lasts(now) || !stops || overruled, "{promotion:#?}");
            }
            for gate in &pipeline.environment(&promotion.key.environment).unwrap().gates {
                assert!(is_open(gate, promotion, now), "{gate:?} {promotion:#?}");
            }
        }
    });
}

/// The gates again, as simply as they can be said.
fn is_open(gate: &Gate, promotion: &Promotion, now: jiff::Timestamp) -> bool {
    match gate {
        Gate::Window(window) => window.at(now).open,
        Gate::Soak(_) => promotion.soaked.is_some() || promotion.requested_by.is_some(),
        Gate::Approval(gate) => {
            let counts = |approval: &&Approval| {
                let author = promotion.requested_by.as_ref().is_some_and(|author| author.name == approval.by.name);
                let lasts = gate.expires_after.is_none_or(|after| approval.at.checked_add(after).unwrap() > now);
                approval.release == promotion.release
                    && lasts
                    && gate.from.include(&approval.by)
                    && (gate.allow_author || !author)
            };
            let people: BTreeSet<_> =
                promotion.approvals.iter().filter(counts).map(|approval| &approval.by.name).collect();
            people.len() >= gate.count as usize
        }
    }
}

#[test]
fn what_a_person_asked_for_is_never_superseded_by_automation() {
    in_every_world(|world, _| {
        let decided = world.decided();
        for before in &world.rehearsal.snapshot.promotions {
            if before.requested_by.is_none() || !before.phase.is_live() {
                continue;
            }
            let after = decided.rehearsal.snapshot.promotions.iter().find(|after| after.key == before.key).unwrap();
            if after.phase == Phase::Superseded {
                let higher = |other: &&Promotion| {
                    other.key.environment == before.key.environment && other.key.ordinal > before.key.ordinal
                };
                let existed = world.rehearsal.snapshot.promotions.iter().find(higher);
                let merged =
                    before.leg.facts.proposal.as_ref().is_some_and(|p| matches!(p.state, ProposalState::Merged { .. }));
                assert!(merged || existed.is_some_and(|other| other.requested_by.is_some()), "{after:#?}");
            }
        }
    });
}

#[test]
fn time_alone_changes_nothing_before_the_next_check_and_something_at_it() {
    in_every_world(|world, _| {
        let decided = world.decided();
        let settled = decided.plan();
        let mut later = decided.clone();
        let horizon = SignedDuration::from_hours(24 * 50);
        let end = settled.next_check.unwrap_or_else(|| decided.rehearsal.now.checked_add(horizon).unwrap());
        let span = end.duration_since(decided.rehearsal.now);
        for part in [span / 7, span / 2, span - SignedDuration::from_nanos(1)] {
            later.rehearsal.now = decided.rehearsal.now.checked_add(part).unwrap();
            let plan = later.plan();
            assert_eq!(plan.writes, [], "{part:#} before {:?}", settled.next_check);
            assert_eq!(plan.environments, settled.environments);
        }
        if settled.next_check.is_some() {
            later.rehearsal.now = end;
            let plan = later.plan();
            assert!(!plan.writes.is_empty() || plan.environments != settled.environments, "nothing happens at {end}");
        }
    });
}

#[test]
fn holds_are_listed_most_binding_first_and_only_once() {
    in_every_world(|_, plan| {
        for environment in &plan.environments {
            let mut seen: Vec<&Hold> = Vec::new();
            for hold in &environment.holds {
                assert!(!seen.iter().any(|known| known.reason == hold.reason), "{environment:#?}");
                seen.push(hold);
            }
        }
    });
}

#[test]
fn every_hold_names_what_releases_it_and_doing_that_releases_it() {
    in_every_world(|world, _| {
        let decided = world.decided();
        for (index, environment) in decided.plan().environments.iter().enumerate() {
            for hold in &environment.holds {
                let mut mended = decided.clone();
                release_hold(&mut mended, index, hold);
                let after = mended.plan();
                let still = after.environments[index].holds.iter().any(|other| other.reason == hold.reason);
                assert!(!still, "{} is still held by {:#?}\n{mended:#?}", environment.name, hold.reason);
            }
        }
    });
}

/// Does what a hold says would release it.
fn release_hold(world: &mut World, index: usize, hold: &Hold) {
    let environments = world.rehearsal.pipeline.environments().to_vec();
    let into = environments[index].name.clone();
    let from = environments[index - 1].clone();
    let happen = |world: &mut World, fact: Fact| world.rehearsal.happen(fact).unwrap();
    let newest = |world: &mut World| {
        let name = into.clone();
        let ours = move |promotion: &&mut Promotion| promotion.key.environment == name;
        let found = world.rehearsal.snapshot.promotions.iter_mut().filter(ours).max_by_key(|p| p.key.ordinal);
        found.map(|promotion| promotion.key.clone())
    };
    match hold.reason.remedy() {
        Remedy::Resume => world.rehearsal.pipeline.suspended = false,
        Remedy::Unfreeze { freeze, .. } => happen(world, Fact::Lifted(freeze.clone())),
        Remedy::Configure => {
            change(world, index, |environment| environment.promotion = Some(Policy::with(pull_request())));
        }
        Remedy::Ask { release } => {
            let by = Actor::named("root");
            happen(world, Fact::Asked { environment: into, release: release.clone(), by });
        }
        Remedy::Finish { first } => {
            let key = newest(world).unwrap();
            let promotion = world.rehearsal.snapshot.promotions.iter_mut().find(|known| known.key == key).unwrap();
            promotion.leg.facts.base = Some(Base {
                commit: "0".repeat(40).parse().unwrap(),
                seen: world.rehearsal.now,
                declares: Declared::Releases(vec![first.clone()]),
            });
            promotion.leg.facts.accepted = Some(world.rehearsal.now);
            let (environment, release, state) = (into, first.clone(), WorkloadState::Healthy);
            happen(world, Fact::Seen { environment, target: None, release, state });
        }
        Remedy::Pin { .. } | Remedy::Heal { .. } | Remedy::Reach { .. } | Remedy::Deploy { .. } => {
            let wanted = hold_release(hold).unwrap_or_else(|| release("2.0.0"));
            let state = WorkloadState::Healthy;
            for name in [from.name.clone(), into.clone()] {
                if name == from.name || matches!(hold.reason.remedy(), Remedy::Reach { .. }) {
                    let release = wanted.clone();
                    happen(world, Fact::Seen { environment: name, target: None, release, state: state.clone() });
                }
            }
        }
        Remedy::HealHere | Remedy::AwaitDeployment => {
            let key = world.decided().plan().environments[index].promotion;
            let delivered = world.rehearsal.snapshot.promotions.iter().filter(|p| p.key.environment == into);
            let counts = |p: &&Promotion| matches!(p.phase, Phase::Delivered | Phase::Succeeded | Phase::Failed);
            let found = delivered.filter(counts).max_by_key(|p| p.key.ordinal).unwrap_or_else(|| panic!("{key:?}"));
            let release = found.release.clone();
            happen(world, Fact::Seen { environment: into, target: None, release, state: WorkloadState::Healthy });
        }
        Remedy::LowerWhen { .. } => change(world, index, |environment| {
            environment.promotion.as_mut().unwrap().when = When::Any;
        }),
        Remedy::Wait { until } => world.rehearsal.now = until,
        Remedy::ChangeWindow => change(world, index, |environment| environment.gates.clear()),
        Remedy::Approve { release, missing, from } => {
            let named: Vec<_> = from.users.iter().cloned().collect();
            let strangers = (0..missing).map(|number| format!("approver-{number}"));
            let people: Vec<_> = if named.is_empty() { strangers.collect() } else { named };
            let author = world.rehearsal.snapshot.promotions.iter().filter(|p| p.key.environment == into);
            let author = author.max_by_key(|p| p.key.ordinal).and_then(|p| p.requested_by.clone());
            if author.is_some_and(|author| people.contains(&author.name)) {
                change(world, index, |environment| environment.gates.clear());
            }
            for name in people {
                let (environment, release, by) = (into.clone(), release.clone(), Actor::named(name));
                happen(world, Fact::Approved { environment, release, by });
            }
        }
        Remedy::AddMarker | Remedy::NameWorkload { .. } => {
            happen(world, Fact::Declared { environment: into, declares: Declared::Releases(vec![release("0.0.1")]) });
        }
        Remedy::Retry { .. } => happen(world, Fact::Troubled { environment: into, problem: None }),
        Remedy::ResolveByHand { .. } | Remedy::Review { .. } => {
            happen(world, Fact::Closed { environment: into, by: "root".into() });
        }
        Remedy::Rebuild { .. } => {
            let key = newest(world).unwrap();
            let promotion = world.rehearsal.snapshot.promotions.iter_mut().find(|known| known.key == key).unwrap();
            promotion.leg.facts.proposal.as_mut().unwrap().conflict = false;
        }
        Remedy::PassChecks { .. } => {
            happen(world, Fact::Checked { environment: into.clone(), checks: Checks::Passing });
            happen(world, Fact::Reviewed { environment: into, review: Review::Approved });
        }
    }
}

fn hold_release(hold: &Hold) -> Option<weir_core::Release> {
    match &hold.reason {
        weir_core::Reason::NotHealthyYet { release, .. } => release.clone(),
        weir_core::Reason::NotEnoughTargets { release, .. } => Some(release.clone()),
        _ => None,
    }
}

fn change(world: &mut World, index: usize, change: impl FnOnce(&mut weir_core::Environment)) {
    let old = world.rehearsal.pipeline.clone();
    let mut environments = old.environments().to_vec();
    change(&mut environments[index]);
    let mut pipeline = weir_core::Pipeline::new(old.key, old.application, environments).unwrap();
    (pipeline.suspended, pipeline.deleted) = (old.suspended, old.deleted);
    world.rehearsal.pipeline = pipeline;
}

#[test]
fn a_crash_between_any_two_writes_loses_nothing_and_does_nothing_twice() {
    in_every_world(|world, plan| {
        let whole = world.decided();
        for kept in 0..plan.writes.len() {
            let mut partial = plan.clone();
            partial.writes.truncate(kept);
            let mut crashed = world.clone();
            crashed.rehearsal.snapshot = apply(&partial, crashed.rehearsal.snapshot);
            let again = self::plan(&crashed.rehearsal.pipeline, &crashed.rehearsal.snapshot, crashed.rehearsal.now);
            crashed.rehearsal.snapshot = apply(&again, crashed.rehearsal.snapshot);
            let phases = |world: &World| {
                by_environment(&world.rehearsal.snapshot.promotions)
                    .into_values()
                    .flatten()
                    .map(|promotion| {
                        // Once another has the turn, it makes no difference why the one before gave it up.
                        let gave_up = matches!(promotion.phase, Phase::Withdrawn | Phase::Superseded);
                        let phase = if gave_up { Phase::Superseded } else { promotion.phase };
                        let (name, release) = (promotion.key.environment.clone(), promotion.release.clone());
                        // An ordinal that was remembered and never given is a gap in the numbers, and nothing else.
                        (name, release, phase, promotion.leg.intent.clone(), promotion.approvals.clone())
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(phases(&crashed), phases(&whole), "after {kept} writes");
        }
    });
}
