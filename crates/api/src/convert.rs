//! From kinds into the types of the core and back.
//!
//! What neither schema nor CEL can check (cron schedules, time zones, branch names, targets that are the same once
//! defaults are filled in) is checked here, and reported in the same form.

mod duration;
mod freeze;
mod group;
mod observation;
mod pipeline;
mod promotion;
mod proposal;
mod record;

use std::fmt::Display;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use serde_json::Value;
use weir_core::{Name, NameError, Namespace};

pub use duration::{DurationError, parse_duration};
pub use group::{PipelineGroup, Shadowed};

use crate::validate::Violation;

/// The namespace of an object that names none, as for kubectl.
const DEFAULT_NAMESPACE: &str = "default";

/// Collects what is wrong, so that all of it is reported at once.
#[derive(Default)]
struct Problems(Vec<Violation>);

impl Problems {
    /// A checked name, or a problem that says what was found and what is allowed.
    fn name<T>(&mut self, path: &str, checked: Result<T, NameError>) -> Option<T> {
        let add = |error: NameError| {
            self.0.push(Violation { found: Some(error.found), ..Violation::new(path, error.rule) });
        };
        checked.map_err(add).ok()
    }

    /// A checked value, or a problem in the words of the error.
    fn check<T>(&mut self, path: &str, checked: Result<T, impl Display>) -> Option<T> {
        checked.map_err(|error| self.0.push(Violation::new(path, error.to_string()))).ok()
    }

    /// A record of the core that was kept as JSON.
    fn json<T: DeserializeOwned>(&mut self, path: &str, value: &Value) -> Option<T> {
        self.check(path, T::deserialize(value))
    }

    /// The value, if nothing was wrong on the way to it.
    fn or<T>(self, value: Option<T>) -> Result<T, Vec<Violation>> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self.0),
        }
    }
}

fn name_of(metadata: &ObjectMeta, problems: &mut Problems) -> Option<Name> {
    problems.name("metadata.name", Name::new(metadata.name.as_deref().unwrap_or_default()))
}

fn namespace_of(metadata: &ObjectMeta, problems: &mut Problems) -> Option<Namespace> {
    let namespace = metadata.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    problems.name("metadata.namespace", Namespace::new(namespace))
}
