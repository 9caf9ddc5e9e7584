//! Proposals that Weir keeps itself. Those on a forge are seen with their promotion, and handled there.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use weir_core::{CommitId, Name, Namespace, PipelineKey, PlainProposal, PlainState, Verdict, promotion_name, relation};
use weir_engine::holds_on_turn;
use weir_ports::{Scope, Verb};

use super::find;
use crate::{
    backend::Review,
    caller::Caller,
    extract::{Input, Path},
    page::{Filling, List, Page, Paging, unknown},
    prefer::Prefer,
    problem::Problem,
    router::Failed,
    state::Shared,
    view::{ProposalSummary, ProposalView, all},
};

/// How long a merge is waited for if the client does not say.
const MERGE: u64 = 10;

/// Which proposals. What is left out selects everything.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// `open` if it is not said; `merged`, `closed` or `all`.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    state: StateFilter,
    /// Only those of this namespace.
    #[param(value_type = Option<String>)]
    namespace: Option<Namespace>,
    /// Only those of pipelines of this name.
    #[param(value_type = Option<String>)]
    pipeline: Option<Name>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum StateFilter {
    #[default]
    Open,
    Merged,
    Closed,
    All,
}

impl StateFilter {
    fn fits(self, state: &PlainState) -> bool {
        match self {
            Self::All => true,
            Self::Open => matches!(state, PlainState::Open),
            Self::Merged => matches!(state, PlainState::Merged { .. }),
            Self::Closed => matches!(state, PlainState::Closed { .. }),
        }
    }
}

/// What somebody writes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    /// In Markdown.
    body: String,
}

/// What a reviewer says.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Said {
    /// `approved` or `changesRequested`.
    #[schema(value_type = String)]
    verdict: Verdict,
    /// The commit that was looked at.
    #[schema(value_type = String)]
    head: CommitId,
    /// Why.
    why: Option<String>,
}

/// What shall be merged.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Merged {
    /// The commit that was looked at.
    #[schema(value_type = String)]
    head: CommitId,
    /// Why.
    why: Option<String>,
}

/// What shall be closed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Closed {
    /// The commit that was looked at. Missing: whatever is proposed by now.
    #[schema(value_type = Option<String>)]
    head: Option<CommitId>,
    /// Why.
    why: Option<String>,
}

/// List proposals that Weir keeps, by pipeline, environment and turn.
#[utoipa::path(get, path = "/proposals", tag = "proposals", params(Which, Paging),
    responses((status = 200, body = Page<ProposalSummary>), Failed))]
pub(super) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
    List { which, paging }: List<Which>,
) -> Result<Json<Page<ProposalSummary>>, Problem> {
    let visible = caller.looks(&shared, which.namespace.as_ref()).await?;
    let after = paging.place()?.map(|place| position(&place)).transpose()?;
    let mut page = Filling::new(&paging);
    shared.world().scan(None, |pipeline, known| {
        let named = which.pipeline.as_ref().is_none_or(|name| pipeline.name == *name);
        let before = after.as_ref().is_some_and(|(key, ..)| pipeline < key);
        if !named || before || !visible.sees(&pipeline.namespace) {
            return true;
        }
        for proposal in known.proposals().filter(|it| which.state.fits(&it.state)) {
            let key = (pipeline.clone(), proposal.key.environment.to_string(), proposal.key.ordinal);
            if after.as_ref().is_some_and(|after| key <= *after) {
                continue;
            }
            let place = || format!("{} {} {}", key.0, key.1, key.2);
            if !page.add(place, || ProposalSummary::from(proposal)) {
                return false;
            }
        }
        true
    });
    Ok(Json(page.page(&visible)))
}

fn position(place: &str) -> Result<(PipelineKey, String, u64), Problem> {
    let parts: Vec<_> = place.split(' ').collect();
    let [pipeline, environment, ordinal] = parts[..] else { return Err(unknown()) };
    let (pipeline, ordinal) = (pipeline.parse().map_err(|_| unknown())?, ordinal.parse().map_err(|_| unknown())?);
    Ok((pipeline, environment.to_owned(), ordinal))
}

/// Show all of a proposal.
#[utoipa::path(get, path = "/proposals/{namespace}/{name}", tag = "proposals",
    params(("namespace" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = ProposalView), Failed))]
pub(super) async fn show(
    State(shared): State<Shared>,
    caller: Caller,
    Path((namespace, name)): Path<(Namespace, Name)>,
) -> Result<Json<ProposalView>, Problem> {
    caller.must(&shared, Verb::View, &namespace).await?;
    let proposal = find::proposal(&shared, &namespace, &name).await?;
    Ok(Json(view(&shared, &proposal)))
}

/// Write something beneath a proposal.
#[utoipa::path(post, path = "/proposals/{namespace}/{name}/comments", tag = "proposals",
    params(("namespace" = String, Path), ("name" = String, Path)), request_body = Written,
    responses((status = 201, body = ProposalView), Failed))]
pub(super) async fn comment(
    State(shared): State<Shared>,
    caller: Caller,
    Path(path): Path<(Namespace, Name)>,
    Input(body): Input<Written>,
) -> Result<(StatusCode, Json<ProposalView>), Problem> {
    if body.body.trim().is_empty() {
        return Err(Problem::unprocessable("the comment is empty"));
    }
    let what = Review::Comment { body: body.body };
    // Whoever may do anything with it may say something about it.
    let proposal = act(&shared, &caller, path, &[Verb::Approve, Verb::Promote], None, what).await?;
    Ok((StatusCode::CREATED, Json(view(&shared, &proposal))))
}

/// Say what one thinks of a proposal, at the head that one looked at.
#[utoipa::path(post, path = "/proposals/{namespace}/{name}/reviews", tag = "proposals",
    params(("namespace" = String, Path), ("name" = String, Path)), request_body = Said,
    responses((status = 201, body = ProposalView), Failed))]
pub(super) async fn review(
    State(shared): State<Shared>,
    caller: Caller,
    Path(path): Path<(Namespace, Name)>,
    Input(body): Input<Said>,
) -> Result<(StatusCode, Json<ProposalView>), Problem> {
    let what = Review::Say { verdict: body.verdict, head: body.head };
    let proposal = act(&shared, &caller, path, &[Verb::Approve], body.why, what).await?;
    Ok((StatusCode::CREATED, Json(view(&shared, &proposal))))
}

/// Merge a proposal at the head that one looked at.
#[utoipa::path(post, path = "/proposals/{namespace}/{name}/merge", tag = "proposals",
    params(("namespace" = String, Path), ("name" = String, Path),
        ("Prefer" = Option<String>, Header, description = "`wait=SECONDS` or `respond-async`; 10 seconds if it is not said")),
    request_body = Merged,
    responses((status = 200, description = "It is merged", body = ProposalView),
        (status = 202, description = "It will be merged", body = ProposalView), Failed))]
pub(super) async fn merge(
    State(shared): State<Shared>,
    caller: Caller,
    Path(path): Path<(Namespace, Name)>,
    headers: HeaderMap,
    Input(body): Input<Merged>,
) -> Result<Response, Problem> {
    let asked = act(&shared, &caller, path, &[Verb::Promote], body.why, Review::Merge { head: body.head }).await?;
    let prefer = Prefer::read(&headers);
    let over = shared.wait(&asked.key.pipeline, prefer.time(MERGE), |known| {
        known.proposal(&asked.key).filter(|it| it.state != PlainState::Open).cloned()
    });
    let (status, proposal) = match over.await {
        Some(merged @ PlainProposal { state: PlainState::Merged { .. }, .. }) => (StatusCode::OK, merged),
        Some(closed) => {
            let name = promotion_name(&closed.key);
            return Err(Problem::conflict(format!("proposal `{name}` was closed before it could be merged")));
        }
        None => {
            let now = shared.world().look(&asked.key.pipeline, |known| known.proposal(&asked.key).cloned());
            (StatusCode::ACCEPTED, now.flatten().unwrap_or(asked))
        }
    };
    let mut response = (status, Json(view(&shared, &proposal))).into_response();
    if let Some(applied) = prefer.applied().and_then(|applied| HeaderValue::from_str(&applied).ok()) {
        response.headers_mut().insert("preference-applied", applied);
    }
    Ok(response)
}

/// Close a proposal: its release is not wanted.
#[utoipa::path(post, path = "/proposals/{namespace}/{name}/close", tag = "proposals",
    params(("namespace" = String, Path), ("name" = String, Path)), request_body = Option<Closed>,
    responses((status = 200, body = ProposalView), Failed))]
pub(super) async fn close(
    State(shared): State<Shared>,
    caller: Caller,
    Path(path): Path<(Namespace, Name)>,
    Input(body): Input<Closed>,
) -> Result<Json<ProposalView>, Problem> {
    let proposal = act(&shared, &caller, path, &[Verb::Promote], body.why, Review::Close { head: body.head }).await?;
    Ok(Json(view(&shared, &proposal)))
}

async fn act(
    shared: &Shared,
    caller: &Caller,
    (namespace, name): (Namespace, Name),
    any: &[Verb],
    why: Option<String>,
    what: Review,
) -> Result<PlainProposal, Problem> {
    let found = find::proposal(shared, &namespace, &name).await;
    // Whether it is there is for those to know who may do something with it, or with all that are in the namespace.
    let scope = found.as_ref().map_or(Scope::Namespace(&namespace), |it| Scope::Pipeline(&it.key.pipeline));
    caller.must_any(shared, any, scope).await?;
    let key = found?.key;
    Ok(shared.backend.review(&caller.asks(why), &key, what).await?)
}

/// A proposal, with what holds its promotion.
fn view(shared: &Shared, proposal: &PlainProposal) -> ProposalView {
    let (now, environment) = (shared.backend.now(), &proposal.key.environment);
    let told = shared.world().look(&proposal.key.pipeline, |known| {
        let name = promotion_name(&proposal.key);
        let theirs = known.snapshot().promotions.iter().filter(|it| {
            let id = it.leg.facts.proposal.as_ref().map(|it| &*it.id);
            it.key.environment == *environment && id == Some(&name) && it.release == proposal.release
        });
        let of = theirs.max_by_key(|it| it.key.ordinal);
        let open = of.filter(|_| proposal.state == PlainState::Open);
        let holds = open.map(|_| all(&holds_on_turn(known, environment, now))).unwrap_or_default();
        (of.map(|of| of.key.clone()), holds, open.map(|of| relation(known.snapshot(), of)))
    });
    let (of, holds, relation) = told.unwrap_or_default();
    ProposalView::new(proposal, of.as_ref(), holds, relation)
}
