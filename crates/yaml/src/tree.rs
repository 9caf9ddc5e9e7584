//! A parsed file: every node and comment, with the bytes that it is written in.
//!
//! Nodes stand in the order of the file, a collection before what is in it, a key directly before its value.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    ops::Range,
};

use granit_parser::{Event, Parser, ScalarStyle, Span, StructureStyle};

use crate::{Error, NotAValue, Place};

/// What any YAML reader takes for the end of a line: those of YAML 1.2, and three more of YAML 1.1.
const LINE_BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// A file, parsed to its end.
pub(crate) struct Tree<'t> {
    pub(crate) text: &'t str,
    pub(crate) nodes: Vec<Node<'t>>,
    pub(crate) comments: Vec<Comment>,
    aliases: HashMap<usize, Range<usize>>,
}

/// A node of a [`Tree`], which is known by its number.
#[derive(Debug)]
pub(crate) struct Node<'t> {
    pub(crate) kind: Kind<'t>,
    pub(crate) role: Role,
    pub(crate) document: usize,
    pub(crate) in_flow: bool,
    /// Where its anchor, its tag or itself starts, whichever comes first.
    pub(crate) start: usize,
    /// Its own bytes: quotes and brackets included, anchor and tag not. Empty for block collections.
    pub(crate) span: Range<usize>,
    line: usize,
    column: usize,
    anchor: usize,
    parent: Option<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind<'t> {
    Scalar { value: Cow<'t, str>, style: ScalarStyle },
    Alias,
    Map,
    Sequence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The root of a document.
    Root,
    /// A key.
    Key,
    /// The value of the key with this number.
    Value(usize),
    /// An item, and its number in its sequence.
    Item(usize),
}

/// A comment, from its `#` to the end of its line.
#[derive(Debug)]
pub(crate) struct Comment {
    pub(crate) place: Place,
}

/// A collection that is not closed yet.
struct Open {
    node: usize,
    key: Option<usize>,
    items: usize,
}

impl<'t> Tree<'t> {
    pub(crate) fn parse(text: &'t str) -> Result<Self, Error> {
        let options = granit_parser::options! {
            emit_anchor_events: true,
            max_buffered_comment_events: usize::MAX,
        };
        let mut tree = Self { text, nodes: Vec::new(), comments: Vec::new(), aliases: HashMap::new() };
        let mut open: Vec<Open> = Vec::new();
        let mut document = 0;
        for event in Parser::new_from_str_with_options(text, options) {
            let (event, span) = event.map_err(|error| not_yaml(&error))?;
            match event {
                Event::Scalar(value, style, anchor, _) => {
                    tree.push(Kind::Scalar { value, style }, anchor, &span, document, &mut open);
                }
                Event::Alias(target) => {
                    tree.aliases.entry(target).or_insert_with(|| bytes(&span));
                    tree.push(Kind::Alias, 0, &span, document, &mut open);
                }
                Event::MappingStart(style, anchor, _) => {
                    tree.open(Kind::Map, style, anchor, &span, document, &mut open);
                }
                Event::SequenceStart(style, anchor, _) => {
                    tree.open(Kind::Sequence, style, anchor, &span, document, &mut open);
                }
                Event::MappingEnd | Event::SequenceEnd => tree.close(&span, &mut open),
                Event::Anchor(..) => {
                    if let Some(node) = tree.nodes.last_mut() {
                        node.start = node.start.min(bytes(&span).start);
                    }
                }
                Event::Comment(..) => tree.comments.push(Comment { place: place(&span) }),
                Event::DocumentEnd => document += 1,
                _ => {}
            }
        }
        Ok(tree)
    }

    fn push(&mut self, kind: Kind<'t>, anchor: usize, span: &Span, document: usize, open: &mut [Open]) -> usize {
        let number = self.nodes.len();
        let (role, parent) = match open.last_mut() {
            None => (Role::Root, None),
            Some(parent) if self.nodes[parent.node].kind == Kind::Sequence => {
                parent.items += 1;
                (Role::Item(parent.items - 1), Some(parent.node))
            }
            Some(parent) => {
                let role = parent.key.take().map_or(Role::Key, Role::Value);
                if role == Role::Key {
                    parent.key = Some(number);
                }
                (role, Some(parent.node))
            }
        };
        let bytes = bytes(span);
        let tag = span.tag_start().and_then(|tag| tag.byte_offset());
        let in_flow = parent.is_some_and(|parent| self.nodes[parent].in_flow);
        self.nodes.push(Node {
            kind,
            role,
            document,
            in_flow,
            start: tag.map_or(bytes.start, |tag| tag.min(bytes.start)),
            span: bytes,
            line: span.start.line(),
            column: span.start.col() + 1,
            anchor,
            parent,
        });
        number
    }

    fn open(
        &mut self,
        kind: Kind<'t>,
        style: StructureStyle,
        anchor: usize,
        span: &Span,
        document: usize,
        open: &mut Vec<Open>,
    ) {
        let node = self.push(kind, anchor, span, document, open);
        self.nodes[node].in_flow |= style == StructureStyle::Flow;
        open.push(Open { node, key: None, items: 0 });
    }

    fn close(&mut self, span: &Span, open: &mut Vec<Open>) {
        let bracket = bytes(span);
        if let Some(closed) = open.pop()
            && !bracket.is_empty()
        {
            self.nodes[closed.node].span.end = bracket.end;
        }
    }

    /// The value of a key.
    pub(crate) fn value_of(&self, key: usize) -> Option<usize> {
        (key + 1..self.nodes.len()).find(|&number| self.nodes[number].role == Role::Value(key))
    }

    /// The nodes directly in a collection: its items, or its keys and values in turn.
    pub(crate) fn children(&self, parent: usize) -> impl Iterator<Item = usize> {
        (parent + 1..self.nodes.len()).filter(move |&number| self.nodes[number].parent == Some(parent))
    }

    /// What a node says, if it is a scalar.
    pub(crate) fn scalar(&self, number: usize) -> Option<&str> {
        match &self.nodes[number].kind {
            Kind::Scalar { value, .. } => Some(value),
            _ => None,
        }
    }

    pub(crate) fn place(&self, number: usize) -> Place {
        let node = &self.nodes[number];
        Place { line: node.line, column: node.column, span: node.span.clone() }
    }

    /// What a node says and how, if it can be replaced where it stands without changing anything else.
    pub(crate) fn editable(&self, chosen: usize) -> Result<(&str, ScalarStyle), Error> {
        let node = &self.nodes[chosen];
        let refuse = |found| Err(Error::NotAValue { place: self.place(chosen), found });
        let (value, style) = match &node.kind {
            Kind::Map => return refuse(NotAValue::Map),
            Kind::Sequence => return refuse(NotAValue::Sequence),
            Kind::Alias => return refuse(NotAValue::Alias),
            Kind::Scalar { style: ScalarStyle::Literal | ScalarStyle::Folded, .. } => return refuse(NotAValue::Block),
            Kind::Scalar { .. } if node.span.is_empty() => return refuse(NotAValue::Empty),
            Kind::Scalar { value, style } => (value, *style),
        };
        if self.text[node.span.clone()].contains(LINE_BREAKS) {
            return refuse(NotAValue::ManyLines);
        }
        let mut holder = Some(chosen);
        while let Some(number) = holder {
            if let Some(alias) = self.aliases.get(&self.nodes[number].anchor) {
                let anchor = self.text[alias.clone()].to_owned();
                return Err(Error::Shared { place: self.place(chosen), anchor });
            }
            holder = self.nodes[number].parent;
        }
        Ok((value, style))
    }

    /// Whether `other` says the same as this file, but for the scalars that `changed` has new values for.
    pub(crate) fn differs_only_in(&self, other: &Tree<'_>, changed: &BTreeMap<usize, String>) -> bool {
        let same_node = |(number, (ours, theirs)): (usize, (&Node<'_>, &Node<'_>))| {
            let same_kind = match (changed.get(&number), &ours.kind, &theirs.kind) {
                (Some(new), Kind::Scalar { .. }, Kind::Scalar { value, .. }) => value == new,
                (None, ours, theirs) => ours == theirs,
                _ => false,
            };
            let context = |node: &Node<'_>| (node.role, node.document, node.in_flow, node.anchor, node.parent);
            same_kind && context(ours) == context(theirs)
        };
        let comments = |tree: &Tree<'_>| -> Vec<String> {
            tree.comments.iter().map(|comment| tree.text[comment.place.span.clone()].to_owned()).collect()
        };
        self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).enumerate().all(same_node)
            && comments(self) == comments(other)
    }
}

fn bytes(span: &Span) -> Range<usize> {
    span.byte_range().unwrap_or_default()
}

fn place(span: &Span) -> Place {
    Place { line: span.start.line(), column: span.start.col() + 1, span: bytes(span) }
}

fn not_yaml(error: &granit_parser::ScanError) -> Error {
    let at = error.marker();
    let offset = at.byte_offset().unwrap_or_default();
    let place = Place { line: at.line(), column: at.col() + 1, span: offset..offset };
    Error::NotYaml { place, reason: error.info() }
}
