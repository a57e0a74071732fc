//! Registering and changing agents: one to stay, one for the moment, or many from a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::terms::{self, refuse_reserved, suggest_id};
use super::{Known, One, files, load_with, show_stored, trust, write, write_if};
use crate::agent::draft::{self, Draft};
use crate::agent::{
    Agent, AgentStatus, Kind, RUNTIME_MAX, Role, SUPERVISOR, builtin, runtime_moment,
};
use crate::error::{Code, Error, Result, quote};
use crate::file::read_input;
use crate::ops::trust::{Item, Trust, warn_of};
use crate::ops::{Notes, Surroundings};
use crate::store::Transaction;

/// Largest file of agents that is read, in bytes.
const IMPORT_MAX: u64 = 64 << 20;

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Registered {
    #[serde(flatten)]
    pub(crate) one: One,
    /// Whether it is new; an agent of the moment that was there is changed.
    pub(crate) created: bool,
}

/// Agents that came from a file.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Imported {
    pub(crate) agents: Vec<Agent>,
    pub(crate) total: usize,
    /// How many of them were there and are changed.
    pub(crate) updated: usize,
}

/// Registers an agent: to stay, or for the moment when the draft says so or its id is one of such.
pub(crate) fn register(
    surroundings: &Surroundings,
    notes: &mut Notes,
    draft: Draft,
) -> Result<Registered> {
    let is_runtime = draft.is_runtime || draft.id.as_deref().and_then(runtime_moment).is_some();
    let (agent, created) =
        save(
            surroundings,
            notes,
            draft,
            |transaction, known, draft| match is_runtime {
                true => for_the_moment(surroundings, transaction, known, draft),
                false => Ok((to_stay(known, draft, surroundings.only())?, true)),
            },
        )?;
    let one = show_stored(surroundings, agent)?;
    Ok(Registered { one, created })
}

/// Changes the agent with the id of a draft as it says.
pub(crate) fn update(
    surroundings: &Surroundings,
    notes: &mut Notes,
    mut draft: Draft,
) -> Result<One> {
    let workspace = surroundings.workspace()?;
    let (id, seen) = (draft.id.take().unwrap_or_default(), draft.updated_at.take());
    let nothing = Draft {
        dry_run: draft.dry_run,
        ..Draft::default()
    };
    if draft == nothing {
        let message = "nothing was said that is to change";
        return Err(Error::new(Code::InputInvalid, message));
    }
    let (agent, _) = save(surroundings, notes, draft, |_, known, _| {
        let agent = terms::require(surroundings, known, &id)?;
        let changed = agent.updated_at.as_deref().unwrap_or_default();
        // An empty moment means that it was never changed.
        if seen.is_some_and(|seen| seen != changed) {
            let message = format!("`{id}` was changed meanwhile, at {changed}");
            let look = format!("cleo agents show {}", quote(&id));
            return Err(Error::new(Code::StatusRefused, message).fix(look));
        }
        terms::refuse_of_file(surroundings, &workspace, known, &id, "change")?;
        Ok((agent.clone(), false))
    })?;
    show_stored(surroundings, agent)
}

/// Saves the agent that `find` finds or makes, changed as a draft says; returns it, and whether it is new. A worker that
/// the user of this machine names is trusted; over HTTP, programs are not, and addresses only as far as they are public.
/// A dry run only tries it.
fn save(
    surroundings: &Surroundings,
    notes: &mut Notes,
    mut draft: Draft,
    find: impl FnOnce(&dyn Transaction, &Known, &mut Draft) -> Result<(Agent, bool)>,
) -> Result<(Agent, bool)> {
    draft.check_spelling()?;
    terms::check_command(surroundings, &draft)?;
    let workspace = surroundings.workspace()?;
    let now = surroundings.clock.timestamp();
    let (named, keeps) = (draft.connects(), !draft.dry_run);
    let names_address = !named.is_empty() || draft.healthcheck.is_some();
    let names_prompt = draft.prompt.is_some();
    notes.warn(draft.warnings());
    let (agent, created, trusted_by) = write_if(&workspace, keeps, |transaction| {
        let known = load_with(transaction, &workspace)?;
        let (mut agent, created) = find(transaction, &known, &mut draft)?;
        let trusted_by = Trust::new(surroundings, &workspace).registrant(&Item::worker(&agent));
        draft.apply(&mut agent)?;
        if agent.id == SUPERVISOR
            && (agent.status != AgentStatus::Active || agent.role != Role::Supervisor)
        {
            let message =
                format!("`{SUPERVISOR}` coordinates the others: it stays active, and supervisor");
            return Err(draft::invalid(message));
        }
        if !agent.is_runtime && (created || names_prompt) {
            draft::require_prompt(&agent)?;
        }
        if names_address {
            terms::check_address(surroundings, &agent)?;
        }
        if created {
            agent.user_id.clone_from(&surroundings.rights.user);
        }
        stamp(&mut agent, created, &now);
        transaction.put_agent(&agent)?;
        Ok((agent, created, trusted_by))
    })?;
    notes.warn(draft::find_unused_connection(&agent));
    notes.is_rehearsed = !keeps;
    // What the user has not named himself does not become trusted by a change beside it.
    let named = named.contains(&agent.kind);
    let by = named.then_some(surroundings.rights.registrant);
    if let Some(by) = by.or(trusted_by).filter(|_| keeps) {
        notes.warn(trust::keep(surroundings, &workspace, &agent, by));
    }
    Ok((agent, created))
}

fn stamp(agent: &mut Agent, created: bool, now: &str) {
    if created {
        agent.created_at = Some(now.to_string());
    }
    agent.updated_at = Some(now.to_string());
}

/// Makes an agent that stays, before its draft is applied. Its id must be free; one that names none gets it from its
/// name, and is not hindered then by agents that the user does not see.
fn to_stay(known: &Known, draft: &Draft, user: Option<&str>) -> Result<Agent> {
    let there = |id: &str| known.agents.iter().find(|there| there.id == id);
    let hides = |id: &str| there(id).is_some_and(|there| !there.is_seen_by(user));
    let mut id = choose_id(draft);
    if draft.id.is_none() && hides(&id) {
        let mut others = (2_u32..).map(|number| draft::add_number(&id, number));
        id = others.find(|id| !hides(id)).unwrap_or_default();
    }
    // What is wrong with the name is said first.
    let name = draft.name.as_deref().unwrap_or_default();
    let is_long = name.chars().count() > draft::NAME_MAX;
    match there(&id).filter(|_| !is_long) {
        None => make(draft, &id),
        Some(there) => Err(refuse_taken(known, &id, there.is_seen_by(user))),
    }
}

fn choose_id(draft: &Draft) -> String {
    let name = draft.name.as_deref().unwrap_or_default();
    draft.id.clone().unwrap_or_else(|| suggest_id(name))
}

/// Makes an agent with an id that such as stay may have, before its draft is applied.
fn make(draft: &Draft, id: &str) -> Result<Agent> {
    draft::check_id(id).map_err(|error| error.in_field("id"))?;
    if runtime_moment(id).is_some() {
        let message = format!("`{id}` is the id of an agent of the moment, which is not to stay");
        return Err(draft::invalid(message));
    }
    if builtin::is_builtin(id) {
        return Err(draft::invalid(format!("`{id}` is a built-in agent")));
    }
    refuse_reserved(id)?;
    Ok(Agent::new(
        id,
        draft.worker().unwrap_or(Kind::Persistent),
        "",
    ))
}

/// Makes an agent of a draft in a file.
pub(super) fn fresh(draft: Draft, id: &str) -> Result<Agent> {
    let mut agent = make(&draft, id)?;
    draft.apply(&mut agent)?;
    draft::require_prompt(&agent)?;
    Ok(agent)
}

/// The error for an id that an agent has. Of an agent that the caller does not see nothing is told.
fn refuse_taken(known: &Known, id: &str, is_seen: bool) -> Error {
    let is_free = |id: &String| known.agents.iter().all(|agent| agent.id != *id);
    let mut others = (2_u32..).map(|number| draft::add_number(id, number));
    let free = others.find(is_free).unwrap_or_default();
    let error = |what| Error::new(Code::Exists, format!("{what}; `{free}` is free")).in_field("id");
    match is_seen {
        true => error(format!("there is an agent `{id}` already"))
            .or("look at it", format!("cleo agents show {}", quote(id))),
        false => error(format!("the id `{id}` is not free")),
    }
}

/// Makes or finds an agent of the moment: `custom_<digits>`. One of another user is not changed.
fn for_the_moment(
    surroundings: &Surroundings,
    transaction: &dyn Transaction,
    known: &Known,
    draft: &Draft,
) -> Result<(Agent, bool)> {
    let id = match draft.id.as_deref() {
        Some(id) if builtin::is_builtin(id) => {
            let error = Error::new(Code::Exists, format!("`{id}` is a built-in agent"));
            return Err(error.fix(format!("cleo agents show {}", quote(id))));
        }
        Some(id) if runtime_moment(id).is_some() && draft::is_plain_id(id) => id.to_string(),
        Some(id) => {
            let message = format!(
                "`{id}` is no id of a runtime agent: custom_ and digits, at most 64 characters"
            );
            return Err(draft::invalid(message).in_field("id"));
        }
        None => {
            let millis = surroundings.clock.now().timestamp_millis();
            let taken = |id: &String| known.agents.iter().any(|agent| agent.id == *id);
            let mut ids = (millis..).map(|millis| format!("custom_{millis}"));
            ids.find(|id| !taken(id)).unwrap_or_default()
        }
    };
    if let Some(mut there) = transaction.agent(&id)? {
        terms::check_own(surroundings, &there)?;
        there.kind = draft.worker().unwrap_or(there.kind);
        return Ok((there, false));
    }
    if transaction.runtime_agents()? >= RUNTIME_MAX {
        let message = format!("there are {RUNTIME_MAX} runtime agents, as many as there may be");
        let error = draft::invalid(message).fix("cleo agents list");
        return Err(error.or("remove those that nobody uses", "cleo agents cleanup"));
    }
    let mut agent = Agent::new(&id, Kind::Runtime, "");
    agent.kind = draft.worker().unwrap_or(agent.kind);
    Ok((agent, true))
}

// Agents to register, or none of them. A doc comment would become the help of the command.
#[derive(Args)]
pub(crate) struct Import {
    /// JSON or YAML file: one agent, a list, or a list under `agents`; - reads standard input
    file: PathBuf,

    /// Update agents that already exist
    #[arg(long)]
    replace: bool,
}

/// Registers all agents of a file, or none. Those that are there are changed with `replace`.
pub(crate) fn import(
    surroundings: &Surroundings,
    notes: &mut Notes,
    Import { file, replace }: Import,
) -> Result<Imported> {
    let workspace = surroundings.workspace()?;
    let bytes = read_input(&file, IMPORT_MAX)?;
    let (drafts, _) = files::drafts(&bytes, &file.to_string_lossy())?;
    let now = surroundings.clock.timestamp();
    let imported = write(&workspace, |transaction| {
        let known = load_with(transaction, &workspace)?;
        let agents = known.agents.iter();
        let there: HashMap<&str, &Agent> = agents.map(|it| (it.id.as_str(), it)).collect();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut imported = Imported::default();
        for (number, draft) in (1_usize..).zip(drafts) {
            notes.warn(draft.warnings());
            let id = choose_id(&draft);
            let there = there.get(id.as_str());
            let agent = match (numbers.insert(id.clone(), number), there) {
                (Some(earlier), _) => {
                    let message = format!("it has the id of agent {earlier}: `{id}`");
                    Err(draft::invalid(message))
                }
                (None, None) => fresh(draft, &id),
                (None, Some(there)) => {
                    let is_fixed = there.is_builtin || known.files.contains_key(&id);
                    replace_agent(there, draft, &file, is_fixed, replace)
                }
            };
            let mut agent = agent.map_err(|error| Error {
                message: format!("{}, agent {number}: {}", file.display(), error.message),
                ..error
            })?;
            stamp(&mut agent, there.is_none(), &now);
            transaction.put_agent(&agent)?;
            imported.updated += usize::from(there.is_some());
            imported.agents.push(agent);
        }
        imported.total = imported.agents.len();
        Ok(imported)
    })?;
    notes.warnings.dedup();
    let workers = imported.agents.iter().filter(|agent| agent.is_worker());
    let items: Vec<Item> = workers.map(Item::worker).collect();
    notes.warn(warn_of(surroundings, &workspace, &items));
    Ok(imported)
}

/// Changes an agent that is there to what a file says of it.
fn replace_agent(
    there: &Agent,
    draft: Draft,
    file: &Path,
    is_fixed: bool,
    replace: bool,
) -> Result<Agent> {
    let id = &there.id;
    let message = format!("there is an agent `{id}` already");
    let exists =
        |message| Error::new(Code::Exists, message).fix(format!("cleo agents show {}", quote(id)));
    if is_fixed {
        return Err(exists(format!("{message}, which no import changes")));
    }
    if !replace {
        let file = quote(&file.to_string_lossy());
        let replace = format!("cleo agents import {file} --replace");
        return Err(exists(message).or("replace it by what the file says", replace));
    }
    let mut agent = there.clone();
    draft.apply(&mut agent)?;
    draft::require_prompt(&agent)?;
    Ok(agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_refused_before_their_ids() {
        let stay = |known: &Known, name: &str| {
            let draft = Draft {
                name: Some(name.to_string()),
                ..Draft::default()
            };
            let mut agent = to_stay(known, &draft, None)?;
            draft.apply(&mut agent).map(|()| agent)
        };
        let (mut known, name) = (Known::default(), "q".repeat(100));
        known.agents.push(stay(&known, &name).unwrap());
        let error = stay(&known, &name).unwrap_err();
        let free = format!("`{}-2` is free", "q".repeat(62));
        assert!(error.message.ends_with(&free), "{}", error.message);
        let error = stay(&known, &(name + "q")).unwrap_err();
        assert_eq!(error.code, Code::AgentInvalid);
    }
}
