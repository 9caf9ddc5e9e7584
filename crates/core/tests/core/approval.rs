//! The approval gate: so many people, for this release only, for so long.

use jiff::SignedDuration;
use weir_core::{Actor, ApprovalGate, Approvers, Fact, Gate, Intent, Phase};

use crate::story::{Story, approval, environment, minutes, release};

fn from_group(group: &str) -> Approvers {
    Approvers { groups: [group.to_owned()].into(), ..Approvers::default() }
}

#[test]
fn nothing_is_proposed_before_so_many_people_agreed() {
    let mut story = Story::of("dev, prod").approval("prod", 2);
    story.runs("dev", "1.1.0").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Pending, vec!["AwaitingApproval"]));
    story.approves("ada", "prod", "1.1.0");
    assert_eq!(story.phase("prod"), Phase::Pending);
    assert!(story.holds("prod")[0].reason.to_string().starts_with("1 of 2 approvals for 1.1.0 (ada)"));
    story.approves("grace", "prod", "1.1.0");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Proposed, vec!["AwaitingReview"]));
}

#[test]
fn a_person_counts_once() {
    let mut story = Story::of("dev, prod").approval("prod", 2);
    story.runs("dev", "1.1.0").settles().approves("ada", "prod", "1.1.0").approves("ada", "prod", "1.1.0");
    assert_eq!(story.phase("prod"), Phase::Pending);
}

#[test]
fn only_those_who_may_approve_count() {
    let gate = ApprovalGate { from: from_group("release"), ..approval(1) };
    let mut story = Story::of("dev, prod").gate("prod", Gate::Approval(gate));
    story.runs("dev", "1.1.0").settles().approves("mallory", "prod", "1.1.0");
    assert_eq!(story.phase("prod"), Phase::Pending);
    let by = Actor { name: "ada".into(), groups: vec!["release".into()] };
    story.happens(Fact::Approved { environment: environment("prod"), release: release("1.1.0"), by }).settles();
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn who_asked_for_it_does_not_approve_it() {
    let mut story = Story::of("dev, prod").approval("prod", 1);
    story.runs("dev", "1.1.0").settles().asks("ada", "prod", "1.1.0").approves("ada", "prod", "1.1.0");
    assert_eq!(story.phase("prod"), Phase::Pending);
    story.approves("grace", "prod", "1.1.0");
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn who_asked_for_it_may_approve_it_where_that_is_allowed() {
    let gate = ApprovalGate { allow_author: true, ..approval(1) };
    let mut story = Story::of("dev, prod").gate("prod", Gate::Approval(gate));
    story.runs("dev", "1.1.0").settles().asks("ada", "prod", "1.1.0").approves("ada", "prod", "1.1.0");
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn an_approval_expires_and_time_alone_closes_the_gate_again() {
    let gate = ApprovalGate { expires_after: Some(SignedDuration::from_hours(1)), ..approval(1) };
    let mut story = Story::of("dev, prod").gate("prod", Gate::Approval(gate));
    story.runs("dev", "1.1.0").settles().approves("ada", "prod", "1.1.0");
    assert_eq!(story.next_check(), Some(story.after(minutes(60))));
    story.waits(minutes(60));
    assert_eq!(story.held("prod"), ["AwaitingApproval", "AwaitingReview"]);
    assert_eq!(story.intent("prod"), None);
}

#[test]
fn more_approvals_than_needed_keep_the_gate_open_until_too_few_are_left() {
    let gate = ApprovalGate { expires_after: Some(SignedDuration::from_hours(1)), ..approval(2) };
    let mut story = Story::of("dev, prod").gate("prod", Gate::Approval(gate));
    story.runs("dev", "1.1.0").settles();
    for who in ["ada", "grace", "mary"] {
        story.approves(who, "prod", "1.1.0").waits(minutes(10));
    }
    assert_eq!(story.next_check(), Some(story.after(minutes(40))), "when grace's expires, one is left");
}

#[test]
fn an_approval_counts_for_its_release_only() {
    let mut story = Story::of("dev, prod").approval("prod", 1);
    story.runs("dev", "1.1.0").settles().approves("ada", "prod", "1.0.9");
    assert_eq!(story.held("prod"), ["AwaitingApproval"]);
}

#[test]
fn the_next_release_can_be_approved_while_the_one_before_waits() {
    let mut story = Story::of("dev, prod").approval("prod", 1);
    story.runs("dev", "1.1.0").settles().runs("dev", "1.2.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0", "what reviewers look at does not move under them");
    assert_eq!(story.held("prod"), ["AwaitingApproval", "AwaitingApproval"]);
    story.approves("ada", "prod", "1.2.0");
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.2.0", Phase::Proposed));
    assert_eq!(story.phases("prod")[0], ("1.1.0".into(), Phase::Superseded));
}

#[test]
fn nothing_is_merged_after_an_approval_expired() {
    let gate = ApprovalGate { expires_after: Some(SignedDuration::from_hours(1)), ..approval(1) };
    let mut story = Story::of("dev, prod").gate("prod", Gate::Approval(gate)).merges_itself("prod");
    story.runs("dev", "1.1.0").settles();
    let (prod, by) = (environment("prod"), Actor::named("ada"));
    story.happens(Fact::Approved { environment: prod, release: release("1.1.0"), by });
    story.world.decide();
    story.world.carry();
    story.world.now = story.after(minutes(61));
    story.world.decide();
    assert!(!matches!(story.intent("prod"), Some(Intent::Merge(_) | Intent::Propose)));
}
