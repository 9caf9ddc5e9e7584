//! The clusters that workloads run on, as they are seen.

use std::{collections::BTreeMap, sync::Arc};

use futures_core::Stream;
use weir_core::{Application, EnvironmentName, PipelineKey, Sighting, TargetKey, VersionRule, WorkloadKey};

use crate::{Definition, TreeObject, Unseen};

/// The clusters that targets are on. Nobody waits for one: what a cluster shows comes when it comes.
pub trait Clusters: Send + Sync {
    /// From now on this shall be seen for a pipeline, instead of what was asked for before. `None`: nothing any more.
    /// What is asked for already goes on undisturbed.
    fn want(&self, pipeline: &PipelineKey, interest: Option<Arc<Interest>>);

    /// What is seen: every target of every interest once, soon, even if it cannot be read; then whatever changes. If it
    /// changes faster than it is taken, what it was in between is left out.
    fn watch(&self) -> impl Stream<Item = Seen> + Send + Unpin + 'static;

    /// The objects behind a workload of a target that is wanted, from its source to what it applied. They are read now,
    /// and kept nowhere.
    fn behind(
        &self,
        target: &TargetKey,
        workload: &WorkloadKey,
    ) -> impl Future<Output = Result<TreeObject, Unseen>> + Send;
}

/// What shall be seen for a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interest {
    /// Which workloads.
    pub application: Application,
    /// What counts as their version, if that is said.
    pub version: Option<VersionRule>,
    /// Where, and which environment that is.
    pub targets: BTreeMap<TargetKey, EnvironmentName>,
}

impl Interest {
    /// What has to be seen to decide about a pipeline.
    pub fn of(definition: &Definition) -> Self {
        let environments = definition.pipeline.environments().iter();
        let targets = environments.flat_map(|it| it.targets.iter().map(|target| (target.clone(), it.name.clone())));
        Self {
            application: definition.pipeline.application.clone(),
            version: definition.version.clone(),
            targets: targets.collect(),
        }
    }
}

/// What is seen of a target for a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The pipeline.
    pub pipeline: PipelineKey,
    /// What was asked for when it was seen: with another it might mean something else.
    pub interest: Arc<Interest>,
    /// The target.
    pub target: TargetKey,
    /// `None`: nobody told how to read its cluster, so it is known by what is reported alone.
    pub sighting: Option<Arc<Sighting>>,
}
