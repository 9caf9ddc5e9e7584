//! What people define: pipelines, clusters, and the Secrets that they name.

use std::{collections::BTreeMap, sync::Arc};

use futures_core::Stream;
use secrecy::SecretSlice;
use thiserror::Error;
use weir_core::{ClusterKey, EnvironmentName, Name, Namespace, Pipeline, PipelineKey, VersionRule};

use crate::Flaw;

/// The definitions. Weir only reads them.
pub trait Catalog: Send + Sync {
    /// Every pipeline that there is, then [`CatalogNotice::Listed`], then whatever changes.
    fn watch(&self) -> impl Stream<Item = CatalogNotice> + Send + Unpin + 'static;

    /// The Secret with the kubeconfig of a cluster, in the cluster's namespace. `None`: no such cluster is defined.
    fn kubeconfig(&self, cluster: &ClusterKey) -> impl Future<Output = Result<Option<Name>, ClusterError>> + Send;

    /// The definition of a pipeline as people wrote it, in YAML. `None`: there is none.
    fn manifest(&self, pipeline: &PipelineKey) -> impl Future<Output = Result<Option<String>, ManifestUnread>> + Send;

    /// A Secret, as it is now.
    fn secret(&self, namespace: &Namespace, name: &Name) -> impl Future<Output = Result<Secret, CatalogError>> + Send;
}

/// A pipeline as it is defined.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// What is decided by.
    pub pipeline: Pipeline,
    /// What counts as a version, if that is said.
    pub version: Option<VersionRule>,
    /// The Secrets whose `hmac-key` signs what is reported for an environment. Missing: nothing is signed.
    pub signed_with: BTreeMap<EnvironmentName, Name>,
}

/// What a watch of definitions tells.
#[derive(Debug, Clone, PartialEq)]
pub enum CatalogNotice {
    /// A pipeline is defined like this now.
    Defined(Arc<Definition>),
    /// A pipeline is no longer defined.
    Gone(PipelineKey),
    /// Everything that is wrong with the definitions at the moment. For what is wrong, the last that was right stays in
    /// force.
    Problems(Vec<Flaw>),
    /// Every pipeline that there was has been told.
    Listed,
}

/// The keys of a Secret. Never shown.
#[derive(Debug, Clone, Default)]
pub struct Secret(BTreeMap<String, SecretSlice<u8>>);

impl Secret {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&SecretSlice<u8>> {
        self.0.get(key)
    }

    /// The keys and their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &SecretSlice<u8>)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }
}

impl FromIterator<(String, Vec<u8>)> for Secret {
    fn from_iter<T: IntoIterator<Item = (String, Vec<u8>)>>(keys: T) -> Self {
        Self(keys.into_iter().map(|(key, value)| (key, value.into())).collect())
    }
}

/// Why a Secret cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CatalogError {
    /// There is none.
    #[error("there is no Secret `{namespace}/{name}`; create it, or correct the `secretRef` that names it")]
    NoSecret {
        /// Its namespace.
        namespace: Namespace,
        /// Its name.
        name: Name,
    },
    /// The definitions cannot be read at the moment.
    #[error("reading Secret `{namespace}/{name}` failed: {reason}")]
    Unavailable {
        /// Its namespace.
        namespace: Namespace,
        /// Its name.
        name: Name,
        /// What went wrong.
        reason: String,
    },
}

/// The definition of a pipeline cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("reading the definition of `{pipeline}` failed: {reason}")]
pub struct ManifestUnread {
    /// Which pipeline.
    pub pipeline: PipelineKey,
    /// What went wrong.
    pub reason: String,
}

/// The definition of a cluster cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("reading GitopsCluster `{cluster}` failed: {reason}")]
pub struct ClusterError {
    /// Which cluster.
    pub cluster: ClusterKey,
    /// What went wrong.
    pub reason: String,
}
