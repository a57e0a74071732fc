//! What a caller holds of a conversation and hands in with a message. It is judged like all that strangers
//! send, it counts only where nothing of the kind is remembered here, and what it asks for is done after a
//! yes only, as ever.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::offer;
use super::tools::run;
use crate::chat::record::ID_MAX;
use crate::chat::value::brief;
use crate::chat::{
    Call, Chat, ChatAgent, Choosable, Difference, Pending, PendingKind, Sentence, Tool, text,
};
use crate::clock::parse_moment;
use crate::error::{Code, Error, Result};
use crate::store::agency::AgencyTransaction;
use crate::task::rules::TEXT_MAX;

/// Most messages of a conversation that are taken.
const REMARKS_MAX: usize = 1_000;

/// A message of a conversation, whoever said it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Remark {
    /// What was said.
    #[serde(alias = "text", alias = "message")]
    content: String,
}

/// What waits for a yes or a choice, in the form in which the chat tells it. Only the tool and its
/// arguments are needed.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Operation {
    /// What is waited for: a yes, unless told.
    kind: Option<PendingKind>,
    /// Who waits.
    agent: Option<ChatAgent>,
    /// The tool that will be called.
    tool: Tool,
    /// What it will be given.
    args: Map<String, Value>,
    /// Ids of the components that can be chosen.
    #[serde(default)]
    candidates: Vec<String>,
    /// Found out anew.
    #[serde(default)]
    #[expect(dead_code, reason = "it is part of what the chat tells")]
    options: Vec<Choosable>,
    /// Found out anew.
    #[serde(default)]
    #[expect(dead_code, reason = "it is part of what the chat tells")]
    changes: Vec<Difference>,
    /// Found out anew.
    #[serde(default)]
    #[expect(dead_code, reason = "it is part of what the chat tells")]
    destructive: bool,
    /// When it began to wait, RFC 3339; now unless told.
    #[serde(rename = "created_at", alias = "createdAt")]
    created_at: Option<String>,
    /// When it is forgotten, RFC 3339; never later than what begins to wait now.
    expires: Option<String>,
    /// What follows once a component is chosen from the list that was offered.
    #[cfg_attr(feature = "schemas", schemars(with = "Option<Value>"))]
    next: Option<Call>,
}

/// What a caller holds of a conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    /// What was said so far, the oldest first.
    pub(crate) conversation: Vec<Remark>,
    /// What waits.
    pub(crate) pending: Option<Operation>,
}

/// Adds to what is remembered of a conversation what the caller holds of it and is not remembered.
pub(super) fn join(
    transaction: &mut dyn AgencyTransaction,
    chat: &mut Chat,
    held: &Held,
    (now, expires): (&str, &str),
) -> Result<()> {
    let named = client(&held.conversation)?;
    if let Some(operation) = held.pending.as_ref().filter(|_| chat.pending.is_none())
        && !operation.is_settled(chat)?
    {
        chat.pending = Some(operation.judge(transaction, now, expires)?);
    }
    let waiting = chat.pending.as_ref();
    let waiting = waiting.map(|pending| text(&pending.args, "clientId").to_string());
    let waiting = waiting.filter(|client| !client.is_empty());
    chat.client = chat.client.take().or(named).or(waiting);
    Ok(())
}

/// Finds the client that was named last.
fn client(conversation: &[Remark]) -> Result<Option<String>> {
    let count = conversation.len();
    if count > REMARKS_MAX {
        let message =
            format!("conversation: it has {count} messages; at most {REMARKS_MAX} are read");
        return Err(Error::new(Code::InputInvalid, message));
    }
    if conversation
        .iter()
        .any(|remark| remark.content.len() > TEXT_MAX)
    {
        let message = format!("conversation: a message has more than {TEXT_MAX} bytes");
        return Err(Error::new(Code::TextTooLong, message));
    }
    let mut latest = conversation.iter().rev();
    Ok(latest.find_map(|remark| Sentence::read(&remark.content).client().map(String::from)))
}

impl Operation {
    /// Whether it began to wait before something ceased to, so that it was answered or dropped.
    fn is_settled(&self, chat: &Chat) -> Result<bool> {
        let since = read_moment("created_at", self.created_at.as_deref())?;
        let settled = chat.settled.as_ref();
        // Times of one form are in the order of their bytes.
        Ok(since.is_some_and(|since| settled.is_some_and(|at| since <= *at)))
    }

    /// Makes what waits of it, if it can be so.
    fn judge(
        &self,
        transaction: &mut dyn AgencyTransaction,
        now: &str,
        expires: &str,
    ) -> Result<Pending> {
        let kind = self.kind.unwrap_or(PendingKind::Confirm);
        let call = Call {
            tool: self.tool,
            args: self.args.clone(),
        };
        check_args(&call)?;
        self.next.as_ref().map(check_next).transpose()?;
        let candidates = match kind {
            PendingKind::Confirm => check_confirm(transaction, &call).map(|()| Vec::new())?,
            PendingKind::Select => self.check_candidates(transaction)?,
        };
        let until = read_moment("expires", self.expires.as_deref())?;
        let since = read_moment("created_at", self.created_at.as_deref())?;
        let mut pending = Pending {
            kind,
            agent: self.agent.unwrap_or(owner(self.tool)),
            tool: call.tool,
            args: call.args,
            candidates,
            options: Vec::new(),
            changes: Vec::new(),
            destructive: false,
            created_at: since.unwrap_or_else(|| now.to_string()),
            expires: until.map_or(expires.to_string(), |until| until.min(expires.to_string())),
            next: self.next.clone(),
        };
        offer::describe(transaction, &mut pending)?;
        Ok(pending)
    }

    /// Returns the components that can be chosen, which must all be there, and the client's.
    fn check_candidates(&self, transaction: &dyn AgencyTransaction) -> Result<Vec<String>> {
        if !self.tool.is_on_component() {
            let tool = self.tool.name();
            return Err(refuse(format!("no component is chosen for {tool}")));
        }
        let there = transaction.components(text(&self.args, "clientId"))?;
        let there: HashSet<&str> = there.iter().map(|one| one.component_id.as_str()).collect();
        if let Some(id) = self
            .candidates
            .iter()
            .find(|id| !there.contains(id.as_str()))
        {
            let message = format!("there is no component {} to choose", brief(id));
            return Err(refuse(message));
        }
        let different: HashSet<&String> = self.candidates.iter().collect();
        match self.candidates.is_empty() || different.len() < self.candidates.len() {
            true => Err(refuse("candidates must be components, none of them twice")),
            false => Ok(self.candidates.clone()),
        }
    }
}

/// Returns the agent that waits for an answer about a tool.
fn owner(tool: Tool) -> ChatAgent {
    match tool {
        Tool::UpdateDesign => ChatAgent::Design,
        Tool::SearchComponent => ChatAgent::Clarifier,
        _ => ChatAgent::Editor,
    }
}

/// Refuses a call that no yes is asked for, or that would fail.
fn check_confirm(transaction: &mut dyn AgencyTransaction, call: &Call) -> Result<()> {
    if !call.tool.can_write() && call.tool != Tool::SearchComponent {
        let tool = call.tool.name();
        return Err(refuse(format!("{tool} waits for no yes")));
    }
    let result = run(transaction, call, false)?;
    match result.get("error").and_then(Value::as_str) {
        Some(error) => Err(refuse(error)),
        None => Ok(()),
    }
}

/// Refuses what cannot follow the choice of a component.
fn check_next(call: &Call) -> Result<()> {
    if !call.tool.is_on_component() && call.tool != Tool::GetComponent {
        let tool = call.tool.name();
        return Err(refuse(format!("{tool} follows no choice of a component")));
    }
    check_args(call)
}

/// Refuses arguments that the tool does not have, or that are not what they have to be.
fn check_args(call: &Call) -> Result<()> {
    let fits = |(name, value): &(&String, &Value)| has_form(call.tool, name, value);
    if let Some((name, _)) = call.args.iter().find(|argument| !fits(argument)) {
        let (name, tool) = (brief(name), call.tool.name());
        return Err(refuse(format!("{name} is not what {tool} is given")));
    }
    match call.args.contains_key("clientId") {
        true => Ok(()),
        false => Err(refuse("clientId is required")),
    }
}

fn has_form(tool: Tool, name: &str, value: &Value) -> bool {
    let is_secured = matches!(tool, Tool::AddSecurityGroup | Tool::RemoveSecurityGroup);
    match name {
        "clientId" => is_id(value),
        "componentId" => {
            let is_one = tool.is_on_component();
            (is_one || matches!(tool, Tool::AddComponent | Tool::GetComponent)) && is_id(value)
        }
        "criteria" => tool == Tool::SearchComponent && value.is_object(),
        "designUpdates" => tool == Tool::UpdateDesign && value.is_object(),
        "security_group_title" => is_secured && value.is_string(),
        "value" => tool == Tool::UpdateComponent && value.is_string(),
        "updates" => {
            matches!(tool, Tool::AddComponent | Tool::UpdateComponent) && value.is_object()
        }
        _ => false,
    }
}

/// Whether a value is an id, or one digit longer than any, as the chat writes those that are too long.
fn is_id(value: &Value) -> bool {
    value.as_str().is_some_and(|id| {
        (1..=ID_MAX + 1).contains(&id.len()) && id.bytes().all(|c| c.is_ascii_digit())
    })
}

fn read_moment(field: &str, said: Option<&str>) -> Result<Option<String>> {
    let read =
        |said| parse_moment(said).ok_or_else(|| refuse(format!("{field} is no time of RFC 3339")));
    said.map(read).transpose()
}

fn refuse(what: impl std::fmt::Display) -> Error {
    Error::new(Code::InputInvalid, format!("pendingOperation: {what}"))
}
