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
