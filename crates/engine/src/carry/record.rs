//! The record of a promotion: read again where it counts, and the facts that a carrier writes to it.

use weir_core::{Intent, LegFacts, Promotion, PromotionKey, plan};
use weir_ports::{Clock as _, Record, RecordKey, Store as _, StoreError, Stored};

use super::{Carrier, Load, Trouble};
use crate::ports::Ports;

impl<P: Ports> Carrier<'_, P> {
    /// Whether no later promotion has the turn by now.
    pub(super) fn has_the_turn(&self, key: &PromotionKey) -> bool {
        let newest = self.world.look(&key.pipeline, |known| known.newest(&key.environment).map(|it| it.key.clone()));
        newest.flatten().as_ref() == Some(key)
    }

    /// Writes down what was learnt, if it is anything new. What is seen after the turn has passed is another's to tell; and
    /// if another process has learnt something meanwhile, all of it is looked at anew.
    pub(super) async fn learn(&self, load: &mut Load<'_>) -> Result<(), Trouble> {
        if !self.has_the_turn(&load.promotion.key) {
            return Err(Trouble::Unwanted);
        }
        let facts = load.promotion.leg.facts.clone();
        let learn = |known: &mut LegFacts| {
            if *known != load.written {
                return Err(Trouble::Stale);
            }
            known.clone_from(&facts);
            Ok(())
        };
        self.change(&load.promotion.key, learn).await?;
        load.written = facts;
        Ok(())
    }

    /// Changes one fact of a promotion, whatever else was written to it in the meantime.
    pub(super) async fn amend(&self, key: &PromotionKey, amend: impl Fn(&mut LegFacts)) -> Result<(), Trouble> {
        let change = |facts: &mut LegFacts| {
            amend(facts);
            Ok(())
        };
        self.change(key, change).await
    }

    async fn change(
        &self,
        key: &PromotionKey,
        change: impl Fn(&mut LegFacts) -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let record = RecordKey::Promotion(key.clone());
        loop {
            let Some(Stored { record: Record::Promotion(mut promotion), version }) =
                self.ports.store().get(&record).await?
            else {
                return Ok(());
            };
            let before = promotion.leg.facts.clone();
            change(&mut promotion.leg.facts)?;
            if promotion.leg.facts == before {
                return Ok(());
            }
            let record = Record::Promotion(promotion);
            match self.ports.store().replace(record.clone(), version).await {
                Ok(version) => {
                    self.world.keep(Stored { record, version });
                    return Ok(());
                }
                Err(StoreError::Moved(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The promotion as it is now, in the world, too.
    pub(super) async fn promotion(&self, key: &PromotionKey) -> Result<Option<Promotion>, Trouble> {
        let stored = self.ports.store().get(&RecordKey::Promotion(key.clone())).await?;
        let Some(Stored { record: Record::Promotion(promotion), version }) = stored else { return Ok(None) };
        self.world.keep(Stored { record: Record::Promotion(promotion.clone()), version });
        Ok(Some(*promotion))
    }

    /// Reads what may stop changes of a base branch: another process may have written it a moment ago.
    pub(super) async fn catch_up(&self, promotions: &[PromotionKey]) -> Result<(), Trouble> {
        for key in promotions {
            self.promotion(key).await?;
            if let Some(stored) = self.ports.store().get(&RecordKey::Pipeline(key.pipeline.clone())).await? {
                self.world.keep(stored);
            }
        }
        for stored in self.ports.store().freezes().await? {
            self.world.keep(stored);
        }
        Ok(())
    }

    /// Whether a step is still wanted at this very moment.
    pub(super) fn wants(&self, key: &PromotionKey, intent: &Intent) -> bool {
        let now = self.ports.clock().now();
        let wanted = self.world.look(&key.pipeline, |known| {
            let plan = plan(known.pipeline(), known.snapshot(), now);
            let promotion = plan.promotion(key, known.snapshot());
            promotion.is_some_and(|promotion| promotion.leg.intent.as_ref() == Some(intent))
        });
        wanted == Some(true)
    }
}
