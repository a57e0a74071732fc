//! `--fields`: the parts of a result that somebody asks for. In a list, the parts of each item.

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result, nearest};

/// How deep a schema is followed. No reply is deeper, and a schema may refer to itself.
const DEPTH_MAX: usize = 12;

/// Commands that answer with more than a list, although their answer has lists and a `total`.
const NO_LIST: [&str; 6] = [
    "next",
    "orchestrator.next",
    "orchestrator.status",
    "plan.check",
    "plan.show",
    "route",
];

/// Lists that stand beside the one that `total` counts.
const BESIDE: [&str; 9] = [
    "conflicts",
    "failed",
    "forced",
    "outputs",
    "outside",
    "problems",
    "rules",
    "shadowed",
    "stuck",
];

/// Paths of fields, such as `id` and `task.title`.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    paths: Vec<Vec<String>>,
}

impl Fields {
    pub(super) fn read(paths: &[String]) -> Fields {
        let words = |path: &String| path.trim().split('.').map(String::from).collect();
        Fields {
            paths: paths
                .iter()
                .filter(|path| !path.trim().is_empty())
                .map(words)
                .collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    pub(super) fn check(&self, command: &str, schema: &Value) -> Result<()> {
        for path in &self.paths {
            let mut at = start(command, schema);
            for (depth, word) in path.iter().enumerate() {
                match step(schema, &at, word) {
                    Some(below) => at = below,
                    None => {
                        let holder = holder(schema, &at, word);
                        return Err(unknown(path, depth, &names(&at), holder));
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn of(&self, command: &str, result: &Value) -> Value {
        let list = result
            .as_object()
            .and_then(|fields| counted(command, fields, Value::is_array));
        let Some(name) = list else {
            return self.pick(result);
        };
        let items = result[name].as_array().into_iter().flatten();
        let items: Vec<Value> = items.map(|item| self.pick(item)).collect();
        let mut picked = Map::new();
        picked.insert(name.to_string(), Value::Array(items));
        picked.insert("total".to_string(), result["total"].clone());
        Value::Object(picked)
    }

    pub(super) fn pick(&self, from: &Value) -> Value {
        let mut picked = Value::Object(Map::new());
        for path in &self.paths {
            copy(from, path, &mut picked);
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

/// Finds the list of a result that is a list: the one that the `total` beside it counts.
fn counted<'a>(
    command: &str,
    fields: &'a Map<String, Value>,
    is_list: fn(&Value) -> bool,
) -> Option<&'a str> {
    let is_one = fields.contains_key("total") && !NO_LIST.contains(&command);
    let mut lists = fields.iter().filter(|(_, field)| is_one && is_list(field));
    let main = lists.find(|(name, _)| !BESIDE.contains(&name.as_str()));
    main.map(|(name, _)| name.as_str())
}

fn may_be_list(field: &Value) -> bool {
    let kinds = &field["type"];
    let mut among = kinds.as_array().into_iter().flatten();
    kinds == "array" || among.any(|kind| kind == "array")
}

/// Where paths begin: at the result, or at an item of its list.
fn start<'a>(command: &str, root: &'a Value) -> Vec<&'a Value> {
    let mut starts = Vec::new();
    for shape in shapes(root, &root["properties"]["result"], 0) {
        let fields = shape["properties"].as_object();
        match fields.and_then(|fields| counted(command, fields, may_be_list)) {
            Some(list) => {
                let items = &shape["properties"][list]["items"];
                starts.extend(shapes(root, items, 0));
            }
            None => starts.push(shape),
        }
    }
    starts
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

fn holder(root: &Value, at: &[&Value], word: &str) -> Option<String> {
    let has = |shape: &&Value| shape["properties"].get(word).is_some();
    let holds = |name: &String| {
        let below = step(root, at, name).unwrap_or_default();
        below.iter().any(has)
    };
    names(at).into_iter().find(holds)
}

fn unknown(path: &[String], depth: usize, known: &[String], holder: Option<String>) -> Error {
    let word = &path[depth];
    let above = path[..depth].join(".");
    let place = if above.is_empty() {
        "the result".to_string()
    } else {
        format!("`{above}`")
    };
    let have = match known {
        [] => "nothing".to_string(),
        known => known.join(", "),
    };
    let message = format!("{place} has no field `{word}`; it has {have}");
    let error = Error::new(Code::Usage, message);
    let mut right = path.to_vec();
    if let Some(holder) = holder {
        right.insert(depth, holder);
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

    fn of(paths: &[&str], result: &Value) -> Value {
        let paths: Vec<String> = paths.iter().map(|path| path.to_string()).collect();
        Fields::read(&paths).of("list", result)
    }

    #[test]
    fn paths_lead_into_objects_and_into_each_item_of_a_list() {
        let one =
            json!({"task": {"id": "T1", "title": "x", "notes": [{"at": 1, "by": 2}, {"at": 3}]}});
        assert_eq!(of(&["task.id"], &one), json!({"task": {"id": "T1"}}));
        let notes =
            json!({"task": {"notes": [{"at": 1, "by": 2}, {"at": 3, "by": null}], "id": "T1"}});
        assert_eq!(
            of(&["task.notes.at", "task.notes.by", "task.id"], &one),
            notes
        );
        let list = json!({"tasks": [{"id": "T1", "title": "x"}, {"id": "T2"}], "total": 7});
        let ids =
            json!({"tasks": [{"id": "T1", "title": "x"}, {"id": "T2", "title": null}], "total": 7});
        assert_eq!(of(&["id", "title"], &list), ids);
    }

    #[test]
    fn a_field_that_no_result_has_is_refused_with_those_that_it_has() {
        let schema = json!({
            "properties": {"result": {"anyOf": [{"$ref": "#/$defs/List"}, {"$ref": "#/$defs/One"}]}},
            "$defs": {
                "List": {"properties": {
                    "tasks": {"type": "array", "items": {"$ref": "#/$defs/Task"}},
                    "total": {"type": "integer"},
                }},
                "One": {"properties": {"task": {"$ref": "#/$defs/Task"}}},
                "Task": {"properties": {"id": {"type": "string"}, "title": {"type": "string"}, "extra": true}},
            },
        });
        let check = |path: &str| Fields::read(&[path.to_string()]).check("list", &schema);
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

    #[test]
    fn no_answer_has_two_lists_that_its_total_could_count() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schemas");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let command = path.file_stem().unwrap().to_str().unwrap();
            let schema: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            for shape in shapes(&schema, &schema["properties"]["result"], 0) {
                let fields = shape["properties"].as_object().cloned();
                let mut fields = fields.unwrap_or_default();
                let first = counted(command, &fields, may_be_list).map(String::from);
                fields.retain(|name, _| Some(name) != first.as_ref());
                let second = counted(command, &fields, may_be_list);
                assert!(
                    first.is_none() || second.is_none(),
                    "{command}: {first:?} {second:?}"
                );
            }
        }
    }
}
