//! An agent as a row of the specification's table, and what may be said of one.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::agent::draft::Draft;
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::error::{Code, Error, Result, nearest};
use crate::http::body;
use crate::ops::agents::Shown;
use crate::ops::trust::Standing;

/// An agent, with every column of the table and what cleo knows besides.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(in crate::http) struct Row {
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
    is_builtin: bool,
    intents: Vec<String>,
    capability: Option<String>,
    skills: Vec<String>,
    endpoint: Option<String>,
    command: Vec<String>,
    healthcheck: Option<String>,
    timeout_ms: u32,
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
            is_builtin: agent.is_builtin(),
            id: agent.id,
            user_id: agent.user_id,
            name: agent.name,
            description: agent.description,
            role: agent.role,
            objective: agent.objective,
            prompt: agent.prompt,
            model: agent.model,
            temperature: agent.temperature,
            max_tokens: agent.max_tokens,
            color: agent.color,
            icon: agent.icon,
            tags: agent.tags,
            tools: agent.tools,
            status: agent.status,
            is_runtime: agent.is_runtime,
            created_at: agent.created_at,
            updated_at: agent.updated_at,
            last_used_at: agent.last_used_at,
            kind: agent.kind,
            intents: agent.intents,
            capability: agent.capability,
            skills: agent.skills,
            endpoint: agent.endpoint,
            command: agent.command,
            healthcheck: agent.healthcheck,
            timeout_ms: agent.timeout_ms,
            file: None,
            standing: None,
        }
    }
}

impl From<Shown> for Row {
    fn from(shown: Shown) -> Row {
        Row {
            file: shown.file,
            standing: shown.standing,
            ..Row::from(shown.agent)
        }
    }
}

/// What may be said of an agent. Names are read as the table spells them, and in camelCase.
#[cfg(feature = "schemas")]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "it only describes what Draft reads")]
pub(in crate::http) struct Fields {
    id: Option<String>,
    /// `http` or `cli` makes it a worker, and so does an endpoint or a command.
    #[schemars(rename = "type")]
    kind: Option<Kind>,
    name: Option<String>,
    description: Option<String>,
    role: Option<Role>,
    objective: Option<String>,
    prompt: Option<String>,
    model: Option<String>,
    #[schemars(range(min = 0, max = 2))]
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    color: Option<String>,
    icon: Option<String>,
    tags: Option<Vec<String>>,
    tools: Option<Vec<String>>,
    status: Option<AgentStatus>,
    intents: Option<Vec<String>>,
    capability: Option<String>,
    skills: Option<Vec<String>>,
    endpoint: Option<String>,
    command: Option<Vec<String>>,
    healthcheck: Option<String>,
    timeout_ms: Option<u32>,
    /// When it was last changed as far as the caller knows; another moment is refused.
    updated_at: Option<String>,
}

/// What may be said of an agent.
#[cfg(not(feature = "schemas"))]
pub(in crate::http) struct Fields;

/// Fields of agents of other programs, which cleo does not use.
const FOREIGN: [&str; 10] = [
    "customInstructions",
    "custom_instructions",
    "memoryEnabled",
    "memory_enabled",
    "memoryType",
    "memory_type",
    "stopConditions",
    "stop_conditions",
    "toolSchemas",
    "tool_schemas",
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
    let misspelled = others.find(|name| !FOREIGN.contains(name) && nearest(name, KNOWN).is_some());
    match misspelled {
        Some(name) => {
            let message = body::unread(name, &KNOWN);
            Err(Error::new(Code::AgentInvalid, message).in_field(name))
        }
        None => Ok(draft),
    }
}

/// Reads what is said of an agent. What only the server says is passed over, and so is what is null.
pub(in crate::http) fn draft(mut fields: Map<String, Value>) -> Result<Draft> {
    const OWN: [&str; 14] = [
        "created_at",
        "createdAt",
        "executions",
        "expiresAt",
        "file",
        "isBuiltin",
        "isRuntime",
        "is_builtin",
        "is_runtime",
        "last_used_at",
        "lastUsedAt",
        "standing",
        "user_id",
        "userId",
    ];
    fields.retain(|name, value| {
        !OWN.contains(&name.as_str())
            && !matches!(name.as_str(), "updated_at" | "updatedAt" | "kind")
            && !value.is_null()
    });
    Draft::from_value(Value::Object(fields)).map_err(|error| {
        // What is no agent at all is told as what is wrong with one.
        Error {
            code: Code::AgentInvalid,
            ..error
        }
    })
}
