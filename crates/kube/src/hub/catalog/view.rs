//! What is in force, from the objects of both groups.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kube::runtime::watcher::Event;
use weir_api::{Pipeline, PipelineGroup, Shadowed, VersionRule, Violation};
use weir_core::PipelineKey;
use weir_ports::{CatalogNotice, Definition, Flaw};

use crate::follow::Guarded;
use crate::hub::pipelines::{GROUPS, PipelineObject, key};

/// What one who follows knows.
#[derive(Default)]
pub(super) struct View {
    objects: BTreeMap<PipelineKey, BTreeMap<PipelineGroup, Object>>,
    defined: BTreeMap<PipelineKey, Arc<Definition>>,
    problems: Vec<Flaw>,
    /// What the present list of a group has brought so far.
    listing: BTreeMap<PipelineGroup, BTreeSet<PipelineKey>>,
    listed: BTreeSet<PipelineGroup>,
}

/// A Pipeline of one group.
#[derive(Default)]
struct Object {
    /// What it said when it was last right.
    good: Option<Arc<Definition>>,
    /// What is wrong with it now.
    problems: Vec<Flaw>,
    is_going: bool,
}

impl View {
    /// Takes in what a watch tells; what that changes.
    pub(super) fn take(&mut self, group: PipelineGroup, event: Event<Guarded<PipelineObject>>) -> Vec<CatalogNotice> {
        match event {
            Event::Init => {
                self.listing.insert(group, BTreeSet::new());
                Vec::new()
            }
            Event::InitApply(object) | Event::Apply(object) => self.see(group, object.0),
            Event::Delete(object) => {
                let metadata = match &object.0 {
                    Ok(object) => &object.metadata,
                    Err(invalid) => &invalid.metadata,
                };
                key(metadata).map(|key| self.lose(group, &key)).unwrap_or_default()
            }
            Event::InitDone => self.list(group),
        }
    }

    fn see(
        &mut self,
        group: PipelineGroup,
        object: Result<PipelineObject, kube::core::error_boundary::InvalidObject>,
    ) -> Vec<CatalogNotice> {
        let (metadata, read) = match object {
            Ok(PipelineObject { metadata, spec, .. }) => {
                let pipeline = Pipeline { metadata: metadata.clone(), spec, status: None };
                (metadata, definition(&pipeline).map_err(|wrong| wrong.iter().map(ToString::to_string).collect()))
            }
            Err(invalid) => (invalid.metadata, Err(vec![invalid.error])),
        };
        let Some(key) = key(&metadata) else { return Vec::new() };
        if let Some(listing) = self.listing.get_mut(&group) {
            listing.insert(key.clone());
        }
        let object = self.objects.entry(key.clone()).or_default().entry(group).or_default();
        object.is_going = metadata.deletion_timestamp.is_some();
        match read {
            Ok(definition) => {
                object.good = Some(Arc::new(definition));
                object.problems.clear();
            }
            // What goes away need not be right.
            Err(_) if object.is_going => object.problems.clear(),
            Err(problems) => {
                let problems: Vec<String> = problems;
                let flaw = |problem| Flaw {
                    pipelines: vec![key.clone()],
                    unread: true,
                    place: Some(format!("pipeline `{key}` of `{group}`")),
                    problem,
                };
                object.problems = problems.into_iter().map(flaw).collect();
            }
        }
        self.settle(&key)
    }

    fn lose(&mut self, group: PipelineGroup, key: &PipelineKey) -> Vec<CatalogNotice> {
        if let Some(groups) = self.objects.get_mut(key) {
            groups.remove(&group);
            if groups.is_empty() {
                self.objects.remove(key);
            }
        }
        self.settle(key)
    }

    fn list(&mut self, group: PipelineGroup) -> Vec<CatalogNotice> {
        let there = self.listing.remove(&group).unwrap_or_default();
        let known = self.objects.iter().filter(|(_, groups)| groups.contains_key(&group)).map(|(key, _)| key);
        let gone: Vec<_> = known.filter(|key| !there.contains(*key)).cloned().collect();
        let mut notices: Vec<_> = gone.iter().flat_map(|key| self.lose(group, key)).collect();
        if self.listed.insert(group) && self.listed.len() == GROUPS.len() {
            // What is wrong with the first list is told with it, and not object by object.
            notices.extend(self.complain());
            notices.push(CatalogNotice::Listed);
        }
        notices
    }

    /// What changed about a pipeline.
    fn settle(&mut self, key: &PipelineKey) -> Vec<CatalogNotice> {
        let groups = self.objects.get(key);
        let chosen = groups.and_then(|groups| groups.values().find(|object| !object.is_going));
        let now = chosen.and_then(|object| object.good.as_ref());
        let mut notices = Vec::new();
        match (self.defined.get(key), now) {
            (before, Some(now)) if before != Some(now) => {
                notices.push(CatalogNotice::Defined(Arc::clone(now)));
                self.defined.insert(key.clone(), Arc::clone(now));
            }
            (Some(_), None) => {
                notices.push(CatalogNotice::Gone(key.clone()));
                self.defined.remove(key);
            }
            _ => {}
        }
        if self.listed.len() == GROUPS.len() {
            notices.extend(self.complain());
        }
        notices
    }

    /// Everything that is wrong, if that is news.
    fn complain(&mut self) -> Option<CatalogNotice> {
        let problems = self.objects.iter().flat_map(|(key, groups)| {
            let shadowed = (groups.len() == GROUPS.len()).then(|| {
                let shadowed = Shadowed { namespace: key.namespace.to_string(), name: key.name.to_string() };
                Flaw::remark(vec![key.clone()], shadowed.to_string())
            });
            // What is wrong with one that has no effect has no effect either.
            groups.values().take(1).flat_map(|object| object.problems.clone()).chain(shadowed)
        });
        let problems: Vec<_> = problems.collect();
        if problems == self.problems {
            return None;
        }
        self.problems.clone_from(&problems);
        Some(CatalogNotice::Problems(problems))
    }
}

fn definition(object: &Pipeline) -> Result<Definition, Vec<Violation>> {
    let version = object.spec.version.as_ref().and_then(VersionRule::to_core);
    Ok(Definition { pipeline: object.to_core()?, version, signed_with: object.spec.signed_with() })
}
