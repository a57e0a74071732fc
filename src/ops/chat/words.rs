//! Designs, components and calls in the words of replies.

use serde_json::{Map, Value};

use crate::chat::value::{brief, flatten, label, plain};
use crate::chat::vocabulary::{DESIGN, by_key};
use crate::chat::{Call, Tool, text};

/// What names a component, whose it is and of which type, which stands before all else of it.
const NAMES: [&str; 5] = [
    "component_id",
    "componentId",
    "client_id",
    "component_type",
    "type",
];

/// Writes a component with everything that is set.
pub(super) fn describe_component(component: &Value) -> String {
    let kind = component.get("component_type").or(component.get("type"));
    let fields = flatten(component)
        .into_iter()
        .filter(|(path, _)| !NAMES.contains(&path.as_str()));
    let parts = fields.filter_map(|(path, value)| match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(label(&path)),
        Value::Number(number) => Some(format!("{} {number}", label(&path))),
        value => Some(format!("{} \"{}\"", label(&path), plain(value))),
    });
    let parts = parts.collect::<Vec<_>>().join(", ");
    let between = if parts.is_empty() { "" } else { ": " };
    format!(
        "Component {} ({}){between}{parts}",
        id_of(component),
        kind.map(plain).unwrap_or_default()
    )
}

pub(super) fn id_of(component: &Value) -> String {
    let id = component
        .get("component_id")
        .or(component.get("componentId"));
    id.map(plain).unwrap_or_default()
}

/// Says what is looked for: "old cards with title Home".
pub(super) fn describe_criteria(criteria: &Map<String, Value>) -> String {
    let what = [text(criteria, "called"), text(criteria, "component_type")].join(" ");
    let others = criteria
        .iter()
        .filter(|(key, _)| !["called", "component_type"].contains(&key.as_str()));
    let others: String = others
        .map(|(key, value)| format!(" with {} {}", label(key), plain(value)))
        .collect();
    brief((what.trim().to_string() + &others).trim())
}

/// Says what a call is about.
pub(super) fn describe_call(call: &Call) -> String {
    let (client, id) = (call.text("clientId"), call.text("componentId"));
    let whose = match id {
        "" => format!("a component of client {client}"),
        id => format!("component {id} of client {client}"),
    };
    let group = brief(call.text("security_group_title"));
    let text = match call.tool {
        Tool::UpdateDesign => format!("change {} for client {client}", restate(call)),
        Tool::SearchComponent => "show all your components".to_string(),
        Tool::UpdateComponent => format!("change {whose}: {}", describe_fields(call, " to")),
        Tool::AddComponent => {
            let number = if id.is_empty() {
                String::new()
            } else {
                format!(" as {id}")
            };
            let updates = call.object("updates");
            let (kind, fields) = (text(&updates, "component_type"), describe_fields(call, ""));
            format!("add a component of type {kind} for client {client}{number}: {fields}")
        }
        Tool::DeleteComponent => format!("delete {whose}"),
        Tool::AddSecurityGroup => format!("add the security group \"{group}\" to {whose}"),
        Tool::RemoveSecurityGroup => format!("remove the security group \"{group}\" from {whose}"),
        _ => format!("show {whose}"),
    };
    text.trim_end_matches(": ").to_string()
}

/// Lists the fields of a call with their values.
fn describe_fields(call: &Call, between: &str) -> String {
    let updates = Value::Object(call.object("updates"));
    let is_new_type = |path: &str| call.tool == Tool::AddComponent && path == "component_type";
    let fields = flatten(&updates)
        .into_iter()
        .filter(|(path, _)| !is_new_type(path));
    let fields = fields.map(|(path, value)| match value {
        Value::Null => brief(&label(&path)),
        value => format!(
            "{}{between} \"{}\"",
            brief(&label(&path)),
            brief(&plain(value))
        ),
    });
    fields.collect::<Vec<_>>().join(", ")
}

/// Lists everything of a design that can be changed.
pub(super) fn menu() -> String {
    let offered = DESIGN.iter().filter(|field| field.is_offered);
    let lines: Vec<String> = offered
        .map(|field| format!("- {}: {}", field.label(), field.kind))
        .collect();
    format!("You can change:\n{}", lines.join("\n"))
}

/// Says what of a design becomes what: "the Button Radius to full".
pub(super) fn restate(call: &Call) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let updates = call.object("designUpdates");
    let parts = updates.iter().map(|(key, value)| {
        let name = by_key(DESIGN, key).map_or("design", |field| field.label());
        let words: Vec<String> = name.split(' ').map(capital).collect();
        format!("the {} to {}", words.join(" "), brief(&plain(value)))
    });
    parts.collect::<Vec<_>>().join(" and ")
}

/// Lists what the client answered when it began.
pub(super) fn describe_answers(answers: &Value) -> String {
    let answers = answers["answers"].as_array();
    let lines = answers.into_iter().flatten().map(|answer| {
        let chosen = answer["chosen_options"].as_array();
        let chosen: Vec<String> = chosen.into_iter().flatten().map(plain).collect();
        format!("\n- {} {}", plain(&answer["question"]), chosen.join(", "))
    });
    let lines: String = lines.collect();
    let head = if lines.is_empty() {
        ""
    } else {
        "\nOnboarding answers:"
    };
    format!("{head}{lines}")
}

/// Writes a design with everything that is set.
pub(super) fn describe_design(client: &str, design: &Value, answers: &Value) -> String {
    let is_shown = |path: &str| path.contains('.') || path.ends_with("Url");
    let set = flatten(design)
        .into_iter()
        .filter(|(path, value)| is_shown(path) && !value.is_null());
    let lines = set.map(|(path, value)| {
        let name = by_key(DESIGN, &path).map_or(path.as_str(), |field| field.label());
        format!("\n- {name}: {}", plain(value))
    });
    let lines: String = lines.collect();
    format!(
        "The design of client {client}:{lines}{}",
        describe_answers(answers)
    )
}
