//! Backlog.md: one Markdown file a task, with YAML front matter and known sections.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{blank, emit, keep_rest, kind};
use crate::error::Result;
use crate::task::{Note, Priority, Status, Task};
use crate::transfer::fields::{Fields, note, unique};
use crate::transfer::silent::{Part, Silent, Told};
use crate::transfer::{Fault, Format, Item, Read, Record, Reference, Setting, Sink, lines, moment};

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
pub enum Area {
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
    pub const ALL: [(Area, &'static str); 4] = [
        (Area::Tasks, "tasks"),
        (Area::Completed, "completed"),
        (Area::Drafts, "drafts"),
        (Area::Archive, "archive/tasks"),
    ];
}

/// What `config.yml` says of statuses.
#[derive(Clone, Debug, Deserialize)]
#[serde(default)]
pub struct Config {
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
    pub fn read(bytes: &[u8]) -> Config {
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
pub fn read(
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

/// Splits a file into front matter and body.
fn parts(text: &str) -> Read<(&str, &str)> {
    let mut place = 0;
    let mut start = None;
    for line in text.split_inclusive('\n') {
        let is_mark = line.trim_end() == "---";
        match start {
            None if is_mark => start = Some(place + line.len()),
            None => return Err("the file does not begin with front matter (---)".to_string()),
            Some(from) if is_mark => return Ok((&text[from..place], &text[place + line.len()..])),
            Some(from) if place - from > FRONT_MAX => break,
            Some(_) => {}
        }
        place += line.len();
    }
    match start {
        None => Err("the file is empty".to_string()),
        Some(_) => Err("the front matter has no end (---)".to_string()),
    }
}

fn front_matter(text: &str) -> Read<Fields, (usize, String)> {
    let quoted = names_quoted(text);
    let map: Read<Map<String, Value>, _> = crate::yaml::from_str(&quoted);
    map.map(Fields::new).map_err(|cause| {
        let line = cause.location().map_or(0, |place| place.line() + 1);
        let what = cause.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        (line, format!("the front matter is no YAML: {what}"))
    })
}

/// Puts quotes around names such as `@dana`, which the tool itself writes without.
fn names_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let holds_names = ["assignee:", "reporter:", "- @"]
            .iter()
            .any(|head| start.starts_with(head));
        if !holds_names {
            quoted.push_str(line);
            continue;
        }
        let mut before = ' ';
        let mut open = false;
        for c in line.chars() {
            if c == '@' && matches!(before, ' ' | '[' | ',' | '\t') {
                quoted.push('\'');
                open = true;
            } else if open && matches!(c, ',' | ']' | ' ' | '\r' | '\n' | '\'' | '#') {
                quoted.push('\'');
                open = false;
            }
            quoted.push(c);
            before = c;
        }
        if open {
            quoted.push('\'');
        }
    }
    quoted
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
    let faults = std::mem::take(&mut fields.faults);
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
    emit(record, &faults, setting, sink)
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
        Some(Value::Array(all)) => all
            .iter()
            .filter_map(Value::as_str)
            .map(String::from)
            .collect(),
        _ => Vec::new(),
    };
    let fits = |name: &String| crate::task::draft::check_word("assignee", Some(name)).is_ok();
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

/// The known sections of a body, in the order in which they stand there.
#[derive(Debug, Default)]
struct Sections {
    found: Vec<(&'static str, String)>,
}

/// Headings of sections and what is meant by them.
const HEADINGS: [(&str, &str); 9] = [
    ("description", "description"),
    ("acceptance criteria", "acceptance"),
    ("definition of done", "deliverables"),
    ("implementation plan", "plan"),
    ("implementation notes", "notes"),
    ("notes", "notes"),
    ("comments", "comments"),
    ("final summary", "summary"),
    ("references", "references"),
];

fn heading(line: &str) -> Option<&'static str> {
    let title = line.strip_prefix("## ")?.trim().to_lowercase();
    let title = title.strip_suffix(" (optional)").unwrap_or(&title);
    HEADINGS
        .iter()
        .find(|(name, _)| *name == title)
        .map(|(_, meaning)| *meaning)
}

/// Says whether a line is the mark `<!-- …:BEGIN -->` or its `END`.
fn mark(line: &str, end: &str) -> bool {
    let line = line.trim();
    line.starts_with("<!-- ") && line.ends_with(&format!("{end} -->"))
}

impl Sections {
    fn of(body: &str) -> Sections {
        let mut sections = Sections::default();
        let mut text = String::new();
        let (mut name, mut marked, mut fenced) = ("description", false, false);
        for line in body.split_inclusive('\n') {
            if !marked && mark(line, "BEGIN") {
                marked = true;
            } else if marked && mark(line, "END") {
                (marked, fenced) = (false, false);
            } else if let Some(next) = heading(line).filter(|_| !marked && !fenced) {
                sections.add(name, std::mem::take(&mut text));
                name = next;
            } else {
                fenced ^= line.trim_start().starts_with("```");
                text.push_str(line);
            }
        }
        sections.add(name, text);
        sections
    }

    fn add(&mut self, name: &'static str, text: String) {
        let text = text.trim_matches(['\n', '\r']);
        if !text.trim().is_empty() {
            self.found.push((name, text.to_string()));
        }
    }

    /// Notes which parts of a task the sections tell.
    fn told(&self, silent: Silent) -> Silent {
        let part = |name: &str| match name {
            "description" | "plan" => Some(Part::Description),
            "acceptance" => Some(Part::Acceptance),
            "deliverables" => Some(Part::Deliverables),
            _ => None,
        };
        let parts = self.found.iter().filter_map(|(name, _)| part(name));
        parts.fold(silent, |silent, part| silent.unless(part, true))
    }

    fn fill(self, task: &mut Task, fields: &mut Fields) {
        let mut description: Vec<String> = Vec::new();
        for (name, text) in self.found {
            match name {
                "description" => description.push(text),
                "plan" => description.push(format!("## Implementation Plan\n\n{text}")),
                "acceptance" => task.acceptance = criteria("acceptance_checked", &text, fields),
                "deliverables" => task.deliverables = criteria("done_checked", &text, fields),
                "comments" => task.notes.extend(comments(&text, &task.updated_at)),
                "notes" => task.notes.extend(note(&task.updated_at, "backlog", text)),
                "summary" => {
                    let text = format!("Final Summary\n\n{text}");
                    task.notes.extend(note(&task.updated_at, "backlog", text));
                }
                other => fields.keep(&format!("section_{other}"), text),
            }
        }
        task.description = description.join("\n\n");
    }
}

/// Reads `- [x] #1 text`, with or without box and number; which are checked is kept apart.
fn criteria(name: &str, text: &str, fields: &mut Fields) -> Vec<String> {
    let (mut all, mut checked): (Vec<String>, Vec<Value>) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let Some(item) = line.trim_start().strip_prefix("- ") else {
            // A line that begins no item goes on with the one before.
            match all.last_mut() {
                Some(last) => *last = format!("{last} {}", line.trim()),
                None => all.push(line.trim().to_string()),
            }
            continue;
        };
        let is_checked = item.starts_with("[x]") || item.starts_with("[X]");
        let item = if is_checked || item.starts_with("[ ]") {
            &item[3..]
        } else {
            item
        };
        all.push(without_number(item.trim()).to_string());
        checked.push(is_checked.into());
    }
    if checked.contains(&Value::Bool(true)) {
        fields.keep(name, checked);
    }
    let all = unique(all);
    match super::too_much(name, &all) {
        None => all,
        Some(_) => {
            fields.keep(&format!("{name}_text"), text);
            Vec::new()
        }
    }
}

fn without_number(item: &str) -> &str {
    let number = item.strip_prefix('#').and_then(|rest| rest.split_once(' '));
    match number {
        Some((digits, rest)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => rest.trim(),
        _ => item,
    }
}

/// Reads comments: `author:` and `created:`, a line of dashes, the text, a line of dashes.
fn comments(text: &str, at: &str) -> Vec<Note> {
    let mut notes = Vec::new();
    let (mut author, mut created) = ("backlog".to_string(), at.to_string());
    let (mut inside, mut body) = (false, String::new());
    for line in text.lines() {
        if line.trim_end() == "---" {
            if inside {
                notes.extend(note(&created, &author, body.trim_end()));
                body.clear();
                (author, created) = ("backlog".to_string(), at.to_string());
            }
            inside = !inside;
        } else if inside {
            body.push_str(line);
            body.push('\n');
        } else if let Some(name) = line.strip_prefix("author:") {
            author = name.trim().to_string();
        } else if let Some(time) = line.strip_prefix("created:") {
            created = moment::read(time).unwrap_or_default();
        }
    }
    notes.extend(note(&created, &author, body.trim_end()).filter(|_| inside));
    notes
}
