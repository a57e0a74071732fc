//! `--fields`: the parts of a result that the user names. Of a list that the result holds, the parts of each
//! item.

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result, nearest};

/// How deep a schema is followed. No reply is deeper, and a schema may refer to itself.
const DEPTH_MAX: usize = 12;

/// Paths of fields, such as `id` and `task.title`.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    paths: Vec<Path>,
}

#[derive(Clone, Debug)]
struct Path {
    words: Vec<String>,
    /// The list of the result whose items have it, in results that do not have it themselves.
    list: Option<String>,
}

impl Fields {
    pub(super) fn read(paths: &[String]) -> Fields {
        let paths = paths.iter().map(|path| path.trim());
        let paths = paths.filter(|path| !path.is_empty());
        let path = |path: &str| Path {
            words: path.split('.').map(String::from).collect(),
            list: None,
        };
        Fields {
            paths: paths.map(path).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Finds each path in the schema of a command's reply.
    ///
    /// # Errors
    ///
    /// `E_USAGE` for a path that no result has, with those that it has.
    pub(super) fn resolve(&mut self, schema: &Value) -> Result<()> {
        let results = shapes(schema, &schema["properties"]["result"], 0);
        for Path { words, list } in &mut self.paths {
            let without = results
                .iter()
                .filter(|result| follow(schema, &[result], words).is_err());
            let lists = without.flat_map(|result| find_lists(schema, result));
            let lists = lists.filter(|(_, items)| follow(schema, items, words).is_ok());
            // Lists of faults and the like, beside the one that the command is about, have fewer fields.
            let main = lists.max_by_key(|(_, items)| names(items).len());
            *list = main.map(|(name, _)| name.to_string());
            if list.is_none() {
                let items = results.iter().flat_map(|result| find_lists(schema, result));
                let items = items.flat_map(|(_, items)| items);
                let all: Vec<&Value> = results.iter().copied().chain(items).collect();
                follow(schema, &all, words)?;
            }
        }
        Ok(())
    }

    /// Returns the parts of a result, with the `total` of a list.
    pub(super) fn pick(&self, result: &Value) -> Value {
        let mut picked = Value::Object(Map::new());
        for Path { words, list } in &self.paths {
            let list = list
                .as_ref()
                .filter(|list| result.get(list.as_str()).is_some());
            match list.filter(|_| result.get(&words[0]).is_none()) {
                None => copy(result, words, &mut picked),
                Some(list) => {
                    let words = [std::slice::from_ref(list), words].concat();
                    copy(result, &words, &mut picked);
                    copy(result, &["total".to_string()], &mut picked);
                }
            }
        }
        picked
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

/// Finds the lists of a result with a `total`, and what their items look like.
fn find_lists<'a>(root: &'a Value, result: &'a Value) -> Vec<(&'a str, Vec<&'a Value>)> {
    let is_list = |field: &Value| {
        let kinds = &field["type"];
        let mut among = kinds.as_array().into_iter().flatten();
        kinds == "array" || among.any(|kind| kind == "array")
    };
    let fields = result["properties"].as_object();
    let fields = fields.filter(|fields| fields.contains_key("total"));
    let lists = fields
        .into_iter()
        .flatten()
        .filter(|(_, field)| is_list(field));
    lists
        .map(|(name, field)| (name.as_str(), shapes(root, &field["items"], 0)))
        .collect()
}

/// Follows a path from some schemas.
fn follow(root: &Value, start: &[&Value], words: &[String]) -> Result<()> {
    let mut at = start.to_vec();
    for (depth, word) in words.iter().enumerate() {
        match step(root, &at, word) {
            Some(below) => at = below,
            None => return Err(unknown(root, &at, words, depth)),
        }
    }
    Ok(())
}

fn shapes<'a>(root: &'a Value, schema: &'a Value, depth: usize) -> Vec<&'a Value> {
    if depth > DEPTH_MAX {
        return Vec::new();
    }
    let mut found = Vec::new();
    if let Some(name) = schema["$ref"]
        .as_str()
        .and_then(|name| name.strip_prefix("#/$defs/"))
    {
        found.extend(shapes(root, &root["$defs"][name], depth + 1));
    }
    for words in ["anyOf", "oneOf", "allOf"] {
        let below = schema[words].as_array().into_iter().flatten();
        found.extend(below.flat_map(|below| shapes(root, below, depth + 1)));
    }
    if schema.get("items").is_some() {
        found.extend(shapes(root, &schema["items"], depth + 1));
    }
    let is_open = schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty);
    let is_object =
        schema.get("properties").is_some() || schema.get("additionalProperties").is_some();
    if is_open || is_object || schema["type"] == "object" {
        found.push(schema);
    }
    found
}

/// Goes down by one word; none when no shape has such a field.
fn step<'a>(root: &'a Value, at: &[&'a Value], word: &str) -> Option<Vec<&'a Value>> {
    let mut found = None;
    for shape in at {
        let own = shape["properties"].get(word);
        let below = own.or_else(|| others(shape));
        if let Some(below) = below {
            let shapes = shapes(root, below, 0);
            found.get_or_insert_with(Vec::new).extend(shapes);
        }
    }
    found
}

fn others(shape: &Value) -> Option<&Value> {
    match shape.get("additionalProperties") {
        Some(Value::Bool(false)) => None,
        Some(other) => Some(other),
        // A value of any kind.
        None if shape.get("properties").is_none() => Some(shape),
        None => None,
    }
}

fn names(at: &[&Value]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for shape in at {
        let own = shape["properties"]
            .as_object()
            .into_iter()
            .flat_map(Map::keys);
        for name in own {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    names
}

/// The error for a word of a path that none of the schemas `at` has.
fn unknown(root: &Value, at: &[&Value], path: &[String], depth: usize) -> Error {
    let word = &path[depth];
    let place = match depth {
        0 => "the result".to_string(),
        _ => format!("`{}`", path[..depth].join(".")),
    };
    let known = names(at);
    let have = match known.as_slice() {
        [] => "nothing".to_string(),
        known => known.join(", "),
    };
    let message = format!("{place} has no field `{word}`; it has {have}");
    let error = Error::new(Code::Usage, message);
    let holds = |name: &&String| {
        let below = step(root, at, name).unwrap_or_default();
        below
            .iter()
            .any(|shape| shape["properties"].get(word).is_some())
    };
    let mut right = path.to_vec();
    if let Some(holder) = known.iter().find(holds) {
        right.insert(depth, holder.clone());
    } else if let Some(near) = nearest(word, known.iter().map(String::as_str)) {
        right[depth] = near.to_string();
    } else {
        return error;
    }
    error.did_you_mean(&right.join("."))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pick(paths: &[&str], result: &Value) -> Value {
        let paths: Vec<String> = paths.iter().map(|path| path.to_string()).collect();
        let mut fields = Fields::read(&paths);
        fields.resolve(&schema()).unwrap();
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
    fn a_field_that_no_result_has_is_refused_with_those_that_it_has() {
        let check = |path: &str| Fields::read(&[path.to_string()]).resolve(&schema());
        for known in ["id", "title", "task.id", "extra.what.ever"] {
            assert!(check(known).is_ok(), "{known}");
        }
        let refused = check("task.titel").unwrap_err();
        assert!(
            refused
                .message
                .contains("`task` has no field `titel`; it has "),
            "{}",
            refused.message
        );
        assert!(refused.message.ends_with("; did you mean `task.title`?"));
        assert!(check("id.more").is_err());
    }
}
