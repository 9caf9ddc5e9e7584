//! What was reported about a workload, from its object and into it.

use serde_json::{Map, Value};
use weir_core::{EnvironmentName, Name, ObservationKey, PipelineKey, TargetKey, WorkloadKey, observation_name};

use super::{Problems, namespace_of};
use crate::{
    kinds::{Observation, ObservationSpec, ObservationStatus},
    validate::Violation,
};

impl Observation {
    /// Which pipeline and workload it is about, and what was reported.
    pub fn to_core(&self) -> Result<(PipelineKey, ObservationKey, weir_core::Observation), Vec<Violation>> {
        let mut problems = Problems::default();
        let ObservationSpec { pipeline, environment, target, workload } = &self.spec;
        let namespace = namespace_of(&self.metadata, &mut problems);
        let name = problems.name("spec.pipeline", Name::new(pipeline));
        let environment = problems.name("spec.environment", EnvironmentName::new(environment));
        let target = target.as_ref().map(|it| problems.name("spec.target", it.parse::<TargetKey>()));
        let workload = problems.name("spec.workload", workload.parse::<WorkloadKey>());
        let reported = match &self.status {
            None => {
                problems.0.push(Violation::new("status", "is missing"));
                None
            }
            Some(ObservationStatus { last, success, failed }) => {
                let mut record = Map::from_iter([("last".to_owned(), last.clone())]);
                record.extend(success.clone().map(|it| ("success".to_owned(), it)));
                record.extend(failed.clone().map(|it| ("failed".to_owned(), Value::String(it))));
                problems.json("status", &Value::Object(record))
            }
        };
        let pipeline = namespace.zip(name).map(|(namespace, name)| PipelineKey { namespace, name });
        let key = environment.zip(workload).map(|(environment, workload)| ObservationKey {
            environment,
            target: target.flatten(),
            workload,
        });
        let all = pipeline.zip(key).zip(reported).map(|((pipeline, key), reported)| (pipeline, key, reported));
        problems.or(all)
    }

    /// The object that keeps what was reported.
    pub fn from_core(pipeline: &PipelineKey, key: &ObservationKey, reported: &weir_core::Observation) -> Self {
        let spec = ObservationSpec {
            pipeline: pipeline.name.to_string(),
            environment: key.environment.to_string(),
            target: key.target.as_ref().map(ToString::to_string),
            workload: key.workload.to_string(),
        };
        let mut object = Self::new(&observation_name(pipeline, key), spec);
        object.metadata.namespace = Some(pipeline.namespace.to_string());
        object.status = Some(ObservationStatus {
            last: serde_json::to_value(&reported.last).unwrap_or_default(),
            success: reported.success.as_ref().and_then(|success| serde_json::to_value(success).ok()),
            failed: reported.failed.map(|failed| failed.to_string()),
        });
        object
    }
}
