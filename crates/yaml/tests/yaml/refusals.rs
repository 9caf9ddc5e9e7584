//! What is refused, where, and that nothing is changed.

use weir_yaml::{Error, MarkerError, NotAValue, Value, markers};

use crate::{mark, set_marked};

/// The one error that both reading and writing give.
fn refused(text: &str) -> Error {
    let error = set_marked(text, &Value::new("2.0.0")).unwrap_err();
    assert_eq!(markers(text).unwrap_err(), error);
    error
}

fn not_a_value(text: &str) -> (NotAValue, usize, usize) {
    match refused(text) {
        Error::NotAValue { place, found } => (found, place.line, place.column),
        other => panic!("a refusal of the value was expected, not {other:?}"),
    }
}

fn loose(text: &str) -> (usize, usize) {
    match refused(text) {
        Error::LooseMarker { place } => (place.line, place.column),
        other => panic!("a loose marker was expected, not {other:?}"),
    }
}

#[test]
fn an_alias_is_refused() {
    assert_eq!(not_a_value(concat!("a: &x 1.0\nb: *x ", mark!(), "\n")), (NotAValue::Alias, 2, 4));
}

#[test]
fn a_block_scalar_is_refused() {
    assert_eq!(not_a_value(concat!("a: | ", mark!(), "\n  1.0\n")).0, NotAValue::Block);
    assert_eq!(not_a_value(concat!("a: >- ", mark!(), "\n  1.0\n")).0, NotAValue::Block);
    assert_eq!(not_a_value(concat!(mark!(), "\na: |\n  1.0\n")).0, NotAValue::Block);
}

#[test]
fn an_empty_value_is_refused() {
    assert_eq!(not_a_value(concat!("a: ", mark!(), "\nb: 1\n")).0, NotAValue::Empty);
    assert_eq!(not_a_value(concat!(mark!(), "\na:\nb: 1\n")).0, NotAValue::Empty);
    assert_eq!(not_a_value(concat!(mark!(), "\na: !!str\nb: 1\n")).0, NotAValue::Empty);
}

#[test]
fn a_map_or_a_sequence_is_refused() {
    assert_eq!(not_a_value(concat!("a: ", mark!(), "\n  b: 1\n")), (NotAValue::Map, 2, 3));
    assert_eq!(not_a_value(concat!("a: ", mark!(), "\n  - 1\n")), (NotAValue::Sequence, 2, 3));
    assert_eq!(not_a_value(concat!("a: {b: 1} ", mark!(), "\n")), (NotAValue::Map, 1, 4));
    assert_eq!(not_a_value(concat!("a: [1, 2] ", mark!(), "\n")), (NotAValue::Sequence, 1, 4));
    assert_eq!(not_a_value(concat!("a: [ ", mark!(), "\n 1]\n")).0, NotAValue::Sequence);
    assert_eq!(not_a_value(concat!("a: { ", mark!(), "\n b: 1}\n")).0, NotAValue::Map);
}

#[test]
fn a_marker_above_an_item_that_is_a_map_is_refused() {
    let text = concat!("a:\n  ", mark!(), "\n  - name: x\n    image: y\n");
    assert_eq!(not_a_value(text), (NotAValue::Map, 3, 5));
}

#[test]
fn a_scalar_of_several_lines_is_refused() {
    for text in [
        concat!("a: b\n  c ", mark!(), "\n"),
        concat!("a: \"b\n  c\" ", mark!(), "\n"),
        concat!(mark!(), "\na: 'b\n\n  c'\n"),
    ] {
        assert_eq!(not_a_value(text).0, NotAValue::ManyLines);
    }
}

#[test]
fn a_value_that_has_several_lines_for_older_readers_only_is_refused() {
    for text in [concat!("a: -\u{2028}b ", mark!(), "\n"), concat!("a: 'b\u{85}c' ", mark!(), "\n")] {
        assert_eq!(not_a_value(text).0, NotAValue::ManyLines);
    }
}

#[test]
fn a_value_that_an_alias_uses_is_refused() {
    let text = concat!("a: &v 1.0 ", mark!(), "\nb: *v\n");
    assert!(matches!(refused(text), Error::Shared { place, anchor } if place.line == 1 && anchor == "*v"));
}

#[test]
fn a_value_in_a_map_that_an_alias_uses_is_refused() {
    let text = concat!("a: &m\n  v: 1.0 ", mark!(), "\nb:\n  <<: *m\n");
    assert!(matches!(refused(text), Error::Shared { place, anchor } if place.line == 2 && anchor == "*m"));
}

#[test]
fn an_anchor_that_only_another_document_has_an_alias_for_is_not_shared() {
    let text = concat!("a: &v 1.0 ", mark!(), "\n---\na: &v x\nb: *v\n");
    assert!(set_marked(text, &Value::new("2.0.0")).is_ok());
}

#[test]
fn a_template_with_a_marker_is_refused() {
    let text = concat!("{{ if .Values.x }}\na: 1.0 ", mark!(), "\n{{ end }}\n");
    assert!(matches!(refused(text), Error::NotYaml { place, .. } if place.line == 2));
}

#[test]
fn a_template_expression_is_a_map_and_refused() {
    assert_eq!(not_a_value(concat!("a: {{ .Values.tag }} ", mark!(), "\n")), (NotAValue::Map, 1, 4));
}

#[test]
fn a_file_that_breaks_behind_its_marker_is_refused() {
    assert!(matches!(refused(concat!("a: 1.0 ", mark!(), "\nb: [\n")), Error::NotYaml { .. }));
}

#[test]
fn a_broken_marker_is_refused() {
    let error = refused("a: 1\nb: 2 # {\"$promotion\": \"apps:podinfo:prod\"\n");
    let Error::BrokenMarker { place, source: MarkerError::Json { .. } } = error else { panic!("not {error:?}") };
    assert_eq!((place.line, place.column), (2, 6));
    assert!(matches!(refused("a: 1 # {\"$promotion\": \"apps:podinfo\"}\n"), Error::BrokenMarker { .. }));
    assert!(matches!(refused("a: 1 # {\"$promotion\": \"apps:podinfo:prod:sha\"}\n"), Error::BrokenMarker { .. }));
}

#[test]
fn a_marker_apart_from_its_key_is_refused() {
    assert_eq!(loose(concat!(mark!(), "\n\na: 1\n")), (1, 1));
    assert_eq!(loose(concat!("a: 1\n", mark!(), "\n")), (2, 1));
    assert_eq!(loose(concat!("a: 1\n", mark!())), (2, 1));
    assert_eq!(loose(mark!()), (1, 1));
}

#[test]
fn a_marker_that_is_not_indented_like_the_key_below_is_refused() {
    assert_eq!(loose(concat!("a:\n  b: 1\n  ", mark!(), "\nc: 2\n")), (3, 3));
}

#[test]
fn a_marker_at_a_document_marker_or_a_directive_is_refused() {
    assert_eq!(loose(concat!("--- ", mark!(), "\na: 1\n")), (1, 5));
    assert_eq!(loose(concat!(mark!(), "\n---\na: 1\n")), (1, 1));
    assert_eq!(loose(concat!("a: 1\n... ", mark!(), "\n")), (2, 5));
    assert_eq!(loose(concat!("%YAML 1.2 ", mark!(), "\n---\na: 1\n")), (1, 11));
}

#[test]
fn a_marker_behind_a_key_a_dash_or_an_anchor_is_refused() {
    assert_eq!(loose(concat!("? a ", mark!(), "\n: b\n")), (1, 5));
    assert_eq!(loose(concat!("- ", mark!(), "\n- b\n")), (1, 3));
    assert_eq!(loose(concat!("a: &x ", mark!(), "\n  b\n")), (1, 7));
}

#[test]
fn a_value_that_must_be_quoted_above_a_tab_is_refused() {
    for below in ["\n\t\nb: x\n", "\n  \t# comment\n"] {
        let text = format!("{}\na: 1.0{below}", mark!());
        assert!(matches!(set_marked(&text, &Value::new("1.1")), Err(Error::TabBelow { place }) if place.line == 2));
        assert!(set_marked(&text, &Value::new("1.1.0")).is_ok());
    }
}

#[test]
fn nothing_is_changed_when_one_of_several_values_is_refused() {
    let text = concat!("a: 1.0 ", mark!(), "\nb: [1] ", mark!(), "\n");
    assert!(set_marked(text, &Value::new("2.0.0")).is_err());
}

#[test]
fn a_marker_of_another_pipeline_that_marks_nothing_is_no_obstacle() {
    let text = concat!("a: 1.0 ", mark!(), "\nb: [1] # {\"$promotion\": \"x:y:z\"}\n");
    assert!(set_marked(text, &Value::new("2.0.0")).is_ok());
    assert!(markers(text).is_err());
}

#[test]
fn an_error_says_where_and_what_to_do() {
    let error = refused(concat!("a: [1, 2] ", mark!(), "\n"));
    assert_eq!(
        error.to_string(),
        "the value at line 1, column 4 cannot be changed: it is a sequence; write it as a plain or quoted value on one line"
    );
    assert_eq!(error.place().map(|place| place.line), Some(1));
}
