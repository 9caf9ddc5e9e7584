//! The one etcd below all clusters of a test process.

use tokio::sync::OnceCell;

use super::process::{Launch, Process};
use super::room;

#[derive(Debug)]
pub(super) struct Etcd {
    _process: Process,
    port: u16,
}

/// The etcd of this test process, which the first call starts.
pub(super) async fn shared() -> &'static Etcd {
    static ETCD: OnceCell<Etcd> = OnceCell::const_new();
    ETCD.get_or_init(Etcd::start).await
}

impl Etcd {
    async fn start() -> Self {
        let (process, port) = Process::start(Self::plan, async |port| health(*port).await).await;
        Self { _process: process, port }
    }

    fn plan() -> (Launch, u16) {
        let port = room::free_port();
        let client = format!("http://127.0.0.1:{port}");
        let peer = format!("http://127.0.0.1:{}", room::free_port());
        // Of its own for every attempt: the addresses are written down in it.
        let data = room::new_folder(&format!("etcd-{port}"));
        let arguments = vec![
            format!("--data-dir={}", data.display()),
            format!("--listen-client-urls={client}"),
            format!("--advertise-client-urls={client}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--initial-cluster=default={peer}"),
            "--unsafe-no-fsync".to_owned(),
        ];
        (Launch { name: "etcd".to_owned(), program: "etcd", arguments, environment: Vec::new() }, port)
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

async fn health(port: u16) -> Result<(), String> {
    super::process::answers(&format!("http://127.0.0.1:{port}/health")).await
}
