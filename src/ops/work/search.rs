//! Finding things by words, of every kind at once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::memory::lock;
use super::scene::{in_runs, state_of};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::{Context, agents, runs, tasks};
use crate::run::view::RunRow;
use crate::score::normalize;
use crate::store::agency::{Agency, ConversationFilter, RunFilter};
use crate::store::{Archived, Transaction};
use crate::task::{State, Status, Task};

/// How many conversations are looked through.
const CONVERSATIONS_MAX: u32 = 200;
/// Most of each kind that are found when several kinds are looked for.
const EACH_MAX: u32 = 20;
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
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SearchQuery {
    /// The words; none: what was touched last.
    pub(crate) q: String,
    /// Only these kinds, between commas: task, run, agent, conversation.
    pub(crate) kinds: Vec<Kind>,
    pub(crate) limit: u32,
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

/// Finds tasks, and the runs, agents and conversations that the caller sees.
pub(crate) fn search(context: &mut Context, query: SearchQuery) -> Result<Found> {
    let words = query.q.trim().trim_start_matches(['#', '@', '>']).trim();
    let (kinds, each) = match query.kinds.as_slice() {
        [] => (Kind::ALL, query.limit.min(EACH_MAX)),
        [only] => (std::slice::from_ref(only), query.limit),
        several => (several, query.limit.min(EACH_MAX)),
    };
    let mut items = Vec::new();
    for kind in kinds {
        let found = match kind {
            Kind::Task => find_tasks(context, words, each)?,
            Kind::Run => find_runs(context, words, each)?,
            Kind::Agent => find_agents(context, words)?,
            Kind::Conversation => find_conversations(context, words)?,
        };
        items.extend(found.into_iter().take(each as usize));
    }
    items.truncate(query.limit as usize);
    Ok(Found {
        total: items.len(),
        items,
        q: query.q,
    })
}

fn short(text: &str) -> String {
    text.chars().take(TITLE_MAX).collect()
}

fn find_tasks(context: &mut Context, words: &str, limit: u32) -> Result<Vec<Item>> {
    let in_runs = {
        let memory = Arc::clone(&context.memory);
        let mut memory = lock(&memory);
        let (runs, _) = memory.runs(context)?;
        in_runs(&runs, &memory)
    };
    let mut found = Vec::new();
    if let Ok(id) = words.parse::<TaskId>() {
        found.extend(context.read(|transaction| transaction.readable(&[id]))?);
    }
    found.extend(match words.is_empty() {
        true => context.read(|transaction| recent(transaction, limit))?,
        false => tasks::find(context, words, Archived::Hidden, limit)?.tasks,
    });
    found.truncate(limit as usize);
    context.read(|transaction| {
        let items = found.iter().map(|task| {
            let state = state_of(transaction, task, &in_runs)?;
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

fn find_runs(context: &mut Context, words: &str, limit: u32) -> Result<Vec<Item>> {
    let query = RunFilter {
        words: words.to_string(),
        limit,
        ..Default::default()
    };
    let rows = runs::listing::rows(context, query)?;
    let item = |row: RunRow| Item {
        kind: Kind::Run,
        href: format!("/runs/{}", row.record.id),
        title: short(&row.title),
        state: row.record.status.to_string(),
        hint: format!("{}, {}", row.record.kind, row.record.started_at),
        id: row.record.id,
    };
    Ok(rows.runs.into_iter().map(item).collect())
}

fn find_agents(context: &Context, words: &str) -> Result<Vec<Item>> {
    let words = normalize(words);
    let known = agents::known_in(&context.workspace)?
        .keep_visible(context.surroundings.rights.user.as_deref());
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

fn find_conversations(context: &mut Context, words: &str) -> Result<Vec<Item>> {
    let filter = ConversationFilter {
        user: context.surroundings.rights.user.clone(),
        limit: CONVERSATIONS_MAX,
        ..Default::default()
    };
    let words = normalize(words);
    let listed = match context.agency()? {
        Some(agency) => agency.read()?.conversations(&filter)?.conversations,
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
