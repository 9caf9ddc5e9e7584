//! What is learnt about repositories and proposals, and the holds it makes.

use std::sync::Arc;

use weir_core::{Actor, Checks, Declared, Fact, Intent, Phase, Problem, ProblemWith, ProposalState, Rejection, Review};

use crate::story::{Story, environment, minutes};

/// Auto-merge with an open proposal that this fact was made known of at once.
fn proposed_with(fact: impl Fn() -> Fact) -> Story {
    let mut story = Story::of("dev, prod").merges_itself("prod");
    story.runs("dev", "1.1.0");
    while story.world.happen(fact()).is_err() {
        story.world.decide();
        story.world.carry();
    }
    story.settles();
    story
}

#[test]
fn pending_and_failing_checks_hold_the_merge() {
    let lint: Vec<Arc<str>> = vec!["lint".into()];
    let pending = Checks::Pending(lint.clone());
    let mut story = proposed_with(|| Fact::Checked { environment: environment("prod"), checks: pending.clone() });
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Proposed, vec!["ChecksPending"]));
    story.happens(Fact::Checked { environment: environment("prod"), checks: Checks::Failing(lint) }).settles();
    assert_eq!(story.held("prod"), ["ChecksFailing"]);
    story.happens(Fact::Checked { environment: environment("prod"), checks: Checks::Passing }).settles();
    assert_eq!(story.phase("prod"), Phase::Delivered);
}

#[test]
fn a_required_review_holds_the_merge() {
    let mut story = proposed_with(|| Fact::Reviewed { environment: environment("prod"), review: Review::Required });
    assert_eq!(story.held("prod"), ["AwaitingReview"]);
    story.happens(Fact::Reviewed { environment: environment("prod"), review: Review::ChangesRequested }).settles();
    assert_eq!(story.held("prod"), ["AwaitingReview"]);
    story.happens(Fact::Reviewed { environment: environment("prod"), review: Review::Approved }).settles();
    assert_eq!(story.phase("prod"), Phase::Delivered);
}

#[test]
fn a_branch_that_somebody_committed_to_is_theirs() {
    let mut story = proposed_with(|| Fact::Committed { environment: environment("prod"), by: "ada".into() });
    assert_eq!((story.held("prod"), story.intent("prod")), (vec!["BranchChangedByHand"], None));
    story.runs("dev", "1.2.0").settles();
    assert_eq!(
        (story.held("prod"), story.intent("prod")),
        (vec!["BranchChangedByHand"], None),
        "not even for a newer one"
    );
    let world = &story.world;
    let told = weir_core::explain(&world.pipeline, &world.snapshot, &environment("prod"), world.now).unwrap();
    assert_eq!(told.headline(), "app 1.2.0 waits before prod");
    let first = &told.reasons[0];
    assert!(first.sentence.ends_with(", which Weir made for 1.1.0: it is theirs now"), "{}", first.sentence);
    let remedy = first.remedy.as_deref().unwrap();
    assert!(remedy.starts_with("merge or close ") && remedy.ends_with(" by hand, or delete its branch"), "{remedy}");
    story.merges("prod");
    assert!(!story.held("prod").contains(&"BranchChangedByHand"));
}

#[test]
fn a_conflict_is_built_again() {
    let mut story =
        proposed_with(|| Fact::Checked { environment: environment("prod"), checks: Checks::Pending(vec![]) });
    story.happens(Fact::Conflicted { environment: environment("prod") });
    story.world.decide();
    assert_eq!(story.intent("prod"), Some(&Intent::Propose));
    assert!(story.held("prod").contains(&"Conflict"));
    story.settles();
    assert_eq!(story.phase("prod"), Phase::Delivered);
}

#[test]
fn no_place_to_edit_is_said_with_what_was_looked_for() {
    let mut story = Story::of("dev, prod");
    let nothing = Declared::Nothing { looked_for: "the marker `default:app:prod` in *.yaml".into() };
    story
        .happens(Fact::Declared { environment: environment("prod"), declares: nothing })
        .runs("dev", "1.1.0")
        .settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Pending, vec!["NothingToEdit"]));
    assert!(story.holds("prod")[0].reason.to_string().contains("default:app:prod"));
    story.git_declares("prod", "1.0.0").settles();
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn a_marker_that_does_not_say_its_workload_is_named() {
    let mut story = Story::of("dev, prod");
    let ambiguous = Declared::Ambiguous { place: "prod/app.yaml:7".into() };
    story
        .happens(Fact::Declared { environment: environment("prod"), declares: ambiguous })
        .runs("dev", "1.1.0")
        .settles();
    assert_eq!(story.held("prod"), ["AmbiguousMarker"]);
}

#[test]
fn trouble_with_repository_forge_and_limits_is_shown_and_tried_again() {
    for (with, name) in [
        (ProblemWith::Repository, "RepositoryUnavailable"),
        (ProblemWith::Forge, "ForgeUnavailable"),
        (ProblemWith::RateLimit, "RateLimited"),
    ] {
        let mut story = Story::of("dev, prod");
        story.runs("dev", "1.1.0");
        story.world.decide();
        let retry = story.after(minutes(1));
        let problem = Some(Problem { with, message: "timed out".into(), retry });
        story.happens(Fact::Troubled { environment: environment("prod"), problem }).settles();
        assert_eq!((story.held("prod"), story.intent("prod")), (vec![name], Some(&Intent::Locate)));
        story.happens(Fact::Troubled { environment: environment("prod"), problem: None }).settles();
        assert_eq!(story.phase("prod"), Phase::Proposed);
    }
}

#[test]
fn looking_is_allowed_while_gates_are_closed_and_writing_is_not() {
    let mut story = Story::of("dev, prod").approval("prod", 1);
    story.runs("dev", "1.1.0");
    let carried = story.settling();
    assert!(carried.iter().all(|step| step.intent == Intent::Locate) && !carried.is_empty());
}

#[test]
fn a_branch_that_is_theirs_is_not_built_again_and_hides_no_other_hold() {
    let mut story = proposed_with(|| Fact::Committed { environment: environment("prod"), by: "ada".into() });
    story.happens(Fact::Conflicted { environment: environment("prod") });
    story.happens(Fact::Reviewed { environment: environment("prod"), review: Review::ChangesRequested }).settles();
    assert_eq!(story.held("prod"), ["BranchChangedByHand", "Conflict", "AwaitingReview"]);
    assert_eq!(story.intent("prod"), None);
}

#[test]
fn weir_merges_what_a_person_asked_it_to_merge() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles();
    assert_eq!(story.held("prod"), ["AwaitingReview"]);
    let promotion = story.world.snapshot.promotions.last_mut().unwrap();
    promotion.leg.facts.proposal.as_mut().unwrap().merge_asked_by = Some("ada".into());
    story.settles();
    assert_eq!(story.phase("prod"), Phase::Delivered);
}

#[test]
fn what_a_person_rejects_is_closed_and_refused() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles();
    let at = story.world.now;
    let promotion = story.world.snapshot.promotions.last_mut().unwrap();
    promotion.rejection = Some(Rejection { by: Actor::named("ada"), at, why: Some("not today".into()) });
    story.settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Rejected, vec!["Refused"]));
    let proposal = story.promotion("prod").leg.facts.proposal.as_ref().unwrap();
    assert_eq!(proposal.state, ProposalState::Closed { by: None });
    story.runs("dev", "1.2.0").settles();
    assert_eq!(story.phase("prod"), Phase::Proposed, "a newer one is not refused");
}

#[test]
fn what_is_rejected_while_it_is_being_merged_is_there() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles();
    let at = story.world.now;
    let promotion = story.world.snapshot.promotions.last_mut().unwrap();
    promotion.rejection = Some(Rejection { by: Actor::named("ada"), at, why: None });
    story.settles();
    assert_eq!(story.phase("prod"), Phase::Rejected);
    let proposal = story.world.snapshot.promotions.last_mut().unwrap().leg.facts.proposal.as_mut().unwrap();
    proposal.state = ProposalState::Merged { at, by: Some("bob".into()) };
    story.git_declares("prod", "1.1.0").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Delivered, vec!["Deploying"]));
    story.deploys("prod").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Succeeded, vec![]));
    assert_eq!(story.phases("prod").len(), 1);
}

#[test]
fn a_request_that_nobody_can_fulfil_can_be_rejected_and_automation_goes_on() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").asks("bob", "prod", "9.9.9").settles();
    assert!(story.held("prod").contains(&"Behind"), "{:?}", story.held("prod"));
    let at = story.world.now;
    let promotion = story.world.snapshot.promotions.last_mut().unwrap();
    promotion.rejection = Some(Rejection { by: Actor::named("ada"), at, why: None });
    story.settles();
    assert_eq!((story.promoted("prod").as_deref(), story.phase("prod")), (Some("1.1.0"), Phase::Proposed));
}
