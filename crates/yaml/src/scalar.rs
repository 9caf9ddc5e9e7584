//! How a string is written in the style of the scalar that it replaces.

use granit_parser::ScalarStyle;

use crate::plain;

/// Writes `text`, which must fit in one line, in `style`. A plain scalar is quoted if it would be read as anything but
/// this string.
pub(crate) fn written(text: &str, style: ScalarStyle, in_flow: bool) -> String {
    match style {
        ScalarStyle::SingleQuoted => format!("'{}'", text.replace('\'', "''")),
        ScalarStyle::Plain if plain::is_string(text, in_flow) => text.to_owned(),
        _ => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_stay_and_are_escaped() {
        assert_eq!(written("it's", ScalarStyle::SingleQuoted, false), "'it''s'");
        assert_eq!(written(r#"a\"b"#, ScalarStyle::DoubleQuoted, false), r#""a\\\"b""#);
    }

    #[test]
    fn a_plain_scalar_stays_plain_while_it_reads_as_a_string() {
        assert_eq!(written("6.2.0", ScalarStyle::Plain, false), "6.2.0");
        assert_eq!(written("1.10", ScalarStyle::Plain, false), "\"1.10\"");
        assert_eq!(written("a,b", ScalarStyle::Plain, true), "\"a,b\"");
    }
}
