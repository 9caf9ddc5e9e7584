use insta::assert_snapshot;

use crate::program::weir;

const PIPELINE: &str = "docs/examples/pipeline-pull-request.yaml";
const STATE: &str = "docs/examples/state-podinfo.yaml";

#[test]
fn an_environment_is_explained_in_the_words_of_the_core() {
    assert_snapshot!(weir(&["explain", "-f", PIPELINE, "--state", STATE, "default/podinfo", "qa"]).shown());
}

#[test]
fn the_explanation_is_data_for_programs() {
    let ran = weir(&["explain", "-f", PIPELINE, "--state", STATE, "prod", "-o", "json"]);
    let explanation = ran.json();
    assert_eq!((&explanation["verdict"], &explanation["step"]), (&"moves".into(), &"propose".into()));
    let ran = weir(&["explain", "-f", PIPELINE, "--state", STATE, "prod", "-o", "yaml"]);
    assert!(ran.code == 0 && ran.stdout.contains("verdict: moves"), "{}", ran.shown());
}

#[test]
fn an_environment_that_there_is_not_is_told_with_those_that_there_are() {
    let ran = weir(&["explain", "-f", PIPELINE, "--state", STATE, "staging"]);
    assert_eq!(ran.code, 1);
    let words = "error: pipeline `default/podinfo` has no environment `staging`; it has `dev`, `qa`, `prod`\n";
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", words));
}

#[test]
fn a_missing_file_is_an_error_that_names_it() {
    let ran = weir(&["explain", "-f", "nowhere.yaml", "--state", STATE, "prod"]);
    assert!(ran.code == 1 && ran.stderr.starts_with("error: reading `nowhere.yaml` failed"), "{}", ran.shown());
}
