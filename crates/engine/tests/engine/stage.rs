//! The smallest stage on which an engine runs: one pipeline, calm weather, and everything done by hand.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use weir_core::{
    Application, ApprovalGate, Approvers, BranchName, Environment, EnvironmentName, ForgeKind, Freeze, Gate,
    Observation, ObservationKey, Outcome, Phase, Pipeline, PipelineKey, PlainProposal, PlainState, Policy, Promotion,
    PullRequest, RepoUrl, Report, Repository, Selector, Strategy,
};
use weir_engine::{Engine, People, Settings, World};
use weir_ports::{Clock as _, Definition, FilePath, Record, RecordKey, Signature, Store as _};
use weir_testkit::sim::{Fate, Sim, SimClock, SimJournal, SimOwnership, SimPorts, SimStore, Weather};

/// An engine, and the world that it works on.
pub(crate) struct Stage {
    pub(crate) sim: Sim,
    pub(crate) world: Arc<World>,
    pub(crate) key: PipelineKey,
    engine: Engine<SimPorts>,
    ownership: SimOwnership,
}

pub(crate) fn main_branch() -> BranchName {
    "main".parse().unwrap()
}

pub(crate) fn path(text: &str) -> FilePath {
    FilePath::new(text).unwrap()
}

fn repository() -> Repository {
    Repository { url: RepoUrl::new("https://example.org/config").unwrap(), base: main_branch(), secret: None }
}

pub(crate) fn pull_request() -> Policy {
    Policy::with(Strategy::PullRequest(PullRequest { forge: ForgeKind::Git, repository: repository() }))
}

pub(crate) fn push() -> Policy {
    Policy::with(Strategy::Push(repository()))
}

/// An environment with one target of its own name.
pub(crate) fn environment(name: &str, promotion: Option<Policy>, gates: Vec<Gate>) -> Environment {
    let targets = vec![name.parse().unwrap()];
    Environment { name: name.parse().unwrap(), targets, promotion, gates }
}

/// One person has to agree, who may be the one that asked.
pub(crate) fn approval(allow_author: bool) -> Gate {
    Gate::Approval(ApprovalGate { count: 1, from: Approvers::default(), allow_author, expires_after: None })
}

pub(crate) fn pipeline(key: &str, environments: Vec<Environment>) -> Pipeline {
    let key: PipelineKey = key.parse().unwrap();
    let workload = format!("HelmRelease/{}", key.name).parse().unwrap();
    Pipeline::new(key, Application::Workload(workload), environments).unwrap()
}

impl Stage {
    /// `dev` and `prod`, with this policy and no gates, both at 1.0.0.
    pub(crate) fn with(policy: Policy) -> Self {
        let environments = vec![environment("dev", None, Vec::new()), environment("prod", Some(policy), Vec::new())];
        Self::of(&[pipeline("default/app", environments)])
    }

    pub(crate) fn of(pipelines: &[Pipeline]) -> Self {
        Self::under(Weather::default(), pipelines)
    }

    pub(crate) fn under(weather: Weather, pipelines: &[Pipeline]) -> Self {
        Self::from_seed(7, weather, pipelines)
    }

    pub(crate) fn from_seed(seed: u64, weather: Weather, pipelines: &[Pipeline]) -> Self {
        let sim = Sim::new(seed);
        for pipeline in pipelines {
            for environment in pipeline.environments().iter().skip(1) {
                let mark = mark(&pipeline.key, &environment.name);
                sim.repos.commit(&main_branch(), &path("apps.yaml"), |text| {
                    format!("{text}{}: 1.0.0 # {mark}\n", pipeline.key.name)
                });
            }
            let (pipeline, signed_with) = (pipeline.clone(), BTreeMap::new());
            sim.catalog.define(Definition { pipeline, version: None, signed_with });
        }
        let world = Arc::new(World::new(1));
        let settings = Settings::new(Signature::new("Weir", "weir@example.org").unwrap());
        let ownership = SimOwnership::default();
        let ports = sim.ports(&Fate::new(sim.chance.clone(), weather, None)).owned_by(ownership.clone());
        let engine = Engine::new(Arc::new(ports), world.clone(), settings);
        Self { key: pipelines[0].key.clone(), engine, sim, world, ownership }
    }

    /// Whether this process acts from now on.
    pub(crate) fn own(&self, owns: bool) {
        self.ownership.set(owns);
    }

    /// Defines a pipeline anew.
    pub(crate) fn define(&self, pipeline: &Pipeline) {
        let (pipeline, signed_with) = (pipeline.clone(), BTreeMap::new());
        self.sim.catalog.define(Definition { pipeline, version: None, signed_with });
    }

    /// Lets the engine run while `story` goes on.
    pub(crate) async fn play<T>(&self, story: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            () = self.engine.run(std::future::pending()) => panic!("the engine stopped by itself"),
            told = story => told,
        }
    }

    /// Another process beside it, which believes that everything is its own, too.
    pub(crate) async fn another(&self, weather: Weather) {
        let settings = Settings::new(Signature::new("Weir", "weir@example.org").unwrap());
        let ports = self.sim.ports(&Fate::new(self.sim.chance.clone(), weather, None));
        Engine::new(Arc::new(ports), Arc::new(World::new(2)), settings).run(std::future::pending()).await;
    }

    /// Removes every record, as a cluster does with those of a pipeline that is deleted.
    pub(crate) async fn forget_everything(&self) {
        for key in self.sim.store.select(|record| Some(record.key())) {
            if let Some(stored) = self.sim.store.get(&key).await.unwrap() {
                self.sim.store.remove(&key, stored.version).await.unwrap();
            }
        }
        self.until("nothing is known of it", || self.world.look(&self.key, |_| ()).is_none()).await;
    }

    /// Waits for a condition, but not forever.
    pub(crate) async fn until(&self, what: &str, condition: impl Fn() -> bool) {
        for _ in 0..3000 {
            if condition() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("never: {what}: {:#?}", self.world.look(&self.key, |known| known.snapshot().promotions.clone()));
    }

    pub(crate) async fn report(&self, environment: &str, version: &str) {
        let outcome = Outcome::Succeeded(version.parse().unwrap());
        self.report_of(&self.key.clone(), environment, outcome).await;
    }

    pub(crate) async fn report_of(&self, pipeline: &PipelineKey, environment: &str, outcome: Outcome) {
        let report = Report { at: self.sim.clock.now(), received: self.sim.clock.now(), outcome };
        let key = ObservationKey {
            environment: environment.parse().unwrap(),
            target: Some(environment.parse().unwrap()),
            workload: format!("HelmRelease/{}", pipeline.name).parse().unwrap(),
        };
        let record = |it| Record::Observation(pipeline.clone(), key.clone(), Box::new(it));
        match self.sim.store.get(&RecordKey::Observation(pipeline.clone(), key.clone())).await.unwrap() {
            None => self.sim.store.create(record(Observation::first(report))).await.unwrap(),
            Some(stored) => {
                let Record::Observation(_, _, known) = stored.record else { unreachable!() };
                self.sim.store.replace(record(known.and(report)), stored.version).await.unwrap()
            }
        };
    }

    pub(crate) fn promotion(&self) -> Option<Promotion> {
        self.world.look(&self.key, |known| known.newest(&prod()).cloned()).flatten()
    }

    pub(crate) fn phase(&self) -> Option<(String, Phase)> {
        self.promotion().map(|it| (it.release.to_string(), it.phase))
    }

    pub(crate) fn holds(&self) -> Vec<&'static str> {
        self.promotion().map(|it| it.holds.iter().map(|hold| hold.reason.name()).collect()).unwrap_or_default()
    }

    pub(crate) async fn until_phase(&self, version: &str, phase: Phase) {
        self.until(&format!("{version} is {phase}"), || self.phase() == Some((version.to_owned(), phase))).await;
    }

    pub(crate) async fn until_held(&self, hold: &str) {
        self.until(hold, || self.holds().contains(&hold)).await;
    }

    pub(crate) fn proposals(&self) -> Vec<PlainProposal> {
        self.world.look(&self.key, |known| known.proposals().cloned().collect()).unwrap_or_default()
    }

    /// The one proposal that is open.
    pub(crate) fn open(&self) -> PlainProposal {
        let open: Vec<_> = self.proposals().into_iter().filter(|it| it.state == PlainState::Open).collect();
        assert_eq!(open.len(), 1, "{open:#?}");
        open.into_iter().next().unwrap()
    }

    pub(crate) fn base(&self) -> String {
        self.sim.repos.files_of(&main_branch())["apps.yaml"].clone()
    }

    pub(crate) fn branches(&self) -> Vec<String> {
        self.sim.repos.branches().iter().map(ToString::to_string).filter(|name| name != "main").collect()
    }

    /// Changes the file on a branch by hand.
    pub(crate) fn edit(&self, branch: &str, from: &str, to: &str) {
        self.sim.repos.commit(&branch.parse().unwrap(), &path("apps.yaml"), |text| text.replace(from, to));
    }

    pub(crate) fn people(&self) -> People<'_, SimStore, SimJournal, SimClock> {
        People { world: &self.world, store: &self.sim.store, journal: &self.sim.journal, clock: &self.sim.clock }
    }

    /// Freezes everything.
    pub(crate) async fn freeze(&self, name: &str) {
        let (reason, by) = ("it is Friday".to_owned(), "ada".to_owned());
        let (name, from) = (name.parse().unwrap(), self.sim.clock.now());
        let freeze = Freeze { name, selector: Selector::default(), reason, by, from, until: None };
        self.people().freeze(&crate::scene::ada(), freeze).await.unwrap();
    }

    pub(crate) async fn merge(&self) {
        let open = self.open();
        self.people().merge(&crate::scene::ada(), &open.key, &open.head).await.unwrap();
    }
}

pub(crate) fn prod() -> EnvironmentName {
    "prod".parse().unwrap()
}

fn mark(pipeline: &PipelineKey, environment: &EnvironmentName) -> String {
    format!("{{\"$promotion\": \"{}:{}:{environment}\"}}", pipeline.namespace, pipeline.name)
}

/// Runs a story on a stage, with time that goes on when everybody waits.
macro_rules! story {
    ($stage:ident = $new:expr; $told:block) => {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let $stage = $new;
            $stage.play(async $told).await;
        });
    };
}

pub(crate) use story;
