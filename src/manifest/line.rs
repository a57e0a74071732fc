//! Parses one line of the manifest. Agents may append with `>>`, so a line can be torn, be no entry, or hold two
//! entries where a line end is missing. Complete entries in it are found, everything else is reported.

use memchr::memmem;
use serde_json::error::Category;

use super::draft::Draft;
use super::entry::{Fault, LINE_MAX};
use super::rules;
use crate::error::Code;

/// Maximum number of places in a torn line to try as the start of an entry.
const STARTS_TRIED: usize = 16;
/// Maximum number of entries to read from one line.
const ENTRIES_TAKEN: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Faulty {
    /// Number of the line, from 1.
    pub(crate) line: usize,
    #[serde(serialize_with = "name")]
    #[schemars(with = "String")]
    pub(crate) code: Code,
    pub(crate) message: String,
    /// Id of the entry, where one can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
}

fn name<S: serde::Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.name())
}

impl Faulty {
    pub(crate) fn new(line: usize, code: Code, message: String, id: Option<String>) -> Faulty {
        Faulty {
            line,
            code,
            message,
            id,
        }
    }
}

impl std::fmt::Display for Faulty {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

pub(super) enum Item<'a> {
    Entry(&'a Draft<'a>),
    /// Any other text.
    Faulty(Faulty),
}

/// Parses a line. A blank line has no items.
pub(super) fn parse_items(number: usize, bytes: &[u8], take: &mut dyn FnMut(Item<'_>)) {
    let faulty = |code, message| Item::Faulty(Faulty::new(number, code, message, find_id(bytes)));
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text = match std::str::from_utf8(text.trim_ascii()) {
        Ok("") => return,
        Ok(text) => text,
        Err(cause) => {
            let place = cause.valid_up_to() + 1;
            let message = format!("the line is not UTF-8 from byte {place}");
            return take(faulty(Code::LineForeign, message));
        }
    };
    match Draft::read(text) {
        Ok(draft) => take(check_draft(number, &draft)),
        Err(cause) => {
            let whole = find_complete_entries(text);
            let (code, message) = explain_syntax_error(text, &cause, whole.len());
            take(faulty(code, message));
            whole
                .iter()
                .for_each(|draft| take(check_draft(number, draft)));
        }
    }
}

pub(super) fn too_long(number: usize) -> Faulty {
    let message = format!("the line has more than {LINE_MAX} bytes");
    Faulty::new(number, Code::LineTooLong, message, None)
}

fn check_draft<'a>(number: usize, draft: &'a Draft<'a>) -> Item<'a> {
    let faults = draft.faults();
    if faults.is_empty() {
        return Item::Entry(draft);
    }
    let faults: Vec<String> = faults.iter().map(Fault::to_string).collect();
    let (why, id) = (faults.join("; "), draft.id().map(str::to_string));
    Item::Faulty(Faulty::new(number, Code::EntryInvalid, why, id))
}

fn explain_syntax_error(text: &str, cause: &serde_json::Error, n_whole: usize) -> (Code, String) {
    let torn = cause.is_eof() && text.starts_with('{');
    let code = if torn || n_whole > 0 {
        Code::LineTorn
    } else {
        Code::LineForeign
    };
    let message = match (n_whole, cause.classify()) {
        (0, Category::Eof) if torn => "the line is torn: it ends inside of an entry".to_string(),
        (0, _) => format!("the line {}", Fault::syntax(text, cause).message),
        (1, _) => {
            "the line holds a whole entry and something else; a line end got lost".to_string()
        }
        (n, _) => format!("the line holds {n} entries; a line end between them got lost"),
    };
    (code, message)
}

/// Finds the complete objects with an id in a line that is not one object: after a torn one, or one after another.
fn find_complete_entries(text: &str) -> Vec<Draft<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    for _ in 0..STARTS_TRIED {
        let (whole, end) = Draft::read_first(rest, ENTRIES_TAKEN - found.len());
        found.extend(whole);
        rest = &rest[end.min(rest.len())..];
        match next_start(rest) {
            Some(start) => rest = &rest[start..],
            None => break,
        }
    }
    found
}

/// Finds the next place after the first character at which an object may start.
fn next_start(text: &str) -> Option<usize> {
    let first = text.chars().next()?.len_utf8();
    let brace = |position: &usize| text[position + 1..].trim_start().starts_with('"');
    memchr::memchr_iter(b'{', &text.as_bytes()[first..])
        .map(|position| position + first)
        .find(brace)
}

/// Reads the id of a line that begins with it, as cleo and the protocol write it, and has at most one object.
/// `None`: the line has to be parsed.
pub(super) fn plain_id(bytes: &[u8]) -> Option<&str> {
    let (id, rest) = id_value(strip_start(strip_start(bytes, b"{")?, b"\"id\"")?)?;
    memchr::memchr(b'{', rest).is_none().then_some(id)
}

/// Reads the text after the first `"id":` of a faulty line.
pub(super) fn find_id(bytes: &[u8]) -> Option<String> {
    let start = memmem::find(bytes, b"\"id\"")?;
    let (id, _) = id_value(&bytes[start + 4..])?;
    Some(id.to_string())
}

/// Reads `: "ID"`, and returns the rest of the line, too.
fn id_value(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let value = strip_start(strip_start(bytes, b":")?, b"\"")?;
    let (id, rest) = value.split_at(memchr::memchr(b'"', value)?);
    let id = std::str::from_utf8(id).ok().filter(|id| rules::is_id(id))?;
    Some((id, rest))
}

fn strip_start<'a>(bytes: &'a [u8], start: &[u8]) -> Option<&'a [u8]> {
    bytes.trim_ascii_start().strip_prefix(start)
}
