//! Lists, a page at a time.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::problem::Problem;

const USUAL: usize = 100;
const MOST: usize = 500;

/// Which page of a list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Paging {
    /// How many at most: 100 if it is not said, 500 at most.
    limit: Option<usize>,
    /// What the page before gave as `continue`.
    #[serde(rename = "continue")]
    token: Option<String>,
}

/// A page of a list. There is another one if it says `continue`; a page may be shorter than was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// What is on it.
    pub(crate) items: Vec<T>,
    /// What to ask for the next page with.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
}

impl Paging {
    pub(crate) fn limit(&self) -> usize {
        self.limit.unwrap_or(USUAL).clamp(1, MOST)
    }

    /// The place after which the page begins, as [`token`] was given it.
    pub(crate) fn place(&self) -> Result<Option<String>, Problem> {
        self.token.as_deref().map(|token| read(token).ok_or_else(unknown)).transpose()
    }
}

pub(crate) fn unknown() -> Problem {
    Problem::bad_request("`continue` is not what a page gave; leave it out to begin anew")
}

/// A place in a list, as whoever gets it sends it back.
pub(crate) fn token(place: &str) -> String {
    place.bytes().fold(String::new(), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn read(token: &str) -> Option<String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = token.as_bytes().chunks(2);
    let bytes = pairs.map(|pair| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    });
    String::from_utf8(bytes.collect::<Option<Vec<_>>>()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back_as_it_was_given() {
        for place in ["default/podinfo", "", "ä|b"] {
            assert_eq!(read(&token(place)).as_deref(), Some(place));
        }
        assert!(read("abc").is_none() && read("zz").is_none() && read("ff").is_none());
    }
}
