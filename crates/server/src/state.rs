//! What all handlers share.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
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

/// For how long it is told that events could not be stored.
const LINGERS: SignedDuration = SignedDuration::from_mins(1);

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
    /// What last kept an event from being stored, and when.
    trouble: Mutex<Option<(Timestamp, String)>>,
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
            trouble: Mutex::default(),
            metrics,
            settings,
        }))
    }
}

impl Inner {
    /// An event could not be stored.
    pub(crate) fn troubled(&self, problem: &Problem) {
        let now = self.backend.now();
        let mut known = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        // Once a minute is enough, however many there are.
        let is_new = known.as_ref().is_none_or(|(at, _)| now.duration_since(*at) > LINGERS);
        if is_new {
            tracing::warn!(reason = problem.detail(), "events cannot be stored");
            *known = Some((now, problem.detail().to_owned()));
        }
    }

    /// What keeps events from being stored.
    pub(crate) fn trouble(&self) -> Option<String> {
        let known = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, detail) = known.as_ref()?;
        let lately = self.backend.now().duration_since(*at) <= LINGERS;
        lately.then(|| format!("events could not be stored at {at}: {detail}"))
    }

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
