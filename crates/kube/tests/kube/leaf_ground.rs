//! Clusters with Flux's kinds on them, a catalog of clusters that a test changes, and somebody who follows.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_core::Stream;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams},
};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use weir_core::{
    Application, ClusterKey, EnvironmentName, Name, Namespace, PipelineKey, Sighting, TargetKey, Version, VersionRule,
    WorkloadKey, WorkloadState,
};
use weir_kube::leaf::{LeafSettings, Leaves};
use weir_ports::{
    Catalog, CatalogError, CatalogNotice, ClusterError, Clusters, Interest, ManifestUnread, Secret, Seen,
};
use weir_testkit::servers::{Cluster, Leaf};

use crate::ground::next;

/// The shared cluster with Flux's kinds, and nothing that acts on them.
pub(crate) async fn bare() -> &'static Cluster {
    static BARE: OnceCell<Leaf> = OnceCell::const_new();
    BARE.get_or_init(|| Leaf::builder("bare").controllers(&[]).start()).await.cluster()
}

/// Everything happens sooner.
pub(crate) fn quick() -> LeafSettings {
    let soon = Duration::from_millis(500);
    LeafSettings {
        grace: Duration::from_secs(1),
        probe: Duration::from_secs(1),
        kubeconfig: soon,
        undefined: soon,
        discovery: soon,
        ..LeafSettings::default()
    }
}

/// Clusters and Secrets, as a test says.
#[derive(Default)]
pub(crate) struct Directory {
    clusters: Mutex<BTreeMap<ClusterKey, Name>>,
    secrets: Mutex<BTreeMap<String, Secret>>,
    /// Set while it cannot be read.
    pub(crate) is_broken: AtomicBool,
    /// Who asked then.
    refused: Mutex<Vec<ClusterKey>>,
}

impl Directory {
    /// Defines a cluster with a Secret of the same name that has this kubeconfig.
    pub(crate) fn define(&self, cluster: &str, kubeconfig: &str) {
        self.put_secret(cluster, "value", kubeconfig);
        self.define_without_secret(cluster);
    }

    pub(crate) fn define_without_secret(&self, cluster: &str) {
        let name: Name = cluster.parse().unwrap();
        self.clusters.lock().unwrap().insert(key(cluster), name);
    }

    pub(crate) fn put_secret(&self, name: &str, key: &str, value: &str) {
        let secret: Secret = [(key.to_owned(), value.as_bytes().to_vec())].into_iter().collect();
        self.secrets.lock().unwrap().insert(name.to_owned(), secret);
    }

    /// How often a cluster was asked for while nothing could be read.
    pub(crate) fn refused(&self, cluster: &str) -> usize {
        self.refused.lock().unwrap().iter().filter(|it| **it == key(cluster)).count()
    }

    pub(crate) fn undefine(&self, cluster: &str) {
        self.clusters.lock().unwrap().remove(&key(cluster));
    }
}

fn key(cluster: &str) -> ClusterKey {
    ClusterKey { namespace: "fleet".parse().unwrap(), name: cluster.parse().unwrap() }
}

impl Catalog for Directory {
    fn watch(&self) -> impl Stream<Item = CatalogNotice> + Send + Unpin + 'static {
        futures_util::stream::pending()
    }

    async fn manifest(&self, _: &PipelineKey) -> Result<Option<String>, ManifestUnread> {
        Ok(None)
    }

    async fn kubeconfig(&self, cluster: &ClusterKey) -> Result<Option<Name>, ClusterError> {
        if self.is_broken.load(Ordering::Relaxed) {
            self.refused.lock().unwrap().push(cluster.clone());
            return Err(ClusterError { cluster: cluster.clone(), reason: "the hub is down".to_owned() });
        }
        Ok(self.clusters.lock().unwrap().get(cluster).cloned())
    }

    async fn secret(&self, namespace: &Namespace, name: &Name) -> Result<Secret, CatalogError> {
        let found = self.secrets.lock().unwrap().get(name.as_str()).cloned();
        found.ok_or_else(|| CatalogError::NoSecret { namespace: namespace.clone(), name: name.clone() })
    }
}

/// Leaves, and what somebody who follows them knows.
pub(crate) struct Eye {
    pub(crate) leaves: Leaves<Directory>,
    pub(crate) directory: Arc<Directory>,
    view: View,
}

type News = Box<dyn Stream<Item = Seen> + Send + Unpin>;

pub(crate) struct View {
    news: News,
    known: BTreeMap<(PipelineKey, TargetKey), Seen>,
    /// How often something was told.
    pub(crate) told: usize,
    /// How often it was that a target cannot be read.
    pub(crate) lost: usize,
}

impl View {
    pub(crate) fn new(leaves: &Leaves<Directory>) -> Self {
        Self { news: Box::new(leaves.watch()), known: BTreeMap::new(), told: 0, lost: 0 }
    }

    /// Follows until this is so for a target of a pipeline.
    pub(crate) async fn until(
        &mut self,
        pipeline: &str,
        target: &str,
        is: impl Fn(Option<&Sighting>) -> bool,
    ) -> Option<Sighting> {
        let key: (PipelineKey, TargetKey) = (pipeline.parse().unwrap(), target.parse().unwrap());
        loop {
            if let Some(seen) = self.known.get(&key)
                && is(seen.sighting.as_deref())
            {
                return seen.sighting.as_deref().cloned();
            }
            let known = self.known.get(&key).cloned();
            let news = tokio::time::timeout(Duration::from_secs(50), next(&mut self.news)).await;
            let seen = news.unwrap_or_else(|_| panic!("{pipeline} {target}: {known:#?}"));
            self.told += 1;
            self.lost += usize::from(error(seen.sighting.as_deref()).is_some());
            self.known.insert((seen.pipeline.clone(), seen.target.clone()), seen);
        }
    }

    pub(crate) fn sighting(&self, pipeline: &str, target: &str) -> Option<&Sighting> {
        self.known[&(pipeline.parse().unwrap(), target.parse().unwrap())].sighting.as_deref()
    }

    pub(crate) fn interest(&self, pipeline: &str, target: &str) -> &Arc<Interest> {
        &self.known[&(pipeline.parse().unwrap(), target.parse().unwrap())].interest
    }
}

impl Eye {
    pub(crate) fn new(settings: LeafSettings) -> Self {
        Self::with(settings, None)
    }

    pub(crate) fn with(settings: LeafSettings, local: Option<Client>) -> Self {
        let directory = Arc::new(Directory::default());
        let leaves = Leaves::new(Arc::clone(&directory), local, settings);
        Self { view: View::new(&leaves), leaves, directory }
    }

    /// Asks for a pipeline in these targets, which are all of the environment `dev`.
    pub(crate) fn want(
        &self,
        pipeline: &str,
        app: &str,
        version: Option<VersionRule>,
        targets: &[&str],
    ) -> Arc<Interest> {
        let interest = Arc::new(interest(app, version, targets));
        self.leaves.want(&pipeline.parse().unwrap(), Some(Arc::clone(&interest)));
        interest
    }

    /// Follows until a target can be read and this is so.
    pub(crate) async fn until(&mut self, pipeline: &str, target: &str, is: impl Fn(&Sighting) -> bool) -> Sighting {
        let readable = |seen: Option<&Sighting>| seen.is_some_and(|it| it.unreachable.is_none() && is(it));
        self.view.until(pipeline, target, readable).await.unwrap()
    }

    /// Follows until a target cannot be read for a reason with these words, and returns what is seen then.
    pub(crate) async fn until_lost(&mut self, pipeline: &str, target: &str, words: &str) -> Sighting {
        let lost = |seen: Option<&Sighting>| error(seen).is_some_and(|error| error.contains(words));
        self.view.until(pipeline, target, lost).await.unwrap()
    }

    /// Follows until nobody knows how to read a target.
    pub(crate) async fn until_undefined(&mut self, pipeline: &str, target: &str) {
        self.view.until(pipeline, target, |seen| seen.is_none()).await;
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }
}

fn error(seen: Option<&Sighting>) -> Option<&str> {
    seen?.unreachable.as_ref().map(|it| &*it.error)
}

/// An interest in a workload such as `HelmRelease/podinfo`, or in what is `labelled`.
pub(crate) fn interest(app: &str, version: Option<VersionRule>, targets: &[&str]) -> Interest {
    let application = match app {
        "labelled" => Application::Labelled,
        other => Application::Workload(other.parse().unwrap()),
    };
    let environment: EnvironmentName = "dev".parse().unwrap();
    let targets = targets.iter().map(|target| (target.parse().unwrap(), environment.clone())).collect();
    Interest { application, version, targets }
}

/// What is seen of a workload: its version, and whether it is healthy.
pub(crate) fn runs(sighting: &Sighting, workload: &str) -> Option<(String, bool)> {
    let key: WorkloadKey = workload.parse().unwrap();
    let workload = sighting.workloads.get(&key)?;
    let version = match &workload.version {
        Version::Revision(revision) => revision.to_string(),
        Version::Branch(name) => format!("branch {name}"),
        Version::Nothing => "nothing".to_owned(),
    };
    Some((version, workload.state == WorkloadState::Healthy))
}

/// Whether a workload is healthy in a version.
pub(crate) fn is(workload: &str, version: &str) -> impl Fn(&Sighting) -> bool {
    move |sighting| runs(sighting, workload) == Some((version.to_owned(), true))
}

pub(crate) fn images(sighting: &Sighting, workload: &str) -> Vec<String> {
    let key: WorkloadKey = workload.parse().unwrap();
    sighting.images.get(&key).into_iter().flatten().map(ToString::to_string).collect()
}

fn api(client: Client, namespace: &str, object: &Value) -> Api<DynamicObject> {
    let (group, version) = object["apiVersion"].as_str().unwrap().split_once('/').unwrap();
    let kind = object["kind"].as_str().unwrap();
    let plural = match kind {
        "GitRepository" => "gitrepositories".to_owned(),
        _ => format!("{}s", kind.to_lowercase()),
    };
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), &plural);
    Api::namespaced_with(client, namespace, &resource)
}

/// Applies an object and its status.
pub(crate) async fn put(cluster: &Cluster, namespace: &str, object: Value) {
    let api = api(cluster.client().await, namespace, &object);
    let name = object["metadata"]["name"].as_str().unwrap().to_owned();
    let parameters = PatchParams::apply("test").force();
    let mut spec = object.clone();
    spec.as_object_mut().unwrap().remove("status");
    // Who applies no labels does not own their absence either.
    if spec["metadata"]["labels"].as_object().is_some_and(serde_json::Map::is_empty) {
        spec["metadata"].as_object_mut().unwrap().remove("labels");
    }
    let generation = api.patch(&name, &parameters, &Patch::Apply(&spec)).await.unwrap().metadata.generation;
    let mut status = json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "status": object["status"]});
    if object["status"].is_object() {
        status["status"]["observedGeneration"] = json!(generation);
        api.patch_status(&name, &parameters, &Patch::Apply(&status)).await.unwrap();
    }
}

fn ready() -> Value {
    let now = "2024-01-01T00:00:00Z";
    json!([{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "m", "lastTransitionTime": now}])
}

/// A HelmRelease that was deployed in a version, with an inventory of these entries.
pub(crate) fn release(name: &str, pipeline: Option<&str>, version: &str, inventory: &[&str]) -> Value {
    let now = "2024-01-01T00:00:00Z";
    let labels: BTreeMap<_, _> = pipeline.map(|it| ("pipelines.weave.works/pipeline", it)).into_iter().collect();
    json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "interval": "1m",
            "chart": {"spec": {"chart": name, "sourceRef": {"kind": "HelmRepository", "name": "charts"}}},
        },
        "status": {
            "conditions": ready(), "lastAttemptedRevision": version,
            "history": [{
                "name": name, "namespace": "n", "version": 1, "status": "deployed", "chartName": name,
                "chartVersion": version, "configDigest": "sha256:1", "digest": "sha256:2",
                "firstDeployed": now, "lastDeployed": now,
            }],
            "inventory": {"entries": entries(inventory)},
        },
    })
}

/// A Kustomization that applied a revision of a source.
pub(crate) fn kustomization(name: &str, pipeline: Option<&str>, source: (&str, &str), revision: &str) -> Value {
    let labels: BTreeMap<_, _> = pipeline.map(|it| ("pipelines.wego.weave.works/pipeline", it)).into_iter().collect();
    json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {"name": name, "labels": labels},
        "spec": {"interval": "1m", "prune": false, "sourceRef": {"kind": source.0, "name": source.1}},
        "status": {"conditions": ready(), "lastAppliedRevision": revision, "lastAttemptedRevision": revision},
    })
}

fn entries(ids: &[&str]) -> Vec<Value> {
    ids.iter().map(|id| json!({"id": id, "v": "v1"})).collect()
}

/// A kubeconfig of an account that has exactly the rights of `deploy/manifests/leaf.yaml`, in one namespace or in all.
pub(crate) async fn kubeconfig_of_weir(cluster: &Cluster, namespace: &str, role: &str, everywhere: bool) -> String {
    let token = cluster.service_account(namespace, "weir-leaf").await;
    let user = format!("--serviceaccount={namespace}:weir-leaf");
    let role = format!("--clusterrole={role}");
    let mut words = vec!["create"];
    let scope = format!("--namespace={namespace}");
    if everywhere {
        words.extend(["clusterrolebinding", namespace, &role, &user]);
    } else {
        words.extend(["rolebinding", "weir-leaf", &role, &user, &scope]);
    }
    cluster.kubectl(&words).await;
    cluster.kubeconfig_with(&token)
}

/// A way to a cluster that can be blocked: what goes in comes out nowhere, and nobody is told.
pub(crate) struct Wire {
    address: std::net::SocketAddr,
    is_blocked: tokio::sync::watch::Sender<bool>,
    _task: tokio::task::JoinHandle<()>,
}

impl Wire {
    pub(crate) async fn to(cluster: &Cluster) -> Self {
        let far = cluster.url().replace("https://", "");
        let near = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = near.local_addr().unwrap();
        let (is_blocked, blocked) = tokio::sync::watch::channel(false);
        let task = async move {
            while let Ok((mut left, _)) = near.accept().await {
                let (far, mut blocked) = (far.clone(), blocked.clone());
                tokio::spawn(async move {
                    let mut right = None;
                    if !*blocked.borrow() {
                        let mut connection = tokio::net::TcpStream::connect(far).await.unwrap();
                        tokio::select! {
                            _ = tokio::io::copy_bidirectional(&mut left, &mut connection) => return,
                            _ = blocked.wait_for(|blocked| *blocked) => {}
                        }
                        right = Some(connection);
                    }
                    // Both ends stay open, for as long as the test lasts.
                    std::future::pending::<()>().await;
                    drop((left, right));
                });
            }
        };
        Self { address, is_blocked, _task: tokio::spawn(task) }
    }

    /// A kubeconfig that goes this way.
    pub(crate) fn kubeconfig(&self, cluster: &Cluster) -> String {
        cluster.kubeconfig().replace(&cluster.url(), &format!("https://{}", self.address))
    }

    pub(crate) fn block(&self, is_blocked: bool) {
        self.is_blocked.send_replace(is_blocked);
    }
}
