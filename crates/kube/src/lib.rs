//! Kubernetes as the place where Weir keeps what must survive, where people define pipelines, and where workloads run.
//!
//! [`hub`] is the cluster that Weir runs on: [`hub::HubStore`] keeps records as objects and in the status of pipelines,
//! [`hub::HubCatalog`] reads pipelines and Secrets, [`hub::HubAccess`] asks the API server who may do what, and
//! [`hub::Publisher`] shows people with `kubectl` what the API shows.
//!
//! [`leaf`] are the clusters that workloads run on: [`leaf::Leaves`] watches what Flux deploys there.
//!
//! [`install`] puts Weir's kinds, rights and Deployment on a cluster.
//!
//! It decides nothing, and schedules nothing: watches tell what changed, and the engine's own queue does the rest. What
//! it writes is guarded by resource versions, so that any number of processes may write at the same time. It never lists
//! or watches Secrets.

mod follow;
pub mod hub;
pub mod install;
pub mod leaf;
