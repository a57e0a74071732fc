//! The rules for an entry's fields (section 5 of the notes). Each sentence is read after the name
//! of its field, and every fault is named, not just the first.

use std::path::{Component, Path};

use super::fault::Fault;
use super::fields::{Fields, NAMES, REQUIRED};
use super::slot::Slot;
use super::text::{line, paragraph, shown, unfilled};
use super::words::{Status, followup, task};
use crate::clock;

/// Longest line of the manifest, in bytes, without its end.
pub const LINE_MAX: usize = 1 << 20;

const ID_MAX: usize = 200;
const TITLE_MAX: usize = 500;
/// Most faults of one field that are named.
const NAMED_MAX: usize = 20;

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
        let twice = self.twice.iter().take(NAMED_MAX);
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
    let fault = |item: &Slot<'_>| match item {
        Slot::Text(text) => {
            let message = unfilled(text).or_else(|| rule(text))?;
            Some(format!("holds {}, {message}", shown(text)))
        }
        other => Some(format!("holds {}, not only texts", other.kind())),
    };
    let faults = items.iter().filter_map(fault);
    faults.take(NAMED_MAX).for_each(report);
}

fn flag(slot: &Slot<'_>, report: &mut dyn FnMut(String)) {
    if !matches!(slot, Slot::Flag(_)) {
        report(format!("is {}, not true or false", slot.kind()));
    }
}

fn id(text: &str) -> Option<String> {
    let fits = is_id(text);
    (!fits).then(|| format!("not one word of letters, digits, `.`, `_`, `-` up to {ID_MAX} long"))
}

/// Says whether `text` can be the id of an entry.
pub(super) fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !text.is_empty() && text.len() <= ID_MAX && text.bytes().all(plain)
}

fn file(text: &str) -> Option<String> {
    // Nearly every file is a bare name; the way through the parts of a path takes its time.
    if is_id(text) && !text.starts_with('.') {
        return None;
    }
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
    let fits = clock::is_moment(text);
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

/// The fault of an entry that makes too long a line.
pub(super) fn too_long(length: usize) -> Fault {
    Fault::new(
        "entry",
        format!("has {length} bytes; {LINE_MAX} are allowed"),
    )
}
