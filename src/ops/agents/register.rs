//! Registering agents: to stay, for the moment, or many from a file.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use super::terms::{self, refuse_reserved, suggested};
use super::{Known, One, apart, files, known_to, shown, trust, write, write_if};
use crate::agent::draft::{self, Draft};
use crate::agent::{Agent, Kind, RUNTIME_MAX, builtin, runtime_moment};
use crate::error::{Code, Error, Result, quote};
use crate::file::read_input;
use crate::ops::Surroundings;
use crate::ops::trust::{Item, warn_of};
use crate::store::agency::AgencyTransaction;

/// Largest file of agents that is read, in bytes.
const IMPORT_MAX: u64 = 64 << 20;
/// Longest piece of a name that is kept before such a number: its id has at most 64 characters.
const NAME_KEPT: usize = 60;

/// An agent that was registered.
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
    /// How many.
    pub(crate) total: usize,
    /// How many of them were there and are changed.
    pub(crate) updated: usize,
    /// What the caller should know.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// Registers an agent: to stay, or for the moment when `runtime` says so or its id is one of such. A worker that the
/// user of this machine registers is trusted; over HTTP, programs are not, and addresses only as far as they are
/// public. Without `keeps` it is only shown what would be registered.
pub(crate) fn register(
    surroundings: &Surroundings,
    draft: Draft,
    runtime: bool,
    keeps: bool,
) -> Result<Registered> {
    terms::check_command(surroundings, &draft)?;
    let workspace = surroundings.workspace()?;
    let clock = surroundings.clock;
    let runtime = runtime || draft.id.as_deref().and_then(runtime_moment).is_some();
    let named = draft.connects();
    let mut warnings = draft.warnings();
    let (agent, created) = write_if(&workspace, keeps, |transaction| {
        let known = known_to(transaction, &workspace)?;
        let (agent, created) = if runtime {
            of_the_moment(surroundings, transaction, &known, draft)?
        } else {
            let agent = to_stay(&known, draft, surroundings.only())?;
            let user_id = surroundings.rights.user.clone();
            (Agent { user_id, ..agent }, true)
        };
        let agent = stamped(agent, &clock.timestamp());
        terms::check_address(surroundings, &agent)?;
        transaction.put_agent(&agent)?;
        Ok((agent, created))
    })?;
    warnings.extend(draft::unused_connection(&agent));
    // An agent of the moment that was there may have a connection that nobody names now.
    if keeps && named.contains(&agent.kind) {
        let by = surroundings.rights.registrant;
        warnings.extend(trust::keep(surroundings, &workspace, &agent, by));
    }
    let agent = shown(surroundings, apart(surroundings, agent)?, None);
    Ok(Registered {
        one: One { agent, warnings },
        created,
    })
}

fn stamped(mut agent: Agent, now: &str) -> Agent {
    agent.created_at.get_or_insert_with(|| now.to_string());
    agent.updated_at = Some(now.to_string());
    agent
}

/// Makes an agent that stays. Its id must be free; one that names none gets it from its name, and is
/// not hindered then by agents that the user does not see.
fn to_stay(known: &Known, draft: Draft, user: Option<&str>) -> Result<Agent> {
    let there = |id: &str| known.agents.iter().find(|there| there.id == id);
    let hides = |id: &str| there(id).is_some_and(|there| !there.is_seen_by(user));
    let mut id = named_id(&draft);
    if draft.id.is_none() && hides(&id) {
        let mut others = (2_u32..).map(|number| draft::numbered(&id, number));
        id = others.find(|id| !hides(id)).unwrap_or_default();
    }
    // What is wrong with the name is said first.
    let name = draft.name.as_deref().unwrap_or_default();
    let is_long = name.chars().count() > draft::NAME_MAX;
    let Some(there) = there(&id).filter(|_| !is_long) else {
        return fresh(draft, &id);
    };
    let is_seen = there.is_seen_by(user);
    let name = draft.name.unwrap_or_default();
    Err(taken_error(known, &id, draft.id.as_deref(), &name, is_seen))
}

fn named_id(draft: &Draft) -> String {
    let name = draft.name.as_deref().unwrap_or_default();
    draft.id.clone().unwrap_or_else(|| suggested(name))
}

fn fresh(draft: Draft, id: &str) -> Result<Agent> {
    draft::check_id(id).map_err(|error| error.in_field("id"))?;
    if runtime_moment(id).is_some() {
        let message = format!("`{id}` is the id of an agent of the moment, which is not to stay");
        return Err(draft::invalid(message));
    }
    refuse_reserved(id)?;
    let kind = worker(&draft).unwrap_or(Kind::Persistent);
    let mut agent = Agent::new(id, kind, "");
    draft.apply(&mut agent)?;
    draft::require_prompt(&agent)?;
    Ok(agent)
}

/// Returns as which kind of worker a draft is reached; none when it is no worker.
fn worker(draft: &Draft) -> Option<Kind> {
    let kind = draft.kind();
    kind.filter(|kind| matches!(kind, Kind::Http | Kind::Cli))
}

/// The error for an id that an agent has. The way out changes what the id was made of. Of an agent that the caller does
/// not see nothing is told.
fn taken_error(known: &Known, id: &str, said: Option<&str>, name: &str, is_seen: bool) -> Error {
    let is_free = |id: &str| known.agents.iter().all(|agent| agent.id != id);
    // The id is cut, so that a longer name may change nothing about it.
    let begin: String = name.chars().take(NAME_KEPT).collect();
    let renamed = |number| format!("{} {number}", begin.trim_end());
    let mut numbers = 2_u32..;
    let (other, field) = match said {
        Some(said) => {
            let mut ids = numbers.map(|number| draft::numbered(said, number));
            (ids.find(|id| is_free(id)), "id")
        }
        None => {
            let free = numbers.find(|number| is_free(&suggested(&renamed(*number))));
            (free.map(renamed), "name")
        }
    };
    let message = match is_seen {
        true => format!("there is an agent `{id}` already"),
        false => format!("the id `{id}` is not free"),
    };
    let other = other.unwrap_or_default();
    let error = Error::new(Code::Exists, format!("{message}; `{other}` is free"));
    let error = error.in_field(field);
    match is_seen {
        true => error.or("look at it", format!("cleo agents show {}", quote(id))),
        false => error,
    }
}

/// Makes or changes an agent of the moment: `custom_<digits>`. One of another user is not changed.
fn of_the_moment(
    surroundings: &Surroundings,
    transaction: &dyn AgencyTransaction,
    known: &Known,
    draft: Draft,
) -> Result<(Agent, bool)> {
    let id = match draft.id.as_deref() {
        Some(id) if builtin::is_builtin(id) => {
            let message = format!("`{id}` is a built-in agent");
            return Err(
                Error::new(Code::Exists, message).fix(format!("cleo agents show {}", quote(id)))
            );
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
    let there = transaction.agent(&id)?;
    if there.is_none() && transaction.runtime_agents()? >= RUNTIME_MAX {
        let message = format!("there are {RUNTIME_MAX} runtime agents, as many as there may be");
        let error = draft::invalid(message).fix("cleo agents list");
        return Err(error.or("remove those that nobody uses", "cleo agents cleanup"));
    }
    if let Some(there) = &there {
        terms::check_own(surroundings, there)?;
    }
    let created = there.is_none();
    let mut agent = there.unwrap_or_else(|| Agent {
        user_id: surroundings.rights.user.clone(),
        ..Agent::new(&id, Kind::Runtime, "")
    });
    agent.kind = worker(&draft).unwrap_or(agent.kind);
    draft.apply(&mut agent)?;
    Ok((agent, created))
}

/// Registers all agents of a file, or none. Those that are there are changed with `replace`.
pub(crate) fn import(surroundings: &Surroundings, path: &Path, replace: bool) -> Result<Imported> {
    let workspace = surroundings.workspace()?;
    let bytes = read_input(path, IMPORT_MAX)?;
    let drafts = files::drafts(&bytes, &path.to_string_lossy());
    let (drafts, _) = drafts?;
    let now = surroundings.clock.timestamp();
    let mut imported = write(&workspace, |transaction| {
        let known = known_to(transaction, &workspace)?;
        let agents = known.agents.iter();
        let there: HashMap<&str, &Agent> = agents.map(|it| (it.id.as_str(), it)).collect();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut imported = Imported::default();
        for (number, draft) in (1_usize..).zip(drafts) {
            imported.warnings.extend(draft.warnings());
            let id = named_id(&draft);
            let there = there.get(id.as_str());
            let agent = match (numbers.insert(id.clone(), number), there) {
                (Some(earlier), _) => {
                    let message = format!("it has the id of agent {earlier}: `{id}`");
                    Err(draft::invalid(message))
                }
                (None, None) => fresh(draft, &id),
                (None, Some(there)) => {
                    let is_fixed = there.is_builtin || known.file(&id).is_some();
                    replaced(there, draft, path, is_fixed, replace)
                }
            };
            let agent = agent.map_err(|error| Error {
                message: format!("{}, agent {number}: {}", path.display(), error.message),
                ..error
            })?;
            let agent = stamped(agent, &now);
            transaction.put_agent(&agent)?;
            imported.updated += usize::from(there.is_some());
            imported.agents.push(agent);
        }
        imported.total = imported.agents.len();
        imported.warnings.dedup();
        Ok(imported)
    })?;
    let workers = imported.agents.iter().filter(|agent| agent.is_worker());
    let items: Vec<Item> = workers.map(Item::worker).collect();
    let warnings = warn_of(surroundings, &workspace, &items);
    imported.warnings.extend(warnings);
    Ok(imported)
}

/// Replaces what a draft says of an agent that is there.
fn replaced(
    there: &Agent,
    draft: Draft,
    path: &Path,
    is_fixed: bool,
    replace: bool,
) -> Result<Agent> {
    let id = &there.id;
    let show = format!("cleo agents show {}", quote(id));
    if is_fixed {
        let message = format!("there is an agent `{id}` already, which no import changes");
        return Err(Error::new(Code::Exists, message).fix(show));
    }
    if !replace {
        let error = Error::new(Code::Exists, format!("there is an agent `{id}` already"));
        let file = quote(&path.to_string_lossy());
        let replace = format!("cleo agents import {file} --replace");
        return Err(error
            .fix(show)
            .or("replace it by what the file says", replace));
    }
    let mut agent = there.clone();
    draft.apply(&mut agent)?;
    draft::require_prompt(&agent)?;
    Ok(agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(name: &str) -> Draft {
        Draft {
            name: Some(name.to_string()),
            prompt: Some("p".to_string()),
            ..Draft::default()
        }
    }

    #[test]
    fn another_name_for_an_id_that_is_taken_is_free_however_long_it_is() {
        for name in [
            "Lore keeper".to_string(),
            "q".repeat(64) + "b",
            "q".repeat(100),
        ] {
            let mut known = Known::default();
            known
                .agents
                .push(to_stay(&known, draft(&name), None).unwrap());
            let error = to_stay(&known, draft(&name), None).unwrap_err();
            assert_eq!(error.code, Code::Exists);
            let (_, other) = error.message.rsplit_once("; `").unwrap();
            let other = other.trim_end_matches("` is free");
            assert!(to_stay(&known, draft(other), None).is_ok(), "{other}");
        }
        let mut known = Known::default();
        let name = "q".repeat(100);
        known
            .agents
            .push(to_stay(&known, draft(&name), None).unwrap());
        let error = to_stay(&known, draft(&(name + "q")), None).unwrap_err();
        assert_eq!(error.code, Code::AgentInvalid);
    }
}
