//! What reports of a session change in the picture.

use tokio::time::Instant;
use weir_core::WorkloadKind;
use weir_ports::Catalog;

use super::{
    CALM, Cluster,
    session::{Groups, News},
};
use crate::leaf::{
    fault::{Class, Fault, Trouble},
    look,
    picture::{Kind, Place, Scope, Served, newest},
    watch::{self, WatchNews},
};

impl<C: Catalog + 'static> Cluster<C> {
    /// Takes in what happened in the session.
    pub(super) fn news(&mut self, news: News) {
        match news {
            News::Checked(Ok(groups)) => self.answered(groups.as_ref()),
            News::Checked(Err(fault)) => self.unanswered(fault),
            News::Watch(number, news) => {
                let seen = self.session.as_ref().and_then(|session| session.watched(number));
                if let Some((kind, scope)) = seen {
                    self.watched(kind, scope, news);
                }
            }
            News::Read(place, fingerprint, read) => {
                let source = read.source.as_ref().and_then(|source| source.as_ref().err());
                if read.images.as_ref().err().or(source).is_some_and(is_suspicious) {
                    self.suspect();
                }
                self.reading.done(&place, fingerprint, *read, &mut self.picture, self.settings.details);
                self.asks.touch_member(&place);
            }
            News::Labelled(place, result) => self.labelling.done(&place, result),
        }
    }

    /// The cluster answers.
    fn answered(&mut self, groups: Option<&Groups>) {
        let now = Instant::now();
        let changed = groups.is_some_and(|groups| self.discovered(groups));
        let discover = self.picture.lacks_kinds();
        let trouble = self.picture.trouble.take();
        if trouble.is_some() {
            tracing::info!(cluster = self.name(), "the cluster answers again");
        }
        let Some(session) = &mut self.session else { return };
        session.answered(now, discover, &self.settings);
        if self.picture.kinds.values().any(|kind| kind.doubt.is_some()) {
            session.discover(now + CALM);
        }
        if !session.is_started || trouble.is_some() || changed {
            self.asks.touch_all();
        }
        if let Some(trouble) = trouble {
            // What was seen before says nothing until it is seen again.
            let watched = |known: &Kind| matches!(known.served, Served::As(_));
            for (kind, known) in self.picture.kinds.iter_mut().filter(|(_, known)| watched(known)) {
                for scope in watch::scopes(&self.asks.namespaces(*kind)) {
                    known.troubles.entry(scope).or_insert_with(|| trouble.clone());
                }
            }
            if session.is_started {
                let way = session.way.clone();
                self.open(way);
            }
        }
        if let Some(session) = &mut self.session {
            session.is_started = true;
        }
        self.watch();
    }

    /// Takes in which kinds there are. Returns whether that is new.
    fn discovered(&mut self, groups: &Groups) -> bool {
        let (mut changed, now) = (false, Instant::now());
        for (kind, known) in &mut self.picture.kinds {
            let served = match (newest(*kind, &groups.versions(*kind)), &known.served) {
                (Some(resource), _) => {
                    known.doubt = None;
                    Served::As(resource)
                }
                (None, Served::As(before)) if now < *known.doubt.get_or_insert(now) + self.settings.grace => {
                    Served::As(before.clone())
                }
                (None, Served::Missing(since)) => Served::Missing(since.clone()),
                (None, _) => Served::Missing(Trouble::new(look::lack(*kind))),
            };
            if matches!(served, Served::Missing(_)) {
                known.namespaces.clear();
                known.troubles.clear();
                known.doubt = None;
            }
            changed |= served != known.served;
            known.served = served;
        }
        changed
    }

    /// The cluster does not answer, or not as it should.
    fn unanswered(&mut self, fault: Fault) {
        let now = Instant::now();
        if let Some(session) = &mut self.session {
            session.failed(now, self.settings.probe);
        }
        let mut trouble = self.picture.trouble.take();
        if trouble.is_none() {
            tracing::warn!(cluster = self.name(), reason = %fault.text, "the cluster does not answer");
            // The watches may have noticed first.
            let noticed = self.picture.kinds.values().flat_map(|kind| kind.troubles.values());
            let noticed = noticed.filter(|it| it.fault.class == fault.class);
            trouble = noticed.min_by_key(|it| it.begun).cloned();
        }
        Trouble::add(&mut trouble, fault);
        self.picture.trouble = trouble;
        self.asks.touch_all();
        if self.key.is_some() && self.look_at.is_some() {
            self.look_at = Some(now);
        }
    }

    fn watched(&mut self, kind: WorkloadKind, scope: Scope, news: WatchNews) {
        let Some(known) = self.picture.kinds.get_mut(&kind) else { return };
        match news {
            WatchNews::Listed(listed) => {
                known.troubles.remove(&scope);
                let wanted = self.asks.namespaces(kind);
                for (namespace, objects) in listed {
                    if wanted.contains(&namespace) {
                        self.asks.touch_namespace(&namespace);
                        known.namespaces.insert(namespace, objects);
                    }
                }
            }
            WatchNews::Changed(namespace, name, kept) => {
                let Some(objects) = known.namespaces.get_mut(&namespace) else { return };
                let before = objects.insert(name.clone(), kept);
                let label = objects.get(&name).and_then(|it| it.label.clone());
                let place = Place { kind, namespace, name };
                self.asks.touch(&place, &[before.and_then(|it| it.label), label]);
            }
            WatchNews::Gone(namespace, name) => {
                let Some(objects) = known.namespaces.get_mut(&namespace) else { return };
                let before = objects.remove(&name);
                let place = Place { kind, namespace, name };
                self.asks.touch(&place, &[before.and_then(|it| it.label), None]);
            }
            WatchNews::Broke(fault) => {
                tracing::debug!(%kind, ?scope, reason = %fault.text, "a watch broke off; it begins again");
                let suspicious = is_suspicious(&fault);
                if fault.class == Class::Unknown
                    && let Some(session) = &mut self.session
                {
                    session.discover(Instant::now());
                }
                let mut trouble = known.troubles.remove(&scope);
                Trouble::add(&mut trouble, fault);
                known.troubles.extend(trouble.map(|trouble| (scope, trouble)));
                self.asks.touch_all();
                if suspicious {
                    self.suspect();
                }
            }
        }
    }

    /// Something failed that fails when a cluster is gone.
    fn suspect(&mut self) {
        if let Some(session) = &mut self.session {
            session.check_soon(Instant::now() + CALM);
        }
    }
}

/// Whether a fault may mean that the cluster as a whole is not well.
fn is_suspicious(fault: &Fault) -> bool {
    matches!(fault.class, Class::Passing | Class::Unauthorized)
}
