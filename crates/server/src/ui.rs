//! The web UI: files that `ui/` was built into, and that are part of the program. It is one page, which asks the API for
//! everything that it shows.

use axum::{
    Router,
    body::Body,
    extract::Path,
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY},
    },
    response::{IntoResponse as _, Response},
    routing::get,
};
use rust_embed::{Embed, EmbeddedFile};

use crate::{problem::Problem, state::Shared};

/// Empty, if the program was built without it.
#[derive(Embed)]
#[folder = "../../ui/dist/"]
#[allow_missing = true]
struct Files;

const PAGE: &str = "index.html";

/// Where the page shows something.
const PLACES: [&str; 12] = [
    "/",
    "/fleet",
    "/versions",
    "/promotions",
    "/promotions/{namespace}/{name}",
    "/proposals",
    "/proposals/{namespace}/{name}",
    "/define",
    "/drafts/{namespace}/{name}",
    "/freezes",
    "/pipelines/{namespace}/{name}",
    "/pipelines/{namespace}/{name}/history/{environment}",
];

/// Nothing but what this server sends, and nobody may put it into a page of their own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Files with a name that tells their content: they never change.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// The page at all its addresses, and its files.
pub(crate) fn routes() -> Router<Shared> {
    let router = PLACES.into_iter().fold(Router::new(), |router, place| router.route(place, get(page)));
    router.route("/icon.svg", get(|headers: HeaderMap| async move { file("icon.svg", &headers) })).route(
        "/assets/{name}",
        get(|Path(name): Path<String>, headers: HeaderMap| async move {
            let mut response = file(&format!("assets/{name}"), &headers);
            if response.status().is_success() {
                response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(FOR_EVER));
            }
            response
        }),
    )
}

async fn page(headers: HeaderMap) -> Response {
    if Files::get(PAGE).is_none() {
        let words = "this program was built without its web pages; build it with `make`, or use the command line";
        return Problem::not_found(words).into_response();
    }
    let mut response = file(PAGE, &headers);
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

/// The page, which says that there is nothing at an address that it does not know.
pub(crate) async fn missing(headers: &HeaderMap) -> Response {
    let mut response = page(headers.clone()).await;
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// A file, compressed where that is understood.
fn file(path: &str, headers: &HeaderMap) -> Response {
    let zipped = takes_gzip(headers).then(|| Files::get(&format!("{path}.gz"))).flatten();
    let is_zipped = zipped.is_some();
    let Some(EmbeddedFile { data, .. }) = zipped.or_else(|| Files::get(path)) else {
        return Problem::not_found(format!("there is nothing at `/{path}`")).into_response();
    };
    let mut response = (StatusCode::OK, Body::from(data.into_owned())).into_response();
    let found = response.headers_mut();
    found.insert(CONTENT_TYPE, HeaderValue::from_static(kind(path)));
    found.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if is_zipped {
        found.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, "q=1"));
        let weight = weight.trim().trim_start_matches("q=").parse();
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_ok_and(|weight: f32| weight > 0.0)
    })
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}
