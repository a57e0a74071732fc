//! A skill: a SKILL.md with the data that dispatch needs. Loaded leniently here, judged strictly
//! by [`validate`]. Standard: agentskills.io; dispatch data is in `metadata` with the prefix
//! `cleo-`.

pub(crate) mod fields;
pub(crate) mod front_matter;
mod strict_yaml;
pub(crate) mod validate;

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use serde::Serialize;

use crate::error::{Code, Error, Result, nearest};
use crate::id::digest;

pub(crate) const DEFAULT: &str = "ct-task-executor";

/// Where a skill was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Source {
    /// In a folder that the user named.
    Named,
    Project,
    /// In the user's home.
    User,
    /// In the program.
    BuiltIn,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Skill {
    /// Name, such as `ct-research-agent`.
    pub(crate) name: String,
    /// Its purpose, and when to use it.
    pub(crate) description: String,
    /// 0 orchestrator, 1 planning, 2 execution, 3 chaining.
    pub(crate) tier: Option<u8>,
    /// Tags in order; labels of tasks are compared with them.
    pub(crate) tags: Vec<String>,
    pub(crate) types: Vec<String>,
    pub(crate) keywords: Vec<String>,
    /// A keyword leads to it only for a task with one of these words; without any, for every task.
    pub(crate) evidence: Vec<String>,
    /// Skills that may continue its work.
    pub(crate) chains: Vec<String>,
    /// First word of the return message: Research, Implementation, …
    pub(crate) result_kind: String,
    /// False if it is disabled; then it is never chosen.
    pub(crate) active: bool,
    /// True if its text has the subagent protocol.
    #[serde(skip)]
    pub(crate) own_protocol: bool,
    pub(crate) source: Source,
    pub(crate) path: String,
    #[serde(skip)]
    text: Cow<'static, str>,
    /// Where the text below the front matter starts, in bytes.
    #[serde(skip)]
    body_start: usize,
    /// The digest of its text, once a prompt asked for it: others of a batch ask again.
    #[serde(skip)]
    digest: OnceLock<String>,
}

impl Skill {
    /// Reads a skill leniently, because a file that the standard refuses may be usable. The name defaults to
    /// the folder's; a description and readable front matter are required.
    pub(crate) fn read(
        folder: &str,
        text: Cow<'static, str>,
        source: Source,
        path: String,
    ) -> std::result::Result<Skill, Fault> {
        let document = front_matter::parse(&text)?;
        let description = document
            .text("description")
            .filter(|text| !text.trim().is_empty());
        let Some(description) = description else {
            return Err(Fault::new(
                "SKILL_DESCRIPTION_MISSING",
                (1, 1),
                "the skill has no description",
            ));
        };
        let body_start = text.len() - document.body.len();
        let list = |name: &str| split_list(&document.metadata(name).unwrap_or_default());
        Ok(Skill {
            name: document.text("name").unwrap_or_else(|| folder.to_string()),
            description,
            tier: document
                .metadata("cleo-tier")
                .and_then(|tier| tier.trim().parse().ok()),
            tags: list("cleo-tags"),
            types: list("cleo-types"),
            keywords: list("cleo-keywords"),
            evidence: list("cleo-evidence"),
            chains: list("cleo-chains"),
            result_kind: document
                .metadata("cleo-result")
                .unwrap_or_else(|| "Task".to_string()),
            active: !document
                .metadata("cleo-status")
                .is_some_and(|status| status.trim().eq_ignore_ascii_case("inactive")),
            own_protocol: document.metadata("cleo-protocol").as_deref() == Some("own"),
            source,
            path,
            text,
            body_start,
            digest: OnceLock::new(),
        })
    }

    pub(crate) fn body(&self) -> &str {
        &self.text[self.body_start..]
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn digest(&self) -> String {
        let digest = self.digest.get_or_init(|| digest(self.text.as_bytes()));
        digest.clone()
    }
}

/// Returns whether a name can be the name of a folder. A path would lead out of the folder of an export.
pub(crate) fn is_file_name(name: &str) -> bool {
    let is_plain = |c: char| !matches!(c, '/' | '\\') && !c.is_control();
    !matches!(name, "" | "." | "..") && name.chars().all(is_plain)
}

fn normalize_name(name: &str) -> String {
    name.trim().to_lowercase().replace('_', "-")
}

/// Returns whether `wanted` is a way to write a name: in any letter case, with or without `ct-`.
pub(crate) fn is_called(name: &str, wanted: &str) -> bool {
    let (name, wanted) = (normalize_name(name), normalize_name(wanted));
    name == wanted || name.strip_prefix("ct-") == Some(wanted.as_str())
}

/// Finds a skill by its name: as it is written, in any letter case, then without `ct-`. A whole
/// name counts before the short one of another skill.
pub(crate) fn find<'a>(skills: &'a [Skill], wanted: &str) -> Option<&'a Skill> {
    let named = |name: String| {
        skills
            .iter()
            .find(|skill| normalize_name(&skill.name) == name)
    };
    let exact = skills.iter().find(|skill| skill.name == wanted);
    exact
        .or_else(|| named(normalize_name(wanted)))
        .or_else(|| named(format!("ct-{}", normalize_name(wanted))))
}

/// Finds a skill as [`find`] does, or fails with the nearest name.
pub(crate) fn require<'a>(skills: &'a [Skill], wanted: &str) -> Result<&'a Skill> {
    find(skills, wanted).ok_or_else(|| {
        let message = format!("there is no skill `{wanted}`");
        let error = Error::new(Code::SkillNotFound, message);
        match similar(skills, wanted) {
            Some(similar) => error.did_you_mean(similar).fix("cleo skills list"),
            None => error.fix("cleo skills list"),
        }
    })
}

/// Finds the skill whose name is nearest to `wanted`, ignoring the common prefix `ct-`.
fn similar<'a>(skills: &'a [Skill], wanted: &str) -> Option<&'a str> {
    let mut names = skills.iter().map(|skill| skill.name.as_str());
    let near = nearest(
        strip_common_prefix(wanted),
        names.clone().map(strip_common_prefix),
    )?;
    names.find(|name| strip_common_prefix(name) == near)
}

fn strip_common_prefix(name: &str) -> &str {
    name.strip_prefix("ct-").unwrap_or(name)
}

fn split_list(list: &str) -> Vec<String> {
    list.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(str::to_string)
        .collect()
}

/// A fault of a file, with its place.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Fault {
    /// A stable name such as `SKILL_NAME_UPPERCASE`.
    pub(crate) code: &'static str,
    /// The line in the file, from one.
    pub(crate) line: usize,
    /// The column in the line, in characters from one.
    pub(crate) column: usize,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(
        code: &'static str,
        (line, column): (usize, usize),
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            line,
            column,
            message: message.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}: {}: {}",
            self.line, self.column, self.code, self.message
        )
    }
}

impl std::error::Error for Fault {}
