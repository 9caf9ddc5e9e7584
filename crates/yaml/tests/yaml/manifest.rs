//! Manifests as people write them, and as they look after a slip of the hand.

use proptest::{collection::vec, prelude::*, sample::select};

use crate::mark;

const KEYS: &[&str] = &["apiVersion", "image", "app.kubernetes.io/name", "a-b_c", "'on'", "\"ключ: #\"", ".dot", "0"];

const SCALARS: &[&str] = &[
    "1.0",
    "v1",
    "ghcr.io/x/y:1.0@sha256:ab",
    "--flag=a b",
    "-1",
    "~",
    "a, b [c] {d}",
    "it's a#b",
    "größe",
    "''",
    "'{{ x }}: # y'",
    "\"*.example.org \"",
    "$(HOME)",
    "2024-01-01T12:00:00Z",
];

const OPAQUE: &[&str] = &["{}", "[]", "{a: b, 'c d': \"e\"}", "[a, 'b c', \"d\\\"\"]", "'it''s'", "\"a\\n\\tb\""];

const TEXTS: &[&str] = &["sh -c", "key: [value", "  deeper", "# no comment", "", "---", "- item", "日本"];

const PIECES: &[&str] = &[
    " ", "  ", "\n", "\r", "\t", ":", ": ", "-", "- ", "#", " # ", "'", "\"", "\\", "|", ">", "{", "}", "[", "]", ",",
    "&", "*", "!", "?", "%", "@", "---", "...", "x", "\u{a0}", "\u{85}", "\u{feff}", "é",
];

#[derive(Clone, Debug)]
enum Node {
    Scalar(&'static str),
    Opaque(&'static str),
    Block(&'static str, Vec<&'static str>),
    Map(Vec<Entry>),
    List { indented: bool, entries: Vec<Entry> },
}

#[derive(Clone, Debug)]
struct Entry {
    key: &'static str,
    node: Node,
    above: Comment,
    behind: Comment,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comment {
    Missing,
    Blank,
    Prose,
    Marker,
}

impl Entry {
    /// The comment as far as it fits: only a scalar can have a marker.
    fn fitting(&self, comment: Comment) -> &'static str {
        match (comment, &self.node) {
            (Comment::Marker, Node::Scalar(_)) => mark!(),
            (Comment::Missing | Comment::Blank, _) | (_, Node::Block(..)) => "",
            _ => "# why",
        }
    }

    /// Writes the entry of a map, or the item of a list if `key` is a dash.
    fn write(&self, key: &str, indent: usize, lines: &mut Vec<String>) {
        let margin = " ".repeat(indent);
        let above = self.fitting(self.above);
        if !above.is_empty() || self.above == Comment::Blank {
            lines.push(if above.is_empty() { String::new() } else { format!("{margin}{above}") });
        }
        let behind = self.fitting(self.behind);
        let behind = if behind.is_empty() { String::new() } else { format!(" {behind}") };
        match &self.node {
            Node::Scalar(value) | Node::Opaque(value) => lines.push(format!("{margin}{key} {value}{behind}")),
            Node::Block(head, texts) => {
                lines.push(format!("{margin}{key} {head}"));
                lines.push(format!("{margin}  first"));
                lines.extend(texts.iter().map(|text| format!("{margin}  {text}")));
            }
            Node::Map(entries) => {
                let mut inner = Vec::new();
                for entry in entries {
                    entry.write(&format!("{}:", entry.key), indent + 2, &mut inner);
                }
                match inner.first() {
                    Some(first) if key == "-" && !first.is_empty() && !first.trim().starts_with('#') => {
                        lines.push(format!("{margin}- {}", &first[indent + 2..]));
                        lines.extend(inner.drain(1..));
                    }
                    _ => {
                        lines.push(format!("{margin}{key}{behind}"));
                        lines.append(&mut inner);
                    }
                }
            }
            Node::List { indented, entries } => {
                lines.push(format!("{margin}{key}{behind}"));
                let indent = if *indented || key == "-" { indent + 2 } else { indent };
                for entry in entries {
                    entry.write("-", indent, lines);
                }
            }
        }
    }
}

fn node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        6 => select(SCALARS).prop_map(Node::Scalar),
        1 => select(OPAQUE).prop_map(Node::Opaque),
        1 => (select(&["|", ">-", "|+"][..]), vec(select(TEXTS), 0..4)).prop_map(|(head, texts)| Node::Block(head, texts)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let entries = || vec(entry(inner.clone()), 0..4);
        prop_oneof![
            2 => entries().prop_map(Node::Map),
            1 => (any::<bool>(), entries()).prop_map(|(indented, entries)| Node::List { indented, entries }),
        ]
    })
}

fn entry(node: impl Strategy<Value = Node>) -> impl Strategy<Value = Entry> {
    let comment = || {
        let kinds = [Comment::Missing, Comment::Missing, Comment::Blank, Comment::Prose, Comment::Marker];
        select(kinds.to_vec())
    };
    (select(KEYS), node, comment(), comment()).prop_map(|(key, node, above, behind)| Entry { key, node, above, behind })
}

/// Lines of a file that is read without the parser, and their ends.
fn lines() -> impl Strategy<Value = (Vec<String>, &'static str)> {
    let documents = vec(vec(entry(node()), 1..5), 1..3);
    (any::<bool>(), documents, select(&["\n", "\r\n"][..])).prop_map(|(started, documents, end)| {
        let mut lines = Vec::new();
        for (number, entries) in documents.iter().enumerate() {
            if started || number > 0 {
                lines.push("---".to_owned());
            }
            for entry in entries {
                entry.write(&format!("{}:", entry.key), 0, &mut lines);
            }
        }
        (lines, end)
    })
}

/// A file that is read without the parser.
pub(crate) fn manifest() -> impl Strategy<Value = String> {
    (lines(), any::<bool>()).prop_map(|((lines, end), ended)| lines.join(end) + if ended { end } else { "" })
}

/// Such a file after at most three slips: a character too many, too few or wrong, or a line moved, lost, doubled or
/// indented otherwise.
pub(crate) fn mutated() -> impl Strategy<Value = String> {
    let slips = vec((0..8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), select(PIECES)), 0..4);
    (lines(), slips).prop_map(|((mut lines, end), slips)| {
        for (kind, here, there, piece) in slips {
            if lines.is_empty() {
                break;
            }
            let (here, other) = (here.index(lines.len()), there.index(lines.len()));
            let places: Vec<usize> = lines[here].char_indices().map(|(at, _)| at).collect();
            let place = (!places.is_empty()).then(|| places[there.index(places.len())]);
            match (kind, place) {
                (0, _) => lines.swap(here, other),
                (1, _) => drop(lines.remove(here)),
                (2, _) => lines.insert(other, lines[here].clone()),
                (3, _) => lines[here].insert_str(0, &" ".repeat(1 + other % 3)),
                (4, _) => {
                    let indent = lines[here].len() - lines[here].trim_start_matches(' ').len();
                    lines[here].drain(..indent.min(1 + other % 3));
                }
                (5, Some(at)) => drop(lines[here].remove(at)),
                (6, Some(at)) => {
                    lines[here].remove(at);
                    lines[here].insert_str(at, piece);
                }
                (_, at) => lines[here].insert_str(at.unwrap_or(0), piece),
            }
        }
        lines.join(end)
    })
}
