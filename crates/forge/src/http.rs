//! The one way to talk to a forge: one client for all requests with the same credentials to the same forge.
//!
//! A request that may be repeated is sent again, a few times, when the connection breaks or something before the forge
//! is in trouble. Where a forge wants fewer requests, nothing more is sent with these credentials until the time that it
//! names. Answers are read up to a limit, and kept where the forge can tell that they are still right. Credentials are
//! in one header, which is never shown; what a forge says is shown without them.

mod answer;
mod budget;
mod kept;
mod pool;
mod sign_in;

use std::{fmt, net::SocketAddr, time::Duration};

use jiff::{SignedDuration, Timestamp};
use reqwest::{
    Certificate, Method, Response, StatusCode, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, IF_NONE_MATCH},
    redirect,
};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use tokio::sync::Semaphore;
use weir_ports::{ForgeError, Scrub};

pub(crate) use answer::{Answer, cut};
use budget::{Asks, Budget, asks};
use kept::Kept;
pub(crate) use pool::Pool;
pub(crate) use sign_in::{Fingerprint, SignIn};

use crate::pace::Pace;

/// The longest answer that is read.
const LONGEST: usize = 16 << 20;

/// The longest body that is sent.
const LONGEST_SENT: usize = 1 << 20;

/// Talks to one forge with one set of credentials.
pub(crate) struct Client {
    http: reqwest::Client,
    /// Below this is the API.
    root: Url,
    /// The forge's address, for people.
    name: String,
    authorization: Option<HeaderValue>,
    scrub: Scrub,
    budget: Budget,
    kept: Kept,
    places: Semaphore,
    pub(crate) pace: Pace,
}

/// A request, and what it is for.
struct Request<'a> {
    doing: &'static str,
    method: Method,
    url: Url,
    body: Option<&'a Value>,
}

/// Why no answer came.
struct Broken {
    /// Whether the forge cannot have seen the request.
    unseen: bool,
    /// What went wrong, without anything secret.
    reason: String,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Client {
    /// A client for the API below a path of a forge, such as `api/v1`.
    pub(crate) fn new(site: &Url, api: &str, sign_in: SignIn, pace: &Pace) -> Result<Self, ForgeError> {
        let SignIn { authorization, certificates, scrub } = sign_in;
        let name = site.as_str().trim_end_matches('/').to_owned();
        let refused = |reason: String| ForgeError::Refused { forge: name.clone(), doing: "signing in", reason };
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("weir/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(pace.timeout.min(Duration::from_secs(10)))
            .timeout(pace.timeout)
            .redirect(redirect::Policy::custom(at_home));
        // Such names mean this machine (RFC 6761), which Git knows, and not every resolver does.
        if let Some(host) = site.host_str().filter(|host| host.ends_with(".localhost")) {
            builder = builder.resolve(host, SocketAddr::from(([127, 0, 0, 1], 0)));
        }
        if let Some(pem) = certificates {
            let read = Certificate::from_pem_bundle(pem.expose_secret().as_bytes());
            let read = read.ok().filter(|all| !all.is_empty());
            let read = read.ok_or_else(|| refused("`caFile` of the Secret holds no certificate".to_owned()))?;
            builder = builder.tls_certs_merge(read);
        }
        let http = builder.build().map_err(|error| refused(words(&error)))?;
        let mut root = site.clone();
        root.set_path(&format!("{}/{api}", site.path().trim_end_matches('/')));
        let (pace, places) = (pace.clone(), Semaphore::new(pace.at_once));
        let (budget, kept) = (Budget::default(), Kept::default());
        Ok(Self { http, root, name, authorization, scrub, budget, kept, places, pace })
    }

    /// Gets what is at a path, whose parts are escaped here.
    pub(crate) async fn get(
        &self,
        doing: &'static str,
        path: &[&str],
        query: &[(&str, &str)],
    ) -> Result<Answer, ForgeError> {
        let mut url = self.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.perform(&Request { doing, method: Method::GET, url, body: None }).await
    }

    /// Sends a body to a path.
    pub(crate) async fn send(
        &self,
        doing: &'static str,
        method: Method,
        path: &[&str],
        body: &Value,
    ) -> Result<Answer, ForgeError> {
        self.perform(&Request { doing, method, url: self.url(path), body: Some(body) }).await
    }

    /// The error that an answer is.
    pub(crate) fn fault(&self, doing: &'static str, answer: &Answer) -> ForgeError {
        let (forge, reason) = (self.name.clone(), self.scrub.clean(&answer.words()));
        match answer.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ForgeError::Unauthorized { forge, doing, reason },
            status if status.is_server_error() => ForgeError::Unreachable { forge, doing, reason },
            _ => ForgeError::Refused { forge, doing, reason },
        }
    }

    /// An answer that is not what it should be.
    pub(crate) fn unreadable(&self, doing: &'static str, why: impl fmt::Display) -> ForgeError {
        self.unreachable(doing, format!("its answer cannot be read: {why}"))
    }

    pub(crate) fn unreachable(&self, doing: &'static str, reason: String) -> ForgeError {
        ForgeError::Unreachable { forge: self.name.clone(), doing, reason }
    }

    /// The forge's address, for people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.root.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(path);
        }
        url
    }

    async fn perform(&self, request: &Request<'_>) -> Result<Answer, ForgeError> {
        let doing = request.doing;
        let body = request.body.map(Value::to_string);
        if let Some(length) = body.as_ref().map(String::len).filter(|length| *length > LONGEST_SENT) {
            let reason = format!("what would be sent has {length} bytes, and {LONGEST_SENT} is the most");
            return Err(ForgeError::Refused { forge: self.name.clone(), doing, reason });
        }
        let repeatable = request.method == Method::GET;
        let mut attempt = 1;
        loop {
            if let Some(until) = self.budget.spent(Timestamp::now()) {
                return Err(self.limited(doing, until));
            }
            let last = attempt >= self.pace.attempts;
            let pause = match self.once(request, body.clone()).await {
                Ok((answer, Asks::Nothing)) => return Ok(answer),
                Ok((_, Asks::Silence(until))) => {
                    self.budget.spend(until);
                    tracing::warn!(forge = self.name, %until, "the forge wants fewer requests");
                    return Err(self.limited(doing, until));
                }
                Ok((answer, Asks::Again(_))) if last || !repeatable => return Ok(answer),
                Ok((_, Asks::Again(pause))) => pause.and_then(|pause| pause.try_into().ok()),
                Err(broken) if last || !(repeatable || broken.unseen) => {
                    return Err(self.unreachable(doing, broken.reason));
                }
                Err(_) => None,
            };
            tokio::time::sleep(pause.unwrap_or_else(|| self.backoff(attempt))).await;
            attempt += 1;
        }
    }

    /// Sends a request, once.
    async fn once(&self, request: &Request<'_>, body: Option<String>) -> Result<(Answer, Asks), Broken> {
        let broken = |error: &reqwest::Error| Broken {
            unseen: error.is_connect() || error.is_builder(),
            reason: self.scrub.clean(&words(error)),
        };
        let _place = self.places.acquire().await;
        let Request { method, url, .. } = request;
        let mut sent = self.http.request(method.clone(), url.clone()).header(ACCEPT, "application/json");
        if let Some(authorization) = &self.authorization {
            sent = sent.header(AUTHORIZATION, authorization.clone());
        }
        if let Some(body) = body {
            sent = sent.header(CONTENT_TYPE, "application/json").body(body);
        }
        let tag = if *method == Method::GET { self.kept.tag(url) } else { None };
        if let Some(tag) = tag {
            sent = sent.header(IF_NONE_MATCH, tag);
        }
        let response = sent.send().await.map_err(|error| broken(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        if status == StatusCode::NOT_MODIFIED
            && let Some(answer) = self.kept.recall(url)
        {
            return Ok((answer, Asks::Nothing));
        }
        let wait = SignedDuration::try_from(self.pace.wait).unwrap_or(SignedDuration::MAX);
        let asked = asks(status, &headers, Timestamp::now(), wait);
        let total = headers.get("x-total-count").and_then(|value| value.to_str().ok()?.parse().ok());
        let body = read(response).await.map_err(|error| match error {
            Unread::Broken(error) => broken(&error),
            Unread::TooLong => Broken { unseen: false, reason: format!("the answer is longer than {LONGEST} bytes") },
        })?;
        let answer = Answer { status, total, body };
        if *method == Method::GET && status == StatusCode::OK {
            self.kept.keep(url, &headers, &answer);
        }
        Ok((answer, asked))
    }

    fn limited(&self, doing: &'static str, until: Timestamp) -> ForgeError {
        ForgeError::RateLimited { forge: self.name.clone(), doing, until }
    }

    /// Twice as long with every attempt, and up to a half longer, so that not all come back at once.
    fn backoff(&self, attempt: u32) -> Duration {
        let pause = self.pace.pause.saturating_mul(1 << attempt.saturating_sub(1).min(16));
        let share = getrandom::u32().unwrap_or_default() % 500;
        pause + pause / 1000 * share
    }
}

enum Unread {
    Broken(reqwest::Error),
    TooLong,
}

async fn read(mut response: Response) -> Result<Vec<u8>, Unread> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Unread::Broken)? {
        if body.len() + chunk.len() > LONGEST {
            return Err(Unread::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Follows a forge to where it has moved something, but never to another server: what is sent is for this one only.
fn at_home(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let stays = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if stays && attempt.previous().len() < 5 { attempt.follow() } else { attempt.stop() }
}

/// What went wrong, with its causes and without the address.
fn words(error: &reqwest::Error) -> String {
    let mut text = if error.is_timeout() { "it took too long".to_owned() } else { String::new() };
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = if text.is_empty() { said } else { format!("{text}: {said}") };
        }
        cause = error.source();
    }
    if text.is_empty() { "the request could not be sent".to_owned() } else { cut(&text, 300) }
}
