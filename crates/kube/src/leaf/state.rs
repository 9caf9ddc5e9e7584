//! How an object is doing, by what its status says.

use serde_json::Value;
use weir_ports::TreeState;

/// How an object of a kind is doing, and what has to be known about that.
pub(super) fn state(kind: &str, object: &Value) -> (TreeState, Option<String>) {
    let generation = number(object, "/metadata/generation");
    let observed = number(object, "/status/observedGeneration");
    if object.pointer("/metadata/deletionTimestamp").is_some() {
        return (TreeState::Progressing, Some("it is being deleted".to_owned()));
    }
    match kind {
        "CronJob" => (TreeState::Healthy, None),
        "Job" => job(object),
        "Pod" => pod(object),
        _ if observed.is_some_and(|observed| Some(observed) < generation) => {
            (TreeState::Progressing, Some("its last change has not been seen to yet".to_owned()))
        }
        "Deployment" | "StatefulSet" | "ReplicaSet" | "DaemonSet" => replicas(kind, object),
        _ => by_conditions(object),
    }
}

/// What Flux says of its own objects.
fn by_conditions(object: &Value) -> (TreeState, Option<String>) {
    let suspended = object.pointer("/spec/suspend").and_then(Value::as_bool) == Some(true);
    let told = |message: Option<&str>| match (suspended, message) {
        (true, Some(message)) => Some(format!("suspended; {message}")),
        (true, None) => Some("suspended".to_owned()),
        (false, message) => message.map(str::to_owned),
    };
    let Some((status, message)) = condition(object, "Ready") else {
        // A repository of OCI charts does nothing by itself, so Flux says nothing of it.
        let is_still = object.pointer("/spec/type").and_then(Value::as_str) == Some("oci");
        let state = if is_still { TreeState::Healthy } else { TreeState::Progressing };
        return (state, told((!is_still).then_some("Flux has said nothing of it yet")));
    };
    let reconciling = condition(object, "Reconciling").is_some_and(|(status, _)| status == "True");
    let state = match status {
        "True" => TreeState::Healthy,
        "False" if !reconciling => TreeState::Failed,
        _ => TreeState::Progressing,
    };
    (state, told(message.filter(|_| state != TreeState::Healthy)))
}

fn replicas(kind: &str, object: &Value) -> (TreeState, Option<String>) {
    let count = |path: &str| number(object, path).unwrap_or_default();
    let (wanted, ready) = match kind {
        "DaemonSet" => (count("/status/desiredNumberScheduled"), count("/status/numberReady")),
        _ => (number(object, "/spec/replicas").unwrap_or(1), count("/status/readyReplicas")),
    };
    let updated = match kind {
        "DaemonSet" => number(object, "/status/updatedNumberScheduled").unwrap_or_default(),
        "ReplicaSet" => wanted,
        _ => count("/status/updatedReplicas"),
    };
    if let Some(("False", message)) = condition(object, "Progressing") {
        return (TreeState::Failed, message.map(str::to_owned));
    }
    if ready >= wanted && updated >= wanted {
        return (TreeState::Healthy, None);
    }
    (TreeState::Progressing, Some(format!("{} of {wanted} are ready", ready.min(updated))))
}

fn job(object: &Value) -> (TreeState, Option<String>) {
    if let Some(("True", message)) = condition(object, "Failed") {
        return (TreeState::Failed, message.map(str::to_owned));
    }
    match condition(object, "Complete") {
        Some(("True", _)) => (TreeState::Healthy, None),
        _ => (TreeState::Progressing, None),
    }
}

fn pod(object: &Value) -> (TreeState, Option<String>) {
    let message = object.pointer("/status/message").and_then(Value::as_str).map(str::to_owned);
    match object.pointer("/status/phase").and_then(Value::as_str) {
        Some("Failed") => (TreeState::Failed, message),
        Some("Succeeded") => (TreeState::Healthy, None),
        _ => match condition(object, "Ready") {
            Some(("True", _)) => (TreeState::Healthy, None),
            _ => (TreeState::Progressing, message),
        },
    }
}

/// Whether a condition is so, and what it says.
fn condition<'a>(object: &'a Value, kind: &str) -> Option<(&'a str, Option<&'a str>)> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    let found = conditions.iter().find(|it| it.get("type").and_then(Value::as_str) == Some(kind))?;
    let message = found.get("message").and_then(Value::as_str).filter(|message| !message.is_empty());
    Some((found.get("status")?.as_str()?, message))
}

fn number(object: &Value, path: &str) -> Option<i64> {
    object.pointer(path)?.as_i64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_runs_containers_is_healthy_when_as_many_are_ready_as_are_wanted() {
        let deployment = |status: Value| {
            state("Deployment", &json!({"metadata": {"generation": 2}, "spec": {"replicas": 3}, "status": status}))
        };
        let settled = json!({"observedGeneration": 2, "readyReplicas": 3, "updatedReplicas": 3});
        assert_eq!(deployment(settled), (TreeState::Healthy, None));
        let under_way = json!({"observedGeneration": 2, "readyReplicas": 3, "updatedReplicas": 1});
        assert_eq!(deployment(under_way), (TreeState::Progressing, Some("1 of 3 are ready".to_owned())));
        assert_eq!(deployment(json!({"observedGeneration": 1, "readyReplicas": 3})).0, TreeState::Progressing);
        let stuck = json!([{"type": "Progressing", "status": "False", "message": "it takes too long"}]);
        let stuck = deployment(json!({"observedGeneration": 2, "conditions": stuck}));
        assert_eq!(stuck, (TreeState::Failed, Some("it takes too long".to_owned())));
        let daemons = json!({"status": {"desiredNumberScheduled": 2, "numberReady": 1, "updatedNumberScheduled": 2}});
        assert_eq!(state("DaemonSet", &daemons).1.unwrap(), "1 of 2 are ready");
    }

    #[test]
    fn jobs_and_pods_have_an_end() {
        let job = |kind: &str| {
            let condition = json!([{"type": kind, "status": "True", "message": "no"}]);
            state("Job", &json!({"status": {"conditions": condition}})).0
        };
        assert_eq!((job("Complete"), job("Failed")), (TreeState::Healthy, TreeState::Failed));
        assert_eq!(job("Suspended"), TreeState::Progressing);
        let pod = |phase: &str| state("Pod", &json!({"status": {"phase": phase}})).0;
        assert_eq!(
            [pod("Succeeded"), pod("Failed"), pod("Pending")].map(|it| it == TreeState::Healthy),
            [true, false, false]
        );
        assert_eq!(state("CronJob", &json!({})).0, TreeState::Healthy);
    }

    #[test]
    fn what_flux_says_of_its_own_counts() {
        let flux = |status: &str, reconciling: bool, suspend: bool| {
            let mut conditions = vec![json!({"type": "Ready", "status": status, "message": "words"})];
            conditions.extend(reconciling.then(|| json!({"type": "Reconciling", "status": "True"})));
            state("GitRepository", &json!({"spec": {"suspend": suspend}, "status": {"conditions": conditions}}))
        };
        assert_eq!(flux("True", false, false), (TreeState::Healthy, None));
        assert_eq!(flux("True", false, true), (TreeState::Healthy, Some("suspended".to_owned())));
        assert_eq!(flux("False", false, false), (TreeState::Failed, Some("words".to_owned())));
        assert_eq!(flux("False", true, false).0, TreeState::Progressing);
        assert_eq!(flux("Unknown", false, true), (TreeState::Progressing, Some("suspended; words".to_owned())));
        assert_eq!(state("HelmRepository", &json!({"spec": {"type": "oci"}})), (TreeState::Healthy, None));
        assert_eq!(state("HelmRepository", &json!({"spec": {}})).0, TreeState::Progressing);
        let going = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
        assert_eq!(state("HelmRelease", &going).1.unwrap(), "it is being deleted");
    }
}
