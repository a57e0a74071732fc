//! Designs, components and calls in the words of replies.

use serde_json::{Map, Value};

use crate::chat::pending::Pending;
use crate::chat::value::{brief, label, plain, set};
use crate::chat::vocabulary::ELEMENTS;
use crate::chat::{Call, Tool, elements, text};

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
    let get = |keys: [&str; 2]| {
        keys.iter()
            .find_map(|key| component[*key].as_str())
            .unwrap_or_default()
    };
    let (id, kind) = (id_of(component), get(["component_type", "type"]));
    let mut parts = Vec::new();
    for (column, value) in component.as_object().into_iter().flatten() {
        match value {
            Value::Object(fields) => set_fields(fields, &mut parts),
            Value::Bool(true) => parts.push(column.clone()),
            Value::Number(number) => parts.push(format!("{} {number}", label(column))),
            Value::String(text) if !NAMES.contains(&column.as_str()) => {
                parts.push(format!("{column} \"{text}\""))
            }
            _ => {}
        }
    }
    let between = if parts.is_empty() { "" } else { ": " };
    format!("Component {id} ({kind}){between}{}", parts.join(", "))
}

/// Writes the fields of an object, and of those in it.
fn set_fields(fields: &Map<String, Value>, parts: &mut Vec<String>) {
    for (key, value) in fields {
        match value {
            Value::Object(inner) => set_fields(inner, parts),
            value => parts.push(format!("{key} \"{}\"", plain(value))),
        }
    }
}

pub(super) fn id_of(component: &Value) -> String {
    let id = component
        .get("component_id")
        .or(component.get("componentId"));
    id.map(plain).unwrap_or_default()
}

/// Says what is looked for: "old cards with title Home".
pub(super) fn describe_criteria(criteria: &Map<String, Value>) -> String {
    let kind = [text(criteria, "called"), text(criteria, "component_type")].join(" ");
    let others = criteria
        .iter()
        .filter(|(key, _)| !["called", "component_type"].contains(&key.as_str()));
    let others: String = others
        .map(|(key, value)| format!(" with {} {}", label(key), plain(value)))
        .collect();
    brief((kind.trim().to_string() + &others).trim())
}

/// Writes `props.title` as `title` in `props`, the way in which a new component is described.
pub(super) fn nest(fields: &Map<String, Value>) -> Map<String, Value> {
    let mut nested = Value::Object(Map::new());
    for (path, value) in fields {
        set(
            &mut nested,
            &path.split('.').collect::<Vec<_>>(),
            value.clone(),
        );
    }
    nested.as_object().cloned().unwrap_or_default()
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
        Tool::UpdateComponent => format!("change {whose}: {}", describe_fields(call, " to")),
        Tool::AddComponent => {
            let number = if id.is_empty() {
                String::new()
            } else {
                format!(" as {id}")
            };
            let updates = call.object("updates");
            let kind = text(&updates, "component_type");
            format!(
                "add a component of type {kind} for client {client}{number}: {}",
                describe_fields(call, "")
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
fn describe_fields(call: &Call, between: &str) -> String {
    fn write(fields: &Map<String, Value>, between: &str, parts: &mut Vec<String>) {
        for (key, value) in fields {
            match value {
                Value::Null => parts.push(brief(label(key))),
                Value::Object(inner) => write(inner, between, parts),
                _ if key == "component_type" && between.is_empty() => {}
                value => parts.push(format!(
                    "{}{between} \"{}\"",
                    brief(label(key)),
                    brief(&plain(value))
                )),
            }
        }
    }
    let mut parts = Vec::new();
    write(&call.object("updates"), between, &mut parts);
    parts.join(", ")
}

/// Says what waits.
pub(super) fn describe_pending(pending: &Pending) -> String {
    let call = pending.call();
    match pending.tool {
        Tool::UpdateDesign => {
            let changes = restate(&call.object("designUpdates"));
            format!("change {changes} for client {}", call.text("clientId"))
        }
        Tool::SearchComponent => "show all your components".to_string(),
        _ => describe_call(&call),
    }
}

/// Lists everything of a design that can be changed.
pub(super) fn menu() -> String {
    let offered = ELEMENTS.iter().filter(|element| element.offered);
    let lines: Vec<String> = offered
        .map(|element| format!("- {}: {}", element.label, element.kind))
        .collect();
    format!("You can change:\n{}", lines.join("\n"))
}

/// Says what of a design becomes what: "the Button Radius to full".
pub(super) fn restate(updates: &Map<String, Value>) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let parts = updates.iter().map(|(key, value)| {
        let words: Vec<String> = name_of(key)
            .split(' ')
            .filter(|word| word.is_ascii() && !word.is_empty())
            .map(capital)
            .collect();
        format!("the {} to {}", words.join(" "), brief(&plain(value)))
    });
    parts.collect::<Vec<_>>().join(" and ")
}

pub(super) fn name_of(key: &str) -> String {
    let element = elements(key);
    element
        .first()
        .map_or_else(|| brief(key), |element| element.label.to_string())
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
    if lines.is_empty() {
        lines
    } else {
        format!("\nOnboarding answers:{lines}")
    }
}

/// Writes a design with everything that is set.
pub(super) fn describe_design(client: &str, design: &Value, answers: &Value) -> String {
    let name = |column: &str, field: &str| {
        let known = ELEMENTS
            .iter()
            .find(|element| element.path == (column, field));
        known.map_or_else(
            || format!("{column}.{field}"),
            |element| element.label.to_string(),
        )
    };
    let mut lines = vec![format!("The design of client {client}:")];
    for (column, fields) in design.as_object().into_iter().flatten() {
        match fields {
            Value::Object(fields) => lines.extend(
                fields
                    .iter()
                    .map(|(field, value)| format!("- {}: {}", name(column, field), plain(value))),
            ),
            Value::String(value) if column.ends_with("Url") => {
                lines.push(format!("- {column}: {value}"))
            }
            _ => {}
        }
    }
    lines.join("\n") + &describe_answers(answers)
}
