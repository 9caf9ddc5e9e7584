//! The records in the status of a Pipeline.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use weir_api::{EnvironmentStatus, PipelineStatus};
use weir_core::{EnvironmentName, PipelineKey};
use weir_ports::{PipelineRecord, Record, RecordKey, RecordVersion};

/// A record in the status of a Pipeline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::hub) enum Part {
    /// What people said about it.
    Suspended,
    /// The memory of an environment.
    Environment(EnvironmentName),
}

impl Part {
    /// The part of a status that keeps a record. `None`: the record has an object of its own.
    pub(in crate::hub) fn of(key: &RecordKey) -> Option<(&PipelineKey, Self)> {
        match key {
            RecordKey::Pipeline(pipeline) => Some((pipeline, Self::Suspended)),
            RecordKey::Environment(pipeline, environment) => Some((pipeline, Self::Environment(environment.clone()))),
            _ => None,
        }
    }

    /// The record that this part of the status of a pipeline keeps.
    pub(in crate::hub) fn key(&self, pipeline: &PipelineKey) -> RecordKey {
        match self {
            Self::Suspended => RecordKey::Pipeline(pipeline.clone()),
            Self::Environment(environment) => RecordKey::Environment(pipeline.clone(), environment.clone()),
        }
    }

    /// The record, or why it cannot be read any more.
    pub(in crate::hub) fn read(&self, pipeline: &PipelineKey, content: &Value) -> Result<Record, String> {
        match self {
            Self::Suspended => {
                let suspended = content.as_bool().unwrap_or_default();
                Ok(Record::Pipeline(pipeline.clone(), PipelineRecord { suspended }))
            }
            Self::Environment(environment) => {
                let status = EnvironmentStatus { record: Some(content.clone()), ..EnvironmentStatus::default() };
                let memory = status.to_core().map_err(|violation| violation.to_string())?;
                Ok(Record::Environment(pipeline.clone(), environment.clone(), Box::new(memory)))
            }
        }
    }

    /// What is kept of a record. `None`: the record has an object of its own.
    pub(in crate::hub) fn content(record: &Record) -> Option<Value> {
        match record {
            Record::Pipeline(_, record) => Some(json!(record.suspended)),
            Record::Environment(_, _, memory) => {
                let mut status = EnvironmentStatus::default();
                status.remember(memory);
                status.record
            }
            _ => None,
        }
    }
}

/// The records that a status keeps.
pub(super) fn parts(status: Option<&PipelineStatus>) -> BTreeMap<Part, Value> {
    let suspended = status.and_then(|status| status.suspended).map(|it| (Part::Suspended, json!(it)));
    let environments = status.and_then(|status| status.environments.as_ref()).into_iter().flatten();
    let environments = environments.filter_map(|(name, environment)| {
        let name = EnvironmentName::new(name).ok()?;
        Some((Part::Environment(name), environment.record.clone()?))
    });
    environments.chain(suspended).collect()
}

/// The status that keeps these records, and says nothing else.
pub(in crate::hub) fn status(records: &BTreeMap<Part, (Value, RecordVersion)>) -> Value {
    let (mut status, mut environments) = (Map::new(), Map::new());
    for (part, (content, _)) in records {
        match part {
            Part::Suspended => drop(status.insert("suspended".to_owned(), content.clone())),
            Part::Environment(name) => drop(environments.insert(name.to_string(), json!({ "record": content }))),
        }
    }
    if !environments.is_empty() {
        status.insert("environments".to_owned(), Value::Object(environments));
    }
    Value::Object(status)
}
