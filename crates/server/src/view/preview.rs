//! What would come of something that somebody does.

use serde::Serialize;
use utoipa::ToSchema;

use super::{Explanation, Release};

/// What would come of it, if nothing goes wrong and nobody does anything more.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PreviewView {
    /// The release that it is about.
    release: Release,
    /// How a release that is asked for stands to what runs, what is on its way and what was refused.
    notes: Vec<String>,
    /// What Weir then does by itself, in order: `proposes 6.2.0`.
    steps: Vec<String>,
    /// How the environment stands after that.
    then: Explanation,
}

impl From<weir_core::Preview> for PreviewView {
    fn from(it: weir_core::Preview) -> Self {
        Self {
            release: Release::from(&it.release),
            notes: it.notes,
            steps: it.steps.iter().filter_map(weir_core::Carried::told).collect(),
            then: it.then.into(),
        }
    }
}
