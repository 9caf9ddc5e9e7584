//! Which pipelines this process acts for: they fall into shards, and each shard has a Lease.
//!
//! Whether a holder is alive is told by its Lease changing, timed by the clock of whoever looks: clocks of different
//! machines are never compared. A holder that could not renew in time stops acting before anybody else may begin.

mod claim;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_core::Stream;
use futures_util::{StreamExt as _, stream};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{
    Api, Client,
    api::{ObjectMeta, PostParams},
};
use sha2::{Digest as _, Sha256};
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use weir_core::PipelineKey;
use weir_ports::Ownership;

use super::fault;
use claim::{Claim, Move};

/// How Leases are kept.
#[derive(Debug, Clone)]
pub struct LeaseSettings {
    /// Where the Leases are.
    pub namespace: String,
    /// Who this is; no two processes may be called the same.
    pub identity: String,
    /// How many shards the pipelines fall into. The same for all processes.
    pub shards: u32,
    /// After this time without a sign of life, another may take over.
    pub duration: Duration,
    /// How often a holder renews.
    pub renew: Duration,
    /// How often somebody else looks.
    pub look: Duration,
}

impl LeaseSettings {
    /// The usual rhythm, in which another takes over within 16 seconds, for one shard.
    pub fn new(namespace: impl Into<String>, identity: impl Into<String>) -> Self {
        Self {
            namespace: namespace.into(),
            identity: identity.into(),
            shards: 1,
            duration: Duration::from_secs(12),
            renew: Duration::from_secs(4),
            look: Duration::from_secs(2),
        }
    }
}

/// Holds Leases for as long as it is there.
pub struct Leases {
    shared: Arc<Shared>,
    keepers: Mutex<JoinSet<()>>,
}

struct Shared {
    leases: Api<Lease>,
    settings: LeaseSettings,
    /// Until when each shard is held.
    held: Mutex<Vec<Option<Instant>>>,
    gained: watch::Sender<u64>,
}

impl Leases {
    /// Begins to ask for all shards.
    pub fn start(client: Client, settings: LeaseSettings) -> Self {
        let leases = Api::namespaced(client, &settings.namespace);
        let shards = settings.shards.max(1);
        let held = Mutex::new(vec![None; shards as usize]);
        let shared = Arc::new(Shared { leases, settings, held, gained: watch::Sender::new(0) });
        let mut keepers = JoinSet::new();
        for shard in 0..shards {
            keepers.spawn(keep(Arc::clone(&shared), shard as usize));
        }
        Self { shared, keepers: Mutex::new(keepers) }
    }

    /// Gives back what is held, so that another need not wait. Nothing is asked for any more.
    pub async fn release(&self) {
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
        for shard in 0..self.shared.count() {
            if self.shared.holds(shard) {
                self.shared.hold(shard, None);
                self.shared.give_back(shard).await;
            }
        }
    }
}

impl Ownership for Leases {
    fn owns(&self, pipeline: &PipelineKey) -> bool {
        self.shared.holds(shard(pipeline, self.shared.count()))
    }

    fn watch(&self) -> impl Stream<Item = ()> + Send + Unpin + 'static {
        let gains = stream::unfold(self.shared.gained.subscribe(), |mut gains| async move {
            gains.changed().await.ok()?;
            Some(((), gains))
        });
        Box::pin(gains.chain(stream::pending()))
    }
}

/// The shard of a pipeline: the same in every process and every version.
fn shard(pipeline: &PipelineKey, shards: usize) -> usize {
    if shards <= 1 {
        return 0;
    }
    let hash = Sha256::digest(pipeline.to_string().as_bytes());
    let number = hash.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    usize::try_from(number % shards as u64).unwrap_or_default()
}

fn name(shard: usize) -> String {
    format!("weir-shard-{shard}")
}

/// Asks for one shard again and again.
async fn keep(all: Arc<Shared>, shard: usize) {
    let mut claim = Claim::new(all.settings.identity.clone(), all.settings.duration);
    let mut troubled = false;
    loop {
        let begun = Instant::now();
        match timeout(all.settings.renew, all.ask(shard, &mut claim)).await {
            Ok(Ok(true)) => {
                troubled = false;
                all.hold(shard, Some(begun + all.settings.duration));
            }
            Ok(Ok(false)) => {
                troubled = false;
                all.hold(shard, None);
            }
            // Somebody else was faster.
            Ok(Err(error)) if fault::is_moved(&error) => {}
            failed => {
                let reason = match failed {
                    Ok(Err(error)) => fault::sentence(&error),
                    _ => "the API server does not answer in time".to_owned(),
                };
                if !troubled {
                    tracing::warn!(lease = name(shard), reason, "the Lease cannot be renewed");
                }
                troubled = true;
            }
        }
        // With more than one shard, those who hold less come first.
        let others = u32::try_from(all.others(shard)).unwrap_or_default();
        let pause = if all.holds(shard) { all.settings.renew } else { all.settings.look * (1 + others) };
        sleep(pause.saturating_sub(begun.elapsed())).await;
    }
}

impl Shared {
    /// Renews, takes, or leaves the Lease of a shard; `true` if it is ours now.
    async fn ask(&self, shard: usize, claim: &mut Claim) -> Result<bool, kube::Error> {
        let lease_name = name(shard);
        let seen = self.leases.get_opt(&lease_name).await?;
        let spec = match claim.next(seen.as_ref(), Instant::now().into_std()) {
            Move::Leave => return Ok(false),
            Move::Have(spec) => spec,
        };
        let parameters = PostParams::default();
        match seen {
            None => {
                let metadata = ObjectMeta { name: Some(lease_name), ..ObjectMeta::default() };
                self.leases.create(&parameters, &Lease { metadata, spec: Some(spec) }).await?;
            }
            Some(lease) => {
                let lease = Lease { spec: Some(spec), metadata: lease.metadata };
                self.leases.replace(&lease_name, &parameters, &lease).await?;
            }
        }
        Ok(true)
    }

    async fn give_back(&self, shard: usize) {
        let lease_name = name(shard);
        let Ok(Some(mut lease)) = self.leases.get_opt(&lease_name).await else { return };
        let Some(spec) = lease.spec.as_mut() else { return };
        if spec.holder_identity.as_deref() == Some(&self.settings.identity) {
            spec.holder_identity = None;
            // Whoever else wrote it has it already.
            self.leases.replace(&lease_name, &PostParams::default(), &lease).await.ok();
        }
    }

    fn count(&self) -> usize {
        self.lock().len()
    }

    fn holds(&self, shard: usize) -> bool {
        self.lock().get(shard).copied().flatten().is_some_and(|until| Instant::now() < until)
    }

    fn others(&self, shard: usize) -> usize {
        (0..self.count()).filter(|other| *other != shard && self.holds(*other)).count()
    }

    fn hold(&self, shard: usize, until: Option<Instant>) {
        let (held, has) = (self.holds(shard), until.is_some());
        let before = self.lock().get_mut(shard).and_then(|slot| std::mem::replace(slot, until));
        // What has run out without a word is told now.
        if before.is_some() != has {
            let identity = &self.settings.identity;
            let what = if has { "this process acts for a shard" } else { "this process no longer acts for a shard" };
            tracing::info!(shard, identity, "{what}");
        }
        if has && !held {
            self.gained.send_modify(|count| *count += 1);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Option<Instant>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
