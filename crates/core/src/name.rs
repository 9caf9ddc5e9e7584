//! Names that were checked once, when they came in.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

/// A text that is not a valid name of its kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is not a valid {kind}: {rule}")]
pub struct NameError {
    /// What the name was for.
    pub kind: &'static str,
    /// The text as it was given.
    pub found: String,
    /// What is allowed.
    pub rule: &'static str,
}

/// Reads and writes a type in records as the text that it is parsed from and shown as.
macro_rules! as_text {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = $crate::name::NameError;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}
pub(crate) use as_text;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $rule:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks a text; it is valid from then on.
            pub fn new(text: impl AsRef<str>) -> Result<Self, NameError> {
                let text = text.as_ref();
                let check: fn(&str) -> bool = $check;
                if check(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(NameError { kind: $kind, found: text.to_owned(), rule: $rule })
                }
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl FromStr for $name {
            type Err = NameError;
            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        as_text!($name);
    };
}

name!(
    /// The name of a Kubernetes object: a pipeline, a cluster, a workload, a Secret.
    Name,
    "name",
    "use 1 to 253 lowercase letters, digits, `-` and `.`, with a letter or digit at both ends",
    |text| is_dns(text, 253, |c| c == b'-' || c == b'.')
);

name!(
    /// The name of a Kubernetes namespace.
    Namespace,
    "namespace",
    "use 1 to 63 lowercase letters, digits and `-`, with a letter or digit at both ends",
    |text| is_dns(text, 63, |c| c == b'-')
);

name!(
    /// The name of an environment. It becomes part of markers, branches and addresses, so it holds nothing that those
    /// would have to escape.
    EnvironmentName,
    "environment name",
    "use 1 to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
    |text| is_word(text, 63, u8::is_ascii_alphanumeric, |c| matches!(c, b'-' | b'_' | b'.'))
);

name!(
    /// A full Git commit id.
    CommitId,
    "commit id",
    "use the full id: 40 or 64 lowercase hexadecimal digits",
    |text| matches!(text.len(), 40 | 64) && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
);

name!(
    /// The name of a Git branch.
    BranchName,
    "branch name",
    "use what `git check-ref-format --branch` accepts",
    is_branch
);

impl CommitId {
    /// A made-up commit, for a rehearsal.
    pub(crate) fn numbered(number: u64) -> Self {
        Self(format!("{number:040x}").into())
    }
}

fn is_dns(text: &str, longest: usize, inner: fn(u8) -> bool) -> bool {
    is_word(text, longest, |c| c.is_ascii_lowercase() || c.is_ascii_digit(), inner)
}

fn is_word(text: &str, longest: usize, edge: fn(&u8) -> bool, inner: fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let edges = bytes.first().is_some_and(edge) && bytes.last().is_some_and(edge);
    edges && bytes.len() <= longest && bytes.iter().all(|c| edge(c) || inner(*c))
}

fn is_branch(text: &str) -> bool {
    let forbidden = |c: char| c.is_control() || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    !text.is_empty()
        && text.len() <= 244
        && text != "@"
        && !text.starts_with('-')
        && !text.ends_with('.')
        && !text.contains("..")
        && !text.contains("@{")
        && !text.contains(forbidden)
        && text.split('/').all(|part| {
            let lock = part.len() >= 5 && part.as_bytes()[part.len() - 5..].eq_ignore_ascii_case(b".lock");
            !part.is_empty() && !part.starts_with('.') && !lock
        })
}

/// Which pipeline: its namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PipelineKey {
    /// The namespace it lives in.
    pub namespace: Namespace,
    /// Its name there.
    pub name: Name,
}

impl fmt::Display for PipelineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl FromStr for PipelineKey {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (namespace, name) = text.split_once('/').ok_or_else(|| NameError {
            kind: "pipeline",
            found: text.to_owned(),
            rule: "write it as `NAMESPACE/NAME`",
        })?;
        Ok(Self { namespace: Namespace::new(namespace)?, name: Name::new(name)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules_of_kubernetes() {
        for good in ["podinfo", "a", "a-b.c", "0x"] {
            assert!(Name::new(good).is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "Podinfo", "a_b", "a/b", &"a".repeat(254)] {
            assert!(Name::new(bad).is_err(), "{bad}");
        }
        assert!(Namespace::new("a.b").is_err());
    }

    #[test]
    fn an_environment_name_holds_nothing_that_a_marker_would_have_to_escape() {
        for good in ["dev", "Prod", "qa_eu.1"] {
            assert!(EnvironmentName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "a:b", "a/b", "a b", "a\"b", ".a"] {
            assert!(EnvironmentName::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn branches_follow_the_rules_of_git() {
        for good in ["main", "release/1.2", "promotion-default-podinfo-prod"] {
            assert!(BranchName::new(good).is_ok(), "{good}");
        }
        for bad in ["", "@", "-x", "a..b", "a b", "a/", "/a", "a.lock", ".a", "a@{1}", "a\\b"] {
            assert!(BranchName::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_invalid_name_says_what_is_allowed() {
        let error = EnvironmentName::new("a:b").unwrap_err().to_string();
        assert!(error.contains("`a:b`") && error.contains("letters, digits"), "{error}");
    }
}
