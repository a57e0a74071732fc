//! The clarifier: finds the component that is meant and goes on with what was asked for.

use serde_json::{Value, json};

use super::answer::place;
use super::pending::{Pending, PendingKind};
use super::request::Request;
use super::value::{brief, label, plain};
use super::vocabulary::{STATUS, Verb};
use super::{Call, ChatAgent, Saying, Step, Tool, Wait, args, editor, fault};

const AGENT: ChatAgent = ChatAgent::Clarifier;

/// What the chat can do.
pub(super) const HELP: &str = "I can show and change the design of a client, and list, \
    show, add, change, delete and secure its components. For example:\n\
    - show me my design for client 6\n\
    - change button radius to full for client 6\n\
    - list components for client 6\n\
    - update component 101 title to Welcome for client 6";

/// Says whether a message only asks what can be said.
pub(super) fn asks_for_help(message: &str) -> bool {
    let text = message.trim().to_lowercase();
    let asked = text.trim_end_matches(['?', '!', '.', ' ']);
    ["help", "help me", "help please", "what can you do"].contains(&asked)
}

/// Says whether a request is none that the chat understands, and no naming of a client.
pub(super) fn is_unclear(request: &Request) -> bool {
    let names_client = request.names_client && request.words.is_empty();
    !is_about(request) && !names_client && !asks_for_help(&request.message)
}

/// Says whether a request is about components.
fn is_about(request: &Request) -> bool {
    request.is_security
        || request.has(&["component", "components"])
        || request.verb.is_some() && !request.criteria.is_empty()
        || request.verb == Some(Verb::Create)
        || names_a_kind(request)
}

/// Says what happens next.
pub(super) fn next(request: &Request, results: &[Value]) -> Step {
    if !is_about(request) {
        let text = match (&request.client, request.words.is_empty()) {
            (Some(client), true) if request.names_client => {
                format!("This is about client {client} now. What would you like to see or change?")
            }
            _ if asks_for_help(&request.message) => HELP.to_string(),
            _ => format!("I did not understand that. {HELP}"),
        };
        return Step::Say(Saying::new(AGENT, text));
    }
    let operation = match editor::operation(request, AGENT) {
        Ok(call) => call,
        Err(saying) => return Step::Say(*saying),
    };
    let is_list = operation.tool == Tool::GetComponent;
    let is_described = !request.criteria.is_empty() || request.called.is_some();
    if !is_described && !is_list {
        return Step::Say(offer(request, operation));
    }
    match results {
        [] => Step::Call(search(request)),
        [found, rest @ ..] => chosen(request, operation, found, rest),
    }
}

fn names_a_kind(request: &Request) -> bool {
    let is_kind = |word: &String| super::component_type(word).is_some();
    request.verb.is_some() && request.head.iter().any(is_kind)
}

fn search(request: &Request) -> Call {
    let client = request.client.as_deref().unwrap_or_default();
    let criteria = request.criteria.clone();
    let args = args([("clientId", client.into()), ("criteria", criteria.into())]);
    Call {
        tool: Tool::SearchComponent,
        args,
    }
}

/// Goes on with what was found.
fn chosen(request: &Request, operation: Call, found: &Value, rest: &[Value]) -> Step {
    if let Some(error) = fault(found) {
        return Step::Say(unfound(error));
    }
    let all = components(found);
    let called = request.called.as_deref();
    let fitting = called.map_or_else(|| all.clone(), |called| called_so(&all, called));
    match fitting.as_slice() {
        [] if description(request).is_empty() => Step::Say(Saying::new(AGENT, none(&operation))),
        [] => Step::Say(offer(request, operation)),
        [one] => {
            let remark = editor::remark(request, rest);
            let text = format!("I found one: {}.\n{remark}", editor::details(one));
            match operation.tool {
                Tool::GetComponent => Step::Say(Saying::new(AGENT, text)),
                _ => proceed(operation, id(one), rest, &text),
            }
        }
        many => Step::Say(list(many, operation, &states(request))),
    }
}

fn unfound(error: &str) -> Saying {
    Saying::new(AGENT, format!("{error}. Nothing was changed."))
}

/// Goes on with the one component that was found; who clarified it replies.
fn proceed(operation: Call, id: &str, results: &[Value], found: &str) -> Step {
    match editor::proceed(operation, Some(id), results, found) {
        Step::Say(saying) => Step::Say(Saying {
            agent: AGENT,
            ..saying
        }),
        step => step,
    }
}

fn components(found: &Value) -> Vec<Value> {
    let list = found.get("components").and_then(Value::as_array);
    list.cloned().unwrap_or_default()
}

/// Finds the components that are called so; else the one that has this place among them: "first".
fn called_so(all: &[Value], called: &str) -> Vec<Value> {
    let fitting = all.iter().filter(|component| is_called(component, called));
    let fitting: Vec<Value> = fitting.cloned().collect();
    let at = place(&called.to_lowercase(), all.len()).and_then(|place| place.checked_sub(1));
    match at.and_then(|at| all.get(at)) {
        Some(one) if fitting.is_empty() => vec![one.clone()],
        _ => fitting,
    }
}

/// Says whether every word of what a component is called stands in one of its texts.
fn is_called(component: &Value, called: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).map(String::from);
        words.filter(|word| !word.is_empty()).collect()
    };
    let wanted = words(called);
    let props = component.get("props").and_then(Value::as_object);
    let mut texts = props
        .into_iter()
        .flatten()
        .filter_map(|(_, text)| text.as_str());
    texts.any(|text| {
        let there = words(text);
        !wanted.is_empty() && wanted.iter().all(|word| there.contains(word))
    })
}

fn id(component: &Value) -> &str {
    component
        .get("componentId")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn none(operation: &Call) -> String {
    format!(
        "Client {} has no components.",
        super::text(&operation.args, "clientId")
    )
}

/// Offers the complete list, when nothing was found or nothing is described.
fn offer(request: &Request, operation: Call) -> Saying {
    let described = description(request);
    let text = match described.is_empty() {
        true => "I need to know which component you mean. Would you like me to show all your \
            components so you can select one?"
            .to_string(),
        false => format!(
            "No components found matching '{described}'. Would you like me to show all your \
             components so you can select one?"
        ),
    };
    let client = request.client.as_deref().unwrap_or_default();
    let args = args([("clientId", client.into()), ("criteria", json!({}))]);
    let mut pending = Pending::new(
        PendingKind::Confirm,
        AGENT,
        Call {
            tool: Tool::SearchComponent,
            args,
        },
    );
    pending.next = Some(operation);
    Saying::new(AGENT, text).waiting(Wait::Pending(Box::new(pending)))
}

fn description(request: &Request) -> String {
    let others = request
        .criteria
        .iter()
        .filter(|(_, value)| !value.is_boolean());
    let parts = others.map(|(key, value)| match key.as_str() {
        "component_type" => plain(value),
        key => format!("{} {}", label(key), brief(&plain(value))),
    });
    let parts = parts.collect::<Vec<_>>().join(" with ");
    let called = request.called.as_deref().map(brief);
    let states = states(request).into_iter().map(String::from);
    let words = states.chain(called).chain([parts]).collect::<Vec<_>>();
    words.join(" ").trim_end().to_string()
}

/// Returns the words for the status that is asked for.
fn states(request: &Request) -> Vec<&'static str> {
    let word = |(key, value): (&String, &Value)| {
        let mut all = STATUS.iter();
        let status = all.find(|status| status.1 == key && *value == status.2)?;
        Some(status.0)
    };
    request.criteria.iter().filter_map(word).collect()
}

/// Shows the complete list that was offered.
pub(super) fn offered(pending: &Pending, found: &Value) -> Saying {
    if let Some(error) = fault(found) {
        return unfound(error);
    }
    let operation = pending.next.clone().unwrap_or_else(|| pending.call());
    match components(found).as_slice() {
        [] => Saying::new(AGENT, none(&pending.call())),
        many => list(many, operation, &[]),
    }
}

/// Lists components with numbers; one of them can be chosen for what was asked for.
fn list(components: &[Value], operation: Call, states: &[&str]) -> Saying {
    let lines = components.iter().enumerate();
    let lines = lines.map(|(index, one)| format!("{}. {}", index + 1, editor::details(one)));
    let lines = lines.collect::<Vec<_>>().join("\n");
    if operation.tool == Tool::GetComponent {
        let client = super::text(&operation.args, "clientId");
        let that = match states {
            [] => String::new(),
            states => format!(" that are {}", states.join(" and ")),
        };
        let text = format!("Components of client {client}{that}:\n{lines}");
        return Saying::new(AGENT, text);
    }
    let text = format!(
        "Which component do you mean?\n{lines}\nPlease select one by its number, its ID or its title."
    );
    let mut pending = Pending::new(PendingKind::Select, ChatAgent::Editor, operation);
    pending.candidates = components.iter().map(|one| id(one).to_string()).collect();
    Saying::new(AGENT, text).waiting(Wait::Pending(Box::new(pending)))
}
