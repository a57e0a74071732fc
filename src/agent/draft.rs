//! Fields of an agent as given by a user, a file or another program, and their validation. Names are read in
//! both styles (`maxTokens`, `max_tokens`).

mod check;
#[cfg(test)]
mod tests;

use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

pub(super) use self::check::check;
pub(crate) use self::check::require_prompt;
pub(crate) use super::Draft;
use super::{Agent, Kind};
use crate::error::{Code, Error, Result, nearest, shorten};
use crate::id;
use crate::score::can_be_named;
use crate::strict::{self, Fault};
use crate::task::rules::check_list;

/// Longest name, in characters.
pub(crate) const NAME_MAX: usize = 100;

/// Longest id, in characters.
const ID_MAX: usize = 64;

/// Number of digits in ids of names without usable letters.
const DIGITS: usize = 8;

/// Longest description of an invalid value, in characters.
const FAULT_MAX: usize = 160;

/// Reads a word of a closed set, in any letter case.
pub(crate) fn word<'de, D: Deserializer<'de>, T: FromStr<Err = String>>(
    from: D,
) -> std::result::Result<Option<T>, D::Error> {
    let word = Option::<String>::deserialize(from)?;
    let read = word.map(|word| word.parse());
    read.transpose().map_err(serde::de::Error::custom)
}

pub(crate) fn words<'de, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<Option<Vec<String>>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => None,
        Value::String(line) => Some(line.split(',').map(|word| word.trim().into()).collect()),
        list => Some(Vec::deserialize(list).map_err(|_| {
            let what = "it must be a list of words, or words with commas between them";
            serde::de::Error::custom(what)
        })?),
    })
}

/// A command: a list of arguments, or one line that is split as a shell would.
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(
    untagged,
    expecting = "it must be a list of arguments, or a line of them"
)]
pub(crate) enum CommandLine {
    Line(String),
    List(Vec<String>),
}

impl From<String> for CommandLine {
    fn from(line: String) -> CommandLine {
        CommandLine::Line(line)
    }
}

/// Fields that only cleo sets.
pub(crate) const OWN: &[&str] = OWN_AND_ID.split_at(OWN_AND_ID.len() - 1).0;
/// The same, and that by which the address of a change names the agent.
pub(crate) const OWN_AND_ID: &[&str] = &[
    "createdAt",
    "lastUsedAt",
    "executions",
    "expiresAt",
    "file",
    "isBuiltin",
    "isRuntime",
    "kind",
    "standing",
    "userId",
    "id",
];

/// Fields of other programs' agents, which cleo does not use.
const FOREIGN: [&str; 5] = [
    "customInstructions",
    "memoryEnabled",
    "memoryType",
    "stopConditions",
    "toolSchemas",
];

/// Reads an agent, or a part of one. The error of an invalid value names its field and quotes at most a line.
pub(crate) fn read<T: DeserializeOwned>(value: Value) -> Result<T> {
    strict::read(value).map_err(|Fault { path, what, .. }| {
        let what = shorten(&what, FAULT_MAX);
        match path.split(['.', '[']).next() {
            None | Some("") => invalid(what),
            Some(first) => invalid(format!("{path}: {what}")).in_field(first.to_string()),
        }
    })
}

impl Draft {
    /// Reads a draft from a row of the table that may have been read before: what only cleo sets is passed over, and so
    /// is what is null.
    pub(crate) fn from_row(mut row: Map<String, Value>) -> Result<Draft> {
        row.retain(|name, value| !strict::is_among(name, OWN) && !value.is_null());
        read(Value::Object(row))
    }

    /// Refuses a field that seems to be misspelled: what was meant would be lost.
    pub(crate) fn check_spelling(&self) -> Result<()> {
        let mut others = self.other.keys().map(String::as_str);
        let is_misspelled = |name: &&str| {
            !strict::is_among(name, &FOREIGN)
                && nearest(name, Draft::NAMES.iter().copied()).is_some()
        };
        match others.find(is_misspelled) {
            Some(name) => Err(invalid(strict::describe_unknown(name, Draft::NAMES)).in_field(name)),
            None => Ok(()),
        }
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        let known = ["is_runtime", "isRuntime", "user_id", "userId"];
        let others = self.other.keys().map(String::as_str);
        let unused: Vec<_> = others.filter(|name| !known.contains(name)).collect();
        match unused[..] {
            [] => Vec::new(),
            ref names => vec![format!("cleo does not use: {}", names.join(", "))],
        }
    }

    /// Returns the kinds of worker for which a connection is given.
    pub(crate) fn list_connections(&self) -> Vec<Kind> {
        let endpoint = self.endpoint.as_ref().map(|_| Kind::Http);
        let command = self.command.as_ref().map(|_| Kind::Cli);
        endpoint.into_iter().chain(command).collect()
    }

    /// Returns the kind of worker: the given one, else by its connection.
    pub(crate) fn worker(&self) -> Option<Kind> {
        let kind = self
            .kind
            .or_else(|| self.list_connections().first().copied());
        kind.filter(|kind| matches!(kind, Kind::Http | Kind::Cli))
    }

    pub(crate) fn has_command(&self) -> bool {
        self.command.as_ref().is_some_and(|command| match command {
            CommandLine::Line(line) => !line.trim().is_empty(),
            CommandLine::List(words) => !words.is_empty(),
        })
    }
}

/// Takes a value over as it is.
pub(super) fn accept_value<T>(_: &str, said: T) -> Result<T> {
    Ok(said)
}

pub(super) fn trim_text(_: &str, text: String) -> Result<String> {
    Ok(text.trim().to_string())
}

/// An empty text removes the value.
pub(super) fn read_optional_text(_: &str, text: String) -> Result<Option<String>> {
    let text = text.trim();
    Ok((!text.is_empty()).then(|| text.to_string()))
}

pub(super) fn command(field: &str, command: CommandLine) -> Result<Vec<String>> {
    match command {
        CommandLine::List(words) => Ok(words),
        CommandLine::Line(line) => shlex::split(&line).ok_or_else(|| {
            invalid(format!("the command `{line}` has a quote without end")).in_field(field)
        }),
    }
}

pub(super) fn list(field: &str, words: Vec<String>) -> Result<Vec<String>> {
    check_list(field, words).map_err(|error| {
        // The check is shared with tasks.
        let code = match error.code {
            Code::TaskInvalid => Code::AgentInvalid,
            code => code,
        };
        Error { code, ..error }.in_field(field)
    })
}

/// Returns a warning about tags that no message can name.
pub(crate) fn find_dead_tags(agent: &Agent) -> Option<String> {
    let dead: Vec<String> = agent
        .tags
        .iter()
        .filter(|tag| !can_be_named(tag))
        .cloned()
        .collect();
    (!dead.is_empty()).then(|| {
        format!(
            "`{}` has tags that no message can name: {}; a word needs three letters or digits, and a sign splits it",
            agent.id,
            dead.join(", ")
        )
    })
}

pub(crate) fn find_unused_connection(agent: &Agent) -> Option<String> {
    let (endpoint, command) = (agent.endpoint.is_some(), !agent.command.is_empty());
    let (id, kind) = (&agent.id, agent.kind.word());
    let what = match agent.kind {
        Kind::Http => command.then_some("command")?,
        Kind::Cli => endpoint.then_some("endpoint")?,
        _ if endpoint => "endpoint",
        _ => command.then_some("command")?,
    };
    Some(format!(
        "`{id}` is of the kind {kind}, which does not use its {what}; a worker is registered as one: \
         cleo agents register --help"
    ))
}

pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::AgentInvalid, message)
}

/// Checks an id that a user chose: letters, digits, `.`, `_` and `-`, at most 64.
pub(crate) fn check_id(id: &str) -> Result<()> {
    if is_plain_id(id) {
        return Ok(());
    }
    let right = suggest_id(id);
    Err(invalid(format!(
        "`{id}` is not an id of an agent: letters, digits, `.`, `_` and `-`, at most 64, not first a sign"
    ))
    .did_you_mean(&right))
}

/// Returns whether an id is made of letters, digits, `.`, `_` and `-`, at most 64, not first a sign.
pub(crate) fn is_plain_id(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let begins = id.starts_with(|c: char| c.is_ascii_alphanumeric());
    begins && id.len() <= ID_MAX && id.chars().all(plain)
}

/// Makes an id from a text: `Lore Keeper` becomes `lore-keeper`. Never empty: a text without usable letters
/// gets a unique id that is always the same.
pub(crate) fn suggest_id(text: &str) -> String {
    let normal = crate::score::normalize(text);
    let words: Vec<&str> = normal
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let id: String = words.join("-").chars().take(ID_MAX).collect();
    match id.trim_end_matches('-') {
        "" if text.trim().is_empty() => "agent".to_string(),
        "" => {
            let digest = id::digest(text.trim());
            let digits = digest.trim_start_matches("sha256:");
            format!("agent-{}", &digits[..DIGITS])
        }
        id => id.to_string(),
    }
}

/// Makes another id of a used one: `lore-keeper` becomes `lore-keeper-2`.
pub(crate) fn add_number(id: &str, number: u32) -> String {
    let end = format!("-{number}");
    let begin: String = id.chars().take(ID_MAX - end.len()).collect();
    begin + &end
}
