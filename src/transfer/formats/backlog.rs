//! Backlog.md: one Markdown file a task, with YAML front matter and known sections.

use serde::Deserialize;

use super::{front, join_paragraphs, note_block, read_items};
use crate::task::rules::check_word;
use crate::task::{Note, Status, Task};
use crate::transfer::fields::{Fields, id as id_of, make_note, remove_duplicates};
use crate::transfer::{Reading, Record, Reference, lines, moment};

/// Headings of the sections that the tool writes. Any other heading belongs to the section that it is in.
const HEADINGS: [&str; 9] = [
    "description",
    "acceptance criteria",
    "definition of done",
    "implementation plan",
    "implementation notes",
    "notes",
    "comments",
    "final summary",
    "references",
];

/// The folder of a task decides what its status means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    Tasks,
    /// Done, whatever the file says.
    Completed,
    /// Not ready to be worked on.
    Drafts,
    /// Cancelled, or done.
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

/// The statuses of `config.yml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Config {
    statuses: Vec<String>,
    default_status: Option<String>,
}

impl Config {
    /// Reads `config.yml`. An invalid one counts as missing.
    pub(crate) fn read(bytes: &[u8]) -> Config {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(front::SIZE_MAX)]);
        crate::yaml::from_str(&text).unwrap_or_default()
    }

    /// Returns what a status means: the last of those that are listed is done, the first or the default one pending.
    fn status(&self, word: &str) -> Status {
        let is_default = self.default_status.as_ref();
        let is_default = is_default.is_some_and(|it| it.eq_ignore_ascii_case(word));
        let listed = self.statuses.iter();
        match listed.rev().position(|it| it.eq_ignore_ascii_case(word)) {
            Some(0) => Status::Done,
            Some(back) if back + 1 == self.statuses.len() => Status::Pending,
            _ if is_default => Status::Pending,
            Some(_) => Status::Active,
            None => match word.to_lowercase().as_str() {
                "won't do" | "wont do" | "wontfix" | "rejected" | "abandoned" => Status::Cancelled,
                word => word.parse().unwrap_or(Status::Pending),
            },
        }
    }
}

/// Reads the file of one task.
pub(crate) fn read(bytes: &[u8], area: Area, config: &Config, reading: &mut Reading) {
    let Ok(text) = std::str::from_utf8(lines::strip_mark(bytes)) else {
        return reading.add_fault(0, None, "the file is not UTF-8 text");
    };
    // A row of `=` alone is a heading in Markdown; only both ends make a conflict.
    let is_conflict = |line: &str| line.starts_with("<<<<<<< ") && text.contains("\n>>>>>>> ");
    if let Some(at) = text.lines().position(is_conflict) {
        return reading.add_fault(at + 1, None, "git left a conflict here");
    }
    match front::read(text) {
        Ok((fields, body)) => read_task(fields, body, area, config, reading),
        Err((line, message)) => reading.add_fault(line, None, message),
    }
}

/// Returns a reference: `BACK-217.01` means `back-217.1`, or else the task with the number 217.1, whose prefix was
/// renamed.
fn parse_reference(given: &str) -> Reference {
    let id = given.trim().to_lowercase();
    let (prefix, number) = id.rsplit_once('-').unwrap_or(("", &id));
    let parts = number.split('.').map(|part| part.trim_start_matches('0'));
    let number = parts.collect::<Vec<_>>().join(".");
    let mut readings = vec![format!("{prefix}-{number}")];
    readings.extend((prefix != "draft").then(|| format!("#{number}")));
    Reference {
        given: given.to_string(),
        readings,
    }
}

fn read_task(mut fields: Fields, body: &str, area: Area, config: &Config, reading: &mut Reading) {
    let Some(id) = fields.id("id").filter(|id| !id.trim().is_empty()) else {
        return reading.no_id(1, &fields);
    };
    let above = id.rsplit_once('.').map(|(above, _)| above.to_string());
    let is_part = above.is_some();
    let parent = fields.text("parent_task_id").or(above);
    let depends = fields.references("dependencies", id_of).into_iter();
    fields.drop(&["subtasks"]);
    let mut names = parse_reference(&id).readings.into_iter();
    let mut record = Record::new(reading, 1, id, &fields);
    record.key = names.next().unwrap_or_default();
    record.alias = names.next();
    record.parents = parent.iter().map(|id| parse_reference(id)).collect();
    let depends = depends.filter(|id| !id.is_empty());
    record.depends = depends.map(|id| parse_reference(&id)).collect();
    fill_task(&mut record.task, &mut fields);
    for (heading, text) in split_sections(body) {
        fill_section(&mut record.task, &mut fields, heading, &text);
    }
    set_status(&mut record.task, &mut fields, area, config);
    if is_part {
        record.task.kind = "subtask".parse().unwrap_or_default();
    }
    reading.add(record, fields);
}

fn fill_task(task: &mut Task, fields: &mut Fields) {
    task.title = fields.id("title").unwrap_or_default();
    fields.take_times(task, "created_date", "updated_date");
    task.due = fields.time("due_date");
    let mut labels = fields.set("labels");
    labels.extend(fields.word("type").map(str::to_string));
    let milestone = fields.word("milestone");
    labels.extend(milestone.map(|name| format!("milestone:{name}")));
    task.labels = remove_duplicates(labels);
    task.priority = fields.parse_word("priority").unwrap_or(task.priority);
    task.files = fields.files("modified_files");
    let names = fields.get("assignee").cloned();
    task.assigned_agent = match fields.set("assignee").as_slice() {
        [name] if check_word("assignee", Some(name)).is_ok() => Some(name.clone()),
        _ => None,
    };
    fields.put_back("assignee", names);
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
    note_block(task, "backlog", (area == Area::Drafts).then_some("a draft"));
    let is_archived = area == Area::Archive && !task.updated_at.is_empty();
    task.archived_at = is_archived.then(|| task.updated_at.clone());
    let completed = fields.time("completed_date");
    task.completed_at = completed.filter(|_| task.status == Status::Done);
}

/// Splits a body into its known sections. Text between marks of the tool (`<!-- …:BEGIN -->`) and in a
/// block of code holds no heading.
fn split_sections(body: &str) -> Vec<(&'static str, String)> {
    let mut sections = vec![(HEADINGS[0], String::new())];
    let (mut marked, mut fenced) = (false, false);
    for line in body.split_inclusive('\n') {
        let mark = line.trim().strip_prefix("<!-- ").unwrap_or_default();
        let title = line.strip_prefix("## ").unwrap_or_default();
        let title = title.trim().to_lowercase();
        let title = title.strip_suffix(" (optional)").unwrap_or(&title);
        let heading = HEADINGS.iter().find(|known| **known == title);
        if mark.ends_with("BEGIN -->") {
            marked = true;
        } else if mark.ends_with("END -->") {
            (marked, fenced) = (false, false);
        } else if let Some(heading) = heading.filter(|_| !marked && !fenced) {
            sections.push((heading, String::new()));
        } else if let Some((_, text)) = sections.last_mut() {
            fenced ^= line.trim_start().starts_with("```");
            text.push_str(line);
        }
    }
    sections.retain(|(_, text)| !text.trim().is_empty());
    sections
}

/// Puts what a section says into a task; what fits nowhere stays among its fields.
fn fill_section(task: &mut Task, fields: &mut Fields, heading: &str, text: &str) {
    let text = text.trim_matches(['\n', '\r']);
    let note = |text: String| make_note(&task.updated_at, "backlog", text);
    match heading {
        "description" | "implementation plan" => {
            let is_plan = heading == "implementation plan";
            let head = is_plan.then_some("## Implementation Plan\n\n");
            let text = head.unwrap_or_default().to_string() + text;
            let before = std::mem::take(&mut task.description);
            task.description = join_paragraphs([Some(before), Some(text)]);
        }
        "acceptance criteria" => {
            task.acceptance = take_criteria("acceptance_checked", text, fields);
        }
        "definition of done" => {
            task.deliverables = take_criteria("done_checked", text, fields);
        }
        "comments" => task.notes.extend(read_comments(text, &task.updated_at)),
        "final summary" => task.notes.extend(note(format!("Final Summary\n\n{text}"))),
        "references" => fields.put_back("section_references", text),
        _ => task.notes.extend(note(text.to_string())),
    }
}

/// Reads `- [x] #1 text`, with or without box and number; which are checked is kept apart.
fn take_criteria(name: &str, text: &str, fields: &mut Fields) -> Vec<String> {
    let (all, checked): (Vec<String>, Vec<bool>) = read_items(text).into_iter().unzip();
    if checked.contains(&true) {
        fields.put_back(name, checked);
    }
    let without_number = |item: &String| {
        let rest = item.strip_prefix('#').unwrap_or_default();
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let text = rest.strip_prefix(' ').unwrap_or(item);
        text.trim().to_string()
    };
    remove_duplicates(all.iter().map(without_number).collect())
}

/// Reads comments: `author:` and `created:`, a line of dashes, the text, a line of dashes.
fn read_comments(text: &str, at: &str) -> Vec<Note> {
    let lines: Vec<&str> = text.lines().collect();
    let parts: Vec<&[&str]> = lines.split(|line| line.trim_end() == "---").collect();
    let notes = parts.chunks_exact(2).filter_map(|pair| {
        let head = pair[0].iter().rev();
        let find = |name| head.clone().find_map(|line| line.strip_prefix(name));
        let at = find("created:").map_or(Some(at.to_string()), moment::read);
        let author = find("author:").map_or("backlog", str::trim);
        let text = pair[1].join("\n");
        make_note(&at.unwrap_or_default(), author, text.trim_end())
    });
    notes.collect()
}
