//! A component in words, with everything that is set.

use serde_json::{Map, Value};

use crate::chat::value::{label, plain};

/// What names a component, whose it is and what kind it is, which stands before all else of it.
const NAMES: [&str; 5] = [
    "component_id",
    "componentId",
    "client_id",
    "component_type",
    "type",
];

/// Writes a component with everything that is set.
pub(in crate::chat) fn details(component: &Value) -> String {
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
            Value::Object(fields) => set_fields(fields, &mut parts),
            Value::Bool(true) => parts.push(column.clone()),
            Value::Number(number) => parts.push(format!("{} {number}", label(column))),
            Value::String(text) if !NAMES.contains(&column.as_str()) => {
                parts.push(format!("{column} \"{text}\""));
            }
            _ => {}
        }
    }
    match parts.is_empty() {
        true => format!("Component {id} ({kind})"),
        false => format!("Component {id} ({kind}): {}", parts.join(", ")),
    }
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
