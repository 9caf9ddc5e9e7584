use insta::assert_snapshot;

use crate::program::{example, folder, weir, weir_in};

const BROKEN: &str = "\
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: podinfo, namespace: default}
spec:
  environments:
    - name: dev
      targets: [{namespace: podinfo}]
      promotion: {when: sometimes}
      colour: red
";

#[test]
fn every_error_is_told_with_file_line_column_and_field() {
    let place = folder(&[("a/pipeline.yaml", BROKEN), ("b.yml", "kind: [\n"), ("c.txt", "no: [")]);
    let ran = weir_in(place.path(), &["lint", "."], "");
    assert_snapshot!(ran.shown());
}

#[test]
fn valid_manifests_are_counted_and_other_kinds_skipped() {
    let other = "apiVersion: v1\nkind: ConfigMap\n";
    let pipeline = example("pipeline-pull-request.yaml");
    let place = folder(&[("a.yaml", &pipeline), ("b.yaml", other), ("values.yaml", "image: {tag: 1}\n")]);
    let ran = weir_in(place.path(), &["lint", "."], "");
    assert_eq!(ran.shown(), "exit 0\n--- stdout\n--- stderr\n3 files, 1 object valid, 2 of other kinds skipped\n");
}

#[test]
fn a_file_that_is_named_has_to_hold_objects() {
    let place = folder(&[("values.yaml", "image: {tag: 1}\n")]);
    let ran = weir_in(place.path(), &["lint", "values.yaml"], "");
    assert!(ran.code == 1 && ran.stderr.contains("values.yaml:1:1: kind: is missing"), "{}", ran.shown());
}

#[test]
fn states_and_scenarios_are_checked_too() {
    let state = "apiVersion: weir.dev/v1alpha1\nkind: State\nenvironments: {dev: {run: 1}}\n";
    let place = folder(&[("a.yaml", &example("scenario-friday.yaml")), ("b.yaml", state)]);
    let ran = weir_in(place.path(), &["lint", "."], "");
    assert!(ran.code == 1 && ran.stderr.contains("./b.yaml:3:22: unknown field `run`"), "{}", ran.shown());
    assert!(
        ran.stderr.ends_with("1 finding in 2 files, 3 objects valid, 0 of other kinds skipped\n"),
        "{}",
        ran.shown()
    );
}

#[test]
fn findings_are_data_for_programs() {
    let place = folder(&[("a.yaml", BROKEN)]);
    let ran = weir_in(place.path(), &["lint", "a.yaml", "-o", "json"], "");
    let report = ran.json();
    assert_eq!((ran.code, &report["files"], &report["findings"][0]["line"]), (1, &1.into(), &8.into()));
    assert!(weir_in(place.path(), &["lint", "a.yaml", "-o", "table"], "").stdout.starts_with("PLACE"));
}

#[test]
fn manifests_are_read_from_stdin() {
    let ran = weir_in(std::path::Path::new("."), &["lint", "-"], BROKEN);
    assert!(ran.code == 1 && ran.stderr.contains("-:9:7: "), "{}", ran.shown());
}

#[test]
fn a_missing_file_is_an_error_that_names_it() {
    let ran = weir(&["lint", "nowhere.yaml"]);
    assert!(ran.code == 1 && ran.stderr.contains("reading `nowhere.yaml` failed"), "{}", ran.shown());
}

const DOCUMENT: &str = "apiVersion: weir.dev/v1alpha1\nkind: Scenario\n";

/// What lint finds in one file.
fn found(text: &str) -> String {
    let place = folder(&[("a.yaml", text)]);
    weir_in(place.path(), &["lint", "."], "").stderr
}

#[test]
fn another_version_or_kind_of_weirs_own_documents_is_an_error() {
    for kind in ["State", "Scenario"] {
        let found = found(&format!("apiVersion: weir.dev/v2\nkind: {kind}\n"));
        let words = "./a.yaml:1:13: apiVersion: found `weir.dev/v2`, allowed `weir.dev/v1alpha1`\n";
        assert!(found.starts_with(words), "{found}");
    }
    let found = found("apiVersion: weir.dev/v1alpha1\nkind: Stat\n");
    assert!(found.starts_with("./a.yaml:1:1: kind: found `Stat`, allowed `State`, `Scenario`\n"), "{found}");
}

#[test]
fn a_pipeline_that_is_defined_twice_is_an_error_that_names_both_places() {
    let pipeline = example("pipeline-pull-request-short.yaml");
    let other = pipeline.replacen("name: podinfo", "name: other", 1);
    let place = folder(&[("a.yaml", &pipeline), ("b.yaml", &format!("{other}---\n{pipeline}"))]);
    let ran = weir_in(place.path(), &["lint", "."], "");
    let words = ": pipeline `default/podinfo` is defined twice: it is in ./a.yaml:2:1, too\n";
    assert!(ran.code == 1 && ran.stderr.starts_with("./b.yaml:") && ran.stderr.contains(words), "{}", ran.shown());
}

#[test]
fn the_pipeline_of_a_scenario_may_be_one_that_is_defined_elsewhere() {
    let pipeline = example("pipeline-pull-request.yaml");
    let place = folder(&[("a.yaml", &pipeline), ("b.yaml", &format!("{DOCUMENT}---\n{pipeline}"))]);
    assert_eq!(weir_in(place.path(), &["lint", "."], "").code, 0);
}

#[test]
fn the_items_of_a_list_are_checked() {
    let found = found(
        "apiVersion: v1\nkind: List\nitems:\n  - apiVersion: pipelines.weave.works/v1alpha1\n    kind: Pipelin\n",
    );
    assert!(found.starts_with("./a.yaml:5:11: items[0].kind: found `Pipelin`"), "{found}");
}

#[test]
fn the_steps_of_a_scenario_are_one_thing_each_and_in_the_order_of_time() {
    let steps = "start: 2026-11-13T09:00:00Z\nsteps:\n  - at: +1h\n  - {at: +1h, suspend: {}, resume: {}}\n  \
                 - {at: 2026-11-13T09:30:00Z, resume: {}}\n";
    let found = found(&format!("{DOCUMENT}{steps}"));
    assert!(found.contains("./a.yaml:5:9: write exactly one of: "), "{found}");
    assert!(found.contains("./a.yaml:6:10: write exactly one of: "), "{found}");
    assert!(found.contains("./a.yaml:7:10: `2026-11-13T09:30:00Z` is before `2026-11-13T11:00:00Z`"), "{found}");
}

#[test]
fn a_file_that_is_not_utf_8_is_a_finding_and_the_others_are_checked() {
    let place = folder(&[("b.yaml", BROKEN)]);
    std::fs::write(place.path().join("a.yaml"), b"a: b\nname: M\xfcller\n").unwrap();
    let ran = weir_in(place.path(), &["lint", "."], "");
    assert!(ran.stderr.starts_with("./a.yaml:2:8: is not UTF-8"), "{}", ran.shown());
    assert!(ran.code == 1 && ran.stderr.contains("./b.yaml:9:7: "), "{}", ran.shown());
}
