//! What people call things, and what they mean in a pipeline.

use std::fmt::Display;

use anyhow::{Result, anyhow};
use serde::Deserialize;
use weir_core::{
    Application, Environment, EnvironmentName, FluxSuffix, NameError, Pipeline, Release, Revision, TargetKey,
    WorkloadKey, WorkloadKind,
};

/// A version as people copy it from what Flux says. The digest that Flux appended to it is no part of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Reported(pub(crate) Revision);

impl TryFrom<String> for Reported {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        revision(&text).map(Self)
    }
}

/// The account of a person. An approval of nobody would count as one.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Account(pub(crate) String);

impl TryFrom<String> for Account {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        if text.trim().is_empty() {
            return Err(anyhow!("who? write the name of an account"));
        }
        Ok(Self(text))
    }
}

fn revision(text: &str) -> Result<Revision, NameError> {
    Revision::from_flux(text, FluxSuffix::Unknown)
}

/// A release as people write it: `6.2.0`, or `HelmRelease/a=1.0, HelmRelease/b=2.0` where several workloads go together.
pub(crate) fn release(pipeline: &Pipeline, text: &str) -> Result<Release> {
    let kinds = [WorkloadKind::HelmRelease, WorkloadKind::Kustomization];
    let several = text.contains('=') && kinds.iter().any(|kind| text.starts_with(&format!("{kind}/")));
    if !several {
        return Ok(Release::of(workload(pipeline), revision(text)?));
    }
    let member = |part: &str| {
        let (workload, revision) = part
            .trim()
            .split_once('=')
            .ok_or_else(|| anyhow!("`{part}` is not a workload and its revision: write `HelmRelease/NAME=REVISION`"))?;
        let workload = workload.parse()?;
        check_workload(pipeline, &workload)?;
        Ok((workload, self::revision(revision)?))
    };
    Ok(Release::new(text.split(',').map(member).collect::<Result<Vec<_>>>()?)?)
}

/// The workload that a bare revision is about: what `appRef` names, or else the HelmRelease called like the pipeline.
pub(crate) fn workload(pipeline: &Pipeline) -> WorkloadKey {
    match &pipeline.application {
        Application::Workload(workload) => workload.clone(),
        Application::Labelled => WorkloadKey { kind: WorkloadKind::HelmRelease, name: pipeline.key.name.clone() },
    }
}

/// Whether a workload is one of the pipeline's, as far as the pipeline tells: one with `appRef` has no other.
pub(crate) fn check_workload(pipeline: &Pipeline, workload: &WorkloadKey) -> Result<()> {
    match &pipeline.application {
        Application::Workload(own) if own != workload => {
            Err(anyhow!("`{workload}` is not a workload of pipeline `{}`; it has `{own}`", pipeline.key))
        }
        _ => Ok(()),
    }
}

/// The environment of that name.
pub(crate) fn environment<'p>(pipeline: &'p Pipeline, name: &EnvironmentName) -> Result<&'p Environment> {
    pipeline.environment(name).ok_or_else(|| {
        let known = listed(pipeline.environments().iter().map(|environment| &environment.name));
        anyhow!("pipeline `{}` has no environment `{name}`; it has {known}", pipeline.key)
    })
}

/// The one target of an environment that is meant by the name of a cluster, a namespace, or both.
pub(crate) fn target<'p>(
    environment: &'p Environment,
    cluster: Option<&str>,
    namespace: Option<&str>,
) -> Result<&'p TargetKey> {
    let on_cluster = |target: &TargetKey| {
        let key = target.cluster.as_ref();
        cluster.is_none_or(|name| key.is_some_and(|key| key.name.as_str() == name || key.to_string() == name))
    };
    let in_namespace = |target: &TargetKey| namespace.is_none_or(|name| target.namespace.as_str() == name);
    let meant: Vec<_> =
        environment.targets.iter().filter(|target| on_cluster(target) && in_namespace(target)).collect();
    let name = &environment.name;
    match meant.as_slice() {
        [target] => Ok(target),
        [] => Err(anyhow!("environment `{name}` has no such target; it has {}", listed(&environment.targets))),
        several => Err(anyhow!("which target of `{name}`? `cluster` and `namespace` fit {}", listed(several))),
    }
}

/// Names in a sentence.
pub(crate) fn listed<T: Display>(names: impl IntoIterator<Item = T>) -> String {
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
        let release = release(&labelled(), "6.2.0").unwrap();
        assert_eq!(format!("{release:?}"), r#"{HelmRelease/podinfo: "6.2.0"}"#);
    }

    #[test]
    fn a_digest_that_flux_appended_is_no_part_of_a_release() {
        let read = |text: &str| release(&labelled(), text).unwrap().to_string();
        assert_eq!(read("1.1.0+1a2b3c4d5e6f"), "1.1.0");
        assert_eq!(read("HelmRelease/a=1.1.0+1a2b3c4d5e6f, HelmRelease/b=2.0.0+build.7"), "a 1.1.0, b 2.0.0+build.7");
        assert_eq!(Reported::try_from("1.1.0+1a2b3c4d5e6f".to_owned()).unwrap().0.as_str(), "1.1.0");
    }

    #[test]
    fn a_release_of_several_workloads_names_each() {
        let release = release(&labelled(), "HelmRelease/a=1.0, Kustomization/b=sha=2").unwrap();
        assert_eq!(format!("{release:?}"), r#"{HelmRelease/a: "1.0", Kustomization/b: "sha=2"}"#);
        assert!(super::release(&labelled(), "HelmRelease/a=1.0, b").is_err());
    }
}
