//! Agents in files: `.cleo/agents/*.yaml`, `*.yml` and `*.json`, one agent or a list in each. An invalid file is left
//! out with a warning.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::register::make_from_file;
use super::{Known, terms};
use crate::agent::Agent;
use crate::agent::draft::{self, Draft};
use crate::error::{Code, Error, Result};
use crate::workspace::Workspace;
use crate::{document, file, yaml};

/// Largest file that is read, in bytes.
const FILE_MAX: u64 = 1 << 20;
/// Most bytes that the values of a file may be made of; in memory they are up to twenty times as many.
const SIZE_MAX: usize = 16 << 20;
const FILES_MAX: usize = 10_000;

#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    pub(crate) file: String,
    pub(crate) why: String,
}

pub(super) fn read(workspace: &Workspace) -> Known {
    let mut known = Known::default();
    for path in list_files(&workspace.root.join(".cleo/agents")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = format!(".cleo/agents/{name}");
        let path = workspace.confine(&file);
        let full = path
            .as_ref()
            .map_or_else(|_| file.clone(), |path| path.display().to_string());
        match path.and_then(|path| read_agents(&path)) {
            Ok(agents) => known.add(agents, &file),
            Err(error) => {
                let what = error.message.replacen(&full, "it", 1);
                let why = format!("{file} is left out: {what}");
                known.warnings.push(why.clone());
                known.left_out.push(LeftOut { file, why });
            }
        }
    }
    known
}

impl Known {
    fn add(&mut self, agents: Vec<(Agent, Vec<String>)>, file: &str) {
        for (agent, warnings) in agents {
            let warnings = warnings.iter().map(|warning| format!("{file}: {warning}"));
            self.warnings.extend(warnings);
            let id = &agent.id;
            if let Some(other) = self.files.get(id) {
                let warning = format!("the agent `{id}` of {file} is left out: {other} has one");
                self.warnings.push(warning);
                continue;
            }
            self.files.insert(id.clone(), file.to_string());
            self.agents.push(agent);
        }
    }
}

fn list_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let is_agent_file = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("yaml" | "yml" | "json"))
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let paths = paths.filter(is_agent_file);
    let mut paths: Vec<_> = paths.take(FILES_MAX).collect();
    paths.sort_unstable();
    paths
}

/// Reads the agents of a file, each with its warnings.
fn read_agents(path: &Path) -> Result<Vec<(Agent, Vec<String>)>> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (bytes, name) = (file::read(path, FILE_MAX)?, path.to_string_lossy());
    let text = String::from_utf8_lossy(&bytes);
    if !is_json(&text) {
        yaml::check_cost(&text).map_err(|fault| refuse(&name, "YAML", &fault))?;
    }
    let (mut drafts, is_one) = read_drafts(&bytes, &name)?;
    // A file of one agent names it, as a file of one skill does.
    if is_one && let Some(only) = drafts.first_mut() {
        only.id.get_or_insert_with(|| draft::suggest_id(&stem));
    }
    let agents = drafts.into_iter().map(|mut draft| {
        let warnings = draft.warnings();
        let name = draft.name.clone().unwrap_or_default();
        let id = draft.id.clone().unwrap_or_else(|| terms::suggest_id(&name));
        draft.name.get_or_insert_with(|| id.clone());
        Ok((make_from_file(draft, &id)?, warnings))
    });
    agents.collect()
}

/// Reads drafts from a file. Returns as well whether the file is one agent.
pub(super) fn read_drafts(bytes: &[u8], name: &str) -> Result<(Vec<Draft>, bool)> {
    let mut read = Vec::new();
    let is_one = read_values(bytes, name, &mut |value| read.push(draft::read(value)))?;
    let is_single = read.len() == 1;
    let drafts = (1..).zip(read).map(|(number, draft)| {
        draft.map_err(|error| {
            let message = match is_single {
                true => format!("{name}: {}", error.message),
                false => format!("{name}, agent {number}: {}", error.message),
            };
            Error { message, ..error }
        })
    });
    let drafts: Result<Vec<Draft>> = drafts.collect();
    Ok((drafts?, is_one))
}

/// Reads the agents of a JSON or YAML document, and hands out each: one agent, a list of agents, or a list under
/// `agents`; JSON also as several of the first and last on lines of their own. Returns whether the document is one
/// agent.
pub(in crate::ops) fn read_values(
    bytes: &[u8],
    name: &str,
    take: &mut dyn FnMut(Value),
) -> Result<bool> {
    let text = std::str::from_utf8(bytes);
    let text = text.map_err(|_| draft::invalid(format!("{name} is not written in UTF-8")))?;
    let text = text.trim_start_matches('\u{feff}');
    let mut take_listed = |mut document: Value| match document.get_mut("agents") {
        Some(Value::Array(list)) => std::mem::take(list).into_iter().for_each(&mut *take),
        _ => take(document),
    };
    // A list counts, and a document is one agent, only where there is no other.
    let (mut only, mut n_documents) = (None, 0);
    read_documents(text, name, &mut |document| {
        n_documents += 1;
        match n_documents {
            1 => only = Some(document),
            _ => only
                .take()
                .into_iter()
                .chain([document])
                .for_each(&mut take_listed),
        }
    })?;
    match only {
        None => Ok(false),
        Some(Value::Array(list)) => {
            list.into_iter().for_each(take);
            Ok(false)
        }
        Some(document) => {
            let is_one = !document.get("agents").is_some_and(Value::is_array);
            take_listed(document);
            Ok(is_one)
        }
    }
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Reads a YAML document, or all values of a JSON text.
fn read_documents(text: &str, name: &str, take: &mut dyn FnMut(Value)) -> Result<()> {
    let is_yaml = [".yaml", ".yml"].iter().any(|end| name.ends_with(end));
    if is_yaml || !is_json(text) {
        let read = document::yaml(text, SIZE_MAX).map(take);
        return read.map_err(|fault| refuse(name, "YAML", &yaml::describe_fault(text, &fault)));
    }
    document::jsons(text, SIZE_MAX, take).map_err(|fault| refuse(name, "JSON", &fault))
}

/// Makes the error of an invalid file. `fault` names line and column.
fn refuse(name: &str, form: &str, fault: &dyn std::fmt::Display) -> Error {
    Error::new(Code::AgentInvalid, format!("{name} is not {form}: {fault}"))
}
