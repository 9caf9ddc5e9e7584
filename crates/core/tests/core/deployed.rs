//! Rules 1 to 3: what counts as deployed. How Flux objects and events are read is tested in `weir-api`.

use std::sync::Arc;

use weir_core::{FluxSuffix, Outcome, Phase, Release, Revision, Version, When, Workload, WorkloadState};

use crate::story::{Story, environment, target};

#[test]
fn a_release_that_runs_healthy_is_promoted_to_the_next_environment() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "2.0.0").runs("prod", "1.0.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "2.0.0");
    assert_eq!(story.phase("prod"), Phase::Proposed);
    story.goes_through("prod");
    assert_eq!(story.phase("prod"), Phase::Succeeded);
}

#[test]
fn a_deployment_counts_only_when_it_succeeded() {
    let mut story = Story::of("dev, prod");
    story.rolls_out("dev", "2.0.0").runs("prod", "1.0.0").settles();
    assert_eq!(story.promoted("prod"), None);
    assert_eq!(story.held("prod"), ["NotHealthyYet"]);
    story.fails("dev", "2.0.0").settles();
    assert_eq!(story.promoted("prod"), None);
    assert!(story.holds("prod")[0].reason.to_string().contains("crash loop"));
    story.runs("dev", "2.0.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "2.0.0");
}

#[test]
fn a_failure_event_marks_the_workload_unhealthy_and_promotes_nothing() {
    let mut story = Story::of("dev, prod");
    story.reports("dev", Some("dev"), "2026-11-13T11:00:00Z", Outcome::Failed { message: "upgrade failed".into() });
    story.settles();
    assert_eq!(story.promoted("prod"), None);
    assert_eq!(story.held("prod"), ["NotHealthyYet"]);
}

#[test]
fn a_success_event_is_enough_for_a_target_that_is_not_watched() {
    let mut story = Story::of("dev, prod");
    story.reports("dev", Some("dev"), "2026-11-13T11:00:00Z", Outcome::Succeeded("2.0.0".parse().unwrap())).settles();
    assert_eq!(story.promoted("prod").unwrap(), "2.0.0");
}

#[test]
fn what_is_seen_counts_more_than_what_was_reported() {
    let mut story = Story::of("dev, prod");
    story.reports("dev", Some("dev"), "2026-11-13T11:00:00Z", Outcome::Succeeded("3.0.0".parse().unwrap()));
    story.runs("dev", "2.0.0").settles();
    assert_eq!(story.promoted("prod").unwrap(), "2.0.0");
}

#[test]
fn an_event_that_does_not_say_which_target_it_was_counts_for_any_and_not_for_all() {
    let succeeded = || Outcome::Succeeded("2.0.0".parse().unwrap());
    let mut any = Story::of("dev(eu us), prod");
    any.reports("dev", None, "2026-11-13T11:00:00Z", succeeded()).settles();
    assert_eq!(any.promoted("prod").unwrap(), "2.0.0");
    let mut all = Story::of("dev(eu us), prod").when("prod", When::All);
    all.reports("dev", None, "2026-11-13T11:00:00Z", succeeded()).settles();
    assert_eq!(all.promoted("prod"), None);
}

#[test]
fn a_commit_on_a_branch_is_not_a_revision() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "2.0.0");
    let workloads = &mut Arc::make_mut(story.world.snapshot.sightings.get_mut(&target("dev")).unwrap()).workloads;
    let version = Version::Branch("main@sha1:0123".into());
    workloads.insert("HelmRelease/app".parse().unwrap(), Workload { version, state: WorkloadState::Healthy });
    story.settles();
    assert_eq!(story.promoted("prod"), None);
    assert_eq!(story.held("prod"), ["NoRevision"]);
    assert!(story.holds("prod")[0].reason.remedy().to_string().contains("version.image"));
}

#[test]
fn a_suffix_that_flux_added_makes_no_difference() {
    let mut story = Story::of("dev, prod");
    let seen = Revision::from_flux("2.0.0+0cc9a8446c95", FluxSuffix::Digest("sha256:0cc9a8446c95aa")).unwrap();
    let release = Release::of("HelmRelease/app".parse().unwrap(), seen);
    let dev = environment("dev");
    let seen = weir_core::Fact::Seen { environment: dev, target: None, release, state: WorkloadState::Healthy };
    story.happens(seen).runs("prod", "2.0.0").settles();
    assert_eq!(story.promoted("prod"), None);
    assert!(story.held("prod").is_empty());
}

#[test]
fn the_memory_of_a_target_survives_a_restart_and_a_dead_cluster() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").runs("prod", "1.0.0").settles();
    let since = story.world.snapshot.environments[&environment("prod")].targets[&target("prod")].healthy_since;
    story.loses("prod", None).settles().waits(crate::story::minutes(30));
    let record = &story.world.snapshot.environments[&environment("prod")].targets[&target("prod")];
    assert_eq!(record.release.as_ref().unwrap().to_string(), "1.0.0");
    assert!(record.unreachable.is_some());
    story.runs("prod", "1.0.0").settles();
    let record = &story.world.snapshot.environments[&environment("prod")].targets[&target("prod")];
    assert_eq!((record.healthy_since, record.unreachable.as_ref()), (since, None));
}
