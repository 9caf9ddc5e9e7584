//! A freeze as people write it, into the core's.

use jiff::Timestamp;
use weir_core::{EnvironmentName, Name, Namespace, Revision, Selector};

use super::{Problems, name_of};
use crate::{
    kinds::{Freeze, FreezeSelector, FreezeSpec},
    validate::Violation,
};

/// Who set a freeze that does not say it.
const SOMEBODY: &str = "somebody";

impl Freeze {
    /// The freeze that promotions are held by. Without `from` it counts from when it was made.
    pub fn to_core(&self) -> Result<weir_core::Freeze, Vec<Violation>> {
        let mut problems = Problems::default();
        let name = name_of(&self.metadata, &mut problems);
        let selector = selector(self.spec.selector.as_ref(), &mut problems);
        let mut moment = |field: &str, text: &Option<String>| {
            let text = text.as_deref()?;
            problems.check(&format!("spec.{field}"), text.parse::<Timestamp>())
        };
        let from = moment("from", &self.spec.from);
        let until = moment("until", &self.spec.until);
        let made = self.metadata.creation_timestamp.as_ref().map(|time| time.0);
        let freeze = name.map(|name| weir_core::Freeze {
            name,
            selector,
            reason: self.spec.reason.clone(),
            by: self.spec.by.clone().unwrap_or_else(|| SOMEBODY.to_owned()),
            from: from.or(made).unwrap_or(Timestamp::MIN),
            until,
        });
        problems.or(freeze)
    }

    /// The object that keeps a freeze.
    pub fn from_core(freeze: &weir_core::Freeze) -> Self {
        let selector = FreezeSelector {
            namespace: freeze.selector.namespace.as_ref().map(ToString::to_string),
            pipeline: freeze.selector.pipeline.as_ref().map(ToString::to_string),
            environment: freeze.selector.environment.as_ref().map(ToString::to_string),
            release: freeze.selector.release.as_ref().map(ToString::to_string),
        };
        let spec = FreezeSpec {
            selector: (selector != FreezeSelector::default()).then_some(selector),
            reason: freeze.reason.clone(),
            by: Some(freeze.by.clone()),
            from: (freeze.from > Timestamp::MIN).then(|| freeze.from.to_string()),
            until: freeze.until.map(|until| until.to_string()),
        };
        Self::new(freeze.name.as_str(), spec)
    }
}

fn selector(selector: Option<&FreezeSelector>, problems: &mut Problems) -> Selector {
    let Some(FreezeSelector { namespace, pipeline, environment, release }) = selector else {
        return Selector::default();
    };
    let path = |field: &str| format!("spec.selector.{field}");
    Selector {
        namespace: namespace.as_ref().and_then(|it| problems.name(&path("namespace"), Namespace::new(it))),
        pipeline: pipeline.as_ref().and_then(|it| problems.name(&path("pipeline"), Name::new(it))),
        environment: environment.as_ref().and_then(|it| problems.name(&path("environment"), EnvironmentName::new(it))),
        release: release.as_ref().and_then(|it| problems.name(&path("release"), Revision::new(it))),
    }
}
