//! Lists, a page at a time.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{hex, problem::Problem};

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
        let read = |token| hex::read(token).and_then(|place| String::from_utf8(place).ok()).ok_or_else(unknown);
        self.token.as_deref().map(read).transpose()
    }
}

pub(crate) fn unknown() -> Problem {
    Problem::bad_request("`continue` is not what a page gave; leave it out to begin anew")
}

/// A place in a list, as whoever gets it sends it back.
pub(crate) fn token(place: &str) -> String {
    hex::write(place.as_bytes())
}
