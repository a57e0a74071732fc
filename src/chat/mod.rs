//! The chat about designs and components, without any IO: from a message, and what the conversation
//! remembers, to the next call of a tool or to the reply. [`talk`] is the way through it, `router`
//! chooses one of the three agents, and each agent is a function of the request and of what the tools
//! returned so far. Rules: chat notes, sections 2.2 to 2.6.

mod answer;
mod clarifier;
mod design;
mod editor;
mod kind;
mod message;
mod pending;
pub(crate) mod record;
mod request;
mod router;
pub(crate) mod talk;
pub(crate) mod value;
mod vocabulary;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use answer::is_short;
pub(crate) use message::client_id;
pub(crate) use pending::{Ask, Chat, Choosable, Difference, Pending, PendingKind, Settled};
pub(crate) use router::{NO_RULE, route};
pub(crate) use vocabulary::{ELEMENTS, component_type};

/// One of the agents of the chat.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChatAgent {
    /// Changes designs.
    Design,
    /// Changes components that are named by their number.
    Editor,
    /// Finds out which component is meant.
    Clarifier,
}

macro_rules! tools {
    ($($variant:ident = $name:literal, $writes:literal;)+) => {
        /// A tool of the agents.
        #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub(crate) enum Tool { $(#[doc = $name] #[serde(rename = $name)] $variant,)+ }

        impl Tool {
            /// Returns its name.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Tool::$variant => $name,)+ }
            }

            /// Says whether it changes something, and so needs a yes.
            pub(crate) fn writes(self) -> bool {
                match self { $(Tool::$variant => $writes,)+ }
            }
        }
    };
}

tools! {
    GetClientDesign = "getClientDesign", false;
    GetQa = "getQAForClient", false;
    UpdateDesign = "updateDesign", true;
    GetComponent = "getComponent", false;
    UpdateComponent = "updateComponent", true;
    AddComponent = "addComponent", true;
    DeleteComponent = "deleteComponent", true;
    AddSecurityGroup = "addSecurityGroup", true;
    RemoveSecurityGroup = "removeSecurityGroup", true;
    SearchComponent = "searchComponent", false;
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Call {
    /// The tool.
    pub(crate) tool: Tool,
    /// What it is given, spelled as in the specification.
    pub(crate) args: Map<String, Value>,
}

/// A call of a tool that was made.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Called {
    /// The tool.
    pub(crate) name: Tool,
    /// What it was given.
    pub(crate) args: Map<String, Value>,
    /// What it returned.
    pub(crate) result: Value,
}

/// What happens next.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A tool is called.
    Call(Call),
    /// A tool that writes is tried without writing, to know what a yes would do.
    Rehearse(Call),
    /// The reply is there.
    Say(Saying),
}

impl Step {
    /// Adds to a reply what became of what waited, unless it says that already.
    fn settling(self, settled: Option<Settled>) -> Step {
        match self {
            Step::Say(saying) => Step::Say(Saying {
                settled: saying.settled.or(settled),
                ..saying
            }),
            step => step,
        }
    }
}

/// A reply, and what waits after it.
#[derive(Clone, Debug)]
pub(crate) struct Saying {
    /// Who replies.
    pub(crate) agent: ChatAgent,
    /// The reply.
    pub(crate) text: String,
    /// What waits.
    pub(crate) wait: Wait,
    /// What became of what waited before, if that is over.
    pub(crate) settled: Option<Settled>,
}

/// What waits for the user's next message.
#[derive(Clone, Debug)]
pub(crate) enum Wait {
    /// Nothing.
    Nothing,
    /// What waited before.
    Kept,
    /// A yes or a choice.
    Pending(Box<Pending>),
    /// What a request lacks.
    Ask(Ask),
}

impl Saying {
    /// A reply after which nothing waits.
    fn new(agent: ChatAgent, text: impl Into<String>) -> Saying {
        Saying {
            agent,
            text: text.into(),
            wait: Wait::Nothing,
            settled: None,
        }
    }

    /// Adds a line to its text.
    fn adding(mut self, line: &str) -> Saying {
        if !line.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text += line;
        self
    }

    /// Adds what waits.
    fn waiting(mut self, wait: Wait) -> Saying {
        self.wait = wait;
        self
    }
}

/// An answer of the chat to one message.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Turn {
    /// Who replies.
    pub(crate) agent: ChatAgent,
    /// The reply.
    pub(crate) reply: String,
    /// The conversation that it belongs to.
    pub(crate) conversation_id: String,
    /// The tools that were called, in their order.
    pub(crate) tool_calls: Vec<Called>,
    /// What waits for a yes or a choice.
    pub(crate) pending: Option<Pending>,
    /// What became of what waited before this message; none where nothing waited, and while it still does.
    pub(crate) settled: Option<Settled>,
    /// The rule by which the agent was chosen.
    pub(crate) reason: String,
}

/// Makes the arguments of a tool.
fn args<const N: usize>(pairs: [(&str, Value); N]) -> Map<String, Value> {
    pairs
        .into_iter()
        .map(|(key, value)| (key.to_string(), value))
        .collect()
}

/// Returns the text under a key, or nothing.
fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns what is wrong, if a tool says so.
fn fault(result: &Value) -> Option<&str> {
    result.get("error").and_then(Value::as_str)
}
