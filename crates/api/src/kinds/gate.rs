//! Conditions on entering an environment.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::patterns;

/// A condition on entering an environment: exactly one of `approval`, `window` and `soak`.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(
    validation = Rule::new("[has(self.approval), has(self.window), has(self.soak)].filter(one, one).size() == 1")
        .message("write exactly one of `approval`, `window` and `soak`")
)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// People have to agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalGate>,
    /// Only at certain times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowGate>,
    /// Only after some time in the environment before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soak: Option<SoakGate>,
}

/// How many people have to agree, who they may be, and for how long their word counts.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(
    validation = Rule::new("!has(self.count) || !has(self.users) || self.users.size() == 0 || (has(self.groups) && self.groups.size() > 0) || self.count <= self.users.size()")
        .message("`count` is more than there are `users`, so that it can never be met: name more of them, or `groups`")
)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalGate {
    /// How many have to agree. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub count: Option<i32>,
    /// The accounts that may. Default: everybody with the right to approve, unless `groups` names some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)))]
    pub users: Option<Vec<String>>,
    /// The groups whose members may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 253)))]
    pub groups: Option<Vec<String>>,
    /// Whether the person who asked for the promotion may approve it. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_author: Option<bool>,
    /// How long an approval counts, such as `24h`. Default: until the promotion ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32), regex(pattern = patterns::DURATION))]
    pub expires_after: Option<String>,
}

/// Open while a period of `allow` lasts (or if there is none) and no period of `deny` does.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[x_kube(
    validation = Rule::new("(has(self.allow) && self.allow.size() > 0) || (has(self.deny) && self.deny.size() > 0)")
        .message("list at least one period in `allow` or in `deny`")
)]
#[serde(rename_all = "camelCase")]
pub struct WindowGate {
    /// Open during these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub allow: Option<Vec<Period>>,
    /// Closed during these, whatever `allow` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub deny: Option<Vec<Period>>,
}

/// Stretches of time of the same length that begin by a schedule.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
pub struct Period {
    /// When it begins: a cron schedule of five fields, such as `0 9 * * MON-FRI`.
    #[schemars(length(min = 1, max = 128))]
    pub schedule: String,
    /// How long it lasts, such as `8h`. At least a minute.
    #[schemars(length(max = 32), regex(pattern = patterns::DURATION))]
    pub duration: String,
    /// The time zone of the schedule, such as `Europe/Berlin`. Default: `UTC`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub time_zone: Option<String>,
}

/// For how long a release has to be healthy in the environment before, without a break.
#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[schemars(inline)]
pub struct SoakGate {
    /// For how long, such as `1h30m`.
    #[schemars(length(max = 32), regex(pattern = patterns::DURATION))]
    pub duration: String,
}
