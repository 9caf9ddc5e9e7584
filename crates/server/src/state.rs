//! What all handlers share.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::Instant,
};
use weir_core::PipelineKey;
use weir_engine::{Known, World};

use crate::{
    backend::Backend,
    metrics::Metrics,
    problem::Problem,
    settings::{Authentication, Settings},
};

/// What all handlers share.
#[derive(Clone)]
pub(crate) struct Shared(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) backend: Box<dyn Backend>,
    pub(crate) settings: Settings,
    pub(crate) metrics: Metrics,
    /// How many more events may be taken in.
    pub(crate) events: Arc<Semaphore>,
    /// How many more other requests may be served.
    pub(crate) requests: Arc<Semaphore>,
    /// How many more may wait for an outcome.
    waits: Semaphore,
    /// How many more may follow the event stream.
    streams: Arc<Semaphore>,
    /// Whether the server shall stop.
    pub(crate) closing: watch::Sender<bool>,
}

impl std::ops::Deref for Shared {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl Shared {
    pub(crate) fn new(backend: Box<dyn Backend>, settings: Settings, metrics: Metrics) -> Self {
        let limits = &settings.limits;
        Self(Arc::new(Inner {
            backend,
            events: Arc::new(Semaphore::new(limits.events)),
            requests: Arc::new(Semaphore::new(limits.requests)),
            waits: Semaphore::new(limits.waits),
            streams: Arc::new(Semaphore::new(limits.streams)),
            closing: watch::Sender::new(false),
            metrics,
            settings,
        }))
    }
}

impl Inner {
    pub(crate) fn world(&self) -> &World {
        self.backend.world()
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.settings.authentication, Authentication::Open { .. })
    }

    /// A place among those who follow the event stream.
    pub(crate) fn stream(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let full = |_| Problem::unavailable("busy", "as many follow the event stream as may; try again soon");
        self.streams.clone().try_acquire_owned().map_err(full)
    }

    /// Returns when the server shall stop.
    pub(crate) async fn closed(&self) {
        let _ = self.closing.subscribe().wait_for(|closing| *closing).await;
    }

    /// Looks at a pipeline now and after whatever may have changed it, until there is an answer or the time is up.
    /// Where too many wait already, it looks once.
    pub(crate) async fn wait<T>(
        &self,
        pipeline: &PipelineKey,
        time: Duration,
        look: impl Fn(&Known) -> Option<T>,
    ) -> Option<T> {
        let until = Instant::now() + time;
        let changes = self.world().changes();
        let permit = self.waits.try_acquire();
        loop {
            let mut seen = changes.end();
            if let Some(answer) = self.world().look(pipeline, &look).flatten() {
                return Some(answer);
            }
            if permit.is_err() {
                return None;
            }
            loop {
                tokio::select! {
                    () = changes.after(seen) => {}
                    () = tokio::time::sleep_until(until) => return None,
                    () = self.closed() => return None,
                }
                let Ok(news) = changes.since(seen) else { break };
                if news.iter().any(|(_, change)| change.pipeline.as_ref().is_none_or(|key| key == pipeline)) {
                    break;
                }
                seen = news.last().map_or(seen, |(id, _)| *id);
            }
        }
    }
}
