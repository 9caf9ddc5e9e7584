//! What can be set about the hub.

use std::time::Duration;

/// What can be set about the hub.
#[derive(Debug, Clone)]
pub struct HubSettings {
    /// How long a Pipeline that is being deleted waits for what is open to be closed. After that it goes anyway.
    pub closing: Duration,
    /// How often it is looked whether everything is closed.
    pub look: Duration,
    /// How long an answer about who may do what is believed.
    pub answers: Duration,
}

impl Default for HubSettings {
    fn default() -> Self {
        Self { closing: Duration::from_mins(5), look: Duration::from_secs(2), answers: Duration::from_secs(5) }
    }
}
