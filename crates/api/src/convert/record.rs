//! The memory of an environment, in the status of its pipeline.

use weir_core::EnvironmentRecord;

use crate::{kinds::EnvironmentStatus, validate::Violation};

impl EnvironmentStatus {
    /// What Weir remembers of the environment. Nothing written yet is an empty memory.
    pub fn to_core(&self) -> Result<EnvironmentRecord, Violation> {
        let Some(record) = &self.record else { return Ok(EnvironmentRecord::default()) };
        serde::Deserialize::deserialize(record)
            .map_err(|error: serde_json::Error| Violation::new("record", error.to_string()))
    }

    /// Writes down what Weir remembers of the environment.
    pub fn remember(&mut self, record: &EnvironmentRecord) {
        self.record = serde_json::to_value(record).ok();
    }
}
