//! A Pipeline that is deleted stays until what is open for it is closed.
//!
//! A Pipeline with records gets a finalizer. When it is deleted, the catalog says at once that it is gone, so the engine
//! withdraws its promotions and closes their proposals. Once nothing is left to close, or after a bounded wait, its
//! promotions, reports and proposals are removed here, and then the finalizer: whoever makes a pipeline of the same name
//! afterwards finds nothing of the old one. Garbage collection would remove them too, by their owner, but later. What it
//! waits for stands in its status meanwhile.
//!
//! The object of the older group that is deleted while the newer one defines the pipeline only hands over what belongs to
//! it.

use std::sync::Arc;

use jiff::Timestamp;
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use serde_json::json;
use weir_api::PipelineGroup;
use weir_core::{PipelineKey, PlainState, Promotion, Proposal, ProposalState, promotion_name};
use weir_ports::{Record, StoreError};

use super::{
    FINALIZER, HubSettings, HubStore, MANAGER, fault,
    kept::Kept,
    pipelines::{Defining, PipelineObject},
    publisher::{Published, Publisher},
};

/// Puts the finalizer on Pipelines, and takes it off.
pub struct Finalizers {
    store: HubStore,
    publisher: Publisher,
    settings: HubSettings,
}

impl Finalizers {
    /// Tends the Pipelines that a watch of this store sees.
    pub fn new(store: HubStore, settings: HubSettings) -> Self {
        Self { publisher: Publisher::new(store.clone()), store, settings }
    }

    /// Tends all Pipelines whenever something is learnt of them, and as long as one waits. Runs until it is dropped.
    pub async fn run(&self) {
        let mut news = self.store.pipelines().news();
        loop {
            news.mark_unchanged();
            if self.tend(Timestamp::now()).await {
                tokio::time::sleep(self.settings.look).await;
            } else if news.changed().await.is_err() {
                return;
            }
        }
    }

    /// Does what there is to do now; `true` if a Pipeline still waits.
    pub async fn tend(&self, now: Timestamp) -> bool {
        let mut waits = false;
        for (key, group) in self.store.pipelines().all() {
            let Some(object) = self.store.pipelines().object(group, &key) else { continue };
            match self.tend_one(&key, group, &object, now).await {
                Ok(is_waiting) => waits |= is_waiting,
                Err(error) => {
                    tracing::warn!(pipeline = %key, %error, "the finalizer of a Pipeline cannot be tended");
                    waits = true;
                }
            }
        }
        waits
    }

    async fn tend_one(
        &self,
        key: &PipelineKey,
        group: PipelineGroup,
        object: &Arc<PipelineObject>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let is_ours = |finalizer: &String| finalizer == FINALIZER;
        let has_ours = object.metadata.finalizers.iter().flatten().any(is_ours);
        let Some(going) = &object.metadata.deletion_timestamp else {
            if !has_ours && !self.store.pipelines().records(key).is_empty() {
                self.finalize(key, group, object, true).await?;
            }
            return Ok(false);
        };
        if !has_ours {
            return Ok(false);
        }
        let heir = self.store.pipelines().defining(key).filter(|defining| defining.group != group);
        if let Some(heir) = heir {
            self.hand_over(key, &heir).await?;
        } else {
            let waited = now.duration_since(going.0);
            let patience = jiff::SignedDuration::try_from(self.settings.closing).unwrap_or(jiff::SignedDuration::MAX);
            let open = self.open(key).await?;
            if waited < patience && !open.is_empty() {
                let until = going.0 + patience;
                let words =
                    format!("deleted; at the latest at {until} it goes. Until then it waits for {}", open.join("; "));
                if self.publisher.leaving(group, key, object, &words, now).await? == Published::Written {
                    tracing::info!(pipeline = %key, waits_for = open.join("; "), %until, "a deleted Pipeline waits");
                }
                return Ok(true);
            }
            if !open.is_empty() {
                tracing::warn!(pipeline = %key, open = open.join("; "), "a deleted Pipeline goes though not all is closed");
            }
            self.clear(key).await?;
        }
        self.finalize(key, group, object, false).await?;
        Ok(false)
    }

    /// Puts our finalizer on an object, or takes it off. Somebody who changed it meanwhile is waited for.
    async fn finalize(
        &self,
        key: &PipelineKey,
        group: PipelineGroup,
        object: &PipelineObject,
        is_on: bool,
    ) -> Result<(), StoreError> {
        let others = object.metadata.finalizers.iter().flatten().filter(|it| *it != FINALIZER).cloned();
        let finalizers: Vec<_> = others.chain(is_on.then(|| FINALIZER.to_owned())).collect();
        let metadata = json!({ "resourceVersion": object.metadata.resource_version, "finalizers": finalizers });
        let parameters = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        let api = self.store.pipelines().api(group, &key.namespace);
        let patch = Patch::Merge(json!({ "metadata": metadata }));
        match api.patch(key.name.as_str(), &parameters, &patch).await {
            // What has lost its last finalizer is gone; the watch tells that.
            Ok(object) if is_on => self.store.pipelines().observe(group, object),
            Ok(_) => {}
            Err(error) if fault::is_moved(&error) => drop(self.store.pipelines().fetch(key).await),
            Err(error) => return Err(fault::unavailable(&error)),
        }
        Ok(())
    }

    /// The promotions that are under way, and the proposals that wait, each with what keeps it.
    async fn open(&self, key: &PipelineKey) -> Result<Vec<String>, StoreError> {
        let promotions = self.of::<weir_api::Promotion>(key).await?;
        let proposals = self.of::<weir_api::Proposal>(key).await?;
        let records = promotions.iter().filter_map(Kept::record).chain(proposals.iter().filter_map(Kept::record));
        let records: Vec<_> = records.flatten().collect();
        // What was superseded speaks of a proposal that the one after it took over.
        let is_newest = |promotion: &Promotion| {
            !records.iter().any(|other| {
                matches!(other, Record::Promotion(other)
                if other.key.environment == promotion.key.environment && other.key.ordinal > promotion.key.ordinal)
            })
        };
        let open = records.iter().filter_map(|record| match record {
            Record::Promotion(it) => {
                let proposal = it.leg.facts.proposal.as_ref().filter(|proposal| proposal.state == ProposalState::Open);
                let is_open = it.phase.is_live() || it.leg.intent.is_some() || proposal.is_some() && is_newest(it);
                is_open.then(|| waits(it, proposal))
            }
            Record::Proposal(it) => {
                (it.state == PlainState::Open).then(|| format!("proposal `{}`", promotion_name(&it.key)))
            }
            _ => None,
        });
        Ok(open.collect())
    }

    /// Removes what belongs to a pipeline.
    async fn clear(&self, key: &PipelineKey) -> Result<(), StoreError> {
        self.remove::<weir_api::Proposal>(key).await?;
        self.remove::<weir_api::Promotion>(key).await?;
        self.remove::<weir_api::Observation>(key).await
    }

    async fn remove<K: Kept>(&self, key: &PipelineKey) -> Result<(), StoreError> {
        let api = self.api::<K>(key);
        for object in self.of::<K>(key).await? {
            let name = object.meta().name.clone().unwrap_or_default();
            match api.delete(&name, &DeleteParams::background()).await {
                Ok(_) => {}
                Err(error) if fault::is(&error, 404) => {}
                Err(error) => return Err(fault::unavailable(&error)),
            }
        }
        Ok(())
    }

    /// Everything that belongs to the pipeline belongs to its heir from now on.
    async fn hand_over(&self, key: &PipelineKey, heir: &Defining) -> Result<(), StoreError> {
        self.store.take_over(key, heir).await?;
        self.own::<weir_api::Proposal>(key, heir).await?;
        self.own::<weir_api::Promotion>(key, heir).await?;
        self.own::<weir_api::Observation>(key, heir).await
    }

    async fn own<K: Kept>(&self, key: &PipelineKey, heir: &Defining) -> Result<(), StoreError> {
        let api = self.api::<K>(key);
        let patch = Patch::Merge(json!({ "metadata": { "ownerReferences": [heir.owner()] } }));
        let parameters = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        for object in self.of::<K>(key).await? {
            let name = object.meta().name.clone().unwrap_or_default();
            api.patch(&name, &parameters, &patch).await.map_err(|error| fault::unavailable(&error))?;
        }
        Ok(())
    }

    /// The objects of a kind that belong to a pipeline.
    async fn of<K: Kept>(&self, key: &PipelineKey) -> Result<Vec<K>, StoreError> {
        let found = self.api::<K>(key).list(&ListParams::default()).await;
        let found = found.map_err(|error| fault::unavailable(&error))?;
        let ours = |object: &K| object.spec().get("pipeline").and_then(|it| it.as_str()) == Some(key.name.as_str());
        Ok(found.into_iter().filter(ours).collect())
    }

    fn api<K: Kept>(&self, key: &PipelineKey) -> Api<K> {
        K::api(self.store.pipelines().client(), Some(key.namespace.as_str()))
    }
}

/// What is open of a promotion, and why it could not be closed yet.
fn waits(promotion: &Promotion, proposal: Option<&Proposal>) -> String {
    let address = proposal.map(|proposal| proposal.url.clone().unwrap_or_else(|| proposal.id.clone()));
    let what = address.unwrap_or_else(|| format!("promotion `{}`", promotion_name(&promotion.key)).into());
    match &promotion.leg.facts.problem {
        Some(problem) => format!("{what}, which could not be closed yet: {}", problem.message),
        None => what.to_string(),
    }
}
