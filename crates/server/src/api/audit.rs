//! Who did what.

use std::collections::BTreeSet;

use axum::{Json, extract::State};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use weir_core::{Name, Namespace};
use weir_ports::{DeedQuery, Noted};

use super::find;
use crate::{
    caller::Caller,
    page::{List, Page, Paging, token, unknown},
    problem::Problem,
    router::Failed,
    state::Shared,
    view::{Actor, PipelineRef},
};

/// How often the journal is asked for one page, if the caller may look at little of it.
const ROUNDS: usize = 20;

/// What somebody did.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeedView {
    /// Its number. Later ones are higher.
    number: u64,
    /// When.
    at: Timestamp,
    /// Who.
    by: Actor,
    /// What: `promote`, `approve`, `reject`, `suspend`, `resume`, `freeze`, `unfreeze`, `merge`, …
    verb: String,
    /// To what.
    object: String,
    /// The pipeline, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pipeline: Option<PipelineRef>,
    /// A release, a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Why, in their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Which deeds. What is left out selects everything.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only those about this namespace, or about something in it.
    #[param(value_type = Option<String>)]
    namespace: Option<Namespace>,
    /// Only those about the pipeline of this name; needs `namespace`.
    #[param(value_type = Option<String>)]
    pipeline: Option<Name>,
    /// Only those by this person.
    by: Option<String>,
    /// Only those before this number.
    before: Option<u64>,
}

/// List what people did, newest first. What is about no namespace is shown to whoever may look at all namespaces.
#[utoipa::path(get, path = "/audit", tag = "audit", params(Which, Paging),
    responses((status = 200, body = Page<DeedView>), Failed))]
pub(super) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    List { which, paging }: List<Which>,
) -> Result<Json<Page<DeedView>>, Problem> {
    let partial = caller.looks(&shared, which.namespace.as_ref()).await?.is_partial();
    let place = paging.place()?.map(|place| place.parse().map_err(|_| unknown())).transpose()?;
    let limit = paging.limit();
    let mut query = query(which, limit)?;
    query.before = place.or(query.before);
    let mut items = Vec::new();
    for _ in 0..ROUNDS {
        let noted = shared.backend.deeds(&query).await?;
        let homes: BTreeSet<_> = noted.iter().filter_map(|it| it.deed.home().cloned()).collect();
        let visible = caller.sees(&shared, homes).await?;
        let over = noted.len() < query.limit;
        for it in noted {
            query.before = Some(it.number);
            let seen = match it.deed.home() {
                Some(home) => visible.sees(home),
                None => visible.sees_everything(),
            };
            if seen {
                items.push(DeedView::from(it));
            }
            if items.len() == limit {
                break;
            }
        }
        if over && items.len() < limit {
            return Ok(Json(Page { items, token: None, partial }));
        }
        if items.len() == limit {
            break;
        }
    }
    let next = query.before.map(|before| token(&before.to_string()));
    Ok(Json(Page { items, token: next, partial }))
}

fn query(which: Which, limit: usize) -> Result<DeedQuery, Problem> {
    let pipeline = find::pipeline(which.namespace.as_ref(), which.pipeline)?;
    Ok(DeedQuery { namespace: which.namespace, pipeline, by: which.by, before: which.before, limit })
}

impl From<Noted> for DeedView {
    fn from(noted: Noted) -> Self {
        let Noted { number, deed } = noted;
        Self {
            number,
            at: deed.at,
            by: (&deed.by).into(),
            verb: deed.verb,
            object: deed.object,
            pipeline: deed.pipeline.as_ref().map(PipelineRef::from),
            detail: deed.detail,
            why: deed.why,
        }
    }
}
