//! From what a message means to the reply: tools are called for reading, a write is tried and offered, and
//! only what was offered is written after a yes.

use serde_json::{Map, Value, json};

use super::tools::{Tools, fault};
use super::words::{
    describe_answers, describe_call, describe_component, describe_criteria, describe_design,
    describe_pending, id_of, menu, name_of, nest, restate,
};
use super::{forms, offer};
use crate::chat::answer::Heard;
use crate::chat::model::Advice;
use crate::chat::pending::{Chat, Difference, Lack, Pending, PendingKind, Question, Settled};
use crate::chat::value::{brief, label, plain};
use crate::chat::{Call, ChatAgent, Meaning, Tool, check_fields, elements, is_about_design};
use crate::error::Result;

const UNDERSTOOD: &str = "a sentence that the chat knows";
const ANSWERED: &str = "what waited is answered";
const LATE: &str =
    "What waited for your answer waited too long and was dropped; please ask again.\n";

#[derive(Debug)]
pub(super) struct Reply {
    pub(super) agent: ChatAgent,
    pub(super) text: String,
    pub(super) wait: Wait,
    /// What became of what waited before, if that is over.
    pub(super) settled: Option<Settled>,
    /// The client that the conversation is about from now on.
    pub(super) client: Option<String>,
    pub(super) reason: &'static str,
}

/// What waits for the user's next message.
#[derive(Debug)]
pub(super) enum Wait {
    Nothing,
    /// What waited before.
    Kept,
    Pending(Box<Pending>),
    Question(Question),
}

impl Reply {
    fn new(agent: ChatAgent, text: impl Into<String>) -> Reply {
        Reply {
            agent,
            text: text.into(),
            wait: Wait::Nothing,
            settled: None,
            client: None,
            reason: UNDERSTOOD,
        }
    }

    fn with_wait(self, wait: Wait) -> Reply {
        Reply { wait, ..self }
    }

    fn with_settled(self, settled: Settled) -> Reply {
        let settled = self.settled.or(Some(settled));
        Reply { settled, ..self }
    }

    fn with_note(self, note: &str) -> Reply {
        let text = format!("{note}{}", self.text);
        Reply { text, ..self }
    }
}

/// Replies to a message. `over` says that what waited before is over by its time.
pub(super) fn reply(
    tools: &mut Tools<'_>,
    chat: &Chat,
    heard: Heard,
    message: &str,
    over: bool,
) -> Result<Reply> {
    let live = chat.pending.as_ref().filter(|_| !over);
    let (reason, settled) = match &heard {
        Heard::Cancelled(_) => (ANSWERED, Some(Settled::Cancelled)),
        Heard::Chosen(_, _) => (ANSWERED, Some(Settled::Chosen)),
        Heard::Request(_, false) => (UNDERSTOOD, live.map(|_| Settled::Dropped)),
        Heard::Request(_, true) => ("a model chose", live.map(|_| Settled::Dropped)),
        Heard::Again(_) => ("not understood", None),
        Heard::Unknown(None) => ("not understood", live.map(|_| Settled::Dropped)),
        Heard::Unknown(Some(_)) => (
            "what a model says is no call",
            live.map(|_| Settled::Dropped),
        ),
        Heard::Nothing => (ANSWERED, live.map(|_| Settled::Dropped)),
        _ => (ANSWERED, None),
    };
    let said = brief(message.trim());
    let note = match (live, &chat.question) {
        (Some(pending), _) => {
            let what = describe_pending(pending);
            format!("I dropped what was waiting: {what}. Nothing was changed.\n")
        }
        (None, Some(_)) if !over => "I no longer wait for an answer.\n".to_string(),
        _ if over => LATE.to_string(),
        _ => String::new(),
    };
    let clarify = |text: &str| Ok(Reply::new(ChatAgent::Clarifier, text));
    let reply = match heard {
        Heard::Confirmed(pending) => write_confirmed(tools, chat, &pending),
        Heard::Cancelled(pending) => {
            let text = format!(
                "Cancelled: {}. Nothing was changed.",
                describe_pending(&pending)
            );
            Ok(Reply::new(pending.agent, text))
        }
        Heard::Chosen(pending, id) => {
            let mut call = pending.call();
            call.args.remove("criteria");
            call.set("componentId", id);
            propose(tools, call, ChatAgent::Editor, "")
        }
        Heard::Invalid(pending) => {
            let text = "Invalid selection. Please choose a valid number from the list.";
            Ok(Reply::new(pending.agent, text).with_wait(Wait::Kept))
        }
        Heard::Dropped => {
            clarify("Cancelled: I no longer wait for an answer. Nothing was changed.")
        }
        Heard::Again(question) => {
            let is_text = matches!(question.lacks, Lack::Value(_))
                && question.call.tool == Tool::UpdateComponent;
            let quote = " If it is the text, put it in quotes.";
            let quote = if is_text { quote } else { "" };
            let text = format!("I did not understand \"{said}\".{quote}\n{}", question.text);
            let agent = agent_for(&question.call);
            Ok(Reply::new(agent, text).with_wait(Wait::Question(question)))
        }
        Heard::Nothing if over => clarify(LATE.trim_end()),
        Heard::Nothing => clarify(&format!(
            "{note}Nothing is waiting for that answer, and nothing was changed."
        )),
        Heard::Filled(call) => carry_out(tools, chat, call),
        Heard::Request(meaning, _) => {
            let reply = match meaning {
                Meaning::Call(call) => carry_out(tools, chat, call),
                Meaning::Help => clarify(&forms::help(tools.transaction, chat.client.as_deref())?),
                Meaning::Client(client) => {
                    let what = "What would you like to see or change?";
                    let mut reply = clarify(&format!("This is about client {client} now. {what}"))?;
                    reply.client = Some(client);
                    Ok(reply)
                }
            };
            reply.map(|reply| reply.with_note(&note))
        }
        Heard::Unknown(advice) => {
            let why = match advice {
                Some(Advice::Ask(question)) => format!("The model asks: {question}\n"),
                Some(Advice::Refused(why)) => format!("I did not understand that: {why}. "),
                _ => "I did not understand that. ".to_string(),
            };
            let forms = forms::forms(tools.transaction, chat, message)?;
            let is_design = is_about_design(message);
            let agent = if is_design {
                ChatAgent::Design
            } else {
                ChatAgent::Clarifier
            };
            Ok(Reply::new(agent, format!("{note}{why}{forms}")))
        }
    }?;
    let expired = (over && chat.pending.is_some()).then_some(Settled::Expired);
    let settled = reply.settled.or(settled).or(expired);
    Ok(Reply {
        reason,
        settled,
        ..reply
    })
}

/// Chooses the agent for a call: chat notes, section 2.2.
fn agent_for(call: &Call) -> ChatAgent {
    let is_numbered = call.args.contains_key("componentId");
    match call.tool {
        Tool::GetClientDesign | Tool::GetQa | Tool::UpdateDesign => ChatAgent::Design,
        Tool::AddComponent
            if call.args.contains_key("clientId")
                && call.object("updates").contains_key("component_type") =>
        {
            ChatAgent::Editor
        }
        _ if is_numbered => ChatAgent::Editor,
        _ => ChatAgent::Clarifier,
    }
}

/// Does what a call asks for, or asks for what it lacks. What writes is only offered.
fn carry_out(tools: &mut Tools<'_>, chat: &Chat, mut call: Call) -> Result<Reply> {
    if let (false, Some(client)) = (call.args.contains_key("clientId"), &chat.client) {
        call.set("clientId", client.as_str());
    }
    let agent = agent_for(&call);
    let client = Some(call.text("clientId").to_string()).filter(|client| !client.is_empty());
    let reply = match (check_fields(&call), &client) {
        (Err(why), _) => refusal(&call, &why, "", agent),
        (Ok(()), None) => {
            let text = "I need your client ID to perform this operation. Which client is it? For example: client 6";
            ask(agent, call, Lack::Client, text.to_string(), Vec::new())
        }
        (Ok(()), Some(_)) => match call.tool {
            Tool::GetClientDesign | Tool::GetQa => match look_at_design(tools, &call)? {
                Ok((design, answers)) => Reply::new(
                    agent,
                    describe_design(call.text("clientId"), &design, &answers),
                ),
                Err(reply) => reply,
            },
            Tool::UpdateDesign => change_design(tools, call)?,
            Tool::SearchComponent => search(tools, call, None)?,
            Tool::GetComponent if call.text("componentId").is_empty() => search(tools, call, None)?,
            Tool::GetComponent => propose(tools, call, agent, "")?,
            Tool::AddComponent => add(tools, call, agent)?,
            Tool::AddSecurityGroup | Tool::RemoveSecurityGroup
                if call.text("security_group_title").is_empty() =>
            {
                let text = "Which security group do you mean? Name it by its title.";
                ask(agent, call, Lack::Group, text.to_string(), Vec::new())
            }
            _ if call.args.contains_key("componentId") => propose(tools, call, agent, "")?,
            _ => search(tools, call.clone(), Some(call))?,
        },
    };
    Ok(Reply { client, ..reply })
}

fn ask(agent: ChatAgent, call: Call, lacks: Lack, text: String, options: Vec<String>) -> Reply {
    let expires = String::new();
    let question = Question {
        call,
        lacks,
        options,
        text: text.clone(),
        expires,
    };
    Reply::new(agent, text).with_wait(Wait::Question(question))
}

/// Reads the design and the answers of the client before anything is said about them.
fn look_at_design(
    tools: &mut Tools<'_>,
    call: &Call,
) -> Result<std::result::Result<(Value, Value), Reply>> {
    let read = |tool| Call::new(tool, [("clientId", call.text("clientId").into())]);
    let design = tools.call(&read(Tool::GetClientDesign))?;
    if let Some(error) = fault(&design) {
        return Ok(Err(Reply::new(ChatAgent::Design, error)));
    }
    Ok(Ok((design, tools.call(&read(Tool::GetQa))?)))
}

fn change_design(tools: &mut Tools<'_>, mut call: Call) -> Result<Reply> {
    let say = |text| Ok(Reply::new(ChatAgent::Design, text));
    let mut updates = Map::new();
    for (name, value) in call.object("designUpdates") {
        let named = elements(&name);
        let element = match named.as_slice() {
            [] => return say(format!("I cannot change {}. {}", brief(&name), menu())),
            [one] if !one.offered => {
                return say(format!(
                    "The {} is shown, but cannot be changed here. {}",
                    one.label,
                    menu()
                ));
            }
            [one] => *one,
            many => {
                let lines = many.iter().enumerate().map(|(index, one)| {
                    let (column, field) = one.path;
                    format!(
                        "{}. {} ({column}.{field}): {}\n",
                        index + 1,
                        one.label,
                        one.kind
                    )
                });
                let lines: String = lines.collect();
                let text = format!(
                    "That can mean several fields of the design:\n{lines}Which one do you mean?"
                );
                let options = many.iter().map(|one| one.label.to_string()).collect();
                return Ok(ask(
                    ChatAgent::Design,
                    call,
                    Lack::Element(name),
                    text,
                    options,
                ));
            }
        };
        if value.is_null() {
            let text = format!(
                "What should the {} be? Allowed values: {}.",
                element.label, element.kind
            );
            return Ok(ask(
                ChatAgent::Design,
                call,
                Lack::Value(element.key.to_string()),
                text,
                Vec::new(),
            ));
        }
        let Some(value) = element.kind.read(&value) else {
            let value = brief(&plain(&value));
            return say(format!(
                "The {} cannot be \"{value}\". Allowed values: {}.",
                element.label, element.kind
            ));
        };
        updates.insert(element.key.to_string(), value);
    }
    call.set("designUpdates", updates);
    offer_design(tools, call, "")
}

/// Restates a change of the design with what is known of the client, and asks for a yes.
fn offer_design(tools: &mut Tools<'_>, call: Call, note: &str) -> Result<Reply> {
    let (design, answers) = match look_at_design(tools, &call)? {
        Ok(found) => found,
        Err(reply) => return Ok(reply.with_note(note)),
    };
    let updates = call.object("designUpdates");
    let now = |key: &str| {
        let (column, field) = elements(key).first()?.path;
        design.get(column)?.get(field)
    };
    if updates.iter().all(|(key, value)| now(key) == Some(value)) {
        let text = format!(
            "{note}That is so already: {}. Nothing was changed.",
            restate(&updates)
        );
        return Ok(Reply::new(ChatAgent::Design, text));
    }
    let before = updates.keys().map(|key| {
        let value = now(key).map_or_else(|| "not set".to_string(), plain);
        format!("{} is {value} now", name_of(key))
    });
    let text = format!(
        "{note}You want to change {}. Should I proceed?\nFor client {}: {}.{}",
        restate(&updates),
        call.text("clientId"),
        before.collect::<Vec<_>>().join("; "),
        describe_answers(&answers)
    );
    let pending = Pending::new(PendingKind::Confirm, ChatAgent::Design, call);
    Ok(Reply::new(ChatAgent::Design, text).with_wait(Wait::Pending(Box::new(pending))))
}

/// Finds the components that fit the criteria of a call.
fn find(tools: &mut Tools<'_>, call: &Call) -> Result<std::result::Result<Vec<Value>, Reply>> {
    let mut criteria = call.object("criteria");
    let called = criteria.remove("called");
    let client = call.text("clientId");
    let search = Call::new(
        Tool::SearchComponent,
        [("clientId", client.into()), ("criteria", criteria.into())],
    );
    let found = tools.call(&search)?;
    if let Some(error) = fault(&found) {
        let text = format!("{error}. Nothing was changed.");
        return Ok(Err(Reply::new(ChatAgent::Clarifier, text)));
    }
    let mut found = found["components"].as_array().cloned().unwrap_or_default();
    if let Some(called) = called {
        let called = plain(&called).to_lowercase();
        let is_it = |text: &Value| {
            text.as_str()
                .is_some_and(|text| text.to_lowercase() == called)
        };
        found.retain(|one| is_it(&one["props"]["title"]) || is_it(&one["props"]["caption"]));
    }
    Ok(Ok(found))
}

/// Finds what a call describes: shows it, or goes on with `next` on it.
fn search(tools: &mut Tools<'_>, call: Call, next: Option<Call>) -> Result<Reply> {
    let criteria = call.object("criteria");
    if criteria.is_empty() && next.is_some() {
        return Ok(offer_all(&call, next));
    }
    let found = match find(tools, &call)? {
        Ok(found) => found,
        Err(reply) => return Ok(reply),
    };
    let is_plain = criteria.is_empty() || criteria.values().any(Value::is_boolean);
    match (found.as_slice(), next) {
        ([], None) if is_plain => Ok(list(&found, &call, None)),
        ([], next) => Ok(offer_all(&call, next)),
        ([one], Some(mut next)) => {
            next.args.remove("criteria");
            next.set("componentId", id_of(one));
            let note = format!("I found one: {}.\n", describe_component(one));
            propose(tools, next, ChatAgent::Clarifier, &note)
        }
        ([one], None) if !criteria.is_empty() => {
            let text = format!("I found one: {}.", describe_component(one));
            Ok(Reply::new(ChatAgent::Clarifier, text))
        }
        (many, next) => Ok(list(many, &call, next)),
    }
}

/// Offers the complete list, when nothing was found or nothing is described.
fn offer_all(call: &Call, next: Option<Call>) -> Reply {
    let client = call.text("clientId");
    let criteria = call.object("criteria");
    let text = match criteria.is_empty() {
        true => "I need to know which component you mean.".to_string(),
        false => format!(
            "No components found matching '{}'.",
            describe_criteria(&criteria)
        ),
    };
    let text = text + " Would you like me to show all your components so you can select one?";
    let all = Call::new(
        Tool::SearchComponent,
        [("clientId", client.into()), ("criteria", json!({}))],
    );
    let mut pending = Pending::new(PendingKind::Confirm, ChatAgent::Clarifier, all);
    pending.next = next.map(|mut next| {
        next.args.remove("criteria");
        next
    });
    Reply::new(ChatAgent::Clarifier, text).with_wait(Wait::Pending(Box::new(pending)))
}

/// Lists components with numbers; one of them can be chosen for what is to be done next.
fn list(components: &[Value], search: &Call, next: Option<Call>) -> Reply {
    let client = search.text("clientId");
    let lines = components.iter().enumerate();
    let lines = lines.map(|(index, one)| format!("{}. {}", index + 1, describe_component(one)));
    let lines = lines.collect::<Vec<_>>().join("\n");
    let text = match &next {
        _ if components.is_empty() && search.object("criteria").is_empty() => {
            format!("Client {client} has no components.")
        }
        _ if components.is_empty() => format!("Client {client} has no components like that."),
        None => format!("Components of client {client}:\n{lines}"),
        Some(_) => format!(
            "Which component do you mean?\n{lines}\n\
             Please select one by its number, its ID or its title."
        ),
    };
    let reply = Reply::new(ChatAgent::Clarifier, text);
    let Some(mut call) = next.filter(|_| !components.is_empty()) else {
        return reply;
    };
    call.args.remove("criteria");
    let mut pending = Pending::new(PendingKind::Select, ChatAgent::Editor, call);
    pending.candidates = components.iter().map(id_of).collect();
    reply.with_wait(Wait::Pending(Box::new(pending)))
}

fn add(tools: &mut Tools<'_>, mut call: Call, agent: ChatAgent) -> Result<Reply> {
    let updates = call.object("updates");
    if !updates.contains_key("component_type") {
        let text = "Please specify the type of component you want to create: \
            cards, buttons, texts, images, headers, footers, banner or link.";
        return Ok(ask(agent, call, Lack::Type, text.to_string(), Vec::new()));
    }
    call.set("updates", nest(&updates));
    propose(tools, call, agent, "")
}

/// Goes on with a call once the component is known: shows it, asks what is missing, or tries what would be
/// written and asks for a yes. `found` says how the component was found.
fn propose(tools: &mut Tools<'_>, mut call: Call, agent: ChatAgent, found: &str) -> Result<Reply> {
    let updates = call.object("updates");
    if let Some(key) = updates
        .iter()
        .find(|(_, value)| value.is_null())
        .map(|(key, _)| key.clone())
    {
        let text = format!(
            "{found}What should the {} of component {} be?",
            brief(label(&key)),
            call.text("componentId")
        );
        return Ok(ask(agent, call, Lack::Value(key), text, Vec::new()));
    }
    let lacks_field = call.tool == Tool::UpdateComponent && updates.is_empty();
    let is_shown =
        matches!(call.tool, Tool::GetComponent | Tool::DeleteComponent) && found.is_empty();
    let mut details = found.to_string();
    if lacks_field || is_shown {
        let read = Call::new(
            Tool::GetComponent,
            [
                ("clientId", call.text("clientId").into()),
                ("componentId", call.text("componentId").into()),
            ],
        );
        let result = tools.call(&read)?;
        if let Some(error) = fault(&result) {
            return Ok(refusal(&call, error, found, agent));
        }
        if found.is_empty() {
            details = describe_component(&result["components"][0]) + "\n";
        }
    }
    if call.tool == Tool::GetComponent {
        let next = "Next: say what to change, for example \"change its title\" with the component's number.";
        return Ok(Reply::new(agent, details + next));
    }
    if lacks_field {
        let value = call
            .args
            .remove("value")
            .and_then(|value| value.as_str().map(String::from));
        let wanted = value.as_ref().map_or(String::new(), |value| {
            format!(" Which field should become \"{}\"?", brief(value))
        });
        let text = format!(
            "{details}I couldn't identify which field you want to update.{wanted} What should I change? \
             For example: title to Welcome"
        );
        return Ok(ask(agent, call, Lack::Field(value), text, Vec::new()));
    }
    let result = tools.rehearse(&call)?;
    if let Some(error) = fault(&result) {
        return Ok(refusal(&call, error, found, agent));
    }
    let text = format!(
        "{details}Understood: {}.\nAction: none yet.\nNext: should I proceed? Answer yes or no.",
        describe_call(&call)
    );
    let pending = Pending::new(PendingKind::Confirm, ChatAgent::Editor, call);
    Ok(Reply::new(agent, text).with_wait(Wait::Pending(Box::new(pending))))
}

fn refusal(call: &Call, error: &str, found: &str, agent: ChatAgent) -> Reply {
    let error = match error.starts_with("Component with ID") && error.contains("not found") {
        true => format!("The specified component was not found for your client. {error}"),
        false => error.to_string(),
    };
    let next = match error.starts_with("Security group") && error.contains("not found") {
        true => "Next: name a security group of the client by its title.",
        false => "Next: say it again with what is allowed, or ask me to list your components.",
    };
    let text = format!(
        "{found}Understood: {}.\nAction: none.\nResult: {error}. Nothing was changed.\n{next}",
        describe_call(call)
    );
    Reply::new(agent, text)
}

/// Does what was confirmed, if it is as it was shown, and says what came of it.
fn write_confirmed(tools: &mut Tools<'_>, chat: &Chat, pending: &Pending) -> Result<Reply> {
    if let Some(changes) = offer::find_outdated(tools.transaction, pending, chat.shown.as_deref())?
    {
        return renew(tools, pending, &changes);
    }
    let call = pending.call();
    if call.tool == Tool::SearchComponent {
        let reply = find(tools, &call)?.map(|found| list(&found, &call, pending.next.clone()));
        return Ok(reply
            .unwrap_or_else(|reply| reply)
            .with_settled(Settled::Confirmed));
    }
    let result = tools.write(pending)?;
    let reply = match (call.tool, fault(&result)) {
        (Tool::UpdateDesign, Some(error)) => {
            Reply::new(pending.agent, format!("{error} Nothing was changed."))
        }
        (Tool::UpdateDesign, None) => {
            let done = restate(&call.object("designUpdates"));
            Reply::new(
                pending.agent,
                format!("Design updated successfully: {done}."),
            )
        }
        (_, Some(error)) => refusal(&call, error, "", ChatAgent::Editor),
        (_, None) => Reply::new(ChatAgent::Editor, describe_result(&call, &result)),
    };
    Ok(reply.with_settled(Settled::Confirmed))
}

fn describe_result(call: &Call, result: &Value) -> String {
    let message = plain(&result["message"]);
    let is_secured = result
        .get("is_secured")
        .map_or(String::new(), |is| format!(" (is_secured: {is})"));
    let there = result.get("component").map_or(String::new(), |one| {
        format!(". {}", describe_component(one))
    });
    format!(
        "Understood: {}.\nAction: {}.\nResult: {message}{is_secured}{there}.\n\
         Next: say what else to change, or ask for the list of your components.",
        describe_call(call),
        call.tool.name()
    )
}

/// Asks for another yes, as what was confirmed would change something else now.
fn renew(tools: &mut Tools<'_>, pending: &Pending, changes: &[Difference]) -> Result<Reply> {
    let call = pending.call();
    let note =
        |now: &str| format!("It has changed since I asked you, so nothing was written: {now}.\n");
    let now = || {
        let fresh = changes
            .iter()
            .filter(|change| !pending.changes.contains(change));
        let fresh = fresh.map(|change| (&change.label, change.before.as_deref()));
        let has = |label: &str| changes.iter().any(|change| change.label == label);
        let gone = pending.changes.iter().filter(|change| !has(&change.label));
        let gone = gone.map(|change| (&change.label, Some(change.after.as_str())));
        let values = fresh.chain(gone).map(|(label, value)| match value {
            Some(value) => format!("{label} is \"{}\" now", brief(value)),
            None => format!("{label} is not set now"),
        });
        values.collect::<Vec<_>>().join(", ")
    };
    let reply = match call.tool {
        Tool::UpdateDesign => offer_design(tools, call, &note(&now()))?,
        Tool::DeleteComponent => {
            let read = Call {
                tool: Tool::GetComponent,
                ..call.clone()
            };
            let found = tools.call(&read)?;
            propose(
                tools,
                call,
                ChatAgent::Editor,
                &note(&describe_component(&found["components"][0])),
            )?
        }
        _ => propose(tools, call, ChatAgent::Editor, &note(&now()))?,
    };
    let is_over = matches!(reply.wait, Wait::Nothing);
    Ok(if is_over {
        reply.with_settled(Settled::Dropped)
    } else {
        reply
    })
}
