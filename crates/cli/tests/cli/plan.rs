use insta::assert_snapshot;

use crate::program::{Ran, example, folder, weir, weir_in};

/// Asks about the pipeline with all gates, or another one, and a state.
fn plan(pipeline: &str, state: &str, more: &[&str]) -> Ran {
    let state = format!("apiVersion: weir.dev/v1alpha1\nkind: State\n{state}");
    let place = folder(&[("pipeline.yaml", &example(pipeline)), ("state.yaml", &state)]);
    let mut arguments = vec!["plan", "-f", "pipeline.yaml", "--state", "state.yaml"];
    arguments.extend(more);
    weir_in(place.path(), &arguments, "")
}

#[test]
fn a_release_that_one_target_of_qa_runs_goes_to_prod() {
    let short = "docs/examples/pipeline-pull-request-short.yaml";
    assert_snapshot!(weir(&["plan", "-f", short, "--state", "docs/examples/state-podinfo.yaml"]).shown());
}

#[test]
fn holds_are_told_with_their_remedies() {
    let state = "
at: 2026-11-13T16:30:00Z
environments:
  dev: {runs: 6.2.0}
  qa:
    targets:
      - {cluster: qa-eu, runs: 6.2.0, since: 2026-11-12T18:00:00Z}
      - {cluster: clusters/qa-us, unreachable: {error: no route to host, since: 2026-11-13T16:00:00Z}}
  prod: {runs: 6.1.0}
promotions:
  - environment: prod
    release: 6.2.0
    approvals: [{by: ann@example.org, groups: [release], at: 2026-11-13T14:00:00Z}]
freezes:
  - {name: incident, reason: the database is being mended, by: on-call@example.org, environment: prod}
";
    assert_snapshot!(plan("pipeline-gates.yaml", state, &[]).shown());
}

#[test]
fn the_answer_is_data_for_programs() {
    let state = "environments: {dev: {runs: 6.2.0}, prod: {runs: 6.1.0}}\n";
    let ran = plan("pipeline-two-environments.yaml", state, &["--at", "2026-11-13T15:30:00+01:00", "-o", "json"]);
    let report = ran.json();
    assert_eq!(report["at"], "2026-11-13T14:30:00Z");
    let prod = &report["environments"][1];
    assert_eq!((&prod["name"], &prod["holds"][0]["name"]), (&"prod".into(), &"NoStrategy".into()));
    assert_eq!(prod["next"]["HelmRelease/podinfo"], "6.2.0");
    let yaml = plan("pipeline-two-environments.yaml", state, &["-o", "yaml"]);
    assert!(yaml.code == 0 && yaml.stdout.starts_with("pipeline:"), "{}", yaml.shown());
}

#[test]
fn what_is_already_declared_in_git_is_not_proposed_again() {
    let state = "environments: {dev: {runs: 6.2.0}, qa: {runs: 6.1.0, declares: 6.2.0}}\n";
    let report = plan("pipeline-pull-request.yaml", state, &["-o", "json"]).json();
    assert_eq!(report["environments"][1]["phase"], "Delivered");
}

#[test]
fn a_version_that_looks_like_a_number_stays_as_it_is_written() {
    let state = "environments: {dev: {runs: 6.10}, qa: {runs: 6.9}}\n";
    let report = plan("pipeline-pull-request.yaml", state, &["-o", "json"]).json();
    assert_eq!(report["environments"][0]["targets"][0]["runs"]["HelmRelease/podinfo"], "6.10");
}

#[test]
fn a_digest_that_flux_appended_is_no_part_of_a_version() {
    let state = "environments: {dev: {runs: 6.2.0+1a2b3c4d5e6f}, qa: {runs: 6.2.0}}\n";
    let report = plan("pipeline-pull-request.yaml", state, &["-o", "json"]).json();
    assert_eq!(report["environments"][0]["targets"][0]["runs"]["HelmRelease/podinfo"], "6.2.0");
    assert_eq!(report["environments"][1]["next"], serde_json::Value::Null);
}

#[test]
fn yaml_and_json_say_the_same() {
    let state = "at: 2026-11-13T14:30:00Z\nenvironments: {dev: {runs: 6.10}, qa: {runs: '1e3'}}\n";
    let json = plan("pipeline-pull-request.yaml", state, &["-o", "json"]).json();
    let yaml = plan("pipeline-pull-request.yaml", state, &["-o", "yaml"]).stdout;
    assert_eq!(serde_saphyr::from_str::<serde_json::Value>(&yaml).unwrap(), json);
}

#[test]
fn the_order_of_first_success_decides_where_versions_do_not() {
    let state = "environments: {dev: {runs: blue, order: [red, blue]}, qa: {runs: red}}\n";
    let report = plan("pipeline-pull-request.yaml", state, &["-o", "json"]).json();
    assert_eq!(report["environments"][1]["step"], "propose");
    let state = "environments: {dev: {runs: blue}, qa: {runs: red}}\n";
    let report = plan("pipeline-pull-request.yaml", state, &["-o", "json"]).json();
    assert_eq!(report["environments"][1]["holds"][0]["name"], "OrderUnknown");
}

#[test]
fn a_refused_release_stays_out() {
    let state = "environments: {dev: {runs: 6.2.0}, qa: {runs: 6.1.0, refusals: [{release: 6.2.0, why: too slow}]}}\n";
    let report = plan("pipeline-pull-request.yaml", state, &["-o", "json"]).json();
    assert_eq!(report["environments"][1]["holds"][0]["sentence"], "6.2.0 is refused here: too slow");
}

#[test]
fn an_open_proposal_is_taken_up_where_it_stands() {
    let state = "
environments: {dev: {runs: 6.2.0}, qa: {runs: 6.1.0}}
promotions:
  - {environment: qa, release: 6.2.0, proposal: {id: '!7', checks: {failing: [ci]}}}
";
    let report = plan("pipeline-pull-request.yaml", state, &["-o", "json"]).json();
    let qa = &report["environments"][1];
    assert_eq!((&qa["phase"], &qa["holds"][0]["name"]), (&"Proposed".into(), &"ChecksFailing".into()));
    assert_eq!(qa["holds"][1]["remedy"], "review and merge !7");
}

#[test]
fn workloads_are_told_one_by_one() {
    let state = "
at: 2026-11-13T14:30:00Z
environments:
  dev:
    targets:
      - cluster: dev
        workloads:
          HelmRelease/a: {revision: 1.1.0}
          HelmRelease/b: {revision: 2.0.0, state: failed, message: no such image}
  prod: {runs: 'HelmRelease/a=1.0.0, HelmRelease/b=2.0.0'}
";
    let report = plan("pipeline-two-environments.yaml", state, &["-o", "json"]).json();
    let sentence = report["environments"][1]["holds"][0]["sentence"].as_str().unwrap();
    assert!(sentence.contains("no such image"), "{sentence}");
}

#[test]
fn mistakes_in_a_state_are_told_with_their_place() {
    let told = |state: &str| plan("pipeline-pull-request.yaml", state, &[]).shown();
    assert_snapshot!(
        [
            told("environments:\n  staging: {runs: 1.0.0}\n"),
            told("environments:\n  dev: {run: 1.0.0}\n"),
            told("environments:\n  qa:\n    targets:\n      - {runs: 1.0.0}\n"),
            told("environments:\n  qa:\n    targets:\n      - {cluster: dev, runs: 1.0.0}\n"),
            told("environments:\n  dev: {runs: a b}\n"),
            told("promotions:\n  - {environment: dev, release: 1.0.0}\n"),
            told("environments: [\n"),
            told("at: yesterday\n"),
            told("environments:\n  dev: {runs: 1.0.0}\n  dev: {runs: 1.0.1}\n"),
        ]
        .join("\n")
    );
}

#[test]
fn an_ordinal_is_a_number_that_every_reader_of_json_understands() {
    let told = |ordinal: &str| {
        let state = format!(
            "promotions:\n  - {{environment: qa, release: 1.0.0, ordinal: {ordinal}}}\n  - {{environment: qa, release: 1.1.0}}\n"
        );
        plan("pipeline-pull-request.yaml", &state, &[]).stderr
    };
    for wrong in ["18446744073709551615", "9007199254740993", "99999999999999999999", "0", "-1", "first"] {
        let words = format!("state.yaml:4:48: `{wrong}` is not an ordinal: write a whole number from 1 to");
        assert!(told(wrong).contains(&words), "{}", told(wrong));
    }
    assert!(told("9007199254740992").contains("state.yaml:5:19: no ordinal is left after 9007199254740992"));
}

#[test]
fn what_makes_no_sense_in_a_state_is_told_with_its_place() {
    let told = |state: &str, words: &str| {
        let ran = plan("pipeline-pull-request.yaml", state, &[]);
        assert!(ran.code == 1 && ran.stderr.contains(words), "{words}\n{}", ran.shown());
    };
    told(
        "promotions:\n  - {environment: qa, release: 1.0.0, approvals: [{by: ''}]}\n",
        "state.yaml:4:56: who? write the name of an account",
    );
    told(
        "freezes:\n  - {name: a, reason: b, by: c, from: 2026-11-13T00:00:00Z, until: 2026-11-12T00:00:00Z}\n",
        "state.yaml:4:68: `until` has to be later than `from`",
    );
    let other = "`HelmRelease/other` is not a workload of pipeline `default/podinfo`; it has `HelmRelease/podinfo`";
    let workloads =
        "environments:\n  dev:\n    targets:\n      - workloads:\n          HelmRelease/other: {revision: 1}\n";
    told(workloads, &format!("state.yaml:7:11: {other}"));
    told("environments:\n  dev: {runs: HelmRelease/other=1}\n", &format!("state.yaml:4:15: {other}"));
}

#[test]
fn mistakes_are_told_in_plain_words() {
    let told = |state: &str| plan("pipeline-pull-request.yaml", state, &[]).stderr;
    let words = |state: &str| told(state).trim_end().rsplit_once(": state.yaml:").map(|it| it.1.to_owned()).unwrap();
    assert_eq!(
        words("environments:\n  dev: {state: broken}\n"),
        "4:16: found `broken`, allowed `healthy`, `progressing`, `failed`"
    );
    assert_eq!(words("environments:\n  dev: {runs: [1]}\n"), "4:15: write a text or a number");
    assert_eq!(words("promotions: 1\n"), "3:13: write a list, such as `[a, b]`");
    let proposal = "promotions:\n  - {environment: qa, release: 1.0.0, proposal: {id: '1', conflict: maybe}}\n";
    assert_eq!(words(proposal), "4:69: write `true` or `false`");
}

#[test]
fn stdin_is_read_only_once() {
    let ran = weir(&["plan", "-f", "-", "--state", "-"]);
    assert!(ran.code == 1 && ran.stderr.contains("`-f -` and `--state -` both read stdin"), "{}", ran.shown());
}

#[test]
fn another_version_or_kind_of_document_is_refused() {
    let place = folder(&[("v2.yaml", "apiVersion: weir.dev/v2\nkind: State\n")]);
    let pipeline = "docs/examples/pipeline-pull-request.yaml";
    let path = place.path().join("v2.yaml").display().to_string();
    let ran = weir(&["plan", "-f", pipeline, "--state", &path]);
    assert!(ran.code == 1 && ran.stderr.contains(":1:13: apiVersion: found `weir.dev/v2`"), "{}", ran.shown());
    let ran = weir(&["plan", "-f", pipeline, "--state", pipeline]);
    assert!(ran.code == 1 && ran.stderr.contains("found `Pipeline`, allowed `State`"), "{}", ran.shown());
}

#[test]
fn which_pipeline_has_to_be_said_if_there_are_several() {
    let pipeline = example("pipeline-pull-request.yaml");
    let other = pipeline.replacen("name: podinfo", "name: other", 1);
    let state = "apiVersion: weir.dev/v1alpha1\nkind: State\n";
    let place = folder(&[("p/a.yaml", &pipeline), ("p/b.yaml", &other), ("state.yaml", state)]);
    let ask = |name: &[&str]| {
        let base = ["plan", "-f", "p", "--state", "state.yaml"];
        weir_in(place.path(), &[&base, name].concat(), "")
    };
    assert_eq!(ask(&[]).stderr, "error: which pipeline? name one of `default/podinfo`, `default/other`\n");
    assert!(ask(&["other"]).stdout.starts_with("default/other at "));
    assert!(ask(&["default/podinfo"]).stdout.starts_with("default/podinfo at "));
    assert!(ask(&["third"]).stderr.contains("there is no pipeline `third`"));
}

#[test]
fn documents_in_a_folder_that_are_no_objects_are_skipped() {
    let state = "apiVersion: weir.dev/v1alpha1\nkind: State\n";
    let pipeline = example("pipeline-pull-request.yaml");
    let place = folder(&[("p/a.yaml", &pipeline), ("p/values.yaml", "image: {tag: 1}\n"), ("state.yaml", state)]);
    let ran = weir_in(place.path(), &["plan", "-f", "p", "--state", "state.yaml"], "");
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let ran = weir_in(place.path(), &["plan", "-f", "p/a.yaml", "-f", "p/values.yaml", "--state", "state.yaml"], "");
    assert!(ran.code == 1 && ran.stderr.contains("p/values.yaml:1:1: kind: is missing"), "{}", ran.shown());
}

#[test]
fn a_pipeline_that_is_defined_twice_is_an_error_that_names_both_places() {
    let pipeline = example("pipeline-pull-request.yaml");
    let place = folder(&[("p/a.yaml", &pipeline), ("p/b.yaml", &format!("---\n{pipeline}"))]);
    let ran = weir_in(place.path(), &["plan", "-f", "p", "--state", "state.yaml"], "");
    let words = "error: pipeline `default/podinfo` is defined twice: p/a.yaml:";
    assert!(ran.code == 1 && ran.stderr.starts_with(words) && ran.stderr.contains(", p/b.yaml:"), "{}", ran.shown());
}

#[test]
fn a_broken_pipeline_is_told_like_lint_tells_it() {
    let place = folder(&[("p.yaml", "apiVersion: pipelines.weave.works/v1alpha1\nkind: Pipelin\n")]);
    let ran = weir_in(place.path(), &["plan", "-f", "p.yaml", "--state", "s.yaml"], "");
    assert!(ran.code == 1 && ran.stderr.contains("p.yaml:2:7: kind: found `Pipelin`"), "{}", ran.shown());
}
