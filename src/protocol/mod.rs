//! The rules for agents: the base protocol and conditional ones, each a file whose front matter says when it
//! applies. The block in a prompt is in [`block`], last messages in [`message`]. Rules: two-tier-subagents
//! notes, section 4.

pub(crate) mod block;
pub(crate) mod message;

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::error::{Code, Error, Result};
use crate::id::digest;
use crate::score::normalize;
use crate::skill::fields::{Field, Fields, Value};
use crate::skill::{Skill, front_matter};
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
    /// The digest of the text, as of a skill.
    digest: OnceLock<String>,
}

/// When a protocol applies: keys of its conditions with their words. Any match is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct When(Vec<(String, Vec<String>)>);

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
/// Keys of its conditions, with the words that each can have; any where there are none.
const CONDITIONS: [(&str, &[&str]); 6] = [
    ("always", &["true"]),
    ("skill-tags", &[]),
    ("task-types", &[]),
    ("labels", &[]),
    ("task-has", &["dependencies", "phase", "required-gates"]),
    ("session", &["open"]),
];

impl ProtocolFile {
    /// Reads a protocol file. An unknown key or value is an error that names file and line.
    pub(crate) fn read(text: Cow<'_, str>, path: String) -> Result<ProtocolFile> {
        let fault = |line: usize, message: String| {
            Error::new(Code::CatalogueInvalid, format!("{path}:{line}: {message}"))
        };
        let document =
            front_matter::parse(&text).map_err(|found| fault(found.line, found.message))?;
        let line_in =
            |fields: &Fields, key: &str| fields.find(key).map_or(1, |field| field.place.0);
        let at = |key: &str| line_in(&document.fields, key);
        check_keys(&document.fields, HEAD).map_err(|(key, message)| fault(at(key), message))?;
        let required = |key: &str| {
            let missing = || fault(1, format!("`{key}` is missing"));
            document.text(key).ok_or_else(missing)
        };
        let order = required("order")?;
        let number = order.trim().parse();
        let conditions = document.fields.mapping("when");
        let when = conditions.map(|fields| {
            When::read(fields).map_err(|(key, message)| fault(line_in(fields, key), message))
        });
        let when = when.transpose()?;
        if document.fields.find("when").is_some()
            && when.as_ref().is_none_or(|when| *when == When::default())
        {
            let message = "`when` is empty, so the protocol would never apply";
            return Err(fault(at("when"), message.to_string()));
        }
        Ok(ProtocolFile {
            name: required("name")?,
            version: required("version")?,
            order: number
                .map_err(|_| fault(at("order"), format!("order `{order}` is not a number")))?,
            when: when.unwrap_or_default(),
            sections: list(document.fields.text("sections")),
            text: block::unix_lines(document.body.trim()),
            path: path.clone(),
            digest: OnceLock::new(),
        })
    }

    pub(crate) fn digest(&self) -> String {
        self.digest.get_or_init(|| digest(&self.text)).clone()
    }

    /// Returns whether the protocol applies to every task: the base, and those with `always`.
    pub(crate) fn is_unconditional(&self) -> bool {
        let When(conditions) = &self.when;
        conditions.is_empty() || conditions.iter().any(|(key, _)| key == "always")
    }

    pub(crate) fn explain_why_applies(&self, situation: &Situation<'_>) -> Option<String> {
        self.when.explain_why_holds(situation)
    }
}

impl When {
    /// Reads conditions; of one that is unknown it names the key.
    fn read(fields: &Fields) -> std::result::Result<When, (&str, String)> {
        check_keys(fields, &CONDITIONS.map(|(key, _)| key))?;
        let mut conditions = Vec::new();
        for Field { name: key, .. } in &fields.0 {
            let words = list(fields.text(key)).into_iter();
            let words: Vec<String> = words.map(|word| normalize(&word)).collect();
            let known = CONDITIONS.iter().find(|(known, _)| known == key);
            let known = known.map_or(&[][..], |(_, words)| words);
            let is_unknown = |word: &&String| !known.is_empty() && !known.contains(&word.as_str());
            if let Some(word) = words.iter().find(is_unknown) {
                let message = format!("`{key}` is `{word}`; it can be {}", known.join(", "));
                return Err((key, message));
            }
            if !words.is_empty() {
                conditions.push((key.clone(), words));
            }
        }
        Ok(When(conditions))
    }

    fn explain_why_holds(&self, situation: &Situation<'_>) -> Option<String> {
        let Situation { task, skill, .. } = situation;
        let has = |word: &String| match word.as_str() {
            "dependencies" if !task.depends.is_empty() => Some("the task has dependencies"),
            "phase" if task.phase.is_some() => Some("the task has a phase"),
            "required-gates" if situation.required_gates => Some("the task has required gates"),
            _ => None,
        };
        let mut conditions = self.0.iter();
        conditions.find_map(|(key, words)| match key.as_str() {
            "always" => Some("always".to_string()),
            "skill-tags" => explain_match("skill tag", words, &skill.tags),
            "task-types" => explain_match("task type", words, &[task.kind.to_string()]),
            "labels" => explain_match("label", words, &task.labels),
            "task-has" => words.iter().find_map(has).map(str::to_string),
            _ => situation.session_open.then(|| "session open".to_string()),
        })
    }
}

fn explain_match(what: &str, wanted: &[String], found: &[String]) -> Option<String> {
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
    for field in &fields.0 {
        let key = field.name.as_str();
        if !known.contains(&key) {
            return Err((key, strict::describe_unknown(key, known)));
        }
        let is_text = matches!(field.value, Value::Text { .. });
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
