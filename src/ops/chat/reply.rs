//! From what was heard to the reply. Only what was offered is written, and only after a yes.

use serde_json::json;

use super::Talk;
use super::tools::{Done, Stop};
use super::words::{describe_call, describe_changes, describe_component, fill_forms};
use crate::chat::answer::Heard;
use crate::chat::value::plain;
use crate::chat::vocabulary::is_about_design;
use crate::chat::{Call, ChatAgent, Pending, Sentence, Settled, Tool};
use crate::error::Result;

impl Talk<'_> {
    pub(super) fn say(&mut self, text: impl AsRef<str>) -> Done<()> {
        self.turn.reply += text.as_ref();
        Ok(())
    }

    /// Answers what was heard. What waited before is over, unless it is still to be answered.
    pub(super) fn answer(&mut self, heard: Heard) -> Result<()> {
        let (waited, question) = (self.chat.pending.take(), self.chat.question.take());
        let asked_until = question.as_ref().map(|question| &question.expires);
        let until = waited.as_ref().map(|pending| &pending.expires);
        let is_late = until.or(asked_until).is_some_and(|it| *it <= self.now);
        self.turn.settled = match &heard {
            _ if waited.is_none() => None,
            _ if is_late => Some(Settled::Expired),
            Heard::Invalid => None,
            Heard::Confirmed => Some(Settled::Confirmed),
            Heard::Cancelled => Some(Settled::Cancelled),
            Heard::Chosen(_) => Some(Settled::Chosen),
            _ => Some(Settled::Dropped),
        };
        if self.turn.settled.is_some() {
            self.chat.settled = Some(self.now.clone());
        }
        let live = waited.filter(|_| !is_late);
        self.turn.reply = match (&live, self.turn.settled) {
            (Some(pending), Some(Settled::Dropped)) => {
                let what = describe_call(&pending.call());
                format!("I dropped what was waiting: {what}. Nothing was changed.\n")
            }
            _ if is_late => {
                "What waited for your answer waited too long and was dropped; please ask again.\n"
                    .to_string()
            }
            _ if question.is_some() && !matches!(heard, Heard::Filled(_)) => {
                "I no longer wait for an answer.\n".to_string()
            }
            _ => String::new(),
        };
        let reason = match (&heard, self.said.advice) {
            (Heard::Request(_) | Heard::Client(_) | Heard::Help, _) => {
                "a sentence that the chat knows"
            }
            (Heard::Unknown, Some(Ok(_))) => "a model chose",
            (Heard::Unknown, Some(Err(_))) => "what a model says is no call",
            (Heard::Unknown, None) => "not understood",
            _ => "what waited is answered",
        };
        self.turn.reason = reason.to_string();
        match self.reply(heard, live) {
            Ok(()) | Err(Stop::Refused(_)) => Ok(()),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    fn reply(&mut self, heard: Heard, live: Option<Pending>) -> Done<()> {
        self.turn.agent = match (&heard, &live) {
            (Heard::Chosen(_), _) => ChatAgent::Editor,
            (Heard::Confirmed | Heard::Cancelled | Heard::Invalid, Some(pending)) => pending.agent,
            (Heard::Unknown, _) if is_about_design(self.said.message) => ChatAgent::Design,
            _ => ChatAgent::Clarifier,
        };
        match (heard, live) {
            (Heard::Confirmed, Some(pending)) => self.write_confirmed(pending),
            (Heard::Cancelled, Some(pending)) => {
                let what = describe_call(&pending.call());
                self.say(format!("Cancelled: {what}. Nothing was changed."))
            }
            (Heard::Invalid, pending) => {
                self.chat.pending = pending;
                self.say("Invalid selection. Please choose a valid number from the list.")
            }
            (Heard::Chosen(call), _) => self.propose(call, false),
            (Heard::Filled(call) | Heard::Request(call), _) => self.carry_out(call),
            (Heard::Client(client), _) => {
                let about = format!("This is about client {client} now.");
                self.chat.client = Some(client);
                self.say(about + " What would you like to see or change?")
            }
            (Heard::Help, _) => self.show_forms(
                "I can show and change the design of a client, and list, show, add, change, delete and \
                 secure its components. ",
            ),
            (Heard::Unknown, _) => match self.said.advice {
                Some(Ok(call)) => self.carry_out(call.clone()),
                Some(Err(text)) => self.show_forms(text),
                None => self.show_forms("I did not understand that. "),
            },
            _ => self.say("Nothing is waiting for that answer, and nothing was changed."),
        }
    }

    fn show_forms(&mut self, why: &str) -> Done<()> {
        let sentence = Sentence::read(self.said.message);
        let client = sentence.client().or(self.chat.client.as_deref());
        let forms = fill_forms(self.transaction, client)?;
        self.say(format!(
            "{why}I do one thing at a time, for one client. Put a text in quotes if it is more than words, or \
             has a word such as \"and\" or the name of a field in it. Say it like this:\n{forms}"
        ))
    }

    /// Does what was confirmed, if it is as it was shown, and says what came of it.
    fn write_confirmed(&mut self, pending: Pending) -> Done<()> {
        let call = pending.call();
        if call.tool == Tool::SearchComponent {
            let found = self.find(&call)?;
            return self.list(&found, pending.next.unwrap_or(call));
        }
        let trial = self.try_out(&call)?;
        if trial.fault.is_none() && self.chat.shown.as_ref() != Some(&trial.digest) {
            self.say("It has changed since I asked you, so nothing was written.\n")?;
            let offered = match call.tool {
                Tool::DeleteComponent => self.propose(call, false),
                _ => self.offer(call),
            };
            self.turn.settled = self.chat.pending.is_none().then_some(Settled::Dropped);
            return offered;
        }
        let result = self.use_tool(call.tool, &call)?;
        if call.tool == Tool::UpdateDesign {
            let changes = describe_changes(&call);
            return self.say(format!("Design updated successfully: {changes}."));
        }
        let left = match (result.get("is_secured"), result.get("component")) {
            (Some(is_secured), _) => format!(" (is_secured: {is_secured})"),
            (None, Some(component)) => format!(". {}", describe_component(component)),
            (None, None) => String::new(),
        };
        let (what, tool, done) = (describe_call(&call), call.tool.name(), &result["message"]);
        self.say(format!(
            "Understood: {what}.\nAction: {tool}.\nResult: {}{left}.\n\
             Next: say what else to change, or ask for the list of your components.",
            plain(done)
        ))
    }

    /// Says what is wrong with a call.
    pub(super) fn refuse(&mut self, call: &Call, error: &str) -> Stop {
        let lead = match error.starts_with("Component with ID") && error.contains("not found") {
            true => "The specified component was not found for your client. ",
            false => "",
        };
        let (what, error) = (describe_call(call), error.trim_end_matches('.'));
        self.turn.agent = choose_agent(call);
        self.turn.reply += &format!(
            "Understood: {what}.\nAction: none.\nResult: {lead}{error}. Nothing was changed.\n\
             Next: say it again with what is allowed, or ask me to list your components."
        );
        Stop::Refused(json!(error))
    }
}

/// Chooses the agent for a call: chat notes, section 2.2.
pub(super) fn choose_agent(call: &Call) -> ChatAgent {
    let has_type = call.object("updates").contains_key("component_type");
    match call.tool {
        Tool::GetClientDesign | Tool::GetQa | Tool::UpdateDesign => ChatAgent::Design,
        Tool::AddComponent if call.has("clientId") && has_type => ChatAgent::Editor,
        _ if call.has("componentId") => ChatAgent::Editor,
        _ => ChatAgent::Clarifier,
    }
}
