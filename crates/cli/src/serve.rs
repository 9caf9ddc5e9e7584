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
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};
use weir_engine::{Engine, Ports, World};
use weir_forge::Forges;
use weir_git::GitRepos;
use weir_local::{Everyone, FolderCatalog, LocalStore, SystemClock, Tokens};
use weir_ports::{Access, Clock as _, Signature};
use weir_server::{Authentication, Backup, Metrics, Parts, Server, Timed, Unsigned};

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

/// The ports of one machine.
struct OneMachine {
    catalog: FolderCatalog,
    store: Arc<LocalStore>,
    repos: Timed<GitRepos>,
    forge: Forges,
    clock: SystemClock,
}

impl Ports for OneMachine {
    type Catalog = FolderCatalog;
    type Store = LocalStore;
    type Repos = Timed<GitRepos>;
    type Forge = Forges;
    type Clock = SystemClock;

    fn catalog(&self) -> &FolderCatalog {
        &self.catalog
    }

    fn store(&self) -> &LocalStore {
        &self.store
    }

    fn repos(&self) -> &Timed<GitRepos> {
        &self.repos
    }

    fn forge(&self) -> &Forges {
        &self.forge
    }

    fn clock(&self) -> &SystemClock {
        &self.clock
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
        let mut signals = Signals::listen()?;
        if !self.listen.ip().is_loopback() && self.tokens.is_none() {
            bail!(
                "`{}` can be reached from other machines: make tokens with `weir token create NAME --role ROLE --file \
                 tokens.yaml`, and start with `--tokens tokens.yaml`; or listen on 127.0.0.1",
                self.listen
            );
        }
        let listener = TcpListener::bind(self.listen)
            .await
            .with_context(|| format!("listening on `{}` failed; choose another address with --listen", self.listen))?;
        let address = listener.local_addr().context("finding out where the server listens failed")?;
        let metrics = Metrics::default();
        let ports = Arc::new(self.ports(&metrics)?);
        let (say_stop, stop) = watch::channel(false);
        let clock = SystemClock;
        let world = Arc::new(World::new(clock.random()));
        let mut settings = weir_engine::Settings::new(self.author.clone());
        settings.poll = self.poll;
        settings.address = Some(self.address.clone().unwrap_or_else(|| format!("http://{address}")));
        let engine = Engine::new(ports.clone(), world.clone(), settings);
        let serve = if let Some(file) = &self.tokens {
            let access = Arc::new(Tokens::open(file)?);
            self.http(listener, &ports, &world, access, Authentication::Tokens, metrics, &stop).boxed()
        } else {
            let open = Authentication::Open { actor: Everyone::local_user(), port: address.port() };
            self.http(listener, &ports, &world, Arc::new(Everyone), open, metrics, &stop).boxed()
        };
        tracing::info!(%address, manifests = %self.manifests.display(), data = %self.data.display(), "weir serves");
        let engine = async {
            engine.run(Stop(stop.clone()).wait()).await;
            Ok(())
        };
        let engine = finish_soon(engine, stop.clone());
        let beside = beside(address, Stop(stop.clone()));
        let signal = async {
            signals.wait().await;
            say_stop.send_replace(true);
        };
        // Whoever ends, ends all.
        let end = async |work: std::pin::Pin<&mut (dyn Future<Output = Result<()>> + '_)>| {
            let ended = work.await;
            say_stop.send_replace(true);
            ended
        };
        let (engine, serve, beside) = (std::pin::pin!(engine), std::pin::pin!(serve), std::pin::pin!(beside));
        let all = futures_util::future::join3(end(engine), end(serve), end(beside));
        let (all, signal) = (std::pin::pin!(all), std::pin::pin!(signal));
        let (engine, serve, beside) = match futures_util::future::select(all, signal).await {
            futures_util::future::Either::Left((ended, _)) => ended,
            futures_util::future::Either::Right(((), all)) => {
                tracing::info!("weir stops");
                all.await
            }
        };
        engine.and(serve).and(beside)
    }

    fn ports(&self, metrics: &Metrics) -> Result<OneMachine> {
        let store = Arc::new(LocalStore::open(&self.data)?);
        for problem in store.problems() {
            output::warn(&problem);
        }
        let catalog = FolderCatalog::open(&self.manifests)?;
        let repos = GitRepos::open(self.data.join("repositories"), weir_git::Settings::default())?;
        let repos = Timed::new(repos, metrics.clone());
        Ok(OneMachine { catalog, store, repos, forge: Forges::default(), clock: SystemClock })
    }

    #[expect(clippy::too_many_arguments, reason = "this is where all of it is put together")]
    async fn http<A: Access + 'static>(
        &self,
        listener: TcpListener,
        ports: &Arc<OneMachine>,
        world: &Arc<World>,
        access: Arc<A>,
        authentication: Authentication,
        metrics: Metrics,
        stop: &watch::Receiver<bool>,
    ) -> Result<()> {
        let mut settings = weir_server::Settings::new(authentication);
        if self.accept_unsigned_events {
            settings.unsigned = Unsigned::Accept;
        }
        settings.backup = Some(backup(ports.store.clone()));
        let whole = Parts { ports: ports.clone(), world: world.clone(), journal: ports.store.clone(), access };
        let server = Server::new(whole, settings, metrics);
        server.serve(listener, Stop(stop.clone()).wait()).await.context("serving failed")
    }
}

fn backup(store: Arc<LocalStore>) -> Backup {
    Arc::new(move |file: PathBuf| {
        let store = store.clone();
        async move { store.backup(Path::new(&file)).await.map_err(|error| error.to_string()) }.boxed()
    })
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

/// What asks the process to end.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// Listens from now on: what comes before would end the process at once.
    fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("listening to signals failed");
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    /// Returns when somebody presses Ctrl-C, or asks the process to end.
    async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
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
