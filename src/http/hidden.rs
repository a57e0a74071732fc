//! Names of agents taken out of what is told to somebody who does not see them.

use serde_json::Value;

/// The field of a task that names its agent.
pub(super) const FIELD: &str = "assignedAgent";

/// Takes the names of agents that are not to be told out of a value in which tasks or changes of them stand.
pub(super) fn hide(value: &mut Value, is_unseen: &impl Fn(&String) -> bool) {
    match value {
        Value::Object(fields) => fields
            .iter_mut()
            .for_each(|(name, value)| match name == FIELD {
                true => empty(value, is_unseen),
                false => hide(value, is_unseen),
            }),
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, is_unseen)),
        _ => {}
    }
}

/// Takes names out of a field: its value, or what it was before and is now.
fn empty(value: &mut Value, is_unseen: &impl Fn(&String) -> bool) {
    match value {
        Value::String(name) if is_unseen(name) => *value = Value::Null,
        Value::Object(parts) => parts.values_mut().for_each(|part| empty(part, is_unseen)),
        Value::Array(parts) => parts.iter_mut().for_each(|part| empty(part, is_unseen)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_that_are_not_told_are_taken_out_of_tasks_and_of_changes() {
        let mut value = json!({
            "tasks": [{"assignedAgent": "hers"}, {"assignedAgent": "mine", "title": "hers"}],
            "changes": [{"detail": {"assignedAgent": {"from": "mine", "to": "hers"}}}],
            "old": {"assignedAgent": ["hers", null]},
        });
        hide(&mut value, &|name: &String| name == "hers");
        let told = json!({
            "tasks": [{"assignedAgent": null}, {"assignedAgent": "mine", "title": "hers"}],
            "changes": [{"detail": {"assignedAgent": {"from": "mine", "to": null}}}],
            "old": {"assignedAgent": [null, null]},
        });
        assert_eq!(value, told);
    }
}
