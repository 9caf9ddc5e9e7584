//! What one line says, where the line alone tells.
//!
//! Stricter than YAML throughout: whatever would need a second thought is not read.

use std::ops::Range;

/// A parser looks no further than 1,024 characters for the `:` behind a key.
const LONGEST_KEY: usize = 1_000;

/// A line, without its indentation.
pub(super) enum Line<'t> {
    Blank,
    /// A comment alone, from its `#` on.
    Comment(&'t str),
    /// `---`, alone.
    DocumentStart,
    Entry(Entry<'t>),
}

/// A key, an item, or an item that begins with a key, and what stands behind it.
pub(super) struct Entry<'t> {
    /// Whether the line begins with a dash.
    pub(super) item: bool,
    /// Where the key begins.
    pub(super) key: Option<usize>,
    pub(super) value: Value,
    /// From its `#` on; empty if there is none.
    pub(super) comment: &'t str,
}

/// What stands behind a key or a dash.
pub(super) enum Value {
    /// Nothing: the value is empty, or on the lines below.
    Below,
    /// A scalar with and without its quotes.
    Scalar { span: Range<usize>, value: Range<usize> },
    /// A value that is more than the bytes it is written in: a flow collection, or a string with escapes.
    Opaque,
    /// The head of a block scalar.
    Block,
}

/// Reads a line whose first `indent` bytes are spaces.
pub(super) fn read(line: &str, indent: usize) -> Option<Line<'_>> {
    match line.as_bytes().get(indent) {
        None => Some(Line::Blank),
        Some(b'#') => Some(Line::Comment(&line[indent..])),
        Some(b'-') if line.trim_end_matches(' ') == "---" => Some(Line::DocumentStart),
        Some(_) => entry(line, indent).map(Line::Entry),
    }
}

fn entry(line: &str, indent: usize) -> Option<Entry<'_>> {
    let item = line.as_bytes().get(indent) == Some(&b'-') && is_space_or_end(line, indent + 1);
    let start = if item { skip_spaces(line, indent + 1) } else { indent };
    let key_end = key(line, start);
    if !item && key_end.is_none() {
        return None;
    }
    let (value, end) = value(line, key_end.map_or(start, |end| skip_spaces(line, end)))?;
    let comment_start = skip_spaces(line, end);
    let comment = &line[comment_start..];
    let apart = matches!(value, Value::Below) || comment_start > end;
    let fits = comment.is_empty() || comment.starts_with('#') && apart;
    fits.then_some(Entry { item, key: key_end.map(|_| start), value, comment })
}

/// Where a key ends, its `:` included.
fn key(line: &str, start: usize) -> Option<usize> {
    let end = match line.as_bytes().get(start)? {
        b'"' | b'\'' => quoted(line, start)?.0,
        _ => word(line, start)?,
    };
    let is_key = line.as_bytes().get(end) == Some(&b':') && is_space_or_end(line, end + 1);
    (is_key && end - start <= LONGEST_KEY).then_some(end + 1)
}

fn value(line: &str, start: usize) -> Option<(Value, usize)> {
    match line.as_bytes().get(start) {
        None | Some(b'#') => Some((Value::Below, start)),
        Some(b'"' | b'\'') => {
            let (end, escaped) = quoted(line, start)?;
            let scalar = Value::Scalar { span: start..end, value: start + 1..end - 1 };
            Some((if escaped { Value::Opaque } else { scalar }, end))
        }
        Some(b'|' | b'>') => matches!(&line[start + 1..], "" | "-" | "+").then_some((Value::Block, line.len())),
        Some(b'[' | b'{') => Some((Value::Opaque, flow(line, start)?)),
        Some(_) => {
            let end = plain(line, start)?;
            Some((Value::Scalar { span: start..end, value: start..end }, end))
        }
    }
}

/// Where a plain scalar ends.
fn plain(line: &str, start: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    let opens = match bytes[start] {
        b'-' => !is_space_or_end(line, start + 1),
        first => first.is_ascii_alphanumeric() || !first.is_ascii() || b"_./+$^(~".contains(&first),
    };
    let mut end = start;
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            b':' if is_space_or_end(line, at + 1) => return None,
            b'#' if bytes[at - 1] == b' ' => break,
            b' ' => {}
            _ => end = at + 1,
        }
    }
    opens.then_some(end)
}

/// Where a quoted scalar ends, and whether it has escapes in it.
fn quoted(line: &str, start: usize) -> Option<(usize, bool)> {
    let bytes = line.as_bytes();
    let quote = bytes[start];
    let mut escaped = false;
    let mut at = start + 1;
    loop {
        match (*bytes.get(at)?, bytes.get(at + 1)) {
            (b'\'', Some(b'\'')) if quote == b'\'' => at += 1,
            (b'\\', next) if quote == b'"' => match next? {
                b'\\' | b'"' | b'n' | b't' => at += 1,
                _ => return None,
            },
            (byte, _) if byte == quote => return Some((at + 1, escaped)),
            _ => {
                at += 1;
                continue;
            }
        }
        escaped = true;
        at += 1;
    }
}

/// Where a flow collection of scalars ends, such as `[a, "b"]` or `{a: b}`.
fn flow(line: &str, start: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    let (is_map, close) = if bytes[start] == b'{' { (true, b'}') } else { (false, b']') };
    let mut at = skip_spaces(line, start + 1);
    if bytes.get(at) == Some(&close) {
        return Some(at + 1);
    }
    loop {
        if is_map {
            let end = key(line, at)?;
            at = skip_spaces(line, end);
        }
        let end = match bytes.get(at)? {
            b'"' | b'\'' => quoted(line, at)?.0,
            _ => word(line, at)?,
        };
        at = skip_spaces(line, end);
        match bytes.get(at)? {
            b',' => at = skip_spaces(line, at + 1),
            end if *end == close => return Some(at + 1),
            _ => return None,
        }
    }
}

/// Where a word ends that nobody could take for anything but a plain scalar, in flow or not.
fn word(line: &str, start: usize) -> Option<usize> {
    let is_in_word =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'$' | b'-' | b'@');
    let length = line.as_bytes()[start..].iter().take_while(|byte| is_in_word(byte)).count();
    let word = &line[start..start + length];
    let opens = !word.is_empty() && !word.starts_with(['-', '@']) && !word.starts_with("..");
    opens.then_some(start + length)
}

/// Where the spaces that begin at `start` end.
pub(super) fn skip_spaces(line: &str, start: usize) -> usize {
    start + line.as_bytes()[start..].iter().take_while(|&&byte| byte == b' ').count()
}

fn is_space_or_end(line: &str, at: usize) -> bool {
    line.as_bytes().get(at).is_none_or(|&byte| byte == b' ')
}
