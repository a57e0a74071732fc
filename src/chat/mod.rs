//! What a message to the chat means, without any IO. `answer` reads answers to what waits, `grammar` reads
//! whole sentences, `model` reads what a language model makes of the rest, and `veto` refuses what neither
//! may mean. Each of them makes a [`Call`], which `ops::chat` carries out. Rules: chat notes, 2.2 to 2.6.

/// Declares a pattern that is compiled when it is first used.
macro_rules! pattern {
    ($name:ident, $pattern:expr) => {
        static $name: std::sync::LazyLock<Option<regex::Regex>> =
            std::sync::LazyLock::new(|| regex::Regex::new(&$pattern).ok());
    };
}

pub(crate) mod answer;
mod grammar;
pub(crate) mod model;
pub(crate) mod pending;
pub(crate) mod record;
mod sentence;
pub(crate) mod value;
mod veto;
pub(crate) mod vocabulary;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::vocabulary::{COMPONENT, DESIGN, Field, contains_word};
pub(crate) use pending::{Chat, Choosable, Difference, Pending, PendingKind, Settled};
pub(crate) use sentence::Sentence;
pub(crate) use veto::check_fields;

/// One of the agents of the chat.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ChatAgent {
    /// Changes designs.
    Design,
    /// Changes components that are named by their number.
    #[default]
    Editor,
    /// Finds out which component is meant.
    Clarifier,
}

macro_rules! tools {
    ($($variant:ident = $name:literal, $writes:literal, $takes:literal;)+) => {
        /// A tool of the agents.
        #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub(crate) enum Tool { $(#[doc = $name] #[serde(rename = $name)] $variant,)+ }

        impl Tool {
            pub(crate) const ALL: &[Tool] = &[$(Tool::$variant,)+];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Tool::$variant => $name,)+ }
            }

            /// A tool that writes is called after a yes only.
            pub(crate) fn can_write(self) -> bool {
                match self { $(Tool::$variant => $writes,)+ }
            }

            pub(crate) fn takes(self, name: &str) -> bool {
                contains_word(match self { $(Tool::$variant => $takes,)+ }, name)
            }
        }
    };
}

tools! {
    GetClientDesign = "getClientDesign", false, "clientId";
    GetQa = "getQAForClient", false, "clientId";
    UpdateDesign = "updateDesign", true, "clientId|designUpdates";
    GetComponent = "getComponent", false, "clientId|componentId|criteria";
    UpdateComponent = "updateComponent", true, "clientId|componentId|criteria|updates";
    AddComponent = "addComponent", true, "clientId|componentId|updates";
    DeleteComponent = "deleteComponent", true, "clientId|componentId|criteria";
    AddSecurityGroup = "addSecurityGroup", true, "clientId|componentId|criteria|security_group_title";
    RemoveSecurityGroup = "removeSecurityGroup", true,
        "clientId|componentId|criteria|security_group_title";
    SearchComponent = "searchComponent", false, "clientId|criteria";
}

impl Tool {
    /// Works on one component, which may still have to be chosen.
    pub(crate) fn is_on_component(self) -> bool {
        self.takes("componentId") && self.takes("criteria")
    }

    /// Returns the name under which it takes changes.
    pub(crate) fn updates(self) -> &'static str {
        match self {
            Tool::UpdateDesign => "designUpdates",
            _ => "updates",
        }
    }

    /// Returns the fields that it writes or compares.
    pub(crate) fn fields(self) -> &'static [Field] {
        match self {
            Tool::UpdateDesign => DESIGN,
            _ => COMPONENT,
        }
    }
}

/// A call of a tool. Until it is complete, `criteria` may stand for `componentId`, and a value to be asked
/// for is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) tool: Tool,
    /// What it is given, spelled as in the specification.
    pub(crate) args: Map<String, Value>,
}

impl Call {
    pub(crate) fn new(tool: Tool) -> Call {
        let args = Map::new();
        Call { tool, args }
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.args.contains_key(key)
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        text(&self.args, key)
    }

    /// Returns the object under a key, or an empty one.
    pub(crate) fn object(&self, key: &str) -> Map<String, Value> {
        let object = self.args.get(key).and_then(Value::as_object);
        object.cloned().unwrap_or_default()
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.args.insert(key.to_string(), value.into());
    }

    /// Puts a component in place of what describes it.
    pub(crate) fn choose_component(mut self, component: &str) -> Call {
        self.args.remove("criteria");
        self.set("componentId", component);
        self
    }
}

/// A call of a tool that was made.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Called {
    pub(crate) name: Tool,
    pub(crate) args: Map<String, Value>,
    pub(crate) result: Value,
}

/// An answer of the chat to one message.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Turn {
    /// Who replies.
    pub(crate) agent: ChatAgent,
    pub(crate) reply: String,
    /// The conversation that it belongs to.
    pub(crate) conversation_id: String,
    /// The tools that were called, in their order.
    pub(crate) tool_calls: Vec<Called>,
    /// What waits for a yes or a choice.
    pub(crate) pending: Option<Pending>,
    /// What became of what waited before this message; none where nothing waited, and while it still does.
    pub(crate) settled: Option<Settled>,
    /// How the message was understood.
    pub(crate) reason: String,
}

/// Returns the text under a key, or an empty one.
pub(crate) fn text<'a>(args: &'a Map<String, Value>, key: &str) -> &'a str {
    args.get(key).and_then(Value::as_str).unwrap_or_default()
}
