//! JSON, line by line or as one document: a fault of one object hides no other.

use serde_json::value::RawValue;

use super::Reading;
use super::fields::Fields;
use crate::document::{Object, keep_numbers};

/// Longest line, in bytes.
const LINE_MAX: usize = 16 << 20;

/// What git leaves in a file that it could not merge, at the start of a line.
const CONFLICTS: [&[u8]; 4] = [b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"];

/// Returns `true` for a line that git leaves between two versions.
pub(super) fn is_conflict(line: &[u8]) -> bool {
    CONFLICTS
        .iter()
        .any(|mark| line.starts_with(mark) && matches!(line.get(7), None | Some(b' ' | b'\r')))
}

/// Removes the byte order mark that some editors put in front.
pub(super) fn strip_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// Reads JSON objects, one a line. Lines that are none become faults.
pub(super) fn read_lines(
    bytes: &[u8],
    reading: &mut Reading,
    take: impl FnMut(&mut Reading, usize, Fields),
) {
    let lines = strip_mark(bytes).split(|byte| *byte == b'\n');
    read_objects((1..).zip(lines), reading, take);
}

/// Reads the objects of a list in a document.
pub(super) fn read_list(
    document: &[u8],
    list: &[&RawValue],
    reading: &mut Reading,
    take: impl FnMut(&mut Reading, usize, Fields),
) {
    read_objects(with_lines(document, list), reading, take);
}

/// Reads JSON objects with their line numbers. What is none becomes a fault.
pub(super) fn read_objects<'a>(
    objects: impl IntoIterator<Item = (usize, &'a [u8])>,
    reading: &mut Reading,
    mut take: impl FnMut(&mut Reading, usize, Fields),
) {
    for (line, object) in objects {
        match parse(object) {
            Ok(None) => {}
            Ok(Some(fields)) => take(reading, line, fields),
            Err(message) => reading.fault(line, find_id(object).as_deref(), message),
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
    let object = serde_json::from_slice(&keep_numbers(line));
    object
        .map(|Object(fields)| Some(Fields::new(fields)))
        .map_err(|cause| describe(&cause))
}

/// Explains why a text is no JSON object, without the place, which is known better from outside.
fn describe(cause: &serde_json::Error) -> String {
    let what = cause.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    let column = cause.column();
    match cause.classify() {
        serde_json::error::Category::Eof => {
            format!("the JSON object ends in the middle, at column {column}")
        }
        serde_json::error::Category::Data => format!("no JSON object: {what}"),
        _ => format!("no JSON at column {column}: {what}"),
    }
}

/// Finds the id in a line that is no JSON, to name the task that it was.
fn find_id(line: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
    let (_, rest) = head.split_once("\"id\":")?;
    let (id, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    (id.len() <= 100).then(|| id.to_string())
}

/// Parses a document; one that cannot be read at all is a fault.
pub(super) fn parse_document<'a, T: serde::Deserialize<'a>>(
    bytes: &'a [u8],
    reading: &mut Reading,
) -> Option<T> {
    let cause = match serde_json::from_slice(bytes) {
        Ok(document) => return Some(document),
        Err(cause) => cause,
    };
    let message = match cause.classify() {
        serde_json::error::Category::Eof => "the document ends in the middle".to_string(),
        _ => describe(&cause),
    };
    reading.fault(cause.line(), None, message);
    None
}

/// Finds the line on which each of some parts of a document begins. The parts are in its order.
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
