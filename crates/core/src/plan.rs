//! Puts the rules together, one pair of neighbouring environments at a time.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::{
    candidate::Pair,
    delivered::{Refused, follow, refused, since},
    deployed::Place,
    hold::{Hold, Reason},
    ledger::{Ledger, Line},
    moment::Moment,
    name::EnvironmentName,
    pipeline::Pipeline,
    policy::When,
    promotion::{Intent, Phase, Promotion, PromotionKey},
    release::Release,
    snapshot::{EnvironmentRecord, Snapshot},
    turn::{Advance, advance, let_in, settle},
};

/// What should be written down about a pipeline, and how its environments stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// How each environment stands, first to last.
    pub environments: Vec<EnvironmentPlan>,
    /// The records to write, in this order. Whoever dies between two of them loses nothing: planning again completes the
    /// rest.
    pub writes: Vec<Write>,
    /// The next moment at which time alone changes the plan.
    pub next_check: Option<Timestamp>,
}

impl Plan {
    /// A promotion as it is once the plan is written down.
    pub fn promotion<'a>(&'a self, key: &PromotionKey, snapshot: &'a Snapshot) -> Option<&'a Promotion> {
        let written = self.writes.iter().find_map(|write| match write {
            Write::Create(promotion) | Write::Update(promotion) => Some(&**promotion).filter(|it| it.key == *key),
            Write::Remember(..) => None,
        });
        written.or_else(|| snapshot.promotions.iter().find(|promotion| promotion.key == *key))
    }
}

/// How an environment stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentPlan {
    /// Which.
    pub name: EnvironmentName,
    /// The release that is next, if no promotion carries it yet.
    pub candidate: Option<Release>,
    /// The promotion whose turn it is, by its ordinal.
    pub promotion: Option<u64>,
    /// The step that is being taken.
    pub step: Option<Intent>,
    /// Everything that holds it, most binding first.
    pub holds: Vec<Hold>,
    /// Those of them that hold the candidate and not the promotion whose turn it is.
    pub next: Vec<Hold>,
}

/// A record to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// A new promotion. That it exists already means that somebody else had the turn.
    Create(Box<Promotion>),
    /// A promotion whose phase, holds or intent changed.
    Update(Box<Promotion>),
    /// What is remembered of an environment.
    Remember(EnvironmentName, Box<EnvironmentRecord>),
}

impl Write {
    /// Memory first, because what is refused must not be forgotten; then what takes a turn, then what gives it up, because
    /// the one that takes over brings along what was approved.
    fn turn(&self) -> u8 {
        match self {
            Self::Remember(..) => 0,
            Self::Create(_) => 1,
            Self::Update(_) => 2,
        }
    }
}

/// Decides. Takes one pipeline, everything that is known about it, and the time. It never fails, and the same input
/// always gives the same plan.
pub fn plan(pipeline: &Pipeline, snapshot: &Snapshot, now: Timestamp) -> Plan {
    let moment = Moment::new(now);
    let mut places: Vec<_> = pipeline
        .environments()
        .iter()
        .map(|environment| Place::look(environment, &pipeline.application, snapshot, now))
        .collect();
    let mut plan = Plan { environments: Vec::with_capacity(places.len()), writes: Vec::new(), next_check: None };
    retire_strangers(pipeline, snapshot, &moment, &mut plan.writes);
    for index in 0..places.len() {
        let (before, rest) = places.split_at_mut(index);
        let Some(into) = rest.first_mut() else { break };
        let environment = match before.last() {
            Some(from) => cross(pipeline, snapshot, from, into, &moment, &mut plan.writes),
            None => first(into),
        };
        plan.environments.push(environment);
    }
    for place in places {
        let name = place.name();
        if let Cow::Owned(record) = place.record
            && snapshot
                .environments
                .get(name)
                .map_or_else(|| record != EnvironmentRecord::default(), |old| *old != record)
        {
            plan.writes.push(Write::Remember(name.clone(), Box::new(record)));
        }
    }
    plan.writes.sort_by_key(Write::turn);
    plan.next_check = moment.next();
    plan
}

/// Nothing is promoted into the first environment.
fn first(place: &mut Place<'_>) -> EnvironmentPlan {
    if !place.record.holds.is_empty() {
        place.record.to_mut().holds.clear();
    }
    EnvironmentPlan {
        name: place.name().clone(),
        candidate: None,
        promotion: None,
        step: None,
        holds: Vec::new(),
        next: Vec::new(),
    }
}

/// Ends promotions into environments that are no longer entered: gone from the pipeline, or first in it by now.
fn retire_strangers(pipeline: &Pipeline, snapshot: &Snapshot, moment: &Moment, writes: &mut Vec<Write>) {
    let entered = pipeline.environments().get(1..).unwrap_or_default();
    let stranger = |promotion: &&Promotion| {
        !entered.iter().any(|environment| environment.name == promotion.key.environment)
            && promotion.key.pipeline == pipeline.key
    };
    if !snapshot.promotions.iter().any(|promotion| stranger(&promotion)) {
        return;
    }
    let mut names: Vec<_> = snapshot.promotions.iter().filter(stranger).map(|p| &p.key.environment).collect();
    names.sort();
    names.dedup();
    for name in names {
        let mut ledger = Ledger::of(snapshot, pipeline, name);
        retire(&mut ledger, moment, &format!("{name} is no longer entered by pipeline {}", pipeline.key), true);
        close(&mut ledger);
        emit(ledger, snapshot, writes);
    }
}

fn retire(ledger: &mut Ledger<'_>, moment: &Moment, note: &str, delivered_too: bool) {
    for line in &mut ledger.lines {
        match line.promotion.phase {
            Phase::Pending | Phase::Proposed => line.end(Phase::Withdrawn, moment.now, note),
            Phase::Delivered if delivered_too => line.end(Phase::Withdrawn, moment.now, note),
            Phase::Failed if delivered_too => line.hold(Vec::new()),
            _ => {}
        }
    }
}

/// How often one plan may look at an environment again, because something was refused or a promotion was created. Each
/// happens once or twice; more would be a fault.
const ROUNDS: usize = 8;

fn cross<'a>(
    pipeline: &'a Pipeline,
    snapshot: &'a Snapshot,
    from: &Place<'a>,
    into: &mut Place<'a>,
    moment: &Moment,
    writes: &mut Vec<Write>,
) -> EnvironmentPlan {
    let mut ledger = Ledger::of(snapshot, pipeline, into.name());
    let policy = into.definition.promotion.as_ref();
    let when = policy.map_or(When::Any, |policy| policy.when);
    let passable = !pipeline.deleted && !from.targets.is_empty() && !into.targets.is_empty();
    let in_git = policy.is_none_or(|policy| policy.strategy.repository().is_some());
    let declared = if in_git { ledger.declared() } else { &[] };
    let mut candidate = None;
    let mut holds = Vec::new();
    if !passable || (policy.is_none() && ledger.live().is_some()) {
        retire(&mut ledger, moment, &impassable(pipeline, from, into), !passable);
    }
    if passable {
        for _ in 0..ROUNDS {
            // What a promotion that ends in this round would have waited for is no longer waited for.
            let round = Moment::new(moment.now);
            lift(into, &ledger);
            let pair = Pair { pipeline, snapshot, from, into, when, moment: &round, declared };
            if let Some(release) = policy.and_then(|_| let_in(&mut ledger, &pair)) {
                admit(into, &release);
            }
            let mut refusals = Vec::new();
            let pair = Pair { pipeline, snapshot, from, into, when, moment: &round, declared };
            if let Some(policy) = policy {
                settle(&mut ledger, &pair, policy, &mut refusals);
            }
            follow(&mut ledger, &pair, policy.map(|policy| policy.deploy_timeout), &mut refusals);
            refused(&ledger, &mut refusals);
            if refuse(into, refusals, moment) {
                continue;
            }
            let pair = Pair { pipeline, snapshot, from, into, when, moment: &round, declared };
            if let Advance::Settled { candidate: next, holds: reasons } = advance(&mut ledger, &pair, policy) {
                moment.changes(round.next());
                (candidate, holds) = (next, reasons);
                break;
            }
        }
    }
    close(&mut ledger);
    remember(into, holds, &ledger, moment);
    let environment = report(into, candidate, &ledger);
    emit(ledger, snapshot, writes);
    environment
}

fn impassable(pipeline: &Pipeline, from: &Place<'_>, into: &Place<'_>) -> String {
    if pipeline.deleted {
        return format!("pipeline {} was deleted", pipeline.key);
    }
    match (from.targets.is_empty(), into.targets.is_empty()) {
        (true, _) => format!("{} has no targets", from.name()),
        (_, true) => format!("{} has no targets", into.name()),
        _ => format!("{} has no promotion strategy any more", into.name()),
    }
}

/// Remembers what is refused; `true` if that is news.
fn refuse(into: &mut Place<'_>, refusals: Vec<Refused>, moment: &Moment) -> bool {
    let mut news = false;
    for refused in refusals {
        if into.record.refusal(&refused.release).is_none() {
            into.record.to_mut().refuse(&refused.release, moment.now, refused.why);
            news = true;
        }
    }
    news
}

/// What a person asks for is no longer refused. Only when it is first seen: what is refused after that stands.
fn lift(into: &mut Place<'_>, ledger: &Ledger<'_>) {
    let asked = |live: &&Line<'_>| live.promotion.requested_by.is_some() && live.promotion.history.is_empty();
    if let Some(live) = ledger.live().filter(asked) {
        admit(into, &live.promotion.release);
    }
}

/// A release is no longer refused.
fn admit(into: &mut Place<'_>, release: &Release) {
    if into.record.refusal(release).is_some() {
        into.record.to_mut().refusals.retain(|refusal| refusal.release != *release);
    }
}

/// Whatever is over and still has an open proposal is closed, unless a newer promotion took the proposal over.
fn close(ledger: &mut Ledger<'_>) {
    let Some((last, earlier)) = ledger.lines.split_last_mut() else { return };
    for line in earlier {
        line.intend(None);
    }
    if !last.promotion.phase.is_live() {
        let note = last.promotion.history.last().and_then(|turn| turn.note.clone());
        let note = note.unwrap_or_else(|| format!("this promotion is {}", last.promotion.phase).into());
        let open = last.has_open_proposal();
        last.intend(open.then_some(Intent::Close(note)));
    }
}

fn remember(into: &mut Place<'_>, reasons: Vec<Reason>, ledger: &Ledger<'_>, moment: &Moment) {
    let holds = since(reasons, &into.record.holds, moment);
    if into.record.holds != holds {
        into.record.to_mut().holds = holds;
    }
    let earlier = ledger.lines.len().checked_sub(2).and_then(|index| ledger.lines.get(index));
    let ordinal = earlier.map_or(0, |line| line.promotion.key.ordinal);
    if into.record.last_ordinal < ordinal {
        into.record.to_mut().last_ordinal = ordinal;
    }
}

fn report(into: &Place<'_>, candidate: Option<Release>, ledger: &Ledger<'_>) -> EnvironmentPlan {
    let delivered = ledger.delivered();
    let live = ledger.live().map(|line| &*line.promotion);
    let promotions = live.into_iter().chain(delivered);
    let own: Vec<&Hold> = promotions.flat_map(|promotion| &promotion.holds).collect();
    let is_own = |hold: &&Hold| own.iter().any(|known| known.reason == hold.reason);
    let next = into.record.holds.iter().filter(|hold| !is_own(hold)).cloned().collect();
    let mut holds: Vec<Hold> = own.iter().copied().chain(&into.record.holds).cloned().collect();
    holds.sort_by_key(|hold| (hold.reason.rank(), hold.since));
    // What holds the promotion and its successor alike is said once.
    let mut kept = 0;
    for index in 0..holds.len() {
        if !holds[..kept].iter().any(|known| known.reason == holds[index].reason) {
            holds.swap(kept, index);
            kept += 1;
        }
    }
    holds.truncate(kept);
    EnvironmentPlan {
        name: into.name().clone(),
        candidate,
        promotion: live.or(delivered).map(|promotion| promotion.key.ordinal),
        step: ledger.lines.last().and_then(|line| line.promotion.leg.intent.clone()),
        holds,
        next,
    }
}

fn emit(ledger: Ledger<'_>, snapshot: &Snapshot, writes: &mut Vec<Write>) {
    for line in ledger.lines {
        let Cow::Owned(promotion) = line.promotion else { continue };
        if line.new {
            writes.push(Write::Create(Box::new(promotion)));
        } else if !snapshot.promotions.contains(&promotion) {
            writes.push(Write::Update(Box::new(promotion)));
        }
    }
}
