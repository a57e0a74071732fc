//! Questions about the whole manifest whose answers are small, however long the manifest is.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use memchr::memmem;

use super::each_line;
use super::lookup::candidates;
use crate::error::Result;
use crate::id::TaskId;
use crate::manifest::entry::{Entry, Status};
use crate::manifest::fields::Fields;
use crate::manifest::glance;
use crate::manifest::line::{self, Item};

/// Says whether a title or finding of an entry passes `is_wanted`. Only lines that hold `word`,
/// given in small letters, in any letter case are taken apart.
pub fn any_text(path: &Path, word: &str, is_wanted: impl Fn(&str) -> bool) -> Result<bool> {
    let mut found = false;
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes.filter(|_| !found) else {
            return;
        };
        let small = bytes.to_ascii_lowercase();
        if memmem::find(&small, word.as_bytes()).is_none() && !may_be_escaped(&small) {
            return;
        }
        line::items(number, bytes, &mut |item| {
            if let Item::Entry(fields) = item
                && let Ok(entry) = fields.entry()
            {
                let mut texts = entry.key_findings.iter().chain([&entry.title]);
                found |= texts.any(|text| is_wanted(text));
            }
        });
    })?;
    Ok(found)
}

/// An escape can spell any character.
pub(super) fn may_be_escaped(bytes: &[u8]) -> bool {
    memmem::find(bytes, b"\\u").is_some()
}

/// Visits the entries that something has to follow, in the order of the file. An id that stands
/// twice may be visited twice.
pub fn with_followups(path: &Path, mut visit: impl FnMut(&Fields<'_>)) -> Result<()> {
    let name = memmem::Finder::new(b"\"needs_followup\"");
    let is_empty = |rest: &[u8]| {
        let list = rest.trim_ascii_start().strip_prefix(b":");
        let list = list.and_then(|list| list.trim_ascii_start().strip_prefix(b"["));
        list.is_some_and(|list| list.trim_ascii_start().starts_with(b"]"))
    };
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes else { return };
        let mut lists = name.find_iter(bytes);
        let all_empty = lists.all(|at| is_empty(&bytes[at + name.needle().len()..]));
        if all_empty && !may_be_escaped(bytes) {
            return;
        }
        line::items(number, bytes, &mut |item| {
            if let Item::Entry(fields) = item
                && fields.texts("needs_followup").next().is_some()
            {
                visit(fields);
            }
        });
    })
}

/// Finds the last entry of each of these tasks that passes `counts`; the others, which may be many,
/// are not kept. Also tells of each task without one whether an archived entry is linked to it.
pub fn latest_for(
    path: &Path,
    tasks: &[TaskId],
    counts: impl Fn(TaskId, &Entry) -> bool,
) -> Result<Latest> {
    let wanted: HashSet<TaskId> = tasks.iter().copied().collect();
    let ids = candidates(path, &wanted)?;
    let (mut latest, mut seen) = (Latest::default(), HashSet::new());
    each_line(path, |number, bytes| {
        let Some(bytes) = bytes.filter(|_| !ids.is_empty()) else {
            return;
        };
        if glance::plain_id(bytes).is_some_and(|id| !ids.contains(id) || seen.contains(id)) {
            return;
        }
        line::items(number, bytes, &mut |item| {
            let Item::Entry(fields) = item else { return };
            let Some(id) = fields.id().and_then(|id| ids.get(id)) else {
                return;
            };
            // Only the first of an id counts, as in [`super::find_all`].
            if !seen.contains(id.as_str())
                && let Ok(entry) = fields.entry()
            {
                seen.insert(id.as_str());
                latest.take(entry, &wanted, &counts);
            }
        });
    })?;
    Ok(latest)
}

/// The last entry of each task.
#[derive(Debug, Default)]
pub struct Latest {
    entries: HashMap<TaskId, Entry>,
    archived: HashMap<TaskId, String>,
}

impl Latest {
    /// Returns the entry of a task that counts.
    pub fn entry(&self, task: TaskId) -> Option<&Entry> {
        self.entries.get(&task)
    }

    /// Returns the id of the last archived entry of a task, which does not count.
    pub fn archived(&self, task: TaskId) -> Option<&str> {
        self.archived.get(&task).map(String::as_str)
    }

    /// Adds an entry that a task was linked to after it was written, unless it is archived.
    pub fn add(&mut self, task: TaskId, entry: &Entry) {
        if entry.status != Status::Archived {
            self.entries.insert(task, entry.clone());
        }
    }

    fn take(
        &mut self,
        entry: Entry,
        wanted: &HashSet<TaskId>,
        counts: &impl Fn(TaskId, &Entry) -> bool,
    ) {
        let linked = entry.linked_tasks.iter().copied();
        for task in linked.filter(|task| wanted.contains(task) && counts(*task, &entry)) {
            if entry.status == Status::Archived {
                self.archived.insert(task, entry.id.clone());
            } else {
                self.entries.insert(task, entry.clone());
            }
        }
    }
}
