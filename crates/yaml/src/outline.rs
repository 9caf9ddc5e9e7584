//! The marked values of a file that can be read line by line.
//!
//! Parsing takes most of the time that a repository takes, and nearly all of its files are plain: block maps and lists,
//! each value on the line of its key. [`outlined`] reads those in one pass, many times faster than the parser.
//!
//! It answers only where the lines alone leave no doubt, about the whole file, and says neither more nor less than the
//! parser would. For all else it gives no answer: tabs, anchors, tags, scalars of several lines, nested flow
//! collections, whatever is not YAML, and every marker that would be refused. What is YAML is for the parser to decide,
//! and errors are its own.

mod line;

use crate::{Marked, Marker, Place, comment};
use line::{Entry, Line, Value};

/// The parser refuses files of more than 255 levels. No manifest has half as many as this.
const DEEPEST: usize = 100;

/// The marked values of a file, in the order of their markers; `None` if it takes the parser to tell.
pub fn outlined(text: &str) -> Option<Vec<Marked>> {
    if !is_legible(text) {
        return None;
    }
    let mut outline = Outline { open: true, ..Outline::default() };
    let mut at = Place { line: 1, column: 1, span: 0..0 };
    for line in text.split('\n') {
        at.span.end = at.span.start + line.len();
        outline.read(line.strip_suffix('\r').unwrap_or(line), &at)?;
        at.line += 1;
        at.span.start = at.span.end + 1;
    }
    let complete = outline.above.is_empty() && outline.block != Some(Block::Ahead);
    complete.then_some(outline.found)
}

/// Whether a text has nothing but line ends and characters that print, and is the same lines to every reader.
fn is_legible(text: &str) -> bool {
    let prints = |c: char| !c.is_control() && !c.is_whitespace() && !matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    let plain = text.bytes().fold(true, |plain, byte| plain & matches!(byte, b' '..=b'~' | b'\n'));
    plain
        || text.chars().all(|c| matches!(c, ' ' | '\n' | '\r') || prints(c))
            && text.matches('\r').count() == text.matches("\r\n").count()
}

/// What is known of a file after some of its lines.
#[derive(Default)]
struct Outline {
    /// The collections that the next line may belong to, each in the one before.
    levels: Vec<Level>,
    /// Whether the value of the last key or item, or the document, may still begin.
    open: bool,
    /// The block scalar that the last lines belong to.
    block: Option<Block>,
    /// The markers in the comments directly above, and their indentation.
    above: Vec<(usize, Marker)>,
    found: Vec<Marked>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Level {
    kind: Kind,
    indent: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Map,
    Sequence,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Its first line of text is still to come.
    Ahead,
    /// Its text is indented so far.
    Indented(usize),
}

impl Outline {
    /// Reads the line at a place. `None` if that, or what it means here, is not certain.
    fn read(&mut self, line: &str, at: &Place) -> Option<()> {
        let indent = line::skip_spaces(line, 0);
        if self.is_in_block(line, indent)? {
            return Some(());
        }
        match line::read(line, indent)? {
            Line::Blank => self.above.is_empty().then_some(()),
            Line::Comment(comment) => {
                let marker = comment::marker(comment, true).transpose().ok()?;
                self.above.extend(marker.map(|marker| (indent, marker)));
                Some(())
            }
            Line::DocumentStart => {
                self.levels.clear();
                self.open = true;
                self.above.is_empty().then_some(())
            }
            Line::Entry(entry) => {
                self.enter(&entry, indent)?;
                self.mark(&entry, indent, line, at)
            }
        }
    }

    /// Whether a line is text of a block scalar. The indentation of its first line that is not empty counts for all.
    fn is_in_block(&mut self, line: &str, indent: usize) -> Option<bool> {
        let Some(block) = self.block else { return Some(false) };
        let parent = self.levels.last()?.indent;
        match block {
            Block::Ahead if line.is_empty() => Some(true),
            Block::Ahead if indent > parent && indent < line.len() => {
                self.block = Some(Block::Indented(indent));
                Some(true)
            }
            Block::Indented(text) if indent >= text || indent == line.len() => Some(true),
            Block::Indented(_) if indent <= parent => {
                self.block = None;
                Some(false)
            }
            _ => None,
        }
    }

    /// Goes to the level that an entry belongs to.
    fn enter(&mut self, entry: &Entry<'_>, indent: usize) -> Option<()> {
        let kind = if entry.item { Kind::Sequence } else { Kind::Map };
        let level = Level { kind, indent };
        let begins = self.levels.last().is_none_or(|above| {
            let at_its_key = indent == above.indent && (above.kind, kind) == (Kind::Map, Kind::Sequence);
            indent > above.indent || at_its_key
        });
        if self.open && begins {
            self.levels.push(level);
        } else {
            while self.levels.pop_if(|above| above.indent > indent).is_some() {}
            if kind == Kind::Map {
                self.levels.pop_if(|above| *above == Level { kind: Kind::Sequence, indent });
            }
            if self.levels.last() != Some(&level) {
                return None;
            }
        }
        if let (true, Some(indent)) = (entry.item, entry.key) {
            self.levels.push(Level { kind: Kind::Map, indent });
        }
        self.open = matches!(entry.value, Value::Below);
        self.block = matches!(entry.value, Value::Block).then_some(Block::Ahead);
        (self.levels.len() <= DEEPEST).then_some(())
    }

    /// Gives the markers above an entry and behind it their value.
    fn mark(&mut self, entry: &Entry<'_>, indent: usize, line: &str, at: &Place) -> Option<()> {
        let behind = comment::marker(entry.comment, false).transpose().ok()?;
        if self.above.is_empty() && behind.is_none() {
            return Some(());
        }
        let marks_a_map = entry.item && entry.key.is_some();
        if !self.above.is_empty() && (marks_a_map || self.above.iter().any(|(of_marker, _)| *of_marker != indent)) {
            return None;
        }
        for marker in self.above.drain(..).map(|(_, marker)| marker).chain(behind) {
            let Value::Scalar { span, value } = &entry.value else { return None };
            let column = line[..span.start].chars().count() + 1;
            let span = at.span.start + span.start..at.span.start + span.end;
            let place = Place { line: at.line, column, span };
            self.found.push(Marked { marker, value: line[value.clone()].to_owned(), place });
        }
        Some(())
    }
}
