//! From what a message means to the reply: tools are called for reading, a write is tried and offered, and
//! only what was offered is written after a yes.

use serde_json::{Map, Value, json};

use super::tools::{fault, run};
use super::words::{
    describe_answers, describe_call, describe_component, describe_criteria, describe_design, id_of,
    menu, restate,
};
use super::{Talk, forms};
use crate::chat::answer::Heard;
use crate::chat::model::Advice;
use crate::chat::pending::{Pending, PendingKind, Question, Settled};
use crate::chat::value::{brief, label, nest, plain};
use crate::chat::vocabulary::{elements, is_about_design};
use crate::chat::{Call, Called, ChatAgent, Meaning, Tool, check_fields};
use crate::error::{Error, Result};

const LATE: &str =
    "What waited for your answer waited too long and was dropped; please ask again.\n";

/// Who replies, and what.
pub(super) type Reply = (ChatAgent, String);

/// What ends the answering of a message before its end.
enum Stop {
    Reply(Reply),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

type Replied = std::result::Result<Reply, Stop>;

fn clarify(text: impl Into<String>) -> Replied {
    Ok((ChatAgent::Clarifier, text.into()))
}

impl Talk<'_> {
    /// Answers what was heard. What waited before is over, unless it is still to be answered.
    pub(super) fn answer(&mut self, heard: Heard, message: &str) -> Result<Reply> {
        let (waited, asked) = (self.chat.pending.take(), self.chat.question.take());
        let expires = waited
            .as_ref()
            .map(|it| &it.expires)
            .or(asked.as_ref().map(|it| &it.expires));
        let is_over = expires.is_some_and(|expires| *expires <= self.now);
        if waited.is_some() && !matches!(heard, Heard::Invalid) {
            self.chat.settled = Some(self.now.clone());
        }
        if is_over && waited.is_some() {
            self.settled = Some(Settled::Expired);
        }
        let mut note = String::new();
        let replied = match (heard, waited.filter(|_| !is_over)) {
            (Heard::Confirmed, Some(pending)) => self.write_confirmed(pending),
            (Heard::Cancelled, Some(pending)) => {
                self.settled = Some(Settled::Cancelled);
                let what = describe_call(&pending.call());
                Ok((
                    pending.agent,
                    format!("Cancelled: {what}. Nothing was changed."),
                ))
            }
            (Heard::Chosen(call), _) => {
                self.settled = Some(Settled::Chosen);
                self.propose(call, ChatAgent::Editor, "")
            }
            (Heard::Invalid, Some(pending)) => {
                let text = "Invalid selection. Please choose a valid number from the list.";
                let agent = pending.agent;
                self.chat.pending = Some(pending);
                Ok((agent, text.to_string()))
            }
            (Heard::Filled(call), _) => self.carry_out(call),
            (heard, live) => {
                if let Some(pending) = live {
                    self.settled = Some(Settled::Dropped);
                    let what = describe_call(&pending.call());
                    note = format!("I dropped what was waiting: {what}. Nothing was changed.\n");
                } else if is_over {
                    note = LATE.to_string();
                } else if asked.is_some() {
                    note = "I no longer wait for an answer.\n".to_string();
                }
                self.reply_anew(heard, message)
            }
        };
        match replied {
            Ok((agent, text)) | Err(Stop::Reply((agent, text))) => Ok((agent, note + &text)),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    /// Replies to what answers nothing that waits.
    fn reply_anew(&mut self, heard: Heard, message: &str) -> Replied {
        let text = match heard {
            Heard::Request(meaning) => {
                self.reason = "a sentence that the chat knows";
                return match meaning {
                    Meaning::Call(call) => self.carry_out(call),
                    Meaning::Help => {
                        clarify(forms::help(self.transaction, self.chat.client.as_deref())?)
                    }
                    Meaning::Client(client) => {
                        let text = format!("This is about client {client} now.");
                        self.chat.client = Some(client);
                        clarify(text + " What would you like to see or change?")
                    }
                };
            }
            Heard::Unknown(Some(Advice::Call(call))) => {
                self.reason = "a model chose";
                return self.carry_out(call);
            }
            Heard::Unknown(Some(Advice::Text(text))) => {
                self.reason = "what a model says is no call";
                text
            }
            Heard::Unknown(None) => {
                self.reason = "not understood";
                "I did not understand that. ".to_string()
            }
            _ => {
                return clarify("Nothing is waiting for that answer, and nothing was changed.");
            }
        };
        let text = text + &forms::forms(self.transaction, &self.chat, message)?;
        let agent = match is_about_design(message) {
            true => ChatAgent::Design,
            false => ChatAgent::Clarifier,
        };
        Ok((agent, text))
    }

    /// Calls a tool that reads, on behalf of a call.
    fn read(
        &mut self,
        tool: Tool,
        call: &Call,
        arg: Option<(&str, Value)>,
    ) -> std::result::Result<Value, Stop> {
        let mut read = Call::new(tool, [("clientId", call.text("clientId").into())]);
        if let Some((key, value)) = arg {
            read.set(key, value);
        }
        let result = run(self.transaction, &read, true)?;
        self.calls.push(Called {
            name: tool,
            args: read.args,
            result: result.clone(),
        });
        match fault(&result) {
            Some(error) => Err(refuse(call, error, "")),
            None => Ok(result),
        }
    }

    /// Does what a call asks for, or says what it lacks. What writes is only offered.
    fn carry_out(&mut self, mut call: Call) -> Replied {
        if let (false, Some(client)) = (call.args.contains_key("clientId"), &self.chat.client) {
            call.set("clientId", client.as_str());
        }
        let agent = choose_agent(&call);
        check_fields(&call).map_err(|why| refuse(&call, &why, ""))?;
        let client = call.text("clientId").to_string();
        if client.is_empty() {
            let expires = self.expires.clone();
            self.chat.question = Some(Question { call, expires });
            let text = "I need your client ID to perform this operation. Which client is it? For \
                example: client 6";
            return Ok((agent, text.to_string()));
        }
        self.chat.client = Some(client.clone());
        let lacks_group = call.text("security_group_title").is_empty();
        match call.tool {
            Tool::GetClientDesign | Tool::GetQa => {
                let design = self.read(Tool::GetClientDesign, &call, None)?;
                let answers = self.read(Tool::GetQa, &call, None)?;
                Ok((agent, describe_design(&client, &design, &answers)))
            }
            Tool::UpdateDesign => self.change_design(call),
            Tool::AddComponent => {
                let updates = call.object("updates");
                call.set("updates", nest(&updates));
                if updates.contains_key("component_type") {
                    return self.propose(call, agent, "");
                }
                let text = format!(
                    "Please specify the type of component you want to create: cards, buttons, texts, \
                     images, headers, footers, banner or link. For example: add a card with title \
                     \"News\" for client {client}"
                );
                Ok((agent, text))
            }
            Tool::AddSecurityGroup | Tool::RemoveSecurityGroup if lacks_group => {
                let text = "Which security group do you mean? Name it, for example: add \"premium\" \
                    security group to component 101";
                Ok((agent, text.to_string()))
            }
            Tool::SearchComponent => self.search(&call, None),
            _ if call.args.contains_key("componentId") => self.propose(call, agent, ""),
            _ => self.search(&call, Some(call.clone())),
        }
    }

    /// Finds out which part of the design becomes what, or asks.
    fn change_design(&mut self, mut call: Call) -> Replied {
        let say = |text: String| Ok((ChatAgent::Design, text));
        let mut updates = Map::new();
        for (name, value) in call.object("designUpdates") {
            let named = elements(&name);
            let [element] = named[..] else {
                let lines = named.iter().zip(1..).map(|(one, at)| {
                    format!("{at}. {} ({}): {}\n", one.label(), one.path, one.kind)
                });
                let lines: String = lines.collect();
                let example = named.first().map_or("button radius", |one| one.label());
                return say(match named.is_empty() {
                    true => format!("I cannot change {}. {}", brief(&name), menu()),
                    false => format!(
                        "That can mean several fields of the design:\n{lines}Which one do you mean? Say \
                         for example: change {example} to …"
                    ),
                });
            };
            let (label, kind) = (element.label(), element.kind);
            if value.is_null() {
                return say(format!(
                    "What should the {label} be? Allowed values: {kind}."
                ));
            }
            let Some(read) = kind.read(&value) else {
                let value = brief(&plain(&value));
                return say(format!(
                    "The {label} cannot be \"{value}\". Allowed values: {kind}."
                ));
            };
            updates.insert(element.key.to_string(), read);
        }
        call.set("designUpdates", updates);
        self.offer(call, ChatAgent::Design, "")
    }

    /// Finds the components that fit the criteria of a call.
    fn find(&mut self, call: &Call) -> std::result::Result<Vec<Value>, Stop> {
        let mut criteria = call.object("criteria");
        let (called, id) = (criteria.remove("called"), criteria.remove("componentId"));
        let criteria = Some(("criteria", criteria.into()));
        let found = self.read(Tool::SearchComponent, call, criteria)?;
        let mut found = found["components"].as_array().cloned().unwrap_or_default();
        let is_called = |one: &Value, called: &Value| {
            let called = plain(called).to_lowercase();
            ["title", "caption"]
                .iter()
                .any(|it| plain(&one["props"][it]).to_lowercase() == called)
        };
        found.retain(|one| called.as_ref().is_none_or(|called| is_called(one, called)));
        found.retain(|one| id.as_ref().is_none_or(|id| one["componentId"] == *id));
        Ok(found)
    }

    /// Finds what a call describes: shows it, or does `next` on it.
    fn search(&mut self, call: &Call, next: Option<Call>) -> Replied {
        let criteria = call.object("criteria");
        if criteria.is_empty() && next.is_some() {
            return self.offer_all(call, next);
        }
        let found = self.find(call)?;
        let is_plain = criteria.is_empty() || criteria.values().any(Value::is_boolean);
        match (found.as_slice(), next) {
            ([], next) if next.is_some() || !is_plain => self.offer_all(call, next),
            ([one], Some(mut next)) => {
                next.args.remove("criteria");
                next.set("componentId", id_of(one));
                let note = format!("I found one: {}.\n", describe_component(one));
                self.propose(next, ChatAgent::Clarifier, &note)
            }
            ([one], None) if !criteria.is_empty() => {
                clarify(format!("I found one: {}.", describe_component(one)))
            }
            (all, next) => self.list(all, call, next),
        }
    }

    /// Offers the complete list, when nothing was found or nothing is described.
    fn offer_all(&mut self, call: &Call, next: Option<Call>) -> Replied {
        let criteria = call.object("criteria");
        let why = match criteria.is_empty() {
            true => "I need to know which component you mean.".to_string(),
            false => format!(
                "No components found matching '{}'.",
                describe_criteria(&criteria)
            ),
        };
        let args = [
            ("clientId", call.text("clientId").into()),
            ("criteria", json!({})),
        ];
        let all = Call::new(Tool::SearchComponent, args);
        let mut pending = Pending::new(PendingKind::Confirm, ChatAgent::Clarifier, all);
        pending.next = next.map(|mut next| {
            next.args.remove("criteria");
            next
        });
        self.wait(pending)?;
        let offer = "Would you like me to show all your components so you can select one?";
        clarify(format!("{why} {offer}"))
    }

    /// Lists components with numbers; one of them can be chosen for what is to be done next.
    fn list(&mut self, components: &[Value], search: &Call, next: Option<Call>) -> Replied {
        let client = search.text("clientId");
        let lines = components.iter().zip(1..);
        let lines = lines.map(|(one, at)| format!("\n{at}. {}", describe_component(one)));
        let lines: String = lines.collect();
        let Some(mut call) = next.filter(|_| !components.is_empty()) else {
            let is_all = search.object("criteria").is_empty();
            return clarify(match (components.is_empty(), is_all) {
                (true, true) => format!("Client {client} has no components."),
                (true, false) => format!("Client {client} has no components like that."),
                (false, _) => format!("Components of client {client}:{lines}"),
            });
        };
        call.args.remove("criteria");
        let mut pending = Pending::new(PendingKind::Select, ChatAgent::Editor, call);
        pending.candidates = components.iter().map(id_of).collect();
        self.wait(pending)?;
        let select = "Please select one by its number, its ID or its title.";
        clarify(format!("Which component do you mean?{lines}\n{select}"))
    }

    /// Carries a call on once the component is known: shows it, says what is missing, or offers to write.
    /// `note` says how the component was found.
    fn propose(&mut self, call: Call, agent: ChatAgent, note: &str) -> Replied {
        let updates = call.object("updates");
        let (client, id) = (call.text("clientId"), call.text("componentId"));
        let say = |field: &str, value: &str| {
            format!(
                "Say for example: update component {id} {field} to \"{value}\" for client {client}"
            )
        };
        if let Some((key, _)) = updates.iter().find(|(_, value)| value.is_null()) {
            let field = brief(&label(key));
            let say = say(&field, "Something new");
            let text = format!("{note}What should the {field} of component {id} be? {say}");
            return Ok((agent, text));
        }
        let lacks_field = call.tool == Tool::UpdateComponent && updates.is_empty();
        let is_shown = matches!(call.tool, Tool::GetComponent | Tool::DeleteComponent);
        let mut details = note.to_string();
        if note.is_empty() && (lacks_field || is_shown) {
            let found = self.read(Tool::GetComponent, &call, Some(("componentId", id.into())))?;
            details = describe_component(&found["components"][0]) + "\n";
        }
        if call.tool == Tool::GetComponent {
            return Ok((
                agent,
                format!("{details}Next: {}", say("title", "Something new")),
            ));
        }
        if lacks_field {
            let value = match call.text("value") {
                "" => "Something new",
                value => value,
            };
            let text = "I couldn't identify which field you want to update.";
            return Ok((
                agent,
                format!("{details}{text} {}", say("title", &brief(value))),
            ));
        }
        self.offer(call, agent, &details)
    }

    /// Tries what a call would write, and asks for a yes. `note` stands before the reply.
    fn offer(&mut self, call: Call, agent: ChatAgent, note: &str) -> Replied {
        let (what, is_design) = (describe_call(&call), call.tool == Tool::UpdateDesign);
        let mut answers = String::new();
        if is_design {
            self.read(Tool::GetClientDesign, &call, None)?;
            answers = describe_answers(&self.read(Tool::GetQa, &call, None)?);
        }
        let result = run(self.transaction, &call, false)?;
        if let Some(error) = fault(&result) {
            return Err(refuse(&call, error, note));
        }
        let is_update = is_design || call.tool == Tool::UpdateComponent;
        let changes = self.changes(&call)?;
        if is_update && changes.is_empty() {
            return Ok((
                agent,
                format!("{note}That is so already: {what}. Nothing was changed."),
            ));
        }
        let mut now: Vec<String> = Vec::new();
        now.extend(
            changes
                .iter()
                .filter(|_| is_update)
                .map(|it| match &it.before {
                    Some(before) => format!("{} is \"{}\" now", it.label, brief(before)),
                    None => format!("{} is not set now", it.label),
                }),
        );
        let text = if is_design {
            let (change, now) = (restate(&call), now.join("; "));
            let client = call.text("clientId");
            format!(
                "{note}You want to change {change}. Should I proceed?\nFor client {client}: {now}.{answers}"
            )
        } else {
            now.insert(0, "none yet".to_string());
            let (action, next) = (now.join("; "), "should I proceed? Answer yes or no.");
            format!("{note}Understood: {what}.\nAction: {action}.\nNext: {next}")
        };
        let owner = if is_design {
            ChatAgent::Design
        } else {
            ChatAgent::Editor
        };
        self.wait(Pending::new(PendingKind::Confirm, owner, call))?;
        Ok((agent, text))
    }

    /// Does what was confirmed, if it is as it was shown, and says what came of it.
    fn write_confirmed(&mut self, pending: Pending) -> Replied {
        let call = pending.call();
        if call.tool == Tool::SearchComponent {
            self.settled = Some(Settled::Confirmed);
            let found = self.find(&call)?;
            return self.list(&found, &call, pending.next);
        }
        let can_be_done = fault(&run(self.transaction, &call, false)?).is_none();
        let now = self.fingerprint(&call)?;
        if can_be_done && self.chat.shown.as_ref() != Some(&now) {
            let mut note =
                "It has changed since I asked you, so nothing was written.\n".to_string();
            if call.tool == Tool::DeleteComponent {
                let (client, id) = (call.text("clientId"), call.text("componentId"));
                note += &describe_component(&json!(self.transaction.component(client, id)?));
                note += "\n";
            }
            let replied = self.offer(call, pending.agent, &note);
            self.settled = self.chat.pending.is_none().then_some(Settled::Dropped);
            return replied;
        }
        self.settled = Some(Settled::Confirmed);
        let result = run(self.transaction, &call, true)?;
        self.calls.push(Called {
            name: call.tool,
            args: call.args.clone(),
            result: result.clone(),
        });
        if let Some(error) = fault(&result) {
            return Err(refuse(&call, error, ""));
        }
        if call.tool == Tool::UpdateDesign {
            let text = format!("Design updated successfully: {}.", restate(&call));
            return Ok((pending.agent, text));
        }
        let secured = result
            .get("is_secured")
            .map(|is| format!(" (is_secured: {is})"));
        let there = result
            .get("component")
            .map(|one| format!(". {}", describe_component(one)));
        let text = format!(
            "Understood: {}.\nAction: {}.\nResult: {}{}.\n\
             Next: say what else to change, or ask for the list of your components.",
            describe_call(&call),
            call.tool.name(),
            plain(&result["message"]),
            secured.or(there).unwrap_or_default()
        );
        Ok((pending.agent, text))
    }
}

/// Chooses the agent for a call: chat notes, section 2.2.
fn choose_agent(call: &Call) -> ChatAgent {
    let has_type = call.object("updates").contains_key("component_type");
    match call.tool {
        Tool::GetClientDesign | Tool::GetQa | Tool::UpdateDesign => ChatAgent::Design,
        Tool::AddComponent if call.args.contains_key("clientId") && has_type => ChatAgent::Editor,
        _ if call.args.contains_key("componentId") => ChatAgent::Editor,
        _ => ChatAgent::Clarifier,
    }
}

fn refuse(call: &Call, error: &str, note: &str) -> Stop {
    let is_missing = |what: &str| error.starts_with(what) && error.contains("not found");
    let lead = match is_missing("Component with ID") {
        true => "The specified component was not found for your client. ",
        false => "",
    };
    let next = match is_missing("Security group") {
        true => "name a security group of the client by its title.",
        false => "say it again with what is allowed, or ask me to list your components.",
    };
    let (what, error) = (describe_call(call), error.trim_end_matches('.'));
    let text = format!(
        "{note}Understood: {what}.\nAction: none.\nResult: {lead}{error}. Nothing was changed.\nNext: {next}"
    );
    Stop::Reply((choose_agent(call), text))
}
