//! The second law: where the lines of a file are enough to answer, the answer is the parser's, to the byte, and the file
//! is YAML for libyaml, too.

use weir_yaml::{Marked, outlined, parsed};

use crate::law::read;

/// Reads a text both ways and gives what its lines said, or how the law was broken.
pub(crate) fn agreed(text: &str) -> Result<Option<Vec<Marked>>, String> {
    let Some(by_lines) = outlined(text) else { return Ok(None) };
    let by_parser = parsed(text).map_err(|error| format!("the parser refuses it: {error}"))?;
    if by_lines != by_parser {
        return Err(format!("the lines say {by_lines:?}, the parser {by_parser:?}"));
    }
    let seen = read(text).ok_or("libyaml cannot read it")?;
    for found in &by_lines {
        let is_it = |value: &String, end: usize| *value == found.value && end == found.place.span.end;
        if !seen.iter().any(|seen| seen.scalar.as_ref().is_some_and(|(value, _)| is_it(value, seen.end))) {
            return Err(format!("libyaml does not see {found:?}"));
        }
    }
    Ok(Some(by_lines))
}
