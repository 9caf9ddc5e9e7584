//! Everything on one machine for somebody who has five minutes: a Git repository, clusters whose agents play Flux, a
//! pipeline with an approval, and a server. All of it lives in one folder, so that starting it again carries on.

mod agent;
mod definitions;
mod event;
mod folder;
mod release;

pub(crate) use agent::{Agent, Clusters};
pub(crate) use definitions::follow;
pub(crate) use folder::Folder;
pub(crate) use release::release;

/// The clusters of the demo, and the environment that each of them is part of.
pub(crate) const CLUSTERS: [(&str, &str); 4] = [("dev", "dev"), ("qa-eu", "qa"), ("qa-us", "qa"), ("prod", "prod")];

/// Where a cluster's release is defined.
fn path_of(cluster: &str) -> String {
    format!("clusters/{cluster}/podinfo.yaml")
}

/// The versions that do not start, one a line. This is how a release is broken on purpose.
const BROKEN: &str = "broken.txt";
