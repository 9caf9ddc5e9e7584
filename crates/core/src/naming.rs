//! What people and events call things, and what they mean in a pipeline.

use std::fmt::Display;

use crate::{
    name::{EnvironmentName, NameError, PipelineKey},
    pipeline::{Application, Environment, Pipeline, TargetKey},
    release::{FluxSuffix, Release, ReleaseError, Revision, WorkloadKey, WorkloadKind},
};

/// Why a word means nothing in a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamingError {
    /// It is no name at all.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It is no release.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// A member of a release is not written as such.
    #[error("`{0}` is not a workload and its revision: write `HelmRelease/NAME=REVISION`")]
    Member(String),
    /// The pipeline has another workload.
    #[error("`{workload}` is not a workload of pipeline `{pipeline}`; it has `{own}`")]
    Workload {
        /// The pipeline.
        pipeline: PipelineKey,
        /// What was named.
        workload: WorkloadKey,
        /// What it has.
        own: WorkloadKey,
    },
    /// The pipeline has no such environment.
    #[error("pipeline `{pipeline}` has no environment `{named}`; it has {has}")]
    Environment {
        /// The pipeline.
        pipeline: PipelineKey,
        /// What was named.
        named: EnvironmentName,
        /// What it has.
        has: String,
    },
    /// The environment has no such target.
    #[error("environment `{environment}` has no such target; it has {has}")]
    NoTarget {
        /// The environment.
        environment: EnvironmentName,
        /// What it has.
        has: String,
    },
    /// Several targets could be meant.
    #[error("which target of `{environment}`? `cluster` and `namespace` fit {fit}")]
    Targets {
        /// The environment.
        environment: EnvironmentName,
        /// Those that could be.
        fit: String,
    },
}

impl Pipeline {
    /// A release as people write it: `6.2.0`, or `HelmRelease/a=1.0, HelmRelease/b=2.0` where several workloads go
    /// together. The digest that Flux appends to a version is no part of it.
    pub fn release_named(&self, text: &str) -> Result<Release, NamingError> {
        let kinds = [WorkloadKind::HelmRelease, WorkloadKind::Kustomization];
        let several = text.contains('=') && kinds.iter().any(|kind| text.starts_with(&format!("{kind}/")));
        if !several {
            return Ok(Release::of(self.workload(), Revision::from_flux(text, FluxSuffix::Unknown)?));
        }
        let member = |part: &str| {
            let (workload, revision) =
                part.trim().split_once('=').ok_or_else(|| NamingError::Member(part.to_owned()))?;
            let workload = workload.parse()?;
            self.check_workload(&workload)?;
            Ok((workload, Revision::from_flux(revision, FluxSuffix::Unknown)?))
        };
        Ok(Release::new(text.split(',').map(member).collect::<Result<Vec<_>, NamingError>>()?)?)
    }

    /// The workload that a bare revision is about: what `appRef` names, or else the HelmRelease called like the
    /// pipeline.
    pub fn workload(&self) -> WorkloadKey {
        match &self.application {
            Application::Workload(workload) => workload.clone(),
            Application::Labelled => WorkloadKey { kind: WorkloadKind::HelmRelease, name: self.key.name.clone() },
        }
    }

    /// Whether a workload is one of the pipeline's, as far as the pipeline tells: one with `appRef` has no other.
    pub fn check_workload(&self, workload: &WorkloadKey) -> Result<(), NamingError> {
        match &self.application {
            Application::Workload(own) if own != workload => {
                Err(NamingError::Workload { pipeline: self.key.clone(), workload: workload.clone(), own: own.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The environment of that name, which has to be there.
    pub fn environment_named(&self, name: &EnvironmentName) -> Result<&Environment, NamingError> {
        self.environment(name).ok_or_else(|| NamingError::Environment {
            pipeline: self.key.clone(),
            named: name.clone(),
            has: listed(self.environments().iter().map(|environment| &environment.name)),
        })
    }
}

impl Environment {
    /// The one target that is meant by the name of a cluster, a namespace, or both.
    pub fn target_named(&self, cluster: Option<&str>, namespace: Option<&str>) -> Result<&TargetKey, NamingError> {
        let on_cluster = |target: &TargetKey| {
            let key = target.cluster.as_ref();
            cluster.is_none_or(|name| key.is_some_and(|key| key.name.as_str() == name || key.to_string() == name))
        };
        let in_namespace = |target: &TargetKey| namespace.is_none_or(|name| target.namespace.as_str() == name);
        let meant: Vec<_> = self.targets.iter().filter(|target| on_cluster(target) && in_namespace(target)).collect();
        let environment = self.name.clone();
        match meant.as_slice() {
            [target] => Ok(target),
            [] => Err(NamingError::NoTarget { environment, has: listed(&self.targets) }),
            several => Err(NamingError::Targets { environment, fit: listed(several) }),
        }
    }
}

/// Names in a sentence.
fn listed<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled() -> Pipeline {
        Pipeline::new("default/podinfo".parse().unwrap(), Application::Labelled, Vec::new()).unwrap()
    }

    #[test]
    fn a_bare_revision_of_a_labelled_pipeline_is_of_the_helm_release_of_its_name() {
        let release = labelled().release_named("6.2.0").unwrap();
        assert_eq!(format!("{release:?}"), r#"{HelmRelease/podinfo: "6.2.0"}"#);
    }

    #[test]
    fn a_digest_that_flux_appended_is_no_part_of_a_release() {
        let read = |text: &str| labelled().release_named(text).unwrap().to_string();
        assert_eq!(read("1.1.0+1a2b3c4d5e6f"), "1.1.0");
        assert_eq!(read("HelmRelease/a=1.1.0+1a2b3c4d5e6f, HelmRelease/b=2.0.0+build.7"), "a 1.1.0, b 2.0.0+build.7");
    }

    #[test]
    fn a_release_of_several_workloads_names_each() {
        let release = labelled().release_named("HelmRelease/a=1.0, Kustomization/b=sha=2").unwrap();
        assert_eq!(format!("{release:?}"), r#"{HelmRelease/a: "1.0", Kustomization/b: "sha=2"}"#);
        assert!(labelled().release_named("HelmRelease/a=1.0, b").is_err());
    }
}
