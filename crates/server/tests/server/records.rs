//! Records that a test writes by hand, as the engine would.

use jiff::Timestamp;
use weir_core::{
    CommitId, EnvironmentName, Phase, PipelineKey, PlainProposal, PlainState, Promotion, PromotionKey, Proposal,
    ProposalState, RepoUrl, Turn,
};
use weir_ports::{Record, Store as _, Stored};

use crate::house::House;

pub(crate) const PODINFO: &str = "default/podinfo";
pub(crate) const SHOP: &str = "team-a/shop";

impl House {
    /// Writes a record, whatever it was before.
    pub(crate) async fn write(&self, record: Record) {
        let version = match self.store.get(&record.key()).await.unwrap() {
            Some(stored) => self.store.replace(record.clone(), stored.version).await.unwrap(),
            None => self.store.create(record.clone()).await.unwrap(),
        };
        self.world.keep(Stored { record, version });
    }

    pub(crate) async fn promotion(&self, promotion: &Promotion) {
        self.write(Record::Promotion(Box::new(promotion.clone()))).await;
    }
}

pub(crate) fn commit(digit: char) -> CommitId {
    CommitId::new(digit.to_string().repeat(40)).unwrap()
}

pub(crate) fn key(pipeline: &str, environment: &str, ordinal: u64) -> PromotionKey {
    let pipeline: PipelineKey = pipeline.parse().unwrap();
    PromotionKey { pipeline, environment: environment.parse().unwrap(), ordinal }
}

/// A promotion from `dev` that is in a phase since now.
pub(crate) fn promotion(pipeline: &str, environment: &str, ordinal: u64, version: &str, phase: Phase) -> Promotion {
    let key = key(pipeline, environment, ordinal);
    let workload = format!("HelmRelease/{}", key.pipeline.name).parse().unwrap();
    let release = weir_core::Release::of(workload, version.parse().unwrap());
    let from: EnvironmentName = "dev".parse().unwrap();
    let mut promotion = Promotion::new(key, from, release, None);
    promotion.phase = phase;
    promotion.history.push(Turn { phase, at: Timestamp::now(), note: None });
    promotion
}

/// Its proposal, as it is seen on a forge or in Weir.
pub(crate) fn proposed(promotion: &mut Promotion, url: Option<&str>) {
    promotion.leg.facts.proposal = Some(Proposal {
        id: "7".into(),
        url: url.map(Into::into),
        state: ProposalState::Open,
        head: commit('b'),
        release: Some(promotion.release.clone()),
        checks: weir_core::Checks::Passing,
        review: weir_core::Review::NotRequired,
        merge_asked_by: None,
        conflict: false,
        changed_by: None,
    });
}

/// A proposal that Weir keeps.
pub(crate) fn plain(promotion: &Promotion) -> PlainProposal {
    PlainProposal {
        key: promotion.key.clone(),
        repository: RepoUrl::new("https://me:geheim@git.example.org/config.git").unwrap(),
        base: "main".parse().unwrap(),
        branch: "promotion-team-a-shop-prod".parse().unwrap(),
        parent: commit('a'),
        head: commit('b'),
        release: promotion.release.clone(),
        edits: Vec::new(),
        title: "Promote shop 2.0.0 to prod".to_owned(),
        body: "It is healthy in dev.".to_owned(),
        opened: Timestamp::now(),
        state: PlainState::Open,
        merge: None,
        reviews: Vec::new(),
        comments: Vec::new(),
    }
}
