//! One decision about one pipeline: plan, and write the plan down.

use jiff::{SignedDuration, Timestamp};
use weir_core::{Phase, PipelineKey, PlainProposal, PlainState, Promotion, Write, plan};
use weir_ports::{Clock as _, Record, RecordKey, RecordVersion, Store, StoreError, Stored};

use crate::{
    ports::Ports,
    world::{Known, World},
};

/// How many promotions that are over stay among the records of an environment, and for how long. The newest always stays.
const KEPT: usize = 8;
const KEPT_FOR: SignedDuration = SignedDuration::from_hours(90 * 24);

/// How often a decision is made anew because a record was not what it was thought to be.
const ROUNDS: usize = 16;

/// How long a store that cannot be used is left alone.
const PAUSE: SignedDuration = SignedDuration::from_secs(1);

/// Decides about a pipeline, and writes the decision down. Returns when to decide again if nothing happens until then.
pub(crate) async fn decide(key: &PipelineKey, world: &World, ports: &impl Ports) -> Option<Timestamp> {
    for _ in 0..ROUNDS {
        let now = ports.clock().now();
        let (next_check, writes, over) = world.look(key, |known| {
            let plan = plan(known.pipeline(), known.snapshot(), now);
            let over = if plan.writes.is_empty() { over(known, now) } else { Vec::new() };
            // Written over the states that were decided on, and over no other: what others write meanwhile stays.
            let writes = plan.writes.into_iter().map(|write| {
                let record = record(key, write);
                let at = known.version(&record.key());
                (record, at)
            });
            (plan.next_check, writes.collect(), over)
        })?;
        match write(writes, over, world, ports.store()).await {
            Ok(()) => return next_check,
            Err(StoreError::Exists(record) | StoreError::Moved(record)) => {
                // Somebody else wrote it. What they wrote may come late through the watch, so it is fetched.
                if let Ok(Some(stored)) = ports.store().get(&record).await {
                    world.keep(stored);
                }
            }
            Err(StoreError::Unavailable(reason)) => {
                tracing::warn!(pipeline = %key, reason, "the decision cannot be written down");
                break;
            }
        }
    }
    ports.clock().now().checked_add(PAUSE).ok()
}

/// Writes in the order of the plan. Whoever dies in between loses nothing: the next decision completes the rest.
async fn write(
    writes: Vec<(Record, Option<RecordVersion>)>,
    over: Vec<(RecordKey, RecordVersion)>,
    world: &World,
    store: &impl Store,
) -> Result<(), StoreError> {
    for (record, at) in writes {
        let told = record.clone();
        save(record, at, world, store).await?;
        tell(&told, at);
    }
    for (record, at) in over {
        store.remove(&record, at).await?;
    }
    Ok(())
}

fn record(key: &PipelineKey, write: Write) -> Record {
    match write {
        Write::Create(promotion) | Write::Update(promotion) => Record::Promotion(promotion),
        Write::Remember(environment, record) => Record::Environment(key.clone(), environment, record),
    }
}

/// Writes a record over the state of it that it was made from. `None`: there was none.
pub(crate) async fn save(
    record: Record,
    at: Option<RecordVersion>,
    world: &World,
    store: &impl Store,
) -> Result<RecordVersion, StoreError> {
    let version = match at {
        Some(at) => store.replace(record.clone(), at).await?,
        None => store.create(record.clone()).await?,
    };
    world.keep(Stored { record, version });
    Ok(version)
}

fn tell(record: &Record, at: Option<RecordVersion>) {
    let Record::Promotion(promotion) = record else { return };
    let Promotion { key, release, phase, holds, .. } = &**promotion;
    let hold = holds.first().map(|hold| hold.reason.name());
    let what = if at.is_none() { "promotion begins" } else { "promotion changes" };
    tracing::info!(promotion = %key, %release, %phase, hold, "{what}");
}

/// The records of promotions that were over long ago, and of their proposals.
fn over(known: &Known, now: Timestamp) -> Vec<(RecordKey, RecordVersion)> {
    let mut promotions: Vec<&Promotion> = known.snapshot().promotions.iter().collect();
    let is_old = |it: &&Promotion| it.history.last().is_some_and(|turn| now.duration_since(turn.at) > KEPT_FOR);
    if promotions.len() <= KEPT && !promotions.iter().any(is_old) {
        return Vec::new();
    }
    promotions.sort_by(|a, b| (&a.key.environment, b.key.ordinal).cmp(&(&b.key.environment, a.key.ordinal)));
    let mut records = Vec::new();
    for into in promotions.chunk_by(|a, b| a.key.environment == b.key.environment) {
        // Which release is there is told by the newest that was delivered, however long ago.
        let delivered = into.iter().position(|it| matches!(it.phase, Phase::Succeeded | Phase::Failed));
        for (age, promotion) in into.iter().enumerate().skip(1).filter(|(age, it)| *age >= KEPT || is_old(it)) {
            let needed = promotion.phase.is_live() || promotion.phase == Phase::Delivered || Some(age) == delivered;
            let open = |proposal: &PlainProposal| proposal.state == PlainState::Open;
            if !needed && !known.proposal(&promotion.key).is_some_and(open) {
                records.push(RecordKey::Proposal(promotion.key.clone()));
                records.push(RecordKey::Promotion(promotion.key.clone()));
            }
        }
    }
    records.into_iter().filter_map(|key| known.version(&key).map(|at| (key, at))).collect()
}
