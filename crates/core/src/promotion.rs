//! The durable record of moving one release into one environment.
//!
//! Every field has one writer. *Decide* writes the phase, the holds, the intent and the history; *carry* writes
//! [`LegFacts`]; people write approvals, and the first record of what they ask for.

use std::{fmt, sync::Arc};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    branch::Branch,
    gate::Actor,
    hold::Hold,
    name::{CommitId, EnvironmentName, PipelineKey},
    release::Release,
};

/// Which promotion. *Already exists* is the lock: whoever creates the record of an ordinal has that turn.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PromotionKey {
    /// The pipeline.
    pub pipeline: PipelineKey,
    /// The environment that is entered.
    pub environment: EnvironmentName,
    /// The turn. The highest is the one that counts.
    pub ordinal: u64,
}

impl fmt::Display for PromotionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.pipeline, self.environment, self.ordinal)
    }
}

/// The record of moving one release into one environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Promotion {
    /// Which one it is.
    pub key: PromotionKey,
    /// The environment that the release comes from.
    pub from: EnvironmentName,
    /// What is promoted.
    pub release: Release,
    /// The person who asked for it. `None`: Weir's own decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<Actor>,
    /// How far it is.
    #[serde(default)]
    pub phase: Phase,
    /// Why it is not further.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<Hold>,
    /// The releases that were on their way when this one took their place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skips: Vec<Release>,
    /// When the release had been healthy for long enough in the environment before. Kept, because that environment may
    /// move on before this promotion is carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soaked: Option<Timestamp>,
    /// The holds that were in force when a person merged the proposal all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overridden: Vec<Hold>,
    /// The phases it went through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Turn>,
    /// What people agreed to. An approval counts for the release it names, which may be the next one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    /// Whoever does not want it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// What shall be done about it, and what is known of it.
    #[serde(default)]
    pub leg: Leg,
}

impl Promotion {
    /// The record that a person who asks for a release creates, and the one that Weir creates for a candidate.
    pub fn new(key: PromotionKey, from: EnvironmentName, release: Release, requested_by: Option<Actor>) -> Self {
        Self {
            key,
            from,
            release,
            requested_by,
            phase: Phase::Pending,
            holds: Vec::new(),
            skips: Vec::new(),
            soaked: None,
            overridden: Vec::new(),
            history: Vec::new(),
            approvals: Vec::new(),
            rejection: None,
            leg: Leg::default(),
        }
    }

    /// When it was first delivered.
    pub fn delivered(&self) -> Option<Timestamp> {
        self.history.iter().find(|turn| turn.phase == Phase::Delivered).map(|turn| turn.at)
    }
}

/// How far a promotion is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Decided, and nothing written yet.
    #[default]
    Pending,
    /// Waiting for review.
    Proposed,
    /// Git declares it, or the other side accepted it.
    Delivered,
    /// Every target runs it.
    Succeeded,
    /// It did not become healthy in time.
    Failed,
    /// Somebody closed its proposal.
    Rejected,
    /// A newer release took its place.
    Superseded,
    /// It is no longer wanted.
    Withdrawn,
    /// It was there, and was taken back.
    RolledBack,
}

impl Phase {
    /// On its way, and not in Git yet. There is at most one such promotion into an environment.
    pub fn is_live(self) -> bool {
        matches!(self, Self::Pending | Self::Proposed)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// A phase that a promotion entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The phase.
    pub phase: Phase,
    /// When.
    pub at: Timestamp,
    /// Why, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Arc<str>>,
}

/// One person's agreement to one release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Who.
    pub by: Actor,
    /// To what.
    pub release: Release,
    /// When.
    pub at: Timestamp,
}

/// One person's word that a promotion shall not go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// Who.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Arc<str>>,
}

/// What is done in one repository: what shall be, and what is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leg {
    /// What *carry* shall do next. `None`: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
    /// What *carry* found out.
    #[serde(default)]
    pub facts: LegFacts,
}

/// A step that *carry* shall take. Each is an *ensure*: it may be repeated at any time, by anyone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Intent {
    /// Find the places to edit, and what the base branch declares. Reads only.
    Locate,
    /// Have an open proposal with the release on its branch.
    Propose,
    /// Have the release on the base branch.
    Push,
    /// Merge the proposal, if this is still its head.
    Merge(CommitId),
    /// Close the proposal with this note.
    Close(Arc<str>),
    /// Tell the other side.
    Notify,
}

/// What *carry* found out about a promotion.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LegFacts {
    /// The base branch, as last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// The proposal, as last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
    /// What Weir wrote to the proposal's branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// When the other side accepted it, for strategies without a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Timestamp>,
    /// What went wrong in the last attempt. Gone when one succeeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// What the base branch says about an environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// Its head.
    pub commit: CommitId,
    /// When it was looked at.
    pub seen: Timestamp,
    /// What it declares.
    pub declares: Declared,
}

/// What the places to edit say on the base branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Declared {
    /// The different releases that they declare: one, if they agree.
    Releases(Vec<Release>),
    /// There is no place to edit.
    Nothing {
        /// What was looked for, and where.
        looked_for: Arc<str>,
    },
    /// A place does not say which workload it is for.
    Ambiguous {
        /// File and line.
        place: Arc<str>,
    },
}

/// A change that waits for review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// Its number on the forge, or its name in Weir.
    pub id: Arc<str>,
    /// Where a person finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Arc<str>>,
    /// Open, merged or closed.
    pub state: ProposalState,
    /// The commit that is proposed.
    pub head: CommitId,
    /// What that commit declares. `None`: nothing that Weir wrote.
    pub release: Option<Release>,
    /// What the checks of that commit say.
    #[serde(default)]
    pub checks: Checks,
    /// What reviewers of that commit say.
    #[serde(default)]
    pub review: Review,
    /// Who asked Weir to merge it at this head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_asked_by: Option<Arc<str>>,
    /// Whether it can no longer be merged as it is.
    #[serde(default)]
    pub conflict: bool,
    /// The author of a commit on its branch that is not Weir's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<Arc<str>>,
}

/// What became of a proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProposalState {
    /// Waiting.
    Open,
    /// Merged.
    Merged {
        /// When it was seen to be.
        at: Timestamp,
        /// By whom, if that is known and it was not Weir.
        by: Option<Arc<str>>,
    },
    /// Closed without a merge.
    Closed {
        /// By whom, if that is known.
        by: Option<Arc<str>>,
    },
}

/// What the checks of a proposal say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Checks {
    /// All passed, or there are none.
    #[default]
    Passing,
    /// These have not finished.
    Pending(Vec<Arc<str>>),
    /// These failed.
    Failing(Vec<Arc<str>>),
}

/// What the reviewers of a proposal say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Review {
    /// Nobody has to say anything.
    #[default]
    NotRequired,
    /// Somebody has to, and has not.
    Required,
    /// Approved at this head.
    Approved,
    /// Somebody wants it changed.
    ChangesRequested,
}

/// Why the last attempt did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// With what.
    pub with: ProblemWith,
    /// What was being done and what went wrong.
    pub message: Arc<str>,
    /// When it is tried again.
    pub retry: Timestamp,
}

/// What an attempt failed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProblemWith {
    /// The Git repository.
    Repository,
    /// The forge, or whoever is notified.
    Forge,
    /// The forge's limit on requests.
    RateLimit,
}
