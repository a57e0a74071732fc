//! The copy in the file: its lines, which task each is, and under which id.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::Cursor;
use std::ops::Range;
use std::path::Path;

use super::identity::{Identity, WAS};
use super::versions::plain;
use crate::error::{Code, Error, Result, quote};
use crate::file::look;
use crate::id::TaskId;
use crate::task::Task;
use crate::transfer::formats::cleo;
use crate::transfer::{Fault, Item, Record, Setting};

/// Most faulty lines that one message names.
const FAULTS_SHOWN: usize = 10;

/// A line of the copy.
pub(super) struct Row {
    /// The id that stands on it.
    pub(super) written: TaskId,
    /// The id that its task has here.
    pub(super) id: TaskId,
    pub(super) identity: Identity,
    pub(super) title: Box<str>,
    pub(super) updated: Box<str>,
    range: Range<usize>,
}

/// The copy.
pub(super) struct Copy {
    bytes: Vec<u8>,
    pub(super) rows: Vec<Row>,
    /// Which rows are about which task, by the id here.
    pub(super) places: HashMap<TaskId, Vec<usize>>,
    /// Ids that stand on lines of different tasks.
    pub(super) shared: Vec<TaskId>,
    /// Tasks of the copy that have another id here, by the id that stands there.
    pub(super) renumbered: HashMap<TaskId, TaskId>,
}

impl Copy {
    /// Reads the copy. Every faulty line is named; one is enough to refuse all.
    pub(super) fn read(bytes: Vec<u8>, path: &Path) -> Result<Copy> {
        let ends = memchr::memchr_iter(b'\n', &bytes).map(|at| at + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let (mut rows, mut faults) = (Vec::new(), Vec::new());
        cleo::read(Cursor::new(&bytes), &Setting::at(""), &mut |item| {
            match item {
                Item::Record(record) => rows.push(row(&record, &starts, bytes.len())),
                Item::Fault(fault) => faults.push(fault),
                Item::LeftOut { .. } | Item::Changed { .. } | Item::Phase(_) | Item::Turn => {}
            }
            Ok(())
        })?;
        refuse(&faults, path)?;
        Ok(Copy {
            bytes,
            rows,
            places: HashMap::new(),
            shared: Vec::new(),
            renumbered: HashMap::new(),
        })
    }

    /// Returns the text of a row.
    pub(super) fn text(&self, at: usize) -> &[u8] {
        self.bytes[self.rows[at].range.clone()].trim_ascii()
    }

    /// Returns the text of a row without the names of the versions that it comes from.
    pub(super) fn line(&self, at: usize) -> Cow<'_, str> {
        match std::str::from_utf8(self.text(at)) {
            Ok(text) => plain(text),
            Err(_) => Cow::Borrowed(""),
        }
    }

    /// Returns all of the copy.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Says which task rows are about, by its id here.
    pub(super) fn place(&mut self, id: TaskId, rows: &[usize]) {
        for at in rows {
            self.rows[*at].id = id;
        }
        if !rows.is_empty() {
            self.places.insert(id, rows.to_vec());
        }
    }

    /// Finds out what references mean, once all rows have their ids. `fresh` are those of new tasks: who
    /// knows neither of two tasks with one id takes references for those to the first, as an import does.
    /// Who knows one of them has those to it already; what is new comes from where the other one was made.
    pub(super) fn follow(&mut self, fresh: &[TaskId]) {
        let fresh: HashSet<TaskId> = fresh.iter().copied().collect();
        let stays = |row: &&Row| row.id == row.written;
        let kept: HashSet<TaskId> = self.rows.iter().filter(stays).map(|row| row.id).collect();
        for row in self.rows.iter().filter(|row| !stays(row)) {
            let is_second = kept.contains(&row.written) && fresh.contains(&row.written);
            if !is_second {
                self.renumbered.entry(row.written).or_insert(row.id);
            }
        }
        let shared = self.renumbered.keys().filter(|id| kept.contains(id));
        self.shared = shared.copied().collect();
    }

    /// Reads the task of a row, with the ids that are meant here. A reference to an id that has
    /// changed its meaning follows, unless `stays` says that it means the task here.
    pub(super) fn task(&self, at: usize, stays: impl Fn(TaskId) -> bool) -> Result<Task> {
        let row = &self.rows[at];
        let mut task = parse(self.text(at))?;
        let follow = |id: TaskId| match self.renumbered.get(&id) {
            Some(new) if !(self.shared.contains(&id) && stays(id)) => *new,
            _ => id,
        };
        task.parent = task.parent.map(follow);
        task.depends = task.depends.into_iter().map(follow).collect();
        // Two references can be one: written in two ways, or after one of them has followed.
        let mut seen = HashSet::new();
        task.depends.retain(|need| seen.insert(*need));
        if row.id != row.written {
            let was = task.extra.entry(WAS);
            was.or_insert(row.written.to_string().into());
        }
        task.id = row.id;
        Ok(task)
    }
}

fn row(record: &Record, starts: &[usize], end: usize) -> Row {
    let line = record.place.line;
    let start = starts.get(line - 1).copied().unwrap_or(end);
    let id = record.id.parse().unwrap_or(TaskId(0));
    Row {
        written: id,
        id,
        identity: Identity::of(&record.task, id),
        title: record.task.title.as_str().into(),
        updated: record.task.updated_at.as_str().into(),
        range: start..starts.get(line).copied().unwrap_or(end),
    }
}

/// Reads a task from its line.
pub(super) fn parse(line: &[u8]) -> Result<Task> {
    let mut found = None;
    cleo::read(Cursor::new(line), &Setting::at(""), &mut |item| {
        if let Item::Record(record) = item {
            found = Some(*record);
        }
        Ok(())
    })?;
    let record = found.ok_or_else(|| {
        Error::new(
            Code::Internal,
            "a line that was read before cannot be read any more",
        )
    })?;
    let ids = |references: &[crate::transfer::Reference]| -> Vec<TaskId> {
        references
            .iter()
            .filter_map(|reference| reference.given.parse().ok())
            .collect()
    };
    let mut task = record.task;
    task.id = record.id.parse().unwrap_or(TaskId(0));
    task.parent = ids(&record.parents).first().copied();
    task.depends = ids(&record.depends);
    Ok(task)
}

fn refuse(faults: &[Fault], path: &Path) -> Result<()> {
    let Some(first) = faults.first() else {
        return Ok(());
    };
    let mut lines: Vec<String> = faults
        .iter()
        .take(FAULTS_SHOWN)
        .map(|fault| format!("line {}: {}", fault.place.line, fault.message))
        .collect();
    if faults.len() > FAULTS_SHOWN {
        lines.push(format!("and {} more", faults.len() - FAULTS_SHOWN));
    }
    let message = format!("{} cannot be merged: {}", path.display(), lines.join("; "));
    let error = Error::new(Code::ImportInvalid, message);
    Err(with_ways_out(error, faults, first, path))
}

/// Adds what to do about faulty lines. What is no task can go; a line that a task was on cannot,
/// because a task that is gone from the copy counts as deleted there.
fn with_ways_out(error: Error, faults: &[Fault], first: &Fault, path: &Path) -> Error {
    let file = quote(&path.to_string_lossy());
    let is_conflict = |fault: &Fault| fault.message.contains("git left a conflict");
    let is_no_task = |fault: &Fault| fault.id.is_none() && !fault.message.contains("version");
    let places = faults.iter().map(|fault| fault.place.line);
    let drop: String = places.map(|line| format!(" -e {line}d")).collect();
    if faults.iter().all(is_conflict) {
        // Both versions of each line stay; merging them is what sync is for.
        let marks = " -e '/^<<<<<<< /d' -e '/^||||||| /d' -e '/^=======$/d' -e '/^>>>>>>> /d'";
        return error.fix(format!("{} && cleo sync {file}", without(marks, path)));
    }
    if faults.iter().all(is_no_task) {
        return error.fix(format!("{} && cleo sync {file}", without(&drop, path)));
    }
    let error = error.fix(look(path, &[first.place.line]));
    let id = |fault: &Fault| fault.id.as_deref()?.parse::<TaskId>().ok();
    match faults.iter().map(id).collect::<Option<Vec<TaskId>>>() {
        None => error,
        Some(ids) => {
            let lines: Vec<String> = ids.iter().map(TaskId::to_string).collect();
            error.or(
                format!("take {} as they are here", crate::id::list(&ids)),
                format!(
                    "{} && cleo export --format text | grep -E '^.\"id\":\"({})\"' >> {file} \
                     && cleo sync {file}",
                    without(&drop, path),
                    lines.join("|")
                ),
            )
        }
    }
}

/// Returns the command that takes lines out of a file. Not every `sed` can change one in place without
/// keeping what it was, so that goes.
fn without(lines: &str, path: &Path) -> String {
    let path = path.to_string_lossy();
    let (file, before) = (quote(&path), quote(&format!("{path}.before-sync")));
    format!("sed -i.before-sync{lines} {file} && rm {before}")
}
