//! Why a promotion is not moving now: one closed list, in the same words everywhere.

mod remedy;

use std::{fmt, sync::Arc};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    gate::Approvers,
    name::{EnvironmentName, Name},
    pipeline::TargetKey,
    release::{Release, WorkloadKey},
};

pub use remedy::Remedy;

/// Why a release is not further, and since when that has been so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Why.
    #[serde(flatten)]
    pub reason: Reason,
    /// Since when.
    pub since: Timestamp,
}

/// The reasons, most binding first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all_fields = "camelCase")]
pub enum Reason {
    /// The pipeline is suspended.
    Suspended,
    /// A freeze stops it.
    Frozen {
        /// Which.
        freeze: Name,
        /// Who set it.
        by: String,
        /// Why.
        why: String,
        /// When it ends by itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// Nothing says how releases get into the environment.
    NoStrategy {
        /// What would be promoted.
        release: Release,
    },
    /// The release was rejected or taken back here.
    Refused {
        /// Which.
        release: Release,
        /// Why.
        why: Arc<str>,
    },
    /// The environment has something newer.
    Backwards {
        /// What would be promoted.
        release: Release,
        /// What is there.
        than: Release,
    },
    /// Nobody knows which of the two is newer.
    OrderUnknown {
        /// What would be promoted.
        release: Release,
        /// What is there.
        than: Release,
    },
    /// Another promotion has its turn.
    Behind {
        /// What waits.
        release: Release,
        /// What goes first.
        first: Release,
        /// Whether a person asked for that.
        requested: bool,
    },
    /// A workload follows a branch, and a commit on a branch cannot be promoted.
    NoRevision {
        /// Where.
        target: TargetKey,
        /// Which.
        workload: WorkloadKey,
        /// What it follows.
        found: Arc<str>,
    },
    /// A target of the environment before, or of this one, cannot be read.
    TargetUnreachable {
        /// Which.
        target: TargetKey,
        /// What went wrong.
        error: Arc<str>,
    },
    /// The release is not healthy in the environment before.
    NotHealthyYet {
        /// The environment before.
        environment: EnvironmentName,
        /// What it is about, if that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        release: Option<Release>,
        /// The target and what it says.
        #[serde(skip_serializing_if = "Option::is_none")]
        target: Option<TargetKey>,
        /// What Flux said.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<Arc<str>>,
    },
    /// Too few targets of the environment before run the release.
    NotEnoughTargets {
        /// The environment before.
        environment: EnvironmentName,
        /// Which release.
        release: Release,
        /// How many run it.
        have: usize,
        /// How many have to.
        need: usize,
        /// How many there are.
        of: usize,
    },
    /// It has not been healthy for long enough.
    Soaking {
        /// The environment before.
        environment: EnvironmentName,
        /// Since when it has been healthy there.
        healthy: Timestamp,
        /// When that is long enough.
        opens: Timestamp,
    },
    /// It is not the time for it.
    OutsideWindow {
        /// When it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        opens: Option<Timestamp>,
    },
    /// Not enough people have agreed.
    AwaitingApproval {
        /// To what.
        release: Release,
        /// Who has.
        given: Vec<String>,
        /// How many have to.
        need: u32,
        /// Who may.
        from: Approvers,
        /// Who may not, because they asked for it.
        #[serde(skip_serializing_if = "Option::is_none")]
        except: Option<String>,
    },
    /// Nothing in the repository says which version the environment runs.
    NothingToEdit {
        /// What was looked for, and where.
        looked_for: Arc<str>,
    },
    /// A marker does not say which workload it is for.
    AmbiguousMarker {
        /// File and line.
        place: Arc<str>,
    },
    /// The repository cannot be used.
    RepositoryUnavailable {
        /// What went wrong.
        message: Arc<str>,
        /// When it is tried again.
        retry: Timestamp,
    },
    /// The forge cannot be used.
    ForgeUnavailable {
        /// What went wrong.
        message: Arc<str>,
        /// When it is tried again.
        retry: Timestamp,
    },
    /// The forge's limit on requests is used up.
    RateLimited {
        /// When it is tried again.
        retry: Timestamp,
    },
    /// Somebody committed to the proposal's branch.
    BranchChangedByHand {
        /// Who.
        by: Arc<str>,
        /// The proposal.
        proposal: Arc<str>,
        /// What Weir wrote to the branch last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        release: Option<Release>,
    },
    /// The proposal cannot be merged as it is; it is being built again.
    Conflict {
        /// The proposal.
        proposal: Arc<str>,
    },
    /// Checks of the proposal failed.
    ChecksFailing {
        /// The proposal.
        proposal: Arc<str>,
        /// Which checks.
        checks: Vec<Arc<str>>,
    },
    /// Checks of the proposal have not finished.
    ChecksPending {
        /// The proposal.
        proposal: Arc<str>,
        /// Which checks.
        checks: Vec<Arc<str>>,
    },
    /// A person has to review or merge the proposal.
    AwaitingReview {
        /// The proposal.
        proposal: Arc<str>,
    },
    /// Git declares it, and its deployment failed.
    DeployFailed {
        /// Where.
        target: TargetKey,
        /// What Flux said.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<Arc<str>>,
    },
    /// Git declares it, and it is on its way.
    Deploying {
        /// The targets that do not run it yet.
        targets: Vec<TargetKey>,
        /// Until when that may take.
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
}

impl Reason {
    /// The names of all reasons, most binding first.
    pub const NAMES: [&str; 26] = [
        "Suspended",
        "Frozen",
        "NoStrategy",
        "Refused",
        "Backwards",
        "OrderUnknown",
        "Behind",
        "NoRevision",
        "TargetUnreachable",
        "NotHealthyYet",
        "NotEnoughTargets",
        "Soaking",
        "OutsideWindow",
        "AwaitingApproval",
        "NothingToEdit",
        "AmbiguousMarker",
        "RepositoryUnavailable",
        "ForgeUnavailable",
        "RateLimited",
        "BranchChangedByHand",
        "Conflict",
        "ChecksFailing",
        "ChecksPending",
        "AwaitingReview",
        "DeployFailed",
        "Deploying",
    ];

    /// Whether it is the trouble of the last step that was tried, which is tried again by itself.
    pub fn is_trouble(&self) -> bool {
        matches!(self, Self::RepositoryUnavailable { .. } | Self::ForgeUnavailable { .. } | Self::RateLimited { .. })
    }

    /// Its name, as CLI, API, status and pull request show it.
    pub fn name(&self) -> &'static str {
        Self::NAMES[self.rank()]
    }

    /// Where it stands among the others: the lower, the more binding.
    pub(crate) fn rank(&self) -> usize {
        match self {
            Self::Suspended => 0,
            Self::Frozen { .. } => 1,
            Self::NoStrategy { .. } => 2,
            Self::Refused { .. } => 3,
            Self::Backwards { .. } => 4,
            Self::OrderUnknown { .. } => 5,
            Self::Behind { .. } => 6,
            Self::NoRevision { .. } => 7,
            Self::TargetUnreachable { .. } => 8,
            Self::NotHealthyYet { .. } => 9,
            Self::NotEnoughTargets { .. } => 10,
            Self::Soaking { .. } => 11,
            Self::OutsideWindow { .. } => 12,
            Self::AwaitingApproval { .. } => 13,
            Self::NothingToEdit { .. } => 14,
            Self::AmbiguousMarker { .. } => 15,
            Self::RepositoryUnavailable { .. } => 16,
            Self::ForgeUnavailable { .. } => 17,
            Self::RateLimited { .. } => 18,
            Self::BranchChangedByHand { .. } => 19,
            Self::Conflict { .. } => 20,
            Self::ChecksFailing { .. } => 21,
            Self::ChecksPending { .. } => 22,
            Self::AwaitingReview { .. } => 23,
            Self::DeployFailed { .. } => 24,
            Self::Deploying { .. } => 25,
        }
    }

    /// Whether this is still the same hold as another one, though it may say more by now.
    pub(crate) fn is_same_matter(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Frozen { freeze, .. }, Self::Frozen { freeze: other, .. }) => freeze == other,
            (Self::TargetUnreachable { target, .. }, Self::TargetUnreachable { target: other, .. })
            | (Self::DeployFailed { target, .. }, Self::DeployFailed { target: other, .. }) => target == other,
            (Self::NotHealthyYet { target, .. }, Self::NotHealthyYet { target: other, .. }) => target == other,
            (Self::NotEnoughTargets { release, .. }, Self::NotEnoughTargets { release: other, .. })
            | (Self::AwaitingApproval { release, .. }, Self::AwaitingApproval { release: other, .. })
            | (Self::Refused { release, .. }, Self::Refused { release: other, .. })
            | (Self::NoStrategy { release }, Self::NoStrategy { release: other })
            | (Self::Backwards { release, .. }, Self::Backwards { release: other, .. })
            | (Self::OrderUnknown { release, .. }, Self::OrderUnknown { release: other, .. })
            | (Self::Behind { release, .. }, Self::Behind { release: other, .. }) => release == other,
            (Self::NoRevision { target, workload, .. }, Self::NoRevision { target: other, workload: another, .. }) => {
                target == other && workload == another
            }
            (Self::Soaking { healthy, .. }, Self::Soaking { healthy: other, .. }) => healthy == other,
            _ => self.rank() == other.rank(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suspended => write!(f, "the pipeline is suspended"),
            Self::Frozen { freeze, by, why, until } => {
                write!(f, "frozen by {by} with `{freeze}`: {why}")?;
                until.map_or(Ok(()), |until| write!(f, "; ends {until:.0}"))
            }
            Self::NoStrategy { release } => write!(f, "{release} is ready, and no strategy says how it gets here"),
            Self::Refused { release, why } => write!(f, "{release} is refused here: {why}"),
            Self::Backwards { release, than } => write!(f, "{release} is older than {than}, which is here"),
            Self::OrderUnknown { release, than } => {
                write!(f, "nothing tells whether {release} is newer than {than}, which is here")
            }
            Self::Behind { release, first, requested: true } => {
                write!(f, "{release} waits for {first}, which a person asked for")
            }
            Self::Behind { release, first, requested: false } => {
                write!(f, "{release} waits for {first}, which is approved or being merged")
            }
            Self::NoRevision { target, workload, found } => {
                write!(f, "{workload} in {target} follows `{found}`: a commit on a branch cannot be promoted")
            }
            Self::TargetUnreachable { target, error } => write!(f, "{target} cannot be read: {error}"),
            Self::NotHealthyYet { environment, release, target, message } => {
                match release {
                    Some(release) => write!(f, "{release} is not healthy in {environment}")?,
                    None => write!(f, "{environment} is not healthy")?,
                }
                if let Some(target) = target {
                    write!(f, ", on {target}")?;
                }
                message.as_ref().map_or(Ok(()), |message| write!(f, ": {message}"))
            }
            Self::NotEnoughTargets { environment, release, have, need, of } => {
                write!(f, "{release} runs on {have} of {of} targets in {environment}, and needs {need}")
            }
            Self::Soaking { environment, healthy, opens } => {
                write!(f, "healthy in {environment} since {healthy:.0}: opens {opens:.0}")
            }
            Self::OutsideWindow { opens: Some(opens) } => write!(f, "outside the window: opens {opens:.0}"),
            Self::OutsideWindow { opens: None } => write!(f, "outside the window, which never opens again"),
            Self::AwaitingApproval { release, given, need, from, except } => {
                write!(f, "{} of {need} approvals for {release}", given.len())?;
                if !given.is_empty() {
                    write!(f, " ({})", given.join(", "))?;
                }
                write!(f, "; {from} may approve")?;
                except.as_ref().map_or(Ok(()), |author| write!(f, ", except `{author}`, who asked for it"))
            }
            Self::NothingToEdit { looked_for } => write!(f, "no place to edit was found: looked for {looked_for}"),
            Self::AmbiguousMarker { place } => write!(f, "the marker at {place} does not say which workload it is for"),
            Self::RepositoryUnavailable { message, .. } => write!(f, "the repository cannot be used: {message}"),
            Self::ForgeUnavailable { message, .. } => write!(f, "the forge cannot be used: {message}"),
            Self::RateLimited { .. } => write!(f, "the forge's limit on requests is used up"),
            Self::BranchChangedByHand { by, proposal, release } => {
                write!(f, "{by} committed to the branch of {proposal}")?;
                release.as_ref().map_or(Ok(()), |release| write!(f, ", which Weir made for {release}"))?;
                write!(f, ": it is theirs now")
            }
            Self::Conflict { proposal } => write!(f, "{proposal} conflicts with its base branch"),
            Self::ChecksFailing { proposal, checks } => write!(f, "checks of {proposal} failed: {}", checks.join(", ")),
            Self::ChecksPending { proposal, checks } => {
                write!(f, "checks of {proposal} have not finished: {}", checks.join(", "))
            }
            Self::AwaitingReview { proposal } => write!(f, "{proposal} waits for review"),
            Self::DeployFailed { target, message } => {
                write!(f, "the deployment failed on {target}")?;
                message.as_ref().map_or(Ok(()), |message| write!(f, ": {message}"))
            }
            Self::Deploying { targets, until } => {
                let targets: Vec<_> = targets.iter().map(ToString::to_string).collect();
                write!(f, "declared in Git, and not running yet on {}", targets.join(", "))?;
                until.map_or(Ok(()), |until| write!(f, "; has until {until:.0}"))
            }
        }
    }
}
