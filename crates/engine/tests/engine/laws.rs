//! What must be true of every history.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use weir_core::{PlainProposal, PlainState, PromotionKey};
use weir_ports::{PullRequest, PullRequestState, Record};
use weir_testkit::sim::BaseMove;

use crate::scene::{PROD, Scene, main_branch, semver, value};

/// Looks at everything that has happened since the last look.
pub(crate) fn check(scene: &Scene) -> Result<(), String> {
    for step in scene.sim.repos.moves() {
        if step.branch == main_branch() {
            only_the_value_changes(&step)?;
            // What a person merges on the forge is their own business.
            if step.by.is_none() {
                moves_forward_with_all_gates_open(scene, &step)?;
            }
        }
    }
    no_approval_is_lost(scene)?;
    nobody_is_blamed(scene)?;
    every_step_leads_somewhere(scene)?;
    one_open_proposal_for_each_environment(scene)
}

/// What a person was told to have been taken in stays, whoever else writes to the record at the same time.
fn no_approval_is_lost(scene: &Scene) -> Result<(), String> {
    let kept = scene.sim.store.select(|record| match record {
        Record::Promotion(it) => Some((it.key.clone(), it.approvals.iter().map(|it| it.release.to_string()).collect())),
        _ => None,
    });
    let kept: BTreeMap<PromotionKey, Vec<String>> = kept.into_iter().collect();
    for (key, version) in &scene.diary.borrow().agreed {
        if kept.get(key).is_some_and(|approvals| !approvals.contains(version)) {
            return Err(format!("the approval of {version} for {key} is lost"));
        }
    }
    Ok(())
}

/// What Weir itself wrote to a branch is not taken for somebody else's.
fn nobody_is_blamed(scene: &Scene) -> Result<(), String> {
    let diary = scene.diary.borrow();
    let blamed = scene.sim.store.select(|record| {
        let Record::Promotion(it) = record else { return None };
        let proposal = it.leg.facts.proposal.as_ref().filter(|proposal| proposal.changed_by.is_some())?;
        let branch = it.leg.facts.branch.as_ref()?;
        (!diary.touched.contains(&branch.name)).then(|| format!("{}: {} at {}", it.key, branch.name, proposal.head))
    });
    blamed.first().map_or(Ok(()), |blamed| Err(format!("somebody is said to have written to {blamed}, and nobody did")))
}

/// Nothing is begun again and again: a step is taken, or something is said to hold it.
fn every_step_leads_somewhere(scene: &Scene) -> Result<(), String> {
    let under_way = scene.sim.store.select(|record| match record {
        Record::Promotion(it) if it.leg.facts.problem.is_none() => {
            it.leg.intent.as_ref().map(|intent| format!("{} {} {intent:?}", it.key, it.release))
        }
        _ => None,
    });
    let (now, restless) = (scene.now(), &mut scene.diary.borrow_mut().restless);
    restless.retain(|step, _| under_way.contains(step));
    for step in under_way {
        let since = *restless.entry(step.clone()).or_insert(now);
        if now.duration_since(since) > SignedDuration::from_mins(10) {
            return Err(format!("since {since} nothing comes of it: {step}"));
        }
    }
    Ok(())
}

/// Whatever else is in the files stays there.
fn only_the_value_changes(step: &BaseMove) -> Result<(), String> {
    let mark = mark_of(step);
    for (path, before) in &step.before {
        let after = step.after.get(path).ok_or_else(|| format!("{path} is gone"))?;
        let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
        let same = old.len() == new.len()
            && old.iter().zip(&new).all(|(old, new)| old == new || (old.contains(&mark) && new.contains(&mark)));
        if !same {
            return Err(format!("a foreign change of {path} is lost:\n{before}\nbecame\n{after}\nby {}", step.message));
        }
    }
    Ok(())
}

fn mark_of(step: &BaseMove) -> String {
    let key = promotion_of(step);
    format!("\"{}:{}:{}\"", key.pipeline.namespace, key.pipeline.name, key.environment)
}

fn promotion_of(step: &BaseMove) -> PromotionKey {
    let line = step.message.lines().find_map(|line| line.strip_prefix("Weir-Promotion: "));
    let (rest, ordinal) = line.unwrap().rsplit_once('-').unwrap();
    let (pipeline, environment) = rest.rsplit_once('-').unwrap();
    PromotionKey {
        pipeline: pipeline.parse().unwrap(),
        environment: environment.parse().unwrap(),
        ordinal: ordinal.parse().unwrap(),
    }
}

fn moves_forward_with_all_gates_open(scene: &Scene, step: &BaseMove) -> Result<(), String> {
    if step.before == step.after {
        // Somebody wrote the value by hand a moment before.
        return Ok(());
    }
    let key = promotion_of(step);
    let (pipeline, environment) = (&key.pipeline, &key.environment);
    let before = value(&step.before, pipeline, environment).unwrap_or_default();
    let after = value(&step.after, pipeline, environment).unwrap_or_default();
    let diary = scene.diary.borrow();
    let is_it = |p: &_, e: &_, v: &String| p == pipeline && e == environment && *v == after;
    let asked = diary.asked.iter().any(|(p, e, v)| is_it(p, e, v));
    if !asked && semver(&after) <= semver(&before) {
        return Err(format!("{key}: went back from {before} to {after}, and nobody asked for it"));
    }
    // Of two engines, one hears of what the other was told when its question is answered, which takes 40 s at most.
    let two = diary.two_until.is_some_and(|until| step.asked <= until);
    let slack = SignedDuration::from_secs(if two { 40 } else { 0 });
    let frozen = diary
        .freezes
        .iter()
        .any(|(from, until)| step.asked.duration_since(*from) > slack && until.is_none_or(|until| step.asked < until));
    if frozen {
        return Err(format!("{key}: {after} was merged at {} during a freeze", step.asked));
    }
    let approved = diary.approvals.iter().any(|(p, e, v, at)| is_it(p, e, v) && *at <= step.asked);
    if environment.as_str() == PROD && !approved {
        return Err(format!("{key}: {after} was merged at {}, and nobody had approved it", step.asked));
    }
    Ok(())
}

fn one_open_proposal_for_each_environment(scene: &Scene) -> Result<(), String> {
    let mut open: BTreeMap<_, usize> = BTreeMap::new();
    let opened = scene.sim.store.select(|record| match record {
        Record::Proposal(proposal) if proposal.state == PlainState::Open => Some(proposal.key.clone()),
        _ => None,
    });
    let opened = opened.iter().map(|key| format!("{}/{}", key.pipeline, key.environment));
    let there = scene.sim.forge.all();
    let there = there.iter().filter(|it| it.seen.is_open()).map(|it| place_of(&it.seen));
    for place in opened.chain(there) {
        *open.entry(place).or_default() += 1;
    }
    let (now, doubles) = (scene.now(), &mut scene.diary.borrow_mut().doubles);
    doubles.retain(|place, _| open.get(place).is_some_and(|count| *count > 1));
    for (place, _) in open.into_iter().filter(|(_, count)| *count > 1) {
        let since = *doubles.entry(place.clone()).or_insert(now);
        if now.duration_since(since) > SignedDuration::from_mins(5) {
            return Err(format!("{place} is proposed twice since {since}"));
        }
    }
    Ok(())
}

/// The pipeline and the environment that a pull request is for.
fn place_of(seen: &PullRequest) -> String {
    let mark = seen.body.rsplit_once("<!-- weir: ").and_then(|(_, rest)| rest.split_once(" #"));
    mark.unwrap().0.to_owned()
}

fn proposals(scene: &Scene) -> Vec<PlainProposal> {
    scene.sim.store.select(|record| match record {
        Record::Proposal(proposal) => Some((**proposal).clone()),
        _ => None,
    })
}

/// At the end: nothing of others is lost, and nothing was proposed again for no reason.
pub(crate) fn check_end(scene: &Scene) -> Result<(), String> {
    let files = scene.sim.repos.files_of(&main_branch());
    for (path, line) in &scene.diary.borrow().foreign {
        if !files.get(path).is_some_and(|text| text.lines().any(|it| it == line)) {
            return Err(format!("`{line}` of {path} is lost"));
        }
    }
    nothing_is_proposed_again_there(scene)?;
    let all = proposals(scene);
    for (place, proposal) in all.iter().enumerate() {
        let again = all[place + 1..].iter().find(|later| {
            later.key.pipeline == proposal.key.pipeline
                && later.key.environment == proposal.key.environment
                && later.release == proposal.release
        });
        let touched = || {
            let diary = scene.diary.borrow();
            let here = (proposal.key.pipeline.clone(), proposal.key.environment.clone());
            diary.by_hand.contains_key(&here) || diary.asked.iter().any(|(p, e, _)| (p, e) == (&here.0, &here.1))
        };
        if let Some(again) = again
            && !matches!(proposal.state, PlainState::Closed { .. })
            && !touched()
        {
            return Err(format!("{} was proposed again as {}", proposal.key, again.key));
        }
    }
    Ok(())
}

fn nothing_is_proposed_again_there(scene: &Scene) -> Result<(), String> {
    let all = scene.sim.forge.all();
    for (place, kept) in all.iter().enumerate() {
        let again = all[place + 1..].iter().find(|later| later.seen.title == kept.seen.title);
        let place = place_of(&kept.seen);
        let touched = || {
            let diary = scene.diary.borrow();
            let is_it = |p: &_, e: &_| format!("{p}/{e}") == place;
            diary.by_hand.keys().any(|(p, e)| is_it(p, e)) || diary.asked.iter().any(|(p, e, _)| is_it(p, e))
        };
        if let Some(again) = again
            && !matches!(kept.seen.state, PullRequestState::Closed { .. })
            && !touched()
        {
            return Err(format!("{} was proposed again as {}", kept.seen.url, again.seen.url));
        }
    }
    Ok(())
}
