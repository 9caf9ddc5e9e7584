//! The parts of a server, put together: one process that takes in events, decides, carries out, and shows it all.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use futures_util::FutureExt as _;
use jiff::SignedDuration;
use tokio::{net::TcpListener, sync::watch};
use weir_engine::{Engine, Ports, World};
use weir_git::GitRepos;
use weir_local::{Everyone, FolderCatalog, LocalStore, SystemClock, Tokens};
use weir_ports::{Access, Clock as _, Signature};

use crate::output;

/// How long the engine may take to finish what is under way when it shall stop. What is cut off is carried on later.
const GRACE: Duration = Duration::from_secs(20);

/// What is served, and how.
pub(crate) struct Serving {
    manifests: PathBuf,
    data: PathBuf,
    listen: SocketAddr,
    pub(crate) tokens: Option<PathBuf>,
    pub(crate) address: Option<String>,
    pub(crate) author: Signature,
    pub(crate) accept_unsigned_events: bool,
    pub(crate) poll: SignedDuration,
    pub(crate) log: Log,
}

/// What is logged, and how.
pub(crate) struct Log {
    pub(crate) level: tracing::Level,
    pub(crate) format: LogFormat,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

impl Serving {
    /// The usual way.
    pub(crate) fn new(manifests: PathBuf, data: PathBuf, listen: SocketAddr) -> Result<Self> {
        Ok(Self {
            manifests,
            data,
            listen,
            tokens: None,
            address: None,
            author: Signature::new("Weir", "weir@localhost")?,
            accept_unsigned_events: false,
            poll: SignedDuration::from_secs(30),
            log: Log { level: tracing::Level::INFO, format: LogFormat::Text },
        })
    }
}

/// Serves until somebody stops it, with `beside` at its side, which gets to know where it listens and when it shall stop.
pub(crate) fn serve(serving: Serving, beside: impl AsyncFnOnce(SocketAddr, Stop) -> Result<()>) -> Result<()> {
    serving.log.begin();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.context("starting the runtime failed")?.block_on(serving.run(beside))
}

/// Tells when to stop.
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Returns when it is time to stop.
    pub(crate) async fn wait(mut self) {
        // If nobody can say it any more, it is over, too.
        let _ = self.0.wait_for(|stop| *stop).await;
    }
}

impl Serving {
    async fn run(self, beside: impl AsyncFnOnce(SocketAddr, Stop) -> Result<()>) -> Result<()> {
        let (_a, b) = watch::channel(false);
        beside(self.listen, Stop(b)).await
    }
}
/// Lets work go on for a while after it was told to stop.
async fn finish_soon(work: impl Future<Output = Result<()>>, stop: watch::Receiver<bool>) -> Result<()> {
    let overdue = async {
        Stop(stop).wait().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        done = work => done,
        () = overdue => {
            tracing::warn!("a step is cut off; the next start carries it on");
            Ok(())
        }
    }
}

/// Returns when somebody presses Ctrl-C, or asks the process to end.
async fn signalled() -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("waiting for signals failed")?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed.context("waiting for Ctrl-C failed"),
        _ = terminate.recv() => Ok(()),
    }
}

impl Log {
    /// Begins to log on stderr.
    fn begin(&self) {
        let log = tracing_subscriber::fmt().with_max_level(self.level).with_writer(std::io::stderr).with_target(false);
        // A second one in the same process changes nothing.
        let _ = match self.format {
            LogFormat::Text => log.with_ansi(false).try_init(),
            LogFormat::Json => log.json().try_init(),
        };
    }
}
