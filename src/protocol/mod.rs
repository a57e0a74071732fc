//! The rules for agents: the base protocol and conditional ones, each a file whose front matter says when it
//! applies. The block in a prompt is in [`block`], last messages in [`message`]. Rules: two-tier-subagents
//! notes, section 4.

pub(crate) mod block;
pub(crate) mod message;

use std::borrow::Cow;

use crate::error::{Code, Error, Result};
use crate::id::digest;
use crate::score::normalize;
use crate::skill::Skill;
use crate::skill::front_matter::{self, Fields, Value};
use crate::strict;
use crate::task::Task;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProtocolFile {
    /// Name, such as `task-lifecycle`.
    pub(crate) name: String,
    pub(crate) version: String,
    /// Its place in the block.
    pub(crate) order: u32,
    /// When it applies; the base protocol has no condition.
    pub(crate) when: When,
    /// Sections that the output file must have; only the base protocol asks for some.
    pub(crate) sections: Vec<String>,
    pub(crate) text: String,
    pub(crate) path: String,
}

/// When a protocol applies: any match is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct When {
    always: bool,
    skill_tags: Vec<String>,
    task_types: Vec<String>,
    labels: Vec<String>,
    task_has: Vec<Part>,
    session_open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Dependencies,
    Phase,
    RequiredGates,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'a> {
    pub(crate) task: &'a Task,
    pub(crate) skill: &'a Skill,
    pub(crate) session_open: bool,
    pub(crate) required_gates: bool,
}

/// Keys of the front matter of a protocol file; `rules` is for readers of the file. Values are text, lists are
/// separated by commas.
const HEAD: &[&str] = &["name", "version", "order", "when", "sections", "rules"];
/// Keys of its conditions.
const CONDITIONS: &[&str] = &[
    "always",
    "skill-tags",
    "task-types",
    "labels",
    "task-has",
    "session",
];

impl ProtocolFile {
    /// Reads a protocol file. An unknown key or value is an error that names file and line.
    pub(crate) fn read(text: Cow<'_, str>, path: String) -> Result<ProtocolFile> {
        let fault = |line: usize, message: String| {
            Error::new(Code::CatalogueInvalid, format!("{path}:{line}: {message}"))
        };
        let document =
            front_matter::parse(&text).map_err(|found| fault(found.line, found.message))?;
        let at = |key: &str| document.position(key).0;
        check_keys(&document.fields, HEAD).map_err(|(key, message)| fault(at(key), message))?;
        let required = |key: &str| {
            let missing = || fault(1, format!("`{key}` is missing"));
            document.text(key).ok_or_else(missing)
        };
        let order = required("order")?;
        let number = order.trim().parse();
        let when = document.mapping("when").map(When::read).transpose();
        let when = when.map_err(|(key, message)| {
            let line = document.position_below("when", key).0;
            fault(line, message)
        })?;
        if document.fields.get("when").is_some()
            && when.as_ref().is_none_or(|when| *when == When::default())
        {
            let message = "`when` is empty, so the protocol would never apply";
            return Err(fault(at("when"), message.to_string()));
        }
        Ok(ProtocolFile {
            name: required("name")?,
            version: required("version")?,
            order: number
                .map_err(|_| fault(at("order"), format!("order `{order}` is no number")))?,
            when: when.unwrap_or_default(),
            sections: list(document.fields.text("sections")),
            text: block::unix_lines(document.body.trim()),
            path: path.clone(),
        })
    }

    pub(crate) fn digest(&self) -> String {
        digest(&self.text)
    }

    /// Returns whether the protocol applies to every task: the base, and those with `always`.
    pub(crate) fn is_unconditional(&self) -> bool {
        self.when == When::default() || self.when.always
    }

    pub(crate) fn applies(&self, situation: &Situation<'_>) -> Option<String> {
        self.when.holds(situation)
    }
}

impl When {
    /// Reads conditions; of one that is unknown it names the key.
    fn read(fields: &Fields) -> std::result::Result<When, (&str, String)> {
        check_keys(fields, CONDITIONS)?;
        let flag = |key, wanted| match fields.text(key) {
            None => Ok(false),
            Some(value) if value == wanted => Ok(true),
            Some(value) => {
                let message = format!("`{key}` is `{value}`; only \"{wanted}\" is known");
                Err((key, message))
            }
        };
        let normalized = |key| {
            let words = list(fields.text(key));
            words.iter().map(|word| normalize(word)).collect()
        };
        Ok(When {
            always: flag("always", "true")?,
            session_open: flag("session", "open")?,
            skill_tags: normalized("skill-tags"),
            task_types: normalized("task-types"),
            labels: normalized("labels"),
            task_has: list(fields.text("task-has"))
                .iter()
                .map(|part| Part::read(part).map_err(|message| ("task-has", message)))
                .collect::<std::result::Result<_, _>>()?,
        })
    }

    fn holds(&self, situation: &Situation<'_>) -> Option<String> {
        if self.always {
            return Some("always".to_string());
        }
        let Situation { task, skill, .. } = situation;
        let kind = [task.kind.to_string()];
        any("skill tag", &self.skill_tags, &skill.tags)
            .or_else(|| any("task type", &self.task_types, &kind))
            .or_else(|| any("label", &self.labels, &task.labels))
            .or_else(|| self.task_has.iter().find_map(|part| part.of(situation)))
            .or_else(|| {
                (self.session_open && situation.session_open).then(|| "session open".into())
            })
    }
}

impl Part {
    fn read(word: &str) -> std::result::Result<Part, String> {
        match word {
            "dependencies" => Ok(Part::Dependencies),
            "phase" => Ok(Part::Phase),
            "required-gates" => Ok(Part::RequiredGates),
            _ => Err(format!(
                "`task-has` is `{word}`; known are dependencies, phase and required-gates"
            )),
        }
    }

    fn of(self, situation: &Situation<'_>) -> Option<String> {
        let (there, name) = match self {
            Part::Dependencies => (!situation.task.depends.is_empty(), "dependencies"),
            Part::Phase => (situation.task.phase.is_some(), "a phase"),
            Part::RequiredGates => (situation.required_gates, "required gates"),
        };
        there.then(|| format!("the task has {name}"))
    }
}

fn any(what: &str, wanted: &[String], found: &[String]) -> Option<String> {
    let hit = found
        .iter()
        .find(|word| wanted.contains(&normalize(word.trim())))?;
    Some(format!("{what} {hit}"))
}

/// Refuses a key that is not known, and a list.
fn check_keys<'a>(
    fields: &'a Fields,
    known: &[&str],
) -> std::result::Result<(), (&'a str, String)> {
    for (key, value) in fields.iter() {
        if !known.contains(&key) {
            return Err((key, strict::unread(key, known)));
        }
        let is_text = matches!(value, Value::Text(_) | Value::Null);
        if !is_text && key != "when" {
            let message = format!("`{key}` is written as text, with commas between its words");
            return Err((key, message));
        }
    }
    Ok(())
}

fn list(value: Option<&str>) -> Vec<String> {
    let items = value.unwrap_or_default().split(',').map(str::trim);
    let items = items.filter(|item| !item.is_empty());
    items.map(str::to_string).collect()
}

#[cfg(test)]
pub(crate) mod tests;
