//! The parts of a server, put together: one process that takes in events, decides, carries out, and shows it all.

mod cache;
mod show;

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
use tracing_subscriber::{
    Layer as _,
    filter::{LevelFilter, Targets},
    fmt,
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};
use weir_engine::{Definitions, Engine, Ports, World};
use weir_forge::Forges;
use weir_git::GitRepos;
use weir_kube::{
    hub::{Finalizers, HubAccess, HubCatalog, HubJournal, HubSettings, HubStore, LeaseSettings, Leases, Publisher},
    leaf::{LeafSettings, Leaves},
};
use weir_local::{Alone, Everyone, FolderCatalog, LocalStore, SystemClock, Tokens};
use weir_ports::{Access, Catalog, Clock as _, Journal, Ownership, Signature, Store};
use weir_server::{Authentication, Backup, Metrics, Parts, Server, Timed, Unsigned};

use crate::output;

/// How long the engine may take to finish what is under way when it shall stop. What is cut off is carried on later.
const GRACE: Duration = Duration::from_secs(20);

/// The libraries that log what Weir tells by itself.
const LIBRARIES: [&str; 3] = ["kube", "kube_client", "kube_runtime"];

/// What is served, and how.
pub(crate) struct Serving {
    home: Home,
    listen: SocketAddr,
    pub(crate) tokens: Option<PathBuf>,
    pub(crate) address: Option<String>,
    pub(crate) author: Signature,
    pub(crate) accept_unsigned_events: bool,
    pub(crate) poll: SignedDuration,
    pub(crate) clusters: LeafSettings,
    pub(crate) definitions: Option<Definitions>,
    pub(crate) log: Log,
}

/// Where pipelines are defined, and where is kept what has to survive.
pub(crate) enum Home {
    /// In two folders of this machine.
    Folders {
        /// With Pipelines and Secrets.
        manifests: PathBuf,
        /// For what has to survive.
        data: PathBuf,
    },
    /// On a Kubernetes cluster.
    Cluster {
        /// The context of the kubeconfig. `None`: its current one, or the cluster that this process runs on.
        context: Option<String>,
        /// For copies of repositories. Nothing in it has to survive. `None`: a private folder among temporary files.
        cache: Option<PathBuf>,
        /// How several processes share the pipelines.
        leases: LeaseSettings,
        /// Whether pipelines may name repositories that are folders of this machine.
        allow_folders: bool,
    },
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
    pub(crate) fn new(home: Home, listen: SocketAddr) -> Result<Self> {
        Ok(Self {
            home,
            listen,
            tokens: None,
            address: None,
            author: Signature::new("Weir", "weir@localhost")?,
            accept_unsigned_events: false,
            poll: SignedDuration::from_secs(30),
            clusters: LeafSettings::default(),
            definitions: None,
            log: Log { level: tracing::Level::INFO, format: LogFormat::Text },
        })
    }
}

/// The ports, put together.
struct Assembled<C, S, O> {
    catalog: Arc<C>,
    store: Arc<S>,
    repos: Timed<GitRepos>,
    forge: Forges,
    clusters: Leaves<C>,
    ownership: Arc<O>,
    clock: SystemClock,
}

impl<C: Catalog + 'static, S: Store + 'static, O: Ownership + 'static> Ports for Assembled<C, S, O> {
    type Catalog = C;
    type Store = S;
    type Repos = Timed<GitRepos>;
    type Forge = Forges;
    type Clusters = Leaves<C>;
    type Ownership = O;
    type Clock = SystemClock;

    fn catalog(&self) -> &C {
        &self.catalog
    }

    fn store(&self) -> &S {
        &self.store
    }

    fn repos(&self) -> &Timed<GitRepos> {
        &self.repos
    }

    fn forge(&self) -> &Forges {
        &self.forge
    }

    fn clusters(&self) -> &Leaves<C> {
        &self.clusters
    }

    fn ownership(&self) -> &O {
        &self.ownership
    }

    fn clock(&self) -> &SystemClock {
        &self.clock
    }
}

/// A listener, and what is measured of it.
struct Door {
    listener: TcpListener,
    address: SocketAddr,
    authentication: Authentication,
    metrics: Metrics,
    backup: Option<Backup>,
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
        let signals = Signals::listen()?;
        if !self.listen.ip().is_loopback() && self.tokens.is_none() && matches!(self.home, Home::Folders { .. }) {
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
        let authentication = Authentication::Tokens;
        let mut door = Door { listener, address, authentication, metrics, backup: None };
        let world = Arc::new(World::new(SystemClock.random()));
        match &self.home {
            Home::Folders { manifests, data } => {
                let store = Arc::new(LocalStore::open(data)?);
                for problem in store.problems() {
                    output::warn(&problem);
                }
                door.backup = Some(backup(store.clone()));
                let catalog = Arc::new(FolderCatalog::open(manifests)?);
                let clusters = Leaves::new(catalog.clone(), None, self.clusters.clone());
                let ports = Arc::new(Assembled {
                    catalog,
                    store: store.clone(),
                    repos: repos(&data.join("repositories"), &door)?,
                    forge: Forges::default(),
                    clusters,
                    ownership: Arc::new(Alone),
                    clock: SystemClock,
                });
                let (journal, rest) = (store, std::future::pending());
                tracing::info!(%address, manifests = %manifests.display(), data = %data.display(), "weir serves");
                if let Some(file) = &self.tokens {
                    let access = Arc::new(Tokens::open(file)?);
                    let whole = Parts { ports, world, journal, access };
                    return self.work(whole, door, signals, rest, beside).await;
                }
                door.authentication = Authentication::Open { actor: Everyone::local_user(), port: address.port() };
                let whole = Parts { ports, world, journal, access: Arc::new(Everyone) };
                self.work(whole, door, signals, rest, beside).await
            }
            Home::Cluster { context, cache, leases, allow_folders } => {
                let client = weir_kube::install::client(context.as_deref()).await?;
                let (store, settings) = (HubStore::new(client.clone()), HubSettings::default());
                let catalog = Arc::new(HubCatalog::new(client.clone()));
                let ownership = Arc::new(Leases::start(client.clone(), leases.clone()));
                let git = weir_git::Settings { allow_folders: *allow_folders, ..weir_git::Settings::default() };
                let ports = Arc::new(Assembled {
                    catalog: catalog.clone(),
                    store: Arc::new(store.clone()),
                    repos: Timed::new(cache::open(cache.as_deref(), &git)?, door.metrics.clone()),
                    forge: Forges::default(),
                    clusters: Leaves::new(catalog, Some(client.clone()), self.clusters.clone()),
                    ownership: ownership.clone(),
                    clock: SystemClock,
                });
                let journal = Arc::new(HubJournal::new(store.clone()));
                let access = Arc::new(HubAccess::new(client, &settings));
                let finalizers = Finalizers::new(store.clone(), settings);
                let (shown, acting) = (world.clone(), ownership.clone());
                let rest = async move {
                    let publisher = Publisher::new(store);
                    futures_util::future::join(finalizers.run(), show::show(&publisher, &shown, &*acting)).await;
                };
                tracing::info!(%address, identity = leases.identity, "weir serves on Kubernetes");
                let whole = Parts { ports, world, journal, access };
                let served = self.work(whole, door, signals, rest, beside).await;
                // Nothing is under way any more: another may go on at once.
                ownership.release().await;
                served
            }
        }
    }

    /// Lets the engine and the server run until somebody stops them, with `rest` for as long as they do.
    async fn work<P: Ports, J: Journal + 'static, A: Access + 'static>(
        &self,
        whole: Parts<P, J, A>,
        door: Door,
        mut signals: Signals,
        rest: impl Future<Output = ()>,
        beside: impl AsyncFnOnce(SocketAddr, Stop) -> Result<()>,
    ) -> Result<()> {
        let Door { listener, address, authentication, metrics, backup } = door;
        let (say_stop, stop) = watch::channel(false);
        let mut settings = weir_engine::Settings::new(self.author.clone());
        settings.poll = self.poll;
        settings.address = Some(self.address.clone().unwrap_or_else(|| format!("http://{address}")));
        let engine = Engine::new(whole.ports.clone(), whole.world.clone(), settings);
        let mut settings = weir_server::Settings::new(authentication);
        if self.accept_unsigned_events {
            settings.unsigned = Unsigned::Accept;
        }
        settings.backup = backup;
        settings.definitions = self.definitions.clone();
        let server = Server::new(whole, settings, metrics);
        let serve = async { server.serve(listener, Stop(stop.clone()).wait()).await.context("serving failed") };
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
        let rest = async {
            rest.await;
            std::future::pending::<std::convert::Infallible>().await
        };
        let all = async {
            tokio::select! {
                ended = all => ended,
                never = rest => match never {},
            }
        };
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
}

fn repos(cache: &Path, door: &Door) -> Result<Timed<GitRepos>> {
    let repos = GitRepos::open(cache, weir_git::Settings::default())?;
    Ok(Timed::new(repos, door.metrics.clone()))
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
        let log = fmt::layer().with_writer(std::io::stderr).with_target(false);
        let log = match self.format {
            LogFormat::Text => log.with_ansi(false).boxed(),
            LogFormat::Json => log.json().boxed(),
        };
        let level = LevelFilter::from_level(self.level);
        // What the client library says, Weir says in its own words.
        let theirs = if level < LevelFilter::DEBUG { LevelFilter::OFF } else { level };
        let targets = Targets::new().with_default(level).with_targets(LIBRARIES.map(|target| (target, theirs)));
        // A second one in the same process changes nothing.
        let _ = tracing_subscriber::registry().with(log.with_filter(targets)).try_init();
    }
}
