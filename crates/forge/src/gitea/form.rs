//! What Gitea and Forgejo say, as far as it is of use.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};
use weir_core::BranchName;
use weir_ports::Between;

/// A pull request.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Pull {
    pub(super) number: u64,
    #[serde(default)]
    pub(super) html_url: String,
    #[serde(default)]
    pub(super) title: String,
    #[serde(default)]
    pub(super) body: String,
    pub(super) state: String,
    #[serde(default)]
    pub(super) merged: bool,
    pub(super) merged_at: Option<Timestamp>,
    pub(super) merged_by: Option<User>,
    pub(super) closed_at: Option<Timestamp>,
    /// `false` also while the forge has not found out, and of a draft.
    #[serde(default)]
    pub(super) mergeable: bool,
    #[serde(default)]
    pub(super) draft: bool,
    #[serde(default, deserialize_with = "or_none")]
    pub(super) labels: Vec<Label>,
    pub(super) head: End,
    pub(super) base: End,
}

/// One end of a pull request.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct End {
    /// The branch, also after it was deleted.
    #[serde(default)]
    pub(super) label: String,
    #[serde(default)]
    pub(super) sha: String,
    #[serde(default)]
    pub(super) repo_id: i64,
}

impl Pull {
    pub(super) fn is_open(&self) -> bool {
        !self.merged && self.state == "open"
    }

    /// Whether it is from the one branch into the other. One from a fork has a branch of somebody else.
    pub(super) fn is_between(&self, between: &Between) -> bool {
        self.is_from_here() && self.head.label == between.head.as_str() && self.base.label == between.base.as_str()
    }

    pub(super) fn is_from_here(&self) -> bool {
        self.head.repo_id == self.base.repo_id
    }

    /// Where it is from. That never changes.
    pub(super) fn origin(&self) -> Origin {
        let branch = BranchName::new(&self.head.label).ok().filter(|_| self.is_from_here());
        branch.map_or(Origin::Elsewhere, Origin::Here)
    }
}

/// Where a pull request is from.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// From a branch of the repository.
    Here(BranchName),
    /// From a fork, or from no branch at all.
    Elsewhere,
}

/// A pull request in the list of issues, which says nothing of branches but costs the forge little.
#[derive(Debug, Deserialize)]
pub(super) struct Issue {
    pub(super) number: u64,
    #[serde(default)]
    pub(super) body: String,
}

/// Somebody with an account.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct User {
    #[serde(default)]
    pub(super) login: String,
}

/// A label.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Label {
    pub(super) id: u64,
    pub(super) name: String,
}

/// A repository.
#[derive(Debug, Deserialize)]
pub(super) struct Repository {
    /// How pull requests are merged where nobody says otherwise. Older versions do not tell.
    pub(super) default_merge_style: Option<String>,
}

/// A branch, and what protects it. Whoever can read the repository can read this.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Branch {
    #[serde(default)]
    pub(super) required_approvals: u64,
    #[serde(default)]
    pub(super) enable_status_check: bool,
    #[serde(default, deserialize_with = "or_none")]
    pub(super) status_check_contexts: Vec<String>,
}

/// The last word of every check of a commit.
#[derive(Debug, Deserialize)]
pub(super) struct Combined {
    #[serde(default, deserialize_with = "or_none")]
    pub(super) statuses: Vec<Status>,
}

/// What a check says.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Status {
    pub(super) context: String,
    #[serde(rename = "status")]
    pub(super) says: String,
    #[serde(default)]
    pub(super) description: String,
    #[serde(default)]
    pub(super) target_url: String,
}

/// A review.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Reviewed {
    pub(super) id: u64,
    pub(super) user: Option<User>,
    pub(super) state: String,
    #[serde(default)]
    pub(super) official: bool,
    #[serde(default)]
    pub(super) stale: bool,
    #[serde(default)]
    pub(super) dismissed: bool,
}

/// A note, or something that happened.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    pub(super) user: Option<User>,
    #[serde(default)]
    pub(super) body: String,
}

/// A list, or `null` where there is nothing.
fn or_none<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
