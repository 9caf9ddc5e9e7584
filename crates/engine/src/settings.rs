//! How an engine works.

use std::sync::Arc;

use jiff::SignedDuration;
use weir_core::{PipelineKey, PromotionKey, promotion_name};
use weir_ports::Signature;

/// How an engine works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Who Weir's commits are by.
    pub author: Signature,
    /// How often a repository is looked at to notice what others do there.
    pub poll: SignedDuration,
    /// How many steps are taken at a time.
    pub at_once: usize,
    /// Where people find Weir, for links to its proposals: `http://localhost:8082`.
    pub address: Option<String>,
}

impl Settings {
    /// The usual ones, with commits by this author.
    pub fn new(author: Signature) -> Self {
        Self { author, poll: SignedDuration::from_secs(30), at_once: 256, address: None }
    }

    /// Where a person looks at a pipeline.
    pub(crate) fn page_of(&self, pipeline: &PipelineKey) -> Option<String> {
        let address = self.address.as_deref()?.trim_end_matches('/');
        Some(format!("{address}/pipelines/{}/{}", pipeline.namespace, pipeline.name))
    }

    pub(crate) fn address_of(&self, proposal: &PromotionKey) -> Option<Arc<str>> {
        let address = self.address.as_deref()?.trim_end_matches('/');
        let namespace = &proposal.pipeline.namespace;
        Some(format!("{address}/proposals/{namespace}/{}", promotion_name(proposal)).into())
    }
}
