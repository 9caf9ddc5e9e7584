//! What a pipeline sees of a target, by what is known of the target's cluster. Nothing here waits or asks.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;
use tokio::time::Instant;
use weir_api::flux::{self, Context, Source};
use weir_core::{
    Application, Name, Namespace, PipelineKey, Sighting, Unreachable, VersionRule, Workload, WorkloadKey, WorkloadKind,
};
use weir_ports::Interest;

use super::{
    fault::{Fault, Trouble},
    picture::{Access, Details, KINDS, Kind, Picture, Place, Served, resource},
    trim::Kept,
};

/// What is seen of a target.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Look {
    /// Nothing yet.
    Waiting,
    /// Its cluster is not defined.
    Undefined,
    /// This.
    Seen(Sighting),
}

/// A workload of a pipeline, and what has to be read beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) place: Place,
    pub(super) fingerprint: u64,
    /// Whether its source has to be read.
    pub(super) source: bool,
}

/// What is asked.
pub(super) struct Question<'a> {
    pub(super) pipeline: &'a PipelineKey,
    pub(super) interest: &'a Interest,
    pub(super) namespace: &'a Namespace,
    /// Whether it is Weir's own cluster. If Flux is not on it, it is known by reports alone.
    pub(super) home: bool,
    pub(super) now: Instant,
    /// How long a trouble lasts before it is told.
    pub(super) grace: Duration,
}

impl Question<'_> {
    /// What is seen, and whose workloads it is.
    pub(super) fn look(&self, picture: &Picture) -> (Look, Vec<Member>) {
        match picture.access {
            Access::Unknown => return (Look::Waiting, Vec::new()),
            Access::Undefined => return (Look::Undefined, Vec::new()),
            Access::Closed(_) | Access::Open => {}
        }
        if self.home && self.missing(picture).is_some() {
            return (Look::Undefined, Vec::new());
        }
        let mut found = Found::default();
        for (kind, name, kept) in self.members(picture) {
            let place = Place { kind, namespace: self.namespace.clone(), name: name.clone() };
            let object = kept.object();
            let source = self.reads_source(kind, &object);
            found.take(self, picture.details.get(&place), &object, kept.fingerprint, source);
            found.members.push(Member { place, fingerprint: kept.fingerprint, source });
        }
        let Found { workloads, images, members, trouble, waits } = found;
        let seen = |unreachable| Look::Seen(Sighting { unreachable, workloads, images });
        let look = match self.trouble(picture) {
            Some(trouble) => seen(Some(trouble)),
            None if !self.is_listed(picture) => Look::Waiting,
            None => match trouble {
                Some(trouble) => seen(Some(trouble)),
                None if waits => Look::Waiting,
                None => seen(None),
            },
        };
        (look, members)
    }

    /// Why the target cannot be read.
    fn trouble(&self, picture: &Picture) -> Option<Unreachable> {
        if let Access::Closed(trouble) = &picture.access {
            return Some(trouble.told());
        }
        if let Some(trouble) = picture.trouble.as_ref().filter(|it| self.shows(it)) {
            return Some(trouble.told());
        }
        self.missing(picture).or_else(|| {
            let served = self.kinds(picture).filter(|(_, kind)| matches!(kind.served, Served::As(_)));
            let troubles = served.filter_map(|(_, kind)| kind.trouble(self.namespace));
            troubles.filter(|it| self.shows(it)).map(Trouble::told).next()
        })
    }

    /// Says so if the cluster has no kind that the pipeline could have workloads of.
    fn missing(&self, picture: &Picture) -> Option<Unreachable> {
        let mut missing = None;
        for (_, kind) in self.kinds(picture) {
            match &kind.served {
                Served::Missing(trouble) => missing = missing.or(Some(trouble)),
                Served::Unknown | Served::As(_) => return None,
            }
        }
        let mut told = missing?.told();
        if self.interest.application == Application::Labelled {
            told.error = "the cluster has neither HelmReleases nor Kustomizations; install Flux on it".into();
        }
        Some(told)
    }

    /// Whether everything that could belong to the pipeline has been listed.
    fn is_listed(&self, picture: &Picture) -> bool {
        let wanted = KINDS.iter().filter(|kind| wants(&self.interest.application, **kind));
        wanted.into_iter().all(|kind| {
            picture.kind(*kind).is_some_and(|kind| match kind.served {
                Served::Unknown => false,
                Served::Missing(_) => true,
                Served::As(_) => kind.namespaces.contains_key(self.namespace),
            })
        })
    }

    fn kinds<'p>(&'p self, picture: &'p Picture) -> impl Iterator<Item = (WorkloadKind, &'p Kind)> {
        let wanted = |(kind, _): &(&WorkloadKind, &Kind)| wants(&self.interest.application, **kind);
        picture.kinds.iter().filter(wanted).map(|(kind, known)| (*kind, known))
    }

    fn members<'p>(&'p self, picture: &'p Picture) -> impl Iterator<Item = (WorkloadKind, &'p Name, &'p Kept)> {
        let all = self.kinds(picture).filter_map(|(kind, known)| Some((kind, known.namespaces.get(self.namespace)?)));
        let all = all.flat_map(|(kind, objects)| {
            let only = match &self.interest.application {
                Application::Workload(key) => objects.get_key_value(&key.name),
                Application::Labelled => None,
            };
            let labelled = objects.iter().filter(|_| self.interest.application == Application::Labelled);
            only.into_iter().chain(labelled).map(move |(name, kept)| (kind, name, kept))
        });
        all.filter(|(_, _, kept)| match &self.interest.application {
            Application::Workload(_) => true,
            Application::Labelled => kept.label.as_deref() == Some(self.pipeline.name.as_str()),
        })
    }

    /// Whether the source of a workload says something about its version that the workload does not.
    fn reads_source(&self, kind: WorkloadKind, object: &Value) -> bool {
        match (kind, &self.interest.version) {
            (_, Some(VersionRule::Image(_))) => false,
            (WorkloadKind::HelmRelease, rule) => rule == &Some(VersionRule::Source),
            // Of the others, the revision says it all.
            (WorkloadKind::Kustomization, _) => {
                object.pointer("/spec/sourceRef/kind").and_then(Value::as_str) == Some("GitRepository")
            }
        }
    }

    fn shows(&self, trouble: &Trouble) -> bool {
        trouble.shows(self.now, self.grace)
    }
}

/// Whether an application can have workloads of a kind.
pub(super) fn wants(application: &Application, kind: WorkloadKind) -> bool {
    match application {
        Application::Workload(key) => key.kind == kind,
        Application::Labelled => true,
    }
}

/// What it means that a cluster does not have a kind.
pub(super) fn lack(kind: WorkloadKind) -> Fault {
    let (group, _, _) = resource(kind);
    Fault::settled(format!("the cluster has no {kind}s ({group}); install Flux on it"))
}

#[derive(Default)]
struct Found {
    workloads: BTreeMap<WorkloadKey, Workload>,
    images: BTreeMap<WorkloadKey, Vec<Arc<str>>>,
    members: Vec<Member>,
    /// Why something that decides cannot be read.
    trouble: Option<Unreachable>,
    /// Something that decides was not read yet.
    waits: bool,
}

impl Found {
    fn take(&mut self, asked: &Question<'_>, details: Option<&Details>, object: &Value, print: u64, source: bool) {
        let by_image = matches!(asked.interest.version, Some(VersionRule::Image(_)));
        let mut trouble = None;
        let mut known = true;
        if by_image {
            let images = details.map(|it| &it.images);
            trouble = images.and_then(|it| it.trouble.as_ref());
            known &= images.is_some_and(|it| it.current(print).is_some());
        }
        if source {
            let source = details.map(|it| &it.source);
            trouble = trouble.or(source.and_then(|it| it.trouble.as_ref()));
            known &= source.is_some_and(|it| it.current(print).is_some());
        }
        if !known {
            let told = trouble.filter(|it| asked.shows(it)).map(Trouble::told);
            self.waits |= told.is_none();
            self.trouble = self.trouble.take().or(told);
        }
        let images = details.and_then(|it| it.images.last());
        let from = details.and_then(|it| it.source.last()).filter(|_| source);
        if (by_image && images.is_none()) || (source && from.is_none()) {
            return;
        }
        let texts: Vec<String> = images.filter(|_| by_image).into_iter().flatten().map(ToString::to_string).collect();
        let context =
            Context { version: asked.interest.version.as_ref(), source: from.map(Source::of), images: &texts };
        // What has no name that is one was refused by the API server.
        let Ok((key, workload)) = flux::workload(object, &context) else { return };
        if let Some(images) = images.filter(|images| !images.is_empty()) {
            self.images.insert(key.clone(), images.clone());
        }
        self.workloads.insert(key, workload);
    }
}

#[cfg(test)]
mod tests;
