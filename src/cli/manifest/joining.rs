//! An entry from standard input together with what the options say of it.

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::document;

/// The fields of an entry as they were written.
type Written = IndexMap<String, Box<RawValue>>;

/// What is said where an entry is taken although nothing can be joined to it.
const UNREAD: &str =
    "the options do not count: a field of the entry stands twice or cannot be read";

/// Joins an entry with fields from options, and says which of its own give way: lists grow, all else
/// counts in the place of what the entry says. A text that is no object stays as it is, for whoever
/// reads it next to name its faults.
pub(super) fn joined(text: String, options: &Value) -> (String, Vec<String>) {
    let given = options.as_object().into_iter().flatten();
    let given: Vec<(&String, &Value)> = given.filter(|(_, value)| is_given(value)).collect();
    if given.is_empty() {
        return (text, Vec::new());
    }
    let Some(mut entry) = written(&text) else {
        return (text, vec![UNREAD.to_string()]);
    };
    let mut warnings = Vec::new();
    for (name, value) in given {
        let old = entry.get(name).map(|old| old.get());
        let old = old.and_then(|old| serde_json::from_str(old).ok());
        let new = of_both(name, old, value, &mut warnings);
        if let Ok(new) = to_raw_value(&new) {
            entry.insert(name.clone(), new);
        }
    }
    (serde_json::to_string(&entry).unwrap_or(text), warnings)
}

/// Reads an object; none when a field stands twice, which is a fault that joining would hide.
fn written(text: &str) -> Option<Written> {
    document::json(text, usize::MAX).ok()?;
    serde_json::from_str(text).ok()
}

/// An option that is left out is an empty list or false, if it is there at all.
fn is_given(value: &Value) -> bool {
    match value {
        Value::Array(list) => !list.is_empty(),
        value => *value != Value::Bool(false),
    }
}

fn of_both(name: &str, old: Option<Value>, new: &Value, warnings: &mut Vec<String>) -> Value {
    match (old, new) {
        (Some(Value::Array(mut list)), Value::Array(more)) => {
            let missing = more.iter().filter(|item| !list.contains(item));
            let missing: Vec<Value> = missing.cloned().collect();
            list.extend(missing);
            return Value::Array(list);
        }
        (Some(old), new) if old != *new => warnings.push(format!(
            "{name} is {new}, as the options say; the entry on standard input says {old}"
        )),
        _ => {}
    }
    new.clone()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_grow_and_all_else_gives_way() {
        let options = json!({"status": "blocked", "topics": [], "actionable": false,
            "linked_tasks": ["T3", "T2"], "skill": "x"});
        let text =
            r#"{"id":"a","n":1.00000000000000000001,"status":"partial","linked_tasks":["T2"]}"#;
        let (entry, warnings) = joined(text.to_string(), &options);
        assert_eq!(
            entry,
            r#"{"id":"a","n":1.00000000000000000001,"status":"blocked","linked_tasks":["T2","T3"],"skill":"x"}"#
        );
        assert_eq!(
            warnings,
            [
                "status is \"blocked\", as the options say; the entry on standard input says \"partial\""
            ]
        );
    }

    #[test]
    fn what_cannot_be_joined_stays_as_it_is() {
        let options = json!({"linked_tasks": ["T3"]});
        for text in ["[1]", "no JSON", r#"{"id":"a","id":"b"}"#] {
            let same = (text.to_string(), vec![UNREAD.to_string()]);
            assert_eq!(joined(text.to_string(), &options), same);
        }
        let text = "{ \"id\": \"a\" }".to_string();
        assert_eq!(joined(text.clone(), &json!({})), (text, Vec::new()));
    }
}
