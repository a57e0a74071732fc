//! The editor: shows, makes, changes and removes components that are named, and their security groups.
//! Each reply says what was understood, what was done, what came of it and what comes next.

mod details;

use serde_json::{Map, Value};

pub(super) use self::details::details;

use super::pending::{Ask, Pending, PendingKind};
use super::request::Request;
use super::value::{brief, label, plain};
use super::vocabulary::Verb;
use super::{Call, ChatAgent, Saying, Step, Tool, Wait, args, fault, text};

const AGENT: ChatAgent = ChatAgent::Editor;
/// Says what happens next.
pub(super) fn next(request: &Request, results: &[Value]) -> Step {
    if let (Some(first), false) = (&request.component, request.others.is_empty()) {
        let others = request.others.join(", ");
        let text = format!(
            "I work on one component at a time, and you name {first}, {others}. Nothing was changed. \
             Please say it again for each of them."
        );
        return Step::Say(Saying::new(AGENT, text));
    }
    match operation(request, AGENT) {
        Ok(call) => {
            let remark = remark(request, results);
            match call.tool {
                Tool::DeleteComponent => deletion(call, request, results),
                _ => proceed(call, request.component.as_deref(), results, &remark),
            }
        }
        Err(saying) => Step::Say(*saying),
    }
}

/// Shows what is to be deleted before it asks for a yes.
fn deletion(mut call: Call, request: &Request, results: &[Value]) -> Step {
    let id = request.component.as_deref().unwrap_or_default();
    call.args.insert("componentId".to_string(), id.into());
    let [found, rest @ ..] = results else {
        let args = call.args;
        return Step::Call(Call {
            tool: Tool::GetComponent,
            args,
        });
    };
    let there = found.get("components").and_then(|all| all.get(0));
    match fault(found) {
        Some(error) => Step::Say(refusal(&call, error, "")),
        None => {
            let details = there.map(|one| details(one) + "\n");
            proceed(call, None, rest, &details.unwrap_or_default())
        }
    }
}

/// Asks for the client.
pub(super) fn ask_client(agent: ChatAgent, request: &Request) -> Saying {
    let text = "I need your client ID to perform this operation. Which client is it? For example: client 6";
    Saying::new(agent, text).waiting(Wait::Ask(Ask {
        message: request.message.clone(),
        is_client: true,
        ..Ask::default()
    }))
}

/// Asks for what a request lacks.
pub(super) fn ask(agent: ChatAgent, message: impl Into<String>, text: impl Into<String>) -> Saying {
    Saying::new(agent, text).waiting(Wait::Ask(Ask {
        message: message.into(),
        ..Ask::default()
    }))
}

/// Makes the call that a request is about, yet without its component. What is missing is asked for.
pub(super) fn operation(request: &Request, agent: ChatAgent) -> Result<Call, Box<Saying>> {
    let tool = tool(request);
    if let Some(doubt) = request.doubt.as_ref().filter(|_| tool.writes()) {
        return Err(Box::new(Saying::new(agent, doubt)));
    }
    let Some(client) = &request.client else {
        return Err(Box::new(ask_client(agent, request)));
    };
    let mut args = args([("clientId", client.as_str().into())]);
    match tool {
        Tool::AddSecurityGroup | Tool::RemoveSecurityGroup => {
            let Some(group) = &request.group else {
                let question = "Which security group do you mean? Name it by its title.";
                return Err(Box::new(ask(agent, &request.message, question)));
            };
            args.insert("security_group_title".to_string(), group.as_str().into());
        }
        Tool::AddComponent => {
            let Some(kind) = request.kind else {
                let question = "Please specify the type of component you want to create: \
                    cards, buttons, texts, images, headers, footers, banner or link.";
                return Err(Box::new(ask(agent, &request.message, question)));
            };
            let mut updates = nested(&request.updates);
            updates.insert("component_type".to_string(), kind.into());
            if let Some(id) = &request.component {
                args.insert("componentId".to_string(), id.as_str().into());
            }
            args.insert("updates".to_string(), updates.into());
        }
        Tool::UpdateComponent => {
            let lacking = request
                .wanted
                .iter()
                .map(|field| (field.clone(), Value::Null));
            let known = request.updates.clone().into_iter().chain(lacking);
            let updates: Map<_, _> = known.chain(request.given.clone()).collect();
            args.insert("updates".to_string(), updates.into());
        }
        _ => {}
    }
    Ok(Call { tool, args })
}

fn tool(request: &Request) -> Tool {
    match (request.is_security, request.verb) {
        (_, Some(Verb::Read)) => Tool::GetComponent,
        (true, Some(Verb::Delete)) => Tool::RemoveSecurityGroup,
        (true, _) => Tool::AddSecurityGroup,
        (false, Some(Verb::Create)) => Tool::AddComponent,
        (false, Some(Verb::Delete)) => Tool::DeleteComponent,
        (false, None) if request.updates.is_empty() && request.wanted.is_empty() => {
            Tool::GetComponent
        }
        (false, _) => Tool::UpdateComponent,
    }
}

/// Goes on with a call once the component is known: shows it, asks what is missing, or tries what
/// would be written and asks for a yes. `found` says how the component was found.
pub(super) fn proceed(
    mut call: Call,
    component: Option<&str>,
    results: &[Value],
    found: &str,
) -> Step {
    if let Some(component) = component {
        call.args
            .insert("componentId".to_string(), component.into());
    }
    if let Some(field) = lacking(&call) {
        return Step::Say(ask_value(&call, field, found));
    }
    let lacks_fields =
        call.tool == Tool::UpdateComponent && updates(&call).is_none_or(Map::is_empty);
    if call.tool == Tool::GetComponent || lacks_fields {
        return look(&call, lacks_fields, results, found);
    }
    match results.first() {
        None => Step::Rehearse(call),
        Some(result) => Step::Say(match fault(result) {
            Some(error) => refusal(&call, error, found),
            None => confirm(call, result, found),
        }),
    }
}

/// Finds a field that is to be changed, but to what is not said.
fn lacking(call: &Call) -> Option<&String> {
    let fields = updates(call).filter(|_| call.tool == Tool::UpdateComponent)?;
    fields
        .iter()
        .find(|(_, value)| value.is_null())
        .map(|(field, _)| field)
}

fn ask_value(call: &Call, field: &str, found: &str) -> Saying {
    let (id, client) = (
        text(&call.args, "componentId"),
        text(&call.args, "clientId"),
    );
    let question = format!(
        "{found}What should the {} of component {id} be?",
        brief(label(field))
    );
    let updates = updates(call).cloned().unwrap_or_default();
    let (wanted, given): (Map<_, _>, Map<_, _>) =
        updates.into_iter().partition(|(_, value)| value.is_null());
    let wanted = wanted.keys().cloned().collect::<Vec<_>>().join(" and ");
    Saying::new(AGENT, question).waiting(Wait::Ask(Ask {
        message: format!("update component {id} {wanted} for client {client}"),
        field: Some((AGENT, field.to_string())),
        given,
        ..Ask::default()
    }))
}

/// Writes `props.title` as `title` in `props`, the way in which a new component is described.
fn nested(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut nested = Map::new();
    for (path, value) in fields {
        match path.split_once('.') {
            Some((column, field)) => {
                let object = nested
                    .entry(column)
                    .or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(object) = object {
                    object.insert(field.to_string(), value.clone());
                }
            }
            None => {
                nested.insert(path.clone(), value.clone());
            }
        }
    }
    nested
}

pub(super) fn updates(call: &Call) -> Option<&Map<String, Value>> {
    call.args.get("updates").and_then(Value::as_object)
}

/// Shows a component; for a change that names no field it asks which one.
fn look(call: &Call, is_change: bool, results: &[Value], found: &str) -> Step {
    let Some(result) = results.first() else {
        let mut args = call.args.clone();
        args.remove("updates");
        return Step::Call(Call {
            tool: Tool::GetComponent,
            args,
        });
    };
    if let Some(error) = fault(result) {
        return Step::Say(refusal(call, error, found));
    }
    let components = result.get("components").and_then(Value::as_array);
    let details: Vec<String> = components.into_iter().flatten().map(details).collect();
    let details = match found {
        "" => details.join("\n") + "\n",
        // Whoever found it has told what it is.
        found => found.to_string(),
    };
    if !is_change {
        let next = "Next: say what to change, for example \"change its title\" with the component's number.";
        return Step::Say(Saying::new(AGENT, format!("{details}{next}")));
    }
    let (id, client) = (
        text(&call.args, "componentId"),
        text(&call.args, "clientId"),
    );
    let question = "I couldn't identify which field you want to update. What should I change? \
        For example: title to Welcome";
    let message = format!("update component {id} for client {client}");
    Step::Say(ask(AGENT, message, format!("{details}{question}")))
}

/// Says what a call is about.
pub(super) fn understood(call: &Call) -> String {
    let get = |key| text(&call.args, key);
    let (client, id) = (get("clientId"), get("componentId"));
    let whose = match id {
        "" => format!("a component of client {client}"),
        id => format!("component {id} of client {client}"),
    };
    let group = brief(get("security_group_title"));
    let of_updates = updates(call).map_or("", |updates| text(updates, "component_type"));
    let text = match call.tool {
        Tool::UpdateComponent => format!("change {whose}: {}", fields(call, " to")),
        Tool::AddComponent => {
            let number = if id.is_empty() {
                String::new()
            } else {
                format!(" as {id}")
            };
            format!(
                "add a component of type {of_updates} for client {client}{number}: {}",
                fields(call, "")
            )
        }
        Tool::DeleteComponent => format!("delete {whose}"),
        Tool::AddSecurityGroup => format!("add the security group \"{group}\" to {whose}"),
        Tool::RemoveSecurityGroup => format!("remove the security group \"{group}\" from {whose}"),
        _ => format!("show {whose}"),
    };
    text.trim_end_matches(": ").to_string()
}

/// Lists the fields of a call with their values.
fn fields(call: &Call, between: &str) -> String {
    let mut parts = Vec::new();
    for (key, value) in updates(call).into_iter().flatten() {
        match value {
            Value::Null => parts.push(brief(label(key))),
            _ if call.tool == Tool::AddComponent && key == "component_type" => {}
            Value::Object(inner) => parts.extend(
                inner
                    .iter()
                    .map(|(key, value)| format!("{key}{between} \"{}\"", brief(&plain(value)))),
            ),
            value => {
                let (name, value) = (brief(label(key)), brief(&plain(value)));
                parts.push(format!("{name}{between} \"{value}\""));
            }
        }
    }
    parts.join(", ")
}

/// Says that what was taken for a security group is no field either, where nothing called it a group.
pub(super) fn remark(request: &Request, results: &[Value]) -> String {
    let is_called = |word: &String| word.starts_with("group") || word.starts_with("security");
    let error = results.first().and_then(fault);
    let is_unknown = error.is_some_and(is_unknown_group);
    let group = request.group.as_deref().filter(|_| is_unknown);
    let group = group.filter(|_| !request.words.iter().any(is_called));
    group.map_or_else(String::new, |group| {
        let group = brief(group);
        format!("\"{group}\" is no field of a component, so I took it for a security group.\n")
    })
}

fn is_unknown_group(error: &str) -> bool {
    error.starts_with("Security group") && error.contains("not found")
}

fn refusal(call: &Call, error: &str, found: &str) -> Saying {
    let error = match error.starts_with("Component with ID") && error.contains("not found") {
        true => format!("The specified component was not found for your client. {error}"),
        false => error.to_string(),
    };
    let next = match is_unknown_group(&error) {
        true => "Next: name a security group of the client by its title.",
        false => "Next: say it again with what is allowed, or ask me to list your components.",
    };
    let text = format!(
        "{found}Understood: {}.\nAction: none.\nResult: {error}. Nothing was changed.\n{next}",
        understood(call)
    );
    Saying::new(AGENT, text)
}

fn confirm(call: Call, result: &Value, found: &str) -> Saying {
    let mut text = format!(
        "{found}Understood: {}.\nAction: none yet.",
        understood(&call)
    );
    if let Some(left) = result.get("rejectedFields").and_then(Value::as_array) {
        let left: Vec<String> = left.iter().map(|key| brief(&plain(key))).collect();
        text += &format!(
            "\nLeft out, because it cannot be changed: {}.",
            left.join(", ")
        );
    }
    text += "\nNext: should I proceed? Answer yes or no.";
    let pending = Pending::new(PendingKind::Confirm, AGENT, call);
    Saying::new(AGENT, text).waiting(Wait::Pending(Box::new(pending)))
}

/// Says what came of a call that was confirmed.
pub(super) fn done(call: &Call, result: &Value) -> Saying {
    if let Some(error) = fault(result) {
        return refusal(call, error, "");
    }
    let object = result.as_object();
    let message = object.map_or("", |object| text(object, "message"));
    let mut lines = format!(
        "Understood: {}.\nAction: {}.\nResult: {message}",
        understood(call),
        call.tool.name()
    );
    if let Some(is_secured) = result.get("is_secured") {
        lines += &format!(" (is_secured: {is_secured})");
    }
    if let Some(component) = result.get("component") {
        lines += &format!(". {}", details(component));
    }
    Saying::new(
        AGENT,
        lines + ".\nNext: say what else to change, or ask for the list of your components.",
    )
}
