//! Weir's own documents, `State` and `Scenario`: versioned, checked, and with errors that name the place.

use std::{fmt, path::Path};

use anyhow::{Error, Result};
use serde::{
    Deserialize,
    de::{DeserializeOwned, Deserializer, MapAccess, Visitor},
};
use serde_saphyr::{Location, MessageFormatter as _, Spanned, UserMessageFormatter};

use crate::naming::listed;

/// The version of the documents that are read here.
pub(crate) const VERSION: &str = "weir.dev/v1alpha1";

/// The group of the documents that are read here. It has no other kinds.
pub(crate) const GROUP: &str = "weir.dev/";

/// Something that is wrong in a file, and where.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub(crate) file: String,
    pub(crate) line: u64,
    pub(crate) column: u64,
    pub(crate) message: String,
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, message } = self;
        write!(f, "{file}:{line}:{column}: {message}")
    }
}

impl std::error::Error for Located {}

/// A file whose documents are read.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a Path,
    pub(crate) text: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    api_version: Option<Spanned<String>>,
    kind: Option<Spanned<String>>,
}

impl Source<'_> {
    /// An error about a place in the file.
    pub(crate) fn error(&self, place: Location, words: impl fmt::Display) -> Error {
        self.error_at(place.line(), place.column(), words)
    }

    fn error_at(&self, line: u64, column: u64, words: impl fmt::Display) -> Error {
        let file = self.file.display().to_string();
        Located { file, line, column, message: words.to_string() }.into()
    }

    /// Adds the place to what went wrong there.
    pub(crate) fn at<T>(&self, place: Location, found: Result<T, impl Into<anyhow::Error>>) -> Result<T> {
        found.map_err(|error| self.error(place, format_args!("{:#}", error.into())))
    }

    /// The one document of a kind; `None` if there is none, which may be beside others.
    pub(crate) fn find<T: DeserializeOwned>(&self, kind: &str) -> Result<Option<T>> {
        let mut found = None;
        for document in documents(self.text) {
            let Some(header) = self.parse::<Option<Header>>(&document)? else { continue };
            let Some(named) = header.kind.filter(|named| named.value == kind) else { continue };
            if found.is_some() {
                return Err(self.error(named.referenced, format_args!("there is a second `{kind}`: write one only")));
            }
            match header.api_version {
                Some(version) if version.value == VERSION => {}
                Some(version) => {
                    let words = format!("apiVersion: found `{}`, allowed `{VERSION}`", version.value);
                    return Err(self.error(version.referenced, words));
                }
                None => {
                    return Err(self.error(named.referenced, format_args!("apiVersion is missing: write `{VERSION}`")));
                }
            }
            found = Some(self.parse(&document)?);
        }
        Ok(found)
    }

    /// The one document of a kind, which has to be there.
    pub(crate) fn read<T: DeserializeOwned>(&self, kind: &str) -> Result<T> {
        if let Some(found) = self.find(kind)? {
            return Ok(found);
        }
        let kinds =
            documents(self.text).into_iter().filter_map(|text| self.parse::<Option<Header>>(&text).ok().flatten());
        let kinds: Vec<_> = kinds.filter_map(|header| header.kind).map(|kind| kind.value).collect();
        let found = if kinds.is_empty() { "no kind at all".to_owned() } else { listed(kinds) };
        let wanted = format!("write `apiVersion: {VERSION}` and `kind: {kind}`");
        Err(self.error_at(1, 1, format_args!("kind: found {found}, allowed `{kind}`: {wanted}")))
    }

    fn parse<T: DeserializeOwned>(&self, text: &str) -> Result<T> {
        serde_saphyr::from_str(text).map_err(|error| {
            let words = plain(&error);
            let (line, column) = error.location().map_or((1, 1), |place| (place.line(), place.column()));
            self.error_at(line, column, words)
        })
    }
}

/// What is wrong, in the words of the person who wrote the file rather than those of a parser.
fn plain(error: &serde_saphyr::Error) -> String {
    use serde_saphyr::Error as Yaml;
    match error {
        Yaml::WithSnippet { error, .. } | Yaml::AliasError { error, .. } => plain(error),
        Yaml::SerdeUnknownVariant { variant, expected, .. } => {
            format!("found `{variant}`, allowed {}", listed(expected))
        }
        Yaml::SerdeMissingField { field, .. } => format!("`{field}` is missing"),
        Yaml::DuplicateMappingKey { key: Some(key), .. } => format!("`{key}` is written twice: write it once"),
        Yaml::InvalidBooleanStrict { .. } | Yaml::InvalidScalar { ty: "bool" | "boolean", .. } => {
            "write `true` or `false`".to_owned()
        }
        Yaml::NullIntoString { .. } | Yaml::Unexpected { expected: "string scalar" | "scalar", .. } => {
            "write a text or a number".to_owned()
        }
        Yaml::Unexpected { expected: "sequence start", .. } => "write a list, such as `[a, b]`".to_owned(),
        Yaml::Unexpected { expected: "mapping start", .. } => "write fields, such as `name: value`".to_owned(),
        error => UserMessageFormatter.format_message(error).into_owned(),
    }
}

/// The documents of a file, each by itself and still on its own lines.
fn documents(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    let mut lines_before = String::new();
    for line in text.split_inclusive('\n') {
        let rest = line.strip_prefix("---");
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace()));
        if let Some(rest) = rest {
            documents.push(format!("{lines_before}   {rest}"));
        } else if let Some(document) = documents.last_mut() {
            // A directive belongs to the document after it, and none of them changes what is read here.
            let directive = line.starts_with('%') && document.trim().is_empty();
            document.push_str(if directive { "\n" } else { line });
        }
        lines_before.push('\n');
    }
    documents
}

/// A map in the order in which it is written, with the place of each key.
#[derive(Debug)]
pub(crate) struct Entries<K, V>(pub(crate) Vec<(Spanned<K>, V)>);

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for Entries<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each<K, V>(std::marker::PhantomData<(K, V)>);
        impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Each<K, V> {
            type Value = Entries<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(key) = map.next_key()? {
                    entries.push((key, map.next_value()?));
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Each(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[expect(dead_code, reason = "fields that are only read")]
    struct Thing {
        api_version: String,
        kind: String,
        #[serde(default)]
        map: Entries<String, Spanned<String>>,
    }

    fn read(text: &str) -> Result<Thing> {
        Source { file: Path::new("a.yaml"), text }.read("Thing")
    }

    #[test]
    fn keys_and_values_know_their_places_in_any_document_of_a_file() {
        let text = "kind: Other\n---\napiVersion: weir.dev/v1alpha1\nkind: Thing\nmap:\n  a: 6.10\n";
        let (key, value) = read(text).unwrap().map.0.remove(0);
        assert_eq!((key.referenced.line(), key.referenced.column()), (6, 3));
        assert_eq!((value.value.as_str(), value.referenced.line(), value.referenced.column()), ("6.10", 6, 6));
    }

    #[test]
    fn documents_are_told_apart_however_they_are_marked() {
        let text =
            "%YAML 1.2\n--- # first\nkind: A\n...\n--- {apiVersion: weir.dev/v1alpha1, kind: Thing, map: {a: b}}\n";
        let (key, _) = read(text).unwrap().map.0.remove(0);
        assert_eq!((key.referenced.line(), key.referenced.column()), (5, 56));
        assert!(read(&text.replace('\n', "\r\n")).is_ok());
    }

    #[test]
    fn an_unknown_field_is_an_error_with_its_place() {
        let error = read("apiVersion: weir.dev/v1alpha1\nkind: Thing\nmapp: {}\n").unwrap_err().to_string();
        assert!(error.starts_with("a.yaml:3:1: unknown field `mapp`"), "{error}");
    }

    #[test]
    fn another_version_is_an_error_that_says_which_is_read() {
        let error = read("apiVersion: weir.dev/v2\nkind: Thing\n").unwrap_err().to_string();
        assert_eq!(error, "a.yaml:1:13: apiVersion: found `weir.dev/v2`, allowed `weir.dev/v1alpha1`");
    }

    #[test]
    fn another_kind_is_an_error_that_says_what_is_looked_for() {
        let error = read("apiVersion: v1\nkind: Secret\n").unwrap_err().to_string();
        assert!(error.starts_with("a.yaml:1:1: kind: found `Secret`, allowed `Thing`"), "{error}");
    }
}
