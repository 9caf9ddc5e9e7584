//! The law, over texts that nobody would write.

use std::cell::Cell;

use proptest::{collection::vec, prelude::*, sample::select, test_runner::TestRunner};
use weir_yaml::{Location, Path, Selector, Value, markers};

use crate::{
    law::{Outcome, obeyed},
    mark, marked,
};

const DIGEST: &str = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/// The smallest pieces that YAML's syntax is made of, and markers.
const PIECES: &[&str] = &[
    "\n",
    "\n",
    "\n  ",
    "\n    ",
    "\r\n",
    "\r",
    "\t",
    " ",
    "  ",
    "a",
    "b: ",
    "c:",
    "- ",
    "? ",
    ": ",
    ", ",
    ",",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"",
    "''",
    "\\",
    "\\n",
    "#",
    " # x",
    "&x ",
    "*x",
    "!!str ",
    "! ",
    "|",
    ">-",
    "|+\n",
    "---",
    "--- ",
    "\n---\n",
    "\n...\n",
    "%YAML 1.2\n",
    "<<: ",
    "~",
    "null",
    "1.0",
    "ü",
    "日",
    "🚀",
    "\u{feff}",
    "\u{2028}",
    "\u{85}",
    "@",
    "`",
    "{{ x }}",
    "a/b:1.0",
    " # {\"$promotion\": \"apps:podinfo:prod\"}\n",
    "# {\"$promotion\": \"apps:podinfo:prod:tag\"}\n",
    "\n# {\"$promotion\": \"apps:podinfo:prod:digest\"}\n",
    " # {\"$promotion\": \"x:y:z\"}\n",
    "a: 1.0 # {\"$promotion\": \"apps:podinfo:prod\"}\n",
];

const VERSIONS: &[&str] = &[
    "2.0.0",
    "1.10",
    "yes",
    "~",
    "a: b",
    "a #b",
    "it's",
    "\"q\"",
    "\\",
    "a,b",
    "]",
    "- x",
    "? x",
    "ü",
    " ",
    "...",
    "---",
    "*x",
    "&x",
    "{{ y }}",
    "a:",
    ":a",
    "#",
    "2024-01-01",
    "1e3",
    "0x1f",
    "-",
    "a:b",
    "|",
    "%",
    "@",
];

pub(crate) fn text() -> impl Strategy<Value = String> {
    let pieces = || vec(select(PIECES), 0..24).prop_map(|pieces| pieces.concat());
    prop_oneof![6 => pieces(), 2 => document(), 1 => any::<String>(), 1 => (document(), pieces()).prop_map(|(a, b)| a + &b)]
}

/// A file as somebody might write it, with markers in all the right places.
fn document() -> impl Strategy<Value = String> {
    let end = select(&["\n", "\r\n"][..]);
    let start = select(&["", "\u{feff}", "---\n", "# licence\n\n", "%YAML 1.1\n---\n"][..]);
    (start, vec(entry(), 1..6), end, any::<bool>()).prop_map(|(start, entries, end, cut)| {
        let mut text = format!("{start}{}", entries.concat());
        if cut {
            text.truncate(text.trim_end().len());
        }
        text.replace('\n', end)
    })
}

fn entry() -> impl Strategy<Value = String> {
    let key = select(&["a", "\"b.c\"", "'d'", "größe", "e/f", "&k g", "!!str h"][..]);
    let scalar = select(
        &["1.0", "v1", "'1.0'", "\"é\"", "app:1.0", "&v 1.0", "!!str 1", "~", "a b", "\"\\u0041\"", "'it''s'"][..],
    );
    let shape = 0..9;
    let other = select(&["x", "'#'", "[p, q]", "{r: s}", "|\n    text # x", "", "*v"][..]);
    (key, scalar, shape, other).prop_map(|(key, scalar, shape, other)| {
        let mark = mark!();
        match shape {
            0 => format!("{key}: {scalar} {mark}\n"),
            1 => format!("{mark}\n{key}: {scalar}\n"),
            2 => format!("{key}:\n  - {scalar} {mark}\n  - {other}\n"),
            3 => format!("{key}:\n  {mark}\n  - {scalar}\n"),
            4 => format!("{key}: {{x: {scalar}, {mark}\n  y: 0}}\n"),
            5 => format!("{key}: [0, {scalar} {mark}\n  , 1]\n"),
            6 => format!("{key}:\n  # why\n  {mark}\n  n: {scalar} # how\n  o: {other}\n"),
            7 => format!("{key}: {other}\n"),
            _ => format!("{key}: {scalar}\n---\n"),
        }
    })
}

fn edits() -> impl Strategy<Value = Vec<(Selector, Value)>> {
    let value = (select(VERSIONS), any::<bool>(), any::<bool>()).prop_map(|(version, name, digest)| Value {
        version: version.to_owned(),
        name: name.then(|| "ghcr.io/x/y".to_owned()),
        digest: digest.then(|| DIGEST.to_owned()),
    });
    let path = select(&["a", "b", "[\"b.c\"]", "größe[0]", "d.x", "[0]"][..]);
    let selector = prop_oneof![
        4 => Just(marked()),
        1 => path.prop_map(|path| Selector::Path(Location::from(path.parse::<Path>().unwrap()))),
    ];
    vec((selector, value), 1..3)
}

pub(crate) fn runner(cases: u32) -> TestRunner {
    TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() })
}

#[test]
fn any_text_is_refused_or_changed_in_the_chosen_values_only() {
    let outcomes = (text(), edits());
    runner(20_000)
        .run(&outcomes, |(text, edits)| {
            obeyed(&text, &edits).map_err(TestCaseError::fail)?;
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_law_is_not_obeyed_by_refusing_everything() {
    let (changed, unjudged) = (Cell::new(0), Cell::new(0));
    let edits = [(marked(), Value::new("2.0.0"))];
    runner(2_000)
        .run(&document(), |text| {
            match obeyed(&text, &edits).map_err(TestCaseError::fail)? {
                Outcome::Changed => changed.set(changed.get() + 1),
                Outcome::ChangedUnjudged => unjudged.set(unjudged.get() + 1),
                Outcome::Refused | Outcome::Untouched => {}
            }
            Ok(())
        })
        .unwrap();
    assert!(changed.get() > 1_000 && unjudged.get() < 20, "{changed:?} changed, {unjudged:?} not judged");
}

#[test]
fn every_listed_marker_is_one_that_can_be_set() {
    runner(5_000)
        .run(&text(), |text| {
            for found in markers(&text).unwrap_or_default() {
                prop_assert!(text.get(found.place.span.clone()).is_some());
                let value = Value::new("2.0.0").with_name("a/b").with_digest(DIGEST);
                let edits = [(Selector::Marker((&found.marker).into()), value)];
                let outcome = obeyed(&text, &edits).map_err(TestCaseError::fail)?;
                prop_assert!(outcome != Outcome::Untouched || found.value.contains("2.0.0"));
            }
            Ok(())
        })
        .unwrap();
}
