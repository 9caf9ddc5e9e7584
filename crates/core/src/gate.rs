//! Conditions on entering an environment, as they are defined. How they are answered is in [`crate::gates`].

use std::collections::BTreeSet;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::window::Window;

/// A condition on entering an environment.
#[derive(Debug, Clone, PartialEq)]
pub enum Gate {
    /// People have to agree.
    Approval(ApprovalGate),
    /// Only at certain times.
    Window(Window),
    /// The release has to be healthy in the environment before, without a break, for that long.
    Soak(SignedDuration),
}

/// How many people have to agree, who they may be, and for how long their word counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalGate {
    /// How many have to agree. At least one.
    pub count: u32,
    /// Who may. Empty lists: everybody who has the right to approve.
    pub from: Approvers,
    /// Whether the person who asked for the promotion may approve it.
    pub allow_author: bool,
    /// How long an approval counts. `None`: until the promotion ends.
    pub expires_after: Option<SignedDuration>,
}

/// The people whose approval counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approvers {
    /// By name.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub users: BTreeSet<String>,
    /// By a group they are in.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub groups: BTreeSet<String>,
}

impl Approvers {
    /// Whether this person is among them.
    pub fn include(&self, actor: &Actor) -> bool {
        let everybody = self.users.is_empty() && self.groups.is_empty();
        everybody || self.users.contains(&actor.name) || actor.groups.iter().any(|group| self.groups.contains(group))
    }
}

impl std::fmt::Display for Approvers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.users.is_empty() && self.groups.is_empty() {
            return f.write_str("anybody with the right to approve");
        }
        let users = self.users.iter().map(|user| format!("`{user}`"));
        let groups = self.groups.iter().map(|group| format!("anybody of group `{group}`"));
        f.write_str(&users.chain(groups).collect::<Vec<_>>().join(" or "))
    }
}

/// A person, or a machine with an account, who did something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Actor {
    /// The account's name.
    pub name: String,
    /// The groups it was in at that time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
}

impl Actor {
    /// Somebody of whom only the name is known.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), groups: Vec::new() }
    }
}
