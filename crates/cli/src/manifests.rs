//! Manifests as people name them on the command line.

use std::path::{Path, PathBuf};

use weir_api::{Manifest, ManifestError, forgive_strangers};

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
