//! The server on Kubernetes: a real API server, and the rights that are shipped.

use std::{collections::BTreeMap, fs, path::PathBuf, process::Command};

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};
use weir_testkit::servers::{Cluster, eventually, free_port};

use crate::server::{Running, Site, until};

const ENVIRONMENTS: &str = "  - {name: dev, targets: [{namespace: app}]}
  - {name: prod, targets: [{namespace: app, clusterRef: {kind: GitopsCluster, name: prod}}]}
";

/// Weir may read the one Secret that the pipeline names; ada may do everything with pipelines, and bob may look.
const RIGHTS: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: weir-secrets, namespace: default}
rules:
- {apiGroups: [''], resources: [secrets], resourceNames: [events], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: weir-secrets, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: weir-secrets}
subjects: [{kind: ServiceAccount, name: weir, namespace: weir-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ada, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: weir-operator}
subjects: [{kind: User, name: ada, apiGroup: rbac.authorization.k8s.io}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: bob, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: weir-viewer}
subjects: [{kind: User, name: bob, apiGroup: rbac.authorization.k8s.io}]
";

/// What a person asks the server, with their token.
fn ask(server: &Running, token: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let token = format!("Bearer {token}");
    let body = if method == "GET" { String::new() } else { body.to_string() };
    let answer = server.request(method, path, &[("Authorization", &token)], &body);
    (answer.code, serde_json::from_str(&answer.body).unwrap_or_default())
}

/// The cluster with everything on it that `weir install` brings, and a kubeconfig of Weir's own account.
async fn installed(site: &Site) -> (Cluster, PathBuf) {
    let cluster = Cluster::builder("serving").user("ada", &[]).user("bob", &[]).start().await;
    let output = Command::new(cargo_bin("weir")).arg("install").env("KUBECONFIG", cluster.kubeconfig_file()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    cluster.apply(RIGHTS).await;
    for file in ["secret.yaml", "app.yaml"] {
        cluster.apply(&fs::read_to_string(site.path("manifests").join(file)).unwrap()).await;
    }
    let token = cluster.kubectl(&["create", "token", "weir", "--namespace=weir-system"]).await;
    let kubeconfig = site.path("kubeconfig");
    fs::write(&kubeconfig, cluster.kubeconfig_with(token.trim())).unwrap();
    (cluster, kubeconfig)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_goes_from_an_event_to_prod_with_kubernetes_as_the_store() {
    let site = Site::new(ENVIRONMENTS, &["prod"]);
    let (cluster, kubeconfig) = installed(&site).await;
    let server = site.start_on(&kubeconfig);
    server.ready();
    let told = server.report("dev", "1.1.0", &[("Prefer", "wait=30")]);
    assert_eq!(told.code, 201, "{}\n{}", told.body, server.log());
    cluster.kubectl(&["wait", "--for=condition=Ready", "--timeout=30s", "pipeline.pipelines.weave.works/app"]).await;
    let proposals = cluster.kubectl(&["get", "proposals", "-o", "name"]).await;
    assert_eq!(proposals.trim(), "proposal.pipelines.weave.works/app-prod-1");

    // Whoever may not, is told so by what the API server knows.
    let path = "/api/v1/proposals/default/app-prod-1";
    assert_eq!(server.request("GET", path, &[], "").code, 401);
    let (code, seen) = ask(&server, cluster.token_of("bob"), "GET", path, &Value::Null);
    assert_eq!(code, 200, "{seen}");
    let head = json!({ "head": seen["head"], "why": "it is time" });
    assert_eq!(ask(&server, cluster.token_of("bob"), "POST", &format!("{path}/merge"), &head).0, 403);

    // What is kept survives whatever happens to the process.
    server.kill();
    let server = site.start_on(&kubeconfig);
    server.ready();
    let (code, merged) = ask(&server, cluster.token_of("ada"), "POST", &format!("{path}/merge"), &head);
    assert!(matches!(code, 200 | 202) && merged["mergeAskedBy"] == "ada", "{code} {merged}\n{}", server.log());
    // A process of another name acts when the Lease of the one that was killed has run out.
    until("it is merged", || {
        let (_, seen) = ask(&server, cluster.token_of("ada"), "GET", path, &Value::Null);
        seen["state"]["name"] == "merged"
    });
    assert_eq!(site.declared("prod"), "1.1.0");
    assert_eq!(server.report("prod", "1.1.0", &[]).code, 202);
    cluster
        .kubectl(&["wait", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=30s", "promotion/app-prod-1"])
        .await;
    let mut columns = String::new();
    for _ in 0..200 {
        columns = cluster.kubectl(&["get", "pipelines.pipelines.weave.works", "app"]).await;
        if columns.contains("prod 1.1.0") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(columns.contains("dev 1.1.0, prod 1.1.0"), "{columns}");
    let events = cluster.kubectl(&["get", "events", "-o", "jsonpath={.items[*].reason}"]).await;
    for reason in ["Proposed", "Delivered", "Succeeded"] {
        assert!(events.contains(reason), "{events}");
    }

    // A Pipeline that is deleted takes along what belongs to it.
    cluster.kubectl(&["delete", "pipelines.pipelines.weave.works", "app", "--timeout=30s"]).await;
    let left = cluster.kubectl(&["get", "promotions,proposals,observations", "-o", "name"]).await;
    assert_eq!(left.trim(), "");
    until("the server knows that it is gone", || {
        ask(&server, cluster.token_of("ada"), "GET", "/api/v1/pipelines/default/app", &Value::Null).0 == 404
    });
    server.stop();
}

/// What `kubectl` shows of the proposals: the titles, by name.
async fn titles(cluster: &Cluster) -> BTreeMap<String, String> {
    let all: Value = serde_json::from_str(&cluster.kubectl(&["get", "proposals", "-o", "json"]).await).unwrap();
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    all["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text(&it["metadata"]["name"]), text(&it["spec"]["title"])))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_share_the_pipelines_by_shards_and_one_takes_over_what_the_other_had() {
    const ACTS: &str = "this process acts for a shard";
    let names: Vec<_> = (0..8).map(|number| format!("app-{number}")).collect();
    let values: Vec<_> = names.iter().map(|name| (name.clone(), format!("default:{name}:prod"))).collect();
    let site = Site::declaring(ENVIRONMENTS, &values);
    let (cluster, kubeconfig) = installed(&site).await;
    let pipeline = fs::read_to_string(site.path("manifests/app.yaml")).unwrap();
    let all: Vec<_> = names.iter().map(|name| pipeline.replace("{name: app,", &format!("{{name: {name},"))).collect();
    cluster.apply(&all.join("---\n")).await;
    let servers = [free_port(), free_port()].map(|port| site.start_at(&kubeconfig, port, &["--shards", "8"]));
    servers.iter().for_each(Running::ready);
    for server in &servers {
        until("it has a share", || server.log().contains(ACTS));
    }
    // Whoever is told, the one who acts for the pipeline proposes.
    let title = |version: &str| {
        let of = |name: &String| (format!("{name}-prod-1"), format!("Promote {name} {version} to prod"));
        names.iter().map(of).collect::<BTreeMap<_, _>>()
    };
    for (name, server) in names.iter().zip(servers.iter().cycle()) {
        assert_eq!(server.report_of(name, "dev", "1.1.0", &[]).code, 202);
    }
    let until_proposed = async |version: &str| {
        eventually(&format!("{version} of all is proposed"), async || {
            let found = titles(&cluster).await;
            if found == title(version) { Ok(()) } else { Err(format!("{found:?}")) }
        })
        .await;
    };
    until_proposed("1.1.0").await;
    let [killed, left] = servers;
    let opened = |server: &Running| server.log().matches("proposal opened").count();
    until("both have told what they did", || opened(&killed) + opened(&left) >= names.len());
    let by_killed = opened(&killed);
    killed.kill();
    for name in &names {
        assert_eq!(left.report_of(name, "dev", "1.2.0", &[]).code, 202);
    }
    until_proposed("1.2.0").await;
    assert_eq!(by_killed + opened(&left), names.len(), "each was opened by one alone, and once");
    left.stop();
}
