//! Lists, a page at a time.

use axum::{extract::FromRequestParts, http::request::Parts};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use utoipa::{IntoParams, ToSchema};

use crate::{caller::Visible, extract::Query, hex, problem::Problem, state::Shared};

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

/// What is asked of a list. What the list does not know is refused: a filter that is misspelt would select everything.
pub(crate) struct List<T> {
    /// What is selected.
    pub(crate) which: T,
    /// Which page of it.
    pub(crate) paging: Paging,
}

/// A page of a list. There is another one if it says `continue`; a page may be shorter than was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// What is on it.
    pub(crate) items: Vec<T>,
    /// What to ask for the next page with.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
    /// Whether something may have been left out, because the caller may not look at all namespaces. Missing: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) partial: bool,
}

impl Paging {
    pub(crate) fn limit(&self) -> usize {
        self.limit.unwrap_or(USUAL).min(MOST)
    }

    /// The place after which the page begins, as [`token`] was given it.
    pub(crate) fn place(&self) -> Result<Option<String>, Problem> {
        let read = |token| hex::read(token).and_then(|place| String::from_utf8(place).ok()).ok_or_else(unknown);
        self.token.as_deref().map(read).transpose()
    }
}

impl<T: DeserializeOwned + IntoParams + Send> FromRequestParts<Shared> for List<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self, Problem> {
        let Query(asked) = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await?;
        let known = T::into_params(|| None).into_iter().chain(Paging::into_params(|| None));
        let known: Vec<_> = known.map(|parameter| parameter.name).collect();
        if let Some((name, _)) = asked.iter().find(|(name, _)| !known.contains(name)) {
            let known = known.join("`, `");
            return Err(Problem::bad_request(format!("`{name}` is nothing that this list knows; it knows `{known}`")));
        }
        let Query(which) = Query::from_request_parts(parts, state).await?;
        let Query(paging) = Query::<Paging>::from_request_parts(parts, state).await?;
        if paging.limit == Some(0) {
            return Err(Problem::bad_request("`limit` has to be 1 at least"));
        }
        Ok(Self { which, paging })
    }
}

/// A page while it is being filled.
pub(crate) struct Filling<T> {
    items: Vec<T>,
    limit: usize,
    last: Option<String>,
    more: bool,
}

impl<T> Filling<T> {
    pub(crate) fn new(paging: &Paging) -> Self {
        Self { items: Vec::new(), limit: paging.limit(), last: None, more: false }
    }

    /// Adds what stands at that place of the list; `false` if the page is full without it.
    pub(crate) fn add(&mut self, place: impl FnOnce() -> String, item: impl FnOnce() -> T) -> bool {
        self.more = self.items.len() == self.limit;
        if !self.more {
            self.items.push(item());
            self.last = (self.items.len() == self.limit).then(place);
        }
        !self.more
    }

    /// The page, to somebody who may look at this.
    pub(crate) fn page(self, visible: &Visible) -> Page<T> {
        let token = self.last.filter(|_| self.more).map(|last| token(&last));
        Page { items: self.items, token, partial: visible.is_partial() }
    }
}

pub(crate) fn unknown() -> Problem {
    Problem::bad_request("`continue` is not what a page gave; leave it out to begin anew")
}

/// A place in a list, as whoever gets it sends it back.
pub(crate) fn token(place: &str) -> String {
    hex::write(place.as_bytes())
}
