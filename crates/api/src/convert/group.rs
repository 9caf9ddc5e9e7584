//! The two groups that a pipeline can be in.

use std::{collections::BTreeMap, fmt};

use super::DEFAULT_NAMESPACE;
use crate::kinds::Pipeline;

/// The API group of a pipeline. The newer one comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PipelineGroup {
    /// `pipelines.weave.works`
    Weave,
    /// `pipelines.wego.weave.works`, as in RFC-0001.
    Wego,
}

impl PipelineGroup {
    /// The group's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Weave => "pipelines.weave.works",
            Self::Wego => "pipelines.wego.weave.works",
        }
    }
}

impl fmt::Display for PipelineGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A pipeline that has no effect, because one of the same namespace and name is in the newer group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "pipeline `{namespace}/{name}` of `{group}` has no effect: there is one of the same name in `{winner}`; \
     delete one of the two",
    group = PipelineGroup::Wego,
    winner = PipelineGroup::Weave
)]
pub struct Shadowed {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// The pipelines that have an effect, one for each namespace and name, and those that are shadowed by the newer group.
pub fn choose_group(
    pipelines: impl IntoIterator<Item = (PipelineGroup, Pipeline)>,
) -> (Vec<(PipelineGroup, Pipeline)>, Vec<Shadowed>) {
    let mut chosen: BTreeMap<(String, String), (PipelineGroup, Pipeline)> = BTreeMap::new();
    let mut shadowed = Vec::new();
    for (group, pipeline) in pipelines {
        let namespace = pipeline.metadata.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE).to_owned();
        let name = pipeline.metadata.name.clone().unwrap_or_default();
        let rival = chosen.get(&(namespace.clone(), name.clone())).map(|(group, _)| *group);
        if rival.is_some_and(|rival| rival != group) {
            shadowed.push(Shadowed { namespace: namespace.clone(), name: name.clone() });
        }
        if rival.is_none_or(|rival| group <= rival) {
            chosen.insert((namespace, name), (group, pipeline));
        }
    }
    (chosen.into_values().collect(), shadowed)
}
