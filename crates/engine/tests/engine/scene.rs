//! The stage of a history: pipelines of a random shape, their repository, and whoever acts on it.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::Arc,
};

use jiff::{SignedDuration, Timestamp};
use weir_core::{
    Actor, Application, ApprovalGate, Approvers, BranchName, Concurrency, Environment, EnvironmentName, ForgeKind,
    Gate, Merge, Pipeline, PipelineKey, Policy, PromotionKey, PullRequest, RepoUrl, Repository, Revision, Strategy,
    TargetKey, When, WorkloadKey,
};
use weir_engine::{Asked, People, World};
use weir_ports::{Clock as _, Definition, FilePath};
use weir_testkit::sim::{Chance, Sim, SimClock, SimJournal, SimStore};

/// Everything that actors share.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) sim: Sim,
    pub(crate) pipelines: Rc<Vec<Pipeline>>,
    /// What the engine that runs at the moment knows.
    pub(crate) world: Rc<RefCell<Arc<World>>>,
    /// What people did, for the laws.
    pub(crate) diary: Rc<RefCell<Diary>>,
    /// Whether the weather is still bad, and people still make a mess.
    pub(crate) stormy: Rc<Cell<bool>>,
}

/// What people did that the laws have to know of.
#[derive(Default)]
pub(crate) struct Diary {
    /// The approvals: pipeline, environment, version, when.
    pub(crate) approvals: Vec<(PipelineKey, EnvironmentName, String, Timestamp)>,
    /// The promotions that an approval was taken in for, and the version that it was for.
    pub(crate) agreed: Vec<(PromotionKey, String)>,
    /// The freezes: from when to when.
    pub(crate) freezes: Vec<(Timestamp, Option<Timestamp>)>,
    /// What was asked for: pipeline, environment, version.
    pub(crate) asked: Vec<(PipelineKey, EnvironmentName, String)>,
    /// The lines that others wrote.
    pub(crate) foreign: Vec<(String, String)>,
    /// The branches of proposals that somebody committed to.
    pub(crate) touched: BTreeSet<BranchName>,
    /// The environments with more than one open proposal, and since when. Nobody can know while a call is under way.
    pub(crate) doubles: BTreeMap<String, Timestamp>,
    /// The steps that are being taken, and since when.
    pub(crate) restless: BTreeMap<String, Timestamp>,
    /// Until when there were two engines.
    pub(crate) two_until: Option<Timestamp>,
    /// The environments whose value was changed by hand.
    pub(crate) by_hand: BTreeMap<(PipelineKey, EnvironmentName), usize>,
}

pub(crate) const DEV: &str = "dev";
pub(crate) const QA: &str = "qa";
pub(crate) const PROD: &str = "prod";

pub(crate) fn main_branch() -> BranchName {
    "main".parse().unwrap()
}

pub(crate) fn file(environment: &EnvironmentName) -> FilePath {
    FilePath::new(format!("apps/{environment}.yaml")).unwrap()
}

impl Scene {
    pub(crate) fn new(seed: u64) -> Self {
        let sim = Sim::new(seed);
        let names: &[&str] = if sim.chance.happens(400) { &["default/app", "default/web"] } else { &["default/app"] };
        let pipelines: Vec<_> = names.iter().map(|name| pipeline(name.parse().unwrap(), &sim.chance)).collect();
        for environment in [DEV, QA, PROD] {
            let environment: EnvironmentName = environment.parse().unwrap();
            sim.repos.commit(&main_branch(), &file(&environment), |_| {
                pipelines.iter().map(|pipeline| line(&pipeline.key, &environment, "1.0.0")).collect()
            });
        }
        for pipeline in &pipelines {
            let (pipeline, signed_with) = (pipeline.clone(), BTreeMap::new());
            sim.catalog.define(Definition { pipeline, version: None, signed_with });
        }
        Self {
            sim,
            pipelines: Rc::new(pipelines),
            world: Rc::new(RefCell::new(Arc::new(World::new(0)))),
            diary: Rc::default(),
            stormy: Rc::new(Cell::new(true)),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.sim.clock.now()
    }

    pub(crate) fn chance(&self) -> &Chance {
        &self.sim.chance
    }

    /// Whether something happens that only happens in a storm.
    pub(crate) fn mischief(&self, in_a_thousand: u64) -> bool {
        self.stormy.get() && self.chance().happens(in_a_thousand)
    }

    pub(crate) fn environments(&self) -> Vec<(PipelineKey, Environment)> {
        let of = |pipeline: &Pipeline| {
            let key = pipeline.key.clone();
            pipeline.environments().iter().map(move |it| (key.clone(), it.clone())).collect::<Vec<_>>()
        };
        self.pipelines.iter().flat_map(of).collect()
    }

    /// What the base branch says.
    pub(crate) fn declared(&self, pipeline: &PipelineKey, environment: &EnvironmentName) -> String {
        let files = self.sim.repos.files_of(&main_branch());
        value(&files, pipeline, environment).unwrap_or_default()
    }

    /// Writes a value into the base branch by hand.
    pub(crate) fn declare(&self, pipeline: &PipelineKey, environment: &EnvironmentName, version: &str) {
        self.sim.repos.commit(&main_branch(), &file(environment), |text| {
            let mark = mark(pipeline, environment);
            let changed = |it: &str| {
                if it.contains(&mark) { line(pipeline, environment, version) } else { format!("{it}\n") }
            };
            text.lines().map(changed).collect()
        });
    }

    pub(crate) async fn pause(&self, from: u64, to: u64) {
        let seconds = from + self.chance().below(to - from);
        tokio::time::sleep(std::time::Duration::from_secs(seconds)).await;
    }

    pub(crate) fn people<'a>(&'a self, world: &'a World) -> People<'a, SimStore, SimJournal, SimClock> {
        People { world, store: &self.sim.store, journal: &self.sim.journal, clock: &self.sim.clock }
    }

    pub(crate) fn world(&self) -> Arc<World> {
        self.world.borrow().clone()
    }
}

pub(crate) fn ada() -> Asked {
    Asked { by: Actor::named("ada"), why: Some("it is time".to_owned()) }
}

fn mark(pipeline: &PipelineKey, environment: &EnvironmentName) -> String {
    format!("\"{}:{}:{environment}\"", pipeline.namespace, pipeline.name)
}

fn line(pipeline: &PipelineKey, environment: &EnvironmentName, version: &str) -> String {
    format!("{}: {version} # {{\"$promotion\": {}}}\n", pipeline.name, mark(pipeline, environment))
}

/// The value of an environment in the files of a commit.
pub(crate) fn value(
    files: &BTreeMap<String, String>,
    pipeline: &PipelineKey,
    environment: &EnvironmentName,
) -> Option<String> {
    let text = files.get(file(environment).as_str())?;
    let line = text.lines().find(|line| line.contains(&mark(pipeline, environment)))?;
    Some(line.split_once(": ")?.1.split(' ').next()?.to_owned())
}

pub(crate) fn semver(version: &str) -> semver::Version {
    version.parse::<Revision>().unwrap().semver().unwrap()
}

/// A version that does not run in qa.
pub(crate) fn is_bad(version: &str, environment: &EnvironmentName) -> bool {
    environment.as_str() == QA && version.ends_with(".7")
}

fn pipeline(key: PipelineKey, chance: &Chance) -> Pipeline {
    let workload: WorkloadKey = format!("HelmRelease/{}", key.name).parse().unwrap();
    let target = |text: &str| text.parse::<TargetKey>().unwrap();
    let name = &key.name;
    let dev = Environment {
        name: DEV.parse().unwrap(),
        targets: vec![target(&format!("dev-{name}"))],
        promotion: None,
        gates: Vec::new(),
    };
    let mut qa = dev.clone();
    qa.name = QA.parse().unwrap();
    qa.targets = vec![target(&format!("default/qa-1/{name}")), target(&format!("default/qa-2/{name}"))];
    qa.promotion = Some(policy(chance));
    if chance.happens(500) {
        qa.gates.push(Gate::Soak(SignedDuration::from_mins(2)));
    }
    let mut prod = dev.clone();
    prod.name = PROD.parse().unwrap();
    prod.targets = vec![target(&format!("default/prod/{name}"))];
    prod.promotion = Some(policy(chance));
    prod.gates.push(Gate::Approval(ApprovalGate {
        count: 1,
        from: Approvers::default(),
        allow_author: true,
        expires_after: None,
    }));
    Pipeline::new(key, Application::Workload(workload), vec![dev, qa, prod]).unwrap()
}

fn policy(chance: &Chance) -> Policy {
    let repository =
        Repository { url: RepoUrl::new("https://example.org/config").unwrap(), base: main_branch(), secret: None };
    let strategy = if chance.happens(250) {
        Strategy::Push(repository)
    } else {
        let forge = if chance.happens(500) { ForgeKind::Git } else { ForgeKind::Gitea };
        Strategy::PullRequest(PullRequest { forge, repository })
    };
    let mut policy = Policy::with(strategy);
    policy.merge = if chance.happens(400) { Merge::Auto } else { Merge::People };
    policy.when = if chance.happens(500) { When::All } else { When::Any };
    policy.concurrency = if chance.happens(300) { Concurrency::Latest } else { Concurrency::Finish };
    policy
}
