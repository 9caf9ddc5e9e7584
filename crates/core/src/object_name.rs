//! The names that records have as Kubernetes objects. They are derived, never random: *already exists* is the lock.

use crate::{name::PipelineKey, observation::ObservationKey, promotion::PromotionKey};

/// The name of a promotion's object: `PIPELINE-ENVIRONMENT-ORDINAL`.
///
/// Where that would not be a name of Kubernetes, or could be read as another pipeline's (`a-b` and `c`, `a` and `b-c`),
/// eight digits that tell them apart stand before the ordinal.
pub fn promotion_name(key: &PromotionKey) -> String {
    let (pipeline, environment) = (key.pipeline.name.as_str(), key.environment.as_str());
    let plain = environment.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    if plain && pipeline.len() <= 150 {
        return format!("{pipeline}-{environment}-{}", key.ordinal);
    }
    let environment = environment.to_ascii_lowercase().replace(['_', '.'], "-");
    let digits = fingerprint(&[pipeline, key.environment.as_str()]) >> 32;
    format!("{}-{environment}-{digits:08x}-{}", cut(pipeline), key.ordinal)
}

/// The name of the object with the reports about one workload: the pipeline's and sixteen digits.
pub fn observation_name(pipeline: &PipelineKey, key: &ObservationKey) -> String {
    let target = key.target.as_ref().map(ToString::to_string).unwrap_or_default();
    let name = pipeline.name.as_str();
    let digits = fingerprint(&[name, key.environment.as_str(), &target, &key.workload.to_string()]);
    format!("{}-{digits:016x}", cut(name))
}

fn cut(name: &str) -> &str {
    name.get(..150).unwrap_or(name).trim_end_matches(['-', '.'])
}

/// FNV-1a: tells names apart and is the same in every version and on every machine. Not for secrets.
fn fingerprint(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    fn name(pipeline: &str, environment: &str) -> String {
        let pipeline = format!("default/{pipeline}").parse().unwrap();
        promotion_name(&PromotionKey { pipeline, environment: environment.parse().unwrap(), ordinal: 7 })
    }

    #[test]
    fn a_promotion_is_named_after_pipeline_environment_and_ordinal() {
        assert_eq!(name("podinfo", "prod"), "podinfo-prod-7");
        assert_eq!(name("pod-info", "prod"), "pod-info-prod-7");
    }

    #[test]
    fn names_that_could_be_mistaken_for_another_are_told_apart() {
        assert_ne!(name("a-b", "c"), name("a", "b-c"));
        assert_ne!(name("a", "Prod"), name("a", "prod"));
        assert_ne!(name("a", "x_y"), name("a", "x.y"));
    }

    #[test]
    fn every_name_is_one_that_kubernetes_takes() {
        let long = "a-".repeat(126) + "a";
        for (pipeline, environment) in [("a", "Prod_EU.1"), (long.as_str(), "prod"), ("a", &"X".repeat(63))] {
            assert!(Name::new(name(pipeline, environment)).is_ok(), "{pipeline} {environment}");
        }
    }
}
