//! Who asks for which targets of a cluster.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use tokio::time::Instant;
use weir_core::{Application, ClusterKey, Namespace, PipelineKey, Sighting, TargetKey, Unreachable, WorkloadKind};
use weir_ports::Interest;

use crate::leaf::{
    labels,
    look::{Member, wants},
    mail::Letters,
    picture::Place,
};

/// Who asks, by namespace.
#[derive(Default)]
pub(super) struct Asks {
    asks: BTreeMap<Namespace, BTreeMap<PipelineKey, Ask>>,
    /// Where something may have changed.
    touched: BTreeSet<(Namespace, PipelineKey)>,
}

/// One pipeline that asks for one namespace.
pub(super) struct Ask {
    pub(super) interest: Arc<Interest>,
    pub(super) target: TargetKey,
    pub(super) asked: Instant,
    since: Timestamp,
    /// Whether anything was told yet.
    pub(super) told: bool,
    pub(super) members: Vec<Member>,
}

impl Ask {
    /// Nothing was seen in time.
    pub(super) fn unanswered(&self, patience: Duration) -> Sighting {
        let error = format!("the cluster has not answered within {} s", patience.as_secs().max(1));
        Sighting { unreachable: Some(Unreachable { error: error.into(), since: self.since }), ..Sighting::default() }
    }

    /// The labels that its workloads should have.
    pub(super) fn labels(&self, pipeline: &PipelineKey) -> Vec<(&'static str, String)> {
        let environment = self.interest.targets.get(&self.target);
        environment.map(|it| labels::labels(pipeline, it, &self.target).into()).unwrap_or_default()
    }
}

impl Asks {
    /// Takes in what is asked.
    pub(super) fn take(&mut self, cluster: Option<&ClusterKey>, letters: Letters, now: Instant) {
        for (pipeline, interest) in letters {
            for asks in self.asks.values_mut() {
                asks.remove(&pipeline);
            }
            let Some(interest) = interest else { continue };
            let here = interest.targets.keys().filter(|target| target.cluster.as_ref() == cluster);
            for target in here {
                let ask = Ask {
                    interest: Arc::clone(&interest),
                    target: target.clone(),
                    asked: now,
                    since: Timestamp::now(),
                    told: false,
                    members: Vec::new(),
                };
                self.asks.entry(target.namespace.clone()).or_default().insert(pipeline.clone(), ask);
                self.touched.insert((target.namespace.clone(), pipeline.clone()));
            }
        }
        self.asks.retain(|_, asks| !asks.is_empty());
    }

    pub(super) fn get(&self, namespace: &Namespace, pipeline: &PipelineKey) -> Option<&Ask> {
        self.asks.get(namespace)?.get(pipeline)
    }

    pub(super) fn get_mut(&mut self, namespace: &Namespace, pipeline: &PipelineKey) -> Option<&mut Ask> {
        self.asks.get_mut(namespace)?.get_mut(pipeline)
    }

    /// The namespaces in which somebody asks for workloads of a kind.
    pub(super) fn namespaces(&self, kind: WorkloadKind) -> BTreeSet<Namespace> {
        let wanted = |asks: &BTreeMap<PipelineKey, Ask>| asks.values().any(|it| wants(&it.interest.application, kind));
        self.asks.iter().filter(|(_, asks)| wanted(asks)).map(|(namespace, _)| namespace.clone()).collect()
    }

    /// Where something may have changed since the last call.
    pub(super) fn take_touched(&mut self) -> BTreeSet<(Namespace, PipelineKey)> {
        std::mem::take(&mut self.touched)
    }

    /// Everything may have changed.
    pub(super) fn touch_all(&mut self) {
        for (namespace, asks) in &self.asks {
            self.touched.extend(asks.keys().map(|pipeline| (namespace.clone(), pipeline.clone())));
        }
    }

    /// Everything in a namespace may have changed.
    pub(super) fn touch_namespace(&mut self, namespace: &Namespace) {
        let pipelines = self.asks.get(namespace).into_iter().flat_map(BTreeMap::keys);
        self.touched.extend(pipelines.map(|pipeline| (namespace.clone(), pipeline.clone())));
    }

    /// A workload changed. These are the pipelines that its label named before and names now.
    pub(super) fn touch(&mut self, place: &Place, labels: &[Option<Box<str>>; 2]) {
        let concerns = |pipeline: &PipelineKey, ask: &Ask| match &ask.interest.application {
            Application::Workload(key) => key.kind == place.kind && key.name == place.name,
            Application::Labelled => labels.iter().flatten().any(|label| **label == *pipeline.name.as_str()),
        };
        let asks = self.asks.get(&place.namespace).into_iter().flatten();
        let concerned = asks.filter(|(pipeline, ask)| concerns(pipeline, ask)).map(|(pipeline, _)| pipeline.clone());
        self.touched.extend(concerned.map(|pipeline| (place.namespace.clone(), pipeline)));
    }

    /// What was read beside a workload changed.
    pub(super) fn touch_member(&mut self, place: &Place) {
        let asks = self.asks.get(&place.namespace).into_iter().flatten();
        let of = asks.filter(|(_, ask)| ask.members.iter().any(|member| member.place == *place));
        self.touched.extend(of.map(|(pipeline, _)| (place.namespace.clone(), pipeline.clone())));
    }

    /// The workloads of all.
    pub(super) fn members(&self) -> impl Iterator<Item = &Member> {
        self.asks.values().flat_map(BTreeMap::values).flat_map(|ask| &ask.members)
    }

    /// Whether a workload belongs to one pipeline alone.
    pub(super) fn is_of_one(&self, place: &Place) -> bool {
        let asks = self.asks.get(&place.namespace).into_iter().flat_map(BTreeMap::values);
        asks.filter(|ask| ask.members.iter().any(|member| member.place == *place)).count() == 1
    }

    /// Nothing is known of anybody's workloads any more.
    pub(super) fn forget_members(&mut self) {
        for ask in self.asks.values_mut().flat_map(BTreeMap::values_mut) {
            ask.members.clear();
        }
    }

    /// Everybody asks anew.
    pub(super) fn begin_again(&mut self) {
        for ask in self.asks.values_mut().flat_map(BTreeMap::values_mut) {
            (ask.told, ask.asked, ask.since) = (false, Instant::now(), Timestamp::now());
        }
    }

    /// When those asked who were told nothing yet.
    pub(super) fn untold(&self) -> impl Iterator<Item = Instant> {
        self.asks.values().flat_map(BTreeMap::values).filter(|ask| !ask.told).map(|ask| ask.asked)
    }
}
