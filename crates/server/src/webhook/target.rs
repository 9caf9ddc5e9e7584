//! Which target of an environment reports.

use weir_api::flux::Reported;
use weir_core::{Environment, NamingError, TargetKey};

/// The target that reports: the one on the cluster that the address names, else on the one that the event names, else the
/// only one with the namespace of the object. `None`: several could be meant, so it counts for the environment.
///
/// The name in the event is a hint: one that fits no target is passed over. The name in the address has to fit, and so
/// has the namespace, because an object elsewhere is not the pipeline's.
pub(super) fn find<'e>(
    environment: &'e Environment,
    cluster: Option<&str>,
    reported: &Reported,
) -> Result<Option<&'e TargetKey>, NamingError> {
    let namespace = Some(reported.namespace.as_str());
    if cluster.is_some() {
        return environment.target_named(cluster, namespace).map(Some);
    }
    if reported.cluster.is_some()
        && let Ok(target) = environment.target_named(reported.cluster.as_deref(), namespace)
    {
        return Ok(Some(target));
    }
    match environment.target_named(None, namespace) {
        Ok(target) => Ok(Some(target)),
        Err(NamingError::Targets { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
