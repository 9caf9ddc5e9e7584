//! Not one byte outside the value changes.

use weir_yaml::{MarkerFilter, Selector, Value, markers, set};

use crate::{mark, marked, promoted, set_marked};

#[test]
fn a_marker_behind_a_value_chooses_it() {
    let text = concat!("a:   1.0.0   ", mark!(), "  \nb: 1.0.0\n");
    assert_eq!(promoted(text, "2.0.0"), concat!("a:   2.0.0   ", mark!(), "  \nb: 1.0.0\n"));
}

#[test]
fn a_marker_above_a_key_chooses_its_value() {
    let text = concat!("x: 0\n", mark!(), "\nversion: 1.0.0 # pinned\n");
    assert_eq!(promoted(text, "2.0.0"), concat!("x: 0\n", mark!(), "\nversion: 2.0.0 # pinned\n"));
}

#[test]
fn a_marker_above_the_first_key_of_a_file_or_a_map_chooses_its_value() {
    let text = concat!(mark!(), "\nversion: 1.0.0\nspec:\n  ", mark!(), "\n  version: 1.0.0\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn a_marker_may_stand_among_other_comments_above_a_key() {
    let text = concat!("# one\n", mark!(), "\n# two\nversion: 1.0.0\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn a_marker_above_or_behind_an_item_chooses_it() {
    let text = concat!("a:\n  ", mark!(), "\n  - 1.0.0\n  - other\nb:\n- 1.0.0 ", mark!(), "\n- other\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn a_marker_between_a_key_and_its_value_chooses_it() {
    let text = concat!("a: ", mark!(), "\n  1.0.0\nb: x\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn in_flow_a_marker_chooses_the_value_before_it_on_its_line() {
    let text = concat!("a: {x: 0, v: 1.0.0, ", mark!(), "\n  y: [0, 1.0.0 ", mark!(), "\n  ], z: 0}\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn in_flow_a_marker_above_a_key_or_an_item_chooses_it() {
    let text = concat!("{\n  ", mark!(), "\n  v: 1.0.0,\n  l: [\n    ", mark!(), "\n    1.0.0,\n    x\n  ]\n}\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn json_with_a_marker_is_yaml() {
    let text = concat!("{\n\t\"a\":\"1.0.0\", ", mark!(), "\n\t\"b\":1.0.0 ", mark!(), "\n}\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn explicit_keys_are_keys() {
    let text = concat!("? a\n: 1.0.0 ", mark!(), "\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn every_document_of_a_file_is_searched() {
    let text = concat!("%YAML 1.2\n---\na: 1.0.0 ", mark!(), "\n...\n---\n# x\n--- # y\nb: 1.0.0 ", mark!(), "\n...\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn line_ends_stay_as_they_are() {
    let crlf = concat!("a: 1.0.0 ", mark!(), "\r\n", mark!(), "\r\nb: '1.0.0'\r\nc: x\r\n");
    assert_eq!(promoted(crlf, "2.0.0"), crlf.replace("1.0.0", "2.0.0"));
    let mixed = crlf.replacen("\r\n", "\n", 1);
    assert_eq!(promoted(&mixed, "2.0.0"), mixed.replace("1.0.0", "2.0.0"));
    let cr = crlf.replace("\r\n", "\r");
    assert_eq!(promoted(&cr, "2.0.0"), cr.replace("1.0.0", "2.0.0"));
}

#[test]
fn a_byte_order_mark_stays() {
    let text = concat!("\u{feff}", mark!(), "\na: 1.0.0\nb: 1.0.0 ", mark!(), "\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn a_missing_final_newline_stays_missing() {
    let text = concat!("a: 1.0.0 ", mark!());
    assert_eq!(promoted(text, "2.0.0"), concat!("a: 2.0.0 ", mark!()));
}

#[test]
fn text_beyond_ascii_does_not_shift_the_value() {
    let text = concat!("größe: \"日本語 🚀\" # naïve\n\"ключ\": 1.0.0 ", mark!(), "\nz: é\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
    let place = &markers(text).unwrap()[0].place;
    assert_eq!((place.line, place.column, &text[place.span.clone()]), (2, 9, "1.0.0"));
}

#[test]
fn anchors_and_tags_stay() {
    let text = concat!("a: &v !!str 1.0.0 ", mark!(), "\nb: !custom &w '1.0.0' ", mark!(), "\n");
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn a_long_licence_above_is_no_obstacle() {
    let text = format!("{}a: 1.0.0 {}\n", "# licence\n".repeat(500), mark!());
    assert_eq!(promoted(&text, "2.0.0"), text.replace("1.0.0", "2.0.0"));
}

#[test]
fn only_the_exact_pipeline_and_environment_are_changed() {
    let text = "a: 1.0 # {\"$promotion\": \"apps:podinfo:prod-eu\"}\nb: 1.0 # {\"$promotion\": \"app:podinfo:prod\"}\n";
    assert_eq!(promoted(text, "2.0.0"), text);
}

#[test]
fn a_workload_chooses_among_markers() {
    let text = "a: 1.0 # {\"$promotion\": \"apps:podinfo:prod\", \"workload\": \"HelmRelease/a\"}\n\
                b: 1.0 # {\"$promotion\": \"apps:podinfo:prod\", \"workload\": \"HelmRelease/b\"}\n\
                c: 1.0 # {\"$promotion\": \"apps:podinfo:prod\"}\n";
    let Selector::Marker(filter) = marked() else { panic!("the tests' marker is a marker") };
    let of = |name: &str| Selector::Marker(MarkerFilter { workload: Some(name.to_owned()), ..filter.clone() });
    let edits = [(of("HelmRelease/a"), Value::new("2.0.0")), (of("HelmRelease/b"), Value::new("3.0.0"))];
    let edited = set(text, &edits).unwrap();
    assert_eq!(edited.text, text.replace("a: 1.0", "a: 2.0.0").replace("b: 1.0", "b: 3.0.0"));
    assert_eq!(promoted(text, "2.0.0"), text.replace("1.0", "2.0.0"));
}

#[test]
fn a_value_that_is_as_asked_for_is_kept() {
    let text = concat!("a: '2.0' ", mark!(), "\nb: 2.0 ", mark!(), "\n");
    let edited = set_marked(text, &Value::new("2.0")).unwrap();
    assert_eq!((edited.text.as_str(), edited.changes.len(), edited.kept.len()), (text, 0, 2));
}

#[test]
fn a_file_without_markers_is_returned_as_it_is_even_if_it_is_no_yaml() {
    let text = "{{ if .Values.x }}\n\ta: [\n";
    let edited = set_marked(text, &Value::new("2.0")).unwrap();
    assert_eq!((edited.text.as_str(), edited.changes.len(), edited.kept.len()), (text, 0, 0));
}

#[test]
fn a_file_with_markers_of_others_only_is_returned_as_it_is() {
    for text in ["a: 1.0 # {\"$promotion\": \"x:y:z\"}\n", "a: &x 1.0 # {\"$promotion\": \"x:y:z\"}\n"] {
        let edited = set_marked(text, &Value::new("2.0")).unwrap();
        assert_eq!((edited.text.as_str(), edited.changes.len(), edited.kept.len()), (text, 0, 0));
    }
}

#[test]
fn a_change_says_where_and_what() {
    let text = concat!("a: x\nb: '1.0' ", mark!(), "\n");
    let change = &set_marked(text, &Value::new("2.0")).unwrap().changes[0];
    assert_eq!((change.place.line, change.place.column, change.place.span.clone()), (2, 4, 8..13));
    assert_eq!((change.before.as_str(), change.after.as_str()), ("1.0", "2.0"));
}
