//! Decides promotions. Nothing here touches the network, the disk or the clock.

mod freeze;
mod gate;
mod hold;
mod name;
mod observation;
mod pipeline;
mod promotion;
mod release;
mod snapshot;
mod window;

pub use freeze::{Freeze, Selector};
pub use gate::{Actor, ApprovalGate, Approvers, Gate};
pub use hold::{Hold, Reason, Remedy};
pub use name::{BranchName, CommitId, EnvironmentName, Name, NameError, Namespace, PipelineKey};
pub use observation::{
    Observation, ObservationKey, Outcome, Report, Sighting, Success, Unreachable, Version, Workload, WorkloadState,
};
pub use pipeline::{
    Application, ClusterKey, Concurrency, Environment, ForgeKind, Merge, Pipeline, PipelineError, Policy, PullRequest,
    RepoUrl, Repository, Strategy, TargetKey, When,
};
pub use promotion::{
    Approval, Base, Checks, Declared, Intent, Leg, LegFacts, Phase, Problem, ProblemWith, Promotion, PromotionKey,
    Proposal, ProposalState, Review, Turn,
};
pub use release::{FluxSuffix, Release, ReleaseError, Revision, WorkloadKey, WorkloadKind};
pub use snapshot::{EnvironmentRecord, FirstSuccess, Refusal, Snapshot, TargetRecord};
pub use window::{Period, PeriodError, Window, WindowState};
