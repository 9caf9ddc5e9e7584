//! Whole stories, each worked through to its end.

use std::sync::Arc;

use weir_core::{Concurrency, Fact, Intent, Outcome, Phase, Selector, Version, When, Workload, WorkloadState};

use crate::story::{Story, environment, environments, minutes, target};

#[test]
fn targets_that_disagree() {
    let mut story = Story::of("dev, qa(eu us), prod").when("prod", When::All);
    story.runs("dev", "1.0.0").runs("qa", "1.0.0").runs("prod", "1.0.0").settles();
    story.runs("dev", "1.1.0").settles().merges("qa").runs_on("qa", "eu", "1.1.0").settles();
    assert_eq!((story.phase("qa"), story.held("prod")), (Phase::Delivered, vec!["NotEnoughTargets"]));
    story.fails_on("qa", "us", "1.1.0").settles();
    assert_eq!(story.held("qa"), ["DeployFailed"]);
    assert_eq!(story.held("prod"), ["NotHealthyYet", "NotEnoughTargets"]);
    story.runs_on("qa", "us", "1.1.0").settles();
    assert_eq!((story.phase("qa"), story.promoted("prod").unwrap().as_str()), (Phase::Succeeded, "1.1.0"));
    story.goes_through("prod");
    assert_eq!(story.phase("prod"), Phase::Succeeded);
}

#[test]
fn rollback_in_dev() {
    let mut story = Story::of("dev, qa, prod");
    story.runs("dev", "1.0.0").settles().goes_through("qa").goes_through("prod");
    story.runs("dev", "1.1.0").settles().goes_through("qa");
    story.runs("dev", "1.0.0").settles();
    assert_eq!(story.held("qa"), ["Backwards"], "qa has 1.1.0, and stays there");
    assert_eq!(
        story.promoted("prod").unwrap(),
        "1.1.0",
        "qa stands behind it; what dev does is no longer the question"
    );
    story.goes_through("prod");
    story.runs("dev", "1.2.0").settles().goes_through("qa").goes_through("prod");
    assert_eq!(story.phase("prod"), Phase::Succeeded);
}

#[test]
fn rollback_in_prod_while_staging_stays_ahead() {
    let mut story = Story::of("dev, staging, prod");
    story.runs("dev", "1.0.0").settles().goes_through("staging").goes_through("prod");
    story.runs("dev", "1.1.0").settles().goes_through("staging").goes_through("prod");
    story.git_declares("prod", "1.0.0").settles().deploys("prod");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::RolledBack, vec!["Refused"]));
    assert_eq!(story.held("staging"), [""; 0], "staging is left alone");
    story.runs("dev", "1.2.0").settles().goes_through("staging").goes_through("prod");
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.2.0", Phase::Succeeded));
}

#[test]
fn a_hotfix_straight_to_prod() {
    let mut story = Story::of("dev, staging, prod");
    story.runs("dev", "1.1.0").settles().goes_through("staging");
    assert_eq!(story.phase("prod"), Phase::Proposed);
    story.git_declares("prod", "1.1.1").runs("prod", "1.1.1").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Withdrawn, vec!["Backwards"]));
    story.runs("dev", "1.2.0").settles().goes_through("staging").goes_through("prod");
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.2.0", Phase::Succeeded));
}

#[test]
fn merged_but_the_deployment_fails_then_heals() {
    let mut story = Story::of("dev, qa, prod");
    story.runs("dev", "1.0.0").settles().goes_through("qa").goes_through("prod");
    story.runs("dev", "1.1.0").settles().merges("qa").fails("qa", "1.1.0").settles();
    assert_eq!(story.held("qa"), ["DeployFailed"]);
    assert_eq!(story.held("prod"), ["NotHealthyYet"], "and nothing of it goes further");
    story.waits(minutes(61));
    assert_eq!(story.phase("qa"), Phase::Failed);
    story.runs("qa", "1.1.0").settles();
    assert_eq!((story.phase("qa"), story.phase("prod")), (Phase::Succeeded, Phase::Proposed));
}

#[test]
fn a_merge_reverted_in_git() {
    let mut story = Story::of("dev, prod").merges_itself("prod");
    story.runs("dev", "1.0.0").settles().deploys("prod");
    story.runs("dev", "1.1.0").settles();
    assert_eq!(story.phase("prod"), Phase::Delivered);
    story.git_declares("prod", "1.0.0").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::RolledBack, vec!["Refused"]));
    story.waits(minutes(60)).deploys("prod");
    assert_eq!(story.phases("prod").len(), 2);
    story.asks("ada", "prod", "1.1.0").deploys("prod");
    assert_eq!(story.phase("prod"), Phase::Succeeded);
}

#[test]
fn an_environment_skipped_by_hand() {
    let mut story = Story::of("dev, staging, prod");
    story.runs("dev", "1.0.0").settles().goes_through("staging").goes_through("prod");
    story.runs("dev", "2.0.0").settles().git_declares("prod", "2.0.0").deploys("prod");
    assert_eq!(story.held("prod"), ["Backwards"], "staging offers 1.0.0");
    story.goes_through("staging");
    assert_eq!(story.held("prod"), [""; 0], "prod has had it all the while");
    assert_eq!(story.phases("prod").len(), 1);
}

#[test]
fn two_workloads_of_which_one_fails() {
    let mut story = Story::labelled("dev, prod");
    story.runs("dev", "a=1 b=1").settles().goes_through("prod").waits(minutes(1));
    story.runs("dev", "a=2").fails("dev", "b=2").settles();
    assert_eq!(story.held("prod"), ["NotHealthyYet"]);
    story.waits(minutes(1)).runs("dev", "b=2").settles().merges("prod");
    story.runs("prod", "a=2").fails("prod", "b=2").settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Delivered, vec!["DeployFailed"]));
    story.runs("prod", "b=2").settles();
    assert_eq!(story.phase("prod"), Phase::Succeeded);
}

#[test]
fn a_kustomization_on_a_branch() {
    let mut story = Story::labelled("dev, prod");
    let seen = |story: &mut Story, version: Version| {
        story.runs("dev", "x=1");
        let workloads = &mut Arc::make_mut(story.world.snapshot.sightings.get_mut(&target("dev")).unwrap()).workloads;
        workloads.clear();
        workloads.insert("Kustomization/app".parse().unwrap(), Workload { version, state: WorkloadState::Healthy });
    };
    seen(&mut story, Version::Branch("main@sha1:1111".into()));
    story.settles();
    assert_eq!((story.promoted("prod"), story.held("prod")), (None, vec!["NoRevision"]));
    seen(&mut story, Version::Revision("1.4.0".parse().unwrap()));
    story.settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.4.0", "its image has a version that can be promoted");
}

#[test]
fn a_target_added_in_the_middle() {
    let mut story = Story::of("dev, prod(eu)");
    story.runs("dev", "1.1.0").settles().goes_through("prod");
    story.rearrange(environments("dev, prod(eu us)"));
    story.settles();
    assert_eq!((story.phases("prod").len(), story.held("prod")), (1, vec!["Deploying"]), "Git declares it already");
    story.runs_on("prod", "us", "1.1.0").settles();
    assert_eq!(story.held("prod"), [""; 0]);
}

#[test]
fn a_target_removed_in_the_middle() {
    let mut story = Story::of("qa(eu us), prod").when("prod", When::All);
    story.runs("qa", "1.0.0").settles().goes_through("prod").runs_on("qa", "eu", "1.1.0").settles();
    assert_eq!(story.held("prod"), ["NotEnoughTargets"]);
    story.redefine("qa", |qa| qa.targets.retain(|known| *known == target("eu")));
    story.settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0");
    let remembered = &story.world.snapshot.environments[&environment("qa")].targets;
    assert_eq!(remembered.len(), 1, "and it is forgotten");
}

#[test]
fn a_target_renamed_in_the_middle() {
    let mut story = Story::of("qa(eu us), prod").when("prod", When::All);
    story.runs("qa", "1.1.0").settles();
    assert_eq!(story.phase("prod"), Phase::Proposed);
    story.redefine("qa", |qa| qa.targets[1] = target("apac"));
    story.settles();
    assert_eq!(story.held("prod"), ["NotEnoughTargets", "AwaitingReview"], "nothing is known of the new name yet");
    story.runs_on("qa", "apac", "1.1.0").settles();
    assert_eq!(story.held("prod"), ["AwaitingReview"]);
}

#[test]
fn environments_reordered() {
    let mut story = Story::of("dev, qa, prod");
    story.runs("dev", "1.1.0").runs("qa", "1.0.0").runs("prod", "1.0.0").settles();
    assert_eq!(story.phase("qa"), Phase::Proposed);
    story.rearrange(environments("dev, prod, qa"));
    story.settles();
    assert_eq!(story.phases("qa")[0], ("1.1.0".into(), Phase::Withdrawn));
    assert_eq!(story.promotion("prod").from.as_str(), "dev");
    story.goes_through("prod");
    assert_eq!(story.promotion("qa").from.as_str(), "prod");
    story.goes_through("qa");
    assert_eq!(story.phase("qa"), Phase::Succeeded);
}

#[test]
fn the_pipeline_deleted_with_a_proposal_open() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles();
    story.world.pipeline.deleted = true;
    let carried = story.settling();
    assert!(
        matches!(&carried[..], [step] if matches!(&step.intent, Intent::Close(note) if note.contains("was deleted")))
    );
    assert_eq!((story.phase("prod"), story.intent("prod")), (Phase::Withdrawn, None));
    story.runs("dev", "1.2.0").settles();
    assert_eq!(story.phases("prod").len(), 1);
}

#[test]
fn superseded_while_approved() {
    let mut story = Story::of("dev, prod").approval("prod", 1);
    story = story.policy("prod", |policy| policy.concurrency = Concurrency::Latest);
    story.runs("dev", "1.1.0").settles().approves("ada", "prod", "1.1.0").runs("dev", "1.2.0").settles();
    story.approves("grace", "prod", "1.2.0");
    assert_eq!(story.phases("prod")[0], ("1.1.0".into(), Phase::Superseded));
    let promotion = story.promotion("prod");
    assert_eq!(promotion.release.to_string(), "1.2.0");
    assert_eq!(promotion.approvals.len(), 1, "only what was said about 1.2.0 came along");
    story.goes_through("prod");
    assert_eq!(story.phase("prod"), Phase::Succeeded);
}

#[test]
fn superseded_while_being_merged() {
    let mut story = Story::of("dev, prod").merges_itself("prod");
    story = story.policy("prod", |policy| policy.concurrency = Concurrency::Latest);
    story.runs("dev", "1.1.0");
    while !matches!(
        story.world.promotion(&environment("prod")).and_then(|p| p.leg.intent.clone()),
        Some(Intent::Merge(_))
    ) {
        story.world.carry();
        story.world.decide();
    }
    story.runs("dev", "1.2.0");
    story.world.decide();
    assert_eq!(story.promoted("prod").unwrap(), "1.2.0", "the newer one has the turn");
    // The forge had begun the merge, and finishes it.
    story.merges("prod");
    assert_eq!(story.phases("prod"), [("1.1.0".into(), Phase::Superseded), ("1.2.0".into(), Phase::Delivered)]);
    let merged_first = story.world.snapshot.promotions[0].history.iter().any(|turn| turn.phase == Phase::Delivered);
    assert!(merged_first, "1.1.0 was delivered on the way");
    story.deploys("prod");
    assert_eq!(story.phase("prod"), Phase::Succeeded);
}

#[test]
fn approval_for_a_then_b_arrives() {
    let mut story = Story::of("dev, prod").approval("prod", 2);
    story.runs("dev", "1.1.0").settles().approves("ada", "prod", "1.1.0").runs("dev", "1.2.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0");
    story.approves("grace", "prod", "1.1.0");
    assert_eq!(story.phase("prod"), Phase::Proposed);
    story.goes_through("prod");
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.held("prod")), ("1.2.0", vec!["AwaitingApproval"]));
    story.approves("ada", "prod", "1.2.0").approves("grace", "prod", "1.2.0").goes_through("prod");
    assert_eq!(story.phase("prod"), Phase::Succeeded);
}

#[test]
fn a_freeze_between_approval_and_merge() {
    let mut story = Story::of("dev, prod").approval("prod", 1).merges_itself("prod");
    story.runs("dev", "1.1.0").settles();
    let fact = Fact::Approved {
        environment: environment("prod"),
        release: crate::story::release("1.1.0"),
        by: weir_core::Actor::named("ada"),
    };
    story.happens(fact);
    while story.phase("prod") != Phase::Proposed {
        story.world.carry();
        story.world.decide();
    }
    assert!(matches!(story.intent("prod"), Some(Intent::Merge(_))));
    let until = story.after(minutes(45));
    let frozen = Selector::default();
    let freeze = weir_core::Freeze {
        name: "incident".parse().unwrap(),
        selector: frozen,
        reason: "on fire".into(),
        by: "grace".into(),
        from: story.world.now,
        until: Some(until),
    };
    story.happens(Fact::Frozen(freeze)).settles();
    assert_eq!(
        (story.phase("prod"), story.held("prod"), story.intent("prod")),
        (Phase::Proposed, vec!["Frozen"], None)
    );
    story.waits(minutes(45));
    assert_eq!(story.phase("prod"), Phase::Delivered);
}

#[test]
fn a_late_event() {
    let mut story = Story::of("dev, prod");
    let succeeded = |version: &str| Outcome::Succeeded(version.parse().unwrap());
    story.reports("dev", Some("dev"), "2026-11-13T11:00:00Z", succeeded("1.1.0")).settles();
    story.reports("dev", Some("dev"), "2026-11-13T10:00:00Z", Outcome::Failed { message: "no".into() }).settles();
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.held("prod")), ("1.1.0", vec!["AwaitingReview"]));
    story.reports("dev", Some("dev"), "2026-11-13T10:30:00Z", succeeded("1.0.0")).settles();
    assert_eq!(story.promoted("prod").unwrap(), "1.1.0");
    assert_eq!(story.observation("dev", Some("dev")).success.as_ref().unwrap().revision.as_str(), "1.1.0");
}

#[test]
fn an_early_event() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().runs("prod", "1.1.0").settles();
    assert_eq!(story.phase("prod"), Phase::Proposed, "prod runs it before Weir knows of the merge");
    story.merges("prod");
    assert_eq!(story.phase("prod"), Phase::Succeeded);
}

#[test]
fn versions_that_are_not_semver_mixed() {
    let mut story = Story::of("dev, prod");
    for version in ["1.0.0", "nightly-0113", "1.1.0", "sha256:0123"] {
        story.waits(minutes(1)).runs("dev", version).settles().goes_through("prod");
        assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), (version, Phase::Succeeded));
    }
    story.waits(minutes(1)).runs("dev", "nightly-0113").settles();
    assert_eq!(story.held("prod"), ["Backwards"]);
}

#[test]
fn the_same_version_again() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").settles().goes_through("prod");
    story.rolls_out("dev", "1.1.0").settles().runs("dev", "1.1.0").settles();
    assert_eq!(story.phases("prod").len(), 1, "new values of the same version are not a new release");
    story.fails("prod", "1.1.0").settles().runs("prod", "1.1.0").settles();
    assert_eq!(story.phases("prod").len(), 1);
}

#[test]
fn a_busy_first_environment_does_not_starve_the_last() {
    let mut story = Story::of("dev, qa, prod").merges_itself("qa").soak("prod", minutes(60)).approval("prod", 1);
    let mut delivered = 0;
    for build in 1..=48 {
        story.runs("dev", &format!("1.{build}.0")).settles();
        if build % 12 == 0 {
            story.deploys("qa");
        }
        story.waits(minutes(15));
        if let Some(promotion) = story.world.promotion(&environment("prod")).filter(|p| p.phase == Phase::Pending) {
            let waiting = promotion.release.to_string();
            story.approves("ada", "prod", &waiting);
        }
        if story.world.promotion(&environment("prod")).is_some_and(|promotion| promotion.phase == Phase::Proposed) {
            story.goes_through("prod");
            delivered += 1;
        }
    }
    assert!(delivered >= 3, "prod got {delivered}");
}

#[test]
fn a_busy_first_environment_does_not_restart_the_checks_of_what_is_merging() {
    let mut story = Story::of("dev, prod").merges_itself("prod");
    story.runs("dev", "1.0.0");
    let pending = weir_core::Checks::Pending(vec!["e2e".into()]);
    while story.world.happen(Fact::Checked { environment: environment("prod"), checks: pending.clone() }).is_err() {
        story.world.decide();
        story.world.carry();
    }
    story.settles();
    for build in 1..10 {
        story.runs("dev", &format!("1.{build}.0")).waits(minutes(5));
        assert_eq!(story.promoted("prod").unwrap(), "1.0.0");
    }
    story.happens(Fact::Checked { environment: environment("prod"), checks: weir_core::Checks::Passing }).settles();
    assert_eq!(story.phases("prod")[0], ("1.0.0".into(), Phase::Superseded));
    assert_eq!(story.promoted("prod").unwrap(), "1.9.0");
}

#[test]
fn a_rollback_of_a_deployment_that_never_became_healthy() {
    let mut story = Story::of("staging, prod").merges_itself("prod");
    story.runs("staging", "1.0.0").settles().deploys("prod").runs("staging", "1.1.0").settles().fails("prod", "1.1.0");
    story.settles();
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Delivered, vec!["DeployFailed"]));
    story.asks("bob", "prod", "1.0.0");
    assert_eq!(story.phases("prod")[1], ("1.1.0".into(), Phase::RolledBack));
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.0.0", Phase::Delivered));
    story.deploys("prod").waits(minutes(600));
    assert_eq!((story.phases("prod").len(), story.phase("prod")), (3, Phase::Succeeded), "1.1.0 does not come back");
    assert_eq!(story.held("prod"), ["Refused"]);
}

#[test]
fn a_rollback_is_not_overtaken_by_automation_before_it_runs() {
    let mut story = Story::of("staging, prod").merges_itself("prod");
    story.runs("staging", "1.0.0").settles().deploys("prod").runs("staging", "1.1.0").settles().deploys("prod");
    story.asks("bob", "prod", "1.0.0").runs("staging", "1.2.0").settles();
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.0.0", Phase::Delivered));
    assert!(story.held("prod").contains(&"Behind"));
    story.deploys("prod");
    assert_eq!(story.promoted("prod").unwrap(), "1.2.0", "then the newer one goes its way");
}

#[test]
fn a_request_for_what_nobody_has_seen() {
    let mut story = Story::of("staging, prod");
    story.runs("staging", "1.2.0").runs("prod", "1.0.0").settles().asks("bob", "prod", "9.9.9");
    assert_eq!(story.held("prod"), ["Behind", "NotHealthyYet"]);
    assert!(story.holds("prod")[1].reason.to_string().contains("never seen"));
    story.asks("bob", "prod", "1.2.0");
    assert_eq!(story.phase("prod"), Phase::Proposed);
}

#[test]
fn an_approval_stays_when_somebody_asks_for_the_same_release() {
    let mut story = Story::of("staging, prod").approval("prod", 1);
    story.runs("staging", "1.1.0").settles().approves("ann", "prod", "1.1.0").asks("bob", "prod", "1.1.0");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Proposed, vec!["AwaitingReview"]));
}

#[test]
fn somebody_who_wants_again_what_somebody_else_just_took_back() {
    let mut story = Story::of("staging, prod");
    story
        .runs("staging", "1.0.0")
        .settles()
        .goes_through("prod")
        .runs("staging", "1.1.0")
        .settles()
        .goes_through("prod");
    story.asks("bob", "prod", "1.0.0").merges("prod").asks("ann", "prod", "1.1.0");
    assert_eq!((story.promoted("prod").unwrap().as_str(), story.phase("prod")), ("1.1.0", Phase::Proposed));
    story.goes_through("prod");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Succeeded, vec![]));
}

#[test]
fn a_request_for_what_is_failing_in_the_environment_before() {
    let mut story = Story::of("dev, prod").soak("prod", minutes(60));
    story.runs("dev", "1.0.0").runs("prod", "1.0.0").settles().runs("dev", "1.1.0").settles().fails("dev", "1.1.0");
    story.asks("ann", "prod", "1.1.0");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Pending, vec!["NotHealthyYet"]));
    story.runs("dev", "1.1.0").settles();
    assert_eq!(story.held("prod"), ["Soaking"]);
}

#[test]
fn a_quarantine_that_comes_after_the_request() {
    let mut story = Story::of("dev, prod").approval("prod", 1);
    story.runs("dev", "1.1.0").settles().asks("ann", "prod", "1.1.0").waits(minutes(5));
    let bad = Selector { release: Some("1.1.0".parse().unwrap()), ..Selector::default() };
    story.freezes(bad, None).approves("bob", "prod", "1.1.0");
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Pending, vec!["Frozen"]));
    story.waits(minutes(1)).asks("ann", "prod", "1.1.0");
    assert_eq!(story.phase("prod"), Phase::Proposed, "she insists, knowing of it");
}

#[test]
fn a_cluster_that_cannot_be_seen_has_not_failed() {
    let mut story = Story::of("dev, prod(eu us)");
    story.runs("dev", "1.1.0").settles().merges("prod").runs_on("prod", "eu", "1.1.0").loses("prod", Some("us"));
    story.waits(minutes(600));
    assert_eq!((story.phase("prod"), story.held("prod")), (Phase::Delivered, vec!["TargetUnreachable"]));
}
