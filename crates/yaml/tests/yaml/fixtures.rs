//! Whole files, before and after.

use weir_yaml::{Value, markers};

use crate::set_marked;

fn becomes(before: &str, after: &str) {
    let value = Value::new("6.2.0")
        .with_name("registry.example.org:5000/podinfo")
        .with_digest("sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
    let edited = set_marked(before, &value).unwrap();
    assert_eq!(edited.text, after);
    assert_eq!(markers(before).unwrap().len(), edited.changes.len());
}

macro_rules! fixtures {
    ($($rule:ident: $name:literal),* $(,)?) => {
        $(#[test]
        fn $rule() {
            becomes(
                include_str!(concat!("../fixtures/", $name, "/before.yaml")),
                include_str!(concat!("../fixtures/", $name, "/after.yaml")),
            );
        })*
    };
}

fixtures! {
    a_helm_release_keeps_its_odd_formatting: "helm-release",
    a_kustomization_has_markers_for_name_and_tag: "kustomization",
    windows_files_keep_line_ends_and_byte_order_mark: "crlf-with-bom",
    directives_and_document_markers_stay: "documents",
    json_like_files_are_changed_like_any_other: "flow",
    an_image_gets_its_new_tag_and_digest: "deployment",
}
