//! A management cluster with Weir on it, clusters with Flux, and a forge, with the files of the manual.

use std::{fs, path::PathBuf, process::Command};

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::OnceCell;
use weir_testkit::servers::{Account, Chart, Cluster, Controller, Gitea, Leaf, eventually, shared, unique};

use crate::server::{Running, Site};

const HOME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

/// A file of the project.
pub(crate) fn file(path: &str) -> String {
    fs::read_to_string(format!("{HOME}{path}")).unwrap()
}

/// A file of the guide.
fn example(name: &str) -> String {
    file(&format!("docs/examples/kubernetes/{name}"))
}

/// The clusters that tests share. Each test has namespaces of its own on them.
pub(crate) async fn leaf(name: &str) -> &'static Leaf {
    static LEAVES: [OnceCell<Leaf>; 4] = [const { OnceCell::const_new() }; 4];
    let place = ["dev", "qa", "perf", "prod"].iter().position(|known| *known == name).unwrap();
    let start = || async {
        let controllers = [Controller::Source, Controller::Kustomize, Controller::Helm];
        Leaf::builder(name).controllers(&controllers).start().await
    };
    LEAVES[place].get_or_init(start).await
}

/// Everything around one pipeline.
pub(crate) struct Fleet {
    pub(crate) hub: Cluster,
    pub(crate) gitea: &'static Gitea,
    /// Who Weir is on the forge; the repository is theirs.
    pub(crate) bot: Account,
    /// The namespace of the targets.
    pub(crate) namespace: String,
    site: Site,
    kubeconfig: PathBuf,
    _folder: TempDir,
}

impl Fleet {
    /// A hub with Weir installed, a repository with charts, and Flux on each of the clusters deploying 6.1.6 of podinfo into
    /// a namespace. Clusters are told with the environment that they belong to.
    pub(crate) async fn new(namespace: &str, clusters: &[(&str, &str)]) -> Self {
        let names: Vec<_> = clusters.iter().map(|(cluster, _)| *cluster).collect();
        let fleet = Self::empty(namespace, &names).await;
        for (cluster, environment) in clusters {
            fleet.declare(cluster, environment, "6.1.6").await;
            fleet.add(cluster, leaf(cluster).await).await;
        }
        fleet
    }

    /// A hub with Weir installed, which may know these clusters, and a repository with charts and nothing that is deployed.
    pub(crate) async fn empty(namespace: &str, clusters: &[&str]) -> Self {
        let gitea = shared::gitea().await;
        let bot = gitea.create_user(&unique("weir")).await;
        gitea.create_repository(&bot.name, "config").await;
        let folder = TempDir::new().unwrap();
        let hub = Cluster::builder("hub").user("ada", &[]).start().await;
        let install =
            Command::new(cargo_bin("weir")).arg("install").env("KUBECONFIG", hub.kubeconfig_file()).output().unwrap();
        assert!(install.status.success(), "{}", String::from_utf8_lossy(&install.stderr));
        let token = hub.kubectl(&["create", "token", "weir", "--namespace=weir-system"]).await;
        let kubeconfig = folder.path().join("kubeconfig");
        fs::write(&kubeconfig, hub.kubeconfig_with(token.trim())).unwrap();
        let site = Site::new("", &[]);
        let fleet = Self { hub, gitea, bot, namespace: namespace.to_owned(), site, kubeconfig, _folder: folder };
        fleet.publish().await;
        fleet.allow_secrets(clusters).await;
        fleet
    }

    /// Publishes podinfo in all its versions: Flux learns of later ones in a minute only.
    async fn publish(&self) {
        let chart = |version| Chart::new("podinfo", version).image("example.org/podinfo", version);
        let broken = chart(BROKEN).failing(FAULT);
        for chart in [chart("6.1.6"), chart("6.2.0"), broken, chart("6.3.0")] {
            self.gitea.upload_chart(&self.bot.name, &chart).await;
        }
    }

    /// The Secrets that Weir may read, and those that are not about one cluster.
    async fn allow_secrets(&self, clusters: &[&str]) {
        let kubeconfigs: Vec<_> = clusters.iter().map(|cluster| format!("{cluster}-kubeconfig")).collect();
        let names = format!("[promotion-credentials, {}]", kubeconfigs.join(", "));
        let rights = example("rights.yaml").replace("[promotion-credentials, dev-kubeconfig, prod-kubeconfig]", &names);
        assert!(rights.contains(&names));
        self.hub.apply(&rights).await;
        let token = self.gitea.create_token(&self.bot, &["write:repository", "write:issue"]).await;
        self.secret("promotion-credentials", &[("username", &self.bot.name), ("token", &token)]).await;
    }

    pub(crate) async fn secret(&self, name: &str, keys: &[(&str, &str)]) {
        let values: serde_json::Map<_, _> = keys.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name, "namespace": "default" },
            "stringData": values,
        });
        self.hub.apply(&secret.to_string()).await;
    }

    /// Lets the hub know a cluster, and Flux on it follow its folder of the repository.
    pub(crate) async fn add(&self, name: &str, leaf: &Leaf) {
        let cluster = leaf.cluster();
        cluster.apply(&file("deploy/manifests/leaf.yaml")).await;
        let token = cluster.kubectl(&["create", "token", "weir-leaf", "--namespace=weir-system"]).await;
        self.secret(&format!("{name}-kubeconfig"), &[("value", &cluster.kubeconfig_with(token.trim()))]).await;
        let clusters = example("clusters.yaml");
        let dev = clusters.split("---").next().unwrap_or_default();
        self.hub.apply(&dev.replace("name: dev", &format!("name: {name}"))).await;
        let flux = example("flux.yaml")
            .replace("clusters/prod", &format!("clusters/{name}"))
            .replace("interval: 1m\n  url", "interval: 1s\n  url");
        cluster.apply(&self.here(&flux)).await;
    }

    /// A file with the addresses and names of this test.
    pub(crate) fn here(&self, yaml: &str) -> String {
        yaml.replace("https://gitea.example.org/platform/config.git", &self.repository_url())
            .replace("https://gitea.example.org/api/packages/platform/helm", &self.charts_url())
            .replace("namespace: podinfo", &format!("namespace: {}", self.namespace))
            .replace(
                "kind: Namespace\nmetadata:\n  name: podinfo",
                &format!("kind: Namespace\nmetadata:\n  name: {}", self.namespace),
            )
    }

    fn repository_url(&self) -> String {
        self.gitea.repository_url(&self.bot.name, "config")
    }

    fn charts_url(&self) -> String {
        self.gitea.helm_repository_url(&self.bot.name)
    }

    /// The address of the repository by a host that tells what kind of server it is.
    pub(crate) fn telling_url(&self) -> String {
        self.repository_url().replace("127.0.0.1", "gitea.localhost")
    }

    /// Commits which version a cluster shall run.
    pub(crate) async fn declare(&self, cluster: &str, environment: &str, version: &str) {
        let release = self.release(environment, version);
        self.commit(&format!("{cluster} runs {version}"), &format!("clusters/{cluster}/podinfo.yaml"), &release).await;
    }

    /// The file that says which version an environment runs.
    pub(crate) fn release(&self, environment: &str, version: &str) -> String {
        self.here(&example("release.yaml"))
            .replace("podinfo:prod", &format!("podinfo:{environment}"))
            .replace("6.1.6", version)
            .replace(
                "  chart:\n    spec:",
                "  install: {disableWait: true}\n  upgrade: {disableWait: true}\n  chart:\n    spec:",
            )
    }

    pub(crate) async fn commit(&self, message: &str, path: &str, content: &str) {
        let repository = format!("{}/config", self.bot.name);
        self.gitea.commit(&repository, "main", message, &[(path, content)]).await;
    }

    /// What the base branch says in a file.
    pub(crate) async fn declared(&self, path: &str) -> String {
        let text = self.api(reqwest::Method::GET, &format!("/raw/{path}?ref=main"), None).await;
        text.as_str().unwrap_or_default().to_owned()
    }

    /// The pipeline of the guide: from dev to prod, by pull requests.
    pub(crate) fn pipeline(&self) -> String {
        self.here(&example("pipeline.yaml"))
    }

    /// Weir, with exactly the rights that are shipped.
    pub(crate) fn weir(&self) -> Running {
        self.weir_at(0)
    }

    /// Weir on a port of its own: one that is started there again is the same to its Lease.
    pub(crate) fn weir_at(&self, port: u16) -> Running {
        self.site.start_at(&self.kubeconfig, port, &[])
    }

    async fn api(&self, method: reqwest::Method, path: &str, body: Option<&Value>) -> Value {
        let path = format!("/repos/{}/config{path}", self.bot.name);
        let answer = self.gitea.api().send(method, &path, body).await;
        assert!(answer.status.is_success(), "{path}: {:?}", answer.body);
        answer.body
    }

    /// All pull requests, newest first.
    pub(crate) async fn pull_requests(&self) -> Vec<Value> {
        let all = self.api(reqwest::Method::GET, "/pulls?state=all&sort=newest", None).await;
        all.as_array().unwrap().clone()
    }

    /// The one open pull request of a pipeline, once it has this title.
    pub(crate) async fn open_pull_request(&self, title: &str) -> Value {
        let (pipeline, _) = title.split_once(" in ").unwrap();
        let is_ours = |it: &Value| it["state"] == "open" && it["title"].as_str().unwrap().starts_with(pipeline);
        eventually(title, async || {
            let open: Vec<_> = self.pull_requests().await.into_iter().filter(is_ours).collect();
            match &open[..] {
                [one] if one["title"] == title => Ok(one.clone()),
                other => Err(format!("{:?}", other.iter().map(|it| it["title"].to_string()).collect::<Vec<_>>())),
            }
        })
        .await
    }

    /// A person merges it.
    pub(crate) async fn merge(&self, pull_request: &Value) {
        let path = format!("/pulls/{}/merge", pull_request["number"]);
        // The forge may still be finding out whether it can be merged.
        eventually("it is merged", async || {
            let path = format!("/repos/{}/config{path}", self.bot.name);
            let answer = self.gitea.api().send(reqwest::Method::POST, &path, Some(&json!({ "Do": "merge" }))).await;
            if answer.status.is_success() { Ok(()) } else { Err(format!("{:?}", answer.body)) }
        })
        .await;
    }

    /// A person closes it.
    pub(crate) async fn close(&self, pull_request: &Value) {
        let path = format!("/pulls/{}", pull_request["number"]);
        self.api(reqwest::Method::PATCH, &path, Some(&json!({ "state": "closed" }))).await;
    }

    /// The titles of all pull requests, oldest first, and what became of each.
    pub(crate) async fn outcomes(&self) -> Vec<(String, &'static str)> {
        let all = self.pull_requests().await;
        let outcome = |it: &Value| match (it["merged"] == true, it["state"] == "open") {
            (true, _) => "merged",
            (_, true) => "open",
            _ => "closed",
        };
        all.iter().rev().map(|it| (it["title"].as_str().unwrap().to_owned(), outcome(it))).collect()
    }

    /// The titles of the commits on the base branch that merge something, newest first.
    pub(crate) async fn merges(&self) -> Vec<String> {
        let all = self.api(reqwest::Method::GET, "/commits?sha=main&limit=50&stat=false", None).await;
        let merge = |it: &&Value| it["parents"].as_array().is_some_and(|parents| parents.len() > 1);
        let title = |it: &Value| it["commit"]["message"].as_str().unwrap().lines().next().unwrap().to_owned();
        all.as_array().unwrap().iter().filter(merge).map(title).collect()
    }

    /// The titles of the newest commits of the branches beside the base branch.
    pub(crate) async fn branches(&self) -> Vec<String> {
        let all = self.api(reqwest::Method::GET, "/branches", None).await;
        let others = all.as_array().unwrap().iter().filter(|it| it["name"] != "main");
        others.map(|it| it["commit"]["message"].as_str().unwrap().lines().next().unwrap().to_owned()).collect()
    }

    /// The files that it changes.
    pub(crate) async fn files(&self, pull_request: &Value) -> Vec<String> {
        let files = self.api(reqwest::Method::GET, &format!("/pulls/{}/files", pull_request["number"]), None).await;
        files.as_array().unwrap().iter().map(|file| file["filename"].as_str().unwrap().to_owned()).collect()
    }

    /// A Pipeline as `kubectl` shows it.
    pub(crate) async fn shown(&self, kind: &str) -> Value {
        let text = self.hub.kubectl(&["get", kind, "podinfo", "-o", "json"]).await;
        serde_json::from_str(&text).unwrap()
    }

    /// What the targets of an environment run, as the status of the Pipeline tells.
    pub(crate) async fn revisions(&self, kind: &str, environment: &str) -> Vec<String> {
        let shown = self.shown(kind).await;
        let targets = shown["status"]["environments"][environment]["targets"].as_array().cloned().unwrap_or_default();
        targets.iter().map(|target| target["revision"].as_str().unwrap_or("-").to_owned()).collect()
    }

    /// The targets of an environment, once they are like this.
    pub(crate) async fn until_targets(&self, environment: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        eventually(&format!("{environment}: {what}"), async || {
            let targets = self.shown(PIPELINE).await["status"]["environments"][environment]["targets"].clone();
            if is_so(&targets) { Ok(targets) } else { Err(format!("{targets:#}")) }
        })
        .await
    }

    pub(crate) async fn until_runs(&self, environment: &str, versions: &[&str]) {
        eventually(&format!("{environment} runs {versions:?}"), async || {
            let found = self.revisions(PIPELINE, environment).await;
            if found == versions { Ok(()) } else { Err(format!("{found:?}")) }
        })
        .await;
    }

    /// Until the line about all environments ends like this.
    pub(crate) async fn until_status(&self, end: &str) {
        eventually(end, async || {
            let path = r#"jsonpath={.status.conditions[?(@.type=="Ready")].message}"#;
            let message = self.hub.kubectl(&["get", PIPELINE, "podinfo", "-o", path]).await;
            if message.ends_with(end) { Ok(()) } else { Err(message) }
        })
        .await;
    }

    /// The promotions of a version, as objects.
    pub(crate) async fn promotions(&self, version: &str) -> Vec<Value> {
        let text = self.hub.kubectl(&["get", "promotions", "-o", "json"]).await;
        let all: Value = serde_json::from_str(&text).unwrap();
        let runs =
            |it: &&Value| it["spec"]["release"].as_object().is_some_and(|all| all.values().any(|it| it == version));
        all["items"].as_array().unwrap().iter().filter(runs).cloned().collect()
    }

    pub(crate) async fn until_phase(&self, environment: &str, version: &str, phase: &str) {
        self.until_phase_of("podinfo", environment, version, phase).await;
    }

    pub(crate) async fn until_phase_of(&self, pipeline: &str, environment: &str, version: &str, phase: &str) {
        eventually(&format!("{version} of {pipeline} is {phase} in {environment}"), async || {
            let all = self.promotions(version).await;
            let is_there = |it: &&Value| it["spec"]["environment"] == environment && it["spec"]["pipeline"] == pipeline;
            let there = all.iter().filter(is_there);
            let phases: Vec<_> = there.map(|it| it["status"]["phase"].as_str().unwrap_or("-").to_owned()).collect();
            if phases.last().is_some_and(|last| last == phase) { Ok(()) } else { Err(format!("{phases:?}")) }
        })
        .await;
    }
}

/// A version of podinfo that cannot be installed, and why.
pub(crate) const BROKEN: &str = "6.2.5";
pub(crate) const FAULT: &str = "the database is not configured";

pub(crate) const PIPELINE: &str = "pipelines.pipelines.weave.works";
