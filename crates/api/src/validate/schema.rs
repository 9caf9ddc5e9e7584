//! The part of the schema language that definitions use, checked as the API server does. Unlike it, fields that nobody knows
//! are reported, not dropped.

use std::{cell::RefCell, collections::HashMap};

use regex::Regex;
use serde_json::{Map, Value};
use weir_core::{Name, Namespace};

use super::Violation;
use crate::kinds::patterns::in_words;

/// Everything in an object that its schema does not allow.
pub(super) fn violations(schema: &Value, object: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    metadata(object, &mut found);
    let Some(fields) = object.as_object() else { return found };
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, value) in fields {
        match properties.and_then(|properties| properties.get(name)) {
            _ if matches!(name.as_str(), "apiVersion" | "kind" | "metadata") => {}
            Some(schema) => check(schema, value, name, &mut found),
            None => found.push(unknown(name, name, properties)),
        }
    }
    required(schema, fields, "", &mut found);
    found
}

/// The API server has its own schema for `metadata`; this is the part of it that people get wrong.
fn metadata(object: &Value, found: &mut Vec<Violation>) {
    let metadata = object.get("metadata");
    let text = |field: &str| metadata.and_then(|metadata| metadata.get(field)).filter(|value| !value.is_null());
    match text("name") {
        None => found.push(Violation::new("metadata.name", "is missing")),
        Some(value) => match Name::new(value.as_str().unwrap_or_default()) {
            Ok(_) => {}
            Err(error) => found.push(Violation::new("metadata.name", error.rule).found(value)),
        },
    }
    if let Some(value) = text("namespace")
        && let Err(error) = Namespace::new(value.as_str().unwrap_or_default())
    {
        found.push(Violation::new("metadata.namespace", error.rule).found(value));
    }
}

fn check(schema: &Value, value: &Value, path: &str, found: &mut Vec<Violation>) {
    if !has_type(schema, value) {
        let wanted = wanted_type(schema);
        let what = match value {
            Value::Object(_) => "found a mapping, ".to_owned(),
            Value::Array(_) => "found a list, ".to_owned(),
            _ => String::new(),
        };
        found.push(Violation::new(path, format!("{what}allowed: {wanted}")).found(value));
        return;
    }
    match value {
        Value::Object(fields) => object(schema, fields, path, found),
        Value::Array(items) => list(schema, items, path, found),
        Value::String(text) => found.extend(wrong_text(schema, text, path).map(|it| it.found(value))),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            let least = schema.get("minimum").and_then(Value::as_f64).filter(|least| number < *least);
            let most = schema.get("maximum").and_then(Value::as_f64).filter(|most| number > *most);
            let rule = least.map(|it| format!("at least {it}")).or(most.map(|it| format!("at most {it}")));
            found.extend(rule.map(|rule| Violation::new(path, format!("allowed: {rule}")).found(value)));
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn has_type(schema: &Value, value: &Value) -> bool {
    if is_set(schema, "x-kubernetes-int-or-string") {
        return value.is_string() || value.is_i64() || value.is_u64();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        _ => true,
    }
}

fn wanted_type(schema: &Value) -> String {
    if let Some(values) = allowed_values(schema) {
        return values;
    }
    let name = match schema.get("type").and_then(Value::as_str) {
        Some("object") => "a mapping",
        Some("array") => "a list",
        Some("string") => "a text",
        Some("boolean") => "`true` or `false`",
        Some("integer") => "a whole number",
        _ => "a whole number or a text",
    };
    name.to_owned()
}

fn object(schema: &Value, fields: &Map<String, Value>, path: &str, found: &mut Vec<Violation>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties").filter(|others| others.is_object());
    for (name, value) in fields {
        let path = format!("{path}.{name}");
        match properties.and_then(|properties| properties.get(name)).or(others) {
            Some(schema) => check(schema, value, &path, found),
            None if is_set(schema, "x-kubernetes-preserve-unknown-fields") => {}
            None => found.push(unknown(&path, name, properties)),
        }
    }
    required(schema, fields, &format!("{path}."), found);
    if let Some(least) = count(schema, "minProperties").filter(|least| fields.len() < *least) {
        found.push(Violation::new(path, format!("has {} entries, allowed: at least {least}", fields.len())));
    }
}

fn required(schema: &Value, fields: &Map<String, Value>, prefix: &str, found: &mut Vec<Violation>) {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in names.filter(|name| !fields.contains_key(*name)) {
        let wanted = schema.pointer(&format!("/properties/{name}")).and_then(allowed_values);
        let message = wanted.map_or("is missing".to_owned(), |values| format!("is missing, allowed: {values}"));
        found.push(Violation::new(format!("{prefix}{name}"), message));
    }
}

fn list(schema: &Value, items: &[Value], path: &str, found: &mut Vec<Violation>) {
    let number = items.len();
    if let Some(most) = count(schema, "maxItems").filter(|most| number > *most) {
        found.push(Violation::new(path, format!("has {number} entries, allowed: at most {most}")));
        return;
    }
    if let Some(schema) = schema.get("items") {
        for (position, item) in items.iter().enumerate() {
            check(schema, item, &format!("{path}[{position}]"), found);
        }
    }
}

fn wrong_text(schema: &Value, text: &str, path: &str) -> Option<Violation> {
    let wrong = |rule: String| Some(Violation::new(path, format!("allowed: {rule}")));
    let listed = schema.get("enum").and_then(Value::as_array);
    if listed.is_some_and(|values| !values.iter().any(|value| value.as_str() == Some(text))) {
        return wrong(allowed_values(schema)?);
    }
    let length = text.chars().count();
    if let Some(most) = count(schema, "maxLength").filter(|most| length > *most) {
        return wrong(format!("at most {most} characters"));
    }
    if let Some(least) = count(schema, "minLength").filter(|least| length < *least) {
        return Some(match least {
            1 => Violation::new(path, "must not be empty"),
            least => Violation::new(path, format!("allowed: at least {least} characters")),
        });
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
        && !matches(pattern, text)
    {
        return wrong(in_words(pattern).map_or_else(|| format!("what matches `{pattern}`"), str::to_owned));
    }
    let moment = schema.get("format").and_then(Value::as_str) == Some("date-time");
    if moment && text.parse::<jiff::Timestamp>().is_err() {
        return wrong("a moment such as `2026-12-24T12:00:00Z`".to_owned());
    }
    None
}

fn allowed_values(schema: &Value) -> Option<String> {
    let values = schema.get("enum")?.as_array()?.iter().filter_map(Value::as_str);
    Some(values.map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", "))
}

fn unknown(path: &str, name: &str, properties: Option<&Map<String, Value>>) -> Violation {
    let known: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let nearest = known.iter().map(|known| (distance(name, known), *known)).min();
    let message = match nearest {
        Some((steps, nearest)) if steps <= name.len().div_ceil(3) => {
            format!("is not a field: did you mean `{nearest}`?")
        }
        Some(_) => {
            let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
            format!("is not a field, allowed: {}", names.join(", "))
        }
        None => "is not a field: nothing is allowed here".to_owned(),
    };
    Violation { name_is_wrong: true, ..Violation::new(path, message) }
}

/// How many letters have to change to make one word of the other, whatever their case.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.to_lowercase().chars().enumerate() {
        let mut corner = row[0];
        row[0] = line + 1;
        for (column, wanted) in other.iter().enumerate() {
            let change = corner + usize::from(letter != *wanted);
            corner = row[column + 1];
            row[column + 1] = change.min(corner + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

fn matches(pattern: &str, text: &str) -> bool {
    thread_local!(static READY: RefCell<HashMap<String, Option<Regex>>> = RefCell::default());
    READY.with_borrow_mut(|ready| {
        let regex = ready.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).ok());
        regex.as_ref().is_some_and(|regex| regex.is_match(text))
    })
}

fn is_set(schema: &Value, word: &str) -> bool {
    schema.get(word).and_then(Value::as_bool).unwrap_or_default()
}

fn count(schema: &Value, word: &str) -> Option<usize> {
    schema.get(word)?.as_u64().and_then(|number| usize::try_from(number).ok())
}
