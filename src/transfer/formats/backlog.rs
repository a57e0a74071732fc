//! Backlog.md: one Markdown file a task, with YAML front matter and known sections.

mod front;
mod sections;

use serde::Deserialize;
use serde_json::Value;

use self::front::{front_matter, parts};
use self::sections::Sections;
use super::{Faults, blank, emit, keep_rest, kind};
use crate::error::Result;
use crate::task::{Priority, Status, Task};
use crate::transfer::fields::{Fields, note, text_of, unique};
use crate::transfer::silent::{Part, Silent, Told};
use crate::transfer::{Fault, Format, Item, Record, Reference, Setting, Sink, lines};

/// Largest front matter, in bytes.
const FRONT_MAX: usize = 256 << 10;

/// Fields that tell what not every task has; sections of the body tell the rest.
const TOLD: &Told = &[
    (Part::Priority, &["priority"]),
    (Part::Labels, &["labels"]),
    (Part::Files, &["modified_files"]),
];

/// The folder of a task decides what its status means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    /// `tasks/`
    Tasks,
    /// `completed/`: done, whatever the file says.
    Completed,
    /// `drafts/`: not ready to be worked on.
    Drafts,
    /// `archive/tasks/`: given up, or done.
    Archive,
}

impl Area {
    /// All areas with their folders, in the order in which they are read.
    pub(crate) const ALL: [(Area, &'static str); 4] = [
        (Area::Tasks, "tasks"),
        (Area::Completed, "completed"),
        (Area::Drafts, "drafts"),
        (Area::Archive, "archive/tasks"),
    ];
}

/// What `config.yml` says of statuses.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub(crate) struct Config {
    statuses: Vec<String>,
    default_status: Option<String>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            statuses: ["To Do", "In Progress", "Done"].map(String::from).to_vec(),
            default_status: None,
        }
    }
}

impl Config {
    /// Reads `config.yml`. What cannot be read counts as missing.
    pub(crate) fn read(bytes: &[u8]) -> Config {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(FRONT_MAX)]);
        let mut config: Config = crate::yaml::from_str(&text).unwrap_or_default();
        if config.statuses.is_empty() {
            config.statuses = Config::default().statuses;
        }
        config
    }

    /// Says what a status means: the last word is done, the first or the default one pending.
    fn status(&self, word: &str) -> Status {
        let same = |other: &String| other.eq_ignore_ascii_case(word);
        if self.statuses.last().is_some_and(same) {
            return Status::Done;
        }
        if self.statuses.first().is_some_and(same) || self.default_status.as_ref().is_some_and(same)
        {
            return Status::Pending;
        }
        if self.statuses.iter().any(same) {
            return Status::Active;
        }
        match word.to_lowercase().as_str() {
            "won't do" | "wont do" | "wontfix" | "rejected" | "abandoned" => Status::Cancelled,
            "to do" => Status::Pending,
            word => word.parse().unwrap_or(Status::Pending),
        }
    }
}

/// Reads the file of one task.
pub(crate) fn read(
    bytes: &[u8],
    area: Area,
    config: &Config,
    setting: &Setting<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let fault = |line: usize, message: String| {
        Item::Fault(Fault {
            place: setting.place(line),
            id: None,
            message,
        })
    };
    let Ok(text) = std::str::from_utf8(lines::unmarked(bytes)) else {
        return sink(fault(0, "the file is no UTF-8 text".to_string()));
    };
    // A row of `=` alone is a heading in Markdown; only both ends make a conflict.
    let has_ends = text.contains("<<<<<<<") && text.contains(">>>>>>>");
    let conflict = |line: &str| has_ends && lines::is_conflict(line.as_bytes());
    if let Some(at) = text.lines().position(conflict) {
        return sink(fault(at + 1, "git left a conflict here".to_string()));
    }
    match parts(text) {
        Ok((front, body)) => match front_matter(front) {
            Ok(fields) => one(fields, body, area, config, setting, sink),
            Err((line, message)) => sink(fault(line, message)),
        },
        Err(message) => sink(fault(1, message)),
    }
}

/// Writes an id as references are compared: `BACK-217.01` as `back-217.1`. The second form is the
/// number alone, for references by a prefix that was renamed.
fn normal(id: &str) -> (String, Option<String>) {
    let id = id.trim().to_lowercase();
    let is_number = id.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let (prefix, number) = match id.rsplit_once('-') {
        Some(parts) => parts,
        None if is_number => ("", id.as_str()),
        None => return (id, None),
    };
    let short = |part: &str| match part.trim_start_matches('0') {
        "" if !part.is_empty() => "0".to_string(),
        short => short.to_string(),
    };
    let number = number.split('.').map(short).collect::<Vec<_>>().join(".");
    let by_number = (prefix != "draft").then(|| format!("#{number}"));
    (format!("{prefix}-{number}"), by_number)
}

fn reference(given: &str) -> Reference {
    let (exact, by_number) = normal(given);
    Reference {
        given: given.to_string(),
        readings: std::iter::once(exact).chain(by_number).collect(),
    }
}

fn one(
    mut fields: Fields,
    body: &str,
    area: Area,
    config: &Config,
    setting: &Setting<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let Some(id) = fields.id("id").filter(|id| !id.trim().is_empty()) else {
        return sink(super::no_id(setting, 1, &fields));
    };
    let parent = fields.text("parent_task_id").or_else(|| above(&id));
    let depends = one_or_more(&mut fields, "dependencies");
    fields.drop(&["subtasks"]);
    let sections = Sections::of(body);
    let silent = sections
        .told(Silent::of(&fields, TOLD))
        .unless(Part::Kind, id.contains('.'))
        .unless(Part::Parent, parent.is_some());
    let mut task = task(&mut fields, sections);
    stand(&mut task, &mut fields, area, config);
    if id.contains('.') {
        task.kind = kind("subtask");
    }
    let faults = Faults::take(&mut fields);
    keep_rest(&mut task, Format::Backlog, fields.rest());
    let (key, alias) = normal(&id);
    let record = Record {
        place: setting.place(1),
        id,
        key,
        alias,
        repeats: false,
        task,
        parents: parent.iter().map(|id| reference(id)).collect(),
        depends: depends.iter().map(|id| reference(id)).collect(),
        silent,
    };
    emit(record, &faults, Format::Backlog, setting, sink)
}

/// Returns what a dotted id is a part of.
fn above(id: &str) -> Option<String> {
    id.rsplit_once('.').map(|(above, _)| above.to_string())
}

/// Takes a list of ids, or one of them.
fn one_or_more(fields: &mut Fields, name: &str) -> Vec<String> {
    match fields.word(name) {
        Some(_) => fields
            .text(name)
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect(),
        None => fields.ids(name),
    }
}

fn task(fields: &mut Fields, sections: Sections) -> Task {
    let mut task = blank();
    task.title = fields.id("title").unwrap_or_default();
    task.created_at = fields.time("created_date").unwrap_or_default();
    task.updated_at = fields
        .time("updated_date")
        .unwrap_or_else(|| task.created_at.clone());
    task.due = fields.time("due_date");
    task.labels = fields.set("labels");
    task.labels.extend(fields.word("type").map(str::to_string));
    let milestone = fields
        .word("milestone")
        .map(|name| format!("milestone:{name}"));
    task.labels.extend(milestone);
    task.labels = unique(std::mem::take(&mut task.labels));
    if let Some(Ok(priority)) = fields.word("priority").map(str::parse::<Priority>) {
        task.priority = priority;
        fields.drop(&["priority"]);
    }
    task.files = fields.files("modified_files");
    if let [only] = names(fields).as_slice() {
        task.assigned_agent = Some(only.clone());
    }
    sections.fill(&mut task, fields);
    task
}

fn names(fields: &Fields) -> Vec<String> {
    let names = match fields.get("assignee") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(all)) => all.iter().filter_map(text_of).collect(),
        _ => Vec::new(),
    };
    let fits = |name: &String| crate::task::rules::check_word("assignee", Some(name)).is_ok();
    names.into_iter().filter(fits).collect()
}

fn stand(task: &mut Task, fields: &mut Fields, area: Area, config: &Config) {
    let word = fields.word("status").unwrap_or_default().to_string();
    let status = config.status(&word);
    task.status = match area {
        Area::Tasks => status,
        Area::Completed => Status::Done,
        Area::Drafts => Status::Blocked,
        Area::Archive if status == Status::Done => Status::Done,
        Area::Archive => Status::Cancelled,
    };
    if area == Area::Drafts {
        task.notes
            .extend(note(&task.updated_at, "backlog", "Blocked: a draft"));
    }
    if area == Area::Archive {
        task.archived_at = Some(task.updated_at.clone()).filter(|at| !at.is_empty());
    }
    let completed = fields.time("completed_date");
    if task.status == Status::Done {
        task.completed_at = completed;
    }
}
