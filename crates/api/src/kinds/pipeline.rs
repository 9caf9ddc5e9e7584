//! What people write: an application and the ordered environments it passes through.

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    gate::Gate,
    patterns,
    status::PipelineStatus,
    strategy::{PromotionRules, Strategy},
};

/// What is promoted, and through which environments.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "pipelines.weave.works",
    version = "v1alpha1",
    kind = "Pipeline",
    namespaced,
    status = "PipelineStatus",
    derive = "PartialEq",
    doc = "An application, or labelled workloads, and the ordered environments it passes through.",
    printcolumn(name = "App Kind", type_ = "string", json_path = ".spec.appRef.kind"),
    printcolumn(name = "App Name", type_ = "string", json_path = ".spec.appRef.name"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Status", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].message"#)
)]
#[x_kube(
    validation = Rule::new("self.environments.size() >= 1")
        .message("list at least one environment").field_path(".environments"),
    validation = Rule::new("self.environments.all(e, self.environments.exists_one(o, o.name == e.name))")
        .message("give each environment a name of its own").field_path(".environments"),
    validation = Rule::new("!has(self.version) || !has(self.version.from) || self.version.from != 'chart' \
        || !has(self.appRef) || self.appRef.kind != 'Kustomization'")
        .message("a Kustomization has no chart: use `from: source` or `image`").field_path(".version")
)]
#[serde(rename_all = "camelCase")]
pub struct PipelineSpec {
    /// The Flux object that is promoted, of the same name in every target. Without it, workloads join by the label
    /// `pipelines.weave.works/pipeline` with the pipeline's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_ref: Option<AppRef>,
    /// The environments, first to last. A release goes from each to the next.
    #[schemars(length(max = 32))]
    pub environments: Vec<Environment>,
    /// How a release gets into an environment, for all that do not say it themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promotion: Option<PromotionRules>,
    /// What counts as the version. Default: the chart of a HelmRelease, the source of a Kustomization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<VersionRule>,
    /// While true, nothing is written to Git, except that proposals are closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
}

// A type of its own, because a kind of `kube` has one group. It is transparent, so that the schema is the same.
/// What is promoted, and through which environments.
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "pipelines.wego.weave.works",
    version = "v1alpha1",
    kind = "Pipeline",
    root = "OlderPipeline",
    namespaced,
    status = "PipelineStatus",
    derive = "PartialEq",
    doc = "An application, or labelled workloads, and the ordered environments it passes through. \
           The older group of `pipelines.weave.works`.",
    printcolumn(name = "App Kind", type_ = "string", json_path = ".spec.appRef.kind"),
    printcolumn(name = "App Name", type_ = "string", json_path = ".spec.appRef.name"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Ready", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].status"#),
    printcolumn(name = "Status", type_ = "string", json_path = r#".status.conditions[?(@.type=="Ready")].message"#)
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct OlderPipelineSpec(pub PipelineSpec);

impl From<OlderPipeline> for Pipeline {
    fn from(older: OlderPipeline) -> Self {
        Self { metadata: older.metadata, spec: older.spec.0, status: older.status }
    }
}

/// A Flux object, by kind and name.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct AppRef {
    /// Its group and version. The version may be another than the one that a cluster serves.
    #[schemars(length(min = 1, max = 253))]
    pub api_version: String,
    /// Its kind.
    pub kind: AppKind,
    /// Its name, the same in every target.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::NAME))]
    pub name: String,
}

/// The kinds of Flux object that can be promoted.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[schemars(inline)]
pub enum AppKind {
    /// A Helm release.
    HelmRelease,
    /// A Kustomization.
    Kustomization,
}

/// A step of the pipeline.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[x_kube(
    validation = Rule::new("!has(self.promotion) || has(self.promotion.strategy) || has(self.promotion.pullRequest)")
        .message("an environment's promotion replaces the pipeline's whole: give it a `strategy` of its own")
        .field_path(".promotion")
)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    /// Its name, part of branches and markers.
    #[schemars(length(min = 1, max = 63), regex(pattern = patterns::ENVIRONMENT))]
    pub name: String,
    // That each is listed once is checked when it is read: a set of objects would make server-side apply fail.
    /// Where it runs. Each target is listed once.
    #[schemars(length(max = 512))]
    pub targets: Vec<Target>,
    /// How a release gets into this environment. Replaces the pipeline's `promotion` whole, but inherits `when`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promotion: Option<PromotionRules>,
    /// What has to be true before a release may enter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16))]
    pub gates: Option<Vec<Gate>>,
}

/// A namespace, on a cluster.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// The namespace of the workloads.
    #[schemars(length(min = 1, max = 63), regex(pattern = patterns::NAMESPACE))]
    pub namespace: String,
    /// The cluster. Default: the one that the pipeline lives on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_ref: Option<ClusterRef>,
}

/// A cluster, by the object that describes it.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRef {
    /// Its group and version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub api_version: Option<String>,
    /// Its kind.
    pub kind: ClusterKind,
    /// Its name.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::NAME))]
    pub name: String,
    /// Its namespace. Default: the pipeline's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63), regex(pattern = patterns::NAMESPACE))]
    pub namespace: Option<String>,
}

/// The kinds of object that describe a cluster.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[schemars(inline)]
pub enum ClusterKind {
    /// `gitops.weave.works`
    GitopsCluster,
}

/// What counts as the version of a workload: exactly one of `from` and `image`.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[x_kube(
    validation = Rule::new("has(self.from) != has(self.image)").message("write exactly one of `from` and `image`")
)]
#[serde(rename_all = "camelCase")]
pub struct VersionRule {
    /// Where the version is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<VersionFrom>,
    /// The tag of this container image, or its digest if it has no tag. The registry may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::IMAGE))]
    pub image: Option<String>,
}

/// The version of the chart, or of the source that Flux deploys from. Naming `source` makes a commit on a branch a
/// version: the next environment's source then has to be pinned to a commit.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[schemars(inline)]
#[serde(rename_all = "lowercase")]
pub enum VersionFrom {
    /// The Helm chart.
    Chart,
    /// The Flux source.
    Source,
}

impl VersionRule {
    /// The rule that promotions are decided by. `None`: the form of it says nothing.
    pub fn to_core(&self) -> Option<weir_core::VersionRule> {
        match (self.from, &self.image) {
            (Some(VersionFrom::Chart), _) => Some(weir_core::VersionRule::Chart),
            (Some(VersionFrom::Source), _) => Some(weir_core::VersionRule::Source),
            (None, Some(image)) => Some(weir_core::VersionRule::Image(image.as_str().into())),
            (None, None) => None,
        }
    }
}

impl PipelineSpec {
    /// The Secret with the `hmac-key` of events that are reported for an environment: the one that the environment's
    /// own promotion names, or else the pipeline's.
    pub fn hmac_secret(&self, environment: &str) -> Option<&str> {
        let own = self.environments.iter().find(|e| e.name == environment).and_then(|e| e.promotion.as_ref());
        [own, self.promotion.as_ref()]
            .into_iter()
            .flatten()
            .find_map(|rules| rules.strategy.as_ref().and_then(Strategy::hmac_secret))
    }
}
