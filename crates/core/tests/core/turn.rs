//! Rules 7 to 9: one at a time, still wanted, not refused.

use weir_core::{Concurrency, Hold, Intent, Outcome, Phase, When};

use crate::story::{Story, environment, minutes};

#[test]
fn there_is_at_most_one_live_promotion_into_an_environment() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().runs("dev", "1.2.0").settles().runs("dev", "1.3.0").settles();
    let live = story.phases("prod").into_iter().filter(|(_, phase)| phase.is_live()).count();
    assert_eq!(live, 1);
}

#[test]
fn a_newer_release_supersedes_and_updates_the_same_proposal_which_says_what_it_skipped() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles();
    let first = story.promotion("prod").leg.facts.proposal.clone().unwrap();
    story.runs("dev", "1.2.0").settles();
    let second = story.promotion("prod");
    let proposal = second.leg.facts.proposal.as_ref().unwrap();
    assert_eq!(proposal.id, first.id);
    assert_ne!(proposal.head, first.head);
    assert_eq!(second.skips.iter().map(ToString::to_string).collect::<Vec<_>>(), ["1.1.0"]);
    assert_eq!(story.phases("prod"), [("1.1.0".into(), Phase::Superseded), ("1.2.0".into(), Phase::Proposed)]);
}

#[test]
fn a_newer_release_waits_until_its_own_gates_are_open() {
    let mut story = Story::of("dev, prod").soak("prod", minutes(60));
    story.runs("dev", "1.1.0").settles().waits(minutes(60));
    assert_eq!(story.phase("prod"), Phase::Proposed);
    story.runs("dev", "1.2.0").settles();
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.1.0", Phase::Proposed));
    assert_eq!(story.held("prod"), ["Soaking", "AwaitingReview"]);
    story.waits(minutes(60));
    assert_eq!(story.promoted("prod").unwrap(), "1.2.0");
}

#[test]
fn what_is_approved_finishes_first() {
    let mut story = Story::of("dev, prod").approval("prod", 1);
    story.runs("dev", "1.1.0").settles().approves("ada", "prod", "1.1.0").runs("dev", "1.2.0").settles();
    story.approves("ada", "prod", "1.2.0");
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0");
    assert!(story.held("prod").contains(&"Behind"));
    story.goes_through("prod");
    assert_eq!(story.promoted("prod").unwrap(), "1.2.0");
    assert_eq!(story.held("prod"), ["AwaitingReview"], "what was approved while it waited is approved");
}

#[test]
fn with_concurrency_latest_the_newer_release_takes_the_place_even_of_what_is_approved() {
    let mut story = Story::of("dev, prod").approval("prod", 1);
    story = story.policy("prod", |policy| policy.concurrency = Concurrency::Latest);
    story.runs("dev", "1.1.0").settles().approves("ada", "prod", "1.1.0").runs("dev", "1.2.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0", "1.2.0 is not approved yet");
    story.approves("ada", "prod", "1.2.0");
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.2.0", Phase::Proposed));
}

#[test]
fn what_is_being_merged_finishes_first() {
    let mut story = Story::of("dev, prod").merges_itself("prod");
    story.runs("dev", "1.1.0");
    while !matches!(
        story.world.promotion(&environment("prod")).and_then(|p| p.leg.intent.clone()),
        Some(Intent::Merge(_))
    ) {
        story.world.decide();
        if !matches!(
            story.world.promotion(&environment("prod")).and_then(|p| p.leg.intent.clone()),
            Some(Intent::Merge(_))
        ) {
            story.world.carry();
        }
    }
    story.runs("dev", "1.2.0");
    story.world.decide();
    assert!(matches!(story.intent("prod"), Some(Intent::Merge(_))));
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0");
}

#[test]
fn a_promotion_that_is_stuck_does_not_keep_the_fix_waiting() {
    let mut story = Story::of("dev, prod").merges_itself("prod");
    story.runs("dev", "1.1.0");
    let failing = weir_core::Checks::Failing(vec!["lint".into()]);
    let prod = environment("prod");
    while story.world.happen(weir_core::Fact::Checked { environment: prod.clone(), checks: failing.clone() }).is_err() {
        story.world.decide();
        story.world.carry();
    }
    story.settles();
    assert_eq!(story.held("prod"), ["ChecksFailing"]);
    story.runs("dev", "1.2.0").settles();
    assert_eq!(story.phases("prod")[0], ("1.1.0".into(), Phase::Superseded));
    assert_eq!(story.phases("prod")[1], ("1.2.0".into(), Phase::Delivered));
}

#[test]
fn a_delivered_promotion_does_not_block_the_next() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().merges("prod");
    assert_eq!(story.phase("prod"), Phase::Delivered);
    story.runs("dev", "1.2.0").settles();
    assert_eq!(story.phases("prod"), [("1.1.0".into(), Phase::Delivered), ("1.2.0".into(), Phase::Proposed)]);
    assert_ne!(
        story.promotion("prod").leg.facts.proposal.as_ref().unwrap().id,
        story.world.snapshot.promotions[0].leg.facts.proposal.as_ref().unwrap().id,
        "it has a proposal of its own"
    );
}

#[test]
fn what_a_person_asked_for_is_never_superseded_by_an_automatic_one() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().asks("ada", "prod", "1.1.0").runs("dev", "1.2.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0");
    assert_eq!(story.held("prod"), ["Behind", "AwaitingReview"]);
    story.goes_through("prod");
    assert_eq!(story.promoted("prod").unwrap(), "1.2.0");
}

#[test]
fn of_two_requests_the_later_one_counts() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().runs("dev", "1.2.0").settles();
    story.asks("ada", "prod", "1.1.0").asks("grace", "prod", "1.2.0");
    assert_eq!(story.promoted("prod").unwrap(), "1.2.0");
    assert!(story.phases("prod")[..2].iter().all(|(_, phase)| *phase == Phase::Superseded));
}

#[test]
fn an_unhealthy_release_is_held_until_it_heals() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().fails("dev", "1.1.0").settles();
    assert_eq!(story.held("prod"), ["NotHealthyYet", "AwaitingReview"]);
    assert_eq!(story.phase("prod"), Phase::Proposed);
    story.runs("dev", "1.1.0").settles();
    assert_eq!(story.held("prod"), ["AwaitingReview"]);
}

#[test]
fn a_release_that_was_replaced_by_a_newer_one_goes_on() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().rolls_out("dev", "1.2.0").settles();
    assert_eq!(story.held("prod"), ["AwaitingReview"]);
    story.fails("dev", "1.2.0").settles();
    assert_eq!(story.held("prod"), ["AwaitingReview"]);
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0");
}

#[test]
fn an_environment_that_goes_back_withdraws_its_promotion_and_closes_the_proposal() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").settles().goes_through("prod").runs("dev", "1.1.0").settles();
    let carried = {
        story.runs("dev", "1.0.0");
        story.settling()
    };
    assert_eq!(story.phase("prod"), Phase::Withdrawn);
    assert!(carried.iter().any(|step| matches!(step.intent, Intent::Close(_))));
    assert_eq!(story.intent("prod"), None);
}

#[test]
fn a_release_that_comes_again_after_it_was_withdrawn_is_promoted_again() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").settles().goes_through("prod").runs("dev", "1.1.0").settles();
    story.runs("dev", "1.0.0").settles().runs("dev", "1.1.0").settles();
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.1.0", Phase::Proposed));
}

#[test]
fn a_target_that_cannot_be_read_holds_what_depends_on_it() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().loses("dev", None).settles();
    assert_eq!(story.held("prod"), ["TargetUnreachable", "AwaitingReview"]);
}

#[test]
fn when_too_few_targets_still_run_it_it_is_held() {
    let mut story = Story::of("qa(eu us), prod").when("prod", When::All);
    story.runs("qa", "1.0.0").settles().goes_through("prod").runs("qa", "1.1.0").settles();
    story.runs_on("qa", "us", "1.0.0").settles();
    assert_eq!(story.held("prod"), ["NotEnoughTargets", "AwaitingReview"]);
}

#[test]
fn a_proposal_that_somebody_closed_is_rejected_and_its_release_refused() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().closes("prod");
    assert_eq!(story.phase("prod"), Phase::Rejected);
    assert_eq!(story.held("prod"), ["Refused"]);
    story.waits(minutes(10_000));
    assert_eq!(story.phases("prod").len(), 1, "it is not proposed again");
    story.asks("ada", "prod", "1.1.0");
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.1.0", Phase::Proposed));
}

#[test]
fn a_newer_release_comes_after_a_rejected_one() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().closes("prod").runs("dev", "1.2.0").settles();
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.2.0", Phase::Proposed));
}

#[test]
fn of_several_candidates_a_refused_one_is_passed_over() {
    let mut story = Story::of("dev(a b), prod");
    story.runs_on("dev", "a", "1.2.0").runs_on("dev", "b", "1.1.0").settles().closes("prod");
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.1.0", Phase::Proposed));
}

#[test]
fn what_an_environment_went_back_from_is_refused_there() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "2.0.0").runs("prod", "2.0.0").settles().runs("prod", "1.9.0").settles();
    assert_eq!(story.held("prod"), ["Refused"]);
    assert_eq!(story.promoted("prod"), None);
}

#[test]
fn a_refusal_holds_in_its_environment_only() {
    let mut story = Story::of("dev, qa, prod");
    story.runs("dev", "1.1.0").settles().closes("qa").asks("ada", "qa", "1.1.0").goes_through("qa");
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.1.0", Phase::Proposed));
}

#[test]
fn a_refusal_is_never_forgotten() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").settles().closes("prod");
    for build in 1..150 {
        story.runs("dev", &format!("1.{build}.0")).settles().closes("prod");
    }
    assert_eq!(story.world.snapshot.environments[&environment("prod")].refusals.len(), 150);
}

#[test]
fn nobody_may_ask_for_what_was_never_seen_healthy() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").settles().goes_through("prod").asks("ada", "prod", "6.6.6");
    assert_eq!(story.held("prod"), ["NotHealthyYet"]);
    assert_eq!(story.phase("prod"), Phase::Pending);
}

#[test]
fn targets_of_which_some_moved_on_and_some_went_back_hold_it() {
    let mut story = Story::of("qa(eu us), prod").when("prod", When::All);
    story.runs("qa", "1.0.0").settles().goes_through("prod").runs("qa", "1.1.0").settles();
    story.runs_on("qa", "eu", "1.2.0").runs_on("qa", "us", "1.0.0").settles();
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.1.0", Phase::Proposed));
    assert_eq!(story.held("prod"), ["NotEnoughTargets", "AwaitingReview"]);
}

#[test]
fn a_proposal_that_was_to_be_closed_is_taken_over_by_the_next_promotion() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").settles().goes_through("prod").runs("dev", "1.1.0").settles();
    let id = story.promotion("prod").leg.facts.proposal.as_ref().unwrap().id.clone();
    story.runs("dev", "1.0.0");
    story.world.decide();
    assert!(matches!(story.intent("prod"), Some(Intent::Close(_))));
    story.runs("dev", "1.2.0");
    story.world.decide();
    let withdrawn = &story.world.snapshot.promotions[1];
    assert_eq!((withdrawn.phase, withdrawn.leg.intent.as_ref()), (Phase::Withdrawn, None));
    story.settles();
    assert_eq!(story.promotion("prod").leg.facts.proposal.as_ref().unwrap().id, id);
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn what_fails_where_a_release_was_before_does_not_hold_a_person_back() {
    let mut story = Story::of("dev, prod");
    let succeeded = |version: &str| Outcome::Succeeded(version.parse().unwrap());
    for (hour, version) in [("09", "1.0.0"), ("10", "1.1.0")] {
        let at = format!("2026-11-13T{hour}:00:00Z");
        story.reports("dev", Some("dev"), &at, succeeded(version)).settles();
    }
    story.runs("prod", "1.1.0").settles();
    let failed = Outcome::Failed { message: "chart 1.2.0 failed".into() };
    story.reports("dev", Some("dev"), "2026-11-13T11:00:00Z", failed).settles();
    story.asks("ada", "prod", "1.0.0");
    assert_eq!(story.phase("prod"), Phase::Proposed, "{:?}", story.holds("prod"));
    story.asks("ada", "prod", "1.1.0");
    assert_eq!(story.held("prod"), ["NotHealthyYet"], "that one may be what failed");
}

#[test]
fn what_holds_the_next_release_is_told_apart_from_what_holds_this_one() {
    let mut story = Story::of("dev, prod").approval("prod", 1);
    story.runs("dev", "1.0.0").runs("prod", "1.0.0").settles().runs("dev", "1.1.0").settles();
    story.asks("ada", "prod", "1.0.0");
    let plan = story.plan();
    let prod = &plan.environments[1];
    let names = |holds: &[Hold]| holds.iter().map(|hold| hold.reason.to_string()).collect::<Vec<_>>();
    assert!(prod.next.len() < prod.holds.len(), "{:?}", names(&prod.holds));
    assert!(names(&prod.next).iter().all(|hold| hold.contains("1.1.0")), "{:?}", names(&prod.next));
}

#[test]
fn what_is_on_its_way_is_withdrawn_when_it_is_refused_meanwhile() {
    let mut story = Story::of("dev, prod").approval("prod", 1);
    story.runs("dev", "1.0.0").runs("prod", "1.0.0").settles().runs("dev", "1.1.0").settles();
    assert_eq!(story.phase("prod"), Phase::Pending);
    story.runs("prod", "1.1.0").settles().runs("prod", "1.0.0").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Withdrawn, vec!["Refused"]));
}

#[test]
fn what_a_person_asks_for_again_is_not_taken_back_at_once_though_git_declares_it_already() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().goes_through("prod").runs("prod", "1.0.0").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::RolledBack, vec!["Refused"]));
    story.asks("ada", "prod", "1.1.0");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Delivered, vec!["Deploying"]));
}
