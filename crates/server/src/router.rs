//! Puts the routes together, with what stands before them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{MatchedPath, OriginalUri, Request, State},
    http::{
        HeaderValue, StatusCode,
        header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
    },
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};
use utoipa::{
    IntoResponses, OpenApi,
    openapi::{Content, Ref, RefOr, ResponseBuilder, security},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{api, caller::guard, probes, problem::Problem, state::Shared, ui, webhook};

/// What every route may answer beside what it is for.
pub(crate) struct Failed;

impl IntoResponses for Failed {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let content = Content::new(Some(RefOr::from(Ref::from_schema_name("Problem"))));
        let response = ResponseBuilder::new().description("It was not done, and why");
        let response = response.content("application/problem+json", content).build();
        BTreeMap::from([("default".to_owned(), RefOr::T(response))])
    }
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Weir",
        description = "Promotions for Flux: what runs where, what may go further, and why not.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(Problem))
)]
struct Document;

/// The document, and the routes that it describes.
pub(crate) fn router(shared: Shared) -> Router {
    // What is nowhere stands behind the guard too.
    let api = api::routes().fallback(nowhere).layer(from_fn_with_state(shared.clone(), guard));
    let open = OpenApiRouter::new()
        .routes(routes!(webhook::receive))
        .routes(routes!(webhook::forge::receive))
        .routes(routes!(probes::alive))
        .routes(routes!(probes::ready))
        .routes(routes!(probes::metrics));
    let (router, mut document) =
        OpenApiRouter::with_openapi(Document::openapi()).nest("/api/v1", api).merge(open).split_for_parts();
    secure(&mut document);
    let document: Arc<str> = document.to_json().unwrap_or_default().into();
    let show = move || async move { ([(CONTENT_TYPE, "application/json")], document.to_string()) };
    router
        .route("/api/openapi.json", get(show))
        .merge(ui::routes())
        .fallback(nowhere)
        .method_not_allowed_fallback(not_like_that)
        .layer(from_fn_with_state(shared.clone(), admit))
        .layer(from_fn_with_state(shared.clone(), finish))
        .with_state(shared)
}

/// Says in the document that the API wants a token, where the server does.
fn secure(document: &mut utoipa::openapi::OpenApi) {
    let bearer = security::Http::new(security::HttpAuthScheme::Bearer);
    let scheme = security::SecurityScheme::Http(bearer);
    document.components.get_or_insert_default().add_security_scheme("token", scheme);
    for (path, item) in &mut document.paths.paths {
        let operations = [&mut item.get, &mut item.post, &mut item.delete];
        for operation in operations.into_iter().flatten().filter(|_| path.starts_with("/api/v1/")) {
            let none: [&str; 0] = [];
            operation.security = Some(vec![security::SecurityRequirement::new("token", none)]);
        }
    }
}

/// There is nothing. People who look with a browser are told that on a page.
async fn nowhere(request: Request) -> Response {
    let accepted = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let path = path(&request);
    if accepted.contains("text/html") && !path.starts_with("/api/") && !is_event(path) && !path.starts_with("/assets/")
    {
        return ui::missing(request.headers()).await;
    }
    Problem::not_found(format!("there is nothing at `{path}`")).into_response()
}

async fn not_like_that(request: Request) -> Problem {
    let detail = format!("`{}` cannot be used with `{}`", path(&request), request.method());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", "It cannot be used like that", detail)
}

/// The path as it was asked for, whichever part of the routes it came to.
fn path(request: &Request) -> &str {
    request.extensions().get::<OriginalUri>().map_or(request.uri(), |uri| &uri.0).path()
}

/// Whether somebody reports something there.
fn is_event(path: &str) -> bool {
    path.starts_with("/promotion/") || path.starts_with("/hooks/")
}

/// Lets in as many as can be served. The rest is turned away at once, and comes back.
async fn admit(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let budget = match path {
        "/healthz" | "/readyz" | "/metrics" => None,
        path if is_event(path) => Some(&shared.events),
        _ => Some(&shared.requests),
    };
    let permit = budget.map(|budget| budget.clone().try_acquire_owned()).transpose();
    let Ok(_permit) = permit else {
        return Problem::unavailable("busy", "too many requests at once; try again soon").into_response();
    };
    let time: Duration = shared.settings.limits.request_timeout;
    match tokio::time::timeout(time, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::unavailable("timeout", "the request took too long; try again").into_response(),
    }
}

/// Counts what was answered, and says how it may be used.
async fn finish(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let method = match request.method().as_str() {
        method @ ("GET" | "HEAD" | "POST" | "DELETE" | "PUT" | "PATCH" | "OPTIONS") => method.to_owned(),
        _ => "other".to_owned(),
    };
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let event = is_event(request.uri().path());
    let mut response = next.run(request).await;
    let code = response.status().as_u16();
    shared.metrics.answered(method, route, code);
    if event {
        shared.metrics.webhook_answered(code);
    }
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
