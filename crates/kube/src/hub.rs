//! The cluster that Weir runs on.
//!
//! | what | where | written by |
//! |---|---|---|
//! | promotions, reports, freezes, proposals | an object each | [`HubStore`] |
//! | the memory of an environment | `status.environments.<environment>.record` of the Pipeline | [`HubStore`] |
//! | what people said about a pipeline | `status.suspended` of the Pipeline | [`HubStore`] |
//! | everything else in the status of a Pipeline | conditions, targets, what waits for approval | [`Publisher`] |
//!
//! A pipeline can be in two API groups. The object that defines it is the one of the newer group, if there are both; its
//! records are written there, and read there first. So a pipeline that moves to the newer group takes its records along.

mod access;
mod catalog;
mod fault;
mod finalizers;
mod journal;
mod kept;
mod leases;
mod pipelines;
mod publisher;
mod settings;
mod store;

pub(crate) use fault::sentence;

pub use access::HubAccess;
pub use catalog::HubCatalog;
pub use finalizers::Finalizers;
pub use journal::HubJournal;
pub use leases::{LeaseSettings, Leases};
pub use publisher::{Published, Publisher, Shown};
pub use settings::HubSettings;
pub use store::HubStore;

/// Who writes records, to the API server.
const MANAGER: &str = "weir";

/// Who writes what people see in the status of a Pipeline.
const STATUS_MANAGER: &str = "weir-status";

/// Keeps a Pipeline until what is open for it is closed.
pub const FINALIZER: &str = "pipelines.weave.works/weir";
