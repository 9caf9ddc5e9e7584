//! Rules 11 to 13 and 15: Git decides, deployments fail and heal, environments come and go.

use weir_core::{Fact, Intent, Outcome, Phase, Strategy};

use crate::story::{Story, environment, environments, minutes};

#[test]
fn delivered_means_that_the_base_branch_declares_it() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().merges("prod");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Delivered, vec!["Deploying"]));
    story.deploys("prod");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Succeeded, vec![]));
}

#[test]
fn an_arrival_by_hand_counts_and_the_proposal_is_closed_with_a_note() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles();
    let carried = {
        story.git_declares("prod", "1.1.0");
        story.settling()
    };
    assert_eq!(story.phase("prod"), Phase::Delivered);
    assert!(
        matches!(&carried[..], [step] if matches!(&step.intent, Intent::Close(note) if note.contains("declares 1.1.0")))
    );
}

#[test]
fn a_base_that_says_so_already_needs_no_proposal() {
    let mut story = Story::of("dev, prod");
    story.git_declares("prod", "1.1.0").runs("dev", "1.1.0");
    let carried = story.settling();
    assert_eq!(story.phase("prod"), Phase::Delivered);
    assert!(carried.iter().all(|step| step.intent == Intent::Locate));
}

#[test]
fn a_push_delivers_without_a_proposal() {
    let mut story = Story::of("dev, prod").pushes("prod");
    story.runs("dev", "1.1.0").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Delivered, vec!["Deploying"]));
    assert!(story.promotion("prod").leg.facts.proposal.is_none());
}

#[test]
fn a_notification_is_delivered_when_the_other_side_accepted_it() {
    let mut story = Story::of("dev, prod").policy("prod", |policy| policy.strategy = Strategy::Notification);
    story.runs("dev", "1.1.0").settles();
    assert_eq!(story.phase("prod"), Phase::Delivered);
    story.runs("prod", "1.1.0").settles();
    assert_eq!(story.phase("prod"), Phase::Succeeded);
}

#[test]
fn gone_from_the_base_again_is_rolled_back_and_refused() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").settles().goes_through("prod");
    story.runs("dev", "1.1.0").settles().goes_through("prod");
    story.git_declares("prod", "1.0.0").settles();
    assert_eq!(story.phase("prod"), Phase::RolledBack);
    story.deploys("prod").waits(minutes(600));
    assert_eq!(story.held("prod"), ["Refused"]);
    assert_eq!(story.phases("prod").len(), 2, "it is not promoted again");
}

#[test]
fn a_proposal_that_was_merged_with_something_older_in_it_is_a_rejection() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").settles().goes_through("prod").runs("dev", "1.2.0").settles();
    story.happens(Fact::Committed { environment: environment("prod"), by: "ada".into() });
    let proposal = story.world.snapshot.promotions.last_mut().unwrap().leg.facts.proposal.as_mut().unwrap();
    proposal.release = Some(crate::story::release("1.1.0"));
    story.merges("prod");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Rejected, vec!["Refused"]));
}

#[test]
fn succeeded_means_every_target() {
    let mut story = Story::of("dev, prod(eu us)");
    story.runs("dev", "1.1.0").settles().merges("prod").runs_on("prod", "eu", "1.1.0").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Delivered, vec!["Deploying"]));
    story.runs_on("prod", "us", "1.1.0").settles();
    assert_eq!(story.phase("prod"), Phase::Succeeded);
}

#[test]
fn a_failed_deployment_stays_delivered_and_heals_by_itself() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().merges("prod").fails("prod", "1.1.0").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Delivered, vec!["DeployFailed"]));
    story.runs("prod", "1.1.0").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Succeeded, vec![]));
}

#[test]
fn after_the_deploy_timeout_it_failed_and_is_tried_again_only_when_healed_asked_or_newer() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().merges("prod").fails("prod", "1.1.0").settles();
    assert_eq!(story.next_check(), Some(story.after(minutes(60))));
    story.waits(minutes(60));
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Failed, vec!["DeployFailed"]));
    story.waits(minutes(600));
    assert_eq!(story.phases("prod").len(), 1);
    let mut healed = story.clone();
    healed.runs("prod", "1.1.0").settles();
    assert_eq!(healed.phase("prod"), Phase::Succeeded);
    let mut newer = story.clone();
    newer.runs("dev", "1.2.0").settles();
    assert_eq!((newer.promoted("prod").unwrap().as_str(), newer.phase("prod")), ("1.2.0", Phase::Proposed));
    story.asks("ada", "prod", "1.1.0");
    assert_eq!(story.phases("prod").len(), 2);
}

#[test]
fn an_unreachable_target_of_the_next_environment_is_named() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").runs("prod", "1.0.0").settles().loses("prod", None).merges("prod");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Delivered, vec!["TargetUnreachable"]));
}

#[test]
fn lost_events_restarts_and_dead_clusters_lead_to_the_same_plan_on_the_next_look() {
    let mut attentive = Story::of("dev, prod");
    attentive.runs("dev", "1.0.0").settles().rolls_out("dev", "1.1.0").settles().runs("dev", "1.1.0").settles();
    let mut asleep = Story::of("dev, prod");
    asleep.runs("dev", "1.0.0").settles().runs("dev", "1.1.0").settles();
    assert_eq!(attentive.promoted("prod"), asleep.promoted("prod"));
    assert_eq!(attentive.held("prod"), asleep.held("prod"));
}

#[test]
fn targets_known_by_events_alone_recover_at_their_next_event() {
    let mut story = Story::of("dev, prod");
    let succeeded = |version: &str| Outcome::Succeeded(version.parse().unwrap());
    story.reports("dev", Some("dev"), "2026-11-13T10:00:00Z", succeeded("1.0.0")).settles();
    story.reports("dev", Some("dev"), "2026-11-13T11:00:00Z", succeeded("1.2.0")).settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.2.0");
}

#[test]
fn an_environment_that_is_gone_closes_its_proposal() {
    let mut story = Story::of("dev, qa, prod");
    story.runs("dev", "1.1.0").settles();
    story.rearrange(environments("dev, prod"));
    let carried = story.settling();
    assert_eq!(story.phase("qa"), Phase::Withdrawn);
    assert!(
        carried.iter().any(|step| matches!(&step.intent, Intent::Close(note) if note.contains("no longer entered")))
    );
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0", "and dev is now the neighbour of prod");
}

#[test]
fn a_pair_that_is_gone_closes_its_proposal() {
    let mut story = Story::of("dev, qa, prod");
    story.runs("dev", "1.1.0").settles();
    story.rearrange(environments("qa, dev, prod"));
    let carried = story.settling();
    assert_eq!(story.phase("qa"), Phase::Withdrawn);
    assert!(
        carried
            .iter()
            .any(|step| matches!(step.intent, Intent::Close(_)) && step.promotion.environment.as_str() == "qa")
    );
}

#[test]
fn a_strategy_that_is_taken_away_closes_the_proposal() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles();
    story.redefine("prod", |prod| prod.promotion = None);
    story.settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Withdrawn, vec!["NoStrategy"]));
}

#[test]
fn a_rollback_that_a_person_asked_for_is_followed_until_it_runs() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").settles().goes_through("prod").runs("dev", "1.1.0").settles().goes_through("prod");
    story.asks("ada", "prod", "1.0.0").merges("prod");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Delivered, vec!["Deploying"]));
    story.deploys("prod");
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.0.0", Phase::Succeeded));
    assert_eq!(story.held("prod"), ["Refused"], "1.1.0 does not come back by itself");
}

#[test]
fn what_a_person_goes_back_from_does_not_come_again_while_targets_still_run_it() {
    let mut story = Story::of("dev, prod(eu us)");
    story.runs("dev", "1.0.0").settles().goes_through("prod").runs("dev", "1.1.0").settles().goes_through("prod");
    story.asks("ada", "prod", "1.0.0").merges("prod").runs_on("prod", "eu", "1.0.0").settles();
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.0.0", Phase::Delivered));
    assert_eq!(story.held("prod"), ["Refused", "Deploying"]);
}
