//! Whoever acts in a history: Flux, developers, reviewers, and strangers who write to the same repository.

use weir_core::{
    EnvironmentName, Freeze, Observation, ObservationKey, Outcome, PipelineKey, PlainState, Reason, Report, Selector,
    Sighting, TargetKey, Unreachable, Version, Workload, WorkloadKey, WorkloadState, plan,
};
use weir_engine::Ask;
use weir_ports::{FilePath, Record, RecordKey, Store as _, StoreError};

use crate::scene::{DEV, PROD, Scene, ada, is_bad, main_branch, semver};

/// Flux on one target, which Weir can read or not.
pub(crate) async fn flux(scene: Scene, pipeline: PipelineKey, environment: EnvironmentName, target: TargetKey) {
    if scene.chance().happens(500) {
        flux_watched(scene, pipeline, environment, target).await;
    } else {
        flux_unwatched(scene, pipeline, environment, target).await;
    }
}

/// Deploys what the base branch declares, for everybody to see, unless the cluster cannot be reached.
async fn flux_watched(scene: Scene, pipeline: PipelineKey, environment: EnvironmentName, target: TargetKey) {
    let workload: WorkloadKey = format!("HelmRelease/{}", pipeline.name).parse().unwrap();
    let mut running = String::new();
    let mut unreachable = None;
    loop {
        let declared = scene.declared(&pipeline, &environment);
        let mut states = Vec::new();
        if declared != running {
            states.push(WorkloadState::Progressing);
            running = declared;
        }
        states.push(if is_bad(&running, &environment) {
            WorkloadState::Failed { message: "it does not start".into() }
        } else {
            WorkloadState::Healthy
        });
        if scene.mischief(100) {
            unreachable = Some(Unreachable { error: "it does not answer".into(), since: scene.now() });
        } else if !scene.stormy.get() || scene.chance().happens(500) {
            unreachable = None;
        }
        for state in states {
            let seen = Workload { version: Version::Revision(running.parse().unwrap()), state };
            let workloads = [(workload.clone(), seen)].into();
            let unreachable = unreachable.clone();
            scene.sim.clusters.show(&target, Some(Sighting { unreachable, workloads, ..Sighting::default() }));
            scene.pause(1, 60).await;
        }
    }
}

/// Deploys what the base branch declares, and reports it, sometimes late, twice or never.
async fn flux_unwatched(scene: Scene, pipeline: PipelineKey, environment: EnvironmentName, target: TargetKey) {
    let mut running = String::new();
    let mut last: Option<Report> = None;
    loop {
        scene.pause(5, 40).await;
        let declared = scene.declared(&pipeline, &environment);
        if declared != running {
            scene.pause(1, 60).await;
            running = declared;
        } else if !scene.chance().happens(300) {
            continue;
        }
        let outcome = if is_bad(&running, &environment) {
            Outcome::Failed { message: "it does not start".into() }
        } else {
            Outcome::Succeeded(running.parse().unwrap())
        };
        let report = Report { at: scene.now(), received: scene.now(), outcome };
        // One from the past comes in late.
        if let Some(late) = last.take().filter(|_| scene.mischief(100)) {
            tell(&scene, &pipeline, &environment, &target, late).await;
        }
        if !scene.mischief(150) {
            tell(&scene, &pipeline, &environment, &target, report.clone()).await;
        }
        last = Some(report);
    }
}

async fn tell(
    scene: &Scene,
    pipeline: &PipelineKey,
    environment: &EnvironmentName,
    target: &TargetKey,
    mut report: Report,
) {
    report.received = scene.now();
    let workload: WorkloadKey = format!("HelmRelease/{}", pipeline.name).parse().unwrap();
    let key = ObservationKey { environment: environment.clone(), target: Some(target.clone()), workload };
    loop {
        let stored = scene.sim.store.get(&RecordKey::Observation(pipeline.clone(), key.clone())).await.unwrap();
        let record = |it| Record::Observation(pipeline.clone(), key.clone(), Box::new(it));
        let kept = match stored {
            None => scene.sim.store.create(record(Observation::first(report.clone()))).await,
            Some(stored) => {
                let Record::Observation(_, _, known) = stored.record else { unreachable!() };
                scene.sim.store.replace(record(known.and(report.clone())), stored.version).await
            }
        };
        match kept {
            Err(StoreError::Moved(_) | StoreError::Exists(_)) => {}
            kept => {
                kept.unwrap();
                return;
            }
        }
    }
}

/// Releases one version after the other to the first environment.
pub(crate) async fn developer(scene: Scene) {
    let mut number = 0;
    loop {
        scene.pause(60, 600).await;
        if !scene.stormy.get() {
            return;
        }
        number += 1;
        let patch = if scene.chance().happens(200) { 7 } else { 0 };
        if let Some(pipeline) = scene.chance().pick(&scene.pipelines) {
            scene.declare(&pipeline.key, &DEV.parse().unwrap(), &format!("1.{number}.{patch}"));
        }
    }
}

/// Writes to the same files, and sometimes to what is Weir's business.
pub(crate) async fn stranger(scene: Scene) {
    let mut number = 0;
    loop {
        scene.pause(30, 300).await;
        if !scene.stormy.get() {
            return;
        }
        number += 1;
        let path = *scene.chance().pick(&["notes.md", "apps/qa.yaml", "apps/prod.yaml"]).unwrap();
        let line = format!("# line {number} of somebody else");
        scene.sim.repos.commit(&main_branch(), &FilePath::new(path).unwrap(), |text| format!("{line}\n{text}"));
        scene.diary.borrow_mut().foreign.push((path.to_owned(), line));
        if scene.mischief(60) {
            change_a_value(&scene);
        }
        if scene.mischief(60) {
            let branches = scene.sim.repos.branches();
            let theirs: Vec<_> = branches.into_iter().filter(|it| *it != main_branch()).collect();
            if let Some(branch) = scene.chance().pick(&theirs) {
                let path = FilePath::new("apps/prod.yaml").unwrap();
                scene.sim.repos.commit(branch, &path, |text| format!("# by hand\n{text}"));
                scene.diary.borrow_mut().touched.insert(branch.clone());
            }
        }
    }
}

/// A rollback or an arrival by hand.
fn change_a_value(scene: &Scene) {
    let all = scene.environments();
    let entered: Vec<_> = all.iter().filter(|(_, it)| it.promotion.is_some()).collect();
    let Some((pipeline, environment)) = scene.chance().pick(&entered) else { return };
    let here = semver(&scene.declared(pipeline, &environment.name));
    let first = semver(&scene.declared(pipeline, &DEV.parse().unwrap()));
    let version = if scene.chance().happens(500) { first.minor } else { here.minor.saturating_sub(1) };
    scene.declare(pipeline, &environment.name, &format!("1.{version}.0"));
    *scene.diary.borrow_mut().by_hand.entry((pipeline.clone(), environment.name.clone())).or_default() += 1;
}

/// Approves, merges, comments, closes, asks, freezes; when the storm is over, only what helps.
pub(crate) async fn reviewer(scene: Scene) {
    let mut frozen = None;
    let mut number = 0;
    loop {
        scene.pause(5, 60).await;
        number += 1;
        freezes(&scene, &mut frozen, number).await;
        for (pipeline, environment) in scene.environments() {
            approve(&scene, &pipeline, &environment.name).await;
            review(&scene, &pipeline, &environment.name).await;
            review_there(&scene, &pipeline, &environment.name);
            ask(&scene, &pipeline, &environment.name).await;
        }
    }
}

async fn freezes(scene: &Scene, frozen: &mut Option<(weir_core::Name, usize)>, number: usize) {
    let world = scene.world();
    let people = scene.people(&world);
    match frozen.take() {
        Some((name, place)) if !scene.stormy.get() || scene.chance().happens(200) => {
            people.unfreeze(&ada(), &name).await.unwrap();
            scene.diary.borrow_mut().freezes[place].1 = Some(scene.now());
        }
        Some(known) => *frozen = Some(known),
        None if scene.mischief(30) => {
            let name: weir_core::Name = format!("stop-{number}").parse().unwrap();
            let from = scene.now();
            let (reason, by) = ("it is Friday".to_owned(), "ada".to_owned());
            let freeze = Freeze { name: name.clone(), selector: Selector::default(), reason, by, from, until: None };
            people.freeze(&ada(), freeze).await.unwrap();
            let mut diary = scene.diary.borrow_mut();
            diary.freezes.push((scene.now(), None));
            *frozen = Some((name, diary.freezes.len() - 1));
        }
        None => {}
    }
}

async fn approve(scene: &Scene, pipeline: &PipelineKey, environment: &EnvironmentName) {
    if environment.as_str() != PROD || !scene.chance().happens(400) {
        return;
    }
    let world = scene.world();
    // A moment of thought lies between what they saw and what they did.
    let seen = world.look(pipeline, |known| known.newest(environment).map(|it| it.release.clone())).flatten();
    let Some(release) = seen else { return };
    let version = release.to_string();
    let at = scene.now();
    let approve = Ask::Approve { version: Some(version.clone()) };
    if let Ok(promotion) = scene.people(&world).ask(&ada(), pipeline, environment, &approve).await {
        scene.diary.borrow_mut().agreed.push((promotion.key, version.clone()));
        scene.diary.borrow_mut().approvals.push((pipeline.clone(), environment.clone(), version, at));
    }
}

async fn review(scene: &Scene, pipeline: &PipelineKey, environment: &EnvironmentName) {
    let world = scene.world();
    let open = world.look(pipeline, |known| {
        let mut open =
            known.proposals().filter(|it| it.state == PlainState::Open && it.key.environment == *environment);
        let by_hand = known.newest(environment).and_then(|it| it.leg.facts.proposal.as_ref());
        let by_hand = by_hand.is_some_and(|proposal| proposal.changed_by.is_some());
        open.next().map(|proposal| (proposal.key.clone(), proposal.head.clone(), by_hand))
    });
    let Some(Some((key, head, by_hand))) = open else { return };
    let people = scene.people(&world);
    let what = scene.chance().below(1000);
    let done = match what {
        _ if by_hand && scene.chance().happens(200) => people.close(&ada(), &key, None).await.map(drop),
        0..400 => people.merge(&ada(), &key, &head).await.map(drop),
        400..420 if scene.stormy.get() => people.close(&ada(), &key, None).await.map(drop),
        420..440 => people.comment(&ada(), &key, "looks good").await.map(drop),
        440..450 if scene.stormy.get() => {
            people.ask(&ada(), pipeline, environment, &Ask::Reject { version: None }).await.map(drop)
        }
        _ => Ok(()),
    };
    // What does not make sense any more is denied, which is fine.
    drop(done);
}

/// The same on a forge, where nobody asks Weir.
fn review_there(scene: &Scene, pipeline: &PipelineKey, environment: &EnvironmentName) {
    let mark = format!("<!-- weir: {pipeline}/{environment} #");
    let all = scene.sim.forge.all();
    let Some(open) = all.iter().find(|it| it.seen.is_open() && it.seen.body.contains(&mark)) else { return };
    let by_hand = scene.sim.repos.is_by_hand(&open.head);
    match scene.chance().below(1000) {
        _ if by_hand && scene.chance().happens(200) => scene.sim.forge.close_by(&open.seen.id, "ada"),
        _ if by_hand => {}
        0..400 => drop(scene.sim.forge.merge_by(&open.seen.id, "ada")),
        400..420 if scene.stormy.get() => scene.sim.forge.close_by(&open.seen.id, "ada"),
        _ => {}
    }
}

async fn ask(scene: &Scene, pipeline: &PipelineKey, environment: &EnvironmentName) {
    if environment.as_str() == DEV || !scene.mischief(8) {
        return;
    }
    let world = scene.world();
    let known = world.look(pipeline, |known| {
        let orders = known.snapshot().environments.values().flat_map(|record| &record.order);
        orders.map(|first| first.release.to_string()).collect::<Vec<_>>()
    });
    let Some(version) = scene.chance().pick(&known.unwrap_or_default()).cloned() else { return };
    scene.diary.borrow_mut().asked.push((pipeline.clone(), environment.clone(), version.clone()));
    drop(scene.people(&world).ask(&ada(), pipeline, environment, &Ask::Promote { version }).await);
}

/// What a person does about a request that nobody can fulfil: takes it back.
pub(crate) async fn take_back(scene: &Scene) {
    let world = scene.world();
    for (pipeline, environment) in scene.environments() {
        let now = scene.now();
        let stuck = world.look(&pipeline, |known| {
            let plan = plan(known.pipeline(), known.snapshot(), now);
            let holds = plan.environments.into_iter().find(|it| it.name == environment.name).map(|it| it.holds);
            let requested = known.newest(&environment.name).is_some_and(|it| it.requested_by.is_some());
            let never =
                |reason: &Reason| matches!(reason, Reason::NotHealthyYet { .. } | Reason::NotEnoughTargets { .. });
            requested && holds.unwrap_or_default().iter().any(|hold| never(&hold.reason))
        });
        if stuck == Some(true) {
            drop(scene.people(&world).ask(&ada(), &pipeline, &environment.name, &Ask::Reject { version: None }).await);
        }
    }
}
