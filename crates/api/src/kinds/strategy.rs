//! How a release gets into an environment.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    address::{self, Address},
    patterns, schema,
};

/// How a release gets into an environment.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[x_kube(
    validation = Rule::new("!has(self.pullRequest) || !has(self.strategy) || !(has(self.strategy.pull__dash__request) \
        || has(self.strategy.push) || has(self.strategy.notification))")
        .message("write `strategy` or its older form `pullRequest`, not both").field_path(".pullRequest")
)]
#[serde(rename_all = "camelCase")]
pub struct PromotionRules {
    /// Whether a person has to approve. The same as a gate `approval` of one person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manual: Option<bool>,
    /// By what means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// An older form of `strategy.pull-request`. The type is that of the address's host, or `git`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<ShortPullRequest>,
    /// When a release may leave the environment before: when `any` or `all` of its targets run it, or a count of them,
    /// or a percentage. Default: `any`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::when")]
    pub when: Option<IntOrString>,
    /// Who merges a proposal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<Merge>,
    /// What happens to a promotion under way when a newer release is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,
    /// How long a delivered release may take to be healthy on every target, such as `30m`. Default: `1h`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32), regex(pattern = patterns::DURATION))]
    pub deploy_timeout: Option<String>,
}

/// By what means a promotion is carried out: at most one of `pull-request`, `push` and `notification`.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(
    validation = Rule::new(
        "[has(self.pull__dash__request), has(self.push), has(self.notification)].filter(one, one).size() <= 1"
    ).message("write only one of `pull-request`, `push` and `notification`")
)]
#[serde(rename_all = "camelCase")]
pub struct Strategy {
    /// Propose the change for review.
    #[serde(rename = "pull-request", default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<PullRequestStrategy>,
    /// Commit the change to the base branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push: Option<PushStrategy>,
    /// Send an event that somebody else acts on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification: Option<Notification>,
    /// A Secret in the pipeline's namespace whose `hmac-key` signs the events that are reported to Weir.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretRef>,
}

impl Strategy {
    /// The Secret with the `hmac-key`.
    pub fn hmac_secret(&self) -> Option<&str> {
        self.secret_ref.as_ref().map(|secret| secret.name.as_str())
    }
}

/// Where a pull request is opened.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[schemars(inline, extend("x-kubernetes-validations" = address::no_password()))]
#[serde(rename_all = "camelCase")]
pub struct PullRequestStrategy {
    /// What kind of server keeps the proposals. `git` is any Git server: Weir keeps the proposals itself.
    #[serde(rename = "type")]
    pub type_: ForgeType,
    /// The address of the repository.
    #[schemars(length(min = 1, max = 2048), regex(pattern = patterns::REPOSITORY))]
    pub url: Address,
    /// The branch that the environment follows. Default: `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 244))]
    pub base_branch: Option<String>,
    /// A Secret in the pipeline's namespace that opens the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretRef>,
}

/// Where a commit is pushed.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[schemars(inline, extend("x-kubernetes-validations" = address::no_password()))]
#[serde(rename_all = "camelCase")]
pub struct PushStrategy {
    /// The address of the repository.
    #[schemars(length(min = 1, max = 2048), regex(pattern = patterns::REPOSITORY))]
    pub url: Address,
    /// The branch that the environment follows. Default: `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 244))]
    pub base_branch: Option<String>,
    /// A Secret in the pipeline's namespace that opens the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<SecretRef>,
}

/// The older form of a pull request.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[schemars(inline, extend("x-kubernetes-validations" = address::no_password()))]
#[serde(rename_all = "camelCase")]
pub struct ShortPullRequest {
    /// The address of the repository.
    #[schemars(length(min = 1, max = 2048), regex(pattern = patterns::REPOSITORY))]
    pub url: Address,
    /// The branch that the environment follows. Default: `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 244))]
    pub branch: Option<String>,
}

/// An event for somebody else to act on. It has no settings.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[schemars(inline)]
pub struct Notification {}

/// A Secret in the same namespace.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[schemars(inline)]
pub struct SecretRef {
    /// Its name.
    #[schemars(length(min = 1, max = 253), regex(pattern = patterns::NAME))]
    pub name: String,
}

/// The kinds of server that keep proposals.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[schemars(inline)]
#[serde(rename_all = "kebab-case")]
pub enum ForgeType {
    /// github.com or GitHub Enterprise.
    #[serde(rename = "github")]
    GitHub,
    /// gitlab.com or a GitLab of one's own.
    #[serde(rename = "gitlab")]
    GitLab,
    /// Gitea or Forgejo.
    Gitea,
    /// Bitbucket Data Center.
    BitbucketServer,
    /// bitbucket.org.
    BitbucketCloud,
    /// Azure DevOps.
    #[serde(rename = "azure-devops")]
    AzureDevOps,
    /// Any Git server.
    Git,
}

/// Who merges a proposal: people (`manual`), or Weir once every gate is open and every check has passed (`auto`).
/// Default: `manual`.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[schemars(inline)]
#[serde(rename_all = "lowercase")]
pub enum Merge {
    /// Weir.
    Auto,
    /// People.
    Manual,
}

/// What happens to a promotion that is approved or merging when a newer release is ready: it finishes first (`finish`),
/// or the newer one takes its place (`latest`). Default: `finish`.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[schemars(inline)]
#[serde(rename_all = "lowercase")]
pub enum Concurrency {
    /// It finishes first.
    Finish,
    /// The newer one takes its place.
    Latest,
}
