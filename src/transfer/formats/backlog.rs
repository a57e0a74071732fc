//! Backlog.md: one Markdown file a task, with YAML front matter and known sections.

mod front;
mod sections;

use serde::Deserialize;
use serde_json::Value;

use self::front::{read_front, split};
use self::sections::Sections;
use crate::task::rules::check_word;
use crate::task::{Status, Task};
use crate::transfer::fields::{Fields, note, text_of, unique};
use crate::transfer::{Reading, Record, Reference, lines};

/// Largest front matter, in bytes.
const FRONT_MAX: usize = 256 << 10;

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

    /// Returns what a status means: the last word is done, the first or the default one pending.
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
pub(crate) fn read(bytes: &[u8], area: Area, config: &Config, reading: &mut Reading) {
    let Ok(text) = std::str::from_utf8(lines::unmarked(bytes)) else {
        return reading.fault(0, None, "the file is no UTF-8 text");
    };
    // A row of `=` alone is a heading in Markdown; only both ends make a conflict.
    let has_ends = text.contains("<<<<<<<") && text.contains(">>>>>>>");
    let is_conflict = |line: &str| has_ends && lines::is_conflict(line.as_bytes());
    if let Some(at) = text.lines().position(is_conflict) {
        return reading.fault(at + 1, None, "git left a conflict here");
    }
    let (front, body) = match split(text) {
        Ok(parts) => parts,
        Err(message) => return reading.fault(1, None, message),
    };
    match read_front(front) {
        Ok(fields) => read_task(fields, body, area, config, reading),
        Err((line, message)) => reading.fault(line, None, message),
    }
}

/// Returns an id as references are compared: `BACK-217.01` as `back-217.1`. The second form is the
/// number alone, for references by a prefix that was renamed.
fn normalize(id: &str) -> (String, Option<String>) {
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
    let (exact, by_number) = normalize(given);
    Reference {
        given: given.to_string(),
        readings: std::iter::once(exact).chain(by_number).collect(),
    }
}

fn read_task(mut fields: Fields, body: &str, area: Area, config: &Config, reading: &mut Reading) {
    let Some(id) = fields.id("id").filter(|id| !id.trim().is_empty()) else {
        return reading.no_id(1, &fields);
    };
    let is_part = id.contains('.');
    let above = || id.rsplit_once('.').map(|(above, _)| above.to_string());
    let parent = fields.text("parent_task_id").or_else(above);
    // A list of ids, or one of them.
    let depends = match fields.word("dependencies") {
        Some(_) => unique(fields.text("dependencies").into_iter().collect()),
        None => fields.ids("dependencies"),
    };
    fields.drop(&["subtasks"]);
    let (key, alias) = normalize(&id);
    let mut record = Record::new(reading, 1, id);
    (record.key, record.alias) = (key, alias);
    record.told = fields.told(&[
        ("priority", "priority"),
        ("labels", "labels"),
        ("files", "modified_files"),
    ]);
    record.told.extend(is_part.then_some("type"));
    record.told.extend(parent.is_some().then_some("parent"));
    record.parents = parent.iter().map(|id| reference(id)).collect();
    record.depends = depends.iter().map(|id| reference(id)).collect();
    fill(&mut record.task, &mut fields);
    let sections = Sections::read(body);
    record.told.extend(sections.told());
    sections.fill(&mut record.task, &mut fields);
    set_status(&mut record.task, &mut fields, area, config);
    if is_part {
        record.task.kind = "subtask".parse().unwrap_or_default();
    }
    reading.add(record, fields);
}

fn fill(task: &mut Task, fields: &mut Fields) {
    task.title = fields.id("title").unwrap_or_default();
    fields.take_times(task, "created_date", "updated_date");
    task.due = fields.time("due_date");
    let mut labels = fields.set("labels");
    labels.extend(fields.word("type").map(str::to_string));
    let milestone = fields.word("milestone");
    labels.extend(milestone.map(|name| format!("milestone:{name}")));
    task.labels = unique(labels);
    task.priority = fields.parsed("priority").unwrap_or(task.priority);
    task.files = fields.files("modified_files");
    let names = match fields.get("assignee") {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(all)) => all.iter().filter_map(text_of).collect(),
        _ => Vec::new(),
    };
    let fits = |name: &String| check_word("assignee", Some(name)).is_ok();
    let mut names = names.into_iter().filter(fits);
    task.assigned_agent = names.next().filter(|_| names.next().is_none());
}

fn set_status(task: &mut Task, fields: &mut Fields, area: Area, config: &Config) {
    let status = config.status(fields.word("status").unwrap_or_default());
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
    task.completed_at = completed.filter(|_| task.status == Status::Done);
}
