//! Writing skills for other clients.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::catalogue;
use crate::catalogue::Catalogue;
use crate::error::{Code, Error, Result, quote};
use crate::file::{read_within, unwritable, write_whole};
use crate::ops::Surroundings;
use crate::skill::{Skill, Source, is_file_name};
use crate::template::{self, Bindings};

/// What an export wrote, or would write.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    /// The files.
    pub files: Vec<String>,
    /// True when nothing was written.
    pub dry_run: bool,
}

/// Writes skills for other clients into a folder, without the task section, whose tokens nobody
/// else would resolve. A file that differs is only written over with `force`.
pub fn export(
    surroundings: &Surroundings,
    folder: &Path,
    names: &[String],
    force: bool,
    dry_run: bool,
) -> Result<Exported> {
    let catalogue = catalogue(surroundings)?;
    let mut planned = Vec::new();
    for skill in chosen(&catalogue, names)? {
        let file = target(&surroundings.directory.join(folder), &skill.name)?;
        let text = exported(skill)?;
        refuse_changed(&file, &text, force)?;
        planned.push((file, text));
    }
    for (file, text) in planned.iter().filter(|_| !dry_run) {
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|cause| unwritable(parent, cause))?;
        write_whole(file, text)?;
    }
    let files = planned
        .iter()
        .map(|(file, _)| file.to_string_lossy().into_owned())
        .collect();
    Ok(Exported { files, dry_run })
}

fn chosen<'a>(catalogue: &'a Catalogue, names: &[String]) -> Result<Vec<&'a Skill>> {
    if names.is_empty() {
        return Ok(catalogue
            .skills
            .iter()
            .filter(|skill| skill.source == Source::BuiltIn)
            .collect());
    }
    let find = |name: &String| match is_file_name(name) {
        true => catalogue.skill(name),
        false => Err(no_file_name(name)),
    };
    names.iter().map(find).collect()
}

/// Returns where a skill is written. The name comes from the skill's file, so it is checked here
/// too, where it becomes a path.
fn target(folder: &Path, name: &str) -> Result<PathBuf> {
    if is_file_name(name) {
        return Ok(folder.join(name).join("SKILL.md"));
    }
    Err(no_file_name(name))
}

fn no_file_name(name: &str) -> Error {
    let message = format!("the skill name `{name}` is not one plain name of a folder");
    Error::new(Code::SkillInvalid, message).fix("cleo skills list")
}

/// Returns the text of a skill as other clients can read it: no task section, commands in place of
/// their tokens.
fn exported(skill: &Skill) -> Result<String> {
    let (text, body) = (skill.text(), skill.body());
    let head = &text[..text.len() - body.len()];
    let (before, after) = around_task(body);
    let text = format!("{head}{before}{after}");
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let injected = template::inject(text.trim_end(), &Bindings::new());
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
    let unresolved = template::inject(text, &Bindings::new()).unresolved;
    let names = unresolved.into_iter();
    names.filter(|name| template::is_task_token(name)).collect()
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

/// Refuses to write over a file that holds something else, and over what is no file.
fn refuse_changed(file: &Path, text: &str, force: bool) -> Result<()> {
    if !file.exists() {
        return Ok(());
    }
    let there = read_within(file, text.len() as u64)?;
    if force || there.is_some_and(|there| there == text.as_bytes()) {
        return Ok(());
    }
    let shown = file.to_string_lossy();
    let message = format!("{shown} is there and holds something else");
    Err(Error::new(Code::FileChanged, message)
        .or("look at what is there", format!("cat {}", quote(&shown))))
}
