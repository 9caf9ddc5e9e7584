//! The address of a repository, as it was written.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The address of a repository, as it was written. Shown without credentials.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Default, PartialEq, Eq)]
#[schemars(inline)]
#[serde(transparent)]
pub struct Address(pub String);

/// What an address must not hold, as a regular expression: a password before its host.
const PASSWORD: &str = "^[A-Za-z]+://[^/]*:[^/]*@";

/// What to do with a password instead.
pub(crate) const NO_PASSWORD: &str = "put credentials into a Secret and name it in `secretRef`, not into the address";

/// The rule that the `url` of an object holds no password. It is about the object, because the API server shows a text
/// that breaks a rule.
pub(super) fn no_password() -> Value {
    let rule = format!("!self.url.matches('{PASSWORD}')");
    json!([{ "rule": rule, "message": NO_PASSWORD, "fieldPath": ".url" }])
}

impl Address {
    /// Whether there is a password in it. A user name alone is none.
    pub fn holds_password(&self) -> bool {
        let rest = self.0.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default());
        let user = rest.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
        user.is_some_and(|user| user.contains(':'))
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_told_from_a_user_a_port_and_a_path() {
        let rule = regex::Regex::new(PASSWORD).unwrap();
        for (text, holds) in [
            ("https://user:secret@example.org/x.git", true),
            ("https://:secret@example.org/x.git", true),
            ("http://user:a@b@example.org:8080/x", true),
            ("ssh://git:secret@example.org/x", true),
            ("ssh://git@example.org:22/x.git", false),
            ("https://git@example.org/x:y@z", false),
            ("https://example.org:8443/a@b", false),
            ("ssh://git@[::1]:22/x", false),
            ("git@example.org:a/b.git", false),
            ("file:///srv/a:b@c", false),
        ] {
            assert_eq!((Address(text.to_owned()).holds_password(), rule.is_match(text)), (holds, holds), "{text}");
        }
    }
}
