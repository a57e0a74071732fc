//! `--fields`: the parts of a result that the user names. Of a list that the result holds, the parts of each
//! item.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result, nearest};

/// Words of schemas that hold an object, as fields do.
const KEYWORDS: [&str; 3] = ["additionalProperties", "items", "properties"];

/// Paths of fields, such as `id` and `task.title`.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    paths: Vec<Vec<String>>,
}

impl Fields {
    pub(super) fn read(paths: &[String]) -> Fields {
        let paths = paths.iter().map(|path| path.trim());
        let paths = paths.filter(|path| !path.is_empty());
        Fields {
            paths: paths
                .map(|path| path.split('.').map(String::from).collect())
                .collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Checks each path against the schema of a command's reply.
    ///
    /// # Errors
    ///
    /// `E_USAGE` for a name that nothing in the reply has.
    pub(super) fn check(&self, schema: &str) -> Result<()> {
        // Most are fields, as the text of the schema shows; reading all of it takes a tenth of a command.
        let is_field = |word: &String| {
            !KEYWORDS.contains(&word.as_str()) && schema.contains(&format!("\"{word}\":{{"))
        };
        if self.paths.iter().flatten().all(is_field) {
            return Ok(());
        }
        let Ok(schema) = serde_json::from_str(schema) else {
            return Ok(());
        };
        let mut names = BTreeMap::new();
        find_names(&schema, &mut names);
        for path in &self.paths {
            for word in path {
                match names.get(word.as_str()) {
                    Some(false) => {}
                    // Anything may be below it.
                    Some(true) => break,
                    None => return Err(unknown(word, names.keys().copied().collect())),
                }
            }
        }
        Ok(())
    }

    /// Returns the parts of a result, with the `total` of a list. Whatever is not there is null.
    pub(super) fn pick(&self, result: &Value) -> Value {
        let mut picked = Value::Object(Map::new());
        for path in &self.paths {
            let list = find_list(result, &path[0]).filter(|_| result.get(&path[0]).is_none());
            match list {
                None => copy(result, path, &mut picked),
                Some(list) => {
                    let path = [std::slice::from_ref(list), path.as_slice()].concat();
                    copy(result, &path, &mut picked);
                    copy(result, &["total".to_string()], &mut picked);
                }
            }
        }
        picked
    }
}

/// Finds the list of a result with a `total` that its items make up: that whose items have a field, or else the
/// longest.
fn find_list<'a>(result: &'a Value, word: &str) -> Option<&'a String> {
    let fields = result.as_object()?;
    let lists = fields.iter().filter(|_| fields.contains_key("total"));
    let lists = lists.filter_map(|(name, value)| Some((name, value.as_array()?)));
    let has = |value: &Value| match value {
        Value::Array(items) => items.iter().any(|item| item.get(word).is_some()),
        item => item.get(word).is_some(),
    };
    let best = lists.max_by_key(|(_, items)| (items.iter().any(has), items.len()));
    best.map(|(name, _)| name)
}

/// Finds the names of all fields in a schema, each with whether anything may be below it.
fn find_names<'a>(schema: &'a Value, names: &mut BTreeMap<&'a str, bool>) {
    if let Value::Array(parts) = schema {
        parts.iter().for_each(|part| find_names(part, names));
    }
    for (key, below) in schema.as_object().into_iter().flatten() {
        if key == "properties" {
            for (name, field) in below.as_object().into_iter().flatten() {
                let is_open = field == &Value::Bool(true)
                    || field
                        .get("additionalProperties")
                        .is_some_and(|it| it != false)
                    || ["type", "$ref", "anyOf", "oneOf", "allOf", "const", "enum"]
                        .iter()
                        .all(|word| field.get(word).is_none());
                *names.entry(name).or_default() |= is_open;
            }
        }
        find_names(below, names);
    }
}

fn unknown(word: &str, known: Vec<&str>) -> Error {
    let message = format!(
        "the result has no field `{word}`; there are {}",
        known.join(", ")
    );
    let error = Error::new(Code::Usage, message);
    match nearest(word, known) {
        Some(near) => error.did_you_mean(near),
        None => error,
    }
}

/// Copies what a path leads to; inside a list, of each item. What is not there becomes null.
fn copy(from: &Value, path: &[String], to: &mut Value) {
    let Some((word, rest)) = path.split_first() else {
        *to = from.clone();
        return;
    };
    if let Value::Array(items) = from {
        if !to.is_array() {
            *to = Value::Array(vec![Value::Object(Map::new()); items.len()]);
        }
        let places = to.as_array_mut().into_iter().flatten();
        places
            .zip(items)
            .for_each(|(to, item)| copy(item, path, to));
        return;
    }
    if !to.is_object() {
        *to = Value::Object(Map::new());
    }
    if let Value::Object(fields) = to {
        let below = fields.entry(word.clone()).or_insert(Value::Null);
        copy(from.get(word).unwrap_or(&Value::Null), rest, below);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pick(paths: &[&str], result: &Value) -> Value {
        let paths: Vec<String> = paths.iter().map(|path| path.to_string()).collect();
        let fields = Fields::read(&paths);
        fields.check(&schema().to_string()).unwrap();
        fields.pick(result)
    }

    fn schema() -> Value {
        json!({
            "properties": {"result": {"anyOf": [{"$ref": "#/$defs/List"}, {"$ref": "#/$defs/One"}]}},
            "$defs": {
                "List": {"properties": {
                    "faults": {"type": "array", "items": {"properties": {"id": {"type": "string"}}}},
                    "tasks": {"type": "array", "items": {"$ref": "#/$defs/Task"}},
                    "total": {"type": "integer"},
                }},
                "One": {"properties": {"task": {"$ref": "#/$defs/Task"}}},
                "Task": {"properties": {
                    "id": {"type": "string"},
                    "title": {"type": "string"},
                    "notes": {"type": "array", "items": {"properties": {"at": true, "by": true}}},
                    "extra": true,
                }},
            },
        })
    }

    #[test]
    fn paths_lead_into_objects_and_into_each_item_of_a_list() {
        let one =
            json!({"task": {"id": "T1", "title": "x", "notes": [{"at": 1, "by": 2}, {"at": 3}]}});
        assert_eq!(pick(&["task.id"], &one), json!({"task": {"id": "T1"}}));
        let notes =
            json!({"task": {"notes": [{"at": 1, "by": 2}, {"at": 3, "by": null}], "id": "T1"}});
        assert_eq!(
            pick(&["task.notes.at", "task.notes.by", "task.id"], &one),
            notes
        );
        let list = json!({"tasks": [{"id": "T1", "title": "x"}, {"id": "T2"}], "total": 7});
        let ids =
            json!({"tasks": [{"id": "T1", "title": "x"}, {"id": "T2", "title": null}], "total": 7});
        assert_eq!(pick(&["id", "title"], &list), ids);
    }

    #[test]
    fn a_name_that_nothing_has_is_refused_with_the_nearest() {
        let check = |path: &str| Fields::read(&[path.to_string()]).check(&schema().to_string());
        for known in ["id", "title", "task.id", "extra.what.ever"] {
            assert!(check(known).is_ok(), "{known}");
        }
        let message = check("task.titel").unwrap_err().message;
        assert!(
            message.contains("no field `titel`; there are at, by, "),
            "{message}"
        );
        assert!(message.ends_with("; did you mean `title`?"), "{message}");
    }
}
