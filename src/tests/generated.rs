//! Files that `scripts/generate` writes from the code.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// Checks that a file of the project is as the code says; writes it where that is asked for.
pub(crate) fn check(name: &str, made: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var_os("CLEO_GENERATE").is_some() {
        fs::write(&file, made).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap_or_default() == made,
        "{name} is not what the code says: run scripts/generate"
    );
}

/// Writes JSON with a line for each part of so many levels, so that a difference shows and little room is taken.
pub(crate) fn lay_out(value: &Value, levels: usize) -> String {
    let mut value = value.clone();
    strip_aliases(&mut value);
    lay_out_at(&value, 0, levels) + "\n"
}

/// Removes the other words of closed sets, which no reply has.
pub(crate) fn strip_aliases(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("x-aliases");
            fields.values_mut().for_each(strip_aliases);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_aliases),
        _ => {}
    }
}

fn lay_out_at(value: &Value, depth: usize, levels: usize) -> String {
    let fields = value.as_object();
    let Some(fields) = fields.filter(|fields| depth < levels && !fields.is_empty()) else {
        return value.to_string();
    };
    let indent = " ".repeat(depth + 1);
    let lines = fields.iter().map(|(name, value)| {
        let value = lay_out_at(value, depth + 1, levels);
        format!("{indent}{}: {value}", json!(name))
    });
    let lines: Vec<String> = lines.collect();
    format!("{{\n{}\n{}}}", lines.join(",\n"), " ".repeat(depth))
}
