//! A cluster that targets can be on, as Weave's cluster controller describes it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::strategy::SecretRef;

/// Where the kubeconfig of the cluster is: exactly one of `secretRef` and `capiClusterRef`.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[kube(
    group = "gitops.weave.works",
    version = "v1alpha1",
    kind = "GitopsCluster",
    plural = "gitopsclusters",
    namespaced,
    status = "GitopsClusterStatus",
    derive = "PartialEq",
    doc = "A cluster that targets can be on.",
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Status", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].message"#),
    printcolumn(
        name = "ClusterConnectivity",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="ClusterConnectivity")].status"#
    )
)]
#[x_kube(
    validation = Rule::new("has(self.secretRef) || has(self.capiClusterRef)")
        .message("must provide a secretRef or capiClusterRef"),
    validation = Rule::new("!has(self.secretRef) || !has(self.capiClusterRef)")
        .message("cannot provide both secretRef and capiClusterRef")
)]
#[serde(rename_all = "camelCase")]
pub struct GitopsClusterSpec {
    /// A Secret in the same namespace with the kubeconfig in `value`, `value.yaml` or `kubeconfig`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretRef>,
    /// A cluster of Cluster API in the same namespace. Its kubeconfig is in the Secret `NAME-kubeconfig`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capi_cluster_ref: Option<SecretRef>,
}

impl GitopsClusterSpec {
    /// The Secret with the kubeconfig, in the namespace of the `GitopsCluster`.
    pub fn kubeconfig_secret(&self) -> Option<String> {
        let own = self.secret_ref.as_ref().map(|secret| secret.name.clone());
        own.or_else(|| self.capi_cluster_ref.as_ref().map(|cluster| format!("{}-kubeconfig", cluster.name)))
    }
}

/// What the cluster controller says about a cluster.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[schemars(inline)]
pub struct GitopsClusterStatus {
    /// `Ready`, `ClusterConnectivity` and others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Vec<Condition>>,
}
