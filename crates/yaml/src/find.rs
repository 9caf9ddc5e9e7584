//! What a file declares.

use crate::{Error, Marker, Place, attach, comment, image, marker::KEY, outline::outlined, tree::Tree};

/// A value with a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// What the marker says.
    pub marker: Marker,
    /// The whole value, without its quotes.
    pub value: String,
    /// Where the value stands.
    pub place: Place,
}

impl Marked {
    /// The part of the value that the marker speaks of, if it is there: `1.0` of `app:1.0` with a marker for the tag.
    pub fn declared(&self) -> Option<&str> {
        image::part(&self.value, self.marker.part)
    }
}

/// The marked values of a file, in the order of their markers.
///
/// What is listed here, [`set`](crate::set) can change: a marker that cannot be read, marks nothing, or marks something
/// that cannot be changed is an error. A file that does not mention markers is not parsed.
pub fn markers(text: &str) -> Result<Vec<Marked>, Error> {
    if !may_have_markers(text) {
        return Ok(Vec::new());
    }
    outlined(text).map_or_else(|| parsed(text), Ok)
}

/// The marked values of a file, by the parser: what [`markers`] says, and what it costs where nothing saves the work.
pub fn parsed(text: &str) -> Result<Vec<Marked>, Error> {
    let tree = Tree::parse(text)?;
    in_tree(&tree)?
        .into_iter()
        .map(|(marker, comment)| {
            let node = attach::marked(&tree, comment)?;
            let (value, _) = tree.editable(node)?;
            Ok(Marked { marker, value: value.to_owned(), place: tree.place(node) })
        })
        .collect()
}

/// Whether a text mentions markers at all: the cheap question asked of every file.
pub(crate) fn may_have_markers(text: &str) -> bool {
    text.contains(KEY)
}

/// The markers of a file and the places of their comments.
pub(crate) fn in_tree<'a>(tree: &'a Tree<'_>) -> Result<Vec<(Marker, &'a Place)>, Error> {
    let mut markers = Vec::new();
    for comment in &tree.comments {
        let place = &comment.place;
        match comment::marker(&tree.text[place.span.clone()], attach::on_own_line(tree.text, place)) {
            Some(Ok(marker)) => markers.push((marker, place)),
            Some(Err(source)) => return Err(Error::BrokenMarker { place: place.clone(), source }),
            None => {}
        }
    }
    Ok(markers)
}
