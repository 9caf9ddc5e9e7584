//! Pipelines that people define: each once, and one by itself.

use std::collections::{BTreeMap, btree_map::Entry};

use weir_core::{Pipeline, PipelineKey};

use super::{Manifest, ManifestError, Object, Place, read};
use crate::{convert::PipelineGroup, validate::Violation};

/// The pipelines that have been read so far, and where each is.
pub type Defined = BTreeMap<(PipelineGroup, PipelineKey), String>;

/// Finds pipelines that are there already, and adds the others. In a cluster the last one that is applied would win.
pub fn twice(file: &str, manifests: &[Manifest], known: &mut Defined) -> Vec<ManifestError> {
    let mut wrong = Vec::new();
    for Manifest { place, object } in manifests {
        let Object::Pipeline(group, pipeline) = object else { continue };
        let Ok(key) = pipeline.to_core().map(|pipeline| pipeline.key) else { continue };
        match known.entry((*group, key)) {
            Entry::Vacant(entry) => drop(entry.insert(format!("{file}:{}:{}", place.line, place.column))),
            Entry::Occupied(entry) => {
                let message = format!("pipeline `{}` is defined twice: it is in {}, too", entry.key().1, entry.get());
                wrong.push(ManifestError::at(file, *place, Violation::new("", message)));
            }
        }
    }
    wrong
}

/// Everything that is wrong with the manifests of one text: with each, and with all of them together.
pub fn lint(file: &str, text: &str) -> Vec<ManifestError> {
    let (manifests, mut errors) = read(file, text);
    errors.extend(twice(file, &manifests, &mut Defined::new()));
    errors
}

/// The one pipeline that a text defines. A text with anything else in it, above all a Secret, defines none.
pub fn definition(file: &str, text: &str) -> Result<Pipeline, Vec<ManifestError>> {
    let (manifests, mut errors) = read(file, text);
    let wrong =
        |place: Place, path: &str, message: String| vec![ManifestError::at(file, place, Violation::new(path, message))];
    let mut pipelines = Vec::new();
    for Manifest { place, object } in &manifests {
        match object {
            Object::Pipeline(_, pipeline) => pipelines.push((*place, pipeline)),
            other => {
                let message = format!("found a {}, allowed: one Pipeline and nothing else", other.kind());
                errors.extend(wrong(*place, "kind", message));
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    match pipelines[..] {
        [] => Err(wrong(Place { line: 1, column: 1 }, "", "there is no Pipeline in it; write one".to_owned())),
        [(place, pipeline)] if pipeline.metadata.namespace.is_none() => {
            Err(wrong(place, "metadata.namespace", "is missing: say which namespace it belongs to".to_owned()))
        }
        [(place, pipeline)] => {
            pipeline.to_core().map_err(|found| found.into_iter().map(|it| ManifestError::at(file, place, it)).collect())
        }
        [_, (place, _), ..] => Err(wrong(place, "", "there is a second Pipeline; define each by itself".to_owned())),
    }
}
