//! Weir's kinds, rights and Deployment, put on a cluster with server-side apply.
//!
//! What others added to the objects stays. The kind `GitopsCluster` belongs to Weave's cluster controller: it is brought
//! along only if the cluster does not have it.

use std::time::Duration;

use kube::{
    Api, Client, Config,
    api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams},
    config::{KubeConfigOptions, KubeconfigError},
};
use serde_json::Value;
use thiserror::Error;

use crate::hub::sentence;

/// Who installs, to the API server.
const MANAGER: &str = "weir-install";

/// How long the API server may take to serve a kind.
const PATIENCE: Duration = Duration::from_mins(1);

/// The kind that is somebody else's.
const GITOPS_CLUSTERS: &str = "gitopsclusters.gitops.weave.works";

/// What stands in the manifest for the image.
const IMAGE: &str = "        image: weir\n";

const RIGHTS: [&str; 3] = [
    include_str!("../../../deploy/manifests/namespace.yaml"),
    include_str!("../../../deploy/manifests/rbac.yaml"),
    include_str!("../../../deploy/manifests/roles.yaml"),
];

const DEPLOYMENT: &str = include_str!("../../../deploy/manifests/weir.yaml");

/// What an installation did to an object, or would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Installed {
    /// It was not there.
    Created,
    /// It was different.
    Changed,
    /// It was like that already.
    Unchanged,
    /// It is somebody else's, and was left alone.
    Left,
}

/// Why an installation failed.
#[derive(Debug, Error)]
pub enum InstallError {
    /// There is no cluster to talk to.
    #[error("no cluster: {0}; set `KUBECONFIG`, or run on a cluster")]
    NoCluster(String),
    /// The kubeconfig does not know the context.
    #[error("the kubeconfig has no context `{0}`; `kubectl config get-contexts` lists those that it has")]
    NoContext(String),
    /// The API server does not let this account do it.
    #[error(
        "applying {object} failed: a right is missing: {reason}; have it run by somebody who may write that, or let \
         them apply what `weir install --export` prints"
    )]
    Forbidden {
        /// What.
        object: String,
        /// What it said.
        reason: String,
    },
    /// The API server refused.
    #[error("applying {object} failed: {reason}")]
    Refused {
        /// What.
        object: String,
        /// What it said.
        reason: String,
    },
    /// A kind is not served.
    #[error("the API server does not serve {0} after a minute; look at the conditions of its definition")]
    NotServed(String),
    /// A manifest of our own cannot be read.
    #[error("reading our own manifests failed: {0}")]
    Manifest(String),
}

/// Everything that is installed, as YAML documents. Without an image there is no Deployment.
pub fn manifests(image: Option<&str>) -> Vec<String> {
    let definitions = weir_api::crd_yaml().into_iter().map(|(_, text)| text);
    let deployment = image.map(|image| DEPLOYMENT.replace(IMAGE, &format!("        image: {image}\n")));
    definitions.chain(RIGHTS.map(str::to_owned)).chain(deployment).collect()
}

/// A client of the cluster that the kubeconfig names, or that this process runs on.
pub async fn client(context: Option<&str>) -> Result<Client, InstallError> {
    let config = match context {
        None => Config::infer().await.map_err(|error| InstallError::NoCluster(error.to_string()))?,
        Some(context) => {
            let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
            let config = Config::from_kubeconfig(&options).await;
            config.map_err(|error| match error {
                KubeconfigError::LoadContext(name) => InstallError::NoContext(name),
                error => InstallError::NoCluster(error.to_string()),
            })?
        }
    };
    Client::try_from(config).map_err(|error| InstallError::NoCluster(error.to_string()))
}

/// Applies everything, and waits until the kinds are served. `told` hears of every object as it is done.
pub async fn install(
    client: &Client,
    image: Option<&str>,
    is_dry: bool,
    mut told: impl FnMut(&str, Installed),
) -> Result<(), InstallError> {
    let mut definitions = Vec::new();
    for object in objects(image)? {
        let name = named(&object);
        if object.types.as_ref().is_some_and(|types| types.kind == "CustomResourceDefinition") {
            definitions.push(object.metadata.name.clone().unwrap_or_default());
        }
        told(&name, apply(client, object, is_dry).await?);
    }
    if !is_dry {
        served(client, &definitions).await?;
    }
    Ok(())
}

fn objects(image: Option<&str>) -> Result<Vec<DynamicObject>, InstallError> {
    let wrong = |error: &dyn std::fmt::Display| InstallError::Manifest(error.to_string());
    let mut objects = Vec::new();
    for text in manifests(image) {
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).map_err(|error| wrong(&error))?;
        for document in documents.into_iter().filter(|document| !document.is_null()) {
            objects.push(serde_json::from_value(document).map_err(|error| wrong(&error))?);
        }
    }
    Ok(objects)
}

fn named(object: &DynamicObject) -> String {
    let kind = object.types.as_ref().map(|types| types.kind.to_lowercase()).unwrap_or_default();
    format!("{kind} `{}`", object.metadata.name.as_deref().unwrap_or_default())
}

fn api(client: &Client, object: &DynamicObject) -> Option<Api<DynamicObject>> {
    let kind = GroupVersionKind::try_from(object.types.as_ref()?).ok()?;
    let resource = ApiResource::from_gvk(&kind);
    Some(match &object.metadata.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    })
}

async fn apply(client: &Client, object: DynamicObject, is_dry: bool) -> Result<Installed, InstallError> {
    let (words, name) = (named(&object), object.metadata.name.clone().unwrap_or_default());
    let refused = |error: &kube::Error| match error {
        kube::Error::Api(status) if status.code == 403 => {
            InstallError::Forbidden { object: words.clone(), reason: status.message.clone() }
        }
        error => InstallError::Refused { object: words.clone(), reason: sentence(error) },
    };
    let api = api(client, &object).ok_or_else(|| InstallError::Manifest(words.clone()))?;
    let before = api.get_opt(&name).await.map_err(|error| refused(&error))?;
    if name == GITOPS_CLUSTERS && before.as_ref().is_some_and(|before| !is_ours(before)) {
        return Ok(Installed::Left);
    }
    // A dry run makes no namespace, so nothing can be tried in one that is not there yet.
    if is_dry && before.is_none() {
        return Ok(Installed::Created);
    }
    let parameters = PatchParams { dry_run: is_dry, ..PatchParams::apply(MANAGER).force() };
    let after = api.patch(&name, &parameters, &Patch::Apply(object)).await.map_err(|error| refused(&error))?;
    let Some(before) = before else { return Ok(Installed::Created) };
    Ok(if content(before) == content(after) { Installed::Unchanged } else { Installed::Changed })
}

/// Whether it came from here: by this program, or by the manifests that it exports.
fn is_ours(object: &DynamicObject) -> bool {
    let by_us = object.metadata.managed_fields.iter().flatten().any(|entry| entry.manager.as_deref() == Some(MANAGER));
    let label = object.metadata.labels.as_ref().and_then(|labels| labels.get(weir_api::PART_OF));
    by_us || label.is_some_and(|name| name == "weir")
}

/// What an object says, apart from what the API server keeps beside it.
fn content(mut object: DynamicObject) -> Value {
    object.metadata.managed_fields = None;
    object.metadata.resource_version = None;
    object.metadata.generation = None;
    serde_json::to_value(object).unwrap_or_default()
}

async fn served(client: &Client, definitions: &[String]) -> Result<(), InstallError> {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &ApiResource::from_gvk(&kind));
    let wait = async {
        for name in definitions {
            while !api.get(name).await.is_ok_and(|it| is_established(&it)) {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
    };
    let names = || InstallError::NotServed(definitions.join(", "));
    tokio::time::timeout(PATIENCE, wait).await.map_err(|_| names())
}

fn is_established(definition: &DynamicObject) -> bool {
    let conditions = definition.data.pointer("/status/conditions").and_then(Value::as_array);
    let is_so = |it: &Value| it["type"] == "Established" && it["status"] == "True";
    conditions.is_some_and(|conditions| conditions.iter().any(is_so))
}
