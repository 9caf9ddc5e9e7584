//! A cluster with Weir's kinds on it.

use std::{future::poll_fn, pin::Pin, time::Duration};

use futures_core::Stream;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject},
};
use tokio::sync::OnceCell;
use weir_api::{OlderPipeline, Pipeline};
use weir_core::PipelineKey;
use weir_kube::hub::HubStore;
use weir_testkit::servers::{Cluster, Hub, shared};

const DEADLINE: Duration = Duration::from_mins(1);

/// A namespace of one's own on the shared cluster.
pub(crate) struct Ground {
    pub(crate) hub: &'static Hub,
    pub(crate) client: Client,
    pub(crate) namespace: String,
}

/// Lets a cluster know Weir's kinds.
pub(crate) async fn install(cluster: &Cluster) {
    for (_, yaml) in weir_api::crd_yaml() {
        cluster.apply(&yaml).await;
    }
    cluster.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]).await;
}

/// The shared cluster, with Weir's kinds.
pub(crate) async fn hub() -> &'static Hub {
    static READY: OnceCell<()> = OnceCell::const_new();
    let hub = shared::hub().await;
    READY.get_or_init(|| install(hub)).await;
    hub
}

pub(crate) async fn ground(name: &str) -> Ground {
    let hub = hub().await;
    Ground { hub, client: hub.client().await, namespace: hub.namespace(name).await }
}

/// The same on a cluster of its own, for what acts on everything that it finds. It ends with the process.
pub(crate) async fn ground_alone(name: &str) -> Ground {
    let hub: &'static Hub = Box::leak(Box::new(Cluster::start().await));
    install(hub).await;
    Ground { hub, client: hub.client().await, namespace: hub.namespace(name).await }
}

impl Ground {
    /// A store as another process would have it.
    pub(crate) fn store(&self) -> HubStore {
        HubStore::new(self.client.clone())
    }

    /// The key of a pipeline here.
    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}/{name}", self.namespace)
    }

    /// Defines a pipeline of two environments, and returns its key.
    pub(crate) async fn pipeline(&self, name: &str) -> String {
        self.define("pipelines.weave.works", name).await;
        self.key(name)
    }

    /// Defines a pipeline in a group.
    pub(crate) async fn define(&self, group: &str, name: &str) {
        let namespace = &self.namespace;
        let yaml = format!(
            "{{apiVersion: {group}/v1alpha1, kind: Pipeline, metadata: {{name: {name}, namespace: {namespace}}}, \
             spec: {{environments: [{{name: dev, targets: [{{namespace: {name}-dev}}]}}, \
             {{name: prod, targets: [{{namespace: {name}-prod}}]}}]}}}}"
        );
        self.hub.apply(&yaml).await;
    }

    /// The Pipelines here, as they are kept.
    pub(crate) fn pipelines(&self) -> Api<DynamicObject> {
        let kind = ApiResource::erase::<Pipeline>(&());
        Api::namespaced_with(self.client.clone(), &self.namespace, &kind)
    }

    /// The Pipelines of the older group here.
    pub(crate) fn older_pipelines(&self) -> Api<DynamicObject> {
        let kind = ApiResource::erase::<OlderPipeline>(&());
        Api::namespaced_with(self.client.clone(), &self.namespace, &kind)
    }

    /// The resource version of a Pipeline.
    pub(crate) async fn version(&self, name: &str) -> String {
        self.pipelines().get(name).await.unwrap().metadata.resource_version.unwrap()
    }
}

pub(crate) fn parsed(key: &str) -> PipelineKey {
    key.parse().unwrap()
}

/// What a stream tells next.
pub(crate) async fn next<S: Stream + Unpin>(stream: &mut S) -> S::Item {
    let next = poll_fn(|context| Pin::new(&mut *stream).poll_next(context));
    tokio::time::timeout(DEADLINE, next).await.expect("it tells something in time").expect("it does not end")
}
