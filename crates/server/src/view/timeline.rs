//! What happened to a promotion, moment by moment, from all that is remembered of it.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use weir_core::{Phase, PlainProposal, PlainState, Promotion, ProposalState, Snapshot, Verdict};
use weir_ports::Deed;

use super::PromotionView;

/// A promotion, and what happened to it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PromotionStory {
    #[serde(flatten)]
    promotion: PromotionView,
    /// What happened, oldest first: from when the release was first healthy in the environment before, to when it is
    /// healthy here.
    timeline: Vec<Moment>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Moment {
    /// When.
    at: Timestamp,
    /// What, in words.
    what: String,
    /// The phase that it entered, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<String>,
    /// Why, or what was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl PromotionStory {
    /// The story of a promotion. `deeds` are those of its pipeline; `proposal` is the one that Weir keeps for it.
    pub(crate) fn new(
        promotion: &Promotion,
        snapshot: Option<&Snapshot>,
        proposal: Option<&PlainProposal>,
        deeds: &[Deed],
    ) -> Self {
        let mut timeline = phases(promotion);
        timeline.extend(people(promotion, deeds));
        match proposal {
            Some(proposal) => timeline.extend(kept(promotion, proposal)),
            None => timeline.extend(on_forge(promotion)),
        }
        timeline.extend(snapshot.into_iter().flat_map(|snapshot| sightings(promotion, snapshot)));
        timeline.sort_by_key(|moment| moment.at);
        Self { promotion: promotion.into(), timeline }
    }
}

fn moment(at: Timestamp, what: impl Into<String>, note: Option<&str>) -> Moment {
    Moment { at, what: what.into(), phase: None, note: note.map(str::to_owned) }
}

/// The phases that it entered, and what holds it now.
fn phases(promotion: &Promotion) -> Vec<Moment> {
    let entered = promotion.history.iter().map(|turn| {
        let phase = turn.phase.to_string();
        Moment { phase: Some(phase.clone()), ..moment(turn.at, phase, turn.note.as_deref()) }
    });
    let held = promotion.holds.iter().map(|hold| {
        let what = format!("begins to wait: {}", hold.reason.name());
        moment(hold.since, what, Some(&hold.reason.to_string()))
    });
    entered.chain(held).collect()
}

/// What people decided. Why they did, only the journal knows.
fn people(promotion: &Promotion, deeds: &[Deed]) -> Vec<Moment> {
    let place = format!("{}/{}", promotion.key.pipeline, promotion.key.environment);
    let why = |verb: &str, by: &str, at: Timestamp| {
        let theirs = |deed: &&Deed| deed.verb == verb && deed.by.name == by && deed.object == place;
        let near = |deed: &&Deed| at.duration_since(deed.at).abs() < jiff::SignedDuration::from_secs(10);
        deeds.iter().filter(theirs).find(near).and_then(|deed| deed.why.as_deref())
    };
    let mut moments = Vec::new();
    if let (Some(by), Some(first)) = (&promotion.requested_by, promotion.history.first()) {
        let why = why("promote", &by.name, first.at);
        moments.push(moment(first.at, format!("{} asked for {}", by.name, promotion.release), why));
    }
    for approval in &promotion.approvals {
        let why = why("approve", &approval.by.name, approval.at);
        moments.push(moment(approval.at, format!("{} approved {}", approval.by.name, approval.release), why));
    }
    if let Some(rejection) = &promotion.rejection {
        moments.push(moment(rejection.at, format!("{} rejected it", rejection.by.name), rejection.why.as_deref()));
    }
    moments
}

/// What happened to a proposal that Weir keeps. One that was taken over has a past, or goes on, with
/// another.
fn kept(promotion: &Promotion, proposal: &PlainProposal) -> Vec<Moment> {
    let begun = promotion.history.first().map(|turn| turn.at);
    let mut moments = vec![moment(proposal.opened, "proposal opened", None)];
    for review in &proposal.reviews {
        let what = match review.verdict {
            Verdict::Approved => "reviewed it and agrees",
            Verdict::ChangesRequested => "wants changes",
        };
        moments.push(moment(review.at, format!("{} {what}", review.by), review.why.as_deref()));
    }
    for comment in &proposal.comments {
        moments.push(moment(comment.at, format!("{} wrote", comment.by), Some(&comment.body)));
    }
    if let Some(wish) = &proposal.merge {
        moments.push(moment(wish.at, format!("{} wants it merged", wish.by), wish.why.as_deref()));
    }
    match &proposal.state {
        PlainState::Open => {}
        PlainState::Merged { at, by, commit } => {
            let by = by.as_deref().unwrap_or("Weir");
            moments.push(moment(*at, format!("proposal merged for {by}"), Some(&format!("commit {commit}"))));
        }
        PlainState::Closed { at, by, note } => {
            let by = by.as_deref().unwrap_or("Weir");
            moments.push(moment(*at, format!("proposal closed by {by}"), note.as_deref()));
        }
    }
    if let Some(begun) = begun.filter(|begun| proposal.opened < *begun) {
        moments.push(moment(begun, "takes over the proposal of the one before", None));
    }
    moments.retain(|moment| begun.is_none_or(|begun| moment.at >= begun));
    let taken_over = promotion.phase == Phase::Superseded || proposal.release != promotion.release;
    if let Some(end) = promotion.history.last().filter(|_| taken_over && !promotion.phase.is_live()) {
        moments.retain(|moment| moment.at <= end.at);
    }
    moments
}

/// What is known of the end of a pull request.
fn on_forge(promotion: &Promotion) -> Option<Moment> {
    let proposal = promotion.leg.facts.proposal.as_ref()?;
    let ProposalState::Merged { at, by } = &proposal.state else { return None };
    let by = by.as_deref().map(|by| format!(" by {by}")).unwrap_or_default();
    Some(moment(*at, format!("pull request {} merged{by}", proposal.id), proposal.url.as_deref()))
}

/// When the release was healthy, where it comes from and here.
fn sightings(promotion: &Promotion, snapshot: &Snapshot) -> Vec<Moment> {
    let release = &promotion.release;
    let mut moments = Vec::new();
    if let Some(from) = snapshot.environments.get(&promotion.from) {
        let first = from.order.iter().find(|first| release.covers(&first.release) || first.release == *release);
        moments.extend(first.map(|it| moment(it.at, format!("{release} healthy in {}", promotion.from), None)));
    }
    let begun = promotion.history.first().map(|turn| turn.at);
    if let Some(here) = snapshot.environments.get(&promotion.key.environment) {
        for (target, known) in &here.targets {
            let Some(since) = known.healthy_since.filter(|since| begun.is_none_or(|begun| *since >= begun)) else {
                continue;
            };
            if known.release.as_ref() == Some(release) {
                moments.push(moment(since, format!("healthy on {target}"), None));
            }
        }
    }
    moments
}

#[cfg(test)]
mod tests {
    use weir_core::{Actor, Approval, Comment, EnvironmentRecord, FirstSuccess, Phase, TargetRecord, Turn};
    use weir_testkit::records::{promotion, proposal, second};

    use super::*;

    fn told(story: &PromotionStory) -> Vec<(i64, &str)> {
        story.timeline.iter().map(|it| (it.at.as_second() - second(0).as_second(), it.what.as_str())).collect()
    }

    #[test]
    fn a_story_goes_from_first_seen_to_healthy_with_what_people_said() {
        let mut it = promotion("default/podinfo", "prod", 3, Phase::Delivered);
        let turn = |phase, at| Turn { phase, at: second(at), note: None };
        it.history = vec![turn(Phase::Pending, 10), turn(Phase::Proposed, 20), turn(Phase::Delivered, 40)];
        let ada = Actor::named("ada");
        it.approvals = vec![Approval { by: ada.clone(), release: it.release.clone(), at: second(15) }];
        it.requested_by = Some(ada.clone());
        let deed = |verb: &str, at: i64, why: &str| Deed {
            at: second(at),
            by: ada.clone(),
            verb: verb.to_owned(),
            object: "default/podinfo/prod".to_owned(),
            namespace: None,
            pipeline: Some("default/podinfo".parse().unwrap()),
            detail: None,
            why: Some(why.to_owned()),
        };
        let deeds = [deed("approve", 15, "tested"), deed("promote", 10, "urgent"), deed("approve", 500, "another")];
        let mut snapshot = Snapshot::default();
        let first = FirstSuccess { release: it.release.clone(), at: second(5) };
        let from = EnvironmentRecord { order: vec![first], ..EnvironmentRecord::default() };
        snapshot.environments.insert(it.from.clone(), from);
        let target = |since| TargetRecord {
            release: Some(it.release.clone()),
            healthy_since: Some(second(since)),
            unreachable: None,
        };
        let targets = [("eu".parse().unwrap(), target(50)), ("us".parse().unwrap(), target(3))].into();
        let here = EnvironmentRecord { targets, ..EnvironmentRecord::default() };
        snapshot.environments.insert(it.key.environment.clone(), here);
        let story = PromotionStory::new(&it, Some(&snapshot), None, &deeds);
        let release = it.release.to_string();
        let (healthy, asked, approved) = (
            format!("{release} healthy in {}", it.from),
            format!("ada asked for {release}"),
            format!("ada approved {release}"),
        );
        let wanted = [
            (5, healthy.as_str()),
            (10, "Pending"),
            (10, asked.as_str()),
            (15, approved.as_str()),
            (20, "Proposed"),
            (40, "Delivered"),
            (50, "healthy on eu"),
        ];
        assert_eq!(told(&story), wanted);
        let note = |what: &str| story.timeline.iter().find(|it| it.what == what).unwrap().note.as_deref();
        assert_eq!((note(&asked), note(&approved)), (Some("urgent"), Some("tested")));
    }

    #[test]
    fn a_proposal_that_was_there_before_is_taken_over() {
        let mut it = promotion("default/podinfo", "prod", 4, Phase::Pending);
        it.history = vec![Turn { phase: Phase::Pending, at: second(10), note: None }];
        let mut proposal = proposal("default/podinfo", "https://git.example.org/config.git");
        (proposal.opened, proposal.release) = (second(5), it.release.clone());
        let story = PromotionStory::new(&it, None, Some(&proposal), &[]);
        assert_eq!(told(&story), [(10, "Pending"), (10, "takes over the proposal of the one before")]);
    }

    #[test]
    fn what_happens_to_a_proposal_after_it_was_taken_over_is_another_story() {
        let mut it = promotion("default/podinfo", "prod", 3, Phase::Superseded);
        let turn = |phase, at| Turn { phase, at: second(at), note: None };
        it.history = vec![turn(Phase::Pending, 10), turn(Phase::Proposed, 20), turn(Phase::Superseded, 30)];
        let mut proposal = proposal("default/podinfo", "https://git.example.org/config.git");
        let comment = |at, body: &str| Comment { by: "ada".into(), body: body.into(), at: second(at) };
        proposal.opened = second(20);
        proposal.reviews = Vec::new();
        proposal.merge = None;
        proposal.comments = vec![comment(5, "before"), comment(25, "mine"), comment(40, "of the next")];
        proposal.release = it.release.clone();
        proposal.state = PlainState::Merged { at: second(50), by: None, commit: proposal.head.clone() };
        let story = PromotionStory::new(&it, None, Some(&proposal), &[]);
        let wanted =
            [(10, "Pending"), (20, "Proposed"), (20, "proposal opened"), (25, "ada wrote"), (30, "Superseded")];
        assert_eq!(told(&story), wanted);
    }
}
