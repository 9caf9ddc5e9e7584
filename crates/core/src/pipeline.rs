//! What people define: a pipeline, its environments, and how a release enters each of them.

use std::{collections::BTreeMap, fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    gate::Gate,
    name::{EnvironmentName, Name, NameError, Namespace, PipelineKey, as_text},
    policy::Policy,
    release::WorkloadKey,
};

/// An application, or labelled workloads, and the ordered environments it passes through.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// Its namespace and name.
    pub key: PipelineKey,
    /// What is promoted.
    pub application: Application,
    /// Nothing is written while it is suspended, except that proposals are closed.
    pub suspended: bool,
    /// It is being deleted: what is open is closed.
    pub deleted: bool,
    /// Shared by its copies.
    environments: Arc<[Environment]>,
}

/// Why environments cannot make up a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PipelineError {
    /// Two environments have the same name.
    #[error("environment `{0}` is defined twice: give each environment a name of its own")]
    EnvironmentTwice(EnvironmentName),
    /// An environment lists the same target twice.
    #[error("environment `{0}` lists target `{1}` twice: list each target once")]
    TargetTwice(EnvironmentName, TargetKey),
    /// Two environments share a target, so nobody could tell which of them runs what.
    #[error("target `{2}` is in environment `{0}` and in `{1}`: give each environment targets of its own")]
    TargetShared(EnvironmentName, EnvironmentName, TargetKey),
}

impl Pipeline {
    /// A pipeline through these environments, in this order.
    pub fn new(
        key: PipelineKey,
        application: Application,
        environments: Vec<Environment>,
    ) -> Result<Self, PipelineError> {
        let mut owners = BTreeMap::new();
        for (position, environment) in environments.iter().enumerate() {
            if environments[..position].iter().any(|earlier| earlier.name == environment.name) {
                return Err(PipelineError::EnvironmentTwice(environment.name.clone()));
            }
            for target in &environment.targets {
                let name = environment.name.clone();
                match owners.insert(target, &environment.name) {
                    None => {}
                    Some(owner) if *owner == name => return Err(PipelineError::TargetTwice(name, target.clone())),
                    Some(owner) => return Err(PipelineError::TargetShared(owner.clone(), name, target.clone())),
                }
            }
        }
        Ok(Self { key, application, suspended: false, deleted: false, environments: environments.into() })
    }

    /// A pipeline that is no longer defined, and of which nothing is known but its records.
    pub fn deleted(key: PipelineKey) -> Self {
        let (application, environments) = (Application::Labelled, Arc::default());
        Self { key, application, suspended: false, deleted: true, environments }
    }

    /// Its environments, first to last.
    pub fn environments(&self) -> &[Environment] {
        &self.environments
    }

    /// The environment of that name.
    pub fn environment(&self, name: &EnvironmentName) -> Option<&Environment> {
        self.environments.iter().find(|environment| environment.name == *name)
    }
}

/// What counts as the version of a workload. Not said: the chart of a HelmRelease, the source of a Kustomization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VersionRule {
    /// The Helm chart.
    Chart,
    /// The Flux source, be it a commit on a branch.
    Source,
    /// The tag of this container image, or its digest if it has no tag.
    Image(Arc<str>),
}

/// What a pipeline promotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Application {
    /// The one workload that `appRef` names, in every target.
    Workload(WorkloadKey),
    /// Whatever carries the pipeline's label in the target's namespace.
    Labelled,
}

impl Application {
    /// Whether a workload found in a target belongs to the application.
    pub fn includes(&self, workload: &WorkloadKey) -> bool {
        match self {
            Self::Workload(only) => only == workload,
            Self::Labelled => true,
        }
    }
}

/// A step of a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct Environment {
    /// Its name.
    pub name: EnvironmentName,
    /// Where it runs.
    pub targets: Vec<TargetKey>,
    /// How a release gets into it. `None`: it is only shown.
    pub promotion: Option<Policy>,
    /// What has to be true before a release may enter.
    pub gates: Vec<Gate>,
}

/// A cluster and a namespace in it. Written `CLUSTER/NAMESPACE`, or `NAMESPACE` on Weir's own cluster.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TargetKey {
    /// The cluster; `None` is the one that the pipeline lives on.
    pub cluster: Option<ClusterKey>,
    /// The namespace there.
    pub namespace: Namespace,
}

/// A `GitopsCluster`, by namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClusterKey {
    /// The name of the `GitopsCluster`. First, because it tells more clusters apart than the namespace does.
    pub name: Name,
    /// Its namespace.
    pub namespace: Namespace,
}

impl fmt::Display for ClusterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl fmt::Display for TargetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cluster {
            Some(cluster) => write!(f, "{cluster}/{}", self.namespace),
            None => write!(f, "{}", self.namespace),
        }
    }
}

impl fmt::Debug for TargetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for TargetKey {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let parts: Vec<_> = text.split('/').collect();
        match parts[..] {
            [namespace] => Ok(Self { cluster: None, namespace: Namespace::new(namespace)? }),
            [home, name, namespace] => {
                let cluster = ClusterKey { namespace: Namespace::new(home)?, name: Name::new(name)? };
                Ok(Self { cluster: Some(cluster), namespace: Namespace::new(namespace)? })
            }
            _ => Err(NameError {
                kind: "target",
                found: text.to_owned(),
                rule: "write it as `NAMESPACE`, or as `CLUSTER-NAMESPACE/CLUSTER/NAMESPACE`",
            }),
        }
    }
}

as_text!(TargetKey);
