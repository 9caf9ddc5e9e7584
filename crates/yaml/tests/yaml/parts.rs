//! Tag, name and digest.

use weir_yaml::{Error, Part, Value, ValueError};

use crate::{mark, set_marked};

const OLD: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const NEW: &str = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

fn written(scalar: &str, mark: &str, value: &Value) -> String {
    let text = set_marked(&format!("image: {scalar} {mark}\n"), value).unwrap().text;
    text.strip_prefix("image: ").unwrap().strip_suffix(&format!(" {mark}\n")).unwrap().to_owned()
}

fn refused(scalar: &str, mark: &str, value: &Value) -> ValueError {
    match set_marked(&format!("image: {scalar} {mark}\n"), value) {
        Err(Error::Value { place, source }) if (place.line, place.column) == (1, 8) => source,
        other => panic!("a value error at the scalar was expected, not {other:?}"),
    }
}

#[test]
fn without_a_part_the_whole_value_is_replaced() {
    assert_eq!(written("nginx:1.0.0", mark!(), &Value::new("2.0.0")), "2.0.0");
}

#[test]
fn a_tag_is_replaced_in_its_reference() {
    let tag = |scalar| written(scalar, mark!("tag"), &Value::new("2.0"));
    assert_eq!(tag("nginx:1.0"), "nginx:2.0");
    assert_eq!(tag("registry:5000/a/b:1.0"), "registry:5000/a/b:2.0");
    assert_eq!(tag("'registry:5000/a/b'"), "'registry:5000/a/b:2.0'");
    assert_eq!(tag("1.0"), "\"2.0\"");
    assert_eq!(tag("v1"), "\"2.0\"");
}

#[test]
fn a_new_tag_replaces_or_drops_the_digest_of_the_old_one() {
    let old = format!("nginx:1.0@{OLD}");
    assert_eq!(written(&old, mark!("tag"), &Value::new("2.0")), "nginx:2.0");
    assert_eq!(written(&old, mark!("tag"), &Value::new("2.0").with_digest(NEW)), format!("nginx:2.0@{NEW}"));
    assert_eq!(written(&format!("nginx@{OLD}"), mark!("tag"), &Value::new("2.0")), "nginx:2.0");
}

#[test]
fn a_name_is_replaced_in_its_reference() {
    let value = Value::new("2.0").with_name("registry:5000/new");
    assert_eq!(written("a/b:1.0", mark!("name"), &value), "registry:5000/new:1.0");
    assert_eq!(written(&format!("a/b:1.0@{OLD}"), mark!("name"), &value), format!("registry:5000/new:1.0@{OLD}"));
    assert_eq!(written("old", mark!("name"), &value), "registry:5000/new");
}

#[test]
fn a_digest_is_replaced_in_its_reference() {
    let value = Value::new("2.0").with_digest(NEW);
    assert_eq!(written(&format!("a/b@{OLD}"), mark!("digest"), &value), format!("a/b@{NEW}"));
    assert_eq!(written(&format!("a/b:1.0@{OLD}"), mark!("digest"), &value), format!("a/b:1.0@{NEW}"));
    assert_eq!(written(&format!("\"{OLD}\""), mark!("digest"), &value), format!("\"{NEW}\""));
    assert_eq!(written("''", mark!("digest"), &value), format!("'{NEW}'"));
}

#[test]
fn several_parts_of_one_value_may_be_marked() {
    let text = format!("{}\n{}\n{}\nimage: a/b:1.0@{OLD}\n", mark!("name"), mark!("tag"), mark!("digest"));
    let value = Value::new("2.0").with_name("c/d").with_digest(NEW);
    let edited = set_marked(&text, &value).unwrap();
    assert_eq!(edited.text, text.replace(&format!("a/b:1.0@{OLD}"), &format!("c/d:2.0@{NEW}")));
    assert_eq!(edited.changes.len(), 1);
}

#[test]
fn a_marker_for_a_part_that_was_not_given_is_refused() {
    let value = Value::new("2.0");
    assert_eq!(refused("a/b:1.0", mark!("name"), &value), ValueError::Missing { part: Part::Name });
    assert_eq!(refused("a/b:1.0", mark!("digest"), &value), ValueError::Missing { part: Part::Digest });
}

#[test]
fn a_part_that_is_none_is_refused() {
    let malformed = |mark, value: Value| matches!(refused("a/b:1.0", mark, &value), ValueError::Malformed { .. });
    assert!(malformed(mark!("tag"), Value::new("1.0+build")));
    assert!(malformed(mark!("tag"), Value::new("")));
    assert!(malformed(mark!("name"), Value::new("1").with_name("a:1")));
    assert!(malformed(mark!("digest"), Value::new("1").with_digest("sha256:1")));
    assert!(malformed(mark!(), Value::new("a\nb: c")));
    assert!(malformed(mark!(), Value::new("")));
}

#[test]
fn a_tag_is_not_written_over_a_digest() {
    assert!(matches!(refused(OLD, mark!("tag"), &Value::new("2.0")), ValueError::Unfit { part: Part::Tag, .. }));
}
