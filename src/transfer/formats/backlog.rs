//! Backlog.md: one Markdown file a task, with YAML front matter and known sections.

use serde::Deserialize;

use super::{front, join_paragraphs, note_block, read_items};
use crate::task::rules::check_word;
use crate::task::{Note, Status, Task};
use crate::transfer::fields::{Fields, id as id_of, note, unique};
use crate::transfer::{Reading, Record, Reference, lines, moment};

/// Headings of sections and what they mean.
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
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(front::SIZE_MAX)]);
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
    let Ok(text) = std::str::from_utf8(lines::strip_mark(bytes)) else {
        return reading.fault(0, None, "the file is no UTF-8 text");
    };
    // A row of `=` alone is a heading in Markdown; only both ends make a conflict.
    let has_ends = text.contains("<<<<<<<") && text.contains(">>>>>>>");
    let is_conflict = |line: &str| has_ends && lines::is_conflict(line.as_bytes());
    if let Some(at) = text.lines().position(is_conflict) {
        return reading.fault(at + 1, None, "git left a conflict here");
    }
    match front::read(text) {
        Ok((fields, body)) => read_task(fields, body, area, config, reading),
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
    let depends = fields.references("dependencies", id_of);
    fields.drop(&["subtasks"]);
    let (key, alias) = normalize(&id);
    let mut record = Record::new(reading, 1, id);
    (record.key, record.alias) = (key, alias);
    record.told = fields.find_parts(&[
        ("priority", "priority"),
        ("labels", "labels"),
        ("files", "modified_files"),
    ]);
    record.told.extend(is_part.then_some("type"));
    record.told.extend(parent.is_some().then_some("parent"));
    record.parents = parent.iter().map(|id| reference(id)).collect();
    let depends = depends.iter().filter(|id| !id.is_empty());
    record.depends = depends.map(|id| reference(id)).collect();
    fill(&mut record.task, &mut fields);
    for (name, text) in split_sections(body) {
        record.told.extend(match name {
            "plan" => Some("description"),
            "description" | "acceptance" | "deliverables" => Some(name),
            _ => None,
        });
        fill_section(&mut record.task, &mut fields, name, text);
    }
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
    let names = fields.get("assignee").cloned();
    task.assigned_agent = match fields.set("assignee").as_slice() {
        [name] if check_word("assignee", Some(name)).is_ok() => Some(name.clone()),
        _ => None,
    };
    fields.keep("assignee", names);
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
        note_block(task, "backlog", Some("a draft"));
    }
    if area == Area::Archive {
        task.archived_at = Some(task.updated_at.clone()).filter(|at| !at.is_empty());
    }
    let completed = fields.time("completed_date");
    task.completed_at = completed.filter(|_| task.status == Status::Done);
}

/// Splits a body into its known sections, with what their headings mean. What tools put between marks
/// (`<!-- …:BEGIN -->`) holds no heading.
fn split_sections(body: &str) -> Vec<(&'static str, String)> {
    let is_mark = |line: &str, end: &str| {
        let line = line.trim();
        line.starts_with("<!-- ") && line.ends_with(&format!("{end} -->"))
    };
    let mut sections = vec![("description", String::new())];
    let (mut marked, mut fenced) = (false, false);
    for line in body.split_inclusive('\n') {
        if !marked && is_mark(line, "BEGIN") {
            marked = true;
        } else if marked && is_mark(line, "END") {
            (marked, fenced) = (false, false);
        } else if let Some(meaning) = find_heading(line).filter(|_| !marked && !fenced) {
            sections.push((meaning, String::new()));
        } else if let Some((_, text)) = sections.last_mut() {
            fenced ^= line.trim_start().starts_with("```");
            text.push_str(line);
        }
    }
    sections.retain(|(_, text)| !text.trim().is_empty());
    sections
}

fn find_heading(line: &str) -> Option<&'static str> {
    let title = line.strip_prefix("## ")?.trim().to_lowercase();
    let title = title.strip_suffix(" (optional)").unwrap_or(&title);
    let mut headings = HEADINGS.iter().filter(|(name, _)| *name == title);
    headings.next().map(|(_, meaning)| *meaning)
}

/// Puts what a section says into a task; what fits nowhere stays among its fields.
fn fill_section(task: &mut Task, fields: &mut Fields, name: &str, text: String) {
    let text = text.trim_matches(['\n', '\r']);
    let mut describe = |text: String| {
        let before = std::mem::take(&mut task.description);
        task.description = join_paragraphs([Some(before), Some(text)]);
    };
    match name {
        "description" => describe(text.to_string()),
        "plan" => describe(format!("## Implementation Plan\n\n{text}")),
        "acceptance" => task.acceptance = take_criteria("acceptance_checked", text, fields),
        "deliverables" => task.deliverables = take_criteria("done_checked", text, fields),
        "comments" => task.notes.extend(read_comments(text, &task.updated_at)),
        "notes" => task.notes.extend(note(&task.updated_at, "backlog", text)),
        "summary" => {
            let text = format!("Final Summary\n\n{text}");
            task.notes.extend(note(&task.updated_at, "backlog", text));
        }
        other => fields.keep(&format!("section_{other}"), text),
    }
}

/// Reads `- [x] #1 text`, with or without box and number; which are checked is kept apart.
fn take_criteria(name: &str, text: &str, fields: &mut Fields) -> Vec<String> {
    let (all, checked): (Vec<String>, Vec<bool>) = read_items(text).into_iter().unzip();
    if checked.contains(&true) {
        fields.keep(name, checked);
    }
    let without_number = |item: String| match item.strip_prefix('#').map(|it| it.split_once(' ')) {
        Some(Some((number, rest))) if number.bytes().all(|it| it.is_ascii_digit()) => {
            rest.trim().to_string()
        }
        _ => item,
    };
    unique(all.into_iter().map(without_number).collect())
}

/// Reads comments: `author:` and `created:`, a line of dashes, the text, a line of dashes.
fn read_comments(text: &str, at: &str) -> Vec<Note> {
    let lines: Vec<&str> = text.lines().collect();
    let parts = lines.split(|line| line.trim_end() == "---");
    let parts: Vec<&[&str]> = parts.collect();
    let notes = parts.chunks_exact(2).filter_map(|parts| {
        let mut heads = parts[0].iter().rev();
        let author = heads.clone().find_map(|line| line.strip_prefix("author:"));
        let created = heads.find_map(|line| line.strip_prefix("created:"));
        let at = created.map_or(Some(at.to_string()), moment::read);
        let author = author.map_or("backlog", str::trim);
        note(
            &at.unwrap_or_default(),
            author,
            parts[1].join("\n").trim_end(),
        )
    });
    notes.collect()
}
