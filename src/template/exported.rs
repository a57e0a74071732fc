//! A skill as clients read it that know nothing of cleo.

use super::{Bindings, inject, is_task_token};
use crate::error::{Code, Error, Result, quote};
use crate::skill::Skill;

/// Returns the text of a skill as other clients can read it: no task section, commands in place of
/// their tokens.
pub fn exported(skill: &Skill) -> Result<String> {
    let (text, body) = (skill.text(), skill.body());
    let head = &text[..text.len() - body.len()];
    let (before, after) = around_task(body);
    let text = format!("{head}{before}{after}");
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let injected = inject(text.trim_end(), &Bindings::new());
    let left = task_tokens(&injected.text);
    if left.is_empty() {
        return Ok(format!("{}{end}", injected.text));
    }
    Err(tokens_left(skill, &left))
}

/// Splits a body around its task section: the last `## Task` whose text holds tokens of the task.
/// A section without any is somebody's text, and so is what the next heading begins.
fn around_task(body: &str) -> (&str, &str) {
    let headings = headings(body);
    let ends = headings.iter().skip(1).map(|(start, _)| *start);
    let ends = ends.chain([body.len()]);
    let sections = headings.iter().zip(ends);
    let tasks = sections
        .filter(|((_, title), _)| title.trim_end() == "## Task")
        .map(|((start, _), end)| (*start, end))
        .filter(|(start, end)| !task_tokens(&body[*start..*end]).is_empty());
    match tasks.last() {
        Some((start, end)) => (&body[..start], &body[end..]),
        None => (body, ""),
    }
}

/// Finds the headings of the first two levels, each with where it starts. What looks like one
/// inside a fence is none.
fn headings(body: &str) -> Vec<(usize, &str)> {
    let (mut found, mut start, mut fence) = (Vec::new(), 0, None);
    for line in body.split_inclusive('\n') {
        let text = line.trim_start();
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| text.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) if line.starts_with("## ") || line.starts_with("# ") => {
                found.push((start, line));
            }
            _ => {}
        }
        start += line.len();
    }
    found
}

fn task_tokens(text: &str) -> Vec<String> {
    let unresolved = inject(text, &Bindings::new()).unresolved;
    let names = unresolved.into_iter();
    names.filter(|name| is_task_token(name)).collect()
}

fn tokens_left(skill: &Skill, names: &[String]) -> Error {
    let message = format!(
        "{} holds tokens outside its last `## Task` section, which other clients would show raw: {}",
        skill.path,
        names.join(", ")
    );
    let look = format!("cleo skills show {}", quote(&skill.name));
    Error::new(Code::TokensUnresolved, message).fix(look)
}
