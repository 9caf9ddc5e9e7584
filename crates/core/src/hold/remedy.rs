//! What releases a hold.

use std::fmt;

use jiff::Timestamp;

use super::Reason;
use crate::{
    gate::Approvers,
    name::{EnvironmentName, Name},
    pipeline::TargetKey,
    release::{Release, WorkloadKey},
};

impl Reason {
    /// What would release it.
    pub fn remedy(&self) -> Remedy<'_> {
        match self {
            Self::Suspended => Remedy::Resume,
            Self::Frozen { freeze, until, .. } => Remedy::Unfreeze { freeze, until: *until },
            Self::NoStrategy { .. } => Remedy::Configure,
            Self::Refused { release, .. } | Self::Backwards { release, .. } | Self::OrderUnknown { release, .. } => {
                Remedy::Ask { release }
            }
            Self::Behind { first, .. } => Remedy::Finish { first },
            Self::NoRevision { workload, .. } => Remedy::Pin { workload },
            Self::TargetUnreachable { target, .. } => Remedy::Reach { target },
            Self::NotHealthyYet { environment, .. } => Remedy::Heal { environment },
            Self::DeployFailed { .. } => Remedy::HealHere,
            Self::NotEnoughTargets { environment, need, of, .. } if need > of => {
                Remedy::LowerWhen { environment, of: *of }
            }
            Self::NotEnoughTargets { environment, release, need, .. } => {
                Remedy::Deploy { environment, release, targets: *need }
            }
            Self::Soaking { opens, .. } => Remedy::Wait { until: *opens },
            Self::OutsideWindow { opens } => opens.map_or(Remedy::ChangeWindow, |until| Remedy::Wait { until }),
            Self::AwaitingApproval { release, given, need, from, .. } => Remedy::Approve {
                release,
                missing: need.saturating_sub(u32::try_from(given.len()).unwrap_or(*need)),
                from,
            },
            Self::NothingToEdit { .. } => Remedy::AddMarker,
            Self::AmbiguousMarker { place } => Remedy::NameWorkload { place },
            Self::RepositoryUnavailable { retry, .. }
            | Self::ForgeUnavailable { retry, .. }
            | Self::RateLimited { retry } => Remedy::Retry { at: *retry },
            Self::BranchChangedByHand { proposal, .. } => Remedy::ResolveByHand { proposal },
            Self::Conflict { proposal } => Remedy::Rebuild { proposal },
            Self::ChecksFailing { proposal, .. } | Self::ChecksPending { proposal, .. } => {
                Remedy::PassChecks { proposal }
            }
            Self::AwaitingReview { proposal } => Remedy::Review { proposal },
            Self::Deploying { .. } => Remedy::AwaitDeployment,
        }
    }
}

/// What releases a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy<'a> {
    /// Resume the pipeline.
    Resume,
    /// Lift the freeze, or wait for its end.
    Unfreeze {
        /// Which.
        freeze: &'a Name,
        /// When it ends.
        until: Option<Timestamp>,
    },
    /// Give the environment a strategy.
    Configure,
    /// Ask for the release by name.
    Ask {
        /// Which.
        release: &'a Release,
    },
    /// Let the other one finish, or reject it.
    Finish {
        /// Which.
        first: &'a Release,
    },
    /// Give the workload a version that can be promoted.
    Pin {
        /// Which.
        workload: &'a WorkloadKey,
    },
    /// Make the target readable.
    Reach {
        /// Which.
        target: &'a TargetKey,
    },
    /// Make the environment before healthy.
    Heal {
        /// Which.
        environment: &'a EnvironmentName,
    },
    /// Make this environment healthy.
    HealHere,
    /// Deploy the release to more targets.
    Deploy {
        /// Where.
        environment: &'a EnvironmentName,
        /// Which.
        release: &'a Release,
        /// To how many in all.
        targets: usize,
    },
    /// Ask for no more targets than there are.
    LowerWhen {
        /// Where.
        environment: &'a EnvironmentName,
        /// How many there are.
        of: usize,
    },
    /// Wait.
    Wait {
        /// Until then.
        until: Timestamp,
    },
    /// Change the window.
    ChangeWindow,
    /// Approve.
    Approve {
        /// Which release.
        release: &'a Release,
        /// How many more have to.
        missing: u32,
        /// Who may.
        from: &'a Approvers,
    },
    /// Mark the place to edit.
    AddMarker,
    /// Name the workload in the marker.
    NameWorkload {
        /// File and line.
        place: &'a str,
    },
    /// It is tried again.
    Retry {
        /// When.
        at: Timestamp,
    },
    /// Merge, close or delete what somebody changed.
    ResolveByHand {
        /// The proposal.
        proposal: &'a str,
    },
    /// It is built again on the new base.
    Rebuild {
        /// The proposal.
        proposal: &'a str,
    },
    /// Have the checks pass.
    PassChecks {
        /// The proposal.
        proposal: &'a str,
    },
    /// Review and merge.
    Review {
        /// The proposal.
        proposal: &'a str,
    },
    /// It is on its way.
    AwaitDeployment,
}

impl fmt::Display for Remedy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Resume => write!(f, "resume the pipeline"),
            Self::Unfreeze { freeze, until: Some(until) } => {
                write!(f, "lift freeze `{freeze}`, or wait until {until:.0}")
            }
            Self::Unfreeze { freeze, until: None } => write!(f, "lift freeze `{freeze}`"),
            Self::Configure => write!(f, "set `promotion.strategy` for the environment or the pipeline"),
            Self::Ask { release } => write!(f, "ask for {release} by name, or deploy a newer release"),
            Self::Finish { first } => write!(f, "let {first} finish, reject it, or ask for another release"),
            Self::Pin { workload } => {
                write!(f, "set `version.image` for {workload}, or have it follow a tag or an OCI artifact")
            }
            Self::Reach { target } => write!(f, "make {target} readable again"),
            Self::Heal { environment } => write!(f, "have it healthy in {environment}, or ask for another release"),
            Self::HealHere => write!(f, "mend the deployment, or promote a newer release"),
            Self::Deploy { environment, release, targets } => {
                write!(f, "deploy {release} to {targets} targets of {environment}")
            }
            Self::LowerWhen { environment, of } => {
                write!(f, "lower `promotion.when`: {environment} has no more than {of} of them")
            }
            Self::Wait { until } => write!(f, "wait until {until:.0}"),
            Self::ChangeWindow => write!(f, "change the window"),
            Self::Approve { release, missing, from } => write!(f, "approve {release}: {missing} more of {from}"),
            Self::AddMarker => write!(f, "mark the version's place in the repository"),
            Self::NameWorkload { place } => write!(f, "add `\"workload\": \"KIND/NAME\"` to the marker at {place}"),
            Self::Retry { at } => write!(f, "tried again {at:.0}"),
            Self::ResolveByHand { proposal } => {
                write!(f, "merge or close {proposal} by hand, or delete its branch")
            }
            Self::Rebuild { proposal } => write!(f, "{proposal} is built again on the new base"),
            Self::PassChecks { proposal } => write!(f, "have the checks of {proposal} pass"),
            Self::Review { proposal } => write!(f, "review and merge {proposal}"),
            Self::AwaitDeployment => write!(f, "Flux deploys it"),
        }
    }
}
