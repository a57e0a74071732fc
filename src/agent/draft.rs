//! Fields of an agent as given by a user, a file or another program, and their validation. Names are read in
//! both styles (`maxTokens`, `max_tokens`).

mod check;
#[cfg(test)]
mod tests;

use std::str::FromStr;

use clap::Args;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use self::check::check;
pub(crate) use self::check::require_prompt;
use super::{Agent, AgentStatus, Kind, Role};
use crate::error::{Code, Error, Result, nearest, shortened};
use crate::id;
use crate::strict::{self, Fault};
use crate::task::rules::check_list;

/// Longest name, in characters.
pub(crate) const NAME_MAX: usize = 100;

/// Longest id, in characters.
const ID_MAX: usize = 64;

/// How many digits tell ids apart that are made of names without letters for one.
const DIGITS: usize = 8;

/// Longest account of what is wrong with a value, in characters.
const FAULT_MAX: usize = 160;

// Fields of an agent; what is left out stays as it is, or is the default. A doc comment would become the help of
// the commands.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize)]
#[serde(expecting = "the fields of an agent")]
pub(crate) struct Draft {
    #[arg(skip)]
    pub(crate) id: Option<String>,

    /// `http` or `cli` makes it a worker, and so does an endpoint or a command.
    #[arg(skip)]
    #[serde(rename = "type", alias = "kind", deserialize_with = "word", default)]
    pub(crate) kind: Option<Kind>,

    #[arg(skip)]
    pub(crate) name: Option<String>,

    /// What it is good at; its words bring messages to it
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    /// What it works towards; its words bring messages to it
    #[arg(long, value_name = "TEXT")]
    pub(crate) objective: Option<String>,

    /// What a model is told before the message
    #[arg(long, value_name = "TEXT")]
    #[serde(alias = "systemPrompt")]
    pub(crate) prompt: Option<String>,

    /// Word or words by which messages reach it (repeat, or separate with commas)
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    #[serde(deserialize_with = "words", default)]
    pub(crate) tags: Option<Vec<String>>,

    /// supervisor, specialist or custom
    #[arg(long, value_name = "ROLE")]
    #[serde(deserialize_with = "word", default)]
    pub(crate) role: Option<Role>,

    /// active, paused or archived
    #[arg(long, value_name = "STATUS")]
    #[serde(deserialize_with = "word", default)]
    pub(crate) status: Option<AgentStatus>,

    /// Model that answers
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// How freely it answers, from 0 to 2
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[cfg_attr(feature = "schemas", schemars(range(min = 0, max = 2)))]
    pub(crate) temperature: Option<f64>,

    /// Most tokens of an answer
    #[arg(long, value_name = "N")]
    #[serde(alias = "maxTokens")]
    pub(crate) max_tokens: Option<u32>,

    /// Colour in pictures, such as #6B7280
    #[arg(id = "agent_color", long = "agent-color", value_name = "COLOUR")]
    pub(crate) color: Option<String>,

    /// Name of its icon
    #[arg(long, value_name = "NAME")]
    pub(crate) icon: Option<String>,

    /// Tool that it may use (repeat, or separate with commas)
    #[arg(long = "tool", value_name = "TOOL", value_delimiter = ',')]
    #[serde(deserialize_with = "words", default)]
    pub(crate) tools: Option<Vec<String>>,

    /// What a worker can be asked for, such as summary.create (repeat)
    #[arg(long = "intent", value_name = "INTENT", value_delimiter = ',')]
    #[serde(deserialize_with = "words", default)]
    pub(crate) intents: Option<Vec<String>>,

    /// The one thing that it offers to plans
    #[arg(long, value_name = "NAME")]
    pub(crate) capability: Option<String>,

    /// What it can do, for plans (repeat, or separate with commas)
    #[arg(long = "skill", value_name = "SKILL", value_delimiter = ',')]
    #[serde(deserialize_with = "words", default)]
    pub(crate) skills: Option<Vec<String>>,

    /// Address of a worker that is reached by HTTP
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,

    /// Program and arguments of a worker: a list, or one line split like a shell's, without a shell.
    #[arg(skip)]
    #[serde(deserialize_with = "command", default)]
    pub(crate) command: Option<Vec<String>>,

    /// Address that says whether a worker is there
    #[arg(long, value_name = "URL")]
    pub(crate) healthcheck: Option<String>,

    /// How long a worker may take, in milliseconds
    #[arg(long, value_name = "MS")]
    #[serde(alias = "timeoutMs")]
    pub(crate) timeout_ms: Option<u32>,

    /// Everything else, which cleo does not use.
    #[arg(skip)]
    #[serde(flatten)]
    #[cfg_attr(feature = "schemas", schemars(skip))]
    pub(crate) other: Map<String, Value>,
}

/// Reads a word of a closed set, in any letter case.
fn word<'de, D: Deserializer<'de>, T: FromStr<Err = String>>(
    from: D,
) -> std::result::Result<Option<T>, D::Error> {
    let word = Option::<String>::deserialize(from)?;
    let read = word.map(|word| word.parse());
    read.transpose().map_err(serde::de::Error::custom)
}

pub(crate) fn words<'de, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "it must be a list of words, or words with commas between them"
    )]
    enum Words {
        Line(String),
        List(Vec<String>),
    }
    Ok(match Option::<Words>::deserialize(from)? {
        None => None,
        Some(Words::List(list)) => Some(list),
        Some(Words::Line(line)) => Some(line.split(',').map(|word| word.trim().into()).collect()),
    })
}

/// Reads a command: a list of arguments, or one line that is split as a shell would.
fn command<'de, D: Deserializer<'de>>(
    from: D,
) -> std::result::Result<Option<Vec<String>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "it must be a list of arguments, or a line of them"
    )]
    enum Command {
        Line(String),
        List(Vec<String>),
    }
    Ok(match Option::<Command>::deserialize(from)? {
        None => None,
        Some(Command::List(list)) => Some(list),
        Some(Command::Line(line)) => Some(shlex::split(&line).ok_or_else(|| {
            serde::de::Error::custom(format!("the command `{line}` has a quote without end"))
        })?),
    })
}

macro_rules! fields {
    ($($field:ident)+) => {
        /// The fields, as the specification's table spells them.
        const NAMES: &[&str] = &[$(stringify!($field),)+ "type"];

        impl Draft {
            /// Fills what is left out by what another draft says.
            pub(crate) fn or(self, below: Draft) -> Draft {
                Draft { $($field: self.$field.or(below.$field),)+ other: below.other }
            }
        }
    };
}

fields! {
    id kind name description objective prompt tags role status model temperature max_tokens color icon tools intents
    capability skills endpoint command healthcheck timeout_ms
}

/// Fields that only cleo sets.
const OWN: [&str; 11] = [
    "createdAt",
    "updatedAt",
    "lastUsedAt",
    "executions",
    "expiresAt",
    "file",
    "isBuiltin",
    "isRuntime",
    "kind",
    "standing",
    "userId",
];

/// Fields of agents of other programs, which cleo does not use.
const FOREIGN: [&str; 5] = [
    "customInstructions",
    "memoryEnabled",
    "memoryType",
    "stopConditions",
    "toolSchemas",
];

impl Draft {
    /// Reads a draft from a row of the table that may have been read before: what only cleo sets is passed over, and so
    /// is what is null.
    pub(crate) fn from_row(mut row: Map<String, Value>) -> Result<Draft> {
        row.retain(|name, value| !strict::is_among(name, &OWN) && !value.is_null());
        Draft::from_value(Value::Object(row))
    }

    /// Refuses a field that seems to be misspelled: what was meant would be lost.
    pub(crate) fn check_spelling(&self) -> Result<()> {
        let mut others = self.other.keys().map(String::as_str);
        let is_misspelled = |name: &&str| {
            !strict::is_among(name, &FOREIGN) && nearest(name, NAMES.iter().copied()).is_some()
        };
        match others.find(is_misspelled) {
            Some(name) => Err(invalid(strict::unread(name, NAMES)).in_field(name)),
            None => Ok(()),
        }
    }

    /// Reads a draft from a JSON object. The error of an invalid value names its field and quotes at most a
    /// line.
    pub(crate) fn from_value(value: Value) -> Result<Draft> {
        strict::read(value).map_err(|Fault { path, what }| {
            let what = shortened(&what, FAULT_MAX);
            match path.split(['.', '[']).next() {
                None | Some("") => invalid(what),
                Some(first) => invalid(format!("{path}: {what}")).in_field(first.to_string()),
            }
        })
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
    pub(crate) fn connects(&self) -> Vec<Kind> {
        let endpoint = self.endpoint.as_ref().map(|_| Kind::Http);
        let command = self.command.as_ref().map(|_| Kind::Cli);
        endpoint.into_iter().chain(command).collect()
    }

    /// Returns of which kind the agent is to be: what was said, else what the connection tells.
    pub(crate) fn kind(&self) -> Option<Kind> {
        self.kind.or_else(|| self.connects().first().copied())
    }

    pub(crate) fn apply(self, agent: &mut Agent) -> Result<()> {
        let trimmed = |text: Option<String>| text.map(|text| text.trim().to_string());
        put(&mut agent.role, self.role);
        put(&mut agent.status, self.status);
        put(&mut agent.name, trimmed(self.name));
        put(&mut agent.description, self.description);
        put(&mut agent.objective, self.objective);
        put(&mut agent.prompt, self.prompt);
        put(&mut agent.model, trimmed(self.model));
        put(&mut agent.temperature, self.temperature);
        put(&mut agent.max_tokens, self.max_tokens);
        put(&mut agent.color, self.color);
        put(&mut agent.icon, self.icon);
        put(&mut agent.tags, list("tags", self.tags)?);
        put(&mut agent.tools, list("tools", self.tools)?);
        put(&mut agent.intents, list("intents", self.intents)?);
        put(&mut agent.skills, list("skills", self.skills)?);
        put(&mut agent.capability, self.capability.map(filled));
        put(&mut agent.endpoint, self.endpoint.map(filled));
        put(&mut agent.command, self.command);
        put(&mut agent.healthcheck, self.healthcheck.map(filled));
        put(&mut agent.timeout_ms, self.timeout_ms);
        check(agent)
    }
}

fn put<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// An empty text takes the value away.
fn filled(text: String) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_string())
}

fn list(field: &str, words: Option<Vec<String>>) -> Result<Option<Vec<String>>> {
    let words = words.map(|words| check_list(field, words)).transpose();
    words.map_err(|error| {
        // The check is shared with tasks.
        let code = match error.code {
            Code::TaskInvalid => Code::AgentInvalid,
            code => code,
        };
        Error { code, ..error }.in_field(field)
    })
}

pub(crate) fn unused_connection(agent: &Agent) -> Option<String> {
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
    let right = suggested(id);
    Err(invalid(format!(
        "`{id}` is no id of an agent: letters, digits, `.`, `_` and `-`, at most 64, not first a sign"
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
pub(crate) fn suggested(text: &str) -> String {
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

/// Makes another id of one that is taken: `lore-keeper` becomes `lore-keeper-2`.
pub(crate) fn numbered(id: &str, number: u32) -> String {
    let end = format!("-{number}");
    let begin: String = id.chars().take(ID_MAX - end.len()).collect();
    begin + &end
}
