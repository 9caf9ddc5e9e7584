//! The file of tokens: a YAML list, read with places, and added to without touching what is there.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
};

use serde_saphyr::{Error as Yaml, MessageFormatter as _, Spanned, UserMessageFormatter};
use tempfile::NamedTempFile;

use super::{TokenEntry, TokensError};

/// Reads a list of tokens. Every name and every hash is there once.
pub(super) fn entries(file: &Path, text: &str) -> Result<Vec<TokenEntry>, TokensError> {
    let at = |line: u64, column: u64, words: &str| {
        TokensError::Wrong(format!("{}:{line}:{column}: {words}", file.display()))
    };
    let listed: Option<Vec<Spanned<TokenEntry>>> = serde_saphyr::from_str(text).map_err(|error| {
        let (line, column) = error.location().map_or((1, 1), |place| (place.line(), place.column()));
        at(line, column, &plain(&error))
    })?;
    let mut entries: Vec<TokenEntry> = Vec::new();
    for Spanned { value: entry, defined, .. } in listed.unwrap_or_default() {
        let wrong = if entry.name.trim().is_empty() {
            Some("a token needs a name".to_owned())
        } else if entry.roles.is_empty() {
            Some(format!("`{}` has no role: give it `viewer`, `operator` or `approver`", entry.name))
        } else if entries.iter().any(|other| other.name == entry.name) {
            Some(format!("`{}` is there twice: give each token a name of its own", entry.name))
        } else if entries.iter().any(|other| other.hash == entry.hash) {
            Some(format!("`{}` has the hash of another token: make a new one", entry.name))
        } else {
            None
        };
        if let Some(words) = wrong {
            return Err(at(defined.line(), defined.column(), &words));
        }
        entries.push(entry);
    }
    Ok(entries)
}

/// What is wrong, without the lines around it.
fn plain(error: &Yaml) -> String {
    match error {
        Yaml::WithSnippet { error, .. } => plain(error),
        Yaml::SerdeMissingField { field, .. } => format!("`{field}` is missing"),
        error => UserMessageFormatter.format_message(error).into_owned(),
    }
}

/// Writes the file anew with one more entry; it has its name only when it is complete and on the disk.
pub(super) fn append(file: &Path, entry: &TokenEntry) -> Result<(), TokensError> {
    let failed = |source| TokensError::Io { file: file.to_owned(), source };
    // A link stays a link: what it leads to is written.
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let folder = match real.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let folder_lock = File::open(folder).map_err(failed)?;
    // Two who add at the same time come one after the other.
    folder_lock.lock().map_err(failed)?;
    let before = match std::fs::read_to_string(&real) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    let mut expected = entries(file, &before)?;
    expected.push(entry.clone());
    let added = serde_saphyr::to_string(&[entry]).map_err(|error| failed(io::Error::other(error)))?;
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let after = format!("{before}{gap}{added}");
    if entries(file, &after)? != expected {
        let words = "nothing can be added to the end of it; write it as a plain list, one `- name:` for each token";
        return Err(TokensError::Wrong(format!("{}: {words}", file.display())));
    }
    let mut new = NamedTempFile::with_prefix_in(".weir-tokens-", folder).map_err(failed)?;
    new.write_all(after.as_bytes()).map_err(failed)?;
    new.as_file().sync_all().map_err(failed)?;
    new.persist(&real).map_err(|error| failed(error.error))?;
    folder_lock.sync_all().map_err(failed)
}
