//! Manifests as people name them on the command line.

use std::path::{Path, PathBuf};

use weir_api::{Manifest, ManifestError};

/// What a file holds.
pub(crate) struct Contents {
    pub(crate) manifests: Vec<Manifest>,
    pub(crate) errors: Vec<ManifestError>,
    /// How many documents are no objects at all, and do not mean to be.
    pub(crate) strangers: usize,
}

/// Reads a file. One that is named itself has to hold objects; one that was found in a folder may hold something else,
/// such as the values of a chart.
pub(crate) fn read(named: &[PathBuf], file: &Path, text: &str) -> Contents {
    let (manifests, mut errors) = weir_api::read(&file.display().to_string(), text);
    let is_named = named.iter().any(|path| path == file);
    let strangers = if is_named { 0 } else { forgive_strangers(&mut errors) };
    Contents { manifests, errors, strangers }
}

/// Takes out what is wrong with documents that do not mean to be objects: they name neither version nor kind.
fn forgive_strangers(errors: &mut Vec<ManifestError>) -> usize {
    let lacks = |error: &ManifestError, field: &str| error.path == field && error.found.is_none();
    let place = |error: &ManifestError| (error.line, error.column);
    let lacking = |field: &str| errors.iter().filter(|error| lacks(error, field)).map(place).collect::<Vec<_>>();
    let (versions, kinds) = (lacking("apiVersion"), lacking("kind"));
    let strangers: Vec<_> = versions.into_iter().filter(|place| kinds.contains(place)).collect();
    errors.retain(|error| {
        let header = lacks(error, "apiVersion") || lacks(error, "kind");
        !(header && strangers.contains(&place(error)))
    });
    strangers.len()
}
