//! Promotions, those of the past too.

use std::collections::BTreeSet;

use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::IntoParams;
use weir_core::{EnvironmentName, Name, Namespace, Phase, promotion_name};
use weir_ports::{DeedQuery, HistoryQuery, Verb};

use super::find;
use crate::{
    caller::Caller,
    extract::Path,
    page::{List, Page, Paging, token, unknown},
    problem::Problem,
    router::Failed,
    state::Shared,
    view::{PromotionStory, PromotionView},
};

/// How often the past is asked for one page, if the caller may look at little of it.
const ROUNDS: usize = 20;

/// How far back it is looked for what people did to a pipeline.
const DEEDS: usize = 1000;

/// Which promotions. What is left out selects everything.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only those of this namespace.
    #[param(value_type = Option<String>)]
    namespace: Option<Namespace>,
    /// Only those of the pipeline of this name; needs `namespace`.
    #[param(value_type = Option<String>)]
    pipeline: Option<Name>,
    /// Only those into this environment.
    #[param(value_type = Option<String>)]
    environment: Option<EnvironmentName>,
    /// Only those in this phase.
    #[param(value_type = Option<String>)]
    phase: Option<Phase>,
    /// `true`: only those that are on their way.
    live: Option<bool>,
}

/// List promotions, newest first.
#[utoipa::path(get, path = "/promotions", tag = "promotions", params(Which, Paging),
    responses((status = 200, body = Page<PromotionView>), Failed))]
pub(super) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    List { which, paging }: List<Which>,
) -> Result<Json<Page<PromotionView>>, Problem> {
    let partial = caller.looks(&shared, which.namespace.as_ref()).await?.is_partial();
    let (skip, last) = begin(&paging)?;
    let mut query = query(which)?;
    (query.skip, query.limit) = (skip, paging.limit());
    let mut items = Vec::new();
    for round in 0..ROUNDS {
        let past = shared.backend.promotions(&query).await?;
        let homes: BTreeSet<_> = past.iter().map(|it| it.key.pipeline.namespace.clone()).collect();
        let visible = caller.sees(&shared, homes).await?;
        // Whatever began since the page before moved the rest along: what was shown is not shown again.
        let shown = |it: &weir_core::Promotion| Some(name(it)) == last;
        let seen = if round == 0 { past.iter().position(shown).map_or(0, |place| place + 1) } else { 0 };
        let over = past.len() < query.limit;
        for (place, promotion) in past.iter().enumerate().skip(seen) {
            if visible.sees(&promotion.key.pipeline.namespace) {
                items.push(PromotionView::from(promotion));
            }
            if items.len() == query.limit {
                let end = over && place + 1 == past.len();
                let next = (!end).then(|| token(&format!("{} {}", query.skip + place + 1, name(promotion))));
                return Ok(Json(Page { items, token: next, partial }));
            }
        }
        if over {
            return Ok(Json(Page { items, token: None, partial }));
        }
        query.skip += past.len();
    }
    Ok(Json(Page { items, token: Some(token(&format!("{} ", query.skip))), partial }))
}

fn name(promotion: &weir_core::Promotion) -> String {
    format!("{}/{}", promotion.key.pipeline.namespace, promotion_name(&promotion.key))
}

/// How many to leave out, and the last that was shown.
fn begin(paging: &Paging) -> Result<(usize, Option<String>), Problem> {
    let Some(place) = paging.place()? else { return Ok((0, None)) };
    let (skip, last) = place.split_once(' ').ok_or_else(unknown)?;
    Ok((skip.parse().map_err(|_| unknown())?, Some(last.to_owned())))
}

fn query(which: Which) -> Result<HistoryQuery, Problem> {
    let pipeline = find::pipeline(which.namespace.as_ref(), which.pipeline)?;
    let mut phases: Vec<_> = which.phase.into_iter().collect();
    if which.live == Some(true) {
        if phases.iter().any(|phase| !phase.is_live()) {
            return Err(Problem::bad_request("nothing in that phase is on its way; leave out `live` or `phase`"));
        }
        if phases.is_empty() {
            phases = vec![Phase::Pending, Phase::Proposed];
        }
    }
    let (namespace, environment) = (which.namespace, which.environment);
    Ok(HistoryQuery { pipeline, namespace, environment, phases, skip: 0, limit: 0 })
}

/// Show a promotion, and what happened to it.
#[utoipa::path(get, path = "/promotions/{namespace}/{name}", tag = "promotions",
    params(("namespace" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = PromotionStory), Failed))]
pub(super) async fn show(
    State(shared): State<Shared>,
    caller: Caller,
    Path((namespace, name)): Path<(Namespace, Name)>,
) -> Result<Json<PromotionStory>, Problem> {
    caller.must(&shared, Verb::View, &namespace).await?;
    let promotion = find::promotion(&shared, &namespace, &name).await?;
    let pipeline = &promotion.key.pipeline;
    // A proposal that Weir keeps has the name of the promotion that opened it.
    let kept = promotion.leg.facts.proposal.as_ref().and_then(|it| Name::new(&*it.id).ok());
    let proposal = match kept {
        Some(kept) => find::proposal(&shared, &namespace, &kept).await.ok(),
        None => None,
    };
    let query = DeedQuery { pipeline: Some(pipeline.clone()), limit: DEEDS, ..DeedQuery::default() };
    let deeds: Vec<_> = shared.backend.deeds(&query).await?.into_iter().map(|noted| noted.deed).collect();
    let story = shared
        .world()
        .look(pipeline, |known| PromotionStory::new(&promotion, Some(known.snapshot()), proposal.as_ref(), &deeds));
    Ok(Json(story.unwrap_or_else(|| PromotionStory::new(&promotion, None, proposal.as_ref(), &deeds))))
}
