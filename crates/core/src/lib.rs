//! Decides promotions. Nothing here touches the network, the disk or the clock.
//!
//! [`plan`] takes one pipeline, everything known about it, and the time; it returns what should be written down: new
//! promotions, moved ones, and for every environment that is not further, the [`Hold`]s that say why. It never fails: a
//! world that makes no sense is a hold, not an error. [`apply`] writes a plan into a snapshot, [`explain`] tells a person
//! about one environment, and [`preview`] what would come of something that they do.
//!
//! The rules are the modules, in the order in which they are asked: `deployed` (what runs), `candidate` (what may go
//! further, with `order` for which is newer), `turn` (one at a time, with `support` for whether the environment before
//! still stands behind it and `step` for what is done next), `gates` (may it enter now), `delivered` (did it arrive). `plan` puts them together. A new
//! rule goes where its question is asked.

mod apply;
mod branch;
mod candidate;
mod delivered;
mod deployed;
mod explain;
mod freeze;
mod gate;
mod gates;
mod hold;
mod ledger;
mod moment;
mod name;
mod naming;
mod object_name;
mod observation;
mod order;
mod pipeline;
mod plain_proposal;
mod plan;
mod policy;
mod preview;
mod promotion;
mod rehearsal;
mod release;
mod running;
mod snapshot;
mod step;
mod support;
mod turn;
mod turnover;
mod window;

pub use apply::apply;
pub use branch::{Branch, Place};

pub use explain::{Because, Explanation, Situation, Weighs, explain};
pub use freeze::{Freeze, Selector};
pub use gate::{Actor, ApprovalGate, Approvers, Gate};
pub use hold::{Hold, Reason, Remedy};
pub use name::{BranchName, CommitId, EnvironmentName, Name, NameError, Namespace, PipelineKey};
pub use naming::NamingError;
pub use object_name::{observation_name, promotion_name};
pub use observation::{
    Observation, ObservationKey, Outcome, Report, Sighting, Success, Unreachable, Version, Workload, WorkloadState,
};
pub use pipeline::{Application, ClusterKey, Environment, Pipeline, PipelineError, TargetKey, VersionRule};
pub use plain_proposal::{Comment, Edit, PlainProposal, PlainReview, PlainState, Verdict, Wish};
pub use plan::{EnvironmentPlan, Plan, Write, plan};
pub use policy::{Concurrency, ForgeKind, Merge, Policy, PullRequest, RepoUrl, Repository, Strategy, When};
pub use preview::{Preview, preview, relation};
pub use promotion::{
    Approval, Base, Checks, Declared, Intent, Leg, LegFacts, Phase, Problem, ProblemWith, Promotion, PromotionKey,
    Proposal, ProposalState, Rejection, Review, Turn,
};
pub use rehearsal::{Carried, Fact, FactError, Rehearsal};
pub use release::{FluxSuffix, Release, ReleaseError, Revision, WorkloadKey, WorkloadKind};
pub use running::{Running, RunningState};
pub use snapshot::{EnvironmentRecord, FirstSuccess, Refusal, Snapshot, TargetRecord};
pub use turnover::{RequestError, request};
pub use window::{Period, PeriodError, Window, WindowState};
