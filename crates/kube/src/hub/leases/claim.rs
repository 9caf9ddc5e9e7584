//! What to do about a Lease, by what was seen of it. Pure.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::{
    api::coordination::v1::{Lease, LeaseSpec},
    apimachinery::pkg::apis::meta::v1::MicroTime,
};

/// What one process knows of one Lease.
pub(super) struct Claim {
    identity: String,
    duration: Duration,
    /// What somebody else wrote into their Lease, and since when it has said that.
    seen: Option<(LeaseSpec, Instant)>,
}

/// What to do.
pub(super) enum Move {
    /// It is somebody else's.
    Leave,
    /// Write this.
    Have(LeaseSpec),
}

impl Claim {
    pub(super) fn new(identity: String, duration: Duration) -> Self {
        Self { identity, duration, seen: None }
    }

    /// What to do about a Lease that is like this now. `None`: there is none.
    pub(super) fn next(&mut self, lease: Option<&Lease>, now: Instant) -> Move {
        let spec = lease.and_then(|lease| lease.spec.clone()).unwrap_or_default();
        let holder = spec.holder_identity.clone().filter(|holder| !holder.is_empty());
        match holder {
            Some(holder) if holder == self.identity => Move::Have(self.spec(&spec, None)),
            Some(_) if self.is_alive(&spec, now) => Move::Leave,
            // The first to have it has taken it from nobody.
            _ => Move::Have(self.spec(&spec, Some(i32::from(lease.is_some())))),
        }
    }

    /// Whether its holder has shown itself lately. What others note beside it is no sign of life.
    fn is_alive(&mut self, spec: &LeaseSpec, now: Instant) -> bool {
        let since = match &self.seen {
            Some((seen, since)) if seen == spec => *since,
            _ => {
                self.seen = Some((spec.clone(), now));
                now
            }
        };
        let theirs = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        now.duration_since(since) < theirs.map_or(self.duration, Duration::from_secs)
    }

    /// What to write. `turns`: it is taken anew, and changes hands that often by that.
    fn spec(&self, before: &LeaseSpec, turns: Option<i32>) -> LeaseSpec {
        let now = MicroTime(Timestamp::now());
        let known = before.lease_transitions.unwrap_or_default();
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(i32::try_from(self.duration.as_secs().max(1)).unwrap_or(i32::MAX)),
            acquire_time: if turns.is_some() { Some(now.clone()) } else { before.acquire_time.clone() },
            renew_time: Some(now),
            lease_transitions: Some(known.saturating_add(turns.unwrap_or_default())),
            ..before.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Lease that was renewed so often.
    fn lease(holder: &str, renewed: i64) -> Lease {
        let renew_time = Some(MicroTime(Timestamp::from_second(renewed).unwrap()));
        let spec = LeaseSpec { holder_identity: Some(holder.to_owned()), renew_time, ..LeaseSpec::default() };
        Lease { spec: Some(spec), ..Lease::default() }
    }

    fn takes(claim: &mut Claim, lease: Option<&Lease>, now: Instant) -> bool {
        match claim.next(lease, now) {
            Move::Leave => false,
            Move::Have(spec) => spec.holder_identity.as_deref() == Some("a"),
        }
    }

    #[test]
    fn a_lease_that_nobody_holds_is_taken() {
        let mut claim = Claim::new("a".to_owned(), Duration::from_secs(12));
        let now = Instant::now();
        assert!(takes(&mut claim, None, now));
        assert!(takes(&mut claim, Some(&lease("", 1)), now));
        assert!(takes(&mut claim, Some(&lease("a", 2)), now));
    }

    #[test]
    fn a_holder_that_renews_keeps_it_and_one_that_does_not_loses_it() {
        let mut claim = Claim::new("a".to_owned(), Duration::from_secs(12));
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        assert!(!takes(&mut claim, Some(&lease("b", 1)), begin));
        assert!(!takes(&mut claim, Some(&lease("b", 1)), after(11)));
        assert!(!takes(&mut claim, Some(&lease("b", 2)), after(13)), "it has renewed");
        let mut noted = lease("b", 2);
        noted.metadata.resource_version = Some("9".to_owned());
        assert!(!takes(&mut claim, Some(&noted), after(24)), "what others note is no sign of life");
        assert!(takes(&mut claim, Some(&lease("b", 2)), after(25)));
    }

    #[test]
    fn a_lease_counts_how_often_it_was_taken_from_another() {
        let mut claim = Claim::new("a".to_owned(), Duration::from_secs(12));
        let mut turns = |lease: Option<&Lease>| match claim.next(lease, Instant::now()) {
            Move::Leave => None,
            Move::Have(spec) => spec.lease_transitions,
        };
        assert_eq!(turns(None), Some(0), "the first has it from nobody");
        assert_eq!(turns(Some(&lease("a", 1))), Some(0));
        assert_eq!(turns(Some(&lease("", 2))), Some(1), "somebody gave it back");
    }

    #[test]
    fn what_the_holder_says_about_its_own_time_counts() {
        let mut claim = Claim::new("a".to_owned(), Duration::from_secs(12));
        let mut slow = lease("b", 1);
        slow.spec.as_mut().unwrap().lease_duration_seconds = Some(60);
        let begin = Instant::now();
        assert!(!takes(&mut claim, Some(&slow), begin));
        assert!(!takes(&mut claim, Some(&slow), begin + Duration::from_secs(59)));
        assert!(takes(&mut claim, Some(&slow), begin + Duration::from_mins(1)));
    }
}
