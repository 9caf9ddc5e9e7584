//! The kinds of Weir on Kubernetes, and what Flux's objects and events mean.
//!
//! Everything here is pure: no client, no network, no disk, no clock. It never decides about a promotion either; that is
//! `weir-core`, whose types this crate reads into and writes from.
//!
//! - [`read`] takes a YAML text and gives the objects in it, and every error with line, column and field.
//! - [`lint`] tells what is wrong with all of them together, too; [`definition`] takes a text that is one Pipeline.
//! - [`validate`] holds an object against the schema and the CEL rules of its kind. Both are written once, on the types
//!   ([`Pipeline`], [`Promotion`], [`Observation`], [`Freeze`], [`Proposal`], [`GitopsCluster`]), and are the very ones
//!   that [`crds`] gives to a cluster.
//! - `to_core` and `from_core` on the kinds turn them into the core's types and back. What a schema cannot check is
//!   checked there.
//! - [`flux::workload`] and [`flux::event`] read a HelmRelease, a Kustomization or an alert's event as a fact.

mod convert;
mod crd;
pub mod flux;
mod kinds;
mod manifest;
mod validate;

pub use convert::{DurationError, PipelineGroup, Shadowed, parse_duration};
pub use crd::{PART_OF, crd_yaml, crds};
pub use kinds::{
    Address, AppKind, AppRef, ApprovalGate, ClusterKind, ClusterRef, Concurrency, Environment, EnvironmentStatus,
    ForgeType, Freeze, FreezeSelector, FreezeSpec, Gate, GitopsCluster, GitopsClusterSpec, GitopsClusterStatus,
    HoldStatus, Merge, Notification, Observation, ObservationSpec, ObservationStatus, OlderPipeline, OlderPipelineSpec,
    Period, Pipeline, PipelineSpec, PipelineStatus, Promotion, PromotionRules, PromotionSpec, PromotionStatus,
    Proposal, ProposalEdit, ProposalSpec, ProposalState, ProposalStatus, PullRequestStrategy, PushStrategy, Requester,
    SecretRef, ShortPullRequest, SoakGate, Strategy, Target, TargetStatus, VersionFrom, VersionRule, WaitingApproval,
    WindowGate, WorkloadStatus,
};
pub use manifest::{
    Content, Defined, Manifest, ManifestError, Object, Place, definition, forgive_strangers, lint, read, twice,
};
pub use validate::{Violation, validate};
