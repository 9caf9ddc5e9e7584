//! A proposal that Weir keeps itself, for Git servers that have no pull requests.
//!
//! *Carry* writes what is proposed, and that it was merged or is no longer wanted; people write reviews and comments,
//! that they want it merged, and that they closed it. Reviews and the wish to merge count for the head that they were
//! given for, and for no other.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    name::{BranchName, CommitId},
    policy::RepoUrl,
    promotion::{PromotionKey, Review},
    release::Release,
};

/// How many reviews and comments a proposal keeps. The oldest go first.
const REMEMBERED: usize = 256;

/// A change that waits for review in Weir.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainProposal {
    /// The promotion that opened it. A newer promotion may have taken it over since.
    pub key: PromotionKey,
    /// The repository, without credentials.
    pub repository: RepoUrl,
    /// The branch that it would be merged into.
    pub base: BranchName,
    /// The branch with the change.
    pub branch: BranchName,
    /// The commit that it builds on.
    pub parent: CommitId,
    /// The commit that is proposed.
    pub head: CommitId,
    /// What that commit declares.
    pub release: Release,
    /// What it changes, in the order of files and lines.
    pub edits: Vec<Edit>,
    /// One line.
    pub title: String,
    /// The explanation, in Markdown.
    pub body: String,
    /// When it was opened.
    pub opened: Timestamp,
    /// What became of it.
    pub state: PlainState,
    /// Who wants it merged.
    pub merge: Option<Wish>,
    /// What reviewers said, oldest first.
    pub reviews: Vec<PlainReview>,
    /// What people wrote, oldest first.
    pub comments: Vec<Comment>,
}

/// One value that a proposal changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edit {
    /// The file.
    pub file: Arc<str>,
    /// What stands there on the base branch.
    pub before: Arc<str>,
    /// What shall stand there.
    pub after: Arc<str>,
}

/// What became of a proposal that Weir keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlainState {
    /// It waits.
    Open,
    /// It was merged.
    Merged {
        /// When.
        at: Timestamp,
        /// Who asked for that. `None`: Weir's own decision.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
        /// The commit on the base branch that brought it.
        commit: CommitId,
    },
    /// It was closed without a merge.
    Closed {
        /// When.
        at: Timestamp,
        /// Who asked for that. `None`: Weir's own decision.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Arc<str>>,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Arc<str>>,
    },
}

/// That a person wants a proposal merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// Who.
    pub by: Arc<str>,
    /// When.
    pub at: Timestamp,
    /// The commit that they looked at.
    pub head: CommitId,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Arc<str>>,
}

/// What one reviewer said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlainReview {
    /// Who.
    pub by: Arc<str>,
    /// What.
    pub verdict: Verdict,
    /// The commit that was reviewed.
    pub head: CommitId,
    /// When.
    pub at: Timestamp,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Arc<str>>,
}

/// What a reviewer can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// It is fine.
    Approved,
    /// It has to change.
    ChangesRequested,
}

/// What one person wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// Who.
    pub by: Arc<str>,
    /// What, in Markdown.
    pub body: Arc<str>,
    /// When.
    pub at: Timestamp,
}

impl PlainProposal {
    /// What the reviewers of the present head say: each one's last word counts, and nobody has to say anything.
    pub fn review(&self) -> Review {
        let mut last: Vec<&PlainReview> = Vec::new();
        for review in self.reviews.iter().rev().filter(|review| review.head == self.head) {
            if !last.iter().any(|later| later.by == review.by) {
                last.push(review);
            }
        }
        if last.iter().any(|review| review.verdict == Verdict::ChangesRequested) {
            return Review::ChangesRequested;
        }
        if last.is_empty() { Review::NotRequired } else { Review::Approved }
    }

    /// Whoever wants the present head merged.
    pub fn merge_asked_by(&self) -> Option<&Arc<str>> {
        self.merge.as_ref().filter(|wish| wish.head == self.head).map(|wish| &wish.by)
    }

    /// Whether nobody has decided anything since: neither reviewed it, nor asked for a merge, nor ended it.
    pub fn says_the_same_as(&self, later: &Self) -> bool {
        self.state == later.state && self.merge == later.merge && self.reviews == later.reviews
    }

    /// Takes in what a reviewer said.
    pub fn reviewed(&mut self, review: PlainReview) {
        remember(&mut self.reviews, review);
    }

    /// Takes in what a person wrote.
    pub fn commented(&mut self, comment: Comment) {
        remember(&mut self.comments, comment);
    }
}

fn remember<T>(list: &mut Vec<T>, item: T) {
    list.push(item);
    if list.len() > REMEMBERED {
        list.remove(0);
    }
}
