//! Questions about the whole manifest whose answers are small, however long the manifest is.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use memchr::memchr_iter;
use memchr::memmem::Finder;

use super::{Line, each_line, scan, scan_lines};
use crate::error::Result;
use crate::id::TaskId;
use crate::manifest::entry::{Entry, Status};
use crate::manifest::line::{self, Item};
use crate::manifest::rules::is_id;

/// Entries of more tasks than these are sought by taking every line apart.
const SOUGHT_MAX: usize = 8;

/// Returns whether a title or finding of an entry passes `is_wanted`.
pub(crate) fn contains_text(path: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<bool> {
    let mut found = false;
    scan(path, |line| {
        if let Line::Entry(_, draft) = line {
            let mut texts = draft.texts("key_findings").chain(draft.text("title"));
            found = found || texts.any(&is_wanted);
        }
    })?;
    Ok(found)
}

/// Finds the last entry of each of these tasks that is not archived and passes `counts`; the others, which may be many,
/// are not kept.
pub(crate) fn latest_for(
    path: &Path,
    tasks: &[TaskId],
    counts: impl Fn(&Entry) -> bool,
) -> Result<Latest> {
    let wanted: HashSet<TaskId> = tasks.iter().copied().collect();
    let ends: Vec<String> = wanted.iter().map(|task| format!("{}\"", task.0)).collect();
    let ends: Vec<Finder<'_>> = ends.iter().map(|end| Finder::new(end.as_bytes())).collect();
    // To take a line apart is ten times the work of seeking a few ids in it.
    let may_name = |bytes: &[u8]| {
        ends.len() > SOUGHT_MAX
            || ends.iter().any(|end| end.find(bytes).is_some())
            || has_escapes(bytes)
    };
    let mut latest = Latest::default();
    scan_lines(path, may_name, |line| {
        if let Line::Entry(_, draft) = line
            && draft.tasks().any(|(_, task)| wanted.contains(&task))
            && let Ok(entry) = draft.entry()
        {
            let linked = entry.linked_tasks.iter().copied();
            let linked = linked.filter(|task| wanted.contains(task) && counts(&entry));
            linked.for_each(|task| latest.add(task, &entry));
        }
    })?;
    Ok(latest)
}

/// Returns whether a line has escapes that can spell any character.
fn has_escapes(bytes: &[u8]) -> bool {
    memchr_iter(b'\\', bytes).any(|at| bytes.get(at + 1) == Some(&b'u'))
}

/// The last entry of each task.
#[derive(Debug, Default)]
pub(crate) struct Latest {
    entries: HashMap<TaskId, Entry>,
}

impl Latest {
    /// Returns the entry of a task that counts.
    pub(crate) fn entry(&self, task: TaskId) -> Option<&Entry> {
        self.entries.get(&task)
    }

    /// Adds an entry that a task is linked to, unless it is archived.
    pub(crate) fn add(&mut self, task: TaskId, entry: &Entry) {
        if entry.status != Status::Archived {
            self.entries.insert(task, entry.clone());
        }
    }
}

/// Names that a new entry of one date must not meet, also those of faulty lines.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    ids: HashSet<String>,
    files: HashSet<String>,
}

impl Taken {
    pub(crate) fn has_id(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Returns whether a line of the manifest names this output file, in any letter case: some disks
    /// make no difference.
    pub(crate) fn has_file(&self, name: &str) -> bool {
        self.files.contains(&name.to_lowercase())
    }

    pub(crate) fn extend(&mut self, more: Taken) {
        self.ids.extend(more.ids);
        self.files.extend(more.files);
    }

    /// Takes each word between quotes and slashes that is a name of this date.
    fn take(&mut self, bytes: &[u8], date: &Finder<'_>) {
        let is_end = |byte: &u8| matches!(byte, b'"' | b'/');
        let after_date = date.needle().len();
        for at in date.find_iter(bytes) {
            let start = bytes[..at]
                .iter()
                .rposition(is_end)
                .map_or(0, |end| end + 1);
            let end = bytes[at..].iter().position(is_end);
            let word = &bytes[start..end.map_or(bytes.len(), |end| at + end)];
            let Some(word) = std::str::from_utf8(word).ok().filter(|word| is_id(word)) else {
                continue;
            };
            let in_word = at - start;
            if word[..in_word].ends_with('-') {
                self.ids.insert(word.to_string());
            }
            if in_word == 0 && word[after_date..].starts_with('_') {
                self.files.insert(word.to_lowercase());
            }
        }
    }
}

/// Collects the ids that hold `-<date>` and the names of output files that begin with `<date>_`. Lines are not taken
/// apart for that: a name too many does no harm.
pub(crate) fn collect_taken(path: &Path, date: &str) -> Result<Taken> {
    let mut taken = Taken::default();
    let date = Finder::new(date.as_bytes());
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes else { return };
        taken.take(bytes, &date);
        if has_escapes(bytes) {
            line::parse_items(number, bytes, &mut |item| {
                if let Item::Entry(draft) = item {
                    let names = ["id", "file"].map(|name| draft.text(name).unwrap_or_default());
                    taken.take(names.join("/").as_bytes(), &date);
                }
            });
        }
    })?;
    Ok(taken)
}
