//! Questions about the whole manifest whose answers are small, however long the manifest is.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use memchr::memmem;

use super::{Line, each_line, scan};
use crate::error::Result;
use crate::id::TaskId;
use crate::manifest::entry::{Entry, Status};
use crate::manifest::line::Item;
use crate::manifest::{line, rules};

/// Says whether a title or finding of an entry passes `is_wanted`.
pub(crate) fn any_text(path: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<bool> {
    let mut found = false;
    scan(path, |line| {
        if let Line::Entry(_, fields) = line {
            let mut texts = fields
                .texts("key_findings")
                .chain(fields.slot("title").text());
            found = found || texts.any(&is_wanted);
        }
    })?;
    Ok(found)
}

/// An escape can spell any character.
fn may_be_escaped(bytes: &[u8]) -> bool {
    memmem::find(bytes, b"\\u").is_some()
}

/// Finds the last entry of each of these tasks that passes `counts`; the others, which may be many,
/// are not kept. Also tells of each task without one whether an archived entry is linked to it.
pub(crate) fn latest_for(
    path: &Path,
    tasks: &[TaskId],
    counts: impl Fn(TaskId, &Entry) -> bool,
) -> Result<Latest> {
    let wanted: HashSet<TaskId> = tasks.iter().copied().collect();
    let mut latest = Latest::default();
    scan(path, |line| {
        if let Line::Entry(_, fields) = line
            && fields.tasks().any(|(_, task)| wanted.contains(&task))
            && let Ok(entry) = fields.entry()
        {
            latest.take(entry, &wanted, &counts);
        }
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
    ids: HashSet<String>,
    files: HashSet<String>,
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
    let mut taken = Taken::default();
    let (mark, start) = (format!("-{date}"), format!("{date}_"));
    let mark = memmem::Finder::new(mark.as_bytes());
    let start = memmem::Finder::new(start.as_bytes());
    each_line(path, |number, bytes| {
        taken.take(number, bytes, &mark, &start)
    })?;
    Ok(taken)
}
