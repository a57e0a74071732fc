//! Agents in files: `.cleo/agents/*.yaml`, `*.yml` and `*.json`, one agent or a list in each. A file
//! that cannot be used is left out with a warning.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::register::fresh;
use super::terms;
use crate::agent::Agent;
use crate::agent::draft::{self, Draft};
use crate::document;
use crate::error::{Code, Error, Result};
use crate::file;
use crate::workspace::Workspace;
use crate::yaml;

/// Largest file that is read, in bytes.
const FILE_MAX: u64 = 1 << 20;
/// Most bytes that the values of a file may be made of.
const SIZE_MAX: usize = 128 << 20;
/// Most files that are read.
const FILES_MAX: usize = 10_000;

#[derive(Default)]
pub(super) struct Files {
    /// Agents with their files, relative to the workspace.
    pub(super) agents: Vec<(Agent, String)>,
    pub(super) warnings: Vec<String>,
    /// The files that could not be used.
    pub(super) left_out: Vec<LeftOut>,
    /// Where in the list each agent is, by id.
    places: HashMap<String, usize>,
}

/// A file of agents that could not be used.
#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    pub(crate) file: String,
    pub(crate) why: String,
}

pub(super) fn read(workspace: &Workspace) -> Files {
    let mut files = Files::default();
    for path in paths(&workspace.root.join(".cleo/agents")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let place = format!(".cleo/agents/{name}");
        let path = workspace.confine(&place);
        let named = path.as_ref().map(|path| path.display().to_string());
        let named = named.unwrap_or_else(|_| place.clone());
        match path.and_then(|path| agents(&path)) {
            Ok(agents) => files.add(agents, &place),
            Err(error) => {
                let what = error.message.replacen(&named, "it", 1);
                let why = format!("{place} is left out: {what}");
                files.warnings.push(why.clone());
                files.left_out.push(LeftOut { file: place, why });
            }
        }
    }
    files
}

impl Files {
    fn add(&mut self, agents: Vec<(Agent, Vec<String>)>, place: &str) {
        for (agent, warnings) in agents {
            let warnings = warnings.into_iter();
            let warnings = warnings.map(|warning| format!("{place}: {warning}"));
            self.warnings.extend(warnings);
            if let Some(there) = self.places.get(&agent.id) {
                let other = &self.agents[*there].1;
                let id = &agent.id;
                let message = format!("the agent `{id}` of {place} is left out: {other} has one");
                self.warnings.push(message);
                continue;
            }
            self.places.insert(agent.id.clone(), self.agents.len());
            self.agents.push((agent, place.to_string()));
        }
    }
}

fn paths(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let fits = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        matches!(ending, Some("yaml" | "yml" | "json"))
    };
    let paths = entries.flatten().map(|entry| entry.path()).filter(fits);
    let mut paths: Vec<_> = paths.take(FILES_MAX).collect();
    paths.sort_unstable();
    paths
}

fn agents(path: &Path) -> Result<Vec<(Agent, Vec<String>)>> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (bytes, place) = (file::read(path, FILE_MAX)?, path.to_string_lossy());
    let text = String::from_utf8_lossy(&bytes);
    if !text.trim_start().starts_with(['{', '[']) {
        yaml::check_cost(&text).map_err(|fault| faulty(&place, "YAML", &fault))?;
    }
    let (mut drafts, is_one) = drafts(&bytes, &place)?;
    // A file of one agent names it, as a file of one skill does.
    if is_one && let Some(only) = drafts.first_mut() {
        only.id.get_or_insert_with(|| draft::suggest_id(&stem));
    }
    let made = drafts.into_iter().map(|mut draft| {
        let warnings = draft.warnings();
        let name = draft.name.clone().unwrap_or_default();
        let id = draft.id.clone().unwrap_or_else(|| terms::suggest_id(&name));
        draft.name.get_or_insert_with(|| id.clone());
        Ok((fresh(draft, &id)?, warnings))
    });
    made.collect()
}

/// Reads drafts from a JSON or YAML document: one agent, a list of agents, or a list under `agents`;
/// JSON also as one agent a line. Says as well whether the document is one agent.
pub(super) fn drafts(bytes: &[u8], place: &str) -> Result<(Vec<Draft>, bool)> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| draft::invalid(format!("{place} is not written in UTF-8")))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut is_one = false;
    let values = match document(text, place)? {
        Value::Array(list) => list,
        Value::Object(mut map) if map.get("agents").is_some_and(Value::is_array) => {
            match map.remove("agents") {
                Some(Value::Array(list)) => list,
                _ => Vec::new(),
            }
        }
        one => {
            is_one = true;
            vec![one]
        }
    };
    let many = values.len() > 1;
    let drafts = values.into_iter().enumerate().map(|(index, value)| {
        Draft::from_value(value).map_err(|error| {
            let which = if many {
                format!(", agent {}", index + 1)
            } else {
                String::new()
            };
            Error {
                message: format!("{place}{which}: {}", error.message),
                ..error
            }
        })
    });
    let drafts: Result<Vec<Draft>> = drafts.collect();
    Ok((drafts?, is_one))
}

fn document(text: &str, place: &str) -> Result<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return document::yaml(text, SIZE_MAX)
            .map_err(|fault| faulty(place, "YAML", &yaml::describe_fault(text, &fault)));
    }
    let values = document::jsons(text, SIZE_MAX);
    let mut values = values.map_err(|fault| faulty(place, "JSON", &fault))?;
    match values.len() {
        1 => Ok(values.remove(0)),
        _ => Ok(values.into()),
    }
}

/// Readers name line and column themselves.
fn faulty(place: &str, form: &str, fault: &dyn std::fmt::Display) -> Error {
    Error::new(Code::AgentInvalid, format!("{place} is no {form}: {fault}"))
}
