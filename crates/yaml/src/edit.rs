//! Setting values.

use std::collections::BTreeMap;

use granit_parser::ScalarStyle;

use crate::{
    Error, Marker, Part, Place, Selector, Value, attach, document,
    find::{in_tree, may_have_markers},
    outline::outlined,
    scalar,
    tree::Tree,
};

/// A file after [`set`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The new text; the old one, byte for byte, if there are no changes.
    pub text: String,
    /// What was changed, in the order of the file.
    pub changes: Vec<Change>,
    /// Values that were chosen and already as asked for, in the order of the file.
    pub kept: Vec<Place>,
}

/// One changed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where the value stood in the old text.
    pub place: Place,
    /// The whole value before, without quotes.
    pub before: String,
    /// The whole value now, without quotes.
    pub after: String,
}

/// Sets every chosen value of a file, or none.
///
/// A marker that no file has is no error, so that the same edits can be tried on many files; look at
/// [`Edited::changes`] and [`Edited::kept`]. Markers of other pipelines do not matter here as long as they can be read.
/// A file that could not have what is looked for is not parsed.
pub fn set(text: &str, edits: &[(Selector, Value)]) -> Result<Edited, Error> {
    let by_path = edits.iter().any(|(selector, _)| matches!(selector, Selector::Path(_)));
    let by_marker = edits.iter().any(|(selector, _)| matches!(selector, Selector::Marker(_))) && may_have_markers(text);
    if !by_path && (!by_marker || has_only_other_markers(text, edits)) {
        return Ok(Edited { text: text.to_owned(), changes: Vec::new(), kept: Vec::new() });
    }
    let tree = Tree::parse(text)?;
    let wishes = wishes(&tree, edits)?;
    let mut edited = Edited { text: String::with_capacity(text.len() + 64), changes: Vec::new(), kept: Vec::new() };
    let mut changed = BTreeMap::new();
    let mut copied = 0;
    for (&node, wishes) in &wishes {
        let (before, style) = tree.editable(node)?;
        let place = tree.place(node);
        let after = fulfilled(before, wishes, &place)?;
        if after == before {
            edited.kept.push(place);
            continue;
        }
        let in_flow = tree.nodes[node].in_flow;
        let written = scalar::written(&after, style, in_flow);
        if style == ScalarStyle::Plain && written != after && !in_flow && tab_below(&text[place.span.end..]) {
            return Err(Error::TabBelow { place });
        }
        edited.text.push_str(&text[copied..place.span.start]);
        edited.text.push_str(&written);
        copied = place.span.end;
        edited.changes.push(Change { place, before: before.to_owned(), after: after.clone() });
        changed.insert(node, after);
    }
    edited.text.push_str(&text[copied..]);
    verify(&tree, &edited, &changed)?;
    Ok(edited)
}

/// Whether a file is known, without the parser, to have no marker that is looked for.
fn has_only_other_markers(text: &str, edits: &[(Selector, Value)]) -> bool {
    let is_looked_for = |marker: &Marker| {
        edits.iter().any(|(selector, _)| matches!(selector, Selector::Marker(filter) if filter.fits(marker)))
    };
    outlined(text).is_some_and(|found| !found.iter().any(|one| is_looked_for(&one.marker)))
}

/// Whether a line between a value and what comes next starts with a tab. libyaml and its kin take such a line for a
/// part of a plain scalar, and for an error below a quoted one.
fn tab_below(rest: &str) -> bool {
    let space = &rest[..rest.find(|c| !matches!(c, ' ' | '\t' | '\r' | '\n')).unwrap_or(rest.len())];
    space.find(['\r', '\n']).is_some_and(|line_end| space[line_end..].contains('\t'))
}

type Wishes<'e> = BTreeMap<usize, Vec<(Part, &'e Value)>>;

/// What is asked of which node.
fn wishes<'e>(tree: &Tree<'_>, edits: &'e [(Selector, Value)]) -> Result<Wishes<'e>, Error> {
    let markers = in_tree(tree);
    let mut wishes = Wishes::new();
    for (selector, value) in edits {
        match selector {
            Selector::Path(location) => {
                let node = document::locate(tree, location)?;
                wishes.entry(node).or_default().push((location.part, value));
            }
            Selector::Marker(filter) => {
                for (marker, comment) in markers.as_ref().map_err(Clone::clone)? {
                    if filter.fits(marker) {
                        let node = attach::marked(tree, comment)?;
                        wishes.entry(node).or_default().push((marker.part, value));
                    }
                }
            }
        }
    }
    Ok(wishes)
}

/// What a value becomes by all that is asked of it: name, tag and digest of one image may each have a marker.
fn fulfilled(before: &str, wishes: &[(Part, &Value)], place: &Place) -> Result<String, Error> {
    let apply = |current: &str, (part, value): &(Part, &Value)| {
        value.applied(*part, current).map_err(|source| Error::Value { place: place.clone(), source })
    };
    let after = wishes.iter().try_fold(before.to_owned(), |current, wish| apply(&current, wish))?;
    for wish in wishes {
        let other = apply(&after, wish)?;
        if other != after {
            return Err(Error::Conflict { place: place.clone(), one: after, other });
        }
    }
    Ok(after)
}

/// Reads the result back. Quoting is decided by rules that a parser may see differently in a corner that nobody
/// thought of; here is where that would come out.
fn verify(tree: &Tree<'_>, edited: &Edited, changed: &BTreeMap<usize, String>) -> Result<(), Error> {
    let Some(first) = edited.changes.first() else { return Ok(()) };
    let same = Tree::parse(&edited.text).is_ok_and(|result| tree.differs_only_in(&result, changed));
    if same { Ok(()) } else { Err(Error::Unsafe { place: first.place.clone() }) }
}
