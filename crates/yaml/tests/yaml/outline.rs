//! Which files are read without the parser, and that this makes no difference but in time.

use std::cell::Cell;

use proptest::prelude::*;
use weir_yaml::{markers, outlined};

use crate::{
    agreement::agreed,
    manifest::{manifest, mutated},
    mark,
    property::{runner, text},
};

/// Whether the lines of a text are enough, which then say what the parser says.
fn is_outlined(text: &str) -> bool {
    agreed(text).unwrap().is_some()
}

#[test]
fn a_manifest_as_people_write_it_needs_no_parser() {
    let marked = Cell::new(0);
    runner(2_000)
        .run(&manifest(), |text| {
            let found = agreed(&text).map_err(TestCaseError::fail)?;
            marked.set(marked.get() + found.as_ref().map_or(0, Vec::len));
            prop_assert!(found.is_some());
            Ok(())
        })
        .unwrap();
    assert!(marked.get() > 2_000, "{marked:?} markers");
}

#[test]
fn a_manifest_with_mistakes_is_read_as_the_parser_reads_it_or_left_to_it() {
    let (all, by_lines) = (Cell::new(0), Cell::new(0));
    runner(20_000)
        .run(&mutated(), |text| {
            let found = agreed(&text).map_err(TestCaseError::fail)?;
            all.set(all.get() + 1);
            by_lines.set(by_lines.get() + usize::from(found.is_some()));
            Ok(())
        })
        .unwrap();
    let share = 100 * by_lines.get() / all.get();
    assert!((30..90).contains(&share), "{share} % were read by their lines");
}

#[test]
fn any_text_is_read_as_the_parser_reads_it_or_left_to_it() {
    runner(20_000)
        .run(&text(), |text| {
            agreed(&text).map_err(TestCaseError::fail)?;
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_fixtures_are_read_alike_both_ways() {
    let fixtures = [
        ("helm-release", include_str!("../fixtures/helm-release/before.yaml")),
        ("kustomization", include_str!("../fixtures/kustomization/before.yaml")),
        ("crlf-with-bom", include_str!("../fixtures/crlf-with-bom/before.yaml")),
        ("documents", include_str!("../fixtures/documents/before.yaml")),
        ("flow", include_str!("../fixtures/flow/before.yaml")),
        ("deployment", include_str!("../fixtures/deployment/before.yaml")),
    ];
    let by_lines: Vec<_> = fixtures.iter().filter(|(_, text)| is_outlined(text)).map(|(name, _)| *name).collect();
    assert_eq!(by_lines, ["helm-release", "kustomization", "deployment"]);
}

#[test]
fn maps_lists_and_block_scalars_need_no_parser() {
    for text in [
        "",
        "a: 1\n",
        "  a: 1\n  b:\n",
        "a:\n- b\n- c: 1\n  d: 2\n-\n  - e\nf:\n    g: 1\n",
        "a: {}\nb: {c: d, 'e': \"f\" }\nb: []\nc: [x, \"y\", 'z'] # why\nd: \"it's \\\"so\\\"\"\ne: ''\n",
        "---\n---\na: -v\n# end\n---\n",
        "a: |\n  text: [\n\n    - # no comment\nb: >-\n\n   more\n  \n# end\n",
        "\"ключ\": größe # naïve\r\nb: \"日本語 🚀\"",
    ] {
        assert!(is_outlined(text), "{text:?}");
    }
}

#[test]
fn long_lines_and_deep_files_need_no_parser() {
    let (long, key) = ("x".repeat(3_000), "k".repeat(1_000));
    let is_outlined = |text: String| is_outlined(&text);
    for value in [long.clone(), format!("'{long}'"), format!("[{long}]"), format!("{{{key}: '{long}'}}")] {
        assert!(is_outlined(format!("{key}: {value} # {long}\n'{}': {value}\nb:\n- {value}\n", &key[2..])));
    }
    let deep = |levels: usize| (0..levels).flat_map(|depth| [" ".repeat(depth), "a:\n".to_owned()]).collect();
    assert!(is_outlined(deep(100)));
    assert!(!is_outlined(deep(1_000)));
    assert!(!is_outlined(format!("{key}k: 1\n")));
}

#[test]
fn what_takes_a_second_thought_is_left_to_the_parser() {
    for text in [
        "a",
        "a b: 1\n",
        "a: b\n  c\n",
        "a: 'b\n  c'\n",
        "a: b: c\n",
        "a:\tb\n",
        "a: &x b\n",
        "a: *x\n",
        "a: !!str b\n",
        "a: {b}\n",
        "a: {b: [c]}\n",
        "a: [b: c]\n",
        "a: [b,\n  c]\n",
        "? a\n: b\n",
        "%YAML 1.2\n---\na: b\n",
        "a: b\n...\n",
        "--- a\n",
        "- - a\n",
        "a: |2\n   b\n",
        "a: |\nb: c\n",
        "a: |\n     \n  b\n",
        "a: |\n    b\n  # c\n",
        "a: |",
        "a: \"\\u0041\"\n",
        "a: 'b'c\n",
        "a: 'b'#c\n",
        "\u{feff}a: b\n",
        "a: b\rc: d\n",
        "a: b\u{a0}c\n",
        "a: b\u{2028}c\n",
    ] {
        assert!(!is_outlined(text), "{text:?}");
    }
}

#[test]
fn an_indentation_that_fits_nothing_is_left_to_the_parser() {
    for text in [
        "a: 1\n  b: 2\n",
        "a:\n  b: 1\n c: 2\n",
        "a:\n  - b\n- c\n",
        "a:\n  - b\n  c: 1\n",
        "- a\nb: 1\n",
        "a: 1\n- b\n",
        "- a:\n - b\n",
    ] {
        assert!(!is_outlined(text), "{text:?}");
    }
}

#[test]
fn a_marker_that_would_be_refused_is_left_to_the_parser() {
    for text in [
        concat!("a: ", mark!(), "\n  b: 1\n"),
        concat!("a: [b] ", mark!(), "\n"),
        concat!("a: 'it''s' ", mark!(), "\n"),
        concat!("- ", mark!(), "\n- a\n"),
        concat!(mark!(), "\n- a: 1\n"),
        concat!(mark!(), "\n\na: 1\n"),
        concat!(mark!(), "\n---\na: 1\n"),
        concat!(mark!(), "\na: |\n  b\n"),
        concat!("a:\n  b: 1\n  ", mark!(), "\nc: 2\n"),
        concat!("a: 1\n", mark!()),
        "a: 1 # $promotion\n",
    ] {
        assert!(!is_outlined(text), "{text:?}");
    }
}

#[test]
fn a_file_that_is_not_plain_is_found_by_the_parser() {
    let text = concat!("a: {b: 1.0, ", mark!(), "\n  c: 2}\n");
    assert_eq!(outlined(text), None);
    assert_eq!(markers(text).unwrap()[0].value, "1.0");
}
