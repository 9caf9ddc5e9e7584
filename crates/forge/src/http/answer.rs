//! What a forge answers.

use reqwest::StatusCode;
use serde::{Deserialize, de::DeserializeOwned};

/// How much of what a forge says is shown.
const LONGEST: usize = 300;

/// What a forge answered, whether it did what was asked or not.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: StatusCode,
    /// How many there are altogether, where a page of them was asked for.
    pub(crate) total: Option<u64>,
    /// What it says.
    pub(super) body: Vec<u8>,
}

/// The form in which forges refuse.
#[derive(Debug, Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
}

impl Answer {
    /// Reads the JSON of an answer.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.body)
    }

    /// Whether it is a refusal in the forge's own form, and not of something that stands before it.
    pub(crate) fn is_of_the_forge(&self) -> bool {
        self.read::<Refusal>().is_ok()
    }

    /// What it says, in one short line. May hold what was sent.
    pub(crate) fn words(&self) -> String {
        let said = self.read::<Refusal>().map(|refusal| refusal.message).unwrap_or_default();
        let said = if said.trim().is_empty() { String::from_utf8_lossy(&self.body).into_owned() } else { said };
        let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = if line.is_empty() || line.starts_with('<') { self.status.to_string() } else { line };
        cut(&line, LONGEST)
    }
}

/// A text that is not longer than so many characters, with a sign that something is missing.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(longest.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(body: &str) -> String {
        Answer { status: StatusCode::BAD_REQUEST, total: None, body: body.into() }.words()
    }

    #[test]
    fn a_refusal_is_one_short_line() {
        assert_eq!(words(r#"{"message":"head\n  out of date","url":"x"}"#), "head out of date");
        assert_eq!(words("go away\n"), "go away");
        assert_eq!(words("<html><body>nginx</body></html>"), "400 Bad Request");
        assert_eq!(words(""), "400 Bad Request");
        assert_eq!(words(&"x".repeat(1000)).chars().count(), LONGEST);
    }
}
