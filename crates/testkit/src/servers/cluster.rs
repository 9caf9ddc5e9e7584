//! A Kubernetes API server.

mod credentials;

use std::io::Write;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ObjectMeta, PostParams};

use super::process::{self, Launch, Process};
use super::{bed, etcd, room};
use credentials::User;

/// A cluster with nothing on it, which is what Weir's own kinds need.
pub type Hub = Cluster;

/// The user that may do everything.
const ADMIN: &str = "admin";
/// A user that every cluster has, and that may do nothing.
const STRANGER: &str = "stranger";

/// A Kubernetes API server with RBAC, on a prefix of etcd of its own. There are no nodes and no controllers: nothing runs
/// pods, collects garbage, finishes the deletion of a namespace, or fills aggregated roles (`view`, `edit`, `admin`).
#[derive(Debug)]
pub struct Cluster {
    name: String,
    folder: PathBuf,
    users: Vec<User>,
    flags: Vec<String>,
    port: u16,
    /// `None` while it is stopped.
    process: Option<Process>,
}

/// A cluster that is not there yet.
#[derive(Debug)]
pub struct ClusterBuilder {
    name: String,
    users: Vec<User>,
    flags: Vec<String>,
}

impl ClusterBuilder {
    /// Adds a user with a token, in these groups. It may do what RBAC gives it, which is nothing at first.
    #[must_use]
    pub fn user(mut self, name: &str, groups: &[&str]) -> Self {
        self.users.push(User::new(name, groups));
        self
    }

    /// Gives the API server one more flag, such as `--feature-gates=WatchList=false`.
    #[must_use]
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// Starts it, and waits until it is ready.
    pub async fn start(self) -> Cluster {
        let name = room::unique(&self.name);
        let folder = room::new_folder(&name);
        credentials::write(&folder, &self.users);
        let mut cluster = Cluster { name, folder, users: self.users, flags: self.flags, port: 0, process: None };
        cluster.launch(room::free_port).await;
        cluster
    }
}

impl Cluster {
    /// A new cluster.
    pub async fn start() -> Self {
        Self::builder("hub").start().await
    }

    /// A cluster with users. The name is for logs.
    pub fn builder(name: &str) -> ClusterBuilder {
        let users = vec![User::new(ADMIN, &["system:masters"]), User::new(STRANGER, &[])];
        ClusterBuilder { name: name.to_owned(), users, flags: Vec::new() }
    }

    /// Kills the API server. Its objects stay.
    pub fn stop(&mut self) {
        self.process = None;
    }

    /// Starts a stopped one again, at the same address, with the same certificate, tokens and objects.
    pub async fn start_again(&mut self) {
        self.stop();
        let port = self.port;
        self.launch(|| port).await;
    }

    async fn launch(&mut self, port: impl Fn() -> u16) {
        let etcd = etcd::shared().await.url();
        let plan = || {
            let port = port();
            (self.plan(&etcd, port), port)
        };
        let ready = async |port: &u16| self.ready(*port).await;
        let (process, port) = Process::start(plan, ready).await;
        self.port = port;
        self.process = Some(process);
        room::write(&self.kubeconfig_file(), self.kubeconfig());
    }

    fn plan(&self, etcd: &str, port: u16) -> Launch {
        let file = |name: &str| self.folder.join(name).display().to_string();
        let key = file(credentials::SERVICE_ACCOUNT_KEY);
        let mut arguments = vec![
            format!("--etcd-servers={etcd}"),
            format!("--etcd-prefix=/{}", self.name),
            format!("--bind-address={}", Ipv4Addr::LOCALHOST),
            format!("--secure-port={port}"),
            format!("--cert-dir={}", self.folder.display()),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            format!("--service-account-key-file={key}"),
            format!("--service-account-signing-key-file={key}"),
            format!("--token-auth-file={}", file(credentials::TOKENS)),
            "--authorization-mode=RBAC".to_owned(),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            "--disable-admission-plugins=ServiceAccount".to_owned(),
            "--enable-priority-and-fairness=false".to_owned(),
        ];
        arguments.extend(self.flags.iter().cloned());
        let name = format!("{}.kube-apiserver", self.name);
        Launch { name, program: "kube-apiserver", arguments, environment: Vec::new() }
    }

    async fn ready(&self, port: u16) -> Result<(), String> {
        let kubeconfig = self.kubeconfig_at(port, self.token_of(ADMIN)).map_err(|error| error.to_string())?;
        let client = credentials::client(&kubeconfig).await?;
        let request = axum::http::Request::get("/readyz").body(Vec::new()).map_err(|error| error.to_string())?;
        client.request_text(request).await.map(drop).map_err(|error| error.to_string())
    }

    /// Its name, which is in the names of its logs.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it answers.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// The API server's log, while it runs.
    pub fn log(&self) -> Option<&Path> {
        self.process.as_ref().map(Process::log)
    }

    /// Creates a namespace that nobody else has, and returns its name.
    pub async fn namespace(&self, name: &str) -> String {
        let name = room::unique(name);
        let metadata = ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() };
        let namespaces: Api<Namespace> = Api::all(self.client().await);
        let created = namespaces.create(&PostParams::default(), &Namespace { metadata, ..Namespace::default() }).await;
        created.unwrap_or_else(|error| panic!("creating namespace `{name}` failed: {error}"));
        name
    }

    /// Applies manifests, as the administrator.
    pub async fn apply(&self, yaml: &str) {
        self.kubectl_with(&["apply", "--server-side", "--force-conflicts", "-f", "-"], yaml).await;
    }

    /// What `kubectl` prints, run by the administrator. Panics if it fails.
    pub async fn kubectl(&self, arguments: &[&str]) -> String {
        self.kubectl_with(arguments, "").await
    }

    async fn kubectl_with(&self, arguments: &[&str], input: &str) -> String {
        let (words, input) = (arguments.join(" "), input.to_owned());
        let mut command = process::command(bed::program("kubectl"));
        command.arg("--kubeconfig").arg(self.kubeconfig_file()).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = move || {
            let mut child = command.spawn()?;
            // Dropped at once, so that `kubectl` sees the end of it.
            if let Some(mut stdin) = child.stdin.take() {
                stdin.write_all(input.as_bytes())?;
            }
            child.wait_with_output()
        };
        let output = tokio::task::spawn_blocking(run).await.expect("it does not panic");
        let output = output.unwrap_or_else(|error| panic!("running `kubectl {words}` failed: {error}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`kubectl {words}` failed: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}
