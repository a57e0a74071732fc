//! Settings of agent programs in the project: commands and servers that the programs start by themselves, with the
//! model key of the user. Run without a terminal, they do not ask first.

use std::path::Path;

use serde_json::Value;
use walkdir::WalkDir;

use super::item::{Item, ItemKind};
use crate::file;
use crate::id;

/// The files and folders of each runner.
const PLACES: [(&str, &[&str]); 4] = [
    (
        "claude",
        &[".claude/settings.json", ".claude/settings.local.json"],
    ),
    ("codex", &[".codex/config.toml"]),
    ("gemini", &[".gemini/settings.json"]),
    (
        "opencode",
        &[
            "opencode.json",
            "opencode.jsonc",
            ".opencode/opencode.json",
            ".opencode/plugin",
            ".opencode/plugins",
        ],
    ),
];
/// Fields that start nothing, and that programs change while they are used.
const HARMLESS: [&str; 5] = [
    "$schema",
    "model",
    "outputStyle",
    "permissions",
    "includeCoAuthoredBy",
];
/// Largest file that is read.
const FILE_MAX: u64 = 1 << 20;

/// Lists the files that a runner, or any of them, would follow.
pub(crate) fn list_client_items(root: &Path, runner: Option<&str>) -> Vec<Item> {
    let is_used = |name: &str| runner.is_none_or(|runner| runner == name);
    let used = PLACES.iter().filter(|(name, _)| is_used(name));
    let places = used.flat_map(|(name, places)| places.iter().map(move |place| (name, place)));
    let files = places.flat_map(|(name, place)| {
        let walk = WalkDir::new(root.join(place)).sort_by_file_name();
        let files = walk.into_iter().flatten();
        let files = files.filter(|entry| !entry.file_type().is_dir());
        files.filter_map(move |entry| read_item(root, name, entry.path()))
    });
    files.collect()
}

/// Makes the item of a file; none of one that starts nothing.
fn read_item(root: &Path, runner: &str, path: &Path) -> Option<Item> {
    // A file that cannot be read has another digest each time, so that it is never trusted.
    let read = file::read(path, FILE_MAX);
    let mut content = read.unwrap_or_else(|_| id::random().into_bytes());
    if let Ok(Value::Object(mut fields)) = serde_json::from_slice(&content) {
        fields.retain(|name, _| !HARMLESS.contains(&name.as_str()));
        if fields.is_empty() {
            return None;
        }
        content = serde_json::to_vec(&fields).unwrap_or_default();
    }
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    Some(Item {
        kind: ItemKind::Client,
        what: format!("let {runner} follow {}", crate::error::quote(&name)),
        origin: name.to_string(),
        name: name.into_owned(),
        digest: id::digest(content),
    })
}
