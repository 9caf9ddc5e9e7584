//! The address of a repository, as it was written.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The address of a repository, as it was written. Shown without credentials.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Default, PartialEq, Eq)]
#[schemars(inline)]
#[serde(transparent)]
pub struct Address(pub String);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redacted(&self.0))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", redacted(&self.0))
    }
}

/// A text as it may be shown: an address loses whatever stands before its host and after its path.
pub(crate) fn redacted(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}
