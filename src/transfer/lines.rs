//! JSON lines: every line is a thing of its own, and a fault of one hides no other.

use std::io::BufRead;

use serde_json::value::RawValue;

use super::fields::Fields;
use super::{Fault, Item, Read, Setting, Sink};
use crate::document::{Object, keep_numbers};
use crate::error::{Code, Error, Result};
use crate::file::{Line, Lines};

/// Longest line, in bytes.
pub(crate) const LINE_MAX: usize = 16 << 20;
/// Largest file that is read as one document, in bytes.
pub(crate) const FILE_MAX: u64 = 256 << 20;
/// How many lines a reader reads before it is the turn of the next. Each may be as large as is allowed.
const TURN: usize = 32;
/// The byte order mark that some editors put in front.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// What git leaves in a file that it could not merge, at the start of a line.
const CONFLICTS: [&[u8]; 4] = [b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"];

/// Says whether a line is what git leaves between two versions.
pub(super) fn is_conflict(line: &[u8]) -> bool {
    CONFLICTS
        .iter()
        .any(|mark| line.starts_with(mark) && matches!(line.get(7), None | Some(b' ' | b'\r')))
}

/// Takes the byte order mark away.
pub(super) fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

/// The lines that one of several readers of a file reads: some in each turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Which reader it is, from 0.
    pub(crate) own: usize,
    /// How many readers there are.
    pub(crate) of: usize,
}

impl Share {
    /// All lines.
    pub(crate) const ALL: Share = Share { own: 0, of: 1 };

    fn has(self, line: usize) -> bool {
        (line - 1) / TURN % self.of == self.own
    }

    /// Says whether the lines after this one are those of another reader.
    fn ends_with(self, line: usize) -> bool {
        self.of > 1 && line.is_multiple_of(TURN)
    }
}

/// Reads an input of JSON objects, one a line, and hands each to `take` with the number of its
/// line. Lines that are none become faults.
pub(super) fn objects(
    mut input: impl BufRead,
    setting: &Setting<'_>,
    sink: &mut Sink<'_>,
    mut take: impl FnMut(usize, Fields, &mut Sink<'_>) -> Result<()>,
) -> Result<()> {
    let mut lines = Lines::new(&mut input, LINE_MAX);
    while let Some(line) = lines.next_line().map_err(unreadable)? {
        let (number, share) = (line.number, setting.share);
        if !share.has(number) {
            continue;
        }
        match object(&line) {
            Ok(None) => {}
            Ok(Some(fields)) => take(line.number, fields, sink)?,
            Err(message) => sink(Item::Fault(Fault {
                place: setting.place(line.number),
                id: line.bytes.and_then(id_in),
                message,
            }))?,
        }
        if share.ends_with(number) {
            sink(Item::Turn)?;
        }
    }
    Ok(())
}

fn unreadable(cause: std::io::Error) -> Error {
    let message = format!("the input cannot be read: {cause}");
    Error::new(Code::FileUnreadable, message).because(cause)
}

fn object(line: &Line<'_>) -> Read<Option<Fields>> {
    let Some(bytes) = line.bytes else {
        return Err(format!("the line has more than {LINE_MAX} bytes"));
    };
    let bytes = match line.number {
        1 => unmarked(bytes),
        _ => bytes,
    };
    if is_conflict(bytes) {
        return Err("git left a conflict here".to_string());
    }
    let bytes = bytes.trim_ascii();
    if bytes.is_empty() {
        return Ok(None);
    }
    parse(bytes).map(Some)
}

/// Reads one JSON object. A duplicate field, however deep, is a fault: one of the two values would be lost.
pub(super) fn parse(bytes: &[u8]) -> Read<Fields> {
    serde_json::from_slice(&keep_numbers(bytes))
        .map(|Object(fields)| Fields::new(fields))
        .map_err(|cause| no_object(&cause))
}

/// Says why a text is no JSON object, without the place, which is known better from outside.
fn no_object(cause: &serde_json::Error) -> String {
    let what = cause.to_string();
    let what = what.split(" at line ").next().unwrap_or_default();
    match cause.classify() {
        serde_json::error::Category::Eof => {
            format!(
                "the JSON object ends in the middle, at column {}",
                cause.column()
            )
        }
        serde_json::error::Category::Data => format!("no JSON object: {what}"),
        _ => format!("no JSON at column {}: {what}", cause.column()),
    }
}

/// Finds the id in a line that is no JSON, to name the task that it was.
fn id_in(line: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
    let (_, rest) = head.split_once("\"id\":")?;
    let (id, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    (id.len() <= 100).then(|| id.to_string())
}

/// Returns the number of the line on which a part of `whole` begins.
pub(super) fn line_of(whole: &[u8], part: &RawValue) -> usize {
    let start = (part.get().as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    let before = &whole[..start.min(whole.len())];
    memchr::memchr_iter(b'\n', before).count() + 1
}

/// The fault of a document that cannot be read at all.
pub(super) fn no_document(setting: &Setting<'_>, cause: &serde_json::Error) -> Item {
    let message = match cause.classify() {
        serde_json::error::Category::Eof => "the document ends in the middle".to_string(),
        _ => no_object(cause),
    };
    Item::Fault(Fault {
        place: setting.place(cause.line()),
        id: None,
        message,
    })
}
