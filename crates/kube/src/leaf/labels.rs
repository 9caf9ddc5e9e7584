//! Labels that tell people which pipeline, environment and target a workload belongs to.

use sha2::{Digest as _, Sha256};
use weir_core::{EnvironmentName, PipelineKey, TargetKey};

pub(super) const NAME: &str = "pipelines.weave.works/name";
pub(super) const ENVIRONMENT: &str = "pipelines.weave.works/env";
pub(super) const TARGET: &str = "pipelines.weave.works/target";
/// Who writes them, to the API server.
pub(super) const MANAGER: &str = "weir-labels";

/// The labels of a workload, and what they say.
pub(super) fn labels(
    pipeline: &PipelineKey,
    environment: &EnvironmentName,
    target: &TargetKey,
) -> [(&'static str, String); 3] {
    [
        (NAME, value(pipeline.name.as_str())),
        (ENVIRONMENT, value(environment.as_str())),
        (TARGET, value(&target.to_string())),
    ]
}

/// A text as a label may hold it: `/` becomes `_`, which no name has; what is too long ends in a hash of it all.
fn value(text: &str) -> String {
    const LONGEST: usize = 63;
    let valid = text.replace('/', "_");
    if valid.len() <= LONGEST {
        return valid;
    }
    let [a, b, c, d, ..] = <[u8; 32]>::from(Sha256::digest(text));
    let hash = format!("{:08x}", u32::from_be_bytes([a, b, c, d]));
    // All names are ASCII, so that this cuts between characters.
    let start = valid.get(..LONGEST - hash.len() - 1).unwrap_or_default();
    format!("{start}-{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_short_valid_and_its_own() {
        assert_eq!(value("podinfo"), "podinfo");
        assert_eq!(value("flux-system/prod/podinfo"), "flux-system_prod_podinfo");
        let (one, other) = (value(&"a".repeat(100)), value(&"a".repeat(101)));
        assert_eq!((one.len(), other.len()), (63, 63));
        assert_ne!(one, other);
        let dotted = value(&format!("{}..{}", "a".repeat(53), "b".repeat(30)));
        assert!(dotted.ends_with(|c: char| c.is_ascii_alphanumeric()), "{dotted}");
    }
}
