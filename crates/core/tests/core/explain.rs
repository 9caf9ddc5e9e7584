//! The whole answer for one environment.

use weir_core::{Situation, Weighs, explain};

use crate::story::{Story, environment, minutes};

#[test]
fn an_explanation_names_every_hold_every_open_gate_and_every_target() {
    let mut story = Story::of("dev, qa, prod").soak("prod", minutes(60)).approval("prod", 2).office_hours("prod");
    story.runs("qa", "6.2.0").runs("prod", "6.1.0").settles().approves("ada", "prod", "6.2.0");
    let world = &story.world;
    let told = explain(&world.pipeline, &world.snapshot, &environment("prod"), world.now).unwrap();
    let expected = "\
app 6.2.0 waits before prod
  ✗ Soaking           healthy in qa since 2026-11-13T12:00:00Z: opens 2026-11-13T13:00:00Z
                      → wait until 2026-11-13T13:00:00Z
  ✗ AwaitingApproval  1 of 2 approvals for 6.2.0 (ada); anybody with the right to approve may approve
                      → approve 6.2.0: 1 more of anybody with the right to approve
  ✔ window            open `0 9 * * MON-FRI` for 8h in Europe/Berlin, open until 2026-11-13T16:00:00Z
  · fleet/prod/app    runs 6.1.0
Next look: 2026-11-13T13:00:00Z
";
    assert_eq!(told.to_string(), expected);
    assert_eq!(told.verdict, Situation::Waits);
    assert_eq!(told.reasons.iter().filter(|reason| reason.weighs == Weighs::Against).count(), 2);
    let data = serde_json::to_value(&told).unwrap();
    assert_eq!(data["release"]["HelmRelease/app"], "6.2.0");
    assert_eq!(data["reasons"][0]["name"], "Soaking");
}

#[test]
fn every_situation_has_its_sentence() {
    let say = |story: &Story, name: &str| {
        let world = &story.world;
        explain(&world.pipeline, &world.snapshot, &environment(name), world.now).unwrap().headline()
    };
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").runs("prod", "1.0.0").settles();
    assert_eq!(say(&story, "dev"), "dev is where app begins: nothing is promoted into it");
    assert_eq!(say(&story, "prod"), "prod has nothing to wait for");
    story.runs("dev", "1.1.0");
    assert_eq!(say(&story, "prod"), "app 1.1.0 goes to prod: its place in the repository is being looked for");
    story.settles();
    assert_eq!(say(&story, "prod"), "app 1.1.0 is proposed for prod");
    story.merges("prod");
    assert_eq!(say(&story, "prod"), "app 1.1.0 is in Git for prod, and does not run everywhere yet");
}

#[test]
fn an_environment_that_does_not_exist_is_not_explained() {
    let story = Story::of("dev, prod");
    assert!(explain(&story.world.pipeline, &story.world.snapshot, &environment("qa"), story.world.now).is_none());
}

#[test]
fn a_target_whose_cluster_is_not_defined_says_how_it_is_known() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.0.0").settles();
    let prod = "fleet/prod/app".parse().unwrap();
    let told = |story: &Story| {
        let world = &story.world;
        explain(&world.pipeline, &world.snapshot, &environment("prod"), world.now).unwrap().to_string()
    };
    assert!(!told(&story).contains("GitopsCluster"), "{}", told(&story));
    story.world.snapshot.undefined.insert(prod);
    let line = "nothing is known to run there; there is no GitopsCluster `fleet/prod`; Weir knows this target by \
                signed events only";
    assert!(told(&story).contains(line), "{}", told(&story));
}

#[test]
fn every_hold_is_documented_in_its_order() {
    let manual = include_str!("../../../../docs/reference/holds.md");
    let documented: Vec<_> = manual.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert_eq!(documented, weir_core::Reason::NAMES);
}
