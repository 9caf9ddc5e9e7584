//! A cluster with Flux on it.

use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::join_all;

use super::cluster::{Cluster, ClusterBuilder};
use super::process::{self, Launch, Process};
use super::{bed, room};

const FLUX_NAMESPACE: &str = "
apiVersion: v1
kind: Namespace
metadata:
  name: flux-system
";

/// A controller of Flux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controller {
    /// Fetches repositories, buckets and charts.
    Source,
    /// Applies Kustomizations.
    Kustomize,
    /// Installs releases of charts.
    Helm,
    /// Sends the others' events out.
    Notification,
}

impl Controller {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Source, Self::Kustomize, Self::Helm, Self::Notification];

    fn program(self) -> &'static str {
        match self {
            Self::Source => "source-controller",
            Self::Kustomize => "kustomize-controller",
            Self::Helm => "helm-controller",
            Self::Notification => "notification-controller",
        }
    }
}

/// A cluster with Flux's kinds, the namespace `flux-system`, and Flux's controllers, which watch every namespace.
///
/// Releases are really installed, but nothing runs pods: a chart with a Deployment needs `disableWait: true`, or the
/// test sets the Deployment's status.
#[derive(Debug)]
pub struct Leaf {
    cluster: Cluster,
    settings: Settings,
    /// Where the source-controller hands out artifacts. It is written down in the sources, and who finds nobody there
    /// tries again for minutes: it stays the same.
    storage: Option<u16>,
    controllers: Vec<Process>,
}

/// A leaf that is not there yet.
#[derive(Debug)]
pub struct LeafBuilder {
    cluster: ClusterBuilder,
    settings: Settings,
}

#[derive(Debug)]
struct Settings {
    controllers: Vec<Controller>,
    rate_limit: Option<Duration>,
}

impl LeafBuilder {
    /// Only these controllers. Every one takes a moment to start, and some memory.
    #[must_use]
    pub fn controllers(mut self, controllers: &[Controller]) -> Self {
        self.settings.controllers = controllers.to_vec();
        self
    }

    /// For how long the notification-controller holds back an event that is the same as one before; its own default is
    /// five minutes.
    #[must_use]
    pub fn rate_limit(mut self, interval: Duration) -> Self {
        self.settings.rate_limit = Some(interval);
        self
    }

    /// Adds a user with a token, as on any cluster.
    #[must_use]
    pub fn user(mut self, name: &str, groups: &[&str]) -> Self {
        self.cluster = self.cluster.user(name, groups);
        self
    }

    /// Gives the API server one more flag.
    #[must_use]
    pub fn flag(mut self, flag: &str) -> Self {
        self.cluster = self.cluster.flag(flag);
        self
    }

    /// Starts it, and waits until it is ready.
    pub async fn start(self) -> Leaf {
        let cluster = self.cluster.start().await;
        cluster.apply(FLUX_NAMESPACE).await;
        let kinds = bed::present("crds").display().to_string();
        cluster.kubectl(&["apply", "--server-side", "--recursive", "-f", &kinds]).await;
        cluster.kubectl(&["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]).await;
        let mut leaf = Leaf { cluster, settings: self.settings, storage: None, controllers: Vec::new() };
        leaf.launch().await;
        leaf
    }
}

impl Leaf {
    /// A new leaf with all four controllers.
    pub async fn start() -> Self {
        Self::builder("leaf").start().await
    }

    /// A leaf to one's liking. The name is for logs.
    pub fn builder(name: &str) -> LeafBuilder {
        let settings = Settings { controllers: Controller::ALL.to_vec(), rate_limit: None };
        LeafBuilder { cluster: Cluster::builder(name), settings }
    }

    /// Its API server.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The logs of its controllers, while they run.
    pub fn logs(&self) -> impl Iterator<Item = PathBuf> {
        self.controllers.iter().map(|controller| controller.log().to_owned())
    }

    /// Kills the API server and Flux. Their objects stay.
    pub fn stop(&mut self) {
        self.controllers.clear();
        self.cluster.stop();
    }

    /// Starts a stopped one again, at the same address and with the same objects.
    pub async fn start_again(&mut self) {
        self.stop();
        self.cluster.start_again().await;
        self.launch().await;
    }

    async fn launch(&mut self) {
        let (senders, others): (Vec<_>, Vec<_>) =
            self.settings.controllers.iter().partition(|&&controller| controller == Controller::Notification);
        let mut events = None;
        if !senders.is_empty() {
            let (process, port) = self.notification().await;
            self.controllers.push(process);
            events = Some(port);
        }
        for (process, storage) in join_all(others.into_iter().map(|other| self.reporting(other, events))).await {
            self.controllers.push(process);
            self.storage = self.storage.or(storage);
        }
    }

    /// The notification-controller, and the port that takes the others' events.
    async fn notification(&self) -> (Process, u16) {
        let plan = || {
            let (health, events) = (room::free_port(), room::free_port());
            let mut arguments = vec![
                format!("--events-addr=127.0.0.1:{events}"),
                format!("--receiverAddr=127.0.0.1:{}", room::free_port()),
            ];
            arguments
                .extend(self.settings.rate_limit.map(|limit| format!("--rate-limit-interval={}ms", limit.as_millis())));
            (self.plan(Controller::Notification, health, arguments), (health, events))
        };
        let (process, (_, events)) = Process::start(plan, async |(health, _)| ready(*health).await).await;
        (process, events)
    }

    /// A controller that reports what it does to the notification-controller, if there is one; and the port of the
    /// artifacts, if it has some.
    async fn reporting(&self, controller: Controller, events: Option<u16>) -> (Process, Option<u16>) {
        let events = events.map(|port| format!("http://127.0.0.1:{port}/")).unwrap_or_default();
        let plan = || {
            let health = room::free_port();
            let mut arguments = vec![format!("--events-addr={events}")];
            let mut storage = None;
            if controller == Controller::Source {
                let folder = room::new_folder(&format!("{}-artifacts", self.cluster.name()));
                let port = self.storage.unwrap_or_else(room::free_port);
                arguments.push(format!("--storage-path={}", folder.display()));
                arguments.push(format!("--storage-addr=127.0.0.1:{port}"));
                arguments.push(format!("--storage-adv-addr=127.0.0.1:{port}"));
                storage = Some(port);
            }
            (self.plan(controller, health, arguments), (health, storage))
        };
        let (process, (_, storage)) = Process::start(plan, async |(health, _)| ready(*health).await).await;
        (process, storage)
    }

    fn plan(&self, controller: Controller, health: u16, mut arguments: Vec<String>) -> Launch {
        arguments.push(format!("--health-addr=127.0.0.1:{health}"));
        arguments.push(format!("--metrics-addr=127.0.0.1:{}", room::free_port()));
        Launch {
            name: format!("{}.{}", self.cluster.name(), controller.program()),
            program: controller.program(),
            arguments,
            environment: vec![
                ("KUBECONFIG", self.cluster.kubeconfig_file().display().to_string()),
                ("RUNTIME_NAMESPACE", "flux-system".to_owned()),
            ],
        }
    }
}

async fn ready(port: u16) -> Result<(), String> {
    process::answers(&format!("http://127.0.0.1:{port}/readyz")).await
}
