//! Who acts for a pipeline, where several processes could.

use futures_core::Stream;
use weir_core::PipelineKey;

/// Which pipelines this process acts for. It saves work and nothing else: two processes that both believe to own a
/// pipeline do nothing twice.
pub trait Ownership: Send + Sync {
    /// Whether this process acts for a pipeline now.
    fn owns(&self, pipeline: &PipelineKey) -> bool;

    /// What keeps this process from acting for anything that it might.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Tells whenever the answer has changed for some pipeline.
    fn watch(&self) -> impl Stream<Item = ()> + Send + Unpin + 'static;
}
