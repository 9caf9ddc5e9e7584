//! The engine at work: it follows the watches, and does one job after the other, many at a time.
//!
//! Everything happens in the one task that [`Engine::run`] is: jobs are futures that it polls, never tasks of their own.
//! Dropping it at any moment is a crash, and the next start carries on.

mod poll;

use std::{collections::BTreeMap, sync::Arc};

use futures_util::{FutureExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use jiff::{SignedDuration, Timestamp};
use weir_core::{PipelineKey, PromotionKey};
use weir_ports::{Catalog as _, CatalogNotice, Clock as _, Clusters as _, Ownership as _, Store as _};

use crate::{
    carry::{Carrier, Ended},
    decide::decide,
    memory::Memory,
    ports::Ports,
    queue::Queue,
    settings::Settings,
    world::World,
};
use poll::RepositoryKey;

/// How often a step is taken anew at once because something moved under it. After that it waits like one that failed.
const AT_ONCE: u32 = 5;

/// Follows the world, decides, and carries promotions out.
pub struct Engine<P> {
    ports: Arc<P>,
    world: Arc<World>,
    settings: Settings,
    memory: Memory,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Job {
    Decide(PipelineKey),
    Carry(PromotionKey),
    Poll(RepositoryKey),
}

/// What came of a job: when to do it again, and what else is to be done now.
#[derive(Debug, Default)]
struct Outcome {
    next: Option<Timestamp>,
    failed: bool,
    also: Vec<Job>,
}

impl<P: Ports> Engine<P> {
    /// An engine that works through these ports, and knows and shows this world.
    pub fn new(ports: Arc<P>, world: Arc<World>, settings: Settings) -> Self {
        Self { ports, world, settings, memory: Memory::default() }
    }

    /// Works until `stop` says so. Then no new job is begun, and those under way are finished.
    pub async fn run(&self, stop: impl Future<Output = ()> + Send) {
        let mut store = self.ports.store().watch();
        let mut catalog = self.ports.catalog().watch();
        let mut clusters = self.ports.clusters().watch();
        let mut ownership = self.ports.ownership().watch();
        let mut queue = Queue::new();
        let mut failures: BTreeMap<Job, u32> = BTreeMap::new();
        let mut jobs: FuturesUnordered<BoxFuture<'_, (Job, Outcome)>> = FuturesUnordered::new();
        let mut stop = std::pin::pin!(stop.fuse());
        let mut stopping = false;
        loop {
            let now = self.ports.clock().now();
            self.wake(&mut queue, now);
            while !stopping && jobs.len() < self.settings.at_once {
                let Some(job) = queue.take(now) else { break };
                let failed = failures.get(&job).copied().unwrap_or_default();
                jobs.push(self.perform(job, failed).boxed());
            }
            if stopping && jobs.is_empty() {
                return;
            }
            let due = queue.next().filter(|_| !stopping && jobs.len() < self.settings.at_once);
            let due = async {
                match due {
                    Some(at) => self.ports.clock().sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = &mut stop, if !stopping => stopping = true,
                Some(notice) = store.next() => {
                    self.world.note(notice);
                    // Whatever else has come already is taken in before anything is decided.
                    while let Some(Some(notice)) = store.next().now_or_never() {
                        self.world.note(notice);
                    }
                }
                Some(notice) = catalog.next() => {
                    self.define(notice);
                    while let Some(Some(notice)) = catalog.next().now_or_never() {
                        self.define(notice);
                    }
                }
                Some(seen) = clusters.next() => {
                    self.world.see(seen);
                    while let Some(Some(seen)) = clusters.next().now_or_never() {
                        self.world.see(seen);
                    }
                }
                Some(()) = ownership.next() => self.world.begin_anew(),
                Some((job, outcome)) = jobs.next() => {
                    let now = self.ports.clock().now();
                    if outcome.failed {
                        *failures.entry(job.clone()).or_default() += 1;
                    } else {
                        failures.remove(&job);
                    }
                    queue.done(job, outcome.next);
                    for also in outcome.also {
                        queue.add(also, now);
                    }
                }
                () = self.world.woke() => {}
                () = due => {}
            }
        }
    }

    /// Takes in what the catalog tells, and looks at the clusters accordingly.
    fn define(&self, notice: CatalogNotice) {
        let pipeline = match &notice {
            CatalogNotice::Defined(definition) => Some(definition.pipeline.key.clone()),
            CatalogNotice::Gone(key) => Some(key.clone()),
            CatalogNotice::Problems(_) | CatalogNotice::Listed => None,
        };
        self.world.define(notice);
        if let Some(pipeline) = pipeline {
            self.ports.clusters().want(&pipeline, self.world.interest(&pipeline));
        }
    }

    /// Whether it is time to act for a pipeline. If not, it is looked at again when that changes.
    fn acts_for(&self, pipeline: &PipelineKey) -> bool {
        self.ports.ownership().owns(pipeline) && self.world.is_settled(pipeline)
    }

    /// Queues whatever has to be looked at because something changed.
    fn wake(&self, queue: &mut Queue<Job>, now: Timestamp) {
        let wakes = self.world.wakes();
        for pipeline in wakes.decide.into_iter().filter(|pipeline| self.ports.ownership().owns(pipeline)) {
            for repository in self.repositories(&pipeline) {
                let job = Job::Poll(repository);
                if !queue.has(&job) {
                    queue.add(job, self.next_poll(now, 1, SignedDuration::ZERO));
                }
            }
            queue.add(Job::Decide(pipeline), now);
        }
        for promotion in wakes.carry {
            queue.add(Job::Carry(promotion), now);
        }
    }

    async fn perform(&self, job: Job, failures: u32) -> (Job, Outcome) {
        let outcome = match &job {
            Job::Decide(pipeline) | Job::Carry(PromotionKey { pipeline, .. }) if !self.acts_for(pipeline) => {
                Outcome::default()
            }
            Job::Decide(pipeline) => {
                let next = decide(pipeline, &self.world, &*self.ports).await;
                Outcome { next, ..Outcome::default() }
            }
            Job::Carry(promotion) => self.carry(promotion, failures).await,
            Job::Poll(repository) => self.poll(repository).await,
        };
        (job, outcome)
    }

    async fn carry(&self, promotion: &PromotionKey, failures: u32) -> Outcome {
        let Self { ports, world, settings, memory } = self;
        let carrier = Carrier { world, ports: &**ports, memory, settings };
        let soon = || {
            let now = ports.clock().now();
            now.checked_add(SignedDuration::from_secs(1)).unwrap_or(now)
        };
        match carrier.carry(promotion, failures).await {
            Ended::Well => Outcome::default(),
            Ended::Stale if failures < AT_ONCE => {
                Outcome { next: Some(ports.clock().now()), failed: true, ..Outcome::default() }
            }
            Ended::Stale => Outcome { next: Some(soon()), failed: true, ..Outcome::default() },
            Ended::Unwanted => Outcome {
                next: Some(soon()),
                also: vec![Job::Decide(promotion.pipeline.clone())],
                ..Outcome::default()
            },
            Ended::Retry(at) => Outcome { next: Some(at), failed: true, ..Outcome::default() },
        }
    }
}
