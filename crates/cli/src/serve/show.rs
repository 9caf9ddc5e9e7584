//! Shows people with `kubectl` what the API shows.

use std::{collections::BTreeSet, time::Duration};

use futures_util::StreamExt as _;
use weir_core::{Pipeline, PipelineKey, Promotion, Snapshot};
use weir_engine::{What, World};
use weir_kube::hub::{Publisher, Shown};
use weir_local::SystemClock;
use weir_ports::{Clock as _, Ownership, StoreError};

/// How long changes are gathered before they are shown: what belongs together is one write.
const GATHER: Duration = Duration::from_millis(200);

/// How long to wait after the API server did not take something.
const PAUSE: Duration = Duration::from_secs(5);

/// Follows the world for as long as it is polled, and writes the status of the Pipelines that this process acts for, and
/// Events.
pub(super) async fn show(publisher: &Publisher, world: &World, ownership: &impl Ownership) {
    let mut seen = world.changes().end();
    let mut due = all(publisher, world);
    let mut gains = ownership.watch();
    loop {
        let mut failed = BTreeSet::new();
        if world.is_ready() {
            for key in std::mem::take(&mut due).into_iter().filter(|key| ownership.owns(key)) {
                if let Err(error) = show_one(publisher, world, &key).await {
                    tracing::warn!(pipeline = %key, %error, "the status of a Pipeline cannot be written");
                    failed.insert(key);
                }
            }
        }
        let again =
            async { if failed.is_empty() { std::future::pending().await } else { tokio::time::sleep(PAUSE).await } };
        tokio::select! {
            () = world.changes().after(seen) => tokio::time::sleep(GATHER).await,
            Some(()) = gains.next() => due.extend(all(publisher, world)),
            () = again => {}
        }
        due.extend(failed);
        let Ok(news) = world.changes().since(seen) else {
            // Too many at once.
            seen = world.changes().end();
            due.extend(all(publisher, world));
            continue;
        };
        for (id, change) in news {
            seen = id;
            match (change.pipeline, change.what) {
                (Some(pipeline), _) => drop(due.insert(pipeline)),
                (None, What::Freeze(_) | What::Problems) => due.extend(all(publisher, world)),
                (None, _) => {}
            }
        }
    }
}

fn all(publisher: &Publisher, world: &World) -> BTreeSet<PipelineKey> {
    let mut all: BTreeSet<_> = publisher.pipelines().into_iter().collect();
    world.scan(None, |key, _| {
        all.insert(key.clone());
        true
    });
    all
}

async fn show_one(publisher: &Publisher, world: &World, key: &PipelineKey) -> Result<(), StoreError> {
    let Some(generation) = publisher.generation(key) else { return Ok(()) };
    let now = SystemClock.now();
    if world.has_no_effect(key) {
        publisher.shadow(key, now).await?;
    }
    let defined = world.look(key, |known| {
        known.definition()?;
        Some((known.is_seen(), known.pipeline().clone(), known.snapshot().clone()))
    });
    let defined = defined.flatten();
    let problems: Vec<_> = world.unread(key).iter().map(|flaw| flaw.told(defined.is_some())).collect();
    let (pipeline, snapshot) = match defined {
        Some((true, pipeline, snapshot)) => (pipeline, snapshot),
        // It was never understood, and that is all that can be shown of it.
        None if !problems.is_empty() => (Pipeline::deleted(key.clone()), Snapshot::default()),
        // Its targets are yet to be seen, or it is gone.
        Some(_) | None => return Ok(()),
    };
    let shown = Shown { generation, pipeline: &pipeline, snapshot: &snapshot, problems: &problems, now };
    publisher.publish(&shown).await?;
    for promotion in newest(&snapshot.promotions) {
        publisher.announce(promotion, now).await?;
    }
    Ok(())
}

/// What may have moved lately: the two newest promotions of each environment.
fn newest(promotions: &[Promotion]) -> impl Iterator<Item = &Promotion> {
    let later = |promotion: &Promotion| {
        let same = |it: &&Promotion| it.key.environment == promotion.key.environment;
        promotions.iter().filter(same).filter(|it| it.key.ordinal > promotion.key.ordinal).count()
    };
    promotions.iter().filter(move |promotion| later(promotion) < 2)
}
