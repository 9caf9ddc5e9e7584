//! What shall be seen, on its way to the task of a cluster.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::Notify;
use weir_core::PipelineKey;
use weir_ports::Interest;

/// What has been asked since the last look: the newest for every pipeline.
#[derive(Default)]
pub(super) struct Mail {
    letters: Mutex<Letters>,
    bell: Notify,
}

/// What is asked for pipelines. `None`: nothing any more.
pub(super) type Letters = BTreeMap<PipelineKey, Option<Arc<Interest>>>;

impl Mail {
    /// Puts down what is asked for a pipeline.
    pub(super) fn post(&self, pipeline: &PipelineKey, interest: Option<Arc<Interest>>) {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner).insert(pipeline.clone(), interest);
        self.bell.notify_one();
    }

    /// Waits until there is something.
    pub(super) async fn rings(&self) {
        self.bell.notified().await;
    }

    /// Takes everything out.
    pub(super) fn take(&self) -> Letters {
        std::mem::take(&mut *self.letters.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
