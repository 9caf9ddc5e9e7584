//! Raw calls of the forge's API.

use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::Value;

use super::Account;

/// Gitea's API, as one account. It belongs to the runtime it is first used on: one for every test.
#[derive(Debug, Clone)]
pub struct GiteaApi {
    root: String,
    client: Client,
    name: String,
    /// Or a token: Gitea takes both as a password.
    password: String,
}

/// What the forge said, yes or no.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The body; text that is no JSON is a string.
    pub body: Value,
}

impl GiteaApi {
    pub(super) fn new(url: &str, account: &Account) -> Self {
        Self::signed_in(url, &account.name, &account.token)
    }

    pub(super) fn with_password(url: &str, account: &Account) -> Self {
        Self::signed_in(url, &account.name, &account.password)
    }

    fn signed_in(url: &str, name: &str, password: &str) -> Self {
        let client = Client::builder().no_proxy().timeout(super::super::wait::PATIENCE).build();
        let client = client.expect("a plain client can be made");
        Self { root: url.to_owned(), client, name: name.to_owned(), password: password.to_owned() }
    }

    /// What is at this path below `/api/v1`, such as `/repos/acme/config`. Panics if it is refused.
    pub async fn get_json(&self, path: &str) -> Value {
        self.send(Method::GET, path, None).await.success(path)
    }

    /// Posts a body there. Panics if it is refused.
    pub async fn post_json(&self, path: &str, body: &Value) -> Value {
        self.send(Method::POST, path, Some(body)).await.success(path)
    }

    /// Patches with a body there. Panics if it is refused.
    pub async fn patch_json(&self, path: &str, body: &Value) -> Value {
        self.send(Method::PATCH, path, Some(body)).await.success(path)
    }

    /// Puts a body there. Panics if it is refused.
    pub async fn put_json(&self, path: &str, body: &Value) -> Value {
        self.send(Method::PUT, path, Some(body)).await.success(path)
    }

    /// Deletes what is there. Panics if it is refused.
    pub async fn delete(&self, path: &str) {
        self.send(Method::DELETE, path, None).await.success(path);
    }

    /// Any call, and its answer, also if that is a refusal.
    pub async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        let mut request = self.request(method, &format!("/api/v1{path}"));
        if let Some(body) = body {
            request = request.json(body);
        }
        answer(request, path).await
    }

    /// Posts bytes to a path of the server. Panics if it is refused.
    pub(super) async fn upload(&self, path: &str, content: Vec<u8>) {
        answer(self.request(Method::POST, path).body(content), path).await.success(path);
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.root)).basic_auth(&self.name, Some(&self.password))
    }
}

impl Answer {
    fn success(self, path: &str) -> Value {
        assert!(self.status.is_success(), "Gitea refused `{path}`: {} {}", self.status, self.body);
        self.body
    }
}

async fn answer(request: RequestBuilder, path: &str) -> Answer {
    let answer = async {
        let response = request.send().await?;
        let status = response.status();
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok::<_, reqwest::Error>(Answer { status, body })
    };
    answer.await.unwrap_or_else(|error| panic!("Gitea did not answer `{path}`: {error}"))
}
