//! What must hold for any bytes, for the fuzzers of this folder.

use std::borrow::Cow;

use crate::manifest::entry::Entry;
use crate::protocol::block;
use crate::skill::{Skill, Source, validate};
use crate::template::{Bindings, inject, split_at_tokens};
use crate::transfer::formats::backlog::{self, Area, Config};
use crate::transfer::{Format, Reading, detect};

/// Any bytes as a SKILL.md: nothing panics, every fault has a place in the file, and what the
/// strict judge takes the lenient reader can read.
pub fn front_matter(bytes: &[u8]) {
    let faults = validate::validate_bytes("folder", bytes);
    assert!(
        faults
            .iter()
            .all(|fault| fault.line >= 1 && fault.column >= 1)
    );
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let path = "folder/SKILL.md".to_string();
    let skill = Skill::read(
        "folder",
        Cow::Owned(text.to_string()),
        Source::Project,
        path,
    );
    assert!(
        !faults.is_empty() || skill.is_ok(),
        "valid and not readable"
    );
}

/// Any bytes as a file of tasks, for each reader: nothing panics, and every task has an id and a
/// title, which everything after the readers relies on.
pub fn import(bytes: &[u8]) {
    let _ = detect::detect(bytes);
    for format in Format::ALL {
        let mut reading = Reading::new(*format, "2026-01-26T09:00:00.000Z");
        match format {
            Format::Backlog => {
                backlog::read(bytes, Area::Tasks, &Config::read(bytes), &mut reading)
            }
            _ => reading.read(bytes),
        }
        for record in reading.records {
            assert!(!record.id.is_empty(), "a task without an id");
            assert!(
                !record.task.title.trim().is_empty(),
                "a task without a title"
            );
        }
    }
}

/// Any bytes as a line of the manifest: nothing panics, and a valid entry is the same after it was
/// written as a line and read again.
pub fn manifest_line(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(entry) = Entry::read(text) else {
        return;
    };
    let Ok(line) = entry.line() else {
        return;
    };
    assert!(!line.contains('\n'), "an entry is one line");
    let again = Entry::read(&line).expect("what was written can be read");
    assert_eq!(again.line().expect("it was a line before"), line);
}

/// Any template and any value: what is between the tokens stays byte for byte, a value goes in once
/// and is never looked at again, and the check of a prompt never panics.
pub fn template(parts: (&str, &str)) {
    let (template, value) = parts;
    let mut bindings = Bindings::new();
    bindings.set("TASK_TITLE", value);
    let injected = inject(template, &bindings);
    let own: usize = split_at_tokens(template)
        .map(|(literal, _)| literal.len())
        .sum();
    assert!(injected.text.len() >= own, "text of the template is lost");
    let mut rest = injected.text.as_str();
    for (literal, _) in split_at_tokens(template) {
        let place = rest.find(literal).expect("text of the template is kept");
        rest = &rest[place + literal.len()..];
    }
    if template == "{{TASK_TITLE}}" {
        assert_eq!(injected.text, value);
    }
    let _ = block::check(&injected.text);
}
