//! Tasks of other tools, and of other copies of cleo. [`formats`] reads each kind of file into
//! [`Record`]s, [`plan`] decides which task each becomes.
//! Pure: bytes come in, and what was found goes out.

pub(crate) mod circles;
pub(crate) mod detect;
mod fields;
pub(crate) mod formats;
mod lines;
pub(crate) mod markdown;
mod moment;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod silent;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::silent::Silent;
use crate::error::Result;
use crate::phase::Phase;
use crate::task::Task;

/// What a part of a reader gives: a value, or what is wrong with the text.
type Read<T, E = String> = std::result::Result<T, E>;

pub(crate) use lines::{FILE_MAX, LINE_MAX, Share};

/// A kind of file that tasks come from.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// cleo's own JSON lines
    Cleo,
    /// CLEO `todo.json`, its archive, packages and exports
    Todo,
    /// beads JSON lines (`issues.jsonl`)
    Beads,
    /// Task Master `tasks.json`
    Taskmaster,
    /// Backlog.md folder
    Backlog,
    /// Taskwarrior `task export`
    Taskwarrior,
}

impl Format {
    /// All formats.
    pub(crate) const ALL: [Format; 6] = [
        Format::Cleo,
        Format::Todo,
        Format::Beads,
        Format::Taskmaster,
        Format::Backlog,
        Format::Taskwarrior,
    ];

    /// Finds the format that a word names.
    pub(crate) fn named(word: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.word() == word)
    }

    /// Returns the word for it, as in `--from` and in `extra.origin.format`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Format::Cleo => "cleo",
            Format::Todo => "todo",
            Format::Beads => "beads",
            Format::Taskmaster => "taskmaster",
            Format::Backlog => "backlog",
            Format::Taskwarrior => "taskwarrior",
        }
    }
}

/// Where something stands.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Place {
    /// The file, below the folder that was named; none when there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// Its line, from 1; 0 when the fault is about the whole file.
    pub(crate) line: usize,
}

impl Place {
    /// A line of the only file.
    pub(crate) fn line(line: usize) -> Place {
        Place { file: None, line }
    }
}

/// Something that cannot be taken over as it stands.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Fault {
    /// Where.
    #[serde(flatten)]
    pub(crate) place: Place,
    /// Id of the task in its file, where it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// What is wrong.
    pub(crate) message: String,
}

/// A reference to another task as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// As it was written.
    pub(crate) given: String,
    /// The ids that it may mean; the first that is there counts.
    pub(crate) readings: Vec<String>,
}

impl Reference {
    /// A reference that can mean one id only.
    pub(crate) fn to(id: &str) -> Reference {
        Reference {
            given: id.to_string(),
            readings: vec![id.to_string()],
        }
    }
}

/// A task as it stands in a file. What of it refers to other tasks is not resolved yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    /// Where it stands.
    pub(crate) place: Place,
    /// Its id there.
    pub(crate) id: String,
    /// The id as references are compared with it.
    pub(crate) key: String,
    /// Another name that references may use, if nothing else has it.
    pub(crate) alias: Option<String>,
    /// Whether a line with the same id and time of creation is the same task once more.
    pub(crate) repeats: bool,
    /// The task; id, parent and dependencies stand below. No time of creation is an empty text.
    pub(crate) task: Task,
    /// What it is a part of; the first that is there counts.
    pub(crate) parents: Vec<Reference>,
    /// What must be done first.
    pub(crate) depends: Vec<Reference>,
    /// What its file says nothing of.
    pub(crate) silent: Silent,
}

/// What a reader finds.
#[derive(Debug)]
pub(crate) enum Item {
    /// A task.
    Record(Box<Record>),
    /// A task that is not taken over.
    LeftOut {
        /// Its id.
        id: String,
        /// Why.
        reason: &'static str,
    },
    /// A task that is taken over otherwise than it stands there; the task itself follows.
    Changed {
        /// Its id.
        id: String,
        /// What was changed.
        reason: String,
    },
    /// A phase of the project.
    Phase(Box<Phase>),
    /// Something that cannot be read.
    Fault(Fault),
    /// The next lines are those of another reader.
    Turn,
}

/// Takes what a reader finds, in the order of the file. An error ends the reading.
pub(crate) type Sink<'a> = dyn FnMut(Item) -> Result<()> + 'a;

/// What a reader has to know beside the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    /// The time of the import, RFC 3339 in UTC: what waits for a later one is blocked.
    pub(crate) now: &'a str,
    /// Name of the file in faults, when there are several.
    pub(crate) file: Option<&'a str>,
    /// Whether the tasks of this file are put away already.
    pub(crate) archived: bool,
    /// Which of its lines are read.
    pub(crate) share: Share,
}

impl<'a> Setting<'a> {
    /// A single file that is read at `now`.
    pub(crate) fn at(now: &'a str) -> Setting<'a> {
        Setting {
            now,
            file: None,
            archived: false,
            share: Share::ALL,
        }
    }

    /// Names a line of the file.
    pub(crate) fn place(&self, line: usize) -> Place {
        Place {
            file: self.file.map(str::to_string),
            line,
        }
    }
}
