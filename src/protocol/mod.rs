//! The rules for agents: the base protocol and conditional ones, each a file whose front matter says when it
//! applies. The block in a prompt is in [`block`], last messages in [`message`]. Rules: two-tier-subagents
//! notes, section 4.

pub(crate) mod block;
pub(crate) mod message;

use std::borrow::Cow;

use serde::Deserialize;

use crate::error::{Code, Error, Result};
use crate::id::digest;
use crate::score::normalize;
use crate::skill::Skill;
use crate::skill::front_matter;
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

/// The front matter of a protocol file. Every value is a string, lists are separated by commas.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    name: String,
    version: String,
    order: String,
    #[serde(default)]
    when: Option<RawWhen>,
    #[serde(default)]
    sections: Option<String>,
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "for readers of the file; the rules are fixed in `block`"
    )]
    rules: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawWhen {
    always: Option<String>,
    skill_tags: Option<String>,
    task_types: Option<String>,
    labels: Option<String>,
    task_has: Option<String>,
    session: Option<String>,
}

impl ProtocolFile {
    /// Reads a protocol file. An unknown key or value is an error that names file and line.
    pub(crate) fn read(text: Cow<'_, str>, path: String) -> Result<ProtocolFile> {
        let fault = |line: usize, message: String| {
            Error::new(Code::CatalogueInvalid, format!("{path}:{line}: {message}"))
        };
        let document =
            front_matter::parse(&text).map_err(|found| fault(found.line, found.message))?;
        let head: Head = crate::yaml::from_str(document.front_matter).map_err(|cause| {
            let line = cause.location().map_or(1, |location| location.line() + 1);
            // The parser counts from the front matter; the file's line stands before the message.
            let what = cause.to_string();
            fault(
                line,
                what.split(" at line ").next().unwrap_or(&what).to_string(),
            )
        })?;
        let order = head.order.trim().parse();
        let order = order.map_err(|_| {
            let line = document.position("order").0;
            fault(line, format!("order `{}` is no number", head.order))
        })?;
        let when = head.when.map(When::from_raw).transpose();
        let when = when.map_err(|(key, message)| {
            let line = document.position_below("when", key).0;
            fault(line, message)
        })?;
        if document.fields.get("when").is_some()
            && when.as_ref().is_none_or(|when| *when == When::default())
        {
            let message = "`when` is empty, so the protocol would never apply";
            let line = document.position("when").0;
            return Err(fault(line, message.to_string()));
        }
        Ok(ProtocolFile {
            name: head.name,
            version: head.version,
            order,
            when: when.unwrap_or_default(),
            sections: list(head.sections),
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
    fn from_raw(raw: RawWhen) -> std::result::Result<When, (&'static str, String)> {
        let flag = |key: &'static str, value: Option<String>, wanted: &str| match value.as_deref() {
            None => Ok(false),
            Some(value) if value == wanted => Ok(true),
            Some(value) => {
                let message = format!("`{key}` is `{value}`; only \"{wanted}\" is known");
                Err((key, message))
            }
        };
        Ok(When {
            always: flag("always", raw.always, "true")?,
            session_open: flag("session", raw.session, "open")?,
            skill_tags: normalized(raw.skill_tags),
            task_types: normalized(raw.task_types),
            labels: normalized(raw.labels),
            task_has: list(raw.task_has)
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

fn list(value: Option<String>) -> Vec<String> {
    let value = value.unwrap_or_default();
    value
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(str::to_string)
        .collect()
}

fn normalized(value: Option<String>) -> Vec<String> {
    list(value).iter().map(|item| normalize(item)).collect()
}

#[cfg(test)]
pub(crate) mod tests;
