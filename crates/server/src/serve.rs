//! Serves connections: no more than it bears, none that is too slow, and none cut off when it shall stop.

use std::{io, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_io_timeout::TimeoutStream;

use crate::{
    backend::{Backend, Parts},
    metrics::{self, Metrics},
    router::router,
    settings::Settings,
    state::Shared,
};

/// How long to wait when no connection can be accepted, as when there are too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// The server.
pub struct Server {
    shared: Shared,
    router: Router,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

impl Server {
    /// A server of these parts. `metrics` is the one that the repositories are measured with.
    pub fn new<P, J, A>(parts: Parts<P, J, A>, settings: Settings, metrics: Metrics) -> Self
    where
        P: weir_engine::Ports,
        J: weir_ports::Journal + 'static,
        A: weir_ports::Access + 'static,
    {
        let backend: Box<dyn Backend> = Box::new(parts);
        let shared = Shared::new(backend, settings, metrics);
        let router = router(shared.clone());
        Self { shared, router }
    }

    /// The routes, for whoever serves them beside others of their own.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Serves until `shutdown` is over; then lets requests finish, for as long as the settings allow.
    pub async fn serve(&self, listener: TcpListener, shutdown: impl Future<Output = ()> + Send) -> io::Result<()> {
        self.serve_router(self.router.clone(), listener, shutdown).await
    }

    /// Serves routes that [`router`](Self::router) is part of, under the same limits.
    pub async fn serve_router(
        &self,
        router: Router,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send,
    ) -> io::Result<()> {
        let shared = &self.shared;
        let address = listener.local_addr()?;
        if shared.is_open() && !address.ip().is_loopback() {
            let why =
                format!("`{address}` can be reached from elsewhere, so everybody has to bring a token; set them up");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let begun = shared.backend.now();
        tokio::select! {
            () = metrics::follow(shared.metrics.clone(), shared.world(), begun) => Ok(()),
            served = self.accept(router, listener, shutdown) => served,
        }
    }

    async fn accept(
        &self,
        router: Router,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send,
    ) -> io::Result<()> {
        let limits = &self.shared.settings.limits;
        let places = Arc::new(Semaphore::new(limits.connections));
        let graceful = GracefulShutdown::new();
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let next = async {
                let place = places.clone().acquire_owned().await.map_err(io::Error::other)?;
                Ok::<_, io::Error>((listener.accept().await, place))
            };
            let (accepted, place) = tokio::select! {
                next = next => next?,
                () = &mut shutdown => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::debug!(%error, "a connection was not accepted");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let connection = graceful.watch(self.connection(stream, &router));
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection ended early");
                }
                drop(place);
            });
        }
        drop(listener);
        self.shared.closing.send_replace(true);
        if tokio::time::timeout(limits.grace, graceful.shutdown()).await.is_err() {
            tracing::warn!("requests were cut off, because they took too long to finish");
        }
        Ok(())
    }

    fn connection(&self, stream: TcpStream, router: &Router) -> http1::Connection<Stream, TowerToHyperService<Router>> {
        let limits = &self.shared.settings.limits;
        // Small answers go out at once.
        let _ = stream.set_nodelay(true);
        let mut timed = TimeoutStream::new(stream);
        timed.set_write_timeout(Some(limits.write_timeout));
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head_timeout)
            .max_buf_size(64 * 1024)
            .serve_connection(TokioIo::new(Box::pin(timed)), TowerToHyperService::new(router.clone()))
    }
}

type Stream = TokioIo<std::pin::Pin<Box<TimeoutStream<TcpStream>>>>;
