//! Whether an object follows the schema and the CEL rules of its kind, without an API server.
//!
//! Nothing is written twice: both come from the generated definitions, so what is refused here is what a cluster refuses,
//! in the same words.

mod schema;

use std::{fmt, sync::LazyLock};

use kube::core::cel::{CompiledSchema, ErrorKind, Validator, compile_schema};
use serde_json::Value;

use crate::{
    crd::{defined, schema as schema_of},
    kinds::address::redacted,
};

/// One way in which an object breaks the rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", Sentence(self))]
pub struct Violation {
    /// The field, such as `spec.environments[1].name`.
    pub path: String,
    /// What was found there, without credentials. `None`: nothing, or more than fits a line.
    pub found: Option<String>,
    /// What is allowed or what to do.
    pub message: String,
    /// Whether the field's name is what is wrong, and not its value.
    pub(crate) name_is_wrong: bool,
}

impl Violation {
    /// A violation of a rule about a whole field.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), found: None, message: message.into(), name_is_wrong: false }
    }

    /// The same, of an object that stands at a path in a document.
    pub(crate) fn below(mut self, path: &str) -> Self {
        self.path = match (path, self.path.as_str()) {
            ("", own) => own.to_owned(),
            (path, "") => path.to_owned(),
            (path, own) => format!("{path}.{own}"),
        };
        self
    }

    /// The same, for the object that stands at a path in the document; none if it is about something else.
    pub(crate) fn within(&self, path: &str) -> Option<Self> {
        let own = if path.is_empty() { &self.path } else { self.path.strip_prefix(path)?.strip_prefix('.')? };
        Some(Self { path: own.to_owned(), ..self.clone() })
    }

    pub(crate) fn found(mut self, value: &Value) -> Self {
        self.found = shown(value);
        self
    }
}

struct Sentence<'a>(&'a Violation);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { path, found, message, .. } = self.0;
        if !path.is_empty() {
            write!(f, "{path}: ")?;
        }
        if let Some(found) = found {
            write!(f, "found `{found}`, ")?;
        }
        f.write_str(message)
    }
}

/// What an object of a known kind breaks: its schema first, then its rules. An object of another kind breaks nothing.
pub fn validate(object: &Value) -> Vec<Violation> {
    let Some(kind) = Definition::of(object) else { return Vec::new() };
    let mut violations = schema::violations(&kind.schema, object);
    violations.extend(not_text(object));
    let sound = violations.is_empty();
    let broken = Validator::new().validate_compiled(&kind.rules, object, None).err();
    for error in broken.into_iter().flatten() {
        // A rule that cannot be evaluated on what has the wrong form adds nothing to what the schema said.
        if sound || error.kind == ErrorKind::ValidationFailure {
            violations.push(Violation::new(error.field_path, error.message));
        }
    }
    violations
}

/// Labels and annotations that are no text. A definition says nothing about `metadata`; the server does.
fn not_text(object: &Value) -> Vec<Violation> {
    let mut violations = Vec::new();
    for field in ["labels", "annotations"] {
        let entries = object.pointer(&format!("/metadata/{field}")).and_then(Value::as_object);
        for (key, value) in entries.into_iter().flatten().filter(|(_, value)| !value.is_string()) {
            let path = format!("metadata.{field}.{key}");
            violations.push(Violation::new(path, "allowed: text; put it in quotes").found(value));
        }
    }
    violations
}

/// A kind that Weir defines, ready to judge objects.
struct Definition {
    api_version: String,
    kind: String,
    schema: Value,
    rules: CompiledSchema,
}

static KINDS: LazyLock<Vec<Definition>> = LazyLock::new(|| {
    let ready = |crd| {
        let schema = schema_of(&crd);
        let version = crd.spec.versions.first().map_or("", |version| version.name.as_str());
        Definition {
            api_version: format!("{}/{version}", crd.spec.group),
            kind: crd.spec.names.kind.clone(),
            rules: compile_schema(&schema),
            schema,
        }
    };
    defined().into_iter().map(ready).collect()
});

impl Definition {
    fn of(object: &Value) -> Option<&'static Self> {
        let (api_version, kind) = (object.get("apiVersion")?.as_str()?, object.get("kind")?.as_str()?);
        KINDS.iter().find(|known| known.api_version == api_version && known.kind == kind)
    }
}

/// A value in so few words that it fits a line, without credentials.
fn shown(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => redacted(text),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Null => "null".to_owned(),
        Value::Array(_) | Value::Object(_) => return None,
    };
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(80).collect();
    Some(if short.len() < text.len() { format!("{short}…") } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_rule_of_every_kind_can_be_evaluated_here() {
        for kind in KINDS.iter() {
            assert!(!kind.rules.has_errors(), "{}: {:?}", kind.kind, kind.rules.compilation_errors());
        }
    }

    #[test]
    fn credentials_in_an_address_are_never_shown() {
        let found = shown(&json!("ftp://user:geheim@example.org/a?token=geheim")).unwrap();
        assert_eq!(found, "ftp://example.org/a");
    }

    #[test]
    fn a_long_text_is_cut() {
        assert_eq!(shown(&json!("a".repeat(100))).unwrap().chars().count(), 81);
    }
}
