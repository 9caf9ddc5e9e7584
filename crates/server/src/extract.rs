//! What handlers take from a request. Whatever cannot be read is a problem in the one form that there is.

use axum::{
    body::{Body, Bytes, HttpBody as _},
    extract::{self, FromRequest, FromRequestParts, Request},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE, request::Parts},
};
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;

use crate::{problem::Problem, settings::Limits, state::Shared};

/// The variables of a path. A path with one that makes no sense leads nowhere.
pub(crate) struct Path<T>(pub(crate) T);

/// The query.
pub(crate) struct Query<T>(pub(crate) T);

/// A body of JSON. An empty one is an empty object.
pub(crate) struct Input<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Shared> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self, Problem> {
        let read = extract::Path::<T>::from_request_parts(parts, state).await;
        read.map(|it| Self(it.0)).map_err(|error| Problem::not_found(error.body_text()))
    }
}

impl<T: DeserializeOwned + Send> FromRequestParts<Shared> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Shared) -> Result<Self, Problem> {
        let read = extract::Query::<T>::from_request_parts(parts, state).await;
        read.map(|it| Self(it.0)).map_err(|error| {
            let text = error.body_text();
            let reason = text.split_once(": ").map_or(text.as_str(), |(_, reason)| reason);
            Problem::bad_request(format!("the query cannot be read: {reason}"))
        })
    }
}

impl<T: DeserializeOwned> FromRequest<Shared> for Input<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &Shared) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read(body, &state.settings.limits).await?;
        let bytes = if bytes.is_empty() { Bytes::from_static(b"{}") } else { bytes };
        if !is_json(&parts.headers) {
            let detail = "the body has to be JSON: send `Content-Type: application/json`";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type", "The body is not JSON", detail));
        }
        let read = serde_json::from_slice(&bytes);
        read.map(Self).map_err(|error| Problem::bad_request(format!("the body cannot be read: {}", reason(&error))))
    }
}

/// What is wrong with a body. Where it is wrong is told if it is no JSON; people who filled in a field did not see any.
fn reason(error: &serde_json::Error) -> String {
    let (told, place) = (error.to_string(), format!(" at line {} column {}", error.line(), error.column()));
    if error.is_data() { told.strip_suffix(&place).unwrap_or(&told).to_owned() } else { told }
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(CONTENT_TYPE) else { return true };
    let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// Reads a body that is neither too long nor too slow.
pub(crate) async fn read(body: Body, limits: &Limits) -> Result<Bytes, Problem> {
    let too_large = || Problem::too_large(limits.body);
    if body.size_hint().lower() > limits.body as u64 {
        return Err(too_large());
    }
    let all = async {
        let mut read = Vec::new();
        let mut chunks = body.into_data_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|_| Problem::bad_request("the body broke off"))?;
            if read.len() + chunk.len() > limits.body {
                return Err(too_large());
            }
            read.extend_from_slice(&chunk);
        }
        Ok(read.into())
    };
    tokio::time::timeout(limits.body_timeout, all).await.unwrap_or_else(|_| Err(Problem::too_slow()))
}
