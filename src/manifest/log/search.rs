//! Questions about the whole manifest whose answers are small, however long the manifest is.

use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use memchr::memmem;

use super::{candidates, each_line, each_line_from};
use crate::error::Result;
use crate::file::{open_if_there, unreadable};
use crate::id::TaskId;
use crate::manifest::entry::{Entry, Status};
use crate::manifest::fields::Fields;
use crate::manifest::line::Item;
use crate::manifest::{line, rules};

/// Says whether a title or finding of an entry passes `is_wanted`. Only lines that hold `word`,
/// given in small letters, in any letter case are taken apart.
pub(crate) fn any_text(path: &Path, word: &str, is_wanted: impl Fn(&str) -> bool) -> Result<bool> {
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
pub(crate) fn with_followups(path: &Path, mut visit: impl FnMut(&Fields<'_>)) -> Result<()> {
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
pub(crate) fn latest_for(
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
        if line::plain_id(bytes).is_some_and(|id| !ids.contains(id) || seen.contains(id)) {
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
pub(crate) struct Latest {
    entries: HashMap<TaskId, Entry>,
    archived: HashMap<TaskId, String>,
}

impl Latest {
    /// Returns the entry of a task that counts.
    pub(crate) fn entry(&self, task: TaskId) -> Option<&Entry> {
        self.entries.get(&task)
    }

    /// Returns the id of the last archived entry of a task, which does not count.
    pub(crate) fn archived(&self, task: TaskId) -> Option<&str> {
        self.archived.get(&task).map(String::as_str)
    }

    /// Adds an entry that a task was linked to after it was written, unless it is archived.
    pub(crate) fn add(&mut self, task: TaskId, entry: &Entry) {
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

/// Names that a new entry of one date must not meet, also those of faulty lines.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    date: String,
    ids: HashSet<String>,
    files: HashSet<String>,
    /// The file that was read, by the numbers of its device and its node, and how far.
    read: ((u64, u64), u64),
}

impl Taken {
    /// Says whether the manifest has an entry with this id.
    pub(crate) fn has_id(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Says whether a line of the manifest names this output file, in any letter case: some disks
    /// make no difference.
    pub(crate) fn has_file(&self, name: &str) -> bool {
        self.files.contains(&name.to_lowercase())
    }

    /// Takes the names in what was appended since this was last asked. A file that was put in the place
    /// of the other, or cut, is read from its beginning.
    pub(crate) fn read_on(&mut self, path: &Path) -> Result<()> {
        let Some(file) = open_if_there(path)? else {
            *self = Taken::none(&self.date);
            return Ok(());
        };
        let there = file.metadata().map_err(|cause| unreadable(path, cause))?;
        let which = (there.dev(), there.ino());
        if self.read.0 != which || there.len() < self.read.1 {
            *self = Taken::none(&self.date);
        }
        let (mark, start) = (format!("-{}", self.date), format!("{}_", self.date));
        let mark = memmem::Finder::new(mark.as_bytes());
        let start = memmem::Finder::new(start.as_bytes());
        let from = self.read.1;
        let take = |number: usize, bytes: Option<&[u8]>| self.take(number, bytes, &mark, &start);
        let read = each_line_from(file, from, take);
        self.read = (which, read.map_err(|cause| unreadable(path, cause))?);
        Ok(())
    }

    fn none(date: &str) -> Taken {
        Taken {
            date: date.to_string(),
            ..Taken::default()
        }
    }

    fn take(
        &mut self,
        number: usize,
        bytes: Option<&[u8]>,
        mark: &memmem::Finder<'_>,
        start: &memmem::Finder<'_>,
    ) {
        let Some(bytes) = bytes else { return };
        self.take_files(bytes, start);
        let is_escaped = may_be_escaped(bytes);
        if let Some(id) = line::plain_id(bytes).filter(|_| !is_escaped) {
            return self.take_id(id, mark);
        }
        line::items(number, bytes, &mut |item| match item {
            Item::Entry(fields) => {
                fields
                    .id()
                    .into_iter()
                    .for_each(|id| self.take_id(id, mark));
                let file = fields.slot("file").text();
                let file = file.and_then(|file| file.rsplit('/').next());
                file.into_iter().for_each(|name| self.take_file(name));
            }
            Item::Faulty(faulty) => faulty.id.iter().for_each(|id| self.take_id(id, mark)),
        });
    }

    fn take_id(&mut self, id: &str, mark: &memmem::Finder<'_>) {
        if mark.find(id.as_bytes()).is_some() && !self.ids.contains(id) {
            self.ids.insert(id.to_string());
        }
    }

    /// Takes the names in a line that stand as a whole text, or last in a path, and begin so.
    fn take_files(&mut self, bytes: &[u8], start: &memmem::Finder<'_>) {
        for at in start.find_iter(bytes) {
            let is_start = at > 0 && matches!(bytes[at - 1], b'"' | b'/');
            let name = memchr::memchr(b'"', &bytes[at..]).map(|end| &bytes[at..at + end]);
            let name = name.and_then(|name| std::str::from_utf8(name).ok());
            if let Some(name) = name.filter(|name| is_start && rules::is_id(name)) {
                self.take_file(name);
            }
        }
    }

    fn take_file(&mut self, name: &str) {
        let name = name.to_lowercase();
        if !self.files.contains(&name) {
            self.files.insert(name);
        }
    }
}

/// Collects the ids that hold `-<date>` and the names of output files that begin with `<date>_`.
pub(crate) fn taken(path: &Path, date: &str) -> Result<Taken> {
    let mut taken = Taken::none(date);
    taken.read_on(path)?;
    Ok(taken)
}
