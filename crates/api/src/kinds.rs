//! The kinds, as they are written in YAML and kept by the Kubernetes API.

#![expect(unreachable_pub, reason = "`KubeSchema` copies each struct, `pub` and all, into a function")]
#![expect(clippy::duplicated_attributes, reason = "a kind may well have two printer columns of one type")]

pub(crate) mod address;
mod cluster;
mod freeze;
mod gate;
mod observation;
pub(crate) mod patterns;
mod pipeline;
mod promotion;
mod proposal;
mod schema;
mod status;
mod strategy;

pub use address::Address;
pub use cluster::{GitopsCluster, GitopsClusterSpec, GitopsClusterStatus};
pub use freeze::{Freeze, FreezeSelector, FreezeSpec};
pub use gate::{ApprovalGate, Gate, Period, SoakGate, WindowGate};
pub use observation::{Observation, ObservationSpec, ObservationStatus};
pub use pipeline::{
    AppKind, AppRef, ClusterKind, ClusterRef, Environment, OlderPipeline, OlderPipelineSpec, Pipeline, PipelineSpec,
    Target, VersionFrom, VersionRule,
};
pub use promotion::{Promotion, PromotionSpec, PromotionStatus, Requester};
pub use proposal::{Proposal, ProposalEdit, ProposalSpec, ProposalState, ProposalStatus};
pub use status::{EnvironmentStatus, HoldStatus, PipelineStatus, TargetStatus, WaitingApproval, WorkloadStatus};
pub use strategy::{
    Concurrency, ForgeType, Merge, Notification, PromotionRules, PullRequestStrategy, PushStrategy, SecretRef,
    ShortPullRequest, Strategy,
};
