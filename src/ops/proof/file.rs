//! The check of an output file.

use std::fs;

use super::{Violation, violation};
use crate::clock::is_older;
use crate::error::{Code, Result};
use crate::file::unreadable;
use crate::id::digest;
use crate::manifest::is_placeholder;
use crate::markdown::{Section, remove_comments, sections};
use crate::store::SpawnRecord;
use crate::workspace::Workspace;

/// Largest output file that is read, in bytes. Its Markdown takes up to sixty times as much memory.
const FILE_MAX: u64 = 4 << 20;
/// Words for text that is still to be written.
const PUT_OFF: [&str; 2] = ["tbd", "todo"];

pub(super) fn check_file(
    workspace: &Workspace,
    file: &str,
    record: Option<&SpawnRecord>,
    required: &[String],
    violations: &mut Vec<Violation>,
) -> Result<Option<String>> {
    let path = match workspace.holding(file).confine(file) {
        Ok(path) => path,
        Err(error) => {
            violations.push(violation(error.code, "OUT-001", error.message));
            return Ok(None);
        }
    };
    let mut fail =
        |message: String| violations.push(violation(Code::OutputMissing, "OUT-001", message));
    let Ok(metadata) = fs::metadata(&path) else {
        fail(format!("{file} is not there"));
        return Ok(None);
    };
    if !metadata.is_file() || metadata.len() > FILE_MAX {
        fail(format!(
            "{file} is not a regular file of at most {FILE_MAX} bytes"
        ));
        return Ok(None);
    }
    if let Some(record) = record.filter(|record| is_older(metadata.modified().ok(), &record.at)) {
        fail(format!("{file} is older than the spawn of {}", record.at));
    }
    let bytes = fs::read(&path).map_err(|cause| unreadable(&path, cause))?;
    let text = String::from_utf8_lossy(&bytes);
    if text.trim().is_empty() {
        fail(format!("{file} is empty"));
        return Ok(Some(digest(&bytes)));
    }
    let visible = remove_comments(&text);
    for fault in check_headings(&sections(&visible), required) {
        fail(format!("{file} {fault}"));
    }
    Ok(Some(digest(&bytes)))
}

/// Lists what is missing in the headings. The title does not count as a section.
fn check_headings(found: &[Section<'_>], required: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    let title = found.iter().position(|section| section.level == 1);
    match title.map(|at| found[at].title) {
        // A title may be the word for an element: `# <dialog>`.
        Some(title) if !title.is_empty() && !is_placeholder(title) => {}
        Some(title) => faults.push(format!("has the title `{title}`, which is not filled in")),
        None => faults.push("has no `# <title>`".to_string()),
    }
    for name in required {
        let mut others = found
            .iter()
            .enumerate()
            .filter(|(at, _)| Some(*at) != title);
        match others.find(|(_, section)| strip_emphasis(section.title).eq_ignore_ascii_case(name)) {
            None => faults.push(format!("has no section `## {name}`")),
            Some((_, section)) if section.is_empty => {
                faults.push(format!("is not done: the section {name} is empty"));
            }
            // Without a body of its own it has a subsection.
            Some((_, section))
                if !section.body.trim().is_empty() && !is_filled_in(section.body) =>
            {
                faults.push(format!("is not done: the section {name} is not filled in"));
            }
            Some(_) => {}
        }
    }
    faults
}

/// Returns a heading without emphasis and without a colon behind it.
fn strip_emphasis(title: &str) -> &str {
    title.trim_matches(|c: char| matches!(c, '*' | '_' | '`' | ':') || c.is_whitespace())
}

/// Returns whether a text is more than `<…>`, which the protocol asks to replace, and more than a word like TODO. A link
/// or a tag with attributes counts as text; a single tag does not.
fn is_filled_in(text: &str) -> bool {
    let text = text.trim();
    let inner = text
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'));
    let words = text.trim_matches(|c: char| !c.is_alphanumeric());
    let is_put_off = PUT_OFF.iter().any(|word| word.eq_ignore_ascii_case(words));
    let is_placeholder = inner.is_some_and(|inner| !inner.contains(['<', '>', '=', ':']));
    !text.is_empty() && !is_put_off && !is_placeholder
}
