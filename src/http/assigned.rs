//! Assigned agents of tasks. Tasks are shared and agents are not: an agent that a caller may not
//! see is neither shown, found nor assignable.

use serde_json::Value;

use super::agents::find_unseen;
use super::answer::Answer;
use super::call::Call;
use crate::error::Result;

/// Path of endpoints that return tasks with all fields.
const WORK: &str = "/api/work/";
/// Path of endpoints that return tasks in the form of the specification, and the start of their
/// agent field.
const TASKS: (&str, &str) = ("/api/tasks", "\"assigned_to\":");

pub(super) fn hide_unseen_agents(call: &Call, answer: Answer) -> Result<Answer> {
    let path = call.uri.path();
    let is_of_work = path.starts_with(WORK);
    if call.visible_user().is_none() || !is_of_work && !path.starts_with(TASKS.0) {
        return Ok(answer);
    }
    let is_unseen = find_unseen(call)?;
    Ok(answer.map_text(|text| {
        if !is_of_work {
            return hide_assigned(text, &is_unseen);
        }
        // Fast path: most replies name no agent, and are long.
        let mut value = match text.contains(FIELD) {
            true => serde_json::from_str::<Value>(text).ok()?,
            false => return None,
        };
        hide_in_fields(&mut value, &is_unseen);
        Some(value.to_string())
    }))
}

/// Removes names from tasks in the form of the specification. Texts of tasks cannot match, because
/// quotes in them are escaped.
fn hide_assigned(text: &str, is_unseen: &impl Fn(&String) -> bool) -> Option<String> {
    let mut parts = text.split(TASKS.1);
    let mut edited = parts.next()?.to_string();
    for part in parts {
        let mut values = serde_json::Deserializer::from_str(part).into_iter::<Option<String>>();
        let agent = values.next()?.ok()?;
        let rest = match agent.filter(is_unseen) {
            Some(_) => format!("null{}", &part[values.byte_offset()..]),
            None => part.to_string(),
        };
        edited += TASKS.1;
        edited += &rest;
    }
    Some(edited)
}

/// The field of a task that names its agent.
pub(super) const FIELD: &str = "assignedAgent";

pub(super) fn hide_in_fields(value: &mut Value, is_unseen: &impl Fn(&String) -> bool) {
    match value {
        Value::Object(fields) => fields
            .iter_mut()
            .for_each(|(name, value)| match name == FIELD {
                true => remove_names(value, is_unseen),
                false => hide_in_fields(value, is_unseen),
            }),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| hide_in_fields(item, is_unseen)),
        _ => {}
    }
}

/// Removes names from a field: its value, or its old and new value.
fn remove_names(value: &mut Value, is_unseen: &impl Fn(&String) -> bool) {
    match value {
        Value::String(name) if is_unseen(name) => *value = Value::Null,
        Value::Object(parts) => parts
            .values_mut()
            .for_each(|part| remove_names(part, is_unseen)),
        Value::Array(parts) => parts
            .iter_mut()
            .for_each(|part| remove_names(part, is_unseen)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_agent_names_are_removed_from_tasks() {
        let mut value = json!({
            "tasks": [{"assignedAgent": "hers"}, {"assignedAgent": "mine", "title": "hers"}],
            "changes": [{"detail": {"assignedAgent": {"from": "mine", "to": "hers"}}}],
            "old": {"assignedAgent": ["hers", null]},
        });
        hide_in_fields(&mut value, &|name: &String| name == "hers");
        let told = json!({
            "tasks": [{"assignedAgent": null}, {"assignedAgent": "mine", "title": "hers"}],
            "changes": [{"detail": {"assignedAgent": {"from": "mine", "to": null}}}],
            "old": {"assignedAgent": [null, null]},
        });
        assert_eq!(value, told);
    }
}
