//! A management cluster with Weir, and objects on it and on other clusters, in great numbers.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use futures_util::{StreamExt as _, stream};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use weir_testkit::servers::Cluster;

use crate::{measure, text};

/// How many requests are under way at once while something is set up.
const AT_ONCE: usize = 32;

/// How many namespaces share many objects.
const NAMESPACES: usize = 50;

/// A management cluster with everything that `weir install` brings.
pub(crate) struct Ground {
    hub: Cluster,
    client: Client,
    folder: TempDir,
}

/// A pipeline through environments, each told with its cluster and namespace.
pub(crate) fn pipeline(number: usize, targets: &[(&str, &str, &str)], url: Option<&str>) -> Value {
    let environments: Vec<_> = targets
        .iter()
        .map(|(environment, cluster, namespace)| {
            let cluster = json!({ "kind": "GitopsCluster", "name": cluster });
            json!({ "name": environment, "targets": [{ "namespace": namespace, "clusterRef": cluster }] })
        })
        .collect();
    let mut spec = json!({
        "appRef": { "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "name": format!("app-{number}") },
        "environments": environments,
    });
    if let Some(url) = url {
        let request = json!({
            "type": "gitea", "url": url, "baseBranch": "main", "secretRef": { "name": "promotion-credentials" },
        });
        spec["promotion"] = json!({ "strategy": { "pull-request": request } });
    }
    json!({
        "apiVersion": "pipelines.weave.works/v1alpha1", "kind": "Pipeline",
        "metadata": { "name": format!("app-{number}"), "namespace": "default" }, "spec": spec,
    })
}

/// A HelmRelease that Flux has deployed.
pub(crate) fn release(name: &str, version: &str) -> Value {
    let now = jiff::Timestamp::now().to_string();
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": { "name": name },
        "spec": {
            "interval": "10m",
            "chart": { "spec": { "chart": name, "sourceRef": { "kind": "HelmRepository", "name": "charts" } } },
            "values": { "replicas": 3, "message": "as long as values are", "resources": { "limits": { "memory": "1Gi" } } },
        },
        "status": {
            "conditions": [
                { "type": "Ready", "status": "True", "reason": "UpgradeSucceeded", "lastTransitionTime": now,
                  "message": "Helm upgrade succeeded for release" },
                { "type": "Released", "status": "True", "reason": "UpgradeSucceeded", "lastTransitionTime": now,
                  "message": "Helm upgrade succeeded for release" },
            ],
            "lastAttemptedRevision": version,
            "history": [{
                "name": name, "namespace": "n", "version": 1, "status": "deployed", "chartName": name,
                "chartVersion": version, "configDigest": "sha256:1", "digest": "sha256:2",
                "firstDeployed": now, "lastDeployed": now,
            }],
        },
    })
}

impl Ground {
    /// With these clusters defined, and these tokens in Secrets that Weir may read.
    pub(crate) async fn new(clusters: &[(&str, &Cluster)], tokens: &[(&str, &str)]) -> Self {
        let hub = Cluster::builder("hub").start().await;
        let mut install = Command::new(env!("CARGO_BIN_EXE_weir"));
        install.arg("install").env("KUBECONFIG", hub.kubeconfig_file()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(install.status().unwrap().success(), "`weir install` failed");
        let (client, folder) = (hub.client().await, TempDir::new().unwrap());
        let ground = Self { hub, client, folder };
        let mut names: Vec<_> = tokens.iter().map(|(name, _)| (*name).to_owned()).collect();
        for (name, token) in tokens {
            ground.secret(name, "token", token).await;
        }
        for (name, cluster) in clusters {
            let secret = format!("{name}-kubeconfig");
            ground.secret(&secret, "value", &cluster.kubeconfig()).await;
            let object = json!({
                "apiVersion": "gitops.weave.works/v1alpha1", "kind": "GitopsCluster",
                "metadata": { "name": name, "namespace": "default" }, "spec": { "secretRef": { "name": secret } },
            });
            ground.hub.apply(&object.to_string()).await;
            names.push(secret);
        }
        let rights = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/kubernetes/rights.yaml");
        let names = format!("[{}]", names.join(", "));
        let rights = fs::read_to_string(rights).unwrap();
        ground.hub.apply(&rights.replace("[promotion-credentials, dev-kubeconfig, prod-kubeconfig]", &names)).await;
        ground
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    async fn secret(&self, name: &str, key: &str, value: &str) {
        let metadata = json!({ "name": name, "namespace": "default" });
        let secret =
            json!({ "apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": { key: value } });
        self.hub.apply(&secret.to_string()).await;
    }

    /// The namespace of one of many.
    pub(crate) fn namespace(number: usize) -> String {
        format!("apps-{}", number % NAMESPACES)
    }

    pub(crate) async fn define(&self, pipeline: &Value) {
        put(&self.client, "default", pipeline).await;
    }

    pub(crate) async fn define_many(&self, count: usize, make: impl Fn(usize) -> Value) {
        let all = stream::iter(0..count).map(make).map(|it| async move { put(&self.client, "default", &it).await });
        all.buffer_unordered(AT_ONCE).collect::<Vec<_>>().await;
    }

    /// Has Flux deploy something.
    pub(crate) async fn deploy(&self, cluster: &Cluster, namespace: &str, object: &Value) {
        let client = cluster.client().await;
        if text(object, "/metadata/name") == "app-0" {
            make_namespace(cluster, namespace).await;
        }
        put(&client, namespace, object).await;
    }

    pub(crate) async fn deploy_many(&self, cluster: &Cluster, count: usize) {
        let client = cluster.client().await;
        for number in 0..NAMESPACES {
            make_namespace(cluster, &Self::namespace(number)).await;
        }
        let all = stream::iter(0..count).map(|number| {
            let client = &client;
            async move {
                put(client, &Self::namespace(number), &release(&format!("app-{number}"), "1.0.0")).await;
            }
        });
        all.buffer_unordered(AT_ONCE).collect::<Vec<_>>().await;
    }

    /// Weir, with the rights of an administrator.
    pub(crate) fn serve(&self) -> Serving {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
        command.arg("--data").arg(self.folder.path().join("cache")).env("KUBECONFIG", self.hub.kubeconfig_file());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let log = self.folder.path().join("log");
        std::thread::spawn(move || {
            let mut all = String::new();
            while let Some(Ok(line)) = lines.next() {
                all.extend([line.as_str(), "\n"]);
                fs::write(&log, &all).unwrap();
            }
        });
        Serving { child }
    }

    /// Waits until so many Pipelines tell this in their status.
    pub(crate) async fn until_status(&self, count: usize, words: &str) {
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), "default", &kind(&pipeline(0, &[], None)));
        let deadline = Instant::now() + Duration::from_mins(10);
        loop {
            let all = api.list(&kube::api::ListParams::default()).await.unwrap();
            let told = |it: &DynamicObject| text(&it.data, "/status/conditions/0/message").contains(words);
            if all.items.iter().filter(|it| told(it)).count() >= count {
                return;
            }
            assert!(Instant::now() < deadline, "never: {count} Pipelines tell {words}");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Waits until nothing has been written for a while.
    pub(crate) async fn until_quiet(&self) {
        loop {
            let before = self.writes().await;
            tokio::time::sleep(Duration::from_secs(20)).await;
            let after = self.writes().await;
            let same = |what: &str| what.contains("leases") || before.get(what) == after.get(what);
            if after.keys().all(|what| same(what)) {
                return;
            }
        }
    }

    /// How often the API server was asked to write, by verb and resource.
    pub(crate) async fn writes(&self) -> BTreeMap<String, f64> {
        let metrics = self.hub.kubectl(&["get", "--raw", "/metrics"]).await;
        let mut writes: BTreeMap<String, f64> = BTreeMap::new();
        for line in metrics.lines().filter(|line| line.starts_with("apiserver_request_total{")) {
            let label = |name: &str| {
                let (_, rest) = line.split_once(&format!("{name}=\"")).unwrap_or_default();
                rest.split('"').next().unwrap_or_default().to_owned()
            };
            let (verb, resource) = (label("verb"), label("resource"));
            let reads = matches!(verb.as_str(), "GET" | "LIST" | "WATCH" | "CONNECT");
            // What an API server does for itself.
            let own = resource.is_empty() || label("group") == "flowcontrol.apiserver.k8s.io";
            if !reads && !own {
                let count = line.rsplit(' ').next().and_then(|text| text.parse::<f64>().ok());
                *writes.entry(format!("{verb} {resource}")).or_default() += count.unwrap_or_default();
            }
        }
        writes
    }
}

async fn make_namespace(cluster: &Cluster, name: &str) {
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    cluster.apply(&namespace.to_string()).await;
}

fn kind(object: &Value) -> ApiResource {
    let version = text(object, "/apiVersion");
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &text(object, "/kind")))
}

/// Has an object, and its status.
async fn put(client: &Client, namespace: &str, object: &Value) {
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &kind(object));
    let name = text(object, "/metadata/name");
    let parameters = PatchParams::apply("bench").force();
    let mut spec = object.clone();
    spec.as_object_mut().unwrap().remove("status");
    let kept = api.patch(&name, &parameters, &Patch::Apply(&spec)).await.unwrap();
    if let Some(status) = object.get("status") {
        let mut status = json!({ "apiVersion": object["apiVersion"], "kind": object["kind"], "status": status });
        status["status"]["observedGeneration"] = json!(kept.metadata.generation);
        api.patch_status(&name, &parameters, &Patch::Apply(&status)).await.unwrap();
    }
}

/// A server that runs. It is killed when it is dropped.
pub(crate) struct Serving {
    child: Child,
}

impl Serving {
    /// Resident memory, in MB.
    pub(crate) fn memory(&self) -> String {
        measure::memory(self.child.id())
    }

    /// The processor time that it has taken.
    pub(crate) fn cpu(&self) -> Duration {
        measure::cpu(self.child.id())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
