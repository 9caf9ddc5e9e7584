//! Rules 4 to 6: which release is the candidate.

use weir_core::{Reason, When};

use crate::story::{Story, minutes, release};

#[test]
fn a_target_has_a_release_only_when_every_member_is_settled_and_healthy() {
    let mut story = Story::labelled("dev, prod");
    story.runs("dev", "a=1.0.0 b=1.0.0").fails("dev", "b=2.0.0").settles();
    assert_eq!(story.promoted("prod"), None);
    assert_eq!(story.held("prod"), ["NotHealthyYet"]);
    story.runs("dev", "b=2.0.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "a 1.0.0, b 2.0.0");
}

#[test]
fn members_match_across_environments_by_kind_and_name_and_an_environment_may_run_more() {
    let mut story = Story::labelled("dev, prod");
    story.runs("dev", "a=1.0.0").runs("prod", "a=1.0.0 extra=7").settles();
    assert_eq!(story.promoted("prod"), None);
    assert!(story.held("prod").is_empty());
}

#[test]
fn any_target_is_enough_by_default() {
    let mut story = Story::of("dev, qa(eu us), prod");
    story.runs_on("qa", "eu", "2.0.0").runs("prod", "1.0.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "2.0.0");
}

#[test]
fn when_all_waits_for_every_target() {
    let mut story = Story::of("qa(eu us), prod").when("prod", When::All);
    story.runs("qa", "1.0.0").runs("prod", "1.0.0").settles().runs_on("qa", "eu", "2.0.0").settles();
    assert_eq!(story.promoted("prod"), None);
    assert_eq!(story.held("prod"), ["NotEnoughTargets"]);
    story.runs_on("qa", "us", "2.0.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "2.0.0");
}

#[test]
fn a_share_of_the_targets_is_rounded_up() {
    let mut story = Story::of("qa(a b c), prod").when("prod", When::Percent(50));
    story.runs("qa", "1.0.0").runs("prod", "1.0.0").settles().runs_on("qa", "a", "2.0.0").settles();
    assert_eq!(story.held("prod"), ["NotEnoughTargets"]);
    story.runs_on("qa", "b", "2.0.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "2.0.0");
}

#[test]
fn unreachable_targets_count_but_never_in_favour() {
    let mut story = Story::of("qa(eu us), prod").when("prod", When::All);
    story.runs("qa", "2.0.0").loses("qa", Some("us")).runs("prod", "1.0.0").settles();
    assert_eq!(story.promoted("prod"), None);
    assert_eq!(story.held("prod"), ["TargetUnreachable", "NotEnoughTargets"]);
}

#[test]
fn of_targets_that_disagree_the_newest_that_satisfies_when_goes() {
    let mut story = Story::of("qa(a b c), prod").when("prod", When::Count(1));
    story
        .runs_on("qa", "a", "1.9.0")
        .runs_on("qa", "b", "1.10.0")
        .runs_on("qa", "c", "1.8.0")
        .runs("prod", "1.0.0")
        .settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.10.0");
    let mut two = Story::of("qa(a b c), prod").when("prod", When::Count(2));
    two.runs("qa", "1.9.0").runs_on("qa", "b", "1.10.0").runs("prod", "1.0.0").settles();
    assert_eq!(two.promoted("prod").unwrap(), "1.9.0");
}

#[test]
fn pairs_of_neighbours_are_decided_independently() {
    let mut story = Story::of("dev, qa, prod");
    story.runs("dev", "3.0.0").runs("qa", "2.0.0").runs("prod", "1.0.0").settles();
    assert_eq!(story.promoted("qa").unwrap(), "3.0.0");
    assert_eq!(story.promoted("prod").unwrap(), "2.0.0");
}

#[test]
fn an_environment_without_targets_is_never_entered_or_left() {
    let mut story = Story::of("dev, qa, prod").define("qa", |qa| qa.targets.clear());
    story.runs("dev", "2.0.0").runs("prod", "1.0.0").settles();
    assert!(story.world.snapshot.promotions.is_empty());
}

#[test]
fn nothing_goes_beyond_the_last_environment() {
    let mut story = Story::of("dev");
    story.runs("dev", "2.0.0").settles();
    assert!(story.world.snapshot.promotions.is_empty());
}

#[test]
fn nothing_goes_backwards() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.9.0").runs("prod", "2.0.0").settles();
    assert_eq!(story.promoted("prod"), None);
    assert_eq!(story.held("prod"), ["Backwards"]);
}

#[test]
fn the_newest_target_of_an_environment_decides_what_is_backwards() {
    let mut story = Story::of("dev, prod(eu us)");
    story.runs("dev", "1.9.0").runs_on("prod", "eu", "1.8.0").runs_on("prod", "us", "2.0.0").settles();
    assert_eq!(story.held("prod"), ["Backwards"]);
}

#[test]
fn a_person_may_ask_for_something_older() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.9.0").runs("prod", "1.9.0").settles();
    story.runs("dev", "2.0.0").settles().goes_through("prod").asks("ada", "prod", "1.9.0");
    assert_eq!(story.held("prod"), ["AwaitingReview"]);
    story.goes_through("prod");
    assert_eq!(story.promoted("prod").unwrap(), "1.9.0");
    assert_eq!(story.held("prod"), ["Refused"], "2.0.0 does not come back by itself");
}

#[test]
fn versions_that_are_not_semver_are_ordered_by_first_success() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "abc").settles().goes_through("prod");
    story.waits(minutes(1)).runs("dev", "def").settles();
    assert_eq!(story.promoted("prod").unwrap(), "def");
    story.goes_through("prod").waits(minutes(1)).runs("dev", "abc").settles();
    assert_eq!(story.held("prod"), ["Backwards"]);
}

#[test]
fn without_a_known_order_nothing_goes_until_a_person_asks() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "abc").runs("prod", "def").settles();
    assert_eq!(story.held("prod"), ["OrderUnknown"]);
    story.asks("ada", "prod", "abc").goes_through("prod");
    story.waits(minutes(1)).runs("dev", "ghi").settles();
    assert_eq!(story.promoted("prod").unwrap(), "ghi");
}

#[test]
fn what_came_through_weir_is_older_than_what_comes_now_even_if_its_order_is_forgotten() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "abc").settles().goes_through("prod");
    story.waits(minutes(1)).runs("dev", "def");
    story.world.snapshot.environments.get_mut(&crate::story::environment("dev")).unwrap().order.clear();
    story.settles();
    assert_eq!(story.promoted("prod").unwrap(), "def");
}

#[test]
fn releases_first_seen_at_the_same_look_have_no_order() {
    let mut story = Story::of("dev(a b), prod");
    story.runs_on("dev", "a", "abc").runs_on("dev", "b", "def").settles();
    assert_eq!(story.promoted("prod"), None);
    assert_eq!(story.held("prod"), ["OrderUnknown"]);
}

#[test]
fn a_release_that_is_already_everywhere_needs_no_promotion() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "2.0.0").runs("prod", "2.0.0").settles();
    assert!(story.world.snapshot.promotions.is_empty());
    assert!(story.held("prod").is_empty());
}

#[test]
fn without_a_strategy_a_candidate_is_only_shown() {
    let mut story = Story::of("dev, prod").define("prod", |prod| prod.promotion = None);
    story.runs("dev", "2.0.0").runs("prod", "1.0.0").settles();
    assert_eq!(story.holds("prod")[0].reason, Reason::NoStrategy { release: release("2.0.0") });
    assert_eq!(story.promoted("prod"), None);
}

#[test]
fn the_order_is_bounded_and_forgets_the_oldest() {
    let mut story = Story::of("dev, prod").define("prod", |prod| prod.promotion = None);
    for build in 0..100 {
        story.runs("dev", &format!("build-{build}")).waits(minutes(1));
    }
    let order = &story.world.snapshot.environments[&crate::story::environment("dev")].order;
    assert_eq!(order.len(), weir_core::EnvironmentRecord::ORDER);
    assert_eq!(order.last().unwrap().release.to_string(), "build-99");
}
