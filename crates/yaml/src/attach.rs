//! Which node a marker marks.
//!
//! A marker that could be read as marking one of two nodes marks none. That is why a marker above `- name: app` is
//! refused: it stands above the item, which is a map, and above its first key.

use crate::{
    Error, NotAValue, Place,
    tree::{Kind, Node, Role, Tree},
};

/// Whether nothing but white space stands before a comment on its line.
pub(crate) fn on_own_line(text: &str, comment: &Place) -> bool {
    text[line_start(text, comment.span.start)..comment.span.start].trim().is_empty()
}

/// The node that the comment at `comment` belongs to.
pub(crate) fn marked(tree: &Tree<'_>, comment: &Place) -> Result<usize, Error> {
    if on_own_line(tree.text, comment) { below(tree, comment) } else { before(tree, comment) }
}

/// The value on the line of a comment that stands behind it.
fn before(tree: &Tree<'_>, comment: &Place) -> Result<usize, Error> {
    let loose = || Error::LooseMarker { place: comment.clone() };
    let line_start = line_start(tree.text, comment.span.start);
    let line = tree.text[line_start..comment.span.start].trim_end();
    let ends_at = |end: usize| tree.nodes.iter().rposition(|node| ends_in_line(node) && node.span.end == end);

    let end = line_start + line.len();
    let uncomma = line_start + line.strip_suffix(',').unwrap_or(line).trim_end().len();
    if let Some(number) = ends_at(end).or_else(|| ends_at(uncomma)) {
        return if tree.nodes[number].role == Role::Key { Err(loose()) } else { Ok(number) };
    }
    if line.ends_with(':') {
        let opens = |node: &Node<'_>| {
            node.role == Role::Key
                && tree.text.get(node.span.end..end - 1).is_some_and(|between| between.trim().is_empty())
        };
        return tree.nodes.iter().rposition(opens).and_then(|key| tree.value_of(key)).ok_or_else(loose);
    }
    let refuse = |found| Err(Error::NotAValue { place: comment.clone(), found });
    let last_word = line.rsplit([' ', '\t']).next().unwrap_or(line);
    match last_word.as_bytes() {
        [b'|' | b'>', ..] => refuse(NotAValue::Block),
        [.., b'['] => refuse(NotAValue::Sequence),
        [.., b'{'] => refuse(NotAValue::Map),
        _ => Err(loose()),
    }
}

/// Whether a node is written in one piece, so that its span ends where it ends.
fn ends_in_line(node: &Node<'_>) -> bool {
    use granit_parser::ScalarStyle::{Folded, Literal};
    let block = matches!(node.kind, Kind::Scalar { style: Literal | Folded, .. });
    !block && !node.span.is_empty()
}

/// The value of the key, or the item, on the line below the comment or the comments that it is one of.
fn below(tree: &Tree<'_>, comment: &Place) -> Result<usize, Error> {
    let loose = || Error::LooseMarker { place: comment.clone() };
    let text = tree.text;
    let first = below_comments(text, comment.span.end).ok_or_else(loose)?;
    let indent = |at: usize| at - line_start(text, at);
    if indent(first) != indent(comment.span.start) {
        return Err(loose());
    }
    let is_item = text[first..]
        .strip_prefix('-')
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
    if is_item {
        let in_line = |node: &Node<'_>| !text[first..node.start].contains(['\r', '\n']);
        let item = tree.nodes.iter().position(|node| node.start > first && matches!(node.role, Role::Item(_)));
        return item.filter(|&item| in_line(&tree.nodes[item])).ok_or_else(loose);
    }
    let starts = |number: &usize| tree.nodes[*number].start == first;
    let numbers = || (0..tree.nodes.len()).filter(starts);
    match numbers().find(|&number| tree.nodes[number].role == Role::Key) {
        Some(key) => tree.value_of(key).ok_or_else(loose),
        None => numbers().next().ok_or_else(loose),
    }
}

/// The first byte of the first line below that is no comment, unless that line is empty.
fn below_comments(text: &str, mut end: usize) -> Option<usize> {
    loop {
        let rest = &text[end..];
        let line = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix(['\n', '\r']))?;
        let line = line.trim_start_matches([' ', '\t']);
        match line.bytes().next()? {
            b'\n' | b'\r' => return None,
            b'#' => end = text.len() - line.len() + line.find(['\n', '\r'])?,
            _ => return Some(text.len() - line.len()),
        }
    }
}

fn line_start(text: &str, at: usize) -> usize {
    match text[..at].rfind(['\n', '\r']) {
        Some(end) => end + 1,
        None if text.starts_with('\u{feff}') => '\u{feff}'.len_utf8().min(at),
        None => 0,
    }
}
