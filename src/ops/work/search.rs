//! Finding things by words, of every kind at once.

use std::collections::HashMap;

use serde::Serialize;

use super::memory::Memory;
use super::scene::{InLast, in_runs, state_of};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::{Context, agents, runs, tasks};
use crate::score::normalize;
use crate::store::agency::{Agency, ConversationFilter};
use crate::store::sqlite::SqliteAgency;
use crate::store::{Archived, Transaction};
use crate::task::{State, Status, Task};

/// How many conversations are looked through.
const CONVERSATIONS_MAX: u32 = 200;
/// Most of each kind that are found when several kinds are looked for.
const EACH_MAX: usize = 20;
/// Longest title, in characters.
const TITLE_MAX: usize = 200;

crate::words::closed! {
    /// What can be found.
    Kind, "kind of thing":
    /// A task.
    Task = "task",
    /// A run.
    Run = "run",
    /// An agent.
    Agent = "agent",
    /// A conversation.
    Conversation = "conversation",
}

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sought {
    /// The words; none: what was touched last.
    pub(crate) words: String,
    /// Only these kinds; none: all.
    pub(crate) kinds: Vec<Kind>,
    /// At most so many.
    pub(crate) limit: usize,
    /// Whose runs, conversations and agents; none: everybody's.
    pub(crate) user: Option<String>,
}

/// What was found.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    /// The things, those that fit best first within their kind.
    pub(crate) items: Vec<Item>,
    /// How many there are here.
    pub(crate) total: usize,
    /// What was looked for.
    pub(crate) q: String,
}

/// A thing that was found.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Item {
    /// What it is.
    pub(crate) kind: Kind,
    pub(crate) id: String,
    /// What it is called.
    pub(crate) title: String,
    /// Where it stands.
    pub(crate) state: String,
    /// What tells it from others.
    pub(crate) hint: String,
    /// Its page.
    pub(crate) href: String,
}

/// Finds tasks, runs, agents and conversations.
pub(crate) fn search(
    context: &mut Context,
    agency: Option<&mut SqliteAgency>,
    memory: &mut Memory,
    sought: &Sought,
) -> Result<Found> {
    let words = sought
        .words
        .trim()
        .trim_start_matches(['#', '@', '>'])
        .trim();
    let kinds = match sought.kinds.is_empty() {
        true => Kind::ALL,
        false => sought.kinds.as_slice(),
    };
    let each = if kinds.len() == 1 {
        sought.limit
    } else {
        EACH_MAX.min(sought.limit)
    };
    let (watched, _) = memory.runs(agency, sought.user.as_deref())?;
    let mut items = Vec::new();
    for kind in kinds {
        let mut found = match kind {
            Kind::Task => of_tasks(context, &in_runs(&watched, memory), words, each)?,
            Kind::Run => of_runs(context, memory, words, each, sought.user.as_deref())?,
            Kind::Agent => of_agents(context, words, sought.user.as_deref())?,
            Kind::Conversation => of_conversations(context, words, sought.user.as_deref())?,
        };
        found.truncate(each);
        items.extend(found);
    }
    items.truncate(sought.limit);
    Ok(Found {
        total: items.len(),
        items,
        q: sought.words.clone(),
    })
}

fn short(text: &str) -> String {
    text.chars().take(TITLE_MAX).collect()
}

fn of_tasks(
    context: &mut Context,
    in_runs: &HashMap<TaskId, InLast>,
    words: &str,
    limit: usize,
) -> Result<Vec<Item>> {
    let most = u32::try_from(limit).unwrap_or(u32::MAX);
    let mut found = Vec::new();
    if let Ok(id) = words.parse::<TaskId>() {
        found.extend(context.read(|transaction| transaction.readable(&[id]))?);
    }
    found.extend(match words.is_empty() {
        true => context.read(|transaction| recent(transaction, most))?,
        false => tasks::find(context, words, Archived::Hidden, most)?.tasks,
    });
    found.truncate(limit);
    context.read(|transaction| {
        let items = found.iter().map(|task| {
            let state = state_of(transaction, task, in_runs)?;
            Ok(of_task(task, state))
        });
        items.collect()
    })
}

fn of_task(task: &Task, state: State) -> Item {
    Item {
        kind: Kind::Task,
        href: format!("/work/{}", task.id),
        id: task.id.to_string(),
        title: short(&task.title),
        state: state.word().to_string(),
        hint: [task.priority.to_string(), task.kind.to_string()].join(", "),
    }
}

/// Reads what somebody works on, then what was done last.
fn recent(transaction: &dyn Transaction, limit: u32) -> Result<Vec<Task>> {
    let mut found = Vec::new();
    for status in [
        Status::Active,
        Status::Review,
        Status::Blocked,
        Status::Pending,
        Status::Done,
    ] {
        found.extend(transaction.readable(&transaction.recent(None, status, limit)?)?);
    }
    found.truncate(limit as usize);
    Ok(found)
}

fn of_runs(
    context: &Context,
    memory: &mut Memory,
    words: &str,
    limit: usize,
    user: Option<&str>,
) -> Result<Vec<Item>> {
    let wanted = runs::listing::Wanted {
        user: user.map(String::from),
        words: words.to_string(),
        limit: u32::try_from(limit).unwrap_or(u32::MAX),
        ..Default::default()
    };
    let rows = runs::listing::rows(&context.surroundings, memory, &wanted)?;
    let item = |row: runs::listing::RunRow| Item {
        kind: Kind::Run,
        href: format!("/runs/{}", row.id),
        title: short(&row.title),
        state: row.status.to_string(),
        hint: format!("{}, {}", row.kind, row.started_at),
        id: row.id,
    };
    Ok(rows.runs.into_iter().map(item).collect())
}

fn of_agents(context: &Context, words: &str, user: Option<&str>) -> Result<Vec<Item>> {
    let words = normalize(words);
    let known = agents::known_in(&context.workspace)?.seen_by(user);
    let known = known.agents.into_iter();
    let fits = |agent: &crate::agent::Agent| {
        words.is_empty() || agent.id.contains(&words) || normalize(&agent.name).contains(&words)
    };
    let item = |agent: crate::agent::Agent| Item {
        kind: Kind::Agent,
        href: format!("/agents/manage?agent={}", agent.id),
        title: short(&agent.name),
        state: agent.status.to_string(),
        hint: short(&agent.description),
        id: agent.id,
    };
    Ok(known.filter(fits).map(item).collect())
}

fn of_conversations(context: &Context, words: &str, user: Option<&str>) -> Result<Vec<Item>> {
    let filter = ConversationFilter {
        user: user.map(String::from),
        limit: CONVERSATIONS_MAX,
        ..Default::default()
    };
    let words = normalize(words);
    let listed = match SqliteAgency::open(&context.workspace.agency())? {
        Some(mut agency) => agency.read()?.conversations(&filter)?.conversations,
        None => Vec::new(),
    };
    let listed = listed.into_iter();
    let fits = |one: &crate::run::Conversation| {
        words.is_empty()
            || one
                .title
                .as_deref()
                .is_some_and(|title| normalize(title).contains(&words))
    };
    let item = |one: crate::run::Conversation| Item {
        kind: Kind::Conversation,
        href: format!("/agents/chat/{}", one.id),
        title: short(one.title.as_deref().unwrap_or("Untitled")),
        state: one.status.to_string(),
        hint: format!("{}, {}", one.agent_id, one.last_message_at),
        id: one.id,
    };
    Ok(listed.filter(fits).map(item).collect())
}
