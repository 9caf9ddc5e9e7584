//! What can be set about clusters that are watched.

use std::time::Duration;

/// What can be set about clusters that are watched.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own, and says what it allows")]
pub struct LeafSettings {
    /// Whether a kubeconfig may start programs on this machine.
    pub allow_exec: bool,
    /// Whether a kubeconfig may name files on this machine.
    pub allow_files: bool,
    /// Whether the identity of an API server may go unchecked.
    pub allow_insecure_tls: bool,
    /// Whether workloads get labels that tell which pipeline, environment and target they belong to.
    pub label_workloads: bool,
    /// How long nothing is said about a target that was not seen yet.
    pub patience: Duration,
    /// How long a trouble lasts before it is told. A watch that begins again at once is none.
    pub grace: Duration,
    /// How often it is asked whether a cluster answers.
    pub probe: Duration,
    /// How long an answer may take.
    pub deadline: Duration,
    /// How often a kubeconfig is read again.
    pub kubeconfig: Duration,
    /// How often it is looked for a cluster that is not defined, or whose kubeconfig cannot be used.
    pub undefined: Duration,
    /// How often it is looked for a kind that a cluster does not have.
    pub discovery: Duration,
    /// How often images and sources are read again, even if nothing seems to have changed.
    pub details: Duration,
}

impl Default for LeafSettings {
    fn default() -> Self {
        Self {
            allow_exec: false,
            allow_files: false,
            allow_insecure_tls: false,
            label_workloads: false,
            patience: Duration::from_secs(10),
            grace: Duration::from_secs(5),
            probe: Duration::from_secs(15),
            deadline: Duration::from_secs(10),
            kubeconfig: Duration::from_mins(1),
            undefined: Duration::from_secs(15),
            discovery: Duration::from_secs(30),
            details: Duration::from_mins(10),
        }
    }
}
