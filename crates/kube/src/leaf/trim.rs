//! What is kept of a workload: what is decided by, and nothing else.
//!
//! A HelmRelease can carry its values, a Kustomization an inventory of thousands; there may be a thousand of each on a
//! cluster. What remains is kept as text, which takes a fraction of what a tree of it takes.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, Value, json};
use weir_core::WorkloadKind;

use super::inventory;

/// A workload as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    text: Box<str>,
    /// The pipeline that its label names.
    pub(super) label: Option<Box<str>>,
    /// Changes when what it runs may have changed.
    pub(super) fingerprint: u64,
}

impl Kept {
    /// Keeps what counts of an object.
    pub(super) fn of(kind: WorkloadKind, object: &Value) -> Self {
        let trimmed = trim(kind, object);
        let label = weir_api::flux::pipeline_label(&trimmed).map(Into::into);
        Self { fingerprint: fingerprint(&trimmed), label, text: trimmed.to_string().into() }
    }

    /// What was kept, as an object.
    pub(super) fn object(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }

    /// How many bytes it takes.
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.text.len()
    }
}

const LABELS: [&str; 5] = [
    "pipelines.weave.works/pipeline",
    "pipelines.wego.weave.works/pipeline",
    super::labels::NAME,
    super::labels::ENVIRONMENT,
    super::labels::TARGET,
];
const CONDITIONS: [&str; 5] = ["Ready", "Reconciling", "Stalled", "TestSuccess", "Healthy"];
const RELEASE: [&str; 6] = ["version", "status", "action", "chartVersion", "ociDigest", "configDigest"];
/// One more than is ever shown, so that it can be seen that there was more.
const LONGEST_MESSAGE: usize = 1001;

fn trim(kind: WorkloadKind, object: &Value) -> Value {
    let mut labels = part(object, "/metadata/labels", &LABELS);
    let mut metadata = part(object, "/metadata", &["name", "namespace", "uid", "generation", "deletionTimestamp"]);
    if !labels.is_empty() {
        metadata.insert("labels".to_owned(), std::mem::take(&mut labels).into());
    }
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    json!({
        "apiVersion": text("apiVersion"),
        "kind": text("kind"),
        "metadata": metadata,
        "spec": spec(kind, object),
        "status": status(kind, object),
    })
}

fn spec(kind: WorkloadKind, object: &Value) -> Map<String, Value> {
    let mut spec = Map::new();
    if object.pointer("/spec/kubeConfig").is_some() {
        spec.insert("kubeConfig".to_owned(), json!({}));
    }
    match kind {
        WorkloadKind::Kustomization => {
            put(&mut spec, "sourceRef", reference(object, "/spec/sourceRef"));
        }
        WorkloadKind::HelmRelease => {
            put(&mut spec, "chartRef", reference(object, "/spec/chartRef"));
            put(&mut spec, "test", part(object, "/spec/test", &["enable", "ignoreFailures"]));
            let mut chart = part(object, "/spec/chart/spec", &["reconcileStrategy", "valuesFile"]);
            put(&mut chart, "sourceRef", reference(object, "/spec/chart/spec/sourceRef"));
            let files = object.pointer("/spec/chart/spec/valuesFiles").and_then(Value::as_array);
            // That there are some is all that counts.
            if files.is_some_and(|files| !files.is_empty()) {
                chart.insert("valuesFiles".to_owned(), json!([""]));
            }
            if !chart.is_empty() {
                spec.insert("chart".to_owned(), json!({"spec": chart}));
            }
        }
    }
    spec
}

fn status(kind: WorkloadKind, object: &Value) -> Map<String, Value> {
    let fields = ["observedGeneration", "lastAppliedRevision", "lastAttemptedRevision", "lastAttemptedRevisionDigest"];
    let mut status = part(object, "/status", &fields);
    let list = |path: &str| object.pointer(path).and_then(Value::as_array).into_iter().flatten();
    let conditions: Vec<Value> = list("/status/conditions").filter_map(condition).collect();
    status.insert("conditions".to_owned(), conditions.into());
    if kind == WorkloadKind::HelmRelease {
        let version = |entry: &Value| entry.get("version").and_then(Value::as_i64).unwrap_or_default();
        if let Some(newest) = list("/status/history").max_by_key(|entry| version(entry)) {
            status.insert("history".to_owned(), json!([part(newest, "", &RELEASE)]));
        }
    }
    if object.pointer("/status/inventory").is_some() {
        let entries: Vec<_> = list("/status/inventory/entries").filter(|it| inventory::runs_containers(it)).collect();
        status.insert("inventory".to_owned(), json!({"entries": entries}));
    }
    status
}

fn condition(condition: &Value) -> Option<Value> {
    let kind = condition.get("type").and_then(Value::as_str)?;
    if !CONDITIONS.contains(&kind) {
        return None;
    }
    let mut kept = part(condition, "", &["type", "status", "reason", "observedGeneration"]);
    let is = |status: &str| condition.get("status").and_then(Value::as_str) == Some(status);
    // What a success says is never shown.
    if (is("False") || kind == "Stalled")
        && let Some(message) = condition.get("message").and_then(Value::as_str)
    {
        let message: String = message.trim().chars().take(LONGEST_MESSAGE).collect();
        kept.insert("message".to_owned(), message.into());
    }
    Some(kept.into())
}

fn reference(object: &Value, path: &str) -> Map<String, Value> {
    part(object, path, &["apiVersion", "kind", "name", "namespace"])
}

/// These fields of what is at a path.
fn part(object: &Value, path: &str, fields: &[&str]) -> Map<String, Value> {
    let found = object.pointer(path);
    let fields = fields.iter().filter_map(|field| Some(((*field).to_owned(), found?.get(field)?.clone())));
    fields.collect()
}

fn put(map: &mut Map<String, Value>, field: &str, content: Map<String, Value>) {
    if !content.is_empty() {
        map.insert(field.to_owned(), content.into());
    }
}

fn fingerprint(trimmed: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    trimmed["metadata"]["uid"].to_string().hash(&mut hasher);
    trimmed["spec"].to_string().hash(&mut hasher);
    for (field, value) in trimmed["status"].as_object().into_iter().flatten() {
        if field != "conditions" {
            (field, value.to_string()).hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use weir_api::flux::{self, Context};

    use super::*;

    fn release() -> Value {
        json!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {
                "name": "podinfo", "namespace": "dev", "uid": "u", "generation": 3, "resourceVersion": "77",
                "labels": {"pipelines.weave.works/pipeline": "shop", "team": "a"},
                "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "x".repeat(4000)},
                "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {"f:values": {}}}}],
            },
            "spec": {
                "interval": "1m", "values": {"password": "s3cret", "long": "y".repeat(4000)},
                "chart": {"spec": {"chart": "podinfo", "valuesFiles": ["a.yaml", "b.yaml"],
                    "sourceRef": {"kind": "HelmRepository", "name": "charts"}}},
                "test": {"enable": true, "timeout": "5m"},
            },
            "status": {
                "observedGeneration": 3, "lastAttemptedRevision": "6.2.0+3",
                "conditions": [
                    {"type": "Ready", "status": "True", "reason": "TestSucceeded", "message": "Helm test succeeded",
                     "lastTransitionTime": "2024-01-01T00:00:00Z"},
                    {"type": "TestSuccess", "status": "True", "reason": "TestSucceeded"},
                    {"type": "Released", "status": "True", "reason": "UpgradeSucceeded"},
                ],
                "history": [
                    {"version": 1, "status": "superseded", "chartVersion": "6.1.0+2", "digest": "sha256:1"},
                    {"version": 2, "status": "deployed", "chartVersion": "6.2.0+3", "digest": "sha256:2"},
                ],
                "inventory": {"entries": [
                    {"id": "dev_podinfo_apps_Deployment", "v": "v1"}, {"id": "dev_podinfo__Service", "v": "v1"},
                ]},
            },
        })
    }

    #[test]
    fn what_is_kept_means_the_same() {
        let mut failed = release();
        failed["status"]["conditions"][0] =
            json!({"type": "Ready", "status": "False", "reason": "UpgradeFailed", "message": "ö".repeat(3000)});
        let mut suffixed = release();
        suffixed["spec"]["chart"]["spec"]["valuesFiles"] = json!([]);
        let mut tests = release();
        tests["status"]["conditions"][1] = json!({"type": "TestSuccess", "status": "False", "message": "no"});
        for object in [release(), failed, suffixed, tests] {
            let kept = Kept::of(WorkloadKind::HelmRelease, &object);
            let context = Context::default();
            assert_eq!(flux::workload(&kept.object(), &context), flux::workload(&object, &context));
        }
        let ours = json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": "shop", "namespace": "dev", "generation": 1},
            "spec": {"path": "./deploy", "sourceRef": {"kind": "OCIRepository", "name": "shop"}},
            "status": {
                "observedGeneration": 1, "lastAppliedRevision": "1.2.0@sha256:00", "lastAttemptedRevision": "1.2.0@sha256:00",
                "conditions": [{"type": "Ready", "status": "True"}, {"type": "Healthy", "status": "False", "message": "m"}],
                "history": [{"digest": "d", "metadata": {"revision": "1.2.0"}}],
            },
        });
        let kept = Kept::of(WorkloadKind::Kustomization, &ours);
        let context = Context::default();
        assert_eq!(flux::workload(&kept.object(), &context), flux::workload(&ours, &context));
        assert!(kept.object().pointer("/status/history").is_none());
    }

    #[test]
    fn what_is_not_needed_goes() {
        let kept = Kept::of(WorkloadKind::HelmRelease, &release());
        assert_eq!(kept.label.as_deref(), Some("shop"));
        assert!(kept.size() < 1000, "{}: {}", kept.size(), kept.text);
        for gone in ["s3cret", "managedFields", "last-applied", "Service", "superseded", "team", "Helm test succeeded"]
        {
            assert!(!kept.text.contains(gone), "{gone}: {}", kept.text);
        }
        let entries = kept.object()["status"]["inventory"]["entries"].clone();
        assert_eq!(entries, json!([{"id": "dev_podinfo_apps_Deployment", "v": "v1"}]));
    }

    #[test]
    fn the_fingerprint_changes_with_what_runs_and_with_nothing_else() {
        let print = |object: &Value| Kept::of(WorkloadKind::HelmRelease, object).fingerprint;
        let before = print(&release());
        let mut other = release();
        other["metadata"]["resourceVersion"] = json!("78");
        other["status"]["conditions"][0]["reason"] = json!("UpgradeSucceeded");
        assert_eq!(print(&other), before);
        for (path, value) in [
            ("/status/history/1/version", json!(3)),
            ("/status/lastAttemptedRevision", json!("6.3.0")),
            ("/status/observedGeneration", json!(4)),
            ("/status/inventory/entries/0/id", json!("dev_other_apps_Deployment")),
        ] {
            let mut changed = release();
            *changed.pointer_mut(path).unwrap() = value;
            assert_ne!(print(&changed), before, "{path}");
        }
    }
}
