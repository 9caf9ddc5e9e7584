//! What can happen in a rehearsal.

use std::sync::Arc;

use crate::{
    freeze::Freeze,
    gate::Actor,
    name::{EnvironmentName, Name},
    observation::{ObservationKey, Report, WorkloadState},
    pipeline::TargetKey,
    promotion::{Checks, Declared, Problem, Review},
    release::Release,
    turnover::RequestError,
};

/// Something that happens in the world.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// Workloads of a target stand like this now.
    Seen {
        /// The environment.
        environment: EnvironmentName,
        /// The target; `None`: all of them.
        target: Option<TargetKey>,
        /// What is deployed, or is being.
        release: Release,
        /// How it is going.
        state: WorkloadState,
    },
    /// A target cannot be read.
    Lost {
        /// The environment.
        environment: EnvironmentName,
        /// The target; `None`: all of them.
        target: Option<TargetKey>,
        /// What went wrong.
        error: Arc<str>,
    },
    /// An alert or CI reported something.
    Reported(ObservationKey, Report),
    /// Somebody changed the base branch by hand.
    Declared {
        /// The environment.
        environment: EnvironmentName,
        /// What it declares now.
        declares: Declared,
    },
    /// Somebody merged the open proposal.
    Merged {
        /// The environment.
        environment: EnvironmentName,
        /// Who.
        by: Arc<str>,
    },
    /// Somebody closed the open proposal.
    Closed {
        /// The environment.
        environment: EnvironmentName,
        /// Who.
        by: Arc<str>,
    },
    /// The checks of the open proposal say this now.
    Checked {
        /// The environment.
        environment: EnvironmentName,
        /// What they say.
        checks: Checks,
    },
    /// The reviewers of the open proposal say this now.
    Reviewed {
        /// The environment.
        environment: EnvironmentName,
        /// What they say.
        review: Review,
    },
    /// Somebody committed to the branch of the open proposal.
    Committed {
        /// The environment.
        environment: EnvironmentName,
        /// Who.
        by: Arc<str>,
    },
    /// The open proposal can no longer be merged as it is.
    Conflicted {
        /// The environment.
        environment: EnvironmentName,
    },
    /// The last attempt to carry a promotion failed, or (`None`) one succeeded again.
    Troubled {
        /// The environment.
        environment: EnvironmentName,
        /// On what.
        problem: Option<Problem>,
    },
    /// A person asks for a release.
    Asked {
        /// The environment.
        environment: EnvironmentName,
        /// Which.
        release: Release,
        /// Who.
        by: Actor,
    },
    /// A person approves a release.
    Approved {
        /// The environment.
        environment: EnvironmentName,
        /// Which.
        release: Release,
        /// Who.
        by: Actor,
    },
    /// A freeze is set.
    Frozen(Freeze),
    /// A freeze is lifted.
    Lifted(Name),
    /// The pipeline is suspended, or resumed.
    Suspended(bool),
}

/// Why a fact cannot have happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    /// No such environment.
    #[error("the pipeline has no environment `{0}`")]
    Environment(EnvironmentName),
    /// No such target.
    #[error("environment `{0}` has no target `{1}`")]
    Target(EnvironmentName, TargetKey),
    /// Nothing is open.
    #[error("no proposal is open for environment `{0}`")]
    NoProposal(EnvironmentName),
    /// Nothing to approve.
    #[error("nothing is promoted into environment `{0}`, so there is nothing to approve")]
    NoPromotion(EnvironmentName),
    /// Nobody can ask for that.
    #[error(transparent)]
    Request(#[from] RequestError),
}
