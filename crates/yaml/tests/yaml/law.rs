//! The law of the crate: for any text and any edits, either an error, or a text that says the same as before but for
//! the chosen values, which are now what they were asked to be.
//!
//! The judge is libyaml, which shares no code with the parser that the crate uses. Where libyaml does not read the
//! original at all, or reads it otherwise than the crate does, it cannot judge; what can be checked without it is
//! checked always. The port to Rust panics in some corners, which only means that it cannot judge there.

use std::panic::{AssertUnwindSafe, catch_unwind};

use libyaml_safer::{EventData, Parser, ScalarStyle};
use weir_yaml::{Change, Edited, Selector, Value, markers, set};

/// What came of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The edits were refused.
    Refused,
    /// Nothing was to be changed.
    Untouched,
    /// Values were changed, and the judge agrees.
    Changed,
    /// Values were changed in a text that the judge cannot read, or reads otherwise.
    ChangedUnjudged,
}

/// Sets values in a text and says how the law was broken, if it was.
pub(crate) fn obeyed(text: &str, edits: &[(Selector, Value)]) -> Result<Outcome, String> {
    let listed = markers(text);
    let Ok(edited) = set(text, edits) else { return Ok(Outcome::Refused) };
    if edited.changes.is_empty() {
        return if edited.text == text { Ok(Outcome::Untouched) } else { Err("changed without a change".to_owned()) };
    }
    only_values_differ(text, &edited)?;
    let again = set(&edited.text, edits).map_err(|error| format!("the result is refused: {error}"))?;
    if again.text != edited.text || again.kept.len() != edited.changes.len() + edited.kept.len() {
        return Err("setting twice is not setting once".to_owned());
    }
    if listed.is_ok() && markers(&edited.text).is_err() {
        return Err("the markers of the result cannot be read".to_owned());
    }
    judged(text, &edited)
}

/// The bytes between the changed values are the same, in the same order.
fn only_values_differ(old: &str, edited: &Edited) -> Result<(), String> {
    let mut rest = edited.text.as_str();
    let mut from = 0;
    for change in &edited.changes {
        let kept = old.get(from..change.place.span.start).ok_or("a change is not inside the text")?;
        let at = if from == 0 { rest.starts_with(kept).then_some(0) } else { rest.find(kept) };
        rest = &rest[at.ok_or("text before a value was changed")? + kept.len()..];
        from = change.place.span.end;
    }
    if rest.ends_with(&old[from..]) { Ok(()) } else { Err("text after the last value was changed".to_owned()) }
}

/// One event as libyaml sees it, without its place.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    said: String,
    pub(crate) scalar: Option<(String, ScalarStyle)>,
    pub(crate) end: usize,
}

fn judged(old: &str, edited: &Edited) -> Result<Outcome, String> {
    let read = |text: &str| catch_unwind(AssertUnwindSafe(|| read(text))).unwrap_or_default();
    let Some(before) = read(old) else { return Ok(Outcome::ChangedUnjudged) };
    let mut chosen = Vec::new();
    for change in &edited.changes {
        match before.iter().position(|seen| is_at(seen, change)) {
            Some(number) => chosen.push((number, change)),
            None => return Ok(Outcome::ChangedUnjudged),
        }
    }
    let after = read(&edited.text).ok_or_else(|| format!("libyaml cannot read the result {:?}", edited.text))?;
    if before.len() != after.len() {
        return Err(format!("the result {:?} has another structure", edited.text));
    }
    for (number, (before, after)) in before.iter().zip(&after).enumerate() {
        let change = chosen.iter().find(|(chosen, _)| *chosen == number).map(|(_, change)| *change);
        if before.said != after.said || !says_as_asked(before, after, change) {
            return Err(format!("{before:?} became {after:?}"));
        }
    }
    Ok(Outcome::Changed)
}

fn is_at(seen: &Seen, change: &Change) -> bool {
    let says = seen.scalar.as_ref().is_some_and(|(value, _)| *value == change.before);
    says && seen.end == change.place.span.end
}

fn says_as_asked(before: &Seen, after: &Seen, change: Option<&Change>) -> bool {
    match (&before.scalar, &after.scalar, change) {
        (Some((_, style)), Some((value, now)), Some(change)) => {
            let quoted = (*style, *now) == (ScalarStyle::Plain, ScalarStyle::DoubleQuoted);
            *value == change.after && (style == now || quoted)
        }
        (before, after, None) => before == after,
        _ => false,
    }
}

/// Reads a text as libyaml does. The added line end keeps its port to Rust from reading past the end of a block scalar.
pub(crate) fn read(text: &str) -> Option<Vec<Seen>> {
    let byte_order_mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let padded = format!("{text}\n");
    let mut bytes = padded.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut bytes);
    let mut events = Vec::new();
    loop {
        let event = parser.parse().ok()?;
        let end = usize::try_from(event.end_mark.index).ok()? + byte_order_mark;
        let seen = match event.data {
            EventData::StreamEnd => return Some(events),
            EventData::Scalar { anchor, tag, value, style, .. } => {
                Seen { said: format!("scalar {anchor:?} {tag:?}"), scalar: Some((value, style)), end }
            }
            other => Seen { said: format!("{other:?}"), scalar: None, end },
        };
        events.push(seen);
    }
}
