//! Who acts for a pipeline: a test says.

use futures_util::{Stream, StreamExt as _, stream};
use tokio::sync::watch;
use weir_core::PipelineKey;
use weir_ports::Ownership;

/// Everything or nothing.
#[derive(Debug, Clone)]
pub struct SimOwnership(watch::Sender<bool>);

impl Default for SimOwnership {
    fn default() -> Self {
        Self(watch::Sender::new(true))
    }
}

impl SimOwnership {
    /// From now on everything is owned, or nothing.
    pub fn set(&self, owns: bool) {
        self.0.send_replace(owns);
    }
}

impl Ownership for SimOwnership {
    fn owns(&self, _: &PipelineKey) -> bool {
        *self.0.borrow()
    }

    fn watch(&self) -> impl Stream<Item = ()> + Send + Unpin + 'static {
        let changes = self.0.subscribe();
        let changes = stream::unfold(changes, |mut changes| async move {
            changes.changed().await.ok()?;
            Some(((), changes))
        });
        // That nobody can say it any more changes nothing.
        Box::pin(changes.chain(stream::pending()))
    }
}
