//! What would come of something that a person does is what comes of it.

use weir_core::{Actor, Approval, Fact, Preview, Promotion, Rejection, explain, preview, request};

use crate::story::{Story, environment, minutes, release};

/// Ada thinks about asking for a release in prod.
fn asking(story: &Story, version: &str) -> Preview {
    let world = &story.world;
    let by = Actor::named("ada");
    let wanted = request(&world.pipeline, &world.snapshot, &environment("prod"), release(version), by).unwrap();
    let about = wanted.release.clone();
    preview(&world.pipeline, &world.snapshot, &wanted, about, world.now).unwrap()
}

/// Somebody thinks about changing what is on its way to prod.
fn changing(story: &Story, change: impl FnOnce(&mut Promotion)) -> Preview {
    let world = &story.world;
    let mut promotion = story.promotion("prod").clone();
    change(&mut promotion);
    let about = promotion.release.clone();
    preview(&world.pipeline, &world.snapshot, &promotion, about, world.now).unwrap()
}

#[test]
fn what_would_hold_it_is_told_before() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").runs("prod", "1.0.0").settles();
    let told = asking(&story, "1.0.1");
    assert!(steps(&told).is_empty(), "{:?}", told.steps);
    let reasons = &told.then.reasons;
    let found = reasons.iter().find(|reason| reason.name == "NotHealthyYet").unwrap();
    assert_eq!(found.sentence, "1.0.1 is not healthy in dev: it was never seen there");
}

fn steps(preview: &Preview) -> Vec<String> {
    preview.steps.iter().filter_map(weir_core::Carried::told).collect()
}

#[test]
fn it_says_how_a_release_stands_to_what_is_there() {
    let mut story = Story::of("dev, prod");
    assert_eq!(asking(&story, "1.0.0").notes, ["prod is not known to run anything yet"]);
    story.runs("dev", "1.0.0").runs("prod", "1.0.0").settles().runs("dev", "1.1.0").settles();
    story.merges("prod").deploys("prod").settles();
    assert_eq!(asking(&story, "1.0.0").notes, ["prod runs 1.1.0: 1.0.0 is older; once it is there, 1.1.0 is refused"]);
    assert_eq!(asking(&story, "1.1.0").notes, ["prod runs 1.1.0 already"]);
    assert_eq!(asking(&story, "abc").notes, ["prod runs 1.1.0: nobody knows whether abc is newer"]);
    story.runs("dev", "1.2.0").settles();
    assert_eq!(asking(&story, "1.2.0").notes, ["prod runs 1.1.0: 1.2.0 is newer", "1.2.0 is on its way already"]);
    let notes = asking(&story, "1.0.0").notes;
    assert_eq!(notes[1..], ["1.2.0, which is on its way, gives way to it"]);
    story.closes("prod").settles();
    let told = asking(&story, "1.2.0");
    assert_eq!(told.notes.len(), 2);
    assert!(told.notes[1].starts_with("1.2.0 was refused here, which is lifted: "), "{:?}", told.notes);
}

#[test]
fn it_goes_as_far_as_it_goes_by_itself() {
    let mut story = Story::of("dev, prod");
    story.runs("prod", "1.0.0").runs("dev", "1.0.1").settles().runs("dev", "1.1.0").settles();
    let told = asking(&story, "1.0.1");
    assert_eq!(steps(&told), ["proposes 1.0.1"]);
    assert_eq!(told.then.headline(), "app 1.0.1 is proposed for prod");

    let mut story = Story::of("dev, prod").merges_itself("prod");
    story.runs("dev", "0.9.0").runs("prod", "0.9.0").settles().runs("dev", "1.0.0").runs("prod", "1.0.0").settles();
    let told = asking(&story, "0.9.0");
    assert_eq!(steps(&told), ["proposes 0.9.0", "merges the proposal of 0.9.0"]);
    assert_eq!(told.then.headline(), "app 0.9.0 is in Git for prod, and does not run everywhere yet");

    let mut story = Story::of("dev, prod").soak("prod", minutes(60)).approval("prod", 1);
    story.runs("dev", "1.1.0").runs("prod", "1.0.0").settles();
    let told = asking(&story, "1.1.0");
    assert!(steps(&told).is_empty(), "{:?}", told.steps);
    let held: Vec<_> = told.then.reasons.iter().map(|reason| reason.name.as_str()).collect();
    assert_eq!(held[..2], ["Soaking", "AwaitingApproval"]);
}

#[test]
fn one_of_two_approvals_does_not_open_the_gate_and_the_second_does() {
    let mut story = Story::of("dev, prod").approval("prod", 2);
    story.runs("dev", "1.1.0").runs("prod", "1.0.0").settles();
    let approves = |story: &Story, who: &str| {
        changing(story, |promotion| {
            let (by, release) = (Actor::named(who), promotion.release.clone());
            promotion.approvals.push(Approval { by, release, at: story.world.now });
        })
    };
    let told = approves(&story, "ada");
    assert!(steps(&told).is_empty(), "{:?}", told.steps);
    assert!(told.then.reasons[0].sentence.starts_with("1 of 2 approvals for 1.1.0 (ada)"), "{:?}", told.then);
    story.approves("ada", "prod", "1.1.0");
    let told = approves(&story, "bob");
    assert_eq!(steps(&told), ["proposes 1.1.0"]);
    assert_eq!(told.notes, ["prod runs 1.0.0: 1.1.0 is newer"]);
    assert_eq!(approves(&story, "ada").notes[1..], ["ada agreed to it already"]);
}

#[test]
fn to_agree_to_the_next_one_is_to_give_it_the_turn_unless_a_person_asked_for_another() {
    let mut story = Story::of("dev, prod").approval("prod", 1);
    story.runs("prod", "1.0.0").runs("dev", "1.1.0").settles().runs("dev", "1.2.0").settles();
    let approves = |story: &Story, version: &str| {
        let world = &story.world;
        let mut promotion = story.promotion("prod").clone();
        let about = release(version);
        promotion.approvals.push(Approval { by: Actor::named("bob"), release: about.clone(), at: world.now });
        preview(&world.pipeline, &world.snapshot, &promotion, about, world.now).unwrap()
    };
    let told = approves(&story, "1.2.0");
    let wanted = ["prod runs 1.0.0: 1.2.0 is newer", "1.1.0, which is on its way, gives way to it"];
    assert_eq!(told.notes, wanted);
    assert_eq!(steps(&told), ["proposes 1.2.0"]);
    story.asks("ada", "prod", "1.1.0");
    let told = approves(&story, "1.2.0");
    assert_eq!(told.notes, ["it is not the turn of 1.2.0: 1.1.0 goes first"]);
    assert!(steps(&told).is_empty(), "{:?}", told.steps);
}

#[test]
fn what_is_rejected_is_closed() {
    let mut story = Story::of("dev, prod");
    story.runs("dev", "1.1.0").runs("prod", "1.0.0").settles();
    let told = changing(&story, |promotion| {
        promotion.rejection = Some(Rejection { by: Actor::named("ada"), at: story.world.now, why: None });
    });
    assert_eq!(told.steps.len(), 1, "{:?}", told.steps);
    assert!(steps(&told)[0].starts_with("closes the proposal: "), "{:?}", told.steps);
    assert_eq!(told.then.reasons[0].name, "Refused");
    assert_eq!(told.then.headline(), "app 1.1.0 does not go to prod");
}

#[test]
fn looking_changes_nothing_and_doing_it_comes_to_the_same() {
    let mut story = Story::of("dev, qa, prod").merges_itself("prod");
    story.runs("dev", "1.1.0").runs("qa", "1.1.0").runs("prod", "1.0.0").settles();
    let before = story.world.snapshot.clone();
    let told = asking(&story, "1.0.0");
    assert_eq!(story.world.snapshot, before);
    let (environment, by) = (environment("prod"), Actor::named("ada"));
    story.happens(Fact::Asked { environment: environment.clone(), release: release("1.0.0"), by });
    let done = story.settling().into_iter().filter(|step| step.promotion.environment == environment);
    assert_eq!(steps(&told), done.filter_map(|step| step.told()).collect::<Vec<_>>());
    let then = explain(&story.world.pipeline, &story.world.snapshot, &environment, story.world.now);
    assert_eq!(Some(told.then), then);
}
