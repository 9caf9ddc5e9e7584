//! A plain page for the browser: how far every pipeline is, and what a proposal changes. It only reads, and what it shows
//! comes from the API like for everybody else.

use axum::{
    Router,
    http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE},
    response::IntoResponse,
    routing::get,
};

use crate::state::Shared;

const PAGE: &str = include_str!("overview/page.html");
const SCRIPT: &str = include_str!("overview/page.js");
const STYLE: &str = include_str!("overview/page.css");

/// Nothing but what this server sends, and nobody may put it into a page of their own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page, at the addresses that people are sent to.
pub(crate) fn routes() -> Router<Shared> {
    let page = || async { file("text/html; charset=utf-8", PAGE) };
    Router::new()
        .route("/", get(page))
        .route("/proposals/{namespace}/{name}", get(page))
        .route("/overview/page.js", get(|| async { file("text/javascript; charset=utf-8", SCRIPT) }))
        .route("/overview/page.css", get(|| async { file("text/css; charset=utf-8", STYLE) }))
}

fn file(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(CONTENT_TYPE, kind), (CONTENT_SECURITY_POLICY, POLICY)], text)
}
