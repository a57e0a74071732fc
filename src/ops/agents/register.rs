//! Registering and changing agents: persistent and runtime agents, and all of a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::terms::{self, refuse_reserved, suggest_id};
use super::{Known, One, Registry, files, load_with, trust, write, write_if};
use crate::agent::draft::{self, Draft};
use crate::agent::{
    Agent, AgentStatus, Kind, RUNTIME_MAX, Role, SUPERVISOR, builtin, runtime_moment,
};
use crate::error::{Code, Error, Result, quote};
use crate::file::read_input;
use crate::ops::trust::{Item, Trust, warn_of};
use crate::ops::{Notes, Scope, Surroundings};
use crate::store::{Change, Transaction};

/// Largest file of agents that is read, in bytes.
const IMPORT_MAX: u64 = 64 << 20;

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Registered {
    #[serde(flatten)]
    pub(crate) one: One,
    /// Whether it is new; a runtime agent that exists is changed.
    pub(crate) created: bool,
}

/// Agents that came from a file.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Imported {
    pub(crate) agents: Vec<Agent>,
    pub(crate) total: usize,
    /// How many of them existed and are changed.
    pub(crate) updated: usize,
}

/// Registers an agent: a runtime agent if the draft says so or by its id, else a persistent one.
pub(crate) fn register(
    surroundings: &Surroundings,
    notes: &mut Notes,
    draft: Draft,
) -> Result<Registered> {
    let is_runtime = draft.is_runtime || draft.id.as_deref().and_then(runtime_moment).is_some();
    let (one, created) = save_agent(surroundings, notes, draft, |transaction, known, draft| {
        if is_runtime {
            return make_runtime(surroundings, transaction, known, draft);
        }
        let is_taken = |id: &str| transaction.is_agent_taken(id);
        let user = surroundings.visible_user();
        Ok((make_persistent(known, draft, user, is_taken)?, true))
    })?;
    Ok(Registered { one, created })
}

/// Changes the agent with the id of a draft.
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
        return Err(error!(InputInvalid, "nothing was said that is to change"));
    }
    let (one, _) = save_agent(surroundings, notes, draft, |_, known, _| {
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
    Ok(one)
}

/// Saves the agent that `find` finds or makes, changed as a draft says; returns it, and whether it is new. A worker that
/// the user of this machine names is trusted; over HTTP, programs are not, and addresses only if they are public.
/// A dry run saves nothing.
fn save_agent(
    surroundings: &Surroundings,
    notes: &mut Notes,
    mut draft: Draft,
    find: impl FnOnce(&dyn Transaction, &Known, &mut Draft) -> Result<(Agent, bool)>,
) -> Result<(One, bool)> {
    draft.check_spelling()?;
    if draft.has_command() {
        surroundings.rights.require(Scope::Admin)?;
    }
    let workspace = surroundings.workspace()?;
    let now = surroundings.clock.timestamp();
    let (kinds, keeps) = (draft.list_connections(), !draft.dry_run);
    let has_address = !kinds.is_empty() || draft.healthcheck.is_some();
    let has_prompt = draft.prompt.is_some();
    notes.warn(draft.warnings());
    let (agent, created, trusted_by) = write_if(surroundings, &workspace, keeps, |transaction| {
        let known = load_with(transaction, &workspace)?;
        let (mut agent, created) = find(transaction, &known, &mut draft)?;
        let trusted_by = Trust::new(surroundings, &workspace).registrant(&Item::worker(&agent));
        draft.apply(&mut agent)?;
        let is_in_charge = agent.status == AgentStatus::Active && agent.role == Role::Supervisor;
        if agent.id == SUPERVISOR && !is_in_charge {
            let message =
                format!("`{SUPERVISOR}` coordinates the others: it stays active, and supervisor");
            return Err(draft::invalid(message));
        }
        if !agent.is_runtime && (created || has_prompt) {
            draft::require_prompt(&agent)?;
        }
        if has_address {
            terms::check_address(surroundings, &agent)?;
        }
        if created {
            agent.user_id.clone_from(&surroundings.rights.user);
        }
        stamp(&mut agent, created, &now);
        transaction.put_agent(&agent)?;
        if created && agent.is_runtime {
            let message = format!("Graph rebuilt to include runtime agent: {}", agent.id);
            transaction.record(&Change {
                kind: "registered".to_string(),
                task: None,
                detail: json!({"agent": agent.id, "message": message}),
            })?;
        }
        Ok((agent, created, trusted_by))
    })?;
    notes.warn(draft::find_unused_connection(&agent));
    notes.warn(draft::find_dead_tags(&agent));
    notes.is_rehearsed = !keeps;
    // A change of another field does not trust a connection that the user has not named.
    let is_named = kinds.contains(&agent.kind);
    let by = is_named.then_some(surroundings.rights.registrant);
    if let Some(by) = by.or(trusted_by).filter(|_| keeps) {
        let warnings = trust::trust_registered(surroundings, &workspace, &agent, by);
        notes.warn(warnings);
    }
    Ok((Registry::load(surroundings)?.show_stored(agent), created))
}

fn stamp(agent: &mut Agent, created: bool, now: &str) {
    if created {
        agent.created_at = Some(now.to_string());
    }
    agent.updated_at = Some(now.to_string());
}

/// Makes a persistent agent, before its draft is applied. An id in the draft must be free, also of agents that the
/// database does not show. An id from the name may be that of an agent that the user does not see: then it gets a number.
fn make_persistent(
    known: &Known,
    draft: &Draft,
    user: Option<&str>,
    is_taken: impl Fn(&str) -> Result<bool>,
) -> Result<Agent> {
    let find = |id: &str| known.agents.iter().find(|agent| agent.id == id);
    let hides = |id: &str| match find(id) {
        Some(agent) => Ok(!agent.is_seen_by(user)),
        None => is_taken(id),
    };
    let is_free = |id: &str| Ok(find(id).is_none() && !is_taken(id)?);
    let mut id = choose_id(draft);
    if draft.id.is_none() && hides(&id)? {
        id = find_free_id(&id, |id| Ok(!hides(id)?))?;
    }
    // The error of a long name comes before that of its id.
    let name = draft.name.as_deref().unwrap_or_default();
    let is_long = name.chars().count() > draft::NAME_MAX;
    if is_long || is_free(&id)? {
        return make_agent(draft, &id);
    }
    let free = find_free_id(&id, is_free)?;
    let error = |what| Error::new(Code::Exists, format!("{what}; `{free}` is free")).in_field("id");
    Err(match hides(&id)? {
        false => error(format!("there is an agent `{id}` already"))
            .or("look at it", format!("cleo agents show {}", quote(&id))),
        true => error(format!("the id `{id}` is not free")),
    })
}

fn find_free_id(id: &str, is_free: impl Fn(&str) -> Result<bool>) -> Result<String> {
    let ids = (2_u32..).map(|number| draft::add_number(id, number));
    for id in ids {
        if is_free(&id)? {
            return Ok(id);
        }
    }
    Ok(String::new())
}

fn choose_id(draft: &Draft) -> String {
    let name = draft.name.as_deref().unwrap_or_default();
    draft.id.clone().unwrap_or_else(|| suggest_id(name))
}

/// Makes an agent with the id of a persistent one, before its draft is applied.
fn make_agent(draft: &Draft, id: &str) -> Result<Agent> {
    draft::check_id(id).map_err(|error| error.in_field("id"))?;
    if runtime_moment(id).is_some() {
        let message = format!("`{id}` is the id of a runtime agent, which does not stay");
        return Err(draft::invalid(message));
    }
    if builtin::is_builtin(id) {
        return Err(draft::invalid(format!("`{id}` is a built-in agent")));
    }
    refuse_reserved(id)?;
    let kind = draft.worker().unwrap_or(Kind::Persistent);
    Ok(Agent::new(id, kind, ""))
}

pub(super) fn make_from_file(draft: Draft, id: &str) -> Result<Agent> {
    apply(draft.clone(), make_agent(&draft, id)?)
}

fn apply(draft: Draft, mut agent: Agent) -> Result<Agent> {
    draft.apply(&mut agent)?;
    draft::require_prompt(&agent)?;
    Ok(agent)
}

/// Makes or finds a runtime agent: `custom_<digits>`. One of another user is not changed.
fn make_runtime(
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
                "`{id}` is not the id of a runtime agent: custom_ and digits, at most 64 characters"
            );
            return Err(draft::invalid(message).in_field("id"));
        }
        None => {
            let now = surroundings.clock.now().timestamp_millis();
            let is_free = |id: &String| known.agents.iter().all(|agent| agent.id != *id);
            let mut ids = (now..).map(|millis| format!("custom_{millis}"));
            ids.find(is_free).unwrap_or_default()
        }
    };
    if let Some(mut agent) = transaction.agent(&id)? {
        terms::check_own(surroundings, &agent)?;
        agent.kind = draft.worker().unwrap_or(agent.kind);
        return Ok((agent, false));
    }
    if transaction.runtime_agents()? >= RUNTIME_MAX {
        let message = format!("there are {RUNTIME_MAX} runtime agents, as many as there may be");
        let error = draft::invalid(message).fix("cleo agents list");
        return Err(error.or("remove unused agents", "cleo agents cleanup"));
    }
    let mut agent = Agent::new(&id, Kind::Runtime, "");
    agent.kind = draft.worker().unwrap_or(agent.kind);
    Ok((agent, true))
}

#[derive(Args)]
pub(crate) struct Import {
    /// JSON or YAML file: one agent, a list, or a list under `agents`; - reads standard input
    file: PathBuf,

    /// Update agents that already exist
    #[arg(long)]
    replace: bool,
}

/// Registers all agents of a file, or none. With `replace`, agents that exist are changed.
pub(crate) fn import(
    surroundings: &Surroundings,
    notes: &mut Notes,
    Import { file, replace }: Import,
) -> Result<Imported> {
    let workspace = surroundings.workspace()?;
    let bytes = read_input(&file, IMPORT_MAX)?;
    let (drafts, _) = files::read_drafts(&bytes, &file.to_string_lossy())?;
    let now = surroundings.clock.timestamp();
    let imported = write(&workspace, |transaction| {
        let known = load_with(transaction, &workspace)?;
        let agents = known.agents.iter();
        let existing: HashMap<&str, &Agent> = agents.map(|it| (it.id.as_str(), it)).collect();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut imported = Imported::default();
        for (number, draft) in (1_usize..).zip(drafts) {
            notes.warn(draft.warnings());
            let id = choose_id(&draft);
            let existing = existing.get(id.as_str());
            let agent = match (numbers.insert(id.clone(), number), existing) {
                (Some(earlier), _) => {
                    let message = format!("it has the id of agent {earlier}: `{id}`");
                    Err(draft::invalid(message))
                }
                (None, None) => make_from_file(draft, &id),
                (None, Some(agent)) => {
                    let is_fixed = agent.is_builtin || known.files.contains_key(&id);
                    refuse_existing(&id, &file, is_fixed, replace)
                        .and_then(|()| apply(draft, Agent::clone(agent)))
                }
            };
            let mut agent = agent.map_err(|error| Error {
                message: format!("{}, agent {number}: {}", file.display(), error.message),
                ..error
            })?;
            stamp(&mut agent, existing.is_none(), &now);
            transaction.put_agent(&agent)?;
            imported.updated += usize::from(existing.is_some());
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

/// Refuses an import over an agent that no import changes, or over any without `replace`.
fn refuse_existing(id: &str, file: &Path, is_fixed: bool, replace: bool) -> Result<()> {
    let message = format!("there is an agent `{id}` already");
    let show = format!("cleo agents show {}", quote(id));
    let error = |message| Error::new(Code::Exists, message).fix(show);
    if is_fixed {
        return Err(error(format!("{message}, which no import changes")));
    }
    if replace {
        return Ok(());
    }
    let file = quote(&file.to_string_lossy());
    let again = format!("cleo agents import {file} --replace");
    Err(error(message).or("replace it by what the file says", again))
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
            let mut agent = make_persistent(known, &draft, None, |_| Ok(false))?;
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
