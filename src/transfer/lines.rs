//! JSON, line by line or as one document: a fault of one object hides no other.

use serde_json::value::RawValue;

use super::Reading;
use super::fields::Fields;
use crate::document::Object;

/// Maximum length of a line, in bytes.
const LINE_MAX: usize = 16 << 20;

/// Conflict markers of git, at the start of a line.
const CONFLICTS: [&[u8]; 4] = [b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"];

/// Returns true for a conflict marker of git.
pub(super) fn is_conflict(line: &[u8]) -> bool {
    CONFLICTS
        .iter()
        .any(|mark| line.starts_with(mark) && matches!(line.get(7), None | Some(b' ' | b'\r')))
}

pub(super) fn strip_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// Splits a file into its lines, with their numbers.
pub(super) fn split(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut rest = Some(strip_mark(bytes));
    (1..).zip(std::iter::from_fn(move || {
        let line = rest?;
        let end = memchr::memchr(b'\n', line);
        rest = end.map(|end| &line[end + 1..]);
        Some(&line[..end.unwrap_or(line.len())])
    }))
}

/// Reads JSON objects with their line numbers. Anything else is a fault.
pub(super) fn read_objects<'a>(
    objects: impl IntoIterator<Item = (usize, &'a [u8])>,
    reading: &mut Reading,
    mut take: impl FnMut(&mut Reading, usize, Fields),
) {
    for (line, object) in objects {
        match parse(object) {
            Ok(None) => {}
            Ok(Some(fields)) => take(reading, line, fields),
            Err(message) => reading.add_fault(line, None, message),
        }
    }
}

/// Reads the object on a line; an empty line has none. A duplicate field, however deep, is a fault: one of
/// the two values would be lost.
fn parse(line: &[u8]) -> Result<Option<Fields>, String> {
    if line.len() > LINE_MAX {
        return Err(format!("the line has more than {LINE_MAX} bytes"));
    }
    if is_conflict(line) {
        return Err("git left a conflict here".to_string());
    }
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    match serde_json::from_slice(line) {
        Ok(Object(fields)) => Ok(Some(Fields::new(fields))),
        Err(cause) => Err(describe(&cause)),
    }
}

/// Describes a parse error, without the line, which the caller adds.
fn describe(cause: &serde_json::Error) -> String {
    let what = cause.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    match cause.is_eof() {
        true => format!("the JSON ends in the middle, at column {}", cause.column()),
        false => format!("no JSON object: {what} at column {}", cause.column()),
    }
}

/// Parses a document; one that cannot be read at all is a fault.
pub(super) fn parse_document<'a, T: serde::Deserialize<'a>>(
    bytes: &'a [u8],
    reading: &mut Reading,
) -> Option<T> {
    let document = serde_json::from_slice(bytes);
    document
        .map_err(|cause| reading.add_fault(cause.line(), None, describe(&cause)))
        .ok()
}

/// Finds the lines on which parts of a document begin. The parts are in the order of the document.
pub(super) fn with_lines<'a>(whole: &[u8], parts: &[&'a RawValue]) -> Vec<(usize, &'a [u8])> {
    let (mut line, mut place) = (1, 0);
    let mut found = Vec::with_capacity(parts.len());
    for part in parts {
        let start = (part.get().as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
        let between = whole.get(place..start).unwrap_or_default();
        line += memchr::memchr_iter(b'\n', between).count();
        place = place.max(start);
        found.push((line, part.get().as_bytes()));
    }
    found
}
