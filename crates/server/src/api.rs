//! The REST API: everything under `/api/v1`.
//!
//! What is read comes from memory and is filtered by what the caller may look at; what is done goes through
//! `weir_engine::People` or `weir_engine::Drafts`, which write it into the journal first.

mod audit;
mod backup;
mod definitions;
mod diff;
mod drafts;
mod environments;
mod events;
mod find;
mod freezes;
mod history;
mod pipelines;
mod promotions;
mod proposals;
mod rights;
mod status;
mod tree;
mod versions;

use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::state::Shared;

/// All routes, with what the document says about them.
pub(crate) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(pipelines::list))
        .routes(routes!(pipelines::show))
        .routes(routes!(pipelines::manifest))
        .routes(routes!(pipelines::suspend))
        .routes(routes!(pipelines::resume))
        .routes(routes!(environments::show))
        .routes(routes!(environments::explain))
        .routes(routes!(environments::preview))
        .routes(routes!(history::history))
        .routes(routes!(tree::tree))
        .routes(routes!(environments::promote))
        .routes(routes!(environments::approve))
        .routes(routes!(environments::reject))
        .routes(routes!(promotions::list))
        .routes(routes!(promotions::show))
        .routes(routes!(proposals::list))
        .routes(routes!(proposals::show))
        .routes(routes!(diff::diff))
        .routes(routes!(proposals::comment))
        .routes(routes!(proposals::review))
        .routes(routes!(proposals::merge))
        .routes(routes!(proposals::close))
        .routes(routes!(definitions::lint))
        .routes(routes!(definitions::definitions))
        .routes(routes!(drafts::list, drafts::propose))
        .routes(routes!(drafts::show))
        .routes(routes!(drafts::merge))
        .routes(routes!(drafts::close))
        .routes(routes!(freezes::list, freezes::freeze))
        .routes(routes!(freezes::unfreeze))
        .routes(routes!(versions::list))
        .routes(routes!(audit::list))
        .routes(routes!(status::status))
        .routes(routes!(rights::rights))
        .routes(routes!(events::events))
        .routes(routes!(backup::backup))
}

/// Why somebody does something.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Why {
    /// In their words.
    why: Option<String>,
}
