//! What a conversation remembers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Call, ChatAgent, Tool};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Chat {
    /// The client that was named last.
    pub(crate) client: Option<String>,
    pub(crate) pending: Option<Pending>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<Question>,
    /// Digest of what was shown of what waits for a yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<String>,
    /// When something last ceased to wait, RFC 3339 in UTC: what began to wait until then is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) settled: Option<String>,
}

/// A call whose client was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) call: Call,
    pub(crate) expires: String,
}

/// What an answer is waited for.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PendingKind {
    /// A yes or a no.
    #[default]
    Confirm,
    /// One of several components.
    Select,
}

/// What became of what waited.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Settled {
    /// A yes came, and the call was made.
    Confirmed,
    /// A component was chosen.
    Chosen,
    /// A no came.
    Cancelled,
    /// Another request came in its place.
    Dropped,
    /// Its time was over.
    Expired,
}

/// A component that can be chosen.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Choosable {
    pub(crate) id: String,
    /// What it is, such as `cards`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// What it is called; may be empty.
    pub(crate) title: String,
}

/// A value that would change.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Difference {
    /// What people call it.
    pub(crate) label: String,
    /// None when it is not set.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
}

/// A call that waits for a yes or for the choice of a component.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Pending {
    #[serde(default)]
    pub(crate) kind: PendingKind,
    /// Who waits.
    #[serde(default)]
    pub(crate) agent: ChatAgent,
    /// The tool that will be called.
    pub(crate) tool: Tool,
    /// What it will be given; the choice adds the component.
    pub(crate) args: Map<String, Value>,
    /// Ids of the components that can be chosen, in the order of the list.
    #[serde(default)]
    pub(crate) candidates: Vec<String>,
    /// The same components, as people tell them apart.
    #[serde(default)]
    pub(crate) options: Vec<Choosable>,
    /// What a yes would change, value by value.
    #[serde(default)]
    pub(crate) changes: Vec<Difference>,
    /// Whether a yes takes something away.
    #[serde(default)]
    pub(crate) destructive: bool,
    /// When it began to wait.
    #[serde(default, rename = "created_at", alias = "createdAt")]
    pub(crate) created_at: String,
    /// When it is forgotten.
    #[serde(default)]
    pub(crate) expires: String,
    /// What follows once a component is chosen from the list that was offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemas", schemars(with = "Option<Value>"))]
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
