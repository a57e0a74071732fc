//! Tasks of other tools, and of other copies of cleo: [`formats`] parses each kind of file to a [`Reading`]. Pure.

pub(crate) mod detect;
mod fields;
pub(crate) mod formats;
mod lines;
mod moment;
pub(crate) mod report;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;

use foldhash::fast::RandomState;
use serde::Serialize;

use self::report::Report;
use crate::phase::Phase;
use crate::task::Task;
use crate::words::closed;

/// Maximum size of the input, in bytes.
pub(crate) const FILE_MAX: u64 = 256 << 20;

closed! {
    /// A kind of file that tasks come from.
    #[derive(Default, clap::ValueEnum)]
    Format, "kind of file":
    /// cleo's own JSON lines
    #[default]
    Cleo = "cleo",
    /// CLEO todo.json, its archive, packages and exports
    Todo = "todo",
    /// beads issues.jsonl
    Beads = "beads",
    /// Task Master tasks.json
    Taskmaster = "taskmaster",
    /// Folder of Backlog.md
    Backlog = "backlog",
    /// Taskwarrior `task export`
    Taskwarrior = "taskwarrior",
}

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Place {
    /// The file, below the folder that was named; none when there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// Its line, from 1; 0 when the fault is about the whole file.
    pub(crate) line: usize,
}

/// A fault in a file: it cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Fault {
    #[serde(flatten)]
    pub(crate) place: Place,
    /// Id of the task in the file, where it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = (self.place.line > 0).then(|| format!("line {}", self.place.line));
        let id = self.id.as_ref().map(|id| format!("({id})"));
        let place = [self.place.file.clone(), line, id].into_iter().flatten();
        let place: Vec<String> = place.collect();
        write!(formatter, "{}: {}", place.join(" "), self.message)
    }
}

/// A reference to another task as it is written in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) given: String,
    /// Possible keys; the first that exists counts.
    pub(crate) readings: Vec<String>,
}

impl Reference {
    /// Returns a reference that can mean one id only.
    pub(crate) fn to_id(id: &str) -> Reference {
        Reference {
            given: id.to_string(),
            readings: vec![id.to_string()],
        }
    }
}

/// A task as it is written in a file. Its references are not resolved yet.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) place: Place,
    /// Its id in the file.
    pub(crate) id: String,
    /// The id in the form that references have.
    pub(crate) key: String,
    /// Another name for references, if no other task has it.
    pub(crate) alias: Option<String>,
    /// Whether another line with the same id and time of creation is the same task.
    pub(crate) repeats: bool,
    /// The task without id, parent and dependencies. An unknown time is an empty text.
    pub(crate) task: Task,
    /// Possible parents; the first that exists counts.
    pub(crate) parents: Vec<Reference>,
    pub(crate) depends: Vec<Reference>,
    pub(crate) has_priority: bool,
    pub(crate) has_labels: bool,
}

/// The tasks that were read from a file, and the settings of the reader.
pub(crate) struct Reading {
    pub(crate) format: Format,
    /// The time of the import, RFC 3339 in UTC: a task that waits for a later one is blocked.
    pub(crate) now: String,
    /// Name of the current file, if there are several.
    pub(crate) file: Option<String>,
    /// Whether the tasks of the file are archived already.
    pub(crate) is_archive: bool,
    pub(crate) records: Vec<Record>,
    pub(crate) phases: Vec<Phase>,
    /// Keys of skipped tasks, with their uid and whether they are done.
    pub(crate) left: HashMap<String, (String, bool), RandomState>,
    pub(crate) report: Report,
}

impl Reading {
    pub(crate) fn new(format: Format, now: &str) -> Reading {
        Reading {
            format,
            now: now.to_string(),
            file: None,
            is_archive: false,
            records: Vec::new(),
            phases: Vec::new(),
            left: HashMap::default(),
            report: Report::new(format),
        }
    }

    /// Reads a document. A folder of Backlog.md is none.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        match self.format {
            Format::Cleo => formats::cleo::read(bytes, self),
            Format::Beads => formats::beads::read(bytes, self),
            Format::Todo => formats::todo::read(bytes, self),
            Format::Taskmaster => formats::taskmaster::read(bytes, self),
            Format::Taskwarrior => formats::taskwarrior::read(bytes, self),
            Format::Backlog => {}
        }
    }

    /// Returns a line of the file that is read.
    fn line_place(&self, line: usize) -> Place {
        let file = self.file.clone();
        Place { file, line }
    }

    pub(crate) fn add_fault(&mut self, line: usize, id: Option<&str>, message: impl Into<String>) {
        let place = self.line_place(line);
        self.report.faults.add(|| Fault {
            place,
            id: id.map(str::to_string),
            message: message.into(),
        });
    }

    pub(crate) fn report_left_out(&mut self, id: &str, reason: &str) {
        self.left.insert(id.to_string(), (String::new(), false));
        self.report.add_left_out(id, reason);
    }
}
