//! Bugs of other promotion tools that concern the decision, as rules that hold here.

use weir_core::{Fact, Outcome, Phase, ProposalState, When};

use crate::story::{Story, environment, minutes, release};

#[test]
fn an_open_proposal_in_one_environment_keeps_the_next_one_waiting_whatever_comes_after_it() {
    let mut story = Story::of("dev, qa, prod");
    story.runs("dev", "1.0.0").settles().goes_through("qa").goes_through("prod").runs("dev", "1.1.0").settles();
    story.rolls_out("qa", "1.0.0").settles().runs("qa", "1.0.0").settles();
    assert_eq!(story.phase("qa"), Phase::Proposed);
    assert_eq!(story.phases("prod").len(), 1, "prod gets only what qa runs");
}

#[test]
fn a_newer_change_that_does_nothing_does_not_bypass_the_health_of_what_is_still_deploying() {
    let mut story = Story::of("dev, qa, prod");
    story.runs("dev", "1.0.0").settles().goes_through("qa").goes_through("prod");
    story.runs("dev", "1.1.0").settles().merges("qa").rolls_out("qa", "1.1.0").settles();
    story.git_declares("qa", "1.1.0").settles();
    assert_eq!((story.phase("qa"), story.held("prod")), (Phase::Delivered, vec!["NotHealthyYet"]));
    assert_eq!(story.promoted("prod").unwrap(), "1.0.0");
}

#[test]
fn releases_are_never_promoted_out_of_order() {
    let mut story = Story::of("dev, qa, prod");
    for version in ["1.0.0", "1.1.0", "1.2.0"] {
        story.runs("dev", version).settles();
    }
    assert_eq!(story.promoted("prod"), None);
    story.goes_through("qa");
    assert_eq!(story.promoted("prod").unwrap(), "1.2.0");
}

#[test]
fn what_is_delivered_is_not_rewritten_when_the_environment_before_goes_unhealthy() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().goes_through("prod");
    let before = story.promotion("prod").clone();
    story.fails("dev", "1.1.0").settles();
    assert_eq!(*story.promotion("prod"), before);
}

#[test]
fn a_merge_whose_record_was_lost_is_found_and_not_tried_again() {
    let mut story = Story::of("dev, prod").merges_itself("prod");
    story.runs("dev", "1.1.0");
    while story.world.promotion(&environment("prod")).is_none_or(|promotion| promotion.phase != Phase::Proposed) {
        story.world.carry();
        story.world.decide();
    }
    // The forge merged, and the process died before it could say so.
    let at = story.world.now;
    let proposal = story.world.snapshot.promotions[0].leg.facts.proposal.as_mut().unwrap();
    proposal.state = ProposalState::Merged { at, by: None };
    story.git_declares("prod", "1.1.0");
    let carried = story.settling();
    assert_eq!((carried, story.phase("prod")), (vec![], Phase::Delivered));
}

#[test]
fn a_gate_is_asked_again_after_a_late_approval() {
    let mut story = Story::of("dev, qa, prod").approval("qa", 1);
    story.runs("dev", "1.1.0").settles().waits(minutes(60 * 24 * 7));
    story.approves("ada", "qa", "1.1.0").goes_through("qa");
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn an_unchanged_disagreement_does_not_keep_anybody_busy() {
    let mut story = Story::of("qa(eu us), prod").when("prod", When::All);
    story.runs_on("qa", "eu", "1.0.0").runs_on("qa", "us", "1.1.0").runs("prod", "0.9.0").settles();
    for _ in 0..10 {
        story.world.now = story.after(minutes(10));
        let plan = story.plan();
        assert!(plan.writes.is_empty());
        assert_eq!(plan.next_check, None);
    }
}

#[test]
fn a_lost_or_deduplicated_event_does_not_lose_a_promotion() {
    let mut story = Story::of("dev, prod");
    story.reports("dev", Some("dev"), "2026-11-13T10:00:00Z", Outcome::Succeeded("1.0.0".parse().unwrap())).settles();
    story.runs("dev", "1.1.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0", "what is seen needs no event");
}

#[test]
fn an_environment_that_jumps_over_a_release_is_not_waited_for() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().merges("prod").runs("dev", "1.2.0").settles().merges("prod");
    story.runs("prod", "1.2.0").settles();
    assert_eq!(story.phases("prod"), [("1.1.0".into(), Phase::Superseded), ("1.2.0".into(), Phase::Succeeded)]);
}

#[test]
fn a_rollout_that_is_still_going_on_is_not_healthy_whatever_ran_before() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").runs("prod", "1.0.0").settles().rolls_out("dev", "1.1.0").settles();
    assert_eq!((story.promoted("prod"), story.held("prod")), (None, vec!["NotHealthyYet"]));
}

#[test]
fn a_message_for_people_decides_nothing() {
    let mut story = Story::of("dev, prod");
    let misleading = "Helm upgrade succeeded for release default/app.v7 with chart app@9.9.9";
    story.reports("dev", Some("dev"), "2026-11-13T10:00:00Z", Outcome::Failed { message: misleading.into() }).settles();
    assert_eq!(story.promoted("prod"), None);
}

#[test]
fn one_broken_promotion_makes_no_further_attempts_of_its_own() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0");
    story.world.decide();
    let retry = story.after(minutes(5));
    let problem = weir_core::Problem { with: weir_core::ProblemWith::Forge, message: "500".into(), retry };
    story.happens(Fact::Troubled { environment: environment("prod"), problem: Some(problem) }).settles();
    assert!(story.plan().writes.is_empty());
    assert_eq!(story.promotion("prod").release, release("1.1.0"));
}
