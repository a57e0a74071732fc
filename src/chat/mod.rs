//! The meaning of messages to the chat. Pure. `answer` reads answers to a pending call, `grammar` reads whole sentences,
//! `model` reads the answer of a language model about other messages, and `value` validates values. Each makes a
//! [`Call`], which `ops::chat` carries out. Rules: chat notes, 2.2 to 2.6.

/// Declares patterns, each compiled on first use.
macro_rules! patterns {
    ($($(#[$about:meta])* $name:ident = $pattern:expr;)+) => {
        $($(#[$about])*
        pub(super) static $name: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
            regex::Regex::new(&$pattern).expect("every pattern is compiled by a test")
        });)+

        #[cfg(test)]
        #[test]
        fn patterns_compile_in_program() {
            $(crate::chat::check_pattern($name.as_str());)+
        }
    };
}

/// Compiles a pattern and refuses properties of Unicode, which the program is built without, while the
/// dependencies of tests bring them in.
#[cfg(test)]
pub(crate) fn check_pattern(pattern: &str) {
    assert!(regex::Regex::new(pattern).is_ok(), "{pattern}");
    let mut letters = pattern.split('\\').skip(1);
    assert!(!letters.any(|it| it.starts_with(['p', 'P'])), "{pattern}");
}

pub(crate) mod answer;
mod grammar;
pub(crate) mod model;
pub(crate) mod record;
mod sentence;
pub(crate) mod value;
pub(crate) mod vocabulary;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::vocabulary::{COMPONENT, DESIGN, Field, contains_word};
use crate::words::closed;
pub(crate) use sentence::Sentence;

closed! {
    #[derive(Default)]
    ChatAgent, "agent of the chat":
    /// Changes designs.
    Design = "design",
    /// Changes components that are named by their number.
    #[default]
    Editor = "editor",
    /// Finds out which component is meant.
    Clarifier = "clarifier",
}

macro_rules! tools {
    ($($variant:ident = $name:literal, $what:literal, $writes:literal, $takes:literal, $verbs:expr;)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
        pub(crate) enum Tool { $(#[doc = $name] #[serde(rename = $name)] $variant,)+ }

        impl Tool {
            pub(crate) const ALL: &[Tool] = &[$(Tool::$variant,)+];
            /// Verbs that ask for each, with `|` between.
            pub(crate) const VERBS: &[&str] = &[$($verbs,)+];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Tool::$variant => $name,)+ }
            }

            pub(crate) fn describe(self) -> &'static str {
                match self { $(Tool::$variant => $what,)+ }
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

const SHOW: &str = "show|list|get|view|display|find|fetch|see|search for|describe|tell me about";
const SET: &str = "set|change|update|edit|modify|rename|adjust|make|turn|switch";

tools! {
    GetClientDesign = "getClientDesign", "show design", false, "clientId", SHOW;
    GetQa = "getQAForClient", "show answers", false, "clientId", SHOW;
    UpdateDesign = "updateDesign", "change design", true, "clientId|designUpdates", SET;
    GetComponent = "getComponent", "show component", false, "clientId|componentId|criteria", SHOW;
    UpdateComponent = "updateComponent", "change component", true,
        "clientId|componentId|criteria|updates", SET;
    AddComponent = "addComponent", "add component", true, "clientId|componentId|updates",
        "add|create|insert|make";
    DeleteComponent = "deleteComponent", "delete component", true, "clientId|componentId|criteria",
        "delete|remove|erase|drop|discard|get rid of";
    AddSecurityGroup = "addSecurityGroup", "add security group to component", true,
        "clientId|componentId|criteria|security_group_title", "add|assign|attach|grant|give|put|secure";
    RemoveSecurityGroup = "removeSecurityGroup", "remove security group from component", true,
        "clientId|componentId|criteria|security_group_title", "remove|detach|revoke|take|drop|delete";
    SearchComponent = "searchComponent", "list components", false, "clientId|criteria", SHOW;
}

impl Tool {
    pub(crate) fn updates(self) -> &'static str {
        match self {
            Tool::UpdateDesign => "designUpdates",
            _ => "updates",
        }
    }

    pub(crate) fn fields(self) -> &'static [Field] {
        match self {
            Tool::UpdateDesign => DESIGN,
            _ => COMPONENT,
        }
    }
}

/// A call of a tool. Until it is complete, `criteria` may replace `componentId`, and a value to be asked
/// for is null, or an array of the words that may be meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) tool: Tool,
    /// Its arguments, spelled as in the specification.
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

    /// Returns the first field without a value.
    pub(crate) fn find_missing_value(&self) -> Option<String> {
        let updates = self.object(self.tool.updates()).into();
        let mut updates = value::flatten(&updates).into_iter();
        updates.find_map(|(path, value)| (value.is_null() || value.is_array()).then_some(path))
    }

    /// Returns whether a component is to be added whose type is missing.
    pub(crate) fn lacks_type(&self) -> bool {
        self.tool == Tool::AddComponent && !self.object("updates").contains_key("component_type")
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        text(&self.args, key)
    }

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

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meaning {
    Confirmed,
    Cancelled,
    /// The call that waited, on the component that was chosen.
    Chosen(Call),
    /// A number that is none of the list.
    Invalid,
    Nothing,
    Request(Call),
    /// Only names the client that the conversation is about from now on.
    Client(String),
    Help,
    Unknown,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct ToolResult {
    pub(crate) name: Tool,
    pub(crate) args: Map<String, Value>,
    pub(crate) result: Value,
}

/// An answer of the chat to one message, spelled as in its specification.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Turn {
    pub(crate) agent: ChatAgent,
    pub(crate) reply: String,
    pub(crate) conversation_id: String,
    pub(crate) tool_calls: Vec<ToolResult>,
    /// The call that waits for a yes, a choice, or what is missing.
    pub(crate) pending: Option<Pending>,
    /// How the call that was pending before was resolved; none if there was none, or if it is still pending.
    pub(crate) settled: Option<Resolution>,
    /// How the message was understood.
    pub(crate) reason: &'static str,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Chat {
    pub(crate) client: Option<String>,
    pub(crate) pending: Option<Pending>,
    pub(crate) question: Option<Question>,
    /// Digest of the changes that were shown.
    pub(crate) shown: Option<String>,
    /// When a pending call was last resolved, RFC 3339 in UTC: earlier ones are void.
    pub(crate) settled: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) call: Call,
    pub(crate) expires: String,
    pub(crate) kind: PendingKind,
}

/// The answer that a pending call needs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PendingKind {
    /// A yes or a no.
    #[default]
    Confirm,
    /// One of several components.
    Select,
    /// The id of the client.
    Client,
    /// The name of the field to change.
    Field,
    /// A value that the call does not have.
    Value,
}

/// How a pending call was resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Resolution {
    Confirmed,
    Chosen,
    Cancelled,
    Dropped,
    Expired,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct ComponentOption {
    pub(crate) id: String,
    /// Its type, such as `cards`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) title: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct FieldChange {
    pub(crate) label: String,
    pub(crate) before: Option<String>,
    pub(crate) after: String,
}

/// A call that waits for a yes, for the choice of a component, or for what is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Pending {
    #[serde(default)]
    pub(crate) kind: PendingKind,
    #[serde(default)]
    pub(crate) agent: ChatAgent,
    pub(crate) tool: Tool,
    /// Its arguments; the choice adds the component.
    pub(crate) args: Map<String, Value>,
    /// Ids of the components that can be chosen, in the order of the list.
    #[serde(default)]
    pub(crate) candidates: Vec<String>,
    /// The same components, as they are shown.
    #[serde(default)]
    pub(crate) options: Vec<ComponentOption>,
    /// The changes that a yes would make.
    #[serde(default)]
    pub(crate) changes: Vec<FieldChange>,
    /// Whether a yes removes something.
    #[serde(default)]
    pub(crate) destructive: bool,
    #[serde(default, rename = "created_at", alias = "createdAt")]
    pub(crate) created_at: String,
    #[serde(default)]
    pub(crate) expires: String,
    /// The call that follows once a component is chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub(crate) next: Option<Call>,
}

impl Pending {
    pub(crate) fn call(&self) -> Call {
        Call {
            tool: self.tool,
            args: self.args.clone(),
        }
    }
}

pub(crate) fn text<'a>(args: &'a Map<String, Value>, key: &str) -> &'a str {
    args.get(key).and_then(Value::as_str).unwrap_or_default()
}
