//! What a scalar means. As for kubectl, plain `yes`, `no`, `on` and `off` are truth values.

use granit_parser::ScalarStyle;
use serde_json::{Number, Value};

/// The value of a scalar. Whatever is quoted, or tagged as a text, is a text.
pub(super) fn value(text: &str, style: ScalarStyle, tagged_as_text: bool) -> Value {
    if style != ScalarStyle::Plain || tagged_as_text {
        return text.into();
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => true.into(),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => false.into(),
        _ => number(text).map_or_else(|| text.into(), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return i64::from_str_radix(digits, radix).ok().map(Number::from);
        }
    }
    let integer = text.strip_prefix('+').unwrap_or(text);
    let whole = integer.parse::<i64>().map(Number::from).or_else(|_| integer.parse::<u64>().map(Number::from));
    let decimal = |text: &str| {
        let plain = text.bytes().all(|c| c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'E' | b'+' | b'-'));
        plain.then(|| text.parse().ok()).flatten().and_then(Number::from_f64)
    };
    whole.ok().or_else(|| decimal(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_scalars_mean_what_they_mean_to_kubectl() {
        for (text, meaning) in [
            ("~", json!(null)),
            ("yes", json!(true)),
            ("off", json!(false)),
            ("12", json!(12)),
            ("-3", json!(-3)),
            ("6.1", json!(6.1)),
            ("6.1.8", json!("6.1.8")),
            ("1e3", json!(1000.0)),
            ("30m", json!("30m")),
            ("50%", json!("50%")),
            ("0x1f", json!(31)),
            ("nan", json!("nan")),
            ("2026-01-01", json!("2026-01-01")),
        ] {
            assert_eq!(value(text, ScalarStyle::Plain, false), meaning, "{text}");
        }
    }

    #[test]
    fn what_is_quoted_is_a_text() {
        assert_eq!(value("12", ScalarStyle::DoubleQuoted, false), json!("12"));
        assert_eq!(value("12", ScalarStyle::Plain, true), json!("12"));
    }
}
