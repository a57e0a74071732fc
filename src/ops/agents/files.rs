//! Agents in files: `.cleo/agents/*.yaml`, `*.yml` and `*.json`, one agent or a list in each. A file
//! that cannot be used is left out with a warning.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::terms;
use crate::agent::draft::{self, Draft};
use crate::agent::{Agent, Kind, builtin};
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
    /// The files that could not be used, with the ids that they name.
    pub(super) left_out: Vec<LeftOut>,
    /// Where in the list each agent is, by id.
    places: HashMap<String, usize>,
}

/// A file of agents that could not be used.
#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    pub(crate) file: String,
    pub(crate) why: String,
    /// The ids that it seems to name.
    ids: Vec<String>,
}

impl LeftOut {
    pub(super) fn names(&self, id: &str) -> bool {
        self.ids.iter().any(|named| named == id)
    }
}

pub(super) fn read(workspace: &Workspace) -> Files {
    let mut files = Files::default();
    for path in paths(&workspace.root.join(".cleo/agents")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let place = format!(".cleo/agents/{name}");
        let read = workspace.confine(&place).and_then(|path| agents(&path));
        match read {
            Ok(agents) => files.add(agents, &place),
            Err(error) => files.leave_out(workspace, place, &error),
        }
    }
    files
}

impl Files {
    fn leave_out(&mut self, workspace: &Workspace, place: String, error: &Error) {
        let path = workspace.confine(&place);
        let path = path.map_or_else(|_| String::new(), |path| path.display().to_string());
        let what = without(&error.message, &path);
        let why = format!("{place} is left out: {what}");
        self.warnings.push(why.clone());
        self.left_out.push(LeftOut {
            ids: find_ids(workspace, &place),
            file: place,
            why,
        });
    }

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

/// Returns a message without the file that it begins with, where that is named already.
fn without(message: &str, path: &str) -> String {
    let rest = message.strip_prefix(path).filter(|_| !path.is_empty());
    match rest {
        Some(rest) if rest.starts_with(' ') => format!("it{rest}"),
        Some(rest) => rest.trim_start_matches([',', ':', ' ']).to_string(),
        None => message.to_string(),
    }
}

/// Finds the ids that a file names which cannot be read as it should be: its own name, and what stands after
/// `id` on a line.
fn find_ids(workspace: &Workspace, place: &str) -> Vec<String> {
    let path = workspace.confine(place);
    let bytes = path.and_then(|path| file::read(&path, FILE_MAX));
    let bytes = bytes.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let stem = Path::new(place).file_stem().unwrap_or_default();
    let stem = draft::suggested(&stem.to_string_lossy());
    text.lines().filter_map(id_on).chain([stem]).collect()
}

fn id_on(line: &str) -> Option<String> {
    let plain: String = line.chars().filter(|c| !"\"'{}[],".contains(*c)).collect();
    let (name, rest) = plain.split_once(':')?;
    let is_id = name.trim_start_matches([' ', '-']).trim_end() == "id";
    let id = rest.split_whitespace().next().filter(|_| is_id)?;
    Some(id.to_string())
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
        only.id.get_or_insert_with(|| draft::suggested(&stem));
    }
    let read = |draft: Draft| {
        let warnings = draft.warnings();
        Ok((made(draft)?, warnings))
    };
    drafts.into_iter().map(read).collect()
}

fn made(draft: Draft) -> Result<Agent> {
    let name = draft.name.clone().unwrap_or_default();
    let id = draft.id.clone();
    let id = id.unwrap_or_else(|| terms::suggested(&name));
    draft::check_id(&id)?;
    terms::refuse_reserved(&id)?;
    let is_runtime = crate::agent::runtime_moment(&id).is_some();
    if builtin::is_builtin(&id) || is_runtime {
        return Err(draft::invalid(format!("`{id}` is an id of cleo's own")));
    }
    let kind = match draft.kind() {
        Some(kind @ (Kind::Http | Kind::Cli)) => kind,
        _ => Kind::Persistent,
    };
    let mut agent = Agent::new(&id, kind, &id);
    draft.apply(&mut agent)?;
    draft::require_prompt(&agent)?;
    Ok(agent)
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
            .map_err(|fault| faulty(place, "YAML", &yaml::told(text, &fault)));
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
