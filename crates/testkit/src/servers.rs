//! Real servers, as plain processes on loopback: what a contract is tried on.
//!
//! | server | what it is | for a test of its own | shared by a test binary |
//! |---|---|---|---|
//! | [`Hub`] | a Kubernetes API server with nothing on it | [`Cluster::start`] | [`shared::hub`] |
//! | [`Leaf`] | an API server with Flux on it, and no nodes | [`Leaf::start`] | [`shared::leaf`] |
//! | [`Gitea`] | a forge, and a Helm repository | [`Gitea::start`] | [`shared::gitea`] |
//!
//! `make testbed` builds the programs. All clusters of a test binary live on one etcd. A server that belongs to one test
//! ends when it is dropped; all end with the process that started them, however that ends (see `room`). Only a server of
//! one's own can be stopped, as that needs `&mut`.
//!
//! Tests that share a server keep apart by names: [`Cluster::namespace`] and [`unique`]. Clients belong to the runtime
//! they were made on, so every test asks for its own.
//!
//! Nothing here returns an error: a test wants a server or a reason why there is none, so what fails panics, with the
//! end of the server's log.
#![expect(
    clippy::panic,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "this is the inside of tests: a world that cannot be set up fails them"
)]

mod bed;
mod chart;
mod cluster;
mod etcd;
mod gitea;
mod inbox;
mod leaf;
mod process;
mod room;
pub mod shared;
mod wait;

pub use bed::{folder, program};
pub use chart::Chart;
pub use cluster::{Cluster, ClusterBuilder, Hub};
pub use gitea::{Account, Answer, Gitea, GiteaApi};
pub use inbox::{Delivery, Inbox};
pub use leaf::{Controller, Leaf, LeafBuilder};
pub use room::{folder as room, free_port, unique};
pub use wait::{PATIENCE, eventually};
