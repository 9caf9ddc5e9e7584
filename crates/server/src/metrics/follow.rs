//! Measures promotions as they move.

use std::collections::BTreeSet;

use jiff::Timestamp;
use weir_core::{Phase, PromotionKey};
use weir_engine::{What, World};

use super::Metrics;

/// Follows the world for as long as it is polled. A promotion counts once for each thing that is measured; what happened
/// before this began was measured by somebody else, or never.
pub(crate) async fn follow(metrics: Metrics, world: &World, begun: Timestamp) {
    let mut counted = BTreeSet::new();
    let mut seen = world.changes().end();
    loop {
        world.changes().after(seen).await;
        let Ok(news) = world.changes().since(seen) else {
            // Too many at once. What was missed is not measured.
            seen = world.changes().end();
            continue;
        };
        for (id, change) in news {
            seen = id;
            if let What::Promotion(key) = change.what {
                measure(&metrics, world, &key, begun, &mut counted);
            }
        }
    }
}

fn measure(
    metrics: &Metrics,
    world: &World,
    key: &PromotionKey,
    begun: Timestamp,
    counted: &mut BTreeSet<(PromotionKey, Phase)>,
) {
    let inner = &metrics.0;
    for (phase, histogram) in [(Phase::Proposed, &inner.to_proposal), (Phase::Succeeded, &inner.to_healthy)] {
        let found = world.look(&key.pipeline, |known| {
            let promotion = known.snapshot().promotions.iter().find(|promotion| promotion.key == *key)?;
            let turn = promotion.history.iter().find(|turn| turn.phase == phase);
            let from = known.snapshot().environments.get(&promotion.from);
            let first = from.and_then(|record| record.first_success(&promotion.release));
            Some(turn.map(|turn| turn.at).zip(first))
        });
        match found.flatten() {
            // It is gone, and does not come back.
            None => {
                counted.remove(&(key.clone(), phase));
            }
            Some(Some((at, first))) if at >= begun && counted.insert((key.clone(), phase)) => {
                histogram.observe(at.duration_since(first).as_secs_f64().max(0.0));
            }
            Some(_) => {}
        }
    }
}
