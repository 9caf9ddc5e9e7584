//! Pipelines from both groups, clusters, and the Secrets that they name.
//!
//! Every follower has watches of its own, and puts together what is in force (`view`). A Pipeline that is being deleted
//! is no longer defined from that moment on, so that whatever is open for it is closed; its finalizer
//! ([`Finalizers`](super::Finalizers)) keeps the object until then. Secrets are read one by one, by name, when they are
//! needed; they are never listed or watched, so Weir needs no right to do so.

mod view;

use futures_core::Stream;
use futures_util::{StreamExt as _, stream};
use k8s_openapi::api::core::v1;
use kube::{Api, Client};
use weir_api::{GitopsCluster, Pipeline, PipelineGroup};
use weir_core::{ClusterKey, Name, Namespace, PipelineKey};
use weir_ports::{Catalog, CatalogError, CatalogNotice, ClusterError, ManifestUnread, Secret};

use super::{
    fault,
    pipelines::{GROUPS, PipelineObject, resource},
};
use crate::follow::{Need, follow};
use view::View;

/// The pipelines of a cluster, followed as they change.
#[derive(Clone)]
pub struct HubCatalog {
    client: Client,
}

impl HubCatalog {
    /// The pipelines of the cluster that this client talks to.
    pub fn new(client: Client) -> Self {
        Self { client }
    }
}

impl Catalog for HubCatalog {
    fn watch(&self) -> impl Stream<Item = CatalogNotice> + Send + Unpin + 'static {
        let follow = |group| {
            let need = if group == PipelineGroup::Weave { Need::Required } else { Need::Optional };
            follow::<PipelineObject>(&self.client, &resource(group), need).map(move |event| (group, event)).boxed()
        };
        let mut view = View::default();
        let events = stream::select_all(GROUPS.map(follow));
        events.flat_map(move |(group, event)| stream::iter(view.take(group, event))).boxed()
    }

    async fn kubeconfig(&self, cluster: &ClusterKey) -> Result<Option<Name>, ClusterError> {
        let failed = |reason| ClusterError { cluster: cluster.clone(), reason };
        let clusters: Api<GitopsCluster> = Api::namespaced(self.client.clone(), cluster.namespace.as_str());
        let found = match clusters.get_opt(cluster.name.as_str()).await {
            Ok(found) => found,
            Err(error) => return Err(failed(fault::sentence(&error))),
        };
        let Some(found) = found else { return Ok(None) };
        let secret = found.spec.kubeconfig_secret();
        let secret = secret.ok_or_else(|| failed("it has neither `secretRef` nor `capiClusterRef`".to_owned()))?;
        Name::new(&secret).map(Some).map_err(|error| failed(error.to_string()))
    }

    async fn manifest(&self, pipeline: &PipelineKey) -> Result<Option<String>, ManifestUnread> {
        let failed = |reason| ManifestUnread { pipeline: pipeline.clone(), reason };
        for group in GROUPS {
            let (home, resource) = (pipeline.namespace.as_str(), resource(group));
            let objects: Api<PipelineObject> = Api::namespaced_with(self.client.clone(), home, &resource);
            let found = objects.get_opt(pipeline.name.as_str()).await;
            if let Some(object) = found.map_err(|error| failed(fault::sentence(&error)))? {
                let object = Pipeline { metadata: object.metadata, spec: object.spec, status: None };
                return object.to_manifest(group).map(Some).map_err(failed);
            }
        }
        Ok(None)
    }

    async fn secret(&self, namespace: &Namespace, name: &Name) -> Result<Secret, CatalogError> {
        let secrets: Api<v1::Secret> = Api::namespaced(self.client.clone(), namespace.as_str());
        match secrets.get_opt(name.as_str()).await {
            Ok(Some(secret)) => {
                Ok(secret.data.into_iter().flatten().map(|(key, value)| (key, value.0)).collect::<Secret>())
            }
            Ok(None) => Err(CatalogError::NoSecret { namespace: namespace.clone(), name: name.clone() }),
            Err(error) => Err(CatalogError::Unavailable {
                namespace: namespace.clone(),
                name: name.clone(),
                reason: reason(&error, namespace, name),
            }),
        }
    }
}

/// Weir has no right to read Secrets by itself: whoever owns a namespace gives it one, for the Secrets that count.
fn reason(error: &kube::Error, namespace: &Namespace, name: &Name) -> String {
    if fault::is(error, 403) {
        return format!(
            "Weir may not `get` it; allow that with a Role in `{namespace}` for `secrets` with \
             `resourceNames: [{name}]`, bound to Weir's account"
        );
    }
    fault::sentence(error)
}
