//! Which target of an environment reports.

use weir_api::flux::Reported;
use weir_core::{Environment, NamingError, TargetKey};

/// The target that reports: the one on the cluster that the address names, else on the one that the event names, else the
/// only one with the namespace of the object. `None`: several could be meant, so it counts for the environment.
///
/// Whichever names a cluster has to fit, and so has the namespace: what runs elsewhere is not the pipeline's. Only where no
/// target names a cluster, the name in the event says nothing.
pub(super) fn find<'e>(
    environment: &'e Environment,
    cluster: Option<&str>,
    reported: &Reported,
) -> Result<Option<&'e TargetKey>, NamingError> {
    let namespace = Some(reported.namespace.as_str());
    let told = reported.cluster.as_deref().filter(|_| environment.targets.iter().any(|it| it.cluster.is_some()));
    if let Some(cluster) = cluster.or(told) {
        return environment.target_named(Some(cluster), namespace).map(Some);
    }
    match environment.target_named(None, namespace) {
        Ok(target) => Ok(Some(target)),
        Err(NamingError::Targets { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
