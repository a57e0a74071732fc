//! An agent as a row of the specification's table, and what may be said of one.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent::draft::Draft;
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::error::{Code, Error, Result, nearest};
use crate::http::body;
use crate::ops::agents::Shown;
use crate::ops::trust::Standing;
use crate::strict;

/// The columns of the table, and what cleo knows besides.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
#[serde(remote = "Agent")]
struct Columns {
    id: String,
    user_id: Option<String>,
    name: String,
    description: String,
    role: Role,
    objective: String,
    prompt: String,
    model: String,
    temperature: f64,
    max_tokens: u32,
    color: String,
    icon: String,
    tags: Vec<String>,
    tools: Vec<String>,
    status: AgentStatus,
    is_runtime: bool,
    created_at: Option<String>,
    updated_at: Option<String>,
    last_used_at: Option<String>,
    kind: Kind,
    #[serde(getter = "Agent::is_builtin")]
    is_builtin: bool,
    intents: Vec<String>,
    capability: Option<String>,
    skills: Vec<String>,
    endpoint: Option<String>,
    command: Vec<String>,
    healthcheck: Option<String>,
    timeout_ms: u32,
}

/// An agent as a row.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Serialize)]
pub(in crate::http) struct Row {
    #[serde(flatten, with = "Columns")]
    #[cfg_attr(feature = "schemas", schemars(with = "Columns"))]
    agent: Agent,
    /// The file that it stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Whether it may be called, of a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<Standing>,
}

impl From<Agent> for Row {
    fn from(agent: Agent) -> Row {
        Row {
            agent,
            file: None,
            standing: None,
        }
    }
}

impl From<Shown> for Row {
    fn from(shown: Shown) -> Row {
        Row {
            agent: shown.agent,
            file: shown.file,
            standing: shown.standing,
        }
    }
}

/// What may be said of an agent. Names are read as the table spells them, and in camelCase.
#[cfg(feature = "schemas")]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "it only describes what Draft reads")]
pub(in crate::http) struct Fields {
    #[schemars(flatten)]
    draft: Draft,
    /// When it was last changed as far as the caller knows; another moment is refused.
    updated_at: Option<String>,
}

/// What may be said of an agent.
#[cfg(not(feature = "schemas"))]
pub(in crate::http) struct Fields;

/// Fields of agents of other programs, which cleo does not use.
const FOREIGN: [&str; 5] = [
    "customInstructions",
    "memoryEnabled",
    "memoryType",
    "stopConditions",
    "toolSchemas",
];
/// Fields that can be said, as the table spells them.
const KNOWN: [&str; 22] = [
    "id",
    "type",
    "name",
    "description",
    "role",
    "objective",
    "prompt",
    "model",
    "temperature",
    "max_tokens",
    "color",
    "icon",
    "tags",
    "tools",
    "status",
    "intents",
    "capability",
    "skills",
    "endpoint",
    "command",
    "healthcheck",
    "timeout_ms",
];

/// Reads what is said of an agent that stays. A field that seems to be misspelled is refused: what was
/// meant would be lost. What cleo plainly does not use is told.
pub(in crate::http) fn spelled(fields: Map<String, Value>) -> Result<Draft> {
    let draft = draft(fields)?;
    let mut others = draft.other.keys().map(String::as_str);
    let is_foreign = |name: &str| body::is_among(name, &FOREIGN);
    let misspelled = others.find(|name| !is_foreign(name) && nearest(name, KNOWN).is_some());
    match misspelled {
        Some(name) => {
            let message = strict::unread(name, &KNOWN);
            Err(Error::new(Code::AgentInvalid, message).in_field(name))
        }
        None => Ok(draft),
    }
}

/// Reads what is said of an agent. What only the server says is passed over, and so is what is null.
pub(in crate::http) fn draft(mut fields: Map<String, Value>) -> Result<Draft> {
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
    fields.retain(|name, value| !body::is_among(name, &OWN) && !value.is_null());
    Draft::from_value(Value::Object(fields)).map_err(|error| {
        // What is no agent at all is told as what is wrong with one.
        Error {
            code: Code::AgentInvalid,
            ..error
        }
    })
}
