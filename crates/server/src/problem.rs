//! What goes wrong, as RFC 9457 says it: one form for every error of every route.

use axum::{
    Json,
    http::{
        HeaderName, HeaderValue, StatusCode,
        header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;
use utoipa::ToSchema;
use weir_core::NamingError;
use weir_engine::{Denied, DraftError, NoDifference};
use weir_ports::{AccessError, ForgeError, ManifestUnread, RepoError, StoreError, Unseen};

use crate::view::Hold;

/// A request that was not served, and why.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// Which kind of problem: `urn:weir:problem:` and a word.
    #[serde(rename = "type")]
    kind: String,
    /// The kind in words.
    title: &'static str,
    /// The status code.
    status: u16,
    /// What is wrong, and what to do.
    detail: String,
    /// What holds a promotion, where that is the problem.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    holds: Vec<Hold>,
    #[serde(skip)]
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, word: &str, title: &'static str, detail: impl Into<String>) -> Self {
        let kind = format!("urn:weir:problem:{word}");
        Self { kind, title, status: status.as_u16(), detail: detail.into(), holds: Vec::new(), headers: Vec::new() }
    }

    /// What went wrong, for a person.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "There is no such thing", detail)
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", "The request cannot be read", detail)
    }

    pub(crate) fn unprocessable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "unprocessable", "The request makes no sense here", detail)
    }

    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", "It cannot be done now", detail)
    }

    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "It is not allowed", detail)
    }

    /// Nobody knows who asks.
    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "Nobody knows who asks", detail);
        problem.with(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"weir\""))
    }

    /// The signature of an event is missing or wrong.
    pub(crate) fn unsigned(detail: impl Into<String>) -> Self {
        Self::unsigned_in("X-Signature", detail)
    }

    /// The signature of an event, which belongs in this header, is missing or wrong.
    pub(crate) fn unsigned_in(header: &'static str, detail: impl Into<String>) -> Self {
        let problem =
            Self::new(StatusCode::UNAUTHORIZED, "signature", "The event is not signed as it should be", detail);
        problem.with(WWW_AUTHENTICATE, HeaderValue::from_static(header))
    }

    pub(crate) fn too_large(limit: usize) -> Self {
        let detail = format!("the body is longer than {limit} bytes, which is the most that is read");
        let problem = Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "The body is too long", detail);
        problem.with(CONNECTION, HeaderValue::from_static("close"))
    }

    pub(crate) fn too_slow() -> Self {
        let detail = "the body did not arrive in time; send it without a pause";
        let problem = Self::new(StatusCode::REQUEST_TIMEOUT, "too-slow", "The request took too long to arrive", detail);
        problem.with(CONNECTION, HeaderValue::from_static("close"))
    }

    /// It cannot be served now, but soon.
    pub(crate) fn unavailable(word: &str, detail: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, word, "It cannot be served at the moment", detail);
        problem.with(RETRY_AFTER, HeaderValue::from_static("2"))
    }

    pub(crate) fn holding(mut self, holds: &[weir_core::Hold]) -> Self {
        self.holds = holds.iter().map(Hold::from).collect();
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, headers) = (self.status(), self.headers.clone());
        let mut response = (status, Json(self)).into_response();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response.headers_mut().extend(headers);
        response
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Self {
        let said = denied.to_string();
        match denied {
            Denied::NoPipeline(_)
            | Denied::Naming(NamingError::Environment { .. })
            | Denied::NoProposal(_)
            | Denied::NoFreeze(_) => Self::not_found(said),
            Denied::Naming(_)
            | Denied::Request(_)
            | Denied::NoStrategy(_)
            | Denied::NoGate(_)
            | Denied::NeverSeen { .. } => Self::unprocessable(said),
            Denied::NotAnApprover { .. } => Self::forbidden(said),
            Denied::NothingUnderWay(_)
            | Denied::Overtaken { .. }
            | Denied::Arrived { .. }
            | Denied::NotOpen { .. }
            | Denied::BeingMerged(_)
            | Denied::Changed { .. }
            | Denied::FreezeExists(_) => Self::conflict(said),
            Denied::Held(holds) => Self::new(StatusCode::CONFLICT, "held", "Something holds it", said).holding(&holds),
            Denied::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Exists(_) | StoreError::Moved(_) => Self::conflict(format!("{error}; try again")),
            StoreError::Unavailable(_) => Self::unavailable("store", error.to_string()),
        }
    }
}

impl From<AccessError> for Problem {
    fn from(error: AccessError) -> Self {
        Self::unavailable("access", error.to_string())
    }
}

impl From<ManifestUnread> for Problem {
    fn from(error: ManifestUnread) -> Self {
        Self::unavailable("definitions", error.to_string())
    }
}

impl From<DraftError> for Problem {
    fn from(error: DraftError) -> Self {
        let said = error.to_string();
        match error {
            DraftError::NotReady => Self::unavailable("starting", said),
            DraftError::NoDraft(_) => Self::not_found(said),
            DraftError::Name(_) => Self::unprocessable(said),
            DraftError::Exists(_)
            | DraftError::OnBase { .. }
            | DraftError::Foreign(_)
            | DraftError::Changed { .. }
            | DraftError::Busy(_)
            | DraftError::OnForge(_)
            | DraftError::Access(_)
            | DraftError::Repository(
                RepoError::NoBranch { .. } | RepoError::Moved { .. } | RepoError::NoCommit { .. },
            )
            | DraftError::Forge(ForgeError::Moved { .. }) => Self::conflict(said),
            DraftError::Repository(_) => {
                Self::new(StatusCode::BAD_GATEWAY, "repository", "The repository cannot be read or written", said)
            }
            DraftError::Forge(_) => Self::new(StatusCode::BAD_GATEWAY, "forge", "The forge did not do it", said),
            DraftError::Store(error) => error.into(),
        }
    }
}

impl From<Unseen> for Problem {
    fn from(unseen: Unseen) -> Self {
        let said = unseen.to_string();
        match unseen {
            Unseen::NotWatched | Unseen::Gone(_) => Self::not_found(said),
            Unseen::Unreachable(_) => Self::unavailable("cluster", said),
        }
    }
}

impl From<NoDifference> for Problem {
    fn from(error: NoDifference) -> Self {
        let said = error.to_string();
        match error {
            NoDifference::NoRepository(_)
            | NoDifference::Access(_)
            | NoDifference::Repository(RepoError::NoCommit { .. }) => Self::conflict(said),
            NoDifference::Repository(_) => {
                Self::new(StatusCode::BAD_GATEWAY, "repository", "The repository cannot be read", said)
            }
        }
    }
}
