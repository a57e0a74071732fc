//! What a caller holds of a conversation and hands in with a message. It is checked like all that strangers
//! send, counts only where nothing of the kind is remembered here, and is done after a yes only.

use std::collections::HashSet;

use serde::Deserialize;

use super::Talk;
use crate::chat::value::brief;
use crate::chat::{Pending, PendingKind, Sentence, Tool};
use crate::clock::parse_moment;
use crate::error::{Code, Error, Result};

/// Most messages of a conversation that are read, from the last one back.
const REMARKS_MAX: usize = 1_000;

/// A message of a conversation.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Remark {
    /// What was said.
    #[serde(alias = "text", alias = "message")]
    content: String,
}

/// What a caller holds of a conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    /// What was said so far, the oldest first.
    pub(crate) conversation: Vec<Remark>,
    /// What waits. Only the tool and its arguments are needed.
    pub(crate) pending: Option<Pending>,
}

impl Talk<'_> {
    /// Adds to what is remembered of a conversation what the caller holds of it and is not remembered.
    pub(super) fn join(&mut self, held: &Held) -> Result<()> {
        let client = |remark: &Remark| Sentence::read(&remark.content).client().map(String::from);
        let last = held.conversation.iter().rev().take(REMARKS_MAX);
        let mut client = last.filter_map(client).next();
        if let (Some(pending), None) = (&held.pending, &self.chat.pending) {
            let since = read_moment("created_at", &pending.created_at)?;
            let until = read_moment("expires", &pending.expires)?;
            // Times of one form are in the order of their bytes. What began to wait before something ceased
            // to is answered or dropped.
            if since.is_none() || since > self.chat.settled {
                self.take_back(pending)?;
                client = client.or(Some(pending.call().text("clientId").to_string()));
                if let (Some(kept), Some(until)) = (&mut self.chat.pending, until) {
                    kept.expires = until.min(kept.expires.clone());
                }
            }
        }
        self.chat.client = self.chat.client.take().or(client);
        Ok(())
    }

    /// Lets what a caller holds wait, if it can be so.
    fn take_back(&mut self, pending: &Pending) -> Result<()> {
        let (call, next) = (pending.call(), pending.next.clone());
        for call in [Some(&call), next.as_ref()].into_iter().flatten() {
            if let Some(name) = call.args.keys().find(|name| !call.tool.takes(name)) {
                let (name, tool) = (brief(name), call.tool.name());
                return Err(refuse(format!("{name} is not what {tool} is given")));
            }
        }
        let is_choice = pending.kind == PendingKind::Select;
        let mut chosen = next.iter().chain(Some(&call).filter(|_| is_choice));
        if chosen.any(|it| !it.tool.is_on_component()) {
            return Err(refuse("no component is chosen for that tool"));
        }
        if is_choice {
            let there = self.transaction.components(call.text("clientId"))?;
            let is_there = |id: &&String| there.iter().any(|one| one.component_id == **id);
            let different: HashSet<_> = pending.candidates.iter().filter(is_there).collect();
            if different.is_empty() || different.len() < pending.candidates.len() {
                return Err(refuse("candidates must be components, none of them twice"));
            }
            return self.wait(call, pending.candidates.clone(), next);
        }
        if !call.tool.can_write() && call.tool != Tool::SearchComponent {
            return Err(refuse("that tool waits for no yes"));
        }
        match self.try_out(&call)?.fault {
            Some(error) => Err(refuse(error)),
            None => self.wait(call, Vec::new(), next),
        }
    }
}

fn read_moment(field: &str, text: &str) -> Result<Option<String>> {
    match parse_moment(text) {
        None if !text.is_empty() => Err(refuse(format!("{field} is no time of RFC 3339"))),
        moment => Ok(moment),
    }
}

fn refuse(what: impl std::fmt::Display) -> Error {
    Error::new(Code::InputInvalid, format!("pendingOperation: {what}"))
}
