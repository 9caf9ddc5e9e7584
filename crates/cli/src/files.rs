//! Files that people name on the command line.

use std::{
    fs, io,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    string::FromUtf8Error,
};

use anyhow::{Context as _, Result};
use walkdir::{DirEntry, WalkDir};

use crate::document::Located;

/// Reads a text. `-` is what comes in on stdin. What is no text is [`Located`].
pub(crate) fn text(path: &Path) -> Result<String> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).context("reading stdin failed")?;
        bytes
    } else {
        fs::read(path).with_context(|| format!("reading `{}` failed", path.display()))?
    };
    String::from_utf8(bytes).map_err(|error| not_utf8(path, &error).into())
}

/// Where a file stops being UTF-8.
fn not_utf8(path: &Path, error: &FromUtf8Error) -> Located {
    let good = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
    let line = good.matches('\n').count() + 1;
    let column = good.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    let message = "is not UTF-8: save the file in that encoding".to_owned();
    Located { file: path.display().to_string(), line: line as u64, column: column as u64, message }
}

/// The files that are meant: those that are named, and every `*.yaml` and `*.yml` below a folder that is named. Neither
/// links nor `.git` are followed there. In order, each once.
pub(crate) fn yaml(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path == Path::new("-") || !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mine = |entry: &DirEntry| entry.depth() == 0 || entry.file_name() != ".git";
        for entry in WalkDir::new(path).sort_by_file_name().into_iter().filter_entry(mine) {
            let entry = entry.with_context(|| format!("looking through `{}` failed", path.display()))?;
            if entry.file_type().is_file() && is_yaml(entry.path()) {
                files.push(entry.into_path());
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    files.retain(|file| seen.insert(file.clone()));
    Ok(files)
}

fn is_yaml(path: &Path) -> bool {
    let named = |wanted: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(wanted));
    named("yaml") || named("yml")
}

/// Replaces files: whoever reads one sees the old text or the new one, never a part. Permissions stay.
///
/// All new texts are on the disk before the first file is replaced, so that a full disk, or a folder that nobody may
/// write to, leaves all files as they were.
pub(crate) fn replace_all<'a>(files: impl IntoIterator<Item = (&'a Path, &'a str)>) -> Result<()> {
    let failed = |path: &Path| format!("writing `{}` failed", path.display());
    let mut ready = Vec::new();
    for (path, text) in files {
        ready.push((path, beside(path, text).with_context(|| failed(path))?));
    }
    for (path, new) in ready {
        new.persist(path).with_context(|| failed(path))?;
    }
    Ok(())
}

/// A new text in the folder of the file that it is going to replace.
fn beside(path: &Path, text: &str) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let permissions = fs::metadata(path)?.permissions();
    let mut new = tempfile::Builder::new().prefix(".weir-").tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file().set_permissions(permissions)?;
    new.as_file().sync_all()?;
    Ok(new)
}
