//! Rule 10: gates, freezes and suspension, evaluated again before every write.

use jiff::Timestamp;
use weir_core::{Fact, Freeze, Gate, Intent, Period, Phase, Selector, Window, apply};

use crate::story::{Story, environment, minutes};

fn only(environment: &str) -> Selector {
    Selector { environment: Some(environment.parse().unwrap()), ..Selector::default() }
}

#[test]
fn a_proposal_opens_only_when_all_gates_are_open() {
    let mut story = Story::of("dev, prod").soak("prod", minutes(30)).approval("prod", 1);
    story.runs("dev", "1.1.0").settles();
    assert_eq!(story.held("prod"), ["Soaking", "AwaitingApproval"]);
    story.approves("ada", "prod", "1.1.0");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Pending, vec!["Soaking"]));
    story.waits(minutes(30));
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn soaking_is_continuous_and_starts_again_after_a_failure() {
    let mut story = Story::of("dev, prod").soak("prod", minutes(60));
    story.runs("dev", "1.1.0").settles().waits(minutes(50)).fails("dev", "1.1.0").settles();
    story.waits(minutes(5)).runs("dev", "1.1.0").settles().waits(minutes(59));
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Pending, vec!["Soaking"]));
    assert_eq!(story.next_check(), Some(story.after(minutes(1))));
    story.waits(minutes(1));
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn a_release_that_has_soaked_stays_so_when_the_environment_moves_on() {
    let mut story = Story::of("dev, prod").soak("prod", minutes(60));
    story.runs("dev", "1.1.0").settles().waits(minutes(60)).runs("dev", "1.2.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0");
    assert!(story.promotion("prod").holds.iter().all(|hold| hold.reason.name() == "AwaitingReview"));
}

#[test]
fn a_release_that_is_replaced_before_it_has_soaked_gives_way() {
    let mut story = Story::of("dev, prod").soak("prod", minutes(60));
    story.runs("dev", "1.1.0").settles().waits(minutes(30)).runs("dev", "1.2.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.2.0");
    assert_eq!(story.phases("prod")[0], ("1.1.0".into(), Phase::Superseded));
    assert_eq!(story.held("prod"), ["Soaking"]);
}

#[test]
fn of_several_targets_the_soak_runs_from_when_enough_of_them_had_it() {
    let mut story = Story::of("qa(a b c), prod").soak("prod", minutes(60)).when("prod", weir_core::When::Count(2));
    story.runs("qa", "1.0.0").runs("prod", "1.0.0").settles();
    for name in ["a", "b", "c"] {
        story.runs_on("qa", name, "1.1.0").settles().waits(minutes(10));
    }
    assert_eq!(story.next_check(), Some(story.after(minutes(40))));
}

#[test]
fn a_soak_begins_again_when_only_a_target_is_left_that_had_the_release_later() {
    let mut story = Story::of("qa(eu us), prod").soak("prod", minutes(60));
    story.runs("qa", "1.0.0").runs("prod", "1.0.0").settles().runs_on("qa", "eu", "1.1.0").settles();
    story.waits(minutes(60)).runs_on("qa", "us", "1.1.0").settles();
    assert_eq!(story.held("prod"), ["AwaitingReview"]);
    story.loses("qa", Some("eu")).settles();
    assert_eq!(story.held("prod"), ["Soaking", "AwaitingReview"]);
}

#[test]
fn a_window_holds_until_it_opens() {
    let mut story = Story::of("dev, prod").office_hours("prod");
    story.world.now = "2026-11-13T18:00:00+01:00".parse().unwrap();
    story.runs("dev", "1.1.0").settles();
    assert_eq!(story.held("prod"), ["OutsideWindow"]);
    let monday: Timestamp = "2026-11-16T09:00:00+01:00".parse().unwrap();
    assert_eq!(story.next_check(), Some(monday));
    story.world.now = monday;
    story.settles();
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn a_window_that_denies_closes_what_is_otherwise_open() {
    let holidays = Period::new("0 0 24 12 *", minutes(60 * 72), "Europe/Berlin").unwrap();
    let mut story = Story::of("dev, prod").gate("prod", Gate::Window(Window::new(vec![], vec![holidays])));
    story.world.now = "2026-12-25T12:00:00Z".parse().unwrap();
    story.runs("dev", "1.1.0").settles();
    assert_eq!(story.held("prod"), ["OutsideWindow"]);
    assert_eq!(story.next_check(), Some("2026-12-27T00:00:00+01:00".parse().unwrap()));
}

#[test]
fn gates_are_evaluated_again_before_the_merge() {
    let mut story = Story::of("dev, prod").office_hours("prod").merges_itself("prod");
    story.runs("dev", "1.1.0");
    while story.world.promotion(&environment("prod")).is_none_or(|promotion| promotion.phase != Phase::Proposed) {
        story.world.decide();
        if story.intent("prod").is_some_and(|intent| !matches!(intent, Intent::Merge(_))) {
            story.world.carry();
        }
    }
    assert!(matches!(story.intent("prod"), Some(Intent::Merge(_))));
    story.world.now = "2026-11-13T17:00:00+01:00".parse().unwrap();
    story.world.decide();
    assert_eq!(story.intent("prod"), None);
    assert_eq!(story.held("prod"), ["OutsideWindow"]);
}

#[test]
fn a_freeze_of_everything_stops_everything() {
    let mut story = Story::of("dev, qa, prod").merges_itself("qa").merges_itself("prod");
    story.freezes(Selector::default(), None).runs("dev", "2.0.0").runs("qa", "1.0.0").runs("prod", "0.9.0").settles();
    assert_eq!((story.held("qa"), story.held("prod")), (vec!["Frozen"], vec!["Frozen"]));
    assert_eq!((story.phase("qa"), story.phase("prod")), (Phase::Pending, Phase::Pending));
    story.lifts();
    assert_eq!((story.phase("qa"), story.phase("prod")), (Phase::Delivered, Phase::Delivered));
}

#[test]
fn a_freeze_stops_what_it_selects_and_nothing_else() {
    let mut story = Story::of("dev, qa, prod");
    story.freezes(only("prod"), None).runs("dev", "2.0.0").runs("qa", "1.0.0").runs("prod", "0.9.0").settles();
    assert_eq!((story.held("qa"), story.held("prod")), (vec!["AwaitingReview"], vec!["Frozen"]));
    let other = Selector { pipeline: Some("other".parse().unwrap()), ..Selector::default() };
    let mut story = Story::of("dev, prod");
    story.freezes(other, None).runs("dev", "2.0.0").settles();
    assert_eq!(story.held("prod"), ["AwaitingReview"]);
}

#[test]
fn a_freeze_ends_by_itself() {
    let mut story = Story::of("dev, prod");
    let until = story.after(minutes(90));
    story.freezes(Selector::default(), Some(until)).runs("dev", "2.0.0").settles();
    assert_eq!(story.next_check(), Some(until));
    story.waits(minutes(90));
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn a_quarantined_release_is_passed_over_unless_a_person_asks() {
    let bad = Selector { release: Some("2.0.0".parse().unwrap()), ..Selector::default() };
    let mut story = Story::of("dev, prod");
    story.freezes(bad, None).runs("dev", "2.0.0").runs("prod", "1.0.0").settles();
    assert_eq!((story.promoted("prod"), story.held("prod")), (None, vec!["Frozen"]));
    story.asks("ada", "prod", "2.0.0");
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn a_freeze_stops_what_a_person_asked_for_too() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "2.0.0").settles().freezes(Selector::default(), None).asks("ada", "prod", "2.0.0");
    assert!(story.held("prod").contains(&"Frozen"));
    assert_eq!(story.intent("prod"), Some(&Intent::Locate).filter(|_| false));
}

#[test]
fn suspension_stops_every_write_but_closing() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").settles().goes_through("prod").runs("dev", "1.1.0").settles();
    story.world.pipeline.suspended = true;
    story.runs("dev", "1.2.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0");
    assert!(story.held("prod").contains(&"Suspended"));
    let carried = {
        story.runs("dev", "1.0.0");
        story.settling()
    };
    assert_eq!(story.phase("prod"), Phase::Withdrawn);
    assert!(carried.iter().all(|step| matches!(step.intent, Intent::Close(_))) && !carried.is_empty());
}

#[test]
fn people_merge_unless_weir_is_told_to() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles();
    assert_eq!((story.held("prod"), story.intent("prod")), (vec!["AwaitingReview"], None));
    let mut story = Story::of("dev, prod").merges_itself("prod");
    story.runs("dev", "1.1.0").settles();
    assert_eq!(story.phase("prod"), Phase::Delivered);
}

#[test]
fn a_merge_against_a_hold_is_recorded_as_an_override() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().freezes(Selector::default(), None).merges("prod");
    let promotion = story.promotion("prod");
    assert_eq!(promotion.phase, Phase::Delivered);
    assert_eq!(promotion.overridden.iter().map(|hold| hold.reason.name()).collect::<Vec<_>>(), ["Frozen"]);
}

#[test]
fn a_hold_keeps_the_time_since_when_it_holds() {
    let mut story = Story::of("dev, prod").approval("prod", 2);
    story.runs("dev", "1.1.0").settles();
    let since = story.holds("prod")[0].since;
    story.waits(minutes(20)).approves("ada", "prod", "1.1.0");
    assert_eq!(story.holds("prod")[0].since, since);
}

#[test]
fn next_check_is_the_next_moment_at_which_time_alone_changes_the_plan() {
    let mut story = Story::of("dev, prod").soak("prod", minutes(60)).office_hours("prod");
    story.runs("dev", "1.1.0").settles();
    let next = story.next_check().unwrap();
    assert_eq!(next, story.after(minutes(60)));
    let before = next.checked_sub(jiff::SignedDuration::from_nanos(1)).unwrap();
    let plan = weir_core::plan(&story.world.pipeline, &story.world.snapshot, before);
    assert!(plan.writes.is_empty());
    let plan = weir_core::plan(&story.world.pipeline, &story.world.snapshot, next);
    assert!(!plan.writes.is_empty());
    let settled = apply(&plan, story.world.snapshot.clone());
    assert!(weir_core::plan(&story.world.pipeline, &settled, next).writes.is_empty());
}

#[test]
fn a_settled_pipeline_has_nothing_to_wait_for() {
    let mut story = Story::of("dev, prod").soak("prod", minutes(60)).office_hours("prod");
    story.runs("dev", "1.1.0").runs("prod", "1.1.0").settles();
    assert_eq!(story.next_check(), None);
}

#[test]
fn the_end_of_a_quarantine_is_waited_for_even_if_a_newer_release_is_quarantined_too() {
    let mut story = Story::of("dev(a b), prod");
    let quarantine = |name: &str, version: &str, until: Option<Timestamp>| {
        let selector = Selector { release: Some(version.parse().unwrap()), ..Selector::default() };
        let from = "2026-11-13T11:00:00Z".parse().unwrap();
        let name = name.parse().unwrap();
        Fact::Frozen(Freeze { name, selector, reason: "broken".into(), by: "grace".into(), from, until })
    };
    let until = story.after(minutes(30));
    story.happens(quarantine("newer", "1.2.0", None)).happens(quarantine("older", "1.1.0", Some(until)));
    story.runs_on("dev", "a", "1.2.0").runs_on("dev", "b", "1.1.0").settles();
    assert_eq!((story.held("prod"), story.next_check()), (vec!["Frozen"], Some(until)));
    story.waits(minutes(30));
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0");
}

#[test]
fn what_a_superseded_promotion_waited_for_is_no_longer_waited_for() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles();
    let selector = Selector { release: Some("1.1.0".parse().unwrap()), ..Selector::default() };
    let (name, from) = ("later".parse().unwrap(), story.after(minutes(30)));
    let freeze = Freeze { name, selector, reason: "broken".into(), by: "grace".into(), from, until: None };
    story.happens(Fact::Frozen(freeze)).runs("dev", "1.2.0");
    assert_eq!(story.world.decide().next_check, None);
}
