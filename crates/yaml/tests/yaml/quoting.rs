//! A value stays a string, in the style it was written in.

use crate::{mark, promoted};

#[test]
fn quotes_stay() {
    let text = concat!("a: '1.0' ", mark!(), "\nb: \"1.0\" ", mark!(), "\nc: v1 ", mark!(), "\n");
    assert_eq!(
        promoted(text, "2.0.0"),
        concat!("a: '2.0.0' ", mark!(), "\nb: \"2.0.0\" ", mark!(), "\nc: 2.0.0 ", mark!(), "\n")
    );
}

#[test]
fn quotes_in_the_value_are_escaped() {
    let text = concat!("a: 'x' ", mark!(), "\nb: \"x\" ", mark!(), "\n");
    assert_eq!(
        promoted(text, r#"i't\"s"#),
        concat!(r#"a: 'i''t\"s' "#, mark!(), "\n", r#"b: "i't\\\"s" "#, mark!(), "\n")
    );
}

#[test]
fn what_would_not_be_a_string_is_quoted() {
    for version in [
        "1.10",
        "yes",
        "null",
        "0x1f",
        "1e3",
        "~",
        "2024-01-01",
        "0o7",
        "1_000",
        "12:30:45",
        ".inf",
        "=",
        "<<",
        "1234e5",
    ] {
        let text = concat!("a: v1 ", mark!(), "\n");
        assert_eq!(promoted(text, version), format!("a: \"{version}\" {}\n", mark!()), "{version}");
    }
}

#[test]
fn what_would_be_syntax_is_quoted() {
    for version in
        ["a: b", "a #b", "- a", "*a", "&a", "!a", "@a", "%a", "{a", "[a", "#a", "a:", " a", "a ", "? a", "---", "..."]
    {
        let text = concat!("a: v1 ", mark!(), "\n");
        assert_eq!(promoted(text, version), format!("a: \"{version}\" {}\n", mark!()), "{version}");
    }
}

#[test]
fn flow_indicators_are_quoted_in_flow_only() {
    let text = concat!("a: v1 ", mark!(), "\nb: [v1, ", mark!(), "\n v2]\n");
    assert_eq!(promoted(text, "a,b"), concat!("a: a,b ", mark!(), "\nb: [\"a,b\", ", mark!(), "\n v2]\n"));
}

#[test]
fn an_image_needs_no_quotes_in_flow() {
    let text = concat!("{image: a/b:1.0, ", mark!("tag"), "\n x: y}\n");
    assert_eq!(promoted(text, "2.0"), text.replace("1.0", "2.0"));
}

#[test]
fn a_value_beyond_ascii_is_written_as_it_is() {
    let text = concat!("a: v1 ", mark!(), "\n");
    assert_eq!(promoted(text, "größe-1"), concat!("a: größe-1 ", mark!(), "\n"));
}
