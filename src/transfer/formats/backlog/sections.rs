//! Sections of the body of a file of Backlog.md, and what they say of its task.

use serde_json::Value;

use crate::task::{Note, Task};
use crate::transfer::fields::{Fields, note, unique};
use crate::transfer::formats::too_much;
use crate::transfer::moment;

/// The known sections of a body, in the order in which they stand there.
#[derive(Debug, Default)]
pub(super) struct Sections {
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

/// Returns `true` for the mark `<!-- …:BEGIN -->` or its `END`.
fn is_mark(line: &str, end: &str) -> bool {
    let line = line.trim();
    line.starts_with("<!-- ") && line.ends_with(&format!("{end} -->"))
}

impl Sections {
    /// Reads a body.
    pub(super) fn read(body: &str) -> Sections {
        let mut sections = Sections::default();
        let mut text = String::new();
        let (mut name, mut marked, mut fenced) = ("description", false, false);
        for line in body.split_inclusive('\n') {
            if !marked && is_mark(line, "BEGIN") {
                marked = true;
            } else if marked && is_mark(line, "END") {
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

    /// Returns the parts of a task that the sections tell.
    pub(super) fn told(&self) -> Vec<&'static str> {
        let part = |(name, _): &(&'static str, String)| match *name {
            "plan" => Some("description"),
            "description" | "acceptance" | "deliverables" => Some(*name),
            _ => None,
        };
        self.found.iter().filter_map(part).collect()
    }

    /// Puts what the sections say into a task; what fits nowhere stays among its fields.
    pub(super) fn fill(self, task: &mut Task, fields: &mut Fields) {
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
    match too_much(name, &all) {
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
