use insta::assert_snapshot;

use crate::program::{Ran, example, folder, weir, weir_in};

/// Plays a story about the pipeline of the pull request.
fn simulate(scenario: &str) -> Ran {
    let scenario = format!("apiVersion: weir.dev/v1alpha1\nkind: Scenario\npipeline: pipeline.yaml\n{scenario}");
    let place = folder(&[("pipeline.yaml", &example("pipeline-pull-request.yaml")), ("story.yaml", &scenario)]);
    weir_in(place.path(), &["simulate", "-f", "story.yaml"], "")
}

/// The same, and what runs in the beginning.
fn simulate_from(runs: &str, scenario: &str) -> Ran {
    let state = format!("apiVersion: weir.dev/v1alpha1\nkind: State\nat: 2026-11-13T08:00:00Z\nenvironments: {runs}");
    simulate(&format!("{scenario}\n---\n{state}\n"))
}

#[test]
fn a_friday_evening_with_a_freeze_an_approval_and_a_window() {
    assert_snapshot!(weir(&["simulate", "-f", "docs/examples/scenario-friday.yaml"]).shown());
}

#[test]
fn a_release_goes_all_the_way_if_flux_deploys_and_people_merge() {
    let story = "
assume: {deployAfter: 5m, mergeAfter: 1h}
steps:
  - at: 2026-11-13T09:00:00Z
    deployed: {environment: dev, release: 1.1.0}
";
    let runs = "{dev: {runs: 1.0.0}, qa: {runs: 1.0.0}, prod: {runs: 1.0.0}}";
    assert_snapshot!(simulate_from(runs, story).shown());
}

#[test]
fn what_is_said_of_an_environment_counts_more_than_what_is_assumed() {
    let story = "
assume: {deployAfter: 5m}
steps:
  - at: 2026-11-13T09:00:00Z
    deployed: {environment: dev, release: 1.1.0}
  - at: +10m
    merge: {environment: qa, by: ann@example.org}
  - at: +1m
    failed: {environment: qa, cluster: perf, release: 1.1.0, message: no such image}
";
    let runs = "{dev: {runs: 1.0.0}, qa: {runs: 1.0.0}}";
    assert_snapshot!(simulate_from(runs, story).shown());
}

#[test]
fn flux_deploys_what_somebody_has_the_base_branch_declare() {
    let story = "
assume: {deployAfter: 5m, mergeAfter: 1m}
steps:
  - at: 2026-11-13T09:00:00Z
    declared: {environment: dev, release: 1.1.0}
  - at: +1h
    declared: {environment: prod, release: 1.0.0}
";
    let runs = "{dev: {runs: 1.0.0}, qa: {runs: 1.0.0}, prod: {runs: 1.0.0}}";
    assert_snapshot!(simulate_from(runs, story).shown());
}

#[test]
fn flux_deploys_what_was_merged_even_if_the_next_release_has_the_turn() {
    let story = "
assume: {deployAfter: 5m}
steps:
  - {at: 2026-11-13T09:00:00Z, deployed: {environment: dev, release: 1.1.0}}
  - {at: +1m, merge: {environment: qa, by: ann@example.org}}
  - {at: +1m, deployed: {environment: dev, release: 1.2.0}}
";
    let ran = simulate_from("{dev: {runs: 1.0.0}, qa: {runs: 1.0.0}}", story);
    let at = |words: &str| ran.stdout.find(words).unwrap_or_else(|| panic!("{words}\n{}", ran.shown()));
    assert!(at("09:02:00Z  qa    → 1.2.0 shall go from dev to qa") < at("09:06:00Z  qa    · Flux deploys 1.1.0"));
    assert!(ran.stdout.contains("1.1.0 is Succeeded"), "{}", ran.shown());
}

#[test]
fn what_is_said_and_what_is_assumed_at_the_same_time_do_not_collide() {
    let story = "
assume: {mergeAfter: 10m}
steps:
  - {at: 2026-11-13T09:00:00Z, deployed: {environment: dev, release: 1.1.0}}
  - {at: +10m, merge: {environment: qa, by: ann@example.org}}
";
    let ran = simulate_from("{dev: {runs: 1.0.0}, qa: {runs: 1.0.0}}", story);
    assert!(ran.code == 0 && ran.stdout.contains("Delivered: merged by ann@example.org"), "{}", ran.shown());
}

#[test]
fn everything_that_can_happen_can_be_told() {
    let story = "
until: +1h
steps:
  - {at: 2026-11-13T09:00:00Z, reported: {environment: dev, cluster: dev, revision: 1.0.0}}
  - {at: +1m, deploying: {environment: dev, release: 1.1.0}}
  - {at: +1m, unreachable: {environment: qa, cluster: perf, error: no route to host}}
  - {at: +1m, deployed: {environment: dev, release: 1.1.0}}
  - {at: +1m, checks: {environment: qa, pending: [ci]}}
  - {at: +1m, checks: {environment: qa}}
  - {at: +1m, review: {environment: qa, is: changesRequested}}
  - {at: +1m, suspend: {}}
  - {at: +1m, resume: {}}
  - {at: +1m, close: {environment: qa, by: bob@example.org}}
  - {at: +1m, promote: {environment: qa, release: 1.1.0, by: ann@example.org}}
  - {at: +1m, freeze: {name: stop, reason: audit, by: eve@example.org}}
  - {at: +1m, unfreeze: {name: stop}}
  - {at: +1m, declared: {environment: qa, release: 1.1.0}}
";
    assert_snapshot!(simulate_from("{dev: {runs: 1.0.0}, qa: {runs: 1.0.0}}", story).shown());
}

#[test]
fn a_merge_against_a_freeze_is_told_and_does_not_read_like_the_end_of_the_freeze() {
    let story = "
until: +1h
steps:
  - {at: 2026-11-13T09:00:00Z, deployed: {environment: dev, release: 1.1.0}}
  - {at: +1m, freeze: {name: stop, reason: audit, by: eve@example.org}}
  - {at: +1m, merge: {environment: qa, by: ann@example.org}}
";
    let ran = simulate_from("{dev: {runs: 1.0.0}, qa: {runs: 1.0.0}}", story);
    let words = "09:02:00Z  qa    ! merged against Frozen: frozen by eve@example.org with `stop`: audit";
    assert!(ran.stdout.contains(words), "{}", ran.shown());
    assert!(!ran.stdout.contains("qa    ✔ Frozen no longer holds"), "{}", ran.shown());
}

#[test]
fn a_story_that_cannot_go_on_says_where_and_keeps_what_was_told() {
    let story = "
steps:
  - at: 2026-11-13T09:00:00Z
    deployed: {environment: dev, release: 1.1.0}
  - at: 2026-11-13T10:00:00Z
    merge: {environment: prod}
";
    let ran = simulate(story);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("1.1.0 is deployed"), "{}", ran.shown());
    assert!(ran.stderr.contains("story.yaml:8:5: no proposal is open for environment `prod`"), "{}", ran.shown());
}

#[test]
fn a_story_ends_at_its_horizon() {
    let story = "
until: +30m
assume: {deployAfter: 2h}
steps:
  - {at: 2026-11-13T09:00:00Z, deployed: {environment: dev, release: 1.1.0}}
  - {at: +1m, merge: {environment: qa}}
";
    let ran = simulate_from("{dev: {runs: 1.0.0}, qa: {runs: 1.0.0}}", story);
    assert!(ran.stderr.contains("to 2026-11-13T09:31:00Z; that is as far as it was to be played"), "{}", ran.shown());
}

#[test]
fn a_story_does_not_end_before_it_begins() {
    let ran = simulate("until: 2026-11-12T00:00:00Z\nsteps:\n  - {at: 2026-11-13T09:00:00Z, suspend: {}}\n");
    let words = "story.yaml:4:8: `2026-11-12T00:00:00Z` is before `2026-11-13T09:00:00Z`, when it begins";
    assert!(ran.code == 1 && ran.stderr.contains(words), "{}", ran.shown());
}

#[test]
fn a_story_without_an_end_is_stopped() {
    // A window that opens and closes for years, and a release that waits for it and for a freeze that ends much later.
    let pipeline = example("scenario-friday.yaml").replace("0 9 * * MON-FRI", "'*/2 * * * *'").replace("8h", "1m");
    let story = pipeline.replace("until: 2026-11-16T10:00:00+01:00", "until: 2030-01-01T00:00:00Z");
    let story = story.replace("assume:", "until: 2030-01-01T00:00:00Z\nassume:");
    let place = folder(&[("story.yaml", &story)]);
    let ran = weir_in(place.path(), &["simulate", "-f", "story.yaml"], "");
    assert!(ran.code == 1 && ran.stderr.contains("it goes on for too long"), "{}", ran.stderr);
}

#[test]
fn mistakes_in_a_scenario_are_told_with_their_place() {
    let told = |story: &str| simulate(story).shown();
    assert_snapshot!(
        [
            told("steps:\n  - at: tomorrow\n    resume: {}\n"),
            told("steps:\n  - at: 2026-11-13T09:00:00Z\n"),
            told("steps:\n  - {at: 2026-11-13T09:00:00Z, suspend: {}, resume: {}}\n"),
            told("steps:\n  - {at: 2026-11-13T09:00:00Z, deploy: {}}\n"),
            told("steps:\n  - {at: 2026-11-13T09:00:00Z, suspend: {}}\n  - {at: 2026-11-12T09:00:00Z, resume: {}}\n"),
            told("steps:\n  - {at: 2026-11-13T09:00:00Z, deployed: {environment: staging, release: 1}}\n"),
            told("steps:\n  - {at: 2026-11-13T09:00:00Z, unfreeze: {name: stop}}\n"),
            told("steps:\n  - {at: +1h, resume: {}}\n"),
            told("assume: {deployAfter: soon}\n"),
        ]
        .join("\n")
    );
}

#[test]
fn the_history_is_data_for_programs() {
    let ran = weir(&["simulate", "-f", "docs/examples/scenario-friday.yaml", "-o", "json"]);
    let play = ran.json();
    assert_eq!((&play["ending"], &play["history"][0]["event"]), (&"quiet".into(), &"fact".into()));
    let last = play["history"].as_array().unwrap().iter().rfind(|entry| entry["event"] == "phase").unwrap();
    assert_eq!((&last["name"], &last["at"]), (&"Succeeded".into(), &"2026-11-16T09:05:00Z".into()));
}
