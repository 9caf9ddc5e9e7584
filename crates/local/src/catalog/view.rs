//! What is in force, from all files together.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    path::PathBuf,
    sync::Arc,
};

use weir_api::{PipelineGroup, Shadowed};
use weir_core::{ClusterKey, Name, Namespace, PipelineKey};
use weir_ports::{CatalogNotice, Definition, Flaw, Secret};

use super::file::{Defined, File, Place};

/// What is in force at one moment.
#[derive(Default)]
pub(super) struct View {
    pub(super) definitions: BTreeMap<PipelineKey, Arc<Definition>>,
    /// Where they are written.
    pub(super) places: BTreeMap<PipelineKey, Place>,
    pub(super) secrets: BTreeMap<(Namespace, Name), Secret>,
    /// The Secrets with the kubeconfigs of clusters.
    pub(super) clusters: BTreeMap<ClusterKey, Name>,
    pub(super) problems: Vec<Flaw>,
}

impl View {
    /// Puts the files together, in the order of their paths: of two that define the same, the first is in force.
    pub(super) fn of(files: &BTreeMap<PathBuf, File>, failures: Vec<String>) -> Self {
        let unread = |pipelines, problem| Flaw { pipelines, unread: true, place: None, problem };
        let failures = failures.into_iter().map(|failure| unread(Vec::new(), failure));
        let mut view = Self { problems: failures.collect(), ..Self::default() };
        for file in files.values() {
            let keys: Vec<_> = file.good.pipelines.iter().map(|it| it.definition.pipeline.key.clone()).collect();
            view.problems.extend(file.problems.iter().map(|problem| unread(keys.clone(), problem.clone())));
            view.problems.extend(file.good.remarks.iter().map(|remark| Flaw::remark(Vec::new(), remark)));
        }
        let mut places: BTreeMap<_, &Place> = BTreeMap::new();
        for (place, key, secret) in files.values().flat_map(|file| &file.good.secrets) {
            match places.entry(key) {
                Entry::Occupied(first) => {
                    let words = twice("Secret", &key.0, &key.1, first.get(), place);
                    view.problems.push(Flaw::remark(Vec::new(), words));
                }
                Entry::Vacant(entry) => {
                    entry.insert(place);
                    view.secrets.insert(key.clone(), secret.clone());
                }
            }
        }
        let mut places: BTreeMap<_, &Place> = BTreeMap::new();
        for (place, key, secret) in files.values().flat_map(|file| &file.good.clusters) {
            match places.entry(key) {
                Entry::Occupied(first) => {
                    let words = twice("GitopsCluster", &key.namespace, &key.name, first.get(), place);
                    view.problems.push(Flaw::remark(Vec::new(), words));
                }
                Entry::Vacant(entry) => {
                    entry.insert(place);
                    view.clusters.insert(key.clone(), secret.clone());
                }
            }
        }
        view.define(files);
        view
    }

    fn define(&mut self, files: &BTreeMap<PathBuf, File>) {
        let mut all: BTreeMap<(&PipelineKey, PipelineGroup), &Defined> = BTreeMap::new();
        for defined in files.values().flat_map(|file| &file.good.pipelines) {
            let key = &defined.definition.pipeline.key;
            match all.entry((key, defined.group)) {
                Entry::Occupied(first) => {
                    let first = &first.get().place;
                    let words = twice("Pipeline", &key.namespace, &key.name, first, &defined.place);
                    self.problems.push(Flaw::remark(vec![key.clone()], words));
                }
                Entry::Vacant(entry) => {
                    entry.insert(defined);
                }
            }
        }
        let keys: BTreeSet<_> = all.keys().map(|(key, _)| *key).collect();
        for key in keys {
            let groups = [PipelineGroup::Weave, PipelineGroup::Wego];
            let rivals: Vec<_> = groups.iter().filter_map(|group| all.get(&(key, *group)).copied()).collect();
            if let Some(chosen) = self.choose(&rivals) {
                self.definitions.insert(key.clone(), Arc::clone(&chosen.definition));
                self.places.insert(key.clone(), chosen.place.clone());
            }
        }
    }

    /// The pipeline of the newer group, which comes first. That the other has no effect is a problem.
    fn choose<'a>(&mut self, rivals: &[&'a Defined]) -> Option<&'a Defined> {
        let (chosen, losers) = rivals.split_first()?;
        for loser in losers {
            let key = &loser.definition.pipeline.key;
            let shadowed = Shadowed { namespace: key.namespace.to_string(), name: key.name.to_string() };
            self.problems.push(Flaw::remark(vec![key.clone()], format!("{}: {shadowed}", loser.place)));
        }
        Some(chosen)
    }

    /// What to tell somebody who knows this view, and should know a later one.
    pub(super) fn changes_to(&self, later: &Self) -> Vec<CatalogNotice> {
        let gone = self.definitions.keys().filter(|key| !later.definitions.contains_key(*key));
        let mut notices: Vec<_> = gone.map(|key| CatalogNotice::Gone(key.clone())).collect();
        for (key, definition) in &later.definitions {
            let is_same = |known: &Arc<Definition>| Arc::ptr_eq(known, definition) || known == definition;
            if !self.definitions.get(key).is_some_and(is_same) {
                notices.push(CatalogNotice::Defined(Arc::clone(definition)));
            }
        }
        if self.problems != later.problems {
            notices.push(CatalogNotice::Problems(later.problems.clone()));
        }
        notices
    }
}

fn twice(kind: &str, namespace: &Namespace, name: &Name, first: &Place, second: &Place) -> String {
    format!(
        "{second}: {kind} `{namespace}/{name}` has no effect: it is defined at {first} already; delete one of the two"
    )
}
