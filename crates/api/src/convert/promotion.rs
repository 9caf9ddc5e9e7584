//! The record of a promotion, from its object and into it. Nothing is lost either way.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use weir_core::{PipelineKey, PromotionKey, Release, Revision, WorkloadKey, promotion_name};

use super::{Problems, namespace_of};
use crate::{
    kinds::{Promotion, PromotionSpec, PromotionStatus, Requester},
    validate::Violation,
};

impl Promotion {
    /// The record that promotions are decided on. An object without status is one that a person has just made.
    pub fn to_core(&self) -> Result<weir_core::Promotion, Vec<Violation>> {
        let mut problems = Problems::default();
        let spec = &self.spec;
        let namespace = namespace_of(&self.metadata, &mut problems);
        let name = problems.name("spec.pipeline", weir_core::Name::new(&spec.pipeline));
        let environment = problems.name("spec.environment", weir_core::EnvironmentName::new(&spec.environment));
        let from = problems.name("spec.from", weir_core::EnvironmentName::new(&spec.from));
        let ordinal = problems.check("spec.ordinal", u64::try_from(spec.ordinal).map_err(|_| "allowed: at least 0"));
        let release: Option<Release> = problems.json("spec.release", &json!(spec.release));
        let requested_by = spec
            .requested_by
            .as_ref()
            .map(|by| weir_core::Actor { name: by.name.clone(), groups: by.groups.clone().unwrap_or_default() });
        let pipeline = namespace.zip(name).map(|(namespace, name)| PipelineKey { namespace, name });
        let key = pipeline.zip(environment).zip(ordinal);
        let key = key.map(|((pipeline, environment), ordinal)| PromotionKey { pipeline, environment, ordinal });
        let fresh = key.zip(from).zip(release);
        let fresh = fresh.map(|((key, from), release)| weir_core::Promotion::new(key, from, release, requested_by));
        let full = fresh.and_then(|fresh| match &self.status {
            None => Some(fresh),
            Some(status) => with_status(&fresh, status, &mut problems),
        });
        problems.or(full)
    }

    /// The object that keeps a record.
    pub fn from_core(promotion: &weir_core::Promotion) -> Self {
        let key = &promotion.key;
        let spec = PromotionSpec {
            pipeline: key.pipeline.name.to_string(),
            environment: key.environment.to_string(),
            ordinal: i64::try_from(key.ordinal).unwrap_or(i64::MAX),
            from: promotion.from.to_string(),
            release: members(&promotion.release),
            requested_by: promotion.requested_by.as_ref().map(|by| Requester {
                name: by.name.clone(),
                groups: (!by.groups.is_empty()).then(|| by.groups.clone()),
            }),
        };
        let skips: Vec<_> = promotion.skips.iter().map(members).collect();
        let mut object = Self::new(&promotion_name(key), spec);
        object.metadata.namespace = Some(key.pipeline.namespace.to_string());
        object.status = Some(PromotionStatus {
            phase: Some(promotion.phase.to_string()),
            holds: records(&promotion.holds),
            skips: (!skips.is_empty()).then_some(skips),
            soaked: promotion.soaked.map(|soaked| soaked.to_string()),
            overridden: records(&promotion.overridden),
            history: records(&promotion.history),
            approvals: records(&promotion.approvals),
            rejection: promotion.rejection.as_ref().and_then(|rejection| serde_json::to_value(rejection).ok()),
            leg: serde_json::to_value(&promotion.leg).ok(),
        });
        object
    }
}

/// The core reads its own JSON: what the status holds is put beside what the spec says, and read as one record.
fn with_status(
    fresh: &weir_core::Promotion,
    status: &PromotionStatus,
    problems: &mut Problems,
) -> Option<weir_core::Promotion> {
    let (Ok(mut record), Ok(Value::Object(status))) = (serde_json::to_value(fresh), serde_json::to_value(status))
    else {
        return None;
    };
    let fields = record.as_object_mut()?;
    let alone = fields.clone();
    fields.extend(status.clone());
    if let Ok(promotion) = serde::Deserialize::deserialize(&record) {
        return Some(promotion);
    }
    // Read again with one field at a time, so that the problem names the field it is in.
    for (name, value) in status {
        let mut one: Map<String, Value> = alone.clone();
        one.insert(name.clone(), value);
        problems.json::<weir_core::Promotion>(&format!("status.{name}"), &Value::Object(one))?;
    }
    problems.json("status", &record)
}

pub(super) fn members(release: &Release) -> BTreeMap<String, String> {
    let text = |(workload, revision): &(WorkloadKey, Revision)| (workload.to_string(), revision.to_string());
    release.members().iter().map(text).collect()
}

pub(super) fn records<T: Serialize>(list: &[T]) -> Option<Vec<Value>> {
    let records: Vec<_> = list.iter().filter_map(|it| serde_json::to_value(it).ok()).collect();
    (!records.is_empty()).then_some(records)
}
