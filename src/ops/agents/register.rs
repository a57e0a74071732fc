//! Registering agents: to stay, for the moment, or many from a file.

use std::path::Path;

use serde::Serialize;

use super::{Known, Registrant, Shown, files, known_to, standing, trust, write};
use crate::agent::draft::{self, Draft};
use crate::agent::{Agent, Kind, RUNTIME_MAX, builtin, runtime_moment};
use crate::error::{Code, Error, Result};
use crate::file::read_input;
use crate::ops::Surroundings;
use crate::store::agency::AgencyTransaction;

/// Largest file of agents that is read, in bytes.
const IMPORT_MAX: u64 = 64 << 20;

/// An agent that was registered.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub struct Registered {
    /// The agent.
    #[serde(flatten)]
    pub shown: Shown,
    /// Whether it is new; an agent of the moment that was there is changed.
    pub created: bool,
}

/// Agents that came from a file.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub struct Imported {
    /// The agents.
    pub agents: Vec<Agent>,
    /// How many.
    pub total: usize,
    /// How many of them were there and are changed.
    pub updated: usize,
    /// What the caller should know.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// Registers an agent: to stay, or for the moment when `runtime` says so or its id is one of such.
/// A worker that the user of this machine registers is trusted; over HTTP, programs are not, and
/// addresses only as far as they are public.
pub fn register(
    surroundings: &Surroundings,
    draft: Draft,
    runtime: bool,
    by: Registrant,
) -> Result<Registered> {
    let workspace = surroundings.workspace()?;
    let clock = surroundings.clock;
    let runtime = runtime || draft.id.as_deref().and_then(runtime_moment).is_some();
    let mut registered = write(&workspace, |transaction| {
        let known = known_to(transaction, &workspace)?;
        let warnings = draft.warnings();
        let (agent, created) = if runtime {
            let millis = clock.now().timestamp_millis().unsigned_abs();
            of_the_moment(transaction, &known, draft, millis)?
        } else {
            (to_stay(&known, draft)?, true)
        };
        let agent = stamped(agent, &clock.timestamp());
        transaction.put_agent(&agent)?;
        let shown = Shown {
            agent,
            file: None,
            standing: None,
            warnings,
        };
        Ok(Registered { shown, created })
    })?;
    let shown = &mut registered.shown;
    trust::keep(
        surroundings,
        &workspace,
        &shown.agent,
        by,
        &mut shown.warnings,
    );
    shown.standing = standing(surroundings, &shown.agent);
    Ok(registered)
}

fn stamped(mut agent: Agent, now: &str) -> Agent {
    agent.created_at.get_or_insert_with(|| now.to_string());
    agent.updated_at = Some(now.to_string());
    agent
}

/// Makes an agent that stays. Its id must be free; one that names none gets it from its name.
fn to_stay(known: &Known, draft: Draft) -> Result<Agent> {
    let name = draft.name.clone().unwrap_or_default();
    let said = draft.id.clone();
    let id = said.clone().unwrap_or_else(|| draft::suggested(&name));
    draft::check_id(&id)?;
    if known.agents.iter().any(|there| there.id == id) {
        return Err(taken(known, &id, said.as_deref(), &name));
    }
    let kind = match draft.kind()? {
        Some(kind @ (Kind::Http | Kind::Cli)) => kind,
        _ => Kind::Persistent,
    };
    let mut agent = Agent::new(&id, kind, "");
    draft.apply(&mut agent)?;
    if !agent.is_worker() && agent.prompt.trim().is_empty() {
        return Err(draft::invalid(format!(
            "the agent `{id}` needs a prompt: what a model is told before the message"
        )));
    }
    Ok(agent)
}

/// The error for an id that an agent has. The way out changes what the id was made of.
fn taken(known: &Known, id: &str, said: Option<&str>, name: &str) -> Error {
    let is_free = |id: &str| known.agents.iter().all(|agent| agent.id != id);
    let number = (2_u32..).find(|number| is_free(&format!("{id}-{number}")));
    let number = number.unwrap_or_default();
    let error = Error::new(Code::Exists, format!("there is an agent `{id}` already"));
    let error = match said {
        Some(said) => error.instead(said, format!("{said}-{number}")),
        None => error.instead(name, format!("{name} {number}")),
    };
    error.or("look at it", format!("cleo agents show {id}"))
}

/// Makes or changes an agent of the moment: `custom_<digits>`.
fn of_the_moment(
    transaction: &dyn AgencyTransaction,
    known: &Known,
    draft: Draft,
    millis: u64,
) -> Result<(Agent, bool)> {
    let id = match draft.id.as_deref() {
        Some(id) if builtin::is_builtin(id) => {
            let message = format!("`{id}` is a built-in agent");
            return Err(Error::new(Code::Exists, message).fix(format!("cleo agents show {id}")));
        }
        Some(id) if runtime_moment(id).is_some() => id.to_string(),
        Some(id) => {
            let message = format!("`{id}` is no id of a runtime agent: custom_ and digits");
            return Err(draft::invalid(message).instead(id, format!("custom_{millis}")));
        }
        None => minted(known, millis),
    };
    let there = transaction.agent(&id)?;
    if there.is_none() && transaction.runtime_agents()? >= RUNTIME_MAX {
        let message = format!("there are {RUNTIME_MAX} runtime agents, as many as there may be");
        return Err(draft::invalid(message).fix("cleo agents cleanup"));
    }
    let created = there.is_none();
    let mut agent = there.unwrap_or_else(|| Agent::new(&id, Kind::Runtime, ""));
    draft.apply(&mut agent)?;
    Ok((agent, created))
}

fn minted(known: &Known, millis: u64) -> String {
    let taken = |id: &String| known.agents.iter().any(|agent| agent.id == *id);
    let mut ids = (millis..).map(|millis| format!("custom_{millis}"));
    ids.find(|id| !taken(id)).unwrap_or_default()
}

/// Registers all agents of a file, or none. Those that are there are changed with `replace`.
pub fn import(surroundings: &Surroundings, path: &Path, replace: bool) -> Result<Imported> {
    let workspace = surroundings.workspace()?;
    let bytes = read_input(path, IMPORT_MAX)?;
    let (drafts, _) = files::drafts(&bytes, &path.to_string_lossy())?;
    let now = surroundings.clock.timestamp();
    let named: Vec<Vec<Kind>> = drafts.iter().map(Draft::connects).collect();
    let mut imported = write(&workspace, |transaction| {
        let mut known = known_to(transaction, &workspace)?;
        let mut imported = Imported {
            agents: Vec::with_capacity(drafts.len()),
            total: drafts.len(),
            updated: 0,
            warnings: Vec::new(),
        };
        for (index, draft) in drafts.into_iter().enumerate() {
            imported.warnings.extend(draft.warnings());
            let agent = imported_agent(&mut known, draft, replace, &mut imported.updated);
            let agent = agent.map_err(|error| Error {
                message: format!("{}, agent {}: {}", path.display(), index + 1, error.message),
                ..error
            })?;
            let agent = stamped(agent, &now);
            transaction.put_agent(&agent)?;
            imported.agents.push(agent);
        }
        imported.warnings.dedup();
        Ok(imported)
    })?;
    let (agents, warnings) = (&imported.agents, &mut imported.warnings);
    let named = agents.iter().zip(named);
    for (agent, _) in named.filter(|(agent, kinds)| kinds.contains(&agent.kind)) {
        trust::keep(surroundings, &workspace, agent, Registrant::User, warnings);
    }
    Ok(imported)
}

fn imported_agent(
    known: &mut Known,
    draft: Draft,
    replace: bool,
    updated: &mut usize,
) -> Result<Agent> {
    let there = draft.id.as_deref().and_then(|id| {
        let stays = |agent: &&Agent| agent.id == id && !agent.is_builtin();
        known.agents.iter().find(stays).cloned()
    });
    let agent = match there {
        Some(there) if replace && known.file(&there.id).is_none() => {
            *updated += 1;
            let mut agent = there;
            draft.apply(&mut agent)?;
            agent
        }
        _ => to_stay(known, draft)?,
    };
    known.agents.push(agent.clone());
    Ok(agent)
}
