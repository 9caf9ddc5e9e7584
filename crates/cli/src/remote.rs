//! A server that runs somewhere, and what it says.

mod follow;
mod progress;

use std::{fs, path::PathBuf, time::Duration};

use anyhow::{Context as _, Result, anyhow, bail};
use reqwest::{Method, Response, StatusCode, header};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use weir_core::{EnvironmentName, PipelineKey};

use crate::output;

pub(crate) use follow::{Follow, Told};
pub(crate) use progress::watch;

/// Which server is asked, and as whom.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Server {
    /// The address of the Weir server
    #[arg(long, env = "WEIR_SERVER", default_value = "http://127.0.0.1:8082", value_name = "URL")]
    server: String,
    /// File with the token to show it. Default: what the variable `WEIR_TOKEN` holds, if anything
    #[arg(long, env = "WEIR_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
}

/// A connection to a server.
pub(crate) struct Client {
    address: String,
    token: Option<SecretString>,
    http: reqwest::Client,
}

/// What the server says when something is wrong.
#[derive(serde::Deserialize)]
struct Problem {
    detail: String,
}

impl Server {
    pub(crate) fn client(&self) -> Result<Client> {
        let token = match &self.token_file {
            Some(file) => {
                let text = fs::read_to_string(file).with_context(|| format!("reading `{}` failed", file.display()))?;
                Some(text.trim().to_owned())
            }
            None => std::env::var("WEIR_TOKEN").ok().map(|text| text.trim().to_owned()),
        };
        let token = token.filter(|text| !text.is_empty()).map(SecretString::from);
        let address = self.server.trim_end_matches('/').to_owned();
        if !address.starts_with("http://") && !address.starts_with("https://") {
            bail!("`{address}` is not the address of a server: write it as `http://HOST:PORT` or `https://HOST`");
        }
        let http = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(5))
            .user_agent(concat!("weir/", env!("CARGO_PKG_VERSION")))
            .build()
            .context("preparing the connection failed")?;
        Ok(Client { address, token, http })
    }
}

impl Client {
    /// Asks for something.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, String)]) -> Result<T> {
        let request = self.request(Method::GET, path).query(query).timeout(Duration::from_mins(1));
        self.read(self.send(request).await?).await
    }

    /// Asks for a text.
    pub(crate) async fn text(&self, path: &str) -> Result<String> {
        let request = self.request(Method::GET, path).header(header::ACCEPT, "text/plain");
        let response = self.send(request.timeout(Duration::from_mins(1))).await?;
        response.text().await.context("reading the answer failed")
    }

    /// Has something done.
    pub(crate) async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T> {
        let request = self.request(Method::POST, path).json(body).timeout(Duration::from_mins(2));
        self.read(self.send(request).await?).await
    }

    /// Has something removed.
    pub(crate) async fn delete(&self, path: &str, query: &[(&str, String)]) -> Result<()> {
        let request = self.request(Method::DELETE, path).query(query).timeout(Duration::from_mins(1));
        self.send(request).await.map(drop)
    }

    /// Every item of a list that comes in pages, up to a limit. That something was left out is said.
    pub(crate) async fn list(&self, path: &str, query: &[(&str, String)], limit: Option<usize>) -> Result<Vec<Value>> {
        let mut items = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let mut asked = query.to_vec();
            asked.extend(next.take().map(|token| ("continue", token)));
            if let Some(limit) = limit {
                asked.push(("limit", limit.saturating_sub(items.len()).clamp(1, 500).to_string()));
            }
            let mut page: Value = self.get(path, &asked).await?;
            if let Some(Value::Array(found)) = page.get_mut("items").map(Value::take) {
                items.extend(found);
            }
            next = page.get("continue").and_then(Value::as_str).map(str::to_owned);
            if next.is_none() || limit.is_some_and(|limit| items.len() >= limit) {
                say_if_partial(&page);
                return Ok(items);
            }
        }
    }

    /// A stream that goes on until somebody ends it.
    pub(crate) async fn stream(&self, path: &str, since: Option<&str>) -> Result<Response> {
        let mut request = self.request(Method::GET, path).header(header::ACCEPT, "text/event-stream");
        if let Some(since) = since {
            request = request.header("Last-Event-ID", since);
        }
        self.send(request).await
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.address));
        match &self.token {
            Some(token) => request.bearer_auth(token.expose_secret()),
            None => request,
        }
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let problem: Option<Problem> = response.json().await.ok();
        let said = problem.map_or_else(|| format!("the server answered {status}"), |problem| problem.detail);
        Err(match status {
            StatusCode::UNAUTHORIZED => {
                anyhow!("{said}; put a token into WEIR_TOKEN, or name its file with --token-file")
            }
            _ => anyhow!(said),
        })
    }

    fn unreachable(&self, error: &reqwest::Error) -> anyhow::Error {
        let address = &self.address;
        if error.is_connect() {
            return anyhow!(
                "no Weir server answers at `{address}`; start one with `weir serve`, or name another with --server or \
                 WEIR_SERVER"
            );
        }
        let why = std::iter::successors(std::error::Error::source(error), |error| error.source()).last();
        let why = why.map_or_else(|| error.to_string(), ToString::to_string);
        anyhow!("asking `{address}` failed: {why}")
    }

    async fn read<T: DeserializeOwned>(&self, response: Response) -> Result<T> {
        let text = response.text().await.context("reading the answer failed")?;
        let text = if text.is_empty() { "null" } else { &text };
        serde_json::from_str(text)
            .with_context(|| format!("`{}` did not answer as a Weir server of this version does", self.address))
    }
}

/// Says that an answer is not everything, if it is not.
pub(crate) fn say_if_partial(answer: &Value) {
    if answer.get("partial") == Some(&Value::Bool(true)) {
        output::say("shown: what you may see; there are namespaces that you have no right to view");
    }
}

/// Runs what has to wait for others.
pub(crate) fn wait<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("starting the runtime failed")?.block_on(work)
}

/// A pipeline as people name it: `NAMESPACE/NAME`, or `NAME` in the namespace `default`.
pub(crate) fn pipeline(text: &str) -> Result<PipelineKey, weir_core::NameError> {
    if text.contains('/') { text.parse() } else { format!("default/{text}").parse() }
}

/// The address of a pipeline in the API.
pub(crate) fn pipeline_path(key: &PipelineKey) -> String {
    format!("/api/v1/pipelines/{}/{}", key.namespace, key.name)
}

/// The address of an environment in the API.
pub(crate) fn environment_path(key: &PipelineKey, environment: &EnvironmentName) -> String {
    format!("{}/environments/{environment}", pipeline_path(key))
}

/// A body with a reason, if there is one.
pub(crate) fn because(why: Option<&str>) -> Value {
    why.map_or_else(|| json!({}), |why| json!({ "why": why }))
}

/// The text at a place of an answer; empty if there is none.
pub(crate) fn text(value: &Value, pointer: &str) -> String {
    match value.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}
