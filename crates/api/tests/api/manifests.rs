//! What is wrong in a file is reported with its place, all of it, in words that help.

use weir_api::Object;

use crate::world::{HEAD, dev_to_prod, errors, manifests, pipeline};

#[test]
fn a_value_that_is_not_allowed_is_named_with_its_place_and_what_is_allowed() {
    let text = format!(
        "{HEAD}  environments:
    - name: dev
      targets:
        - namespace: podinfo
          clusterRef:
            kind: Cluster
            name: dev
"
    );
    let wanted = "pipeline.yaml:12:19: spec.environments[0].targets[0].clusterRef.kind: \
                  found `Cluster`, allowed: `GitopsCluster`";
    assert_eq!(errors(&text), wanted);
}

#[test]
fn a_field_that_nobody_knows_is_reported_with_the_nearest_one() {
    let text = dev_to_prod("  suspended: true");
    assert_eq!(errors(&text), "pipeline.yaml:10:3: spec.suspended: is not a field: did you mean `suspend`?");
    let text = dev_to_prod("  colour: blue");
    assert!(errors(&text).contains("spec.colour: is not a field, allowed: `appRef`, "), "{}", errors(&text));
}

#[test]
fn everything_that_is_wrong_is_reported_in_the_order_of_the_file() {
    let text = format!(
        "{HEAD}  environments:
    - name: 'a:b'
      targets: [{{namespace: Podinfo}}]
      gates: [{{soak: {{duration: long}}}}]
    - name: prod
      promotion: {{when: some, strategy: {{notification: {{}}}}}}
"
    );
    let errors = errors(&text);
    let paths: Vec<_> = errors.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
    let wanted = [
        "spec.environments[0].name",
        "spec.environments[0].targets[0].namespace",
        "spec.environments[0].gates[0].soak.duration",
        "spec.environments[1].targets",
        "spec.environments[1].promotion.when",
    ];
    assert_eq!(paths, wanted, "{errors}");
    assert!(errors.contains("found `long`, allowed: a duration such as `30m`"), "{errors}");
}

#[test]
fn a_missing_field_is_reported_where_it_should_be() {
    let text = format!("{HEAD}  environments:\n    - targets: []\n");
    assert_eq!(errors(&text), "pipeline.yaml:8:7: spec.environments[0].name: is missing");
}

#[test]
fn text_that_is_not_yaml_does_not_hide_the_documents_after_it() {
    let text = format!("a: [1\n---\n{}", dev_to_prod(""));
    let (found, errors) = weir_api::read("pipeline.yaml", &text);
    assert_eq!((found.len(), errors.len()), (1, 1), "{errors:?}");
    assert!(errors[0].to_string().contains("is not YAML"), "{}", errors[0]);
}

#[test]
fn a_broken_document_does_not_hide_the_others() {
    let text = format!("{}---\n{}", dev_to_prod("  suspend: maybe"), dev_to_prod(""));
    let (found, errors) = weir_api::read("pipeline.yaml", &text);
    assert_eq!(found.len(), 1);
    assert_eq!(errors[0].found.as_deref(), Some("maybe"));
}

#[test]
fn a_field_that_is_written_twice_is_reported() {
    let text = dev_to_prod("  suspend: true\n  suspend: false");
    assert_eq!(errors(&text), "pipeline.yaml:11:3: spec.suspend: is written twice: write it once");
}

#[test]
fn credentials_never_reach_an_error() {
    let text = dev_to_prod("  promotion: {pullRequest: {url: 'ftp://user:geheim@example.org/a'}}");
    assert!(!errors(&text).contains("geheim") && errors(&text).contains("ftp://example.org/a"), "{}", errors(&text));
}

#[test]
fn aliases_and_merge_keys_work_and_cannot_be_used_to_exhaust_memory() {
    let text = dev_to_prod("  promotion: &p {strategy: {notification: {}}}").replace(
        "targets: [{namespace: podinfo-prod}]",
        "targets: [&t {namespace: podinfo-prod}, {<<: *t, namespace: other}]",
    );
    assert_eq!(pipeline(&text).spec.environments[1].targets.len(), 2);
    let line = |n: usize| format!("b{n}: &a{n} [*a{0}, *a{0}, *a{0}, *a{0}]\n", n - 1);
    let bomb = "a: &a0 [x]\n".to_owned() + &(1..30).map(line).collect::<String>();
    assert!(errors(&bomb).contains("is too large"), "{}", errors(&bomb));
}

#[test]
fn objects_of_other_kinds_are_passed_on_unchecked() {
    let read = manifests("apiVersion: v1\nkind: Secret\nmetadata: {name: hmac}\nstringData: {hmac-key: abc}\n");
    assert!(
        matches!(&read[0].object, Object::Other { kind, name: Some(name), .. } if kind == "Secret" && name == "hmac")
    );
    let read = manifests("apiVersion: wego.weave.works/v1alpha2\nkind: Pipeline\nspec: {stages: []}\n");
    assert!(matches!(read[0].object, Object::Other { .. }));
    assert!(manifests("---\n# nothing\n---\n").is_empty());
}

#[test]
fn the_content_of_a_secret_and_credentials_in_an_address_are_never_shown() {
    let read = manifests("apiVersion: v1\nkind: Secret\nmetadata: {name: hmac}\nstringData: {hmac-key: geheim}\n");
    assert!(!format!("{read:?}").contains("geheim"));
    let text = dev_to_prod("  promotion: {pullRequest: {url: 'https://geheim@example.org/a'}}");
    assert!(!format!("{:?}", pipeline(&text)).contains("geheim"));
}

#[test]
fn an_unknown_kind_or_version_of_weirs_own_groups_is_an_error() {
    let text = dev_to_prod("").replace("v1alpha1", "v1beta1");
    let wanted = "apiVersion: found `pipelines.weave.works/v1beta1`, allowed: `pipelines.weave.works/v1alpha1`";
    assert!(errors(&text).contains(wanted), "{}", errors(&text));
    let text = dev_to_prod("").replace("kind: Pipeline", "kind: Pipelines");
    assert!(errors(&text).contains(":2:7: kind: found `Pipelines`, allowed: `Pipeline`, "), "{}", errors(&text));
}

#[test]
fn a_document_that_does_not_say_what_it_is_is_an_error() {
    assert!(errors("name: my-cluster\n").contains("apiVersion: is missing"));
    assert!(errors("- a\n- b\n").contains("kind: is missing"));
}

#[test]
fn the_items_of_a_list_are_objects_like_any_other() {
    let item = |text: &str| format!("  - {}\n", text.trim_end().replace('\n', "\n    "));
    let list = |items: &str| format!("apiVersion: v1\nkind: List\nitems:\n{items}");
    let broken = "apiVersion: pipelines.weave.works/v1alpha1\nkind: Pipelin\nkind: Pipelin\n";
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n";
    let text = list(&(item(broken) + &item(&dev_to_prod("")) + &item(secret)));
    let (manifests, errors) = weir_api::read("a.yaml", &text);
    let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert!(lines.iter().any(|line| line.starts_with("a.yaml:6:11: items[0].kind: found `Pipelin`")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("items[0].kind: is written twice")), "{lines:?}");
    assert_eq!((manifests.len(), manifests[0].place.line), (2, 7));
    assert!(matches!(manifests[0].object, Object::Pipeline(..)) && matches!(manifests[1].object, Object::Other { .. }));
}

#[test]
fn a_label_that_is_no_text_is_named_where_it_stands_and_hides_nothing_else() {
    let text = "apiVersion: pipelines.weave.works/v1alpha1\nkind: Pipeline\nmetadata:\n  name: a\n  labels:\n    a.b/c: 1\n\
                spec:\n  environments: []\n";
    let (_, errors) = weir_api::read("p.yaml", text);
    let told: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(told[0], "p.yaml:6:12: metadata.labels.a.b/c: found `1`, allowed: text; put it in quotes");
    assert_eq!(told.len(), 2, "{told:?}");
}

const APP: &str = "apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: app, namespace: team}
spec:
  environments:
    - {name: dev, targets: [{namespace: app}]}
";

fn refused(text: &str) -> String {
    let found = weir_api::definition("app.yaml", text).unwrap_err();
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_definition_is_one_pipeline_and_nothing_else() {
    assert_eq!(weir_api::definition("app.yaml", APP).unwrap().key.to_string(), "team/app");
    let older = APP.replace("pipelines.weave.works", "pipelines.wego.weave.works");
    assert!(weir_api::definition("app.yaml", &older).is_ok());
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: geheim}\n";
    let told = refused(&format!("{APP}{secret}"));
    assert!(told.contains("app.yaml:8:1: kind: found a Secret"), "{told}");
    assert!(!told.contains("geheim"), "{told}");
    assert!(refused(&format!("{APP}---\n{}", APP.replace("app,", "web,"))).contains("a second Pipeline"));
    assert!(refused("").contains("no Pipeline"));
    assert!(refused(&APP.replace(", namespace: team", "")).contains("metadata.namespace: is missing"));
    assert!(refused(&APP.replace("name: dev", "name: ''")).contains("spec.environments[0].name"));
}

#[test]
fn a_pipeline_that_a_text_defines_twice_is_found() {
    assert_eq!(weir_api::lint("app.yaml", APP), []);
    let found = weir_api::lint("app.yaml", &format!("{APP}---\n{APP}"));
    let told: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["app.yaml:8:1: pipeline `team/app` is defined twice: it is in app.yaml:1:1, too"]);
}
