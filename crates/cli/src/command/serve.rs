//! `weir serve`: the server.

mod definitions;

use std::{net::SocketAddr, path::PathBuf};

use anyhow::Result;
use clap::Args;
use weir_kube::{hub::LeaseSettings, leaf::LeafSettings};
use weir_local::SystemClock;
use weir_ports::Clock as _;

use crate::serve::{Home, Log, LogFormat, Serving, serve};

const EXAMPLE: &str = "\
Examples:
  weir serve --manifests manifests --data data
  weir serve --manifests manifests --data data --listen 0.0.0.0:8082 --tokens tokens.yaml
  weir serve --context management";

/// Take in deployment events, decide, and carry promotions out
///
/// With `--manifests`, Pipelines and Secrets are YAML files in a folder, which is followed as it changes, and what has to
/// survive is kept in another folder: nothing else is needed but git. Without, they are objects on the cluster of the
/// kubeconfig, or on the one that this runs on. Ctrl-C stops it; whatever is under way is finished, or carried on at the
/// next start.
#[derive(Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Serve {
    /// Folder with Pipelines and Secrets, in YAML. Default: they are on a Kubernetes cluster
    #[arg(long, value_name = "DIR", requires = "data")]
    manifests: Option<PathBuf>,
    /// Folder for what has to survive; made if it is not there. On Kubernetes: for copies of repositories, and not needed
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The context of the kubeconfig. Default: its current one, or the cluster that this runs on
    #[arg(long, value_name = "NAME", conflicts_with = "manifests")]
    context: Option<String>,
    /// Where to listen. On anything but loopback, tokens are needed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8082")]
    listen: SocketAddr,
    /// File with the tokens that open it, as `weir token create` makes it. Default: loopback is open. On Kubernetes, the
    /// API server knows the tokens
    #[arg(long, value_name = "FILE", requires = "manifests")]
    tokens: Option<PathBuf>,
    /// Where people find the server, for links. Default: where it listens
    #[arg(long, value_name = "URL")]
    address: Option<String>,
    /// Who Weir's commits are by
    #[arg(long, value_name = "NAME", default_value = "Weir")]
    author_name: String,
    /// The e-mail address of Weir's commits
    #[arg(long, value_name = "EMAIL", default_value = "weir@localhost")]
    author_email: String,
    /// Believe events of environments that have no Secret to sign them with. For trying things out on one machine
    #[arg(long)]
    accept_unsigned_events: bool,
    /// How often repositories are looked at, to notice what others do there
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    poll: String,
    #[command(flatten)]
    definitions: definitions::Kept,
    #[command(flatten)]
    clusters: OnClusters,
    /// On Kubernetes: how many shards the pipelines fall into, so that several processes can share them. The same for all
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    shards: u32,
    /// On Kubernetes: the namespace of the Leases. Default: the one that this runs in, or `weir-system`
    #[arg(long, value_name = "NAME", conflicts_with = "manifests")]
    lease_namespace: Option<String>,
    /// On Kubernetes: let Pipelines name repositories that are folders of this machine (`file://`)
    #[arg(long, conflicts_with = "manifests")]
    allow_file_repositories: bool,
    /// How much is logged: error, warn, info, debug
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: tracing::Level,
    /// How it is logged, on stderr
    #[arg(long, value_enum, default_value_t)]
    log_format: LogFormat,
}

/// What may be done on, and for, the clusters that are watched.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
struct OnClusters {
    /// Let kubeconfigs of clusters start programs on this machine (`exec`)
    #[arg(long)]
    allow_kubeconfig_exec: bool,
    /// Let kubeconfigs of clusters name files on this machine
    #[arg(long)]
    allow_kubeconfig_files: bool,
    /// Let kubeconfigs of clusters leave the identity of the API server unchecked
    #[arg(long)]
    allow_insecure_tls: bool,
    /// Label the workloads of pipelines on their clusters with `pipelines.weave.works/name`, `/env` and `/target`
    #[arg(long)]
    label_workloads: bool,
}

impl From<OnClusters> for LeafSettings {
    fn from(on: OnClusters) -> Self {
        Self {
            allow_exec: on.allow_kubeconfig_exec,
            allow_files: on.allow_kubeconfig_files,
            allow_insecure_tls: on.allow_insecure_tls,
            label_workloads: on.label_workloads,
            ..Self::default()
        }
    }
}

impl Serve {
    pub(super) fn run(self) -> Result<()> {
        let home = match (self.manifests, self.data) {
            (Some(manifests), Some(data)) => Home::Folders { manifests, data },
            (_, cache) => {
                let elsewhere = self.context.is_some() || std::env::var_os("KUBECONFIG").is_some();
                let namespace = self.lease_namespace.or_else(|| own_namespace().filter(|_| !elsewhere));
                let namespace = namespace.unwrap_or_else(|| "weir-system".to_owned());
                let leases =
                    LeaseSettings { shards: self.shards, ..LeaseSettings::new(namespace, identity(self.listen)) };
                Home::Cluster { context: self.context, cache, leases, allow_folders: self.allow_file_repositories }
            }
        };
        let mut serving = Serving::new(home, self.listen)?;
        serving.tokens = self.tokens;
        serving.address = self.address;
        serving.author = weir_ports::Signature::new(self.author_name, self.author_email)?;
        serving.definitions = self.definitions.read(&serving.author)?;
        serving.accept_unsigned_events = self.accept_unsigned_events;
        serving.poll = weir_api::parse_duration(&self.poll)?;
        serving.clusters = self.clusters.into();
        serving.log = Log { level: self.log_level, format: self.log_format };
        serve(serving, async |_, stop| {
            stop.wait().await;
            Ok(())
        })
    }
}

/// Where every Pod finds the namespace that it runs in.
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

fn own_namespace() -> Option<String> {
    let told = std::fs::read_to_string(NAMESPACE_FILE).ok().map(|text| text.trim().to_owned());
    told.filter(|text| !text.is_empty())
}

/// A name that no other process has: no two listen on the same address of a host. One that is restarted goes on at once.
fn identity(listen: SocketAddr) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned());
    let host = host.or_else(|| std::env::var("HOSTNAME").ok()).filter(|name| !name.is_empty() && name != "localhost");
    match (host, listen.port()) {
        (Some(host), 1..) => format!("{host}-{listen}"),
        (host, _) => format!("{}-{:08x}", host.unwrap_or_else(|| "weir".to_owned()), SystemClock.random() >> 32),
    }
}
