//! Everything behind the routes, as one object: handlers know neither the store nor the clock that they work with.

use std::{collections::BTreeSet, fmt, sync::Arc};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use secrecy::SecretString;
use weir_core::{
    Actor, CommitId, EnvironmentName, Freeze, Name, Namespace, Pipeline, PipelineKey, PlainProposal, Preview,
    Promotion, PromotionKey, TargetKey, Verdict, WorkloadKey,
};
use weir_engine::{
    Ask, Asked, Definitions, Denied, Difference, Draft, DraftError, Drafts, NoDifference, People, Ports, WholeDraft,
    World, difference,
};
use weir_ports::{
    Access, AccessError, Catalog as _, CatalogError, Clock as _, Clusters as _, DeedQuery, HistoryQuery, Journal,
    ManifestUnread, Noted, Ownership as _, Record, RecordKey, RecordVersion, Scope, Secret, Store as _, StoreError,
    Stored, TreeObject, Unseen, Verb,
};

/// What a server works with.
pub struct Parts<P, J, A> {
    /// Catalog, store, repositories and clock.
    pub ports: Arc<P>,
    /// What is known. All that is shown comes from here.
    pub world: Arc<World>,
    /// What happened.
    pub journal: Arc<J>,
    /// Who may do what. Not asked where authentication is open.
    pub access: Arc<A>,
}

impl<P, J, A> fmt::Debug for Parts<P, J, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}

/// What somebody does with a proposal.
pub(crate) enum Review {
    Say { verdict: Verdict, head: CommitId },
    Comment { body: String },
    Merge { head: CommitId },
    Close { head: Option<CommitId> },
}

/// What handlers need of the world.
pub(crate) trait Backend: Send + Sync {
    fn world(&self) -> &World;
    fn now(&self) -> Timestamp;
    fn secret<'a>(&'a self, home: &'a Namespace, name: &'a Name) -> BoxFuture<'a, Result<Secret, CatalogError>>;
    fn manifest<'a>(&'a self, pipeline: &'a PipelineKey) -> BoxFuture<'a, Result<Option<String>, ManifestUnread>>;
    fn behind<'a>(
        &'a self,
        target: &'a TargetKey,
        workload: &'a WorkloadKey,
    ) -> BoxFuture<'a, Result<TreeObject, Unseen>>;
    fn get<'a>(&'a self, key: &'a RecordKey) -> BoxFuture<'a, Result<Option<Stored>, StoreError>>;
    fn create(&self, record: Record) -> BoxFuture<'_, Result<RecordVersion, StoreError>>;
    fn replace(&self, record: Record, at: RecordVersion) -> BoxFuture<'_, Result<RecordVersion, StoreError>>;
    fn deeds<'a>(&'a self, query: &'a DeedQuery) -> BoxFuture<'a, Result<Vec<Noted>, StoreError>>;
    fn promotions<'a>(&'a self, query: &'a HistoryQuery) -> BoxFuture<'a, Result<Vec<Promotion>, StoreError>>;
    fn past_proposal<'a>(&'a self, key: &'a PromotionKey) -> BoxFuture<'a, Result<Option<PlainProposal>, StoreError>>;
    fn identify<'a>(&'a self, token: &'a SecretString) -> BoxFuture<'a, Result<Option<Actor>, AccessError>>;
    fn may<'a>(&'a self, who: &'a Actor, what: Verb, scope: Scope<'a>) -> BoxFuture<'a, Result<bool, AccessError>>;
    /// The namespaces that they are known to have rights in, whether they have pipelines or not.
    fn homes<'a>(&'a self, who: &'a Actor) -> BoxFuture<'a, Result<BTreeSet<Namespace>, AccessError>>;
    /// What somebody needs who shall be allowed this.
    fn right(&self, what: Verb) -> String;
    /// What is wrong with what decides who may do what.
    fn access_problem(&self) -> Option<String>;
    /// What keeps this process from acting.
    fn ownership_problem(&self) -> Option<String>;
    fn ask<'a>(
        &'a self,
        asked: &'a Asked,
        pipeline: &'a PipelineKey,
        environment: &'a EnvironmentName,
        what: Ask,
    ) -> BoxFuture<'a, Result<Promotion, Denied>>;
    /// What would come of that.
    fn preview(
        &self,
        asked: &Asked,
        pipeline: &PipelineKey,
        environment: &EnvironmentName,
        what: &Ask,
    ) -> Result<Preview, Denied>;
    fn review<'a>(
        &'a self,
        asked: &'a Asked,
        proposal: &'a PromotionKey,
        what: Review,
    ) -> BoxFuture<'a, Result<PlainProposal, Denied>>;
    fn suspend<'a>(
        &'a self,
        asked: &'a Asked,
        pipeline: &'a PipelineKey,
        suspended: bool,
    ) -> BoxFuture<'a, Result<(), Denied>>;
    fn freeze<'a>(&'a self, asked: &'a Asked, freeze: Freeze) -> BoxFuture<'a, Result<(), Denied>>;
    fn unfreeze<'a>(&'a self, asked: &'a Asked, name: &'a Name) -> BoxFuture<'a, Result<(), Denied>>;
    fn difference<'a>(&'a self, it: &'a PlainProposal) -> BoxFuture<'a, Result<Vec<Difference>, NoDifference>>;
    fn drafts<'a>(&'a self, definitions: &'a Definitions) -> BoxFuture<'a, Result<Vec<Draft>, DraftError>>;
    fn draft<'a>(
        &'a self,
        definitions: &'a Definitions,
        key: &'a PipelineKey,
    ) -> BoxFuture<'a, Result<WholeDraft, DraftError>>;
    fn propose<'a>(
        &'a self,
        definitions: &'a Definitions,
        asked: &'a Asked,
        pipeline: &'a Pipeline,
        text: &'a str,
    ) -> BoxFuture<'a, Result<WholeDraft, DraftError>>;
    fn merge_draft<'a>(
        &'a self,
        definitions: &'a Definitions,
        asked: &'a Asked,
        key: &'a PipelineKey,
        head: &'a CommitId,
    ) -> BoxFuture<'a, Result<CommitId, DraftError>>;
    fn close_draft<'a>(
        &'a self,
        definitions: &'a Definitions,
        asked: &'a Asked,
        key: &'a PipelineKey,
        head: &'a CommitId,
    ) -> BoxFuture<'a, Result<(), DraftError>>;
    /// Writes down that somebody does something that no other method writes down.
    fn note<'a>(&'a self, deed: &'a weir_ports::Deed) -> BoxFuture<'a, Result<(), StoreError>>;
}

impl<P: Ports, J: Journal, A> Parts<P, J, A> {
    fn people(&self) -> People<'_, P::Store, J, P::Clock> {
        let (store, clock) = (self.ports.store(), self.ports.clock());
        People { world: &self.world, store, journal: &self.journal, clock }
    }

    fn drafted<'a>(&'a self, definitions: &'a Definitions) -> Drafts<'a, P, J> {
        let defined = |text: &str| weir_api::definition("", text).ok();
        Drafts { definitions, world: &self.world, ports: &*self.ports, journal: &*self.journal, defined }
    }
}

impl<P, J, A> Backend for Parts<P, J, A>
where
    P: Ports,
    J: Journal + 'static,
    A: Access + 'static,
{
    fn world(&self) -> &World {
        &self.world
    }

    fn now(&self) -> Timestamp {
        self.ports.clock().now()
    }

    fn secret<'a>(&'a self, home: &'a Namespace, name: &'a Name) -> BoxFuture<'a, Result<Secret, CatalogError>> {
        Box::pin(self.ports.catalog().secret(home, name))
    }

    fn manifest<'a>(&'a self, pipeline: &'a PipelineKey) -> BoxFuture<'a, Result<Option<String>, ManifestUnread>> {
        Box::pin(self.ports.catalog().manifest(pipeline))
    }

    fn behind<'a>(
        &'a self,
        target: &'a TargetKey,
        workload: &'a WorkloadKey,
    ) -> BoxFuture<'a, Result<TreeObject, Unseen>> {
        Box::pin(self.ports.clusters().behind(target, workload))
    }

    fn get<'a>(&'a self, key: &'a RecordKey) -> BoxFuture<'a, Result<Option<Stored>, StoreError>> {
        Box::pin(self.ports.store().get(key))
    }

    fn create(&self, record: Record) -> BoxFuture<'_, Result<RecordVersion, StoreError>> {
        Box::pin(self.ports.store().create(record))
    }

    fn replace(&self, record: Record, at: RecordVersion) -> BoxFuture<'_, Result<RecordVersion, StoreError>> {
        Box::pin(self.ports.store().replace(record, at))
    }

    fn deeds<'a>(&'a self, query: &'a DeedQuery) -> BoxFuture<'a, Result<Vec<Noted>, StoreError>> {
        Box::pin(self.journal.deeds(query))
    }

    fn promotions<'a>(&'a self, query: &'a HistoryQuery) -> BoxFuture<'a, Result<Vec<Promotion>, StoreError>> {
        Box::pin(self.journal.promotions(query))
    }

    fn past_proposal<'a>(&'a self, key: &'a PromotionKey) -> BoxFuture<'a, Result<Option<PlainProposal>, StoreError>> {
        Box::pin(self.journal.proposal(key))
    }

    fn identify<'a>(&'a self, token: &'a SecretString) -> BoxFuture<'a, Result<Option<Actor>, AccessError>> {
        Box::pin(self.access.identify(token))
    }

    fn may<'a>(&'a self, who: &'a Actor, what: Verb, scope: Scope<'a>) -> BoxFuture<'a, Result<bool, AccessError>> {
        Box::pin(self.access.may(who, what, scope))
    }

    fn homes<'a>(&'a self, who: &'a Actor) -> BoxFuture<'a, Result<BTreeSet<Namespace>, AccessError>> {
        Box::pin(self.access.homes(who))
    }

    fn right(&self, what: Verb) -> String {
        self.access.right(what)
    }

    fn access_problem(&self) -> Option<String> {
        self.access.problem()
    }

    fn ownership_problem(&self) -> Option<String> {
        self.ports.ownership().problem()
    }

    fn ask<'a>(
        &'a self,
        asked: &'a Asked,
        pipeline: &'a PipelineKey,
        environment: &'a EnvironmentName,
        what: Ask,
    ) -> BoxFuture<'a, Result<Promotion, Denied>> {
        Box::pin(async move { self.people().ask(asked, pipeline, environment, &what).await })
    }

    fn preview(
        &self,
        asked: &Asked,
        pipeline: &PipelineKey,
        environment: &EnvironmentName,
        what: &Ask,
    ) -> Result<Preview, Denied> {
        self.people().preview(asked, pipeline, environment, what)
    }

    fn review<'a>(
        &'a self,
        asked: &'a Asked,
        proposal: &'a PromotionKey,
        what: Review,
    ) -> BoxFuture<'a, Result<PlainProposal, Denied>> {
        Box::pin(async move {
            let people = self.people();
            match what {
                Review::Say { verdict, head } => people.review(asked, proposal, &head, verdict).await,
                Review::Comment { body } => people.comment(asked, proposal, &body).await,
                Review::Merge { head } => people.merge(asked, proposal, &head).await,
                Review::Close { head } => people.close(asked, proposal, head.as_ref()).await,
            }
        })
    }

    fn suspend<'a>(
        &'a self,
        asked: &'a Asked,
        pipeline: &'a PipelineKey,
        suspended: bool,
    ) -> BoxFuture<'a, Result<(), Denied>> {
        Box::pin(async move { self.people().suspend(asked, pipeline, suspended).await })
    }

    fn freeze<'a>(&'a self, asked: &'a Asked, freeze: Freeze) -> BoxFuture<'a, Result<(), Denied>> {
        Box::pin(async move { self.people().freeze(asked, freeze).await })
    }

    fn unfreeze<'a>(&'a self, asked: &'a Asked, name: &'a Name) -> BoxFuture<'a, Result<(), Denied>> {
        Box::pin(async move { self.people().unfreeze(asked, name).await })
    }

    fn difference<'a>(&'a self, it: &'a PlainProposal) -> BoxFuture<'a, Result<Vec<Difference>, NoDifference>> {
        Box::pin(difference(it, &self.world, &*self.ports))
    }

    fn drafts<'a>(&'a self, definitions: &'a Definitions) -> BoxFuture<'a, Result<Vec<Draft>, DraftError>> {
        Box::pin(async move { self.drafted(definitions).list().await })
    }

    fn draft<'a>(
        &'a self,
        definitions: &'a Definitions,
        key: &'a PipelineKey,
    ) -> BoxFuture<'a, Result<WholeDraft, DraftError>> {
        Box::pin(async move { self.drafted(definitions).show(key).await })
    }

    fn propose<'a>(
        &'a self,
        definitions: &'a Definitions,
        asked: &'a Asked,
        pipeline: &'a Pipeline,
        text: &'a str,
    ) -> BoxFuture<'a, Result<WholeDraft, DraftError>> {
        Box::pin(async move { self.drafted(definitions).propose(asked, pipeline, text).await })
    }

    fn merge_draft<'a>(
        &'a self,
        definitions: &'a Definitions,
        asked: &'a Asked,
        key: &'a PipelineKey,
        head: &'a CommitId,
    ) -> BoxFuture<'a, Result<CommitId, DraftError>> {
        Box::pin(async move { self.drafted(definitions).merge(asked, key, head).await })
    }

    fn close_draft<'a>(
        &'a self,
        definitions: &'a Definitions,
        asked: &'a Asked,
        key: &'a PipelineKey,
        head: &'a CommitId,
    ) -> BoxFuture<'a, Result<(), DraftError>> {
        Box::pin(async move { self.drafted(definitions).close(asked, key, head).await })
    }

    fn note<'a>(&'a self, deed: &'a weir_ports::Deed) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.journal.note(deed))
    }
}
