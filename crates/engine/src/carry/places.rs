//! The places of a commit that belong to an environment: what they declare, and what they become.

use std::{collections::BTreeMap, sync::Arc};

use thiserror::Error;
use weir_core::{Declared, Edit, EnvironmentName, PipelineKey, Release, Revision, WorkloadKey};
use weir_ports::{FileChange, FilePath, RepoFile};
use weir_yaml::{Marked, Marker, MarkerFilter, Part, Selector, Value, markers, set};

/// What every file with a marker contains.
pub(crate) const MARKER: &str = "$promotion";

/// The files of a commit that have markers, read once for all who ask.
#[derive(Debug, Default)]
pub(crate) struct Places {
    files: Vec<File>,
}

#[derive(Debug, Clone)]
struct File {
    path: FilePath,
    text: String,
    marked: Result<Vec<Marked>, weir_yaml::Error>,
}

/// The environment of a pipeline whose places are meant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) pipeline: &'a PipelineKey,
    pub(crate) environment: &'a EnvironmentName,
}

/// What the files become.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) files: BTreeMap<FilePath, FileChange>,
    /// In the order of files and lines.
    pub(crate) edits: Vec<Edit>,
}

/// A file that cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{file}` cannot be changed: {reason}")]
pub(crate) struct EditError {
    file: FilePath,
    reason: String,
}

impl Places {
    pub(crate) fn read(files: Vec<RepoFile>) -> Self {
        let readable = files.into_iter().filter_map(|file| {
            let text = String::from_utf8(file.content).ok()?;
            Some(File { path: file.path, marked: markers(&text), text })
        });
        Self { files: readable.collect() }
    }

    /// What the places say. `release` tells which workloads are meant.
    pub(crate) fn declared(&self, scope: Scope<'_>, release: &Release) -> Result<Declared, EditError> {
        let mut values: BTreeMap<&WorkloadKey, Vec<Revision>> = BTreeMap::new();
        for (file, marked) in self.of(scope)? {
            if marked.marker.part == Part::Name {
                continue;
            }
            let revision = marked.declared().and_then(|text| Revision::new(text).ok());
            for (workload, _) in release.members() {
                if !belongs(&marked.marker, workload) {
                    continue;
                }
                if marked.marker.workload.is_none() && revisions_differ(release) {
                    return Ok(Declared::Ambiguous { place: format!("{}:{}", file.path, marked.place.line).into() });
                }
                let known = values.entry(workload).or_default();
                if let Some(revision) = revision.clone().filter(|revision| !known.contains(revision)) {
                    known.push(revision);
                }
            }
        }
        if let Some((workload, _)) = release.members().iter().find(|(workload, _)| !values.contains_key(workload)) {
            let Scope { pipeline: PipelineKey { namespace, name }, environment } = scope;
            let named = if release.members().len() > 1 { format!(" for `{workload}`") } else { String::new() };
            return Ok(Declared::Nothing { looked_for: format!("`{namespace}:{name}:{environment}`{named}").into() });
        }
        // Places that disagree declare as many releases as the one with the most opinions has.
        let most = values.values().map(Vec::len).max().unwrap_or_default();
        let nth = |n: usize| {
            let members = values.iter().filter_map(|(workload, revisions)| {
                let revision = revisions.get(n).or(revisions.last())?;
                Some(((*workload).clone(), revision.clone()))
            });
            Release::new(members).ok()
        };
        Ok(Declared::Releases((0..most).filter_map(nth).collect()))
    }

    /// What becomes of the files when the places declare a release.
    pub(crate) fn edited(&self, scope: Scope<'_>, release: &Release) -> Result<Edited, EditError> {
        let wishes: Vec<_> = release.members().iter().map(|(workload, revision)| (workload, value(revision))).collect();
        let mut edited = Edited::default();
        let mut files: Vec<&File> = Vec::new();
        for (file, _) in self.of(scope)? {
            if files.last().is_none_or(|last| last.path != file.path) {
                files.push(file);
            }
        }
        for file in files {
            let selected = wishes.iter().map(|(workload, value)| {
                let named = file.has_marker_for(scope, workload);
                (selector(scope, named.then_some(*workload)), value.clone())
            });
            let selected: Vec<_> = selected.collect();
            let after = set(&file.text, &selected).map_err(|error| file.error(&error))?;
            let path: Arc<str> = file.path.as_str().into();
            edited.edits.extend(after.changes.iter().map(|change| Edit {
                file: path.clone(),
                before: change.before.as_str().into(),
                after: change.after.as_str().into(),
            }));
            if !after.changes.is_empty() {
                edited.files.insert(file.path.clone(), FileChange::Write(after.text.into_bytes()));
            }
        }
        Ok(edited)
    }

    /// The places as they are after an edit.
    pub(crate) fn after(&self, edited: &Edited) -> Self {
        let file = |file: &File| match edited.files.get(&file.path) {
            Some(FileChange::Write(text)) => {
                let text = String::from_utf8_lossy(text).into_owned();
                File { path: file.path.clone(), marked: markers(&text), text }
            }
            _ => file.clone(),
        };
        Self { files: self.files.iter().map(file).collect() }
    }

    /// The marked values of an environment. A file that cannot be read is in the way only if it speaks of it.
    fn of<'a>(&'a self, scope: Scope<'a>) -> Result<Vec<(&'a File, &'a Marked)>, EditError> {
        let filter = filter(scope, None);
        let words = format!("{}:{}:{}", filter.namespace, filter.pipeline, filter.environment);
        let mut found = Vec::new();
        for file in &self.files {
            match &file.marked {
                Ok(marked) => {
                    found.extend(marked.iter().filter(|it| filter.fits(&it.marker)).map(|it| (file, it)));
                }
                Err(error) if file.text.contains(&words) => return Err(file.error(error)),
                Err(_) => {}
            }
        }
        Ok(found)
    }
}

impl File {
    fn error(&self, error: &weir_yaml::Error) -> EditError {
        EditError { file: self.path.clone(), reason: error.to_string() }
    }

    fn has_marker_for(&self, scope: Scope<'_>, workload: &WorkloadKey) -> bool {
        let filter = filter(scope, Some(workload));
        self.marked.iter().flatten().any(|marked| filter.fits(&marked.marker))
    }
}

fn filter(scope: Scope<'_>, workload: Option<&WorkloadKey>) -> MarkerFilter {
    MarkerFilter {
        namespace: scope.pipeline.namespace.to_string(),
        pipeline: scope.pipeline.name.to_string(),
        environment: scope.environment.to_string(),
        workload: workload.map(ToString::to_string),
    }
}

fn selector(scope: Scope<'_>, workload: Option<&WorkloadKey>) -> Selector {
    Selector::Marker(filter(scope, workload))
}

/// A marker that names no workload belongs to all of them.
fn belongs(marker: &Marker, workload: &WorkloadKey) -> bool {
    marker.workload.as_ref().is_none_or(|named| *named == workload.to_string())
}

fn revisions_differ(release: &Release) -> bool {
    let mut revisions = release.members().iter().map(|(_, revision)| revision);
    let first = revisions.next();
    revisions.any(|revision| Some(revision) != first)
}

/// A revision in the words that a file may hold of it.
fn value(revision: &Revision) -> Value {
    let value = Value::new(revision.as_str());
    if revision.as_str().starts_with("sha256:") { value.with_digest(revision.as_str()) } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(files: &[(&str, &str)]) -> Places {
        let file = |(path, text): &(&str, &str)| RepoFile {
            path: FilePath::new(path).unwrap(),
            content: text.as_bytes().to_vec(),
        };
        Places::read(files.iter().map(file).collect())
    }

    fn release(text: &str) -> Release {
        let member = |part: &str| {
            let (workload, revision) = part.split_once('=').unwrap();
            (workload.parse().unwrap(), revision.parse().unwrap())
        };
        Release::new(text.split(' ').map(member)).unwrap()
    }

    fn in_prod<T>(look: impl FnOnce(Scope<'_>) -> T) -> T {
        let (pipeline, environment) = ("default/app".parse().unwrap(), "prod".parse().unwrap());
        look(Scope { pipeline: &pipeline, environment: &environment })
    }

    const ONE: &str = "version: 1.0.0 # {\"$promotion\": \"default:app:prod\"}\n";

    #[test]
    fn places_that_agree_declare_one_release() {
        let found = places(&[("a.yaml", ONE), ("b.yaml", ONE)]);
        let wanted = release("HelmRelease/app=2.0.0");
        let declared = in_prod(|scope| found.declared(scope, &wanted)).unwrap();
        assert_eq!(declared, Declared::Releases(vec![release("HelmRelease/app=1.0.0")]));
    }

    #[test]
    fn places_that_disagree_declare_several() {
        let found = places(&[("a.yaml", ONE), ("b.yaml", &ONE.replace("1.0.0", "1.5.0"))]);
        let wanted = release("HelmRelease/app=2.0.0");
        let declared = in_prod(|scope| found.declared(scope, &wanted)).unwrap();
        let both = vec![release("HelmRelease/app=1.0.0"), release("HelmRelease/app=1.5.0")];
        assert_eq!(declared, Declared::Releases(both));
    }

    #[test]
    fn every_place_of_the_environment_is_changed_and_no_other() {
        let other = ONE.replace("prod", "qa");
        let found = places(&[("a.yaml", ONE), ("b.yaml", &other)]);
        let edited = in_prod(|scope| found.edited(scope, &release("HelmRelease/app=2.0.0"))).unwrap();
        let text = ONE.replace("1.0.0", "2.0.0");
        let path = FilePath::new("a.yaml").unwrap();
        assert_eq!(edited.files, BTreeMap::from([(path, FileChange::Write(text.into_bytes()))]));
        let edit = Edit { file: "a.yaml".into(), before: "1.0.0".into(), after: "2.0.0".into() };
        assert_eq!(edited.edits, [edit]);
    }

    #[test]
    fn no_place_says_what_was_looked_for() {
        let found = places(&[]);
        let declared = in_prod(|scope| found.declared(scope, &release("HelmRelease/app=2.0.0"))).unwrap();
        assert_eq!(declared, Declared::Nothing { looked_for: "`default:app:prod`".into() });
    }

    #[test]
    fn workloads_of_different_revisions_need_a_marker_each() {
        let wanted = release("HelmRelease/a=2.0.0 HelmRelease/b=3.0.0");
        let found = places(&[("a.yaml", ONE)]);
        let declared = in_prod(|scope| found.declared(scope, &wanted)).unwrap();
        assert_eq!(declared, Declared::Ambiguous { place: "a.yaml:1".into() });
        let named = "a: 1.0.0 # {\"$promotion\": \"default:app:prod\", \"workload\": \"HelmRelease/a\"}\n\
                     b: 1.0.0 # {\"$promotion\": \"default:app:prod\", \"workload\": \"HelmRelease/b\"}\n";
        let found = places(&[("a.yaml", named)]);
        let edited = in_prod(|scope| found.edited(scope, &wanted)).unwrap();
        let after: Vec<_> = edited.edits.iter().map(|edit| &*edit.after).collect();
        assert_eq!(after, ["2.0.0", "3.0.0"]);
    }

    #[test]
    fn a_broken_file_is_in_the_way_only_of_those_whom_it_is_about() {
        let broken = "a: [1 # {\"$promotion\": \"default:other:prod\"}\n";
        let found = places(&[("a.yaml", ONE), ("b.yaml", broken)]);
        let wanted = release("HelmRelease/app=2.0.0");
        assert!(in_prod(|scope| found.edited(scope, &wanted)).is_ok());
        let found = places(&[("b.yaml", &broken.replace("other", "app"))]);
        let error = in_prod(|scope| found.edited(scope, &wanted)).unwrap_err().to_string();
        assert!(error.contains("`b.yaml`"), "{error}");
    }
}
