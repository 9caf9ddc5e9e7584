//! A server with a world in memory.

use std::{collections::BTreeMap, fmt::Write as _, future::Future, net::SocketAddr, sync::Arc, time::Duration};

use aws_lc_rs::hmac;
use futures_util::StreamExt as _;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};
use weir_api::Object;
use weir_core::Actor;
use weir_engine::World;
use weir_ports::{CatalogNotice, Definition, Notice, Store as _};
use weir_server::{Authentication, Metrics, Parts, Server, Settings};
use weir_testkit::sim::{Sim, SimClusters, SimRepos, SimStore};

use crate::ports::{TestAccess, TestCatalog, TestJournal, TestPorts};

/// Everything that must never be shown contains this.
pub(crate) const SECRET: &str = "geheim";
pub(crate) const KEY: &str = "geheim-hmac-key";

pub(crate) struct House {
    pub(crate) address: SocketAddr,
    pub(crate) world: Arc<World>,
    pub(crate) store: SimStore,
    pub(crate) repos: SimRepos,
    pub(crate) clusters: SimClusters,
    pub(crate) catalog: TestCatalog,
    pub(crate) journal: Arc<TestJournal>,
    pub(crate) http: reqwest::Client,
    pub(crate) token: Option<String>,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) running: JoinHandle<std::io::Result<()>>,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) text: String,
    pub(crate) json: Value,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// The names of what is on a page.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.json["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
    }

    #[track_caller]
    pub(crate) fn problem(&self, status: u16) -> &str {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(self.json["status"], status);
        assert!(self.json["type"].as_str().unwrap().starts_with("urn:weir:problem:"));
        assert!(!self.json["title"].as_str().unwrap().is_empty());
        self.json["detail"].as_str().unwrap()
    }

    #[track_caller]
    pub(crate) fn ok(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text);
        self
    }
}

impl House {
    /// On loopback, open to everybody on the machine.
    pub(crate) async fn open() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let house = Self::build(change).await;
        house.ready();
        house.follow();
        house
    }

    pub(crate) async fn tokens() -> Self {
        Self::with(|settings| settings.authentication = Authentication::Tokens).await
    }

    /// Before anything is known.
    pub(crate) async fn build(change: impl FnOnce(&mut Settings)) -> Self {
        Self::at("127.0.0.1:0", change).await
    }

    /// Where others can reach it.
    pub(crate) async fn elsewhere() -> Self {
        Self::at("0.0.0.0:0", |_| {}).await
    }

    async fn at(address: &str, change: impl FnOnce(&mut Settings)) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let actor = Actor::named("local");
        let mut settings = Settings::new(Authentication::Open { actor, port: address.port() });
        change(&mut settings);
        let sim = Sim::new(1);
        let metrics = Metrics::new();
        let ports = Arc::new(TestPorts::new(&sim, &metrics));
        let (world, journal) = (Arc::new(World::new(7)), Arc::new(TestJournal::default()));
        let all = Parts {
            ports: ports.clone(),
            world: world.clone(),
            journal: journal.clone(),
            access: Arc::new(TestAccess),
        };
        let server = Server::new(all, settings, metrics);
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(async move { server.serve(listener, async { drop(stopped.await) }).await });
        let catalog = ports.catalog.clone();
        catalog.put("default", "promotion-hmac", "hmac-key", KEY);
        let (store, repos, clusters) = (sim.store.clone(), sim.repos.clone(), sim.clusters.clone());
        // Redirects are never followed, and nothing of the environment's proxies is used.
        let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { address, world, store, repos, clusters, catalog, journal, http, token: None, stop: Some(stop), running }
    }

    /// Defines two pipelines.
    pub(crate) fn ready(&self) {
        self.define(include_str!("../../../../docs/examples/pipeline-pull-request.yaml"));
        self.define(SHOP);
        self.world.define(CatalogNotice::Listed);
        self.world.note(Notice::Listed);
    }

    /// Takes in whatever is written to the store.
    fn follow(&self) {
        let (world, mut notices) = (self.world.clone(), self.store.watch());
        tokio::spawn(async move {
            while let Some(notice) = notices.next().await {
                world.note(notice);
            }
        });
    }

    pub(crate) fn define(&self, yaml: &str) {
        let (manifests, errors) = weir_api::read("pipeline.yaml", yaml);
        assert!(errors.is_empty(), "{errors:?}");
        for manifest in manifests {
            if let Object::Pipeline(_, kind) = manifest.object {
                let pipeline = kind.to_core().unwrap();
                let signed = |name: &weir_core::EnvironmentName| {
                    let secret = kind.spec.hmac_secret(name.as_str())?;
                    Some((name.clone(), secret.parse().unwrap()))
                };
                let names = pipeline.environments().iter().map(|it| &it.name);
                let signed_with: BTreeMap<_, _> = names.filter_map(signed).collect();
                let definition = Definition { pipeline, version: None, signed_with };
                self.world.define(CatalogNotice::Defined(Arc::new(definition)));
            }
        }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("http://{}{path}", self.address));
        match &self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }

    pub(crate) fn act_as(&mut self, name: &str) {
        self.token = Some(format!("{SECRET}-{name}"));
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        answer(self.request(Method::GET, path).send().await.unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        answer(self.request(Method::POST, path).json(&body).send().await.unwrap()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        answer(self.request(Method::DELETE, path).send().await.unwrap()).await
    }

    /// An event, signed as Flux signs it.
    pub(crate) fn event(&self, path: &str, event: &Value) -> RequestBuilder {
        let body = event.to_string();
        let signature = sign("sha256", KEY, body.as_bytes());
        self.request(Method::POST, path).header("x-signature", signature).body(body)
    }

    pub(crate) async fn report(&self, environment: &str, event: &Value) -> Answer {
        let path = format!("/promotion/default/podinfo/{environment}");
        answer(self.event(&path, event).send().await.unwrap()).await
    }

    /// Stops the server, and waits until it has.
    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        soon(self.running).await.unwrap().unwrap();
    }
}

pub(crate) async fn answer(response: Response) -> Answer {
    let (status, headers) = (response.status(), response.headers().clone());
    let text = response.text().await.unwrap();
    assert!(!text.contains(SECRET), "a secret was shown: {text}");
    assert!(!format!("{headers:?}").contains(SECRET), "a secret was shown: {headers:?}");
    let json = serde_json::from_str(&text).unwrap_or(Value::Null);
    Answer { status, headers, text, json }
}

/// Whatever takes longer than this does not come.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what).await.expect("it takes too long")
}

pub(crate) fn sign(algorithm: &str, key: &str, body: &[u8]) -> String {
    let kind = match algorithm {
        "sha224" => hmac::HMAC_SHA224,
        "sha256" => hmac::HMAC_SHA256,
        "sha384" => hmac::HMAC_SHA384,
        _ => hmac::HMAC_SHA512,
    };
    let tag = hmac::sign(&hmac::Key::new(kind, key.as_bytes()), body);
    let mut text = format!("{algorithm}=");
    for byte in tag.as_ref() {
        write!(text, "{byte:02x}").unwrap();
    }
    text
}

/// That the HelmRelease `podinfo` was upgraded to a version at a second of a minute.
pub(crate) fn upgraded(version: &str, second: u8) -> Value {
    json!({
        "involvedObject": {
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "name": "podinfo", "namespace": "podinfo"
        },
        "severity": "info",
        "timestamp": format!("2026-08-07T16:12:{second:02}Z"),
        "message": "Helm upgrade succeeded",
        "reason": "UpgradeSucceeded",
        "metadata": {"revision": version},
        "reportingController": "helm-controller"
    })
}

/// A second pipeline: nothing signs its events, and its second environment wants an approval.
pub(crate) const SHOP: &str = "
apiVersion: pipelines.weave.works/v1alpha1
kind: Pipeline
metadata: {name: shop, namespace: team-a}
spec:
  appRef: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: shop}
  promotion:
    strategy: {pull-request: {type: git, url: 'https://geheim@git.example.org/config.git', baseBranch: main}}
  environments:
    - name: dev
      targets: [{namespace: shop-dev}]
    - name: prod
      targets: [{namespace: shop-prod}]
      gates: [{approval: {count: 1, groups: [release]}}]
";
