//! What Flux keeps count of in an inventory, and the images in it.

use kube::api::ApiResource;
use serde_json::Value;
use weir_core::Namespace;

/// A kind of object that runs containers.
struct Runner {
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
    /// Where its pods are described.
    pods: &'static str,
}

const fn runner(group: &'static str, kind: &'static str, plural: &'static str, pods: &'static str) -> Runner {
    Runner { group, kind, plural, pods }
}

const RUNNERS: [Runner; 7] = [
    runner("apps", "Deployment", "deployments", "/spec/template/spec"),
    runner("apps", "StatefulSet", "statefulsets", "/spec/template/spec"),
    runner("apps", "DaemonSet", "daemonsets", "/spec/template/spec"),
    runner("apps", "ReplicaSet", "replicasets", "/spec/template/spec"),
    runner("batch", "Job", "jobs", "/spec/template/spec"),
    runner("batch", "CronJob", "cronjobs", "/spec/jobTemplate/spec/template/spec"),
    runner("", "Pod", "pods", "/spec"),
];

/// An object of an inventory that runs containers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) namespace: Namespace,
    pub(super) name: String,
    pub(super) resource: ApiResource,
    pods: &'static str,
}

impl Entry {
    /// Reads an entry. `None`: it runs no containers.
    pub(super) fn of(entry: &Value) -> Option<Self> {
        let text = |field: &str| entry.get(field).and_then(Value::as_str);
        let (namespace, name, group, kind) = identity(text("id")?)?;
        let runner = RUNNERS.iter().find(|it| it.group == group && it.kind == kind)?;
        let version = text("v").unwrap_or("v1").to_owned();
        let api_version = if group.is_empty() { version.clone() } else { format!("{group}/{version}") };
        let resource = ApiResource {
            group: group.to_owned(),
            version,
            api_version,
            kind: kind.to_owned(),
            plural: runner.plural.to_owned(),
        };
        Some(Self { namespace: Namespace::new(namespace).ok()?, name: name.to_owned(), resource, pods: runner.pods })
    }

    /// The images of its containers, in no order.
    pub(super) fn images<'a>(&self, object: &'a Value) -> impl Iterator<Item = &'a str> {
        let pods = object.pointer(self.pods);
        let lists = ["initContainers", "containers"].into_iter();
        let containers = lists.filter_map(move |list| pods?.get(list)?.as_array()).flatten();
        containers.filter_map(|container| container.get("image")?.as_str())
    }
}

/// Whether an entry runs containers.
pub(super) fn runs_containers(entry: &Value) -> bool {
    Entry::of(entry).is_some()
}

/// What runs containers in the inventory of a workload. `None`: it has no inventory.
pub(super) fn entries(workload: &Value) -> Option<Vec<Entry>> {
    let entries = workload.pointer("/status/inventory")?.get("entries").and_then(Value::as_array);
    Some(entries.into_iter().flatten().filter_map(Entry::of).collect())
}

/// Namespace, name, group and kind of `namespace_name_group_kind`. The name may hold `_`, the others cannot.
pub(super) fn identity(id: &str) -> Option<(&str, &str, &str, &str)> {
    let (namespace, rest) = id.split_once('_')?;
    let (rest, kind) = rest.rsplit_once('_')?;
    let (name, group) = rest.rsplit_once('_')?;
    Some((namespace, name, group, kind))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_is_namespace_name_group_and_kind() {
        assert_eq!(identity("dev_podinfo_apps_Deployment"), Some(("dev", "podinfo", "apps", "Deployment")));
        assert_eq!(identity("dev_podinfo__Service"), Some(("dev", "podinfo", "", "Service")));
        let role = "_system__podinfo_rbac.authorization.k8s.io_ClusterRole";
        assert_eq!(identity(role), Some(("", "system__podinfo", "rbac.authorization.k8s.io", "ClusterRole")));
        assert_eq!(identity("nonsense"), None);
        assert_eq!(identity("a_b_c"), None);
    }

    #[test]
    fn only_what_runs_containers_is_read() {
        for id in ["dev_a_apps_Deployment", "dev_a_batch_CronJob", "dev_a__Pod", "dev_a_apps_ReplicaSet"] {
            assert!(runs_containers(&json!({"id": id, "v": "v1"})), "{id}");
        }
        for id in
            ["dev_a__Service", "_a__Namespace", "dev_a_example.org_Deployment", "dev_a__Job", "_a_apps_Deployment"]
        {
            assert!(!runs_containers(&json!({"id": id, "v": "v1"})), "{id}");
        }
        let found =
            entries(&json!({"status": {"inventory": {"entries": [{"id": "d_a_batch_Job", "v": "v1"}]}}})).unwrap();
        assert_eq!((found[0].resource.api_version.as_str(), found[0].name.as_str()), ("batch/v1", "a"));
        assert_eq!(entries(&json!({"status": {}})), None);
        assert_eq!(entries(&json!({"status": {"inventory": {}}})), Some(Vec::new()));
    }

    #[test]
    fn images_are_found_where_a_kind_describes_its_pods() {
        let pods = json!({"containers": [{"image": "a:1"}, {"name": "none"}], "initContainers": [{"image": "b:2"}]});
        let images = |id: &str, object: Value| {
            let entry = Entry::of(&json!({"id": id, "v": "v1"})).unwrap();
            entry.images(&object).map(str::to_owned).collect::<Vec<_>>()
        };
        let expected = ["b:2", "a:1"];
        assert_eq!(images("d_a_apps_Deployment", json!({"spec": {"template": {"spec": pods}}})), expected);
        assert_eq!(images("d_a__Pod", json!({"spec": pods})), expected);
        let cron = json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": pods}}}}});
        assert_eq!(images("d_a_batch_CronJob", cron), expected);
        assert!(images("d_a_batch_Job", json!({"spec": {}})).is_empty());
    }
}
