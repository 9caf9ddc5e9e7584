//! What has to be read beside workloads, and when; and the labels that they should have.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::Duration,
};

use tokio::time::Instant;
use weir_core::{Name, Namespace};

use super::session::Session;
use crate::leaf::{
    details::Read,
    fault::{Fault, Trouble},
    look::Member,
    picture::{Detail, Picture, Place},
    trim::Kept,
};

/// How much is read at the same time.
const AT_ONCE: usize = 8;
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// What has to be read.
#[derive(Default)]
pub(super) struct Reading {
    wanted: BTreeMap<Place, Wanted>,
}

struct Wanted {
    fingerprint: u64,
    source: bool,
    /// What the last attempt was for.
    tried: Option<(u64, bool)>,
    under_way: bool,
    failures: u32,
    due: Instant,
}

impl Reading {
    /// From now on, these workloads count.
    pub(super) fn want<'a>(&mut self, members: impl Iterator<Item = &'a Member>) {
        let mut before = std::mem::take(&mut self.wanted);
        for member in members {
            let new = || Wanted {
                fingerprint: member.fingerprint,
                source: false,
                tried: None,
                under_way: false,
                failures: 0,
                due: Instant::now(),
            };
            let known = before.remove(&member.place).map(|known| Wanted { source: false, ..known });
            let wanted = self.wanted.entry(member.place.clone()).or_insert_with(|| known.unwrap_or_else(new));
            wanted.fingerprint = member.fingerprint;
            wanted.source |= member.source;
        }
    }

    pub(super) fn wants(&self, place: &Place) -> bool {
        self.wanted.contains_key(place)
    }

    /// Starts to read what is due, as far as not too much is under way.
    pub(super) fn start(&mut self, now: Instant, session: &mut Session, picture: &Picture, deadline: Duration) {
        let free = AT_ONCE.saturating_sub(self.under_way());
        if free == 0 {
            return;
        }
        for (place, wanted) in self.wanted.iter_mut().filter(|(_, wanted)| wanted.is_due(now)).take(free) {
            let Some(kept) = kept(picture, place) else { continue };
            wanted.under_way = true;
            wanted.tried = Some((wanted.fingerprint, wanted.source));
            session.read(place, kept, wanted.source, deadline);
        }
    }

    /// Takes in what was read.
    pub(super) fn done(&mut self, place: &Place, of: u64, read: Read, picture: &mut Picture, again: Duration) {
        let Some(wanted) = self.wanted.get_mut(place) else { return };
        let failed = read.images.is_err() || read.source.as_ref().is_some_and(Result::is_err);
        wanted.under_way = false;
        wanted.failures = if failed { wanted.failures.saturating_add(1) } else { 0 };
        let pause = Duration::from_secs(1 << wanted.failures.min(8)).min(LONGEST_PAUSE);
        let pause = if failed { pause } else { again };
        wanted.due = Instant::now() + pause + pause.mul_f64(chance(place) / 10.0);
        let details = picture.details.entry(place.clone()).or_default();
        put(&mut details.images, of, read.images);
        if let Some(source) = read.source {
            put(&mut details.source, of, source);
        }
    }

    /// What is under way has been given up.
    pub(super) fn interrupt(&mut self) {
        for wanted in self.wanted.values_mut().filter(|wanted| wanted.under_way) {
            wanted.under_way = false;
            wanted.tried = None;
        }
    }

    /// When something is due. While too much is under way, nothing is.
    pub(super) fn next(&self) -> Option<Instant> {
        if self.under_way() >= AT_ONCE {
            return None;
        }
        self.wanted.values().filter(|wanted| !wanted.under_way).map(|wanted| wanted.due).min()
    }
}

impl Reading {
    fn under_way(&self) -> usize {
        self.wanted.values().filter(|wanted| wanted.under_way).count()
    }
}

impl Wanted {
    fn is_due(&self, now: Instant) -> bool {
        !self.under_way && (self.tried != Some((self.fingerprint, self.source)) || now >= self.due)
    }
}

fn put<T>(detail: &mut Detail<T>, of: u64, read: Result<T, Fault>) {
    match read {
        Ok(read) => *detail = Detail { read: Some((of, read)), trouble: None },
        Err(fault) => Trouble::add(&mut detail.trouble, fault),
    }
}

fn kept<'p>(picture: &'p Picture, place: &Place) -> Option<&'p Kept> {
    let namespaces: &BTreeMap<Namespace, BTreeMap<Name, Kept>> = &picture.kind(place.kind)?.namespaces;
    namespaces.get(&place.namespace)?.get(&place.name)
}

/// A number between 0 and 1 that differs from place to place, so that not all are read in the same moment.
fn chance(place: &Place) -> f64 {
    let mut hasher = DefaultHasher::new();
    (&place.namespace, &place.name).hash(&mut hasher);
    f64::from(u16::try_from(hasher.finish() % 1000).unwrap_or_default()) / 1000.0
}

/// The labels that were given.
#[derive(Default)]
pub(super) struct Labelling {
    tried: BTreeMap<Place, Tried>,
}

struct Tried {
    labels: Vec<(&'static str, String)>,
    /// Until then it is not tried again.
    until: Instant,
}

impl Labelling {
    /// Gives a workload its labels, if it has others.
    pub(super) fn start(
        &mut self,
        now: Instant,
        session: &mut Session,
        picture: &Picture,
        place: &Place,
        labels: Vec<(&'static str, String)>,
    ) {
        let Some(kept) = kept(picture, place) else { return };
        let object = kept.object();
        let has = |(name, value): &(&str, String)| object["metadata"]["labels"][*name].as_str() == Some(value);
        let waits = self.tried.get(place).is_some_and(|tried| tried.labels == labels && now < tried.until);
        if labels.is_empty() || labels.iter().all(has) || waits {
            return;
        }
        session.label(place, &object, &labels);
        self.tried.insert(place.clone(), Tried { labels, until: now + LONGEST_PAUSE });
    }

    /// Takes in how that went. What was refused is tried again after a while, when the workload changes.
    pub(super) fn done(&mut self, place: &Place, result: Result<(), Fault>) {
        match result {
            Ok(()) => {
                self.tried.remove(place);
            }
            Err(fault) => {
                let Place { kind, namespace, name } = place;
                tracing::warn!(%kind, %namespace, %name, reason = %fault.text, "a workload cannot be labelled");
            }
        }
    }

    pub(super) fn interrupt(&mut self) {
        self.tried.clear();
    }
}
