//! One history: a storm with crashes, then calm, in which the last release has to arrive.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt as _, future::LocalBoxFuture, stream::FuturesUnordered};
use jiff::Timestamp;
use weir_core::{Phase, Release};
use weir_engine::{Engine, Settings, World};
use weir_ports::Signature;
use weir_testkit::sim::{Fate, Weather};

use crate::{
    actors::{developer, flux, reviewer, stranger, take_back},
    laws::{check, check_end},
    scene::{DEV, PROD, Scene, main_branch},
};

/// What a history left behind, to compare it with its repetition.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) writes: usize,
    pub(crate) pushes: usize,
    pub(crate) crashes: usize,
}

/// Plays the history of a seed.
pub(crate) fn play(seed: u64) -> Result<Told, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let scene = Scene::new(seed);
        let mut all: FuturesUnordered<LocalBoxFuture<'_, ()>> = FuturesUnordered::new();
        all.push(Box::pin(developer(scene.clone())));
        all.push(Box::pin(stranger(scene.clone())));
        all.push(Box::pin(reviewer(scene.clone())));
        for (pipeline, environment) in scene.environments() {
            for target in environment.targets {
                all.push(Box::pin(flux(scene.clone(), pipeline.clone(), environment.name.clone(), target)));
            }
        }
        let mut crashes = 0;
        let told = tokio::select! {
            biased;
            told = storm_and_calm(&scene, &mut crashes) => told,
            () = async { while all.next().await.is_some() {} } => Err("everybody went home".to_owned()),
        };
        told?;
        let (writes, pushes) = (scene.sim.store.writes(), scene.sim.repos.pushes());
        Ok(Told { writes, pushes, crashes })
    })
}

async fn storm_and_calm(scene: &Scene, crashes: &mut usize) -> Result<(), String> {
    let weather = Weather { delay: 400, slow: 20, refused: 20, answer_lost: 10, repeated: 50, reordered: 100 };
    let end = tokio::time::Instant::now() + Duration::from_hours(1);
    while tokio::time::Instant::now() < end {
        let crash_at = 20 + scene.chance().below(600);
        let fate = Fate::new(scene.chance().clone(), weather, Some(crash_at));
        // Sometimes there are two, and each believes that everything is its own.
        let two = scene.chance().happens(300);
        if two {
            scene.diary.borrow_mut().two_until = Some(Timestamp::MAX);
        }
        let other = Fate::new(scene.chance().clone(), weather, None);
        tokio::select! {
            biased;
            () = fate.crashed() => *crashes += 1,
            () = engine(scene, &fate) => {}
            () = another_engine(scene, &other), if two => {}
            () = tokio::time::sleep_until(end) => {}
            broken = inspected(scene) => return Err(broken),
        }
        if two {
            scene.diary.borrow_mut().two_until = Some(scene.now());
        }
    }
    scene.stormy.set(false);
    for pipeline in scene.pipelines.iter() {
        scene.declare(&pipeline.key, &DEV.parse().unwrap(), "9.0.0");
    }
    let fate = Fate::new(scene.chance().clone(), Weather { delay: 50, ..Weather::default() }, None);
    tokio::select! {
        biased;
        () = engine(scene, &fate) => {}
        () = arrived(scene) => {}
        broken = inspected(scene) => return Err(broken),
        () = tokio::time::sleep(Duration::from_hours(12)) => return Err(stuck(scene)),
    }
    check(scene)?;
    check_end(scene)
}

async fn engine(scene: &Scene, fate: &Fate) {
    let world = Arc::new(World::new(scene.chance().next()));
    scene.world.replace(world.clone());
    run(scene, fate, world).await;
}

async fn another_engine(scene: &Scene, fate: &Fate) {
    run(scene, fate, Arc::new(World::new(scene.chance().next()))).await;
}

async fn run(scene: &Scene, fate: &Fate, world: Arc<World>) {
    let settings = Settings::new(Signature::new("Weir", "weir@example.org").unwrap());
    let engine = Engine::new(Arc::new(scene.sim.ports(fate)), world, settings);
    engine.run(std::future::pending()).await;
}

/// Returns when a law is broken.
async fn inspected(scene: &Scene) -> String {
    loop {
        if let Err(broken) = check(scene) {
            return broken;
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
}

/// Returns when the last release has arrived everywhere, and no branch of Weir's is left behind.
async fn arrived(scene: &Scene) {
    let left = || scene.sim.repos.branches().iter().any(|it| *it != main_branch() && !scene.sim.repos.is_by_hand(it));
    while left() || !scene.pipelines.iter().all(|pipeline| has_arrived(scene, &pipeline.key)) {
        take_back(scene).await;
        tokio::time::sleep(Duration::from_secs(20)).await;
    }
}

fn has_arrived(scene: &Scene, pipeline: &weir_core::PipelineKey) -> bool {
    let prod = PROD.parse().unwrap();
    let newest = scene.world().look(pipeline, |known| {
        known.newest(&prod).map(|it| (it.release.clone(), it.phase, known.snapshot().promotions.len()))
    });
    let last = |release: &Release| release.to_string() == "9.0.0";
    matches!(newest.flatten(), Some((release, Phase::Succeeded, _)) if last(&release))
        && scene.declared(pipeline, &prod) == "9.0.0"
}

fn stuck(scene: &Scene) -> String {
    let branches = scene.sim.repos.branches();
    let mut words = format!("the last release does not arrive, or branches are left behind of {branches:?}:\n");
    for (pipeline, environment) in scene.environments() {
        let world = scene.world();
        let now = scene.now();
        let told = world.look(&pipeline, |known| {
            let because = weir_core::explain(known.pipeline(), known.snapshot(), &environment.name, now);
            let newest = known.newest(&environment.name).cloned();
            let record = known.snapshot().environments.get(&environment.name).cloned();
            let proposals: Vec<_> =
                known.proposals().filter(|it| it.key.environment == environment.name).cloned().collect();
            format!("{because:#?}\n{newest:#?}\n{record:#?}\n{proposals:#?}")
        });
        let declared = scene.declared(&pipeline, &environment.name);
        words.extend([format!("{pipeline} {}: {declared}\n", environment.name), told.unwrap_or_default()]);
    }
    words
}
