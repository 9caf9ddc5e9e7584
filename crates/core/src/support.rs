//! Whether an environment still stands behind a release that is on its way to the next one.

use jiff::Timestamp;

use crate::{
    candidate::{Pair, unreachable},
    deployed::{Standing, Target},
    hold::Reason,
    order::Order,
    policy::When,
    release::Release,
};

/// How the environment before stands to a release.
pub(crate) enum Support {
    /// Enough targets run it, since then.
    Healthy { since: Timestamp },
    /// It was replaced there by something newer, which takes nothing from it.
    Replaced,
    /// It is there, and not healthy.
    Unhealthy(Reason),
    /// Too little is known, or too few targets run it.
    Lacking(Reason),
    /// It does not run there at all.
    Absent,
    /// The environment went back to this older release.
    GoneBack(Release),
}

impl Pair<'_, '_> {
    /// How the first environment stands to a release.
    pub(crate) fn support(&self, release: &Release) -> Support {
        if let Some(offer) = self.offers().iter().find(|offer| offer.release == release) {
            return Support::Healthy { since: offer.since };
        }
        let mut have = 0;
        let mut newer = 0;
        let mut back = None;
        let mut lost = None;
        let order = |other: &Release| Order::between(other, release, &self.from.record).compare(other, release);
        let moved_on = |target: &Target<'_>| {
            self.from.last_release(target).is_some_and(|last| order(last).is_some_and(std::cmp::Ordering::is_gt))
        };
        let anonymous = self.from.reported.as_ref().filter(|_| self.when == When::Any);
        let standings = self.from.targets.iter().map(|target| (Some(target), &target.standing));
        for (target, standing) in standings.chain(anonymous.map(|standing| (None, standing))) {
            match standing {
                Standing::Runs { release: running, .. } => match order(running) {
                    Some(std::cmp::Ordering::Equal) => have += 1,
                    Some(std::cmp::Ordering::Greater) => newer += 1,
                    Some(std::cmp::Ordering::Less) => back = back.or(Some(running)),
                    None => {}
                },
                Standing::Unsettled { attempted: Some(attempted), .. }
                    if order(attempted).is_some_and(std::cmp::Ordering::is_gt) =>
                {
                    newer += 1;
                }
                // It is not known what failed. Where something newer ran before, it is not this one.
                Standing::Unsettled { attempted: None, .. } if target.is_some_and(moved_on) => newer += 1,
                Standing::Unsettled { attempted, .. } => {
                    // A target that never had it, and is busy with something else, says nothing about it.
                    let about = attempted.as_ref().is_none_or(|attempted| attempted == release);
                    if about {
                        return Support::Unhealthy(self.unhealthy(release, target, standing));
                    }
                }
                Standing::Unreachable(why) => lost = lost.or(target.map(|target| unreachable(target.key, why))),
                Standing::NoRevision { .. } | Standing::Empty => {}
            }
        }
        let need = self.when.needed(self.from.targets.len());
        if have + newer >= need {
            return Support::Replaced;
        }
        match (lost, back) {
            (Some(reason), _) => Support::Lacking(reason),
            (None, Some(back)) if have + newer == 0 => Support::GoneBack(back.clone().into_owned()),
            (None, None) if have + newer == 0 => Support::Absent,
            (None, _) => Support::Lacking(Reason::NotEnoughTargets {
                environment: self.from.name().clone(),
                release: release.clone(),
                have,
                need,
                of: self.from.targets.len(),
            }),
        }
    }

    fn unhealthy(&self, release: &Release, target: Option<&Target<'_>>, standing: &Standing<'_>) -> Reason {
        let message = match standing {
            Standing::Unsettled { message, .. } => message.clone(),
            _ => None,
        };
        Reason::NotHealthyYet {
            environment: self.from.name().clone(),
            release: Some(release.clone()),
            target: target.map(|target| target.key.clone()),
            message,
        }
    }

    /// It does not run there at all.
    pub(crate) fn missing(&self, release: &Release) -> Reason {
        let unseen = self.from.record.first_success(release).is_none();
        Reason::NotHealthyYet {
            environment: self.from.name().clone(),
            release: Some(release.clone()),
            target: None,
            message: Some(if unseen { "it was never seen there" } else { "it no longer runs there" }.into()),
        }
    }
}
