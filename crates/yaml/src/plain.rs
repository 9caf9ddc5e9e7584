//! Whether a string may stand without quotes.

/// Whether `text`, written without quotes, is read back as this very string, by YAML 1.1 and 1.2 alike.
pub(crate) fn is_string(text: &str, in_flow: bool) -> bool {
    is_plain(text, in_flow) && !is_word(text) && !is_number(text) && !is_sexagesimal(text) && !is_timestamp(text)
}

/// Whether `text` can be written plain at all. Stricter than YAML: what might be taken for syntax is not plain.
fn is_plain(text: &str, in_flow: bool) -> bool {
    let opens_plainly =
        text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '/' | '+' | '^' | '$'));
    let ends_plainly = !text.ends_with([' ', ':']);
    let syntax = [": ", " #", "\t", "..."].iter().any(|mark| text.contains(mark));
    let flow_syntax = in_flow && text.contains([',', '[', ']', '{', '}', '?']);
    opens_plainly && ends_plainly && !syntax && !flow_syntax && !text.contains(char::is_control)
}

/// The words of YAML 1.1: null, booleans, infinities, the merge key and the default value.
fn is_word(text: &str) -> bool {
    const WORDS: [&str; 14] =
        ["~", "null", "y", "yes", "n", "no", "true", "false", "on", "off", ".inf", ".nan", "=", "<<"];
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    WORDS.iter().any(|word| unsigned.eq_ignore_ascii_case(word))
}

/// Integers in every base and floats, with the underscores of YAML 1.1. Readers take more than the standards do, such as
/// the `0b-1` of Go's and the `0x_` of Python's.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text).replace('_', "").to_ascii_lowercase();
    let is = |digits: &str, base: u32| !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
    for (prefix, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.strip_prefix(prefix) {
            let digits = digits.strip_prefix(['+', '-']).unwrap_or(digits);
            return digits.is_empty() || is(digits, base);
        }
    }
    let (mantissa, exponent) = digits.split_once('e').map_or((digits.as_str(), None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits = exponent.is_none_or(|exponent| is(exponent.strip_prefix(['+', '-']).unwrap_or(exponent), 10));
    is(&format!("{whole}{fraction}"), 10) && exponent_fits
}

/// `12:30:45`, which YAML 1.1 reads in base 60.
fn is_sexagesimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    unsigned.contains(':') && unsigned.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '_' | '.'))
}

/// `2024-01-01`, alone or before a time.
fn is_timestamp(text: &str) -> bool {
    let date = text.split(['T', 't', ' ']).next().unwrap_or(text);
    let fields: Vec<&str> = date.split('-').collect();
    let digits =
        |field: &str, most: usize| (1..=most).contains(&field.len()) && field.bytes().all(|b| b.is_ascii_digit());
    matches!(fields[..], [year, month, day] if year.len() == 4 && digits(year, 4) && digits(month, 2) && digits(day, 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_any_yaml_reads_as_something_else_is_no_string() {
        for text in [
            "1.10",
            "1",
            "0",
            "-1",
            "+1",
            "01",
            "1.",
            ".5",
            "+.5",
            "1e3",
            "1E3",
            "1.5e-3",
            "1234e56",
            "0x1f",
            "0X1F",
            "0o7",
            "0b1",
            "-0x1f",
            "0b-1",
            "0_o+7",
            "0x_",
            "1_000",
            "1_000.5",
            "yes",
            "Yes",
            "NO",
            "on",
            "Off",
            "y",
            "N",
            "true",
            "False",
            "null",
            "NULL",
            "~",
            "12:30:45",
            "1:30",
            "190:20:30.15",
            "2024-01-01",
            "2024-1-1",
            "2024-01-01T12:00:00Z",
            "2024-01-01 12:00:00",
            ".inf",
            "-.Inf",
            ".NaN",
            "=",
            "<<",
            "",
        ] {
            assert!(!is_string(text, false), "{text}");
        }
    }

    #[test]
    fn versions_images_and_revisions_are_strings() {
        for text in [
            "6.2.0",
            "v1.10",
            "1.2.3-rc.1",
            "6.2.0+build.5",
            "latest",
            "0a1b2c3",
            "main/0a1b2c3",
            "main@sha1:0a1b2c3",
            "app:1.0",
            "registry:5000/app:1.0",
            "2024-01-01-abc",
            "2024.01.01",
            "1.2.x",
            "0xzz",
            "1e",
            "e3",
            "a b",
            "a#b",
            "ünïcode",
            "^1.0",
        ] {
            assert!(is_string(text, false), "{text}");
        }
    }

    #[test]
    fn what_might_be_syntax_is_quoted() {
        for text in [
            "-x", "- x", "? x", ": x", "a: b", "a:", "a #b", "#a", "&a", "*a", "!a", "|", ">", "'a'", "\"a\"", "%a",
            "@a", "`a`", "{a}", "[a]", ",a", "a ", " a", "---", "...", ">=1.0", "~1.0",
        ] {
            assert!(!is_string(text, false), "{text}");
        }
    }

    #[test]
    fn flow_indicators_matter_only_in_flow() {
        for text in ["a,b", "a[0]", "a{b}", "a?b"] {
            assert!(is_string(text, false) && !is_string(text, true), "{text}");
        }
    }
}
