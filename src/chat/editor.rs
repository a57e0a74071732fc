//! The editor: shows, makes, changes and removes components that are named, and their security groups.
//! Each reply says what was understood, what was done, what came of it and what comes next.

use serde_json::{Map, Value};

use super::design::plain;
use super::pending::{Ask, Pending, PendingKind};
use super::request::Request;
use super::value::{brief, label};
use super::vocabulary::Verb;
use super::{Call, ChatAgent, Saying, Step, Tool, Wait, args, fault, text};

const AGENT: ChatAgent = ChatAgent::Editor;

/// Says what happens next.
pub(super) fn next(request: &Request, results: &[Value]) -> Step {
    match operation(request, AGENT) {
        Ok(call) => proceed(call, request.component.as_deref(), results, ""),
        Err(saying) => Step::Say(*saying),
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
    let Some(client) = &request.client else {
        return Err(Box::new(ask_client(agent, request)));
    };
    let tool = tool(request);
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
            let mut updates = request.updates.clone();
            updates.insert("component_type".to_string(), kind.into());
            if let Some(id) = &request.component {
                args.insert("componentId".to_string(), id.as_str().into());
            }
            args.insert("updates".to_string(), updates.into());
        }
        Tool::UpdateComponent => {
            if let Some(field) = request
                .wanted
                .first()
                .filter(|_| request.component.is_some())
            {
                let question = format!("What should the {} be?", label(field));
                return Err(Box::new(ask(agent, &request.message, question)));
            }
            args.insert("updates".to_string(), request.updates.clone().into());
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
    let details = details.join("\n");
    if !is_change {
        let next = "Next: say what to change, for example \"change its title\" with the component's number.";
        return Step::Say(Saying::new(AGENT, format!("{found}{details}\n{next}")));
    }
    let (id, client) = (
        text(&call.args, "componentId"),
        text(&call.args, "clientId"),
    );
    let question = "I couldn't identify which field you want to update. What should I change? \
        For example: title to Welcome";
    let message = format!("update component {id} for client {client}");
    Step::Say(ask(AGENT, message, format!("{found}{details}\n{question}")))
}

/// Writes a component with everything that is set.
pub(super) fn details(component: &Value) -> String {
    let object = component.as_object();
    let get = |keys: [&str; 2]| {
        let found = keys.iter().find_map(|key| object?.get(*key)?.as_str());
        found.unwrap_or_default().to_string()
    };
    let (id, kind) = (
        get(["component_id", "componentId"]),
        get(["component_type", "type"]),
    );
    let mut parts = Vec::new();
    for (column, value) in object.into_iter().flatten() {
        match value {
            Value::Object(fields) => parts.extend(fields.iter().filter_map(|(key, value)| {
                (!value.is_object()).then(|| format!("{key} \"{}\"", plain(value)))
            })),
            Value::Bool(true) => parts.push(column.clone()),
            _ => {}
        }
    }
    match parts.is_empty() {
        true => format!("Component {id} ({kind})"),
        false => format!("Component {id} ({kind}): {}", parts.join(", ")),
    }
}

/// Says what a call is about.
pub(super) fn understood(call: &Call) -> String {
    let get = |key| text(&call.args, key);
    let (client, id) = (get("clientId"), get("componentId"));
    let whose = match id {
        "" => format!("of client {client}"),
        id => format!("component {id} of client {client}"),
    };
    let group = brief(get("security_group_title"));
    match call.tool {
        Tool::UpdateComponent => format!("change {} of {whose}", changes(call)),
        Tool::AddComponent => {
            let kind = updates(call).map_or("", |updates| text(updates, "component_type"));
            let fields = changes(call);
            let with = if fields.is_empty() {
                fields
            } else {
                format!(" with {fields}")
            };
            format!("add a component of type {kind} for client {client}{with}")
        }
        Tool::DeleteComponent => format!("delete {whose}"),
        Tool::AddSecurityGroup => format!("add the security group \"{group}\" to {whose}"),
        Tool::RemoveSecurityGroup => format!("remove the security group \"{group}\" from {whose}"),
        _ => format!("show {whose}"),
    }
}

fn changes(call: &Call) -> String {
    let updates = updates(call).into_iter().flatten();
    let parts =
        updates.filter(|(key, _)| call.tool != Tool::AddComponent || *key != "component_type");
    let parts = parts.map(|(key, value)| format!("{} to \"{}\"", label(key), brief(&plain(value))));
    parts.collect::<Vec<_>>().join(" and ")
}

fn refusal(call: &Call, error: &str, found: &str) -> Saying {
    let error = match error.starts_with("Component with ID") && error.contains("not found") {
        true => format!("The specified component was not found for your client. {error}"),
        false => error.to_string(),
    };
    let next = "Next: say it again with what is allowed, or ask me to list your components.";
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
