//! A stop: everything, a namespace, a pipeline, an environment, or one release.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    name::{EnvironmentName, Name, Namespace, PipelineKey},
    pipeline::Pipeline,
    release::{Release, Revision},
};

/// A stop with a reason. While it lasts, nothing is written to Git for what it selects, except that proposals are closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freeze {
    /// Its name.
    pub name: Name,
    /// What it stops.
    #[serde(default)]
    pub selector: Selector,
    /// Why, in the words of the person who set it.
    pub reason: String,
    /// Who set it.
    pub by: String,
    /// From when on it counts.
    pub from: Timestamp,
    /// When it ends by itself. `None`: when somebody lifts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// What a freeze stops. What is left out selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selector {
    /// Only pipelines of this namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Namespace>,
    /// Only pipelines of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<Name>,
    /// Only promotions into environments of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentName>,
    /// Only releases that hold this revision: a quarantine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<Revision>,
}

impl Selector {
    /// Whether a promotion of this release into this environment is selected.
    pub fn selects(&self, pipeline: &PipelineKey, environment: &EnvironmentName, release: &Release) -> bool {
        fn matches<T: PartialEq>(wanted: Option<&T>, found: &T) -> bool {
            wanted.is_none_or(|wanted| wanted == found)
        }
        matches(self.namespace.as_ref(), &pipeline.namespace)
            && matches(self.pipeline.as_ref(), &pipeline.name)
            && matches(self.environment.as_ref(), environment)
            && self.release.as_ref().is_none_or(|wanted| release.members().iter().any(|(_, found)| found == wanted))
    }

    /// Whether it selects some promotion of a pipeline, as far as its definition tells.
    pub fn concerns(&self, pipeline: &Pipeline) -> bool {
        let mut places = pipeline.environments().iter().skip(1).map(|it| &it.name);
        self.namespace.as_ref().is_none_or(|wanted| *wanted == pipeline.key.namespace)
            && self.pipeline.as_ref().is_none_or(|wanted| *wanted == pipeline.key.name)
            && self.environment.as_ref().is_none_or(|wanted| places.any(|place| place == wanted))
    }

    /// Whether it names a release, and so is a quarantine that a person may overrule by asking for that release.
    pub fn is_quarantine(&self) -> bool {
        self.release.is_some()
    }
}

impl Freeze {
    /// Whether it counts at that time.
    pub fn lasts(&self, now: Timestamp) -> bool {
        self.from <= now && self.until.is_none_or(|until| now < until)
    }

    /// The next moment at which it begins or ends.
    pub(crate) fn next_edge(&self, now: Timestamp) -> Option<Timestamp> {
        let begins = (self.from > now && self.until.is_none_or(|until| until > self.from)).then_some(self.from);
        begins.or(self.until.filter(|until| *until > now && self.from <= now))
    }
}
