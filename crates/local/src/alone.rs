//! One process, which acts for every pipeline.

use futures_core::Stream;
use futures_util::stream;
use weir_core::PipelineKey;
use weir_ports::Ownership;

/// Nobody else is there: the data folder is this process's own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Ownership for Alone {
    fn owns(&self, _: &PipelineKey) -> bool {
        true
    }

    fn watch(&self) -> impl Stream<Item = ()> + Send + Unpin + 'static {
        stream::pending()
    }
}
