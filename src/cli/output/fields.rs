//! `--fields`: the named parts of a result, of each item of a list in it, or of an object in it.

use serde_json::{Map, Value};

/// Field with the items of a cut list, next to its `total`.
const SHOWN: &str = "shown";

/// Paths of fields, such as `id` and `task.title`.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<Vec<String>>);

impl Fields {
    pub(super) fn read(paths: &[String]) -> Fields {
        let paths = paths.iter().map(|path| path.trim());
        let paths = paths.filter(|path| !path.is_empty());
        let words = paths.map(|path| path.split('.').map(String::from).collect());
        Fields(words.collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the named parts of a stream line. Missing fields become null.
    pub(super) fn pick_of_line(&self, line: &Value) -> Value {
        let mut picked = Value::Object(Map::new());
        self.0.iter().for_each(|path| copy(line, path, &mut picked));
        picked
    }

    /// Returns the named parts of a result, with the `total` of a list. Missing fields become null.
    pub(super) fn pick(&self, result: &Value) -> Value {
        let mut picked = Value::Object(Map::new());
        let usual = find_part(result, &self.0);
        for path in &self.0 {
            let own = find_part(result, std::slice::from_ref(path));
            let own = own.or(usual).filter(|_| !has_path(result, &path[..1]));
            let Some((_, name)) = own else {
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
        picked
    }
}

/// Returns the object or list in a result that most of the paths lead into, the longest of several; where none
/// does, the longest list of rows, in which a field that may be there is null. Also returns how many paths do.
fn find_part<'a>(result: &'a Value, paths: &[Vec<String>]) -> Option<(usize, &'a String)> {
    let ranked = result.as_object()?.iter().filter_map(|(name, part)| {
        let items = part.get(SHOWN).unwrap_or(part);
        let found = paths.iter().filter(|path| has_path(items, path)).count();
        let rows = items
            .as_array()
            .filter(|rows| rows.iter().all(Value::is_object));
        let length = rows.map(Vec::len);
        (found > 0 || length.is_some()).then_some((found, length, name))
    });
    ranked.max().map(|(found, _, name)| (found, name))
}

/// Returns whether a path is there; inside a list, in one of the items.
fn has_path(from: &Value, path: &[String]) -> bool {
    match (from, path.split_first()) {
        (_, None) => true,
        (Value::Array(items), _) => items.iter().any(|item| has_path(item, path)),
        (from, Some((word, rest))) => from.get(word).is_some_and(|below| has_path(below, rest)),
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
        let fields = Fields::read(&paths);
        fields.pick(result)
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
        let none = json!({"tasks": [{"extra": null}, {"extra": null}], "total": 7});
        assert_eq!(pick(&["extra"], &list), none);
    }
}
