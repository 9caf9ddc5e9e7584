//! What a plan makes of a snapshot, without a store.

use crate::{
    plan::{Plan, Write},
    snapshot::Snapshot,
};

/// Writes a plan into a snapshot. Planning again then writes nothing.
#[must_use]
pub fn apply(plan: &Plan, mut snapshot: Snapshot) -> Snapshot {
    for write in &plan.writes {
        match write {
            Write::Create(promotion) => snapshot.promotions.push((**promotion).clone()),
            Write::Update(promotion) => {
                if let Some(known) = snapshot.promotions.iter_mut().find(|known| known.key == promotion.key) {
                    known.clone_from(promotion);
                }
            }
            Write::Remember(name, record) => {
                snapshot.environments.insert(name.clone(), (**record).clone());
            }
        }
    }
    snapshot
}
