//! Names of definitions. Requests and replies are described separately, so two types may have one
//! name: then that of a request gets its own name if the two differ.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Place of schemas in a description.
pub(super) const SCHEMAS: &str = "/components/schemas";

/// Suffix for the definition of a request if a reply has the same name.
const READ: &str = "Input";

pub(super) type Definitions = Map<String, Value>;

pub(super) fn join<'a>(
    reads: Definitions,
    writes: Definitions,
    asked: impl Iterator<Item = &'a mut Value>,
) -> Definitions {
    let shared = find_shared(&reads, &writes);
    asked.for_each(|place| rename(place, &shared));
    let mut all = writes;
    for (mut name, mut schema) in reads {
        rename(&mut schema, &shared);
        if shared.contains(&name) {
            name += READ;
        }
        let there = all.insert(name.clone(), schema.clone());
        assert!(
            there.is_none_or(|there| there == schema),
            "two definitions are called {name}"
        );
    }
    all
}

fn find_shared(reads: &Definitions, writes: &Definitions) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    loop {
        let leads = |schema: &Value| {
            let text = schema.to_string();
            names
                .iter()
                .any(|name| text.contains(&format!("\"#{SCHEMAS}/{name}\"")))
        };
        let differs = |name: &String, schema: &Value| {
            let other = writes.get(name);
            !names.contains(name) && other.is_some_and(|other| other != schema || leads(schema))
        };
        let found = reads.iter().filter(|(name, schema)| differs(name, schema));
        let found: Vec<String> = found.map(|(name, _)| name.clone()).collect();
        if found.is_empty() {
            return names;
        }
        names.extend(found);
    }
}

fn rename(schema: &mut Value, names: &BTreeSet<String>) {
    match schema {
        Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| match value {
            Value::String(place) if key == "$ref" => {
                let name = place.rsplit('/').next().unwrap_or_default();
                if names.contains(name) {
                    *place += READ;
                }
            }
            value => rename(value, names),
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definitions(value: Value) -> Definitions {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn same_named_definitions_and_their_references_stay_apart() {
        let to = |name: &str| json!({"$ref": format!("#{SCHEMAS}/{name}")});
        let reads = json!({"Asked": {"type": "object"}, "All": {"items": to("Asked")}, "Word": {"type": "string"}});
        let writes = json!({"Asked": {"type": "string"}, "All": {"items": to("Asked")}, "Word": {"type": "string"}});
        let mut place = json!({"schema": to("All")});
        let all = join(
            definitions(reads),
            definitions(writes),
            std::iter::once(&mut place),
        );
        assert_eq!(place, json!({"schema": to("AllInput")}));
        let told = json!({
            "All": {"items": to("Asked")},
            "AllInput": {"items": to("AskedInput")},
            "Asked": {"type": "string"},
            "AskedInput": {"type": "object"},
            "Word": {"type": "string"},
        });
        assert_eq!(Value::Object(all), told);
    }
}
