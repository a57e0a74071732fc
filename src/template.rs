//! Tokens in templates. A token is `{{NAME}}`; all other text in braces stays byte for byte.
//! Rules: two-tier-subagents notes, section 3.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::clock::is_date;
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::markdown::{self, Section};
use crate::score::normalize;
use crate::skill::Skill;

/// Tokens whose values are text that a person or an agent wrote freely, or hold such text.
pub(crate) const PROSE: &[&str] = &[
    "TASK_TITLE",
    "TASK_NAME",
    "TITLE",
    "TASK_DESCRIPTION",
    "TASK_INSTRUCTIONS",
    "ACCEPTANCE_CRITERIA",
    "DELIVERABLES_LIST",
    "MANIFEST_SUMMARIES",
    "RELATED_TASKS",
    "EARLIER_WORK",
    "TASK_NOTES",
];

/// Values of tokens that say nothing: a section that holds no more is left out of a prompt.
pub(crate) const UNSAID: [(&str, &str); 5] = [
    ("TASK_DESCRIPTION", ""),
    (
        "ACCEPTANCE_CRITERIA",
        "Task completed successfully per description",
    ),
    ("DELIVERABLES_LIST", "Implementation per task description"),
    ("MANIFEST_SUMMARIES", "No prior research available."),
    ("RELATED_TASKS", NONE),
];

/// Tokens whose values are slugs that are made of such text.
const SLUGS: &[&str] = &[
    "TOPIC_SLUG",
    "RESEARCH_ID",
    "TOPICS",
    "TOPICS_JSON",
    "PHASE",
];

/// Tokens whose values come from the task and the workspace, without free text.
const PLAIN: &[&str] = &[
    "TASK_ID",
    "DATE",
    "EPIC_ID",
    "PLAN_ID",
    "SESSION_ID",
    "DEPENDS_LIST",
    "NEXT_TASK_IDS",
    "OUTPUT_DIR",
    "MANIFEST_PATH",
    "RESULT_KIND",
];

pub(crate) const COMMANDS: &[(&str, &str)] = &[
    ("TASK_SHOW_CMD", "cleo show"),
    ("TASK_START_CMD", "cleo start"),
    ("TASK_COMPLETE_CMD", "cleo complete"),
    ("TASK_LINK_CMD", "cleo research link"),
    ("TASK_LIST_CMD", "cleo list"),
    ("TASK_FIND_CMD", "cleo find"),
    ("TASK_ADD_CMD", "cleo add"),
    ("TASK_PHASE_CMD", "cleo phase"),
    ("SESSION_LIST_CMD", "cleo session list"),
    ("SESSION_START_CMD", "cleo session start"),
    ("SESSION_END_CMD", "cleo session end"),
    ("RESEARCH_LIST_CMD", "cleo research list"),
    ("RESEARCH_SHOW_CMD", "cleo research show"),
    ("RESEARCH_INJECT_CMD", "cleo research inject"),
    ("MANIFEST_APPEND_CMD", "cleo manifest append"),
];

/// Folder of outputs, relative to the root of a workspace: the value of OUTPUT_DIR.
pub(crate) const OUTPUT_DIR: &str = "claudedocs/agent-outputs";
/// The manifest, relative to the root of a workspace: the value of MANIFEST_PATH.
pub(crate) const MANIFEST: &str = "claudedocs/agent-outputs/MANIFEST.jsonl";

/// Value of a token without a name to insert.
pub(crate) const NONE: &str = "none";

/// Maximum length of a slug, in characters.
const SLUG_MAX: usize = 60;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bindings(BTreeMap<&'static str, String>);

impl Bindings {
    pub(crate) fn new() -> Bindings {
        let command = |(name, value): &(&'static str, &str)| (*name, value.to_string());
        Bindings(crate::build_map(COMMANDS.iter().map(command)))
    }

    pub(crate) fn bind_constants() -> Bindings {
        let mut bindings = Bindings::new();
        bindings.set("OUTPUT_DIR", OUTPUT_DIR);
        bindings.set("MANIFEST_PATH", MANIFEST);
        bindings
    }

    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.insert(name, value.into());
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    pub(crate) fn without_free_text(&self) -> Bindings {
        let mut masked = self.clone();
        for name in PROSE.iter().chain(SLUGS) {
            masked.set(name, "");
        }
        masked
    }

    /// Checks the tokens that every prompt needs: TASK_ID, DATE and TOPIC_SLUG.
    pub(crate) fn check_required(&self) -> Result<()> {
        let slug = |text: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            !text.is_empty() && text.chars().all(fits)
        };
        type Check = (&'static str, fn(&str) -> bool, &'static str);
        let checks: [Check; 3] = [
            (
                "TASK_ID",
                |text| text.parse::<TaskId>().is_ok(),
                "an id such as T12",
            ),
            ("DATE", is_date, "a real date such as 2026-01-26"),
            ("TOPIC_SLUG", slug, "letters, digits, - and _"),
        ];
        for (name, holds, wanted) in checks {
            let value = self.get(name).unwrap_or_default();
            if !holds(value) {
                let message = format!("{name} is `{value}`, which is not {wanted}");
                return Err(Error::new(Code::TokenInvalid, message));
            }
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Injected {
    pub(crate) text: String,
    /// Names of unresolved tokens, which stay in the text.
    pub(crate) unresolved: BTreeSet<String>,
}

/// Replaces the tokens of `template`. Tokens inside of values stay.
pub(crate) fn inject(template: &str, bindings: &Bindings) -> Injected {
    let mut text = String::with_capacity(template.len() + 1024);
    let mut unresolved = BTreeSet::new();
    let mut rest = 0;
    for (token, name) in tokens(template) {
        text.push_str(&template[rest..token.start]);
        rest = token.end;
        match bindings.get(name) {
            Some(value) => text.push_str(value),
            None => {
                text.push_str(&template[token]);
                unresolved.insert(name.to_string());
            }
        }
    }
    text.push_str(&template[rest..]);
    Injected { text, unresolved }
}

/// Splits a template into the texts between its tokens, each with the name of the token after it.
pub(crate) fn split_at_tokens(template: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let end = (template.len()..template.len(), "");
    let mut rest = 0;
    tokens(template).chain([end]).map(move |(token, name)| {
        let literal = &template[rest..token.start];
        rest = token.end;
        (literal, Some(name).filter(|name| !name.is_empty()))
    })
}

/// Finds tokens: the range of each with its braces, and its name.
fn tokens(text: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let braces = memchr::memmem::Finder::new("{{");
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(at) = braces.find(&text.as_bytes()[from..]) {
            let start = from + at;
            if let Some(name) = name_before_braces(&text[start + 2..]) {
                from = start + name.len() + 4;
                return Some((start..from, name));
            }
            from = start + 1;
        }
        None
    })
}

fn name_before_braces(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let (name, rest) = text.split_at(text.find(|c| !is_part(c))?);
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase());
    (is_name && rest.starts_with("}}")).then_some(name)
}

pub(crate) fn has_token(template: &str, name: &str) -> bool {
    template.contains(&format!("{{{{{name}}}}}"))
}

/// Makes a slug of a title: lower case, no diacritics, hyphens between words, at most 60
/// characters cut at a hyphen. A title without letters or digits gives `task-t5`.
pub(crate) fn slug(title: &str, id: TaskId) -> String {
    let slug = slug_of(title);
    if slug.is_empty() {
        // File systems may not tell capitals from small letters.
        format!("task-{id}").to_lowercase()
    } else {
        slug
    }
}

/// Makes a slug of any text; it may be empty.
pub(crate) fn slug_of(text: &str) -> String {
    let normalized = normalize(text);
    let words = normalized.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    let joined = words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-");
    cut_slug(&joined, SLUG_MAX).to_string()
}

/// Adds a suffix to a slug, which is cut so that the whole is no longer than a slug may be.
pub(crate) fn add_suffix(slug: &str, suffix: &str) -> String {
    let max = SLUG_MAX.saturating_sub(suffix.len() + 1);
    format!("{}-{suffix}", cut_slug(slug, max))
}

/// Cuts a slug at a hyphen, or at `max` characters when it has none so far.
fn cut_slug(slug: &str, max: usize) -> &str {
    if slug.len() <= max {
        return slug;
    }
    let end = slug[..=max].rfind('-').unwrap_or(max);
    &slug[..end]
}

/// Returns the text of a skill as other clients can read it: no task section, commands in place of
/// their tokens.
pub(crate) fn export_text(skill: &Skill) -> Result<String> {
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
    let message = format!(
        "{} holds tokens outside its last `## Task` section, which other clients would show raw: {}",
        skill.path,
        left.join(", ")
    );
    let look = format!("cleo skills show {}", quote(&skill.name));
    Err(Error::new(Code::TokensUnresolved, message).fix(look))
}

/// Splits a body around its task section: the last `## Task` whose text holds tokens of the task.
/// A section without tokens is ordinary text, and so is the text from the next heading on.
fn around_task(body: &str) -> (&str, &str) {
    let sections: Vec<Section<'_>> = markdown::sections(body)
        .into_iter()
        .filter(|section| section.level <= 2)
        .collect();
    let ends = sections.iter().skip(1).map(|section| section.start);
    let tasks = sections
        .iter()
        .zip(ends.chain([body.len()]))
        .filter(|(section, _)| section.level == 2 && section.title == "Task")
        .map(|(section, end)| (section.start, end))
        .filter(|(start, end)| !task_tokens(&body[*start..*end]).is_empty());
    match tasks.last() {
        Some((start, end)) => (&body[..start], &body[end..]),
        None => (body, ""),
    }
}

fn task_tokens(text: &str) -> Vec<String> {
    let unresolved = inject(text, &Bindings::new()).unresolved;
    let is_of_task = |name: &String| {
        let lists = [PROSE, SLUGS, PLAIN];
        lists.iter().any(|list| list.contains(&name.as_str()))
    };
    unresolved.into_iter().filter(is_of_task).collect()
}
