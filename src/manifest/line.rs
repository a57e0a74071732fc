//! One line of the manifest, taken apart. Agents may append with `>>`, so a line can be torn, hold
//! somebody else's text, or two entries where a line end got lost. Whatever stands whole in it is
//! found, and what does not is named.

use memchr::memmem;
use serde_json::error::Category;

use super::entry::Fault;
use super::fields::Fields;
use super::rules;
use crate::error::Code;
use crate::id::TaskId;

/// How many places of a broken line are tried as the start of a whole entry.
const STARTS_TRIED: usize = 16;

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Faulty {
    /// Number of the line, from 1.
    pub line: usize,
    /// Kind of fault.
    #[serde(serialize_with = "name")]
    pub code: Code,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Id of the entry that it is or was to be, where one can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

fn name<S: serde::Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.name())
}

impl std::fmt::Display for Faulty {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.message)
    }
}

/// What stands in a line.
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, on the stack, and nearly always the large one"
)]
pub(super) enum Item<'a> {
    /// Fields of a whole and valid entry.
    Entry(Fields<'a>),
    /// Something else.
    Faulty(Faulty),
}

/// Takes a line apart. A blank line holds nothing.
pub(super) fn items<'a>(number: usize, bytes: &'a [u8], take: &mut dyn FnMut(Item<'a>)) {
    let faulty = |code, message: String| {
        let id = claimed_id(bytes);
        Item::Faulty(Faulty {
            line: number,
            code,
            message,
            id,
        })
    };
    let bytes = bytes
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(bytes)
        .trim_ascii();
    let text = match std::str::from_utf8(bytes) {
        Ok("") => return,
        Ok(text) => text,
        Err(cause) => {
            let message = format!("the line is no UTF-8 from byte {}", cause.valid_up_to() + 1);
            return take(faulty(Code::LineForeign, message));
        }
    };
    match Fields::read(text) {
        Ok(fields) => take(judge(number, fields)),
        Err(cause) => {
            let whole = salvage(text);
            let (code, message) = explain(text, &cause, whole.len());
            take(faulty(code, message));
            whole
                .into_iter()
                .for_each(|fields| take(judge(number, fields)));
        }
    }
}

/// The fault of a line that is longer than any entry.
pub(super) fn too_long(number: usize) -> Faulty {
    let message = format!("the line has more than {} bytes", super::entry::LINE_MAX);
    Faulty {
        line: number,
        code: Code::LineTooLong,
        message,
        id: None,
    }
}

fn judge(number: usize, fields: Fields<'_>) -> Item<'_> {
    let faults = fields.faults();
    if faults.is_empty() {
        return Item::Entry(fields);
    }
    let message = faults
        .iter()
        .map(Fault::to_string)
        .collect::<Vec<_>>()
        .join("; ");
    let id = fields.id().map(str::to_string);
    Item::Faulty(Faulty {
        line: number,
        code: Code::EntryInvalid,
        message,
        id,
    })
}

fn explain(text: &str, cause: &serde_json::Error, n_whole: usize) -> (Code, String) {
    let torn = cause.is_eof() && text.starts_with('{');
    let code = if torn || n_whole > 0 {
        Code::LineTorn
    } else {
        Code::LineForeign
    };
    let message = match (n_whole, cause.classify()) {
        (0, Category::Eof) if torn => "the line is torn: it ends inside of an entry".to_string(),
        (0, _) => format!("the line {}", rules::syntax(text, cause).message),
        (1, _) => {
            "the line holds a whole entry and something else; a line end got lost".to_string()
        }
        (n, _) => format!("the line holds {n} entries; a line end between them got lost"),
    };
    (code, message)
}

/// Finds the objects with an id that stand whole in a line that is not one object: behind a torn
/// one, or one behind the other.
fn salvage(text: &str) -> Vec<Fields<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    for _ in 0..STARTS_TRIED {
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<Fields<'_>>();
        while let Some(Ok(fields)) = objects.next() {
            if fields.id().is_some() {
                found.push(fields);
            }
        }
        rest = &rest[objects.byte_offset().min(rest.len())..];
        match next_start(rest) {
            Some(start) => rest = &rest[start..],
            None => break,
        }
    }
    found
}

/// Finds the next place behind the first character at which an object may start.
fn next_start(text: &str) -> Option<usize> {
    let first = text.chars().next()?.len_utf8();
    let brace = |position: &usize| text[position + 1..].trim_start().starts_with('"');
    memchr::memchr_iter(b'{', &text.as_bytes()[first..])
        .map(|position| position + first)
        .find(brace)
}

/// Reads the id of a line that leads with it, as cleo and the protocol write it, and holds one object
/// at most. `None` means that only taking the line apart tells.
pub(super) fn plain_id(bytes: &[u8]) -> Option<&str> {
    let (id, rest) = id_value(after(after(bytes, b"{")?, b"\"id\"")?)?;
    memchr::memchr(b'{', rest).is_none().then_some(id)
}

/// Reads what stands behind the first `"id":` of a line that is no entry.
fn claimed_id(bytes: &[u8]) -> Option<String> {
    let start = memmem::find(bytes, b"\"id\"")?;
    let (id, _) = id_value(&bytes[start + 4..])?;
    Some(id.to_string())
}

/// Reads `: "ID"` and returns what stands behind it, too.
fn id_value(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let value = after(after(bytes, b":")?, b"\"")?;
    let (id, rest) = value.split_at(memchr::memchr(b'"', value)?);
    let id = std::str::from_utf8(id).ok().filter(|id| rules::is_id(id))?;
    Some((id, rest))
}

fn after<'a>(bytes: &'a [u8], start: &[u8]) -> Option<&'a [u8]> {
    bytes.trim_ascii_start().strip_prefix(start)
}

/// Says whether an entry in this line may be linked to one of the tasks; `false` is certain. Looks
/// for the ids as [`rules::task`] accepts them, behind the name of the field that holds them.
pub(super) fn names_task(bytes: &[u8], is_wanted: impl Fn(TaskId) -> bool) -> bool {
    // An escape can spell any character; then only taking the line apart tells.
    if memmem::find(bytes, b"\\u").is_some() {
        return true;
    }
    let Some(start) = memmem::find(bytes, b"\"linked_tasks\"") else {
        return false;
    };
    let list = &bytes[start..];
    memchr::memchr_iter(b'"', list).any(|quote| task_at(&list[quote + 1..]).is_some_and(&is_wanted))
}

fn task_at(bytes: &[u8]) -> Option<TaskId> {
    let digits = bytes
        .strip_prefix(b"T")
        .or_else(|| bytes.strip_prefix(b"t"))?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    let id = std::str::from_utf8(&bytes[..=end]).ok()?;
    id.parse().ok()
}
