//! The two groups that a pipeline can be in.

use std::fmt;

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
