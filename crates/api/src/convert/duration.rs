//! Durations as Go and Flux write them.

use jiff::SignedDuration;

/// A text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration: write hours, minutes and seconds, for example `30m` or `1h30m`")]
pub struct DurationError(pub String);

/// Reads a duration such as `30m`, `1h30m`, `1.5h` or `500ms`.
pub fn parse_duration(text: &str) -> Result<SignedDuration, DurationError> {
    read(text).ok_or_else(|| DurationError(text.to_owned()))
}

fn read(text: &str) -> Option<SignedDuration> {
    let mut rest = text;
    let mut sum: i64 = 0;
    while !rest.is_empty() || text.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let unit = after.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let milliseconds: i64 = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        sum = sum.checked_add(scale(number, milliseconds)?)?;
        rest = after;
    }
    Some(SignedDuration::from_millis(sum))
}

/// A decimal number of units, in milliseconds, rounded down.
fn scale(number: &str, unit: i64) -> Option<i64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let whole = whole.parse::<i64>().ok()?.checked_mul(unit)?;
    if part.is_empty() {
        return (!number.contains('.')).then_some(whole);
    }
    let part = part.get(..part.len().min(9))?;
    let digits = u32::try_from(part.len()).ok()?;
    let part = part.parse::<i64>().ok()?.checked_mul(unit)? / 10_i64.pow(digits);
    whole.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_go_writes_them() {
        for (text, seconds) in [("30m", 1800), ("1h30m", 5400), ("1.5h", 5400), ("90s", 90), ("1h0m0s", 3600)] {
            assert_eq!(parse_duration(text), Ok(SignedDuration::from_secs(seconds)), "{text}");
        }
        assert_eq!(parse_duration("500ms"), Ok(SignedDuration::from_millis(500)));
    }

    #[test]
    fn anything_else_is_refused_with_an_example() {
        for bad in ["", "1", "1d", "h", "1h ", "-1h", "1.h", ".", "1..5h", "99999999999999999h"] {
            let error = parse_duration(bad).unwrap_err().to_string();
            assert!(error.contains("`1h30m`"), "{bad}");
        }
    }
}
