//! What texts look like. The same rules as those of the core's types, as regular expressions.

/// A Go duration, as Flux writes it.
pub(crate) const DURATION: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$";
/// As [`weir_core::EnvironmentName`].
pub(crate) const ENVIRONMENT: &str = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$";
/// As [`weir_core::Name`].
pub(crate) const NAME: &str = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$";
/// As [`weir_core::Namespace`].
pub(crate) const NAMESPACE: &str = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$";
/// As [`weir_core::RepoUrl`].
pub(crate) const REPOSITORY: &str = r"^(https?://\S+|ssh://\S+|file://\S+|[^-/:\s][^/:\s]*:/?[^/\s]\S*)$";
/// As [`weir_core::CommitId`].
pub(crate) const COMMIT: &str = r"^([0-9a-f]{40}|[0-9a-f]{64})$";
/// As [`weir_core::When`].
pub(crate) const WHEN: &str = "^(any|all|[1-9][0-9]*|([1-9][0-9]?|100)%)$";
