//! The rules for an entry's fields (section 5 of the notes). Each sentence is read after the name
//! of its field, and every fault is named, not just the first.

use std::path::{Component, Path};

use super::entry::{Fault, LINE_MAX, Status};
use super::fields::{Fields, NAMES, REQUIRED, Slot};
use crate::clock;
use crate::id::TaskId;

/// Leads a follow-up that is a reason and no task.
pub(super) const BLOCKED: &str = "BLOCKED:";

const ID_MAX: usize = 200;
const TITLE_MAX: usize = 500;
/// Longest text that a message repeats, in characters.
const SHOWN_MAX: usize = 60;

/// Looks at one field and reports what is wrong with it.
type Rule = fn(&Slot<'_>, &mut dyn FnMut(String));

/// The rule of each field, in the order of [`NAMES`].
const RULES: [Rule; NAMES.len()] = [
    |slot, report| text(slot, id, report),
    |slot, report| text(slot, file, report),
    |slot, report| text(slot, title, report),
    |slot, report| text(slot, date, report),
    |slot, report| text(slot, status, report),
    |slot, report| list(slot, line, report),
    |slot, report| list(slot, paragraph, report),
    flag,
    |slot, report| list(slot, followup_item, report),
    |slot, report| list(slot, task_item, report),
    |slot, report| text(slot, line, report),
    |slot, report| text(slot, line, report),
    |slot, report| text(slot, moment, report),
    |slot, report| text(slot, line, report),
    |slot, report| text(slot, line, report),
    |slot, report| text(slot, line, report),
];

impl Fields<'_> {
    /// Names everything that is wrong with the fields; nothing is, if the list is empty.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (position, (slot, rule)) in self.known.iter().zip(RULES).enumerate() {
            let mut report = |message| faults.push(Fault::new(NAMES[position], message));
            match slot {
                Slot::Missing | Slot::Null if position < REQUIRED => report("is missing".into()),
                Slot::Missing | Slot::Null => {}
                slot => rule(slot, &mut report),
            }
        }
        faults.extend(
            self.count_findings()
                .map(|message| Fault::new("key_findings", message)),
        );
        let twice = self.twice.iter();
        faults.extend(twice.map(|name| Fault::new(shown(name), "stands twice")));
        faults
    }

    fn count_findings(&self) -> Option<String> {
        let Slot::List(findings) = self.slot("key_findings") else {
            return None;
        };
        let is_complete = self.slot("status").text() == Some(Status::Complete.word());
        let counted = findings.len();
        let fits = !is_complete || (3..=7).contains(&counted);
        (!fits).then(|| format!("has {counted}; a complete entry has 3 to 7"))
    }
}

fn text(slot: &Slot<'_>, rule: fn(&str) -> Option<String>, report: &mut dyn FnMut(String)) {
    match slot {
        Slot::Text(text) => {
            if let Some(message) = unfilled(text).or_else(|| rule(text)) {
                report(format!("is {}, {message}", shown(text)));
            }
        }
        other => report(format!("is {}, not a text", other.kind())),
    }
}

fn list(slot: &Slot<'_>, rule: fn(&str) -> Option<String>, report: &mut dyn FnMut(String)) {
    let Slot::List(items) = slot else {
        return report(format!("is {}, not a list of texts", slot.kind()));
    };
    for item in items {
        match item {
            Slot::Text(text) => {
                if let Some(message) = unfilled(text).or_else(|| rule(text)) {
                    report(format!("holds {}, {message}", shown(text)));
                }
            }
            other => report(format!("holds {}, not only texts", other.kind())),
        }
    }
}

fn flag(slot: &Slot<'_>, report: &mut dyn FnMut(String)) {
    if !matches!(slot, Slot::Flag(_)) {
        report(format!("is {}, not true or false", slot.kind()));
    }
}

/// A value like `<title>` or `<complete|partial|blocked>` was copied and never filled in.
fn unfilled(text: &str) -> Option<String> {
    is_placeholder(text).then(|| "which is still to be replaced".to_string())
}

fn is_placeholder(text: &str) -> bool {
    let inner = text
        .trim()
        .strip_prefix('<')
        .and_then(|text| text.strip_suffix('>'));
    inner.is_some_and(|inner| !inner.contains(['<', '>', '/', '=']))
}

fn id(text: &str) -> Option<String> {
    let fits = is_id(text);
    (!fits).then(|| format!("not one word of letters, digits, `.`, `_`, `-` up to {ID_MAX} long"))
}

/// Says whether `text` can be the id of an entry.
pub(super) fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !text.is_empty() && text.len() <= ID_MAX && text.bytes().all(plain)
}

fn file(text: &str) -> Option<String> {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let stays = Path::new(text).components().all(plain) && !text.contains('\\');
    let names = stays && Path::new(text).file_name().is_some() && !text.ends_with('/');
    match line(text) {
        Some(message) => Some(message),
        None if !stays => Some("which leads out of the manifest's folder".to_string()),
        None => (!names).then(|| "which names no file".to_string()),
    }
}

fn title(text: &str) -> Option<String> {
    let too_long = || text.chars().count() > TITLE_MAX;
    line(text).or_else(|| {
        let message = || format!("longer than {TITLE_MAX} characters");
        (text.len() > TITLE_MAX && too_long()).then(message)
    })
}

fn date(text: &str) -> Option<String> {
    (!clock::is_date(text)).then(|| "no date like 2026-01-26".to_string())
}

fn moment(text: &str) -> Option<String> {
    let fits = clock::parse_moment(text).is_some();
    (!fits).then(|| "no time like 2026-01-26T09:00:00Z".to_string())
}

fn status(text: &str) -> Option<String> {
    let fits = text.parse::<Status>().is_ok();
    (!fits).then(|| format!("not one of {}", Status::ALL.map(Status::word).join(", ")))
}

fn followup_item(text: &str) -> Option<String> {
    let message = || "neither a task id like T12 nor `BLOCKED:` and a reason".to_string();
    followup(text).is_none().then(message)
}

fn task_item(text: &str) -> Option<String> {
    task(text)
        .is_none()
        .then(|| "no task id like T12".to_string())
}

/// Reads one follow-up.
pub(super) fn followup(text: &str) -> Option<super::Followup> {
    let Some(reason) = text.strip_prefix(BLOCKED) else {
        return task(text).map(super::Followup::Task);
    };
    let fits = line(reason).is_none() && !is_placeholder(reason);
    fits.then(|| super::Followup::Blocked(reason.to_string()))
}

/// Reads a task id without blanks around it: [`super::line::names_task`] relies on that.
pub(super) fn task(text: &str) -> Option<TaskId> {
    let bare = text.starts_with(['T', 't']) && !text.ends_with(char::is_whitespace);
    bare.then(|| text.parse().ok()).flatten()
}

/// One line of text: not blank, no control characters.
fn line(text: &str) -> Option<String> {
    let blank = text.trim().is_empty();
    let message = if blank {
        "which is empty"
    } else {
        "not one line without control characters"
    };
    (blank || has_control(text, &[])).then(|| message.to_string())
}

/// Text that may have several lines.
fn paragraph(text: &str) -> Option<String> {
    let blank = text.trim().is_empty();
    let message = if blank {
        "which is empty"
    } else {
        "not free of control characters"
    };
    (blank || has_control(text, &['\n', '\r', '\t'])).then(|| message.to_string())
}

fn has_control(text: &str, allowed: &[char]) -> bool {
    // Looks at all bytes without a branch, which is several times faster than one by one.
    let suspect = |found, byte: u8| found | (byte < 0x20) | (byte == 0x7f) | (byte == 0xc2);
    let foreign = |c: char| c.is_control() && !allowed.contains(&c);
    text.bytes().fold(false, suspect) && text.contains(foreign)
}

/// Quotes a text for a message: cut, and without what could steer a terminal.
pub(super) fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN_MAX).flat_map(visible).collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        short.push('…');
    }
    format!("`{short}`")
}

fn visible(c: char) -> impl Iterator<Item = char> {
    let plain = (!c.is_control()).then_some(c);
    let escaped = c.is_control().then(|| c.escape_default());
    plain.into_iter().chain(escaped.into_iter().flatten())
}

/// The fault of a text that is no JSON object.
pub(super) fn syntax(text: &str, cause: &serde_json::Error) -> Fault {
    let place = match text.trim_end().contains('\n') {
        true => format!("line {} column {}", cause.line(), cause.column()),
        false => format!("column {}", cause.column()),
    };
    let rest = after(text, cause).unwrap_or_default();
    let message = match cause.classify() {
        _ if text.trim().is_empty() => "is empty; one JSON object is due".to_string(),
        _ if rest.starts_with('<') => {
            let word: String = rest.chars().take_while(|c| !",}\n".contains(*c)).collect();
            format!(
                "holds {} at {place}, which is still to be replaced",
                shown(&word)
            )
        }
        serde_json::error::Category::Data => "is JSON but no object".to_string(),
        serde_json::error::Category::Eof => format!("ends in the middle, at {place}"),
        _ => {
            let why = cause.to_string();
            let why = why.split(" at line ").next().unwrap_or_default();
            format!("is no JSON object: {why} at {place}")
        }
    };
    Fault::new("entry", message)
}

/// Returns the text from where the parser stopped.
fn after<'a>(text: &'a str, cause: &serde_json::Error) -> Option<&'a str> {
    let line = text.lines().nth(cause.line().checked_sub(1)?)?;
    line.get(cause.column().checked_sub(1)?..)
}

/// The fault of an entry that makes too long a line.
pub(super) fn too_long(length: usize) -> Fault {
    Fault::new(
        "entry",
        format!("has {length} bytes; {LINE_MAX} are allowed"),
    )
}
