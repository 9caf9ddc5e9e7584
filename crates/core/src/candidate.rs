//! Which release of an environment is the candidate for the next one, and what speaks against it.

use std::cmp::Ordering;

use jiff::Timestamp;

use crate::{
    deployed::{Place, Standing, Target},
    gates::quarantines,
    hold::Reason,
    ledger::Ledger,
    moment::Moment,
    observation::Unreachable,
    order::Order,
    pipeline::{Pipeline, TargetKey},
    policy::When,
    promotion::{Phase, Promotion},
    release::Release,
    snapshot::Snapshot,
};

/// A release that may leave an environment.
#[derive(Clone, Copy)]
pub(crate) struct Offer<'p> {
    pub(crate) release: &'p Release,
    /// Since when enough targets have run it without a break.
    pub(crate) since: Timestamp,
}

/// What an environment offers to the next one.
pub(crate) enum Candidate<'p> {
    /// This release shall go there.
    Go(Offer<'p>),
    /// Something is there that does not go, for these reasons.
    Held { release: Option<Release>, holds: Vec<Reason> },
    /// There is nothing to do.
    Nothing,
}

/// How a release stands to what an environment has.
enum Direction<'p> {
    /// It is newer than everything there.
    Forward,
    /// Every target runs it.
    Here,
    /// That is newer, and there.
    Backwards(&'p Release),
    /// Nobody knows whether it is newer than that.
    Unknown(&'p Release),
}

/// Two neighbouring environments, and what was promoted from the first to the second.
pub(crate) struct Pair<'p, 'a> {
    pub(crate) pipeline: &'a Pipeline,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) from: &'p Place<'a>,
    pub(crate) into: &'p Place<'a>,
    pub(crate) when: When,
    pub(crate) moment: &'p Moment,
    /// What the base branch declares for the second, as far as is known.
    pub(crate) declared: &'p [Release],
}

impl<'p> Pair<'p, '_> {
    /// The newest release that may leave the first environment and is neither in the second nor on its way there.
    /// Refused and quarantined ones are passed over.
    pub(crate) fn candidate(&self, ledger: &Ledger<'_>) -> Candidate<'p> {
        let everywhere = self.from.agreed().is_some_and(|agreed| self.into.runs(agreed));
        if everywhere && self.from.reported.is_none() {
            return Candidate::Nothing;
        }
        let live = ledger.live().map(|line| &*line.promotion);
        let arriving = self.arriving(ledger).map(|promotion| &promotion.release);
        let mut forward: Vec<Offer<'p>> = Vec::new();
        let mut older = None;
        let mut unknown = None;
        let mut here = false;
        for offer in self.offers() {
            let release = offer.release;
            let waits = live.is_none_or(|live| self.is_after(release, live));
            if !waits || arriving == Some(release) {
                continue;
            }
            match self.direction(release, ledger) {
                Direction::Here => here = true,
                Direction::Forward => forward.push(offer),
                Direction::Backwards(than) => older = older.or(Some((release, than))),
                Direction::Unknown(than) => unknown = unknown.or(Some((release, than))),
            }
        }
        let mut passed: Option<(&Release, Vec<Reason>)> = None;
        while let Some(newest) = self.newest(&forward) {
            let offer = match newest {
                Ok(index) => forward.swap_remove(index),
                Err((release, than)) => return held(release, order_unknown(release, than)),
            };
            match self.refused(offer.release, passed.is_none()) {
                None => return Candidate::Go(offer),
                Some(reasons) => passed = passed.or(Some((offer.release, reasons))),
            }
        }
        match (passed, unknown, older) {
            (Some((release, holds)), ..) => Candidate::Held { release: Some(release.clone()), holds },
            (None, Some((release, than)), _) => held(release, order_unknown(release, than)),
            // A target that lags behind is no news while another one leads where everybody is.
            (None, None, Some((release, than))) if !here => {
                held(release, Reason::Backwards { release: release.clone(), than: than.clone() })
            }
            _ if live.is_some() => Candidate::Nothing,
            _ => self.prospects(),
        }
    }

    /// Whether a release would come after the promotion that has its turn: because it is newer, or because a person asked
    /// for another one.
    fn is_after(&self, release: &Release, live: &Promotion) -> bool {
        let newer = || Order::between(release, &live.release, &self.from.record).is_newer(release, &live.release);
        *release != live.release && (live.requested_by.is_some() || newer())
    }

    /// The promotion that was delivered and is still on its way, or there: Git declares it, or nobody knows what Git
    /// declares and nothing newer is there.
    pub(crate) fn arriving<'l>(&self, ledger: &'l Ledger<'_>) -> Option<&'l Promotion> {
        let declared = |release: &Release| self.declared.iter().any(|declared| declared.covers(release));
        let unknown = |release: &Release| self.declared.is_empty() && self.newer_there(release).is_none();
        ledger.delivered().filter(|promotion| declared(&promotion.release) || unknown(&promotion.release))
    }

    /// Which of these is the newest, or which two have no order.
    fn newest(&self, offers: &[Offer<'p>]) -> Option<Result<usize, (&'p Release, &'p Release)>> {
        let order = Order::among(offers.iter().map(|offer| offer.release), &self.from.record);
        let mut best = (!offers.is_empty()).then_some(0)?;
        for (index, offer) in offers.iter().enumerate().skip(1) {
            match order.compare(offer.release, offers[best].release) {
                Some(Ordering::Greater) => best = index,
                Some(_) => {}
                None => return Some(Err((offer.release, offers[best].release))),
            }
        }
        Some(Ok(best))
    }

    /// The releases for which `when` holds. Targets that cannot be read count, but never in favour.
    pub(crate) fn offers(&self) -> Vec<Offer<'p>> {
        let needed = self.needed();
        let mut offers = Vec::with_capacity(1);
        self.each_running(|release, since| {
            offers.extend(since.get(needed - 1).map(|(_, since)| Offer { release, since: *since }));
        });
        if let (When::Any, Some(Standing::Runs { release, since })) = (self.when, &self.from.reported)
            && !offers.iter().any(|offer| *offer.release == **release)
        {
            offers.push(Offer { release, since: *since });
        }
        offers
    }

    fn needed(&self) -> usize {
        self.when.needed(self.from.targets.len())
    }

    /// Every release that runs in the first environment, with the times since when, earliest first.
    fn each_running(&self, mut each: impl FnMut(&'p Release, &[(&'p Release, Timestamp)])) {
        let mut running: Vec<(&Release, Timestamp)> = Vec::with_capacity(self.from.targets.len());
        for target in &self.from.targets {
            if let Standing::Runs { release, since } = &target.standing {
                running.push((release, *since));
            }
        }
        running.sort_unstable();
        for same in running.chunk_by(|one, other| one.0 == other.0) {
            each(same[0].0, same);
        }
    }

    fn direction(&self, release: &Release, ledger: &Ledger<'_>) -> Direction<'p> {
        if self.into.runs(release) {
            return Direction::Here;
        }
        let mut unknown = None;
        let mut last = None;
        for there in self.there() {
            if last.replace(there) == Some(there) || there.covers(release) {
                continue;
            }
            match Order::between(release, there, &self.from.record).compare(release, there) {
                Some(Ordering::Less) => return Direction::Backwards(there),
                Some(_) => {}
                // What came from there through Weir was there before.
                None if self.came_through_weir(there, ledger) => {}
                None => unknown = Some(there),
            }
        }
        unknown.map_or(Direction::Forward, Direction::Unknown)
    }

    /// Whether the second environment has something newer than this release.
    pub(crate) fn newer_there(&self, release: &Release) -> Option<&'p Release> {
        self.there().find(|there| {
            !there.covers(release) && Order::between(there, release, &self.from.record).is_newer(there, release)
        })
    }

    fn there(&self) -> impl Iterator<Item = &'p Release> {
        let (into, declared) = (self.into, self.declared);
        into.targets.iter().filter_map(|target| into.last_release(target)).chain(declared)
    }

    fn came_through_weir(&self, there: &Release, ledger: &Ledger<'_>) -> bool {
        ledger.promotions().any(|promotion| {
            promotion.from == *self.from.name()
                && there.covers(&promotion.release)
                && (promotion.phase == Phase::Delivered || promotion.delivered().is_some())
        })
    }

    /// Why a release may not go there, though it is newer. Only the first that is passed over is shown.
    fn refused(&self, release: &Release, shown: bool) -> Option<Vec<Reason>> {
        if let Some(refusal) = self.into.record.refusal(release) {
            return Some(vec![Reason::Refused { release: release.clone(), why: refusal.why.clone() }]);
        }
        self.into.definition.promotion.as_ref()?;
        let holds = quarantines(self.snapshot, &self.pipeline.key, self.into.name(), release, self.moment, shown);
        (!holds.is_empty()).then_some(holds)
    }

    /// What is on its way in the first environment, and why it is not a candidate yet.
    fn prospects(&self) -> Candidate<'p> {
        let mut holds = Vec::new();
        let mut about = None;
        let need = self.needed();
        self.each_running(|release, same| {
            if same.len() < need && !self.into.runs(release) && self.newer_there(release).is_none() {
                about = about.take().or_else(|| Some(release.clone()));
                let (environment, release) = (self.from.name().clone(), release.clone());
                let of = self.from.targets.len();
                holds.push(Reason::NotEnoughTargets { environment, release, have: same.len(), need, of });
            }
        });
        for target in &self.from.targets {
            let Some(reason) = self.unsettled(target) else { continue };
            if let Reason::NotHealthyYet { release: Some(release), .. } = &reason {
                about = about.take().or_else(|| Some(release.clone()));
            }
            holds.push(reason);
        }
        if holds.is_empty() { Candidate::Nothing } else { Candidate::Held { release: about, holds } }
    }

    /// Why a target of the first environment has no release.
    pub(crate) fn unsettled(&self, target: &Target<'_>) -> Option<Reason> {
        match &target.standing {
            Standing::Unsettled { attempted, message, .. } => {
                let waits = !attempted.as_ref().is_some_and(|attempted| self.into.runs(attempted));
                waits.then(|| Reason::NotHealthyYet {
                    environment: self.from.name().clone(),
                    release: attempted.clone(),
                    target: Some(target.key.clone()),
                    message: message.clone(),
                })
            }
            Standing::NoRevision { workload, found } => Some(Reason::NoRevision {
                target: target.key.clone(),
                workload: (*workload).clone(),
                found: found.clone(),
            }),
            Standing::Unreachable(why) => Some(unreachable(target.key, why)),
            Standing::Runs { .. } | Standing::Empty => None,
        }
    }
}

pub(crate) fn unreachable(target: &TargetKey, why: &Unreachable) -> Reason {
    Reason::TargetUnreachable { target: target.clone(), error: why.error.clone() }
}

fn held<'p>(release: &Release, reason: Reason) -> Candidate<'p> {
    Candidate::Held { release: Some(release.clone()), holds: vec![reason] }
}

fn order_unknown(release: &Release, than: &Release) -> Reason {
    Reason::OrderUnknown { release: release.clone(), than: than.clone() }
}
