//! What is known about one token.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use weir_core::Namespace;
use weir_ports::Verb;

/// What a file says about a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    /// Who it stands for.
    pub name: String,
    pub(super) hash: Hash,
    /// What they may do.
    pub roles: Vec<Grant>,
    /// The groups that they are in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// When it ends. `None`: when it is taken out of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

/// A role, in one namespace or in all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Which role.
    pub role: Role,
    /// Where. `None`: everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
}

/// What somebody is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Looks.
    Viewer,
    /// Looks, promotes, rolls back, pauses, and defines pipelines.
    Operator,
    /// Looks and approves.
    Approver,
}

impl TokenEntry {
    pub(super) fn is_valid(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}

impl Grant {
    pub(super) fn allows(&self, what: Verb, namespace: Option<&Namespace>) -> bool {
        let by_role = match self.role {
            Role::Viewer => what == Verb::View,
            Role::Operator => what != Verb::Approve,
            Role::Approver => matches!(what, Verb::View | Verb::Approve),
        };
        by_role && (self.namespace.is_none() || self.namespace.as_ref() == namespace)
    }
}

/// The SHA-256 of a token, written as `sha256:` and 64 digits.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Hash([u8; 32]);

impl Hash {
    pub(super) fn of(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }
}

impl TryFrom<String> for Hash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let rule = "write the hash as `sha256:` and 64 hexadecimal digits";
        let digits =
            text.strip_prefix("sha256:").filter(|digits| digits.len() == 64 && digits.is_ascii()).ok_or(rule)?;
        let mut bytes = [0; 32];
        for (byte, place) in bytes.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&digits[place..place + 2], 16).map_err(|_| rule)?;
        }
        Ok(Self(bytes))
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.to_string()
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
