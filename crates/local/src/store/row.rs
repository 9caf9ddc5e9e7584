//! Records as rows: the columns that they are found by, and the JSON of their Kubernetes kind.

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use weir_api::{EnvironmentStatus, Freeze, Observation, Promotion, Proposal, Violation};
use weir_core::{EnvironmentName, Name, Namespace, PipelineKey, observation_name, promotion_name};
use weir_ports::{PipelineRecord, Record, RecordKey};

/// The columns that a record is found by. What does not apply to a kind is empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowKey {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) pipeline: String,
    pub(super) environment: String,
    /// The name of the Kubernetes object.
    pub(super) name: String,
}

/// What changes about a row.
#[derive(Debug)]
pub(super) struct Content {
    /// How far a promotion is.
    pub(super) phase: String,
    pub(super) json: String,
}

impl RowKey {
    pub(super) fn of(key: &RecordKey) -> Self {
        let (kind, environment, name) = match key {
            RecordKey::Pipeline(_) => ("Pipeline", "", String::new()),
            RecordKey::Environment(_, environment) => ("Environment", environment.as_str(), String::new()),
            RecordKey::Promotion(key) => ("Promotion", key.environment.as_str(), promotion_name(key)),
            RecordKey::Observation(pipeline, key) => {
                ("Observation", key.environment.as_str(), observation_name(pipeline, key))
            }
            RecordKey::Freeze(name) => ("Freeze", "", name.to_string()),
            RecordKey::Proposal(key) => ("Proposal", key.environment.as_str(), promotion_name(key)),
        };
        let (namespace, pipeline) =
            key.pipeline().map(|key| (key.namespace.to_string(), key.name.to_string())).unwrap_or_default();
        Self { kind: kind.to_owned(), namespace, pipeline, environment: environment.to_owned(), name }
    }

    /// A deed of the journal, which is known by its number.
    pub(super) fn of_deed(number: i64) -> Self {
        let none = String::new;
        let (namespace, pipeline, environment) = (none(), none(), none());
        Self { kind: "Deed".to_owned(), namespace, pipeline, environment, name: number.to_string() }
    }

    fn pipeline_key(&self) -> Result<PipelineKey, String> {
        let namespace = Namespace::new(&self.namespace).map_err(|error| error.to_string())?;
        let name = Name::new(&self.pipeline).map_err(|error| error.to_string())?;
        Ok(PipelineKey { namespace, name })
    }
}

/// Shown as what it is and where it belongs, for a person who looks for the row.
impl fmt::Display for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, namespace, pipeline, environment, name } = self;
        let parts = [namespace, pipeline, environment, name];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).map(String::as_str).collect();
        write!(f, "{kind} `{}`", parts.join("/"))
    }
}

/// What is kept of [`PipelineRecord`].
#[derive(Serialize, Deserialize)]
struct PipelineJson {
    #[serde(default)]
    suspended: bool,
}

impl Content {
    pub(super) fn of(record: &Record) -> Result<Self, serde_json::Error> {
        let json = match record {
            Record::Pipeline(_, record) => serde_json::to_string(&PipelineJson { suspended: record.suspended }),
            Record::Environment(_, _, record) => {
                let mut status = EnvironmentStatus::default();
                status.remember(record);
                serde_json::to_string(&status)
            }
            Record::Promotion(promotion) => serde_json::to_string(&Promotion::from_core(promotion)),
            Record::Observation(pipeline, key, reported) => {
                serde_json::to_string(&Observation::from_core(pipeline, key, reported))
            }
            Record::Freeze(freeze) => serde_json::to_string(&Freeze::from_core(freeze)),
            Record::Proposal(proposal) => serde_json::to_string(&Proposal::from_core(proposal)),
        }?;
        let phase = match record {
            Record::Promotion(promotion) => promotion.phase.to_string(),
            _ => String::new(),
        };
        Ok(Self { phase, json })
    }
}

/// The record that a row holds, or why it cannot be read.
pub(super) fn record(key: &RowKey, json: &str) -> Result<Record, String> {
    let record = match key.kind.as_str() {
        "Pipeline" => {
            let PipelineJson { suspended } = typed(json)?;
            Record::Pipeline(key.pipeline_key()?, PipelineRecord { suspended })
        }
        "Environment" => {
            let environment = EnvironmentName::new(&key.environment).map_err(|error| error.to_string())?;
            let memory = typed::<EnvironmentStatus>(json)?.to_core().map_err(|violation| violation.to_string())?;
            Record::Environment(key.pipeline_key()?, environment, Box::new(memory))
        }
        "Promotion" => Record::Promotion(Box::new(promotion(json)?)),
        "Observation" => {
            let (pipeline, key, reported) = typed::<Observation>(json)?.to_core().map_err(sentence)?;
            Record::Observation(pipeline, key, Box::new(reported))
        }
        "Freeze" => Record::Freeze(typed::<Freeze>(json)?.to_core().map_err(sentence)?),
        "Proposal" => Record::Proposal(Box::new(proposal(json)?)),
        other => return Err(format!("it is of kind `{other}`, which this version of Weir does not know")),
    };
    let inside = RowKey::of(&record.key());
    if inside == *key { Ok(record) } else { Err(format!("its columns say {key}, and its JSON says {inside}")) }
}

/// The promotion that a row holds.
pub(super) fn promotion(json: &str) -> Result<weir_core::Promotion, String> {
    typed::<Promotion>(json)?.to_core().map_err(sentence)
}

pub(super) fn proposal(json: &str) -> Result<weir_core::PlainProposal, String> {
    typed::<Proposal>(json)?.to_core().map_err(sentence)
}

fn typed<T: DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn sentence(violations: Vec<Violation>) -> String {
    violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("; ")
}
