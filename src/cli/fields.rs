//! `--fields`: the named parts of a result, of each item of a list in it, or of an object in it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::error::{Code, Error, Result, nearest};

/// Field with the items of a cut list, next to its `total`.
const SHOWN: &str = "shown";

/// Paths of fields, such as `id` and `task.title`.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    paths: Vec<Vec<String>>,
    /// Parts of a result that can have each path; `None` before the schema was read.
    parts: Option<Parts>,
}

/// For each path, the objects of a result, and lists of objects, that can have its first field.
type Parts = Vec<Vec<String>>;

impl Fields {
    pub(super) fn read(paths: &[String]) -> Fields {
        let paths = paths.iter().map(|path| path.trim());
        let paths = paths.filter(|path| !path.is_empty());
        let paths: Vec<Vec<String>> = paths
            .map(|path| path.split('.').map(String::from).collect())
            .collect();
        Fields { paths, parts: None }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Checks each path against the schema of a command's reply, and finds its start.
    ///
    /// # Errors
    ///
    /// `E_USAGE` for an unknown name, and for one that is only at a deeper level.
    pub(super) fn check(&mut self, schema: &str) -> Result<()> {
        self.parts = Some(self.find_parts(schema)?);
        Ok(())
    }

    fn find_parts(&self, schema: &str) -> Result<Parts> {
        let mut parts = vec![Vec::new(); self.paths.len()];
        let Ok(schema) = serde_json::from_str(schema) else {
            return Ok(parts);
        };
        let mut names = BTreeMap::new();
        find_names(&schema, &mut names);
        let results = variants(&schema["properties"]["result"], &schema);
        for (path, objects) in self.paths.iter().zip(&mut parts) {
            let word = path[0].as_str();
            let fields = results.iter().flat_map(|result| fields_of(result));
            let holders = fields.filter(|(_, field)| holds(field, &schema, word));
            objects.extend(holders.map(|(name, _)| name.clone()));
            if objects.is_empty() && !results.iter().any(|result| has(result, word)) {
                return Err(refuse_unknown_field(
                    word,
                    find_first_names(&results, &schema),
                ));
            }
            for word in path {
                match names.get(word.as_str()) {
                    Some(false) => {}
                    // Anything may be below it.
                    Some(true) => break,
                    None => {
                        return Err(refuse_unknown_field(word, names.keys().copied().collect()));
                    }
                }
            }
        }
        Ok(parts)
    }

    /// Finds each path in a result; returns none when one is not there.
    fn find_in(&self, result: &Value) -> Option<Parts> {
        let find = |path: &Vec<String>| {
            if leads(result, path) {
                return Some(Vec::new());
            }
            let parts = result.as_object()?.iter();
            let parts = parts.filter(|(_, part)| {
                leads(part, path) || part.get(SHOWN).is_some_and(|shown| leads(shown, path))
            });
            let names: Vec<String> = parts.map(|(name, _)| name.clone()).collect();
            Some(names).filter(|names| !names.is_empty())
        };
        self.paths.iter().map(find).collect()
    }

    /// Checks that each path begins with a field of the items of a list in a reply. These are the lines of a stream.
    pub(super) fn check_lines(&self, schema: &str, list: &str) -> Result<()> {
        let Ok(schema) = serde_json::from_str::<Value>(schema) else {
            return Ok(());
        };
        let results = variants(&schema["properties"]["result"], &schema);
        let mut names = Vec::new();
        for (_, lines) in results
            .iter()
            .flat_map(|result| fields_of(result))
            .filter(|(name, _)| *name == list)
        {
            add_names(lines, &schema, &mut names);
        }
        let lacks = |path: &&Vec<String>| !names.contains(&path[0].as_str());
        match self.paths.iter().find(lacks) {
            Some(path) => Err(refuse_unknown_field(&path[0], names)),
            None => Ok(()),
        }
    }

    /// Returns the named parts of a stream line. Missing fields become null.
    pub(super) fn pick_of_line(&self, line: &Value) -> Value {
        let mut picked = Value::Object(Map::new());
        for path in &self.paths {
            copy(line, path, &mut picked);
        }
        picked
    }

    /// Returns the parts of a result, with the `total` of a list. Missing fields become null. The
    /// schema is read only if a path was neither checked nor found, because reading it takes a
    /// fifth of a short command.
    pub(super) fn pick(&self, result: &Value, schema: &dyn Fn() -> String) -> Result<Value> {
        let parts = self.parts.clone().or_else(|| self.find_in(result));
        let parts = parts.map_or_else(|| self.find_parts(&schema()), Ok)?;
        let mut picked = Value::Object(Map::new());
        for (path, objects) in self.paths.iter().zip(&parts) {
            let is_there = |name: &&String| result.get(name).is_some();
            let place = objects.iter().filter(is_there);
            let place = place.max_by_key(|name| rank(&result[name], &path[0]));
            let Some(name) = place.filter(|_| result.get(&path[0]).is_none()) else {
                copy(result, path, &mut picked);
                continue;
            };
            let (mut place, mut total) = (vec![name.clone()], vec!["total".to_string()]);
            let is_cut = result[name].get(SHOWN).is_some();
            if is_cut {
                place.push(SHOWN.to_string());
                total.insert(0, name.clone());
            }
            copy(result, &[place, path.clone()].concat(), &mut picked);
            if is_cut || result[name].is_array() && result.get("total").is_some() {
                copy(result, &total, &mut picked);
            }
        }
        Ok(picked)
    }
}

/// Returns whether a path is there; inside a list, in one of the items.
fn leads(from: &Value, path: &[String]) -> bool {
    match (from, path.split_first()) {
        (_, None) => true,
        (Value::Array(items), _) => items.iter().any(|item| leads(item, path)),
        (from, Some((word, rest))) => from.get(word).is_some_and(|below| leads(below, rest)),
    }
}

/// Ranks the parts of a result for an ambiguous field: parts that have it, then lists, then the
/// longest.
fn rank(part: &Value, word: &str) -> (bool, bool, usize) {
    fn has(part: &Value, word: &str) -> bool {
        match part {
            Value::Array(items) => items.iter().any(|item| has(item, word)),
            part => part.get(word).is_some() || part.get(SHOWN).is_some_and(|it| has(it, word)),
        }
    }
    let items = part.get(SHOWN).unwrap_or(part).as_array();
    (has(part, word), items.is_some(), items.map_or(0, Vec::len))
}

/// Returns the schemas that a value may match, without references.
fn variants<'a>(schema: &'a Value, root: &'a Value) -> Vec<&'a Value> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/$defs/");
        return variants(&root["$defs"][name], root);
    }
    let parts = ["anyOf", "oneOf", "allOf"].map(|word| schema[word].as_array());
    let parts = parts.into_iter().flatten().flatten();
    let below = parts.flat_map(|part| variants(part, root));
    std::iter::once(schema).chain(below).collect()
}

fn fields_of(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// Returns whether a value of this schema can have a field.
fn has(schema: &Value, name: &str) -> bool {
    let is_open = |schema: &Value| schema == &Value::Bool(true);
    schema["properties"].get(name).is_some()
        || is_open(schema)
        || schema
            .get("additionalProperties")
            .is_some_and(|it| it != false)
}

/// Returns whether a value of this schema, or an item of it, can have a field.
fn holds(schema: &Value, root: &Value, name: &str) -> bool {
    let mut below = variants(schema, root).into_iter();
    below.any(|it| {
        let items = [it.get("items"), it["properties"].get(SHOWN)];
        let mut items = items.into_iter().flatten();
        has(it, name) || items.any(|items| holds(items, root, name))
    })
}

/// Finds the names that a path can begin with, each once.
fn find_first_names<'a>(results: &[&'a Value], root: &'a Value) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    let fields: Vec<_> = results
        .iter()
        .flat_map(|result| fields_of(result))
        .collect();
    names.extend(fields.iter().map(|(name, _)| name.as_str()));
    for (_, field) in fields {
        add_names(field, root, &mut names);
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names
}

/// Adds the names of the fields that a value of this schema, or an item of it, can have.
fn add_names<'a>(schema: &'a Value, root: &'a Value, names: &mut Vec<&'a str>) {
    for it in variants(schema, root) {
        names.extend(fields_of(it).map(|(name, _)| name.as_str()));
        if let Some(items) = it.get("items") {
            add_names(items, root, names);
        }
    }
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

fn refuse_unknown_field(word: &str, known: Vec<&str>) -> Error {
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

/// Copies the value at a path; inside a list, that of each item. Missing values become null.
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
        let mut fields = Fields::read(&paths);
        let schema = || schema().to_string();
        let picked = fields.pick(result, &schema).unwrap();
        fields.check(&schema()).unwrap();
        assert_eq!(fields.pick(result, &schema).unwrap(), picked);
        picked
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
    fn paths_lead_into_objects_and_into_each_item_of_list() {
        let one =
            json!({"task": {"id": "T1", "title": "x", "notes": [{"at": 1, "by": 2}, {"at": 3}]}});
        assert_eq!(pick(&["task.id"], &one), json!({"task": {"id": "T1"}}));
        let notes =
            json!({"task": {"notes": [{"at": 1, "by": 2}, {"at": 3, "by": null}], "id": "T1"}});
        assert_eq!(
            pick(&["task.notes.at", "task.notes.by", "task.id"], &one),
            notes
        );
        assert_eq!(
            pick(&["id", "notes.at"], &one),
            json!({"task": {"id": "T1", "notes": [{"at": 1}, {"at": 3}]}})
        );
        let list = json!({"tasks": [{"id": "T1", "title": "x"}, {"id": "T2"}], "total": 7});
        let ids =
            json!({"tasks": [{"id": "T1", "title": "x"}, {"id": "T2", "title": null}], "total": 7});
        assert_eq!(pick(&["id", "title"], &list), ids);
    }

    #[test]
    fn name_that_nothing_has_is_refused_with_nearest() {
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
        let message = check("at").unwrap_err().message;
        assert!(
            message.contains(
                "no field `at`; there are faults, tasks, total, task, id, extra, notes, title"
            ),
            "{message}"
        );
    }
}
