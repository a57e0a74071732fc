//! Assigned agents of tasks. Tasks are shared and agents are not: an agent that a caller may not
//! see is neither shown, found nor assignable.

use serde_json::Value;

use super::agents::find_unseen;
use super::answer::Answer;
use super::call::Call;
use crate::error::Result;

/// The field of a task that names its agent.
pub(super) const FIELD: &str = "assignedAgent";

pub(super) fn hide_unseen_agents(call: &Call, answer: Answer) -> Result<Answer> {
    let field = match call.uri.path() {
        path if path.starts_with("/api/work/") => FIELD,
        // In the form of the specification.
        path if path.starts_with("/api/tasks") => "assigned_to",
        _ => return Ok(answer),
    };
    // Tasks are shared, so that only this hides the agents of others in them.
    if call.caller.visible_user().is_none() {
        return Ok(answer);
    }
    let mut looked = Ok(());
    let answer = answer.map_text(|text| {
        // Fast path: most replies name no agent, and are long.
        let rest = text.replace(&format!("\"{field}\":null"), "");
        if !rest.contains(field) {
            return None;
        }
        let mut value = serde_json::from_str::<Value>(text).ok()?;
        match find_unseen(call) {
            Ok(is_unseen) => hide_in_fields(&mut value, field, &is_unseen),
            Err(error) => looked = Err(error),
        }
        Some(value.to_string())
    });
    looked.map(|()| answer)
}

pub(super) fn hide_in_fields(value: &mut Value, field: &str, is_unseen: &impl Fn(&String) -> bool) {
    match value {
        Value::Object(fields) => fields
            .iter_mut()
            .for_each(|(name, value)| match name == field {
                true => remove_names(value, is_unseen),
                false => hide_in_fields(value, field, is_unseen),
            }),
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| hide_in_fields(item, field, is_unseen)),
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
        hide_in_fields(&mut value, FIELD, &|name: &String| name == "hers");
        let told = json!({
            "tasks": [{"assignedAgent": null}, {"assignedAgent": "mine", "title": "hers"}],
            "changes": [{"detail": {"assignedAgent": {"from": "mine", "to": null}}}],
            "old": {"assignedAgent": [null, null]},
        });
        assert_eq!(value, told);
    }
}
