//! How a reconciliation is going, by the conditions that all Flux objects share.

use serde_json::Value;

/// What the conditions of an object say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Progress {
    /// The last reconciliation succeeded, and none is under way.
    Done,
    /// One is under way, or waits for something else.
    UnderWay,
    /// The last one failed, with this message.
    Failed(String),
}

/// Reasons of `Ready=False` that mean waiting, not failing.
const WAITING: [&str; 5] =
    ["DependencyNotReady", "SourceNotReady", "HealthCheckCanceled", "Progressing", "ProgressingWithRetry"];

/// What the conditions say about the generation of the spec that is there now.
pub(super) fn progress(object: &Value) -> Progress {
    let generation = object.pointer("/metadata/generation").and_then(Value::as_i64);
    let is_behind = |seen: Option<i64>| generation.is_some_and(|generation| seen.is_none_or(|seen| seen < generation));
    let ready = condition(object, "Ready");
    if object.pointer("/metadata/deletionTimestamp").is_some() {
        return Progress::UnderWay;
    }
    // A spec that Flux has not looked at yet (or never will, while it is suspended) says nothing about what runs. But it
    // counts a spec as observed only when it is done with it: while it fails and tries again, the condition alone says so.
    if is_behind(object.pointer("/status/observedGeneration").and_then(Value::as_i64)) {
        let failing = ready.filter(|it| !is_behind(observed(it)) && is_failure(it));
        return failing.map_or(Progress::UnderWay, |ready| Progress::Failed(message(ready)));
    }
    if let Some(stalled) = condition(object, "Stalled").filter(|it| status(it) == "True") {
        return Progress::Failed(message(stalled));
    }
    let Some(ready) = ready else { return Progress::UnderWay };
    if observed(ready).is_some() && is_behind(observed(ready)) {
        return Progress::UnderWay;
    }
    match status(ready) {
        _ if is_failure(ready) => Progress::Failed(message(ready)),
        "True" if !is(object, "Reconciling", "True") => Progress::Done,
        _ => Progress::UnderWay,
    }
}

/// The generation that a condition is about.
fn observed(condition: &Value) -> Option<i64> {
    condition.get("observedGeneration").and_then(Value::as_i64)
}

/// Whether `Ready` says that something failed.
fn is_failure(ready: &Value) -> bool {
    let reason = ready.get("reason").and_then(Value::as_str).unwrap_or_default();
    status(ready) == "False" && !WAITING.contains(&reason)
}

/// Whether a condition is there with that status.
pub(super) fn is(object: &Value, kind: &str, wanted: &str) -> bool {
    condition(object, kind).is_some_and(|condition| status(condition) == wanted)
}

/// A condition's message, or its reason if it has none.
pub(super) fn message_of(object: &Value, kind: &str) -> String {
    condition(object, kind).map(message).unwrap_or_default()
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    conditions.iter().find(|condition| condition.get("type").and_then(Value::as_str) == Some(kind))
}

fn status(condition: &Value) -> &str {
    condition.get("status").and_then(Value::as_str).unwrap_or("Unknown")
}

fn message(condition: &Value) -> String {
    let text = |field: &str| condition.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    text("message").or(text("reason")).unwrap_or("Flux gives no reason").to_owned()
}
