//! Finding things by words, of every kind at once.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::memory::lock;
use super::runs;
use super::scene::{in_runs, state_of};
use crate::agent::Agent;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::agents::Lookup;
use crate::ops::{Context, agents, tasks};
use crate::run::Conversation;
use crate::run::view::RunRow;
use crate::store::records::{ConversationFilter, RunFilter};
use crate::store::{Archived, Transaction};
use crate::task::{Status, Task};

/// Most of each kind that are found when several kinds are looked for.
const EACH_MAX: u32 = 20;
/// Longest title and hint, in characters.
const TEXT_MAX: usize = 200;

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

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    /// The things, those that fit best first within their kind.
    pub(crate) items: Vec<Item>,
    /// How many there are here.
    pub(crate) total: usize,
    pub(crate) q: String,
}

/// A thing that was found.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) state: String,
    /// What tells it from others.
    pub(crate) hint: String,
    pub(crate) href: String,
}

impl Item {
    fn new(kind: Kind, id: String, title: &str, state: &str, hint: &str) -> Item {
        let short = |text: &str| text.chars().take(TEXT_MAX).collect();
        let page = match kind {
            Kind::Task => "/work/",
            Kind::Run => "/runs/",
            Kind::Agent => "/agents/manage?agent=",
            Kind::Conversation => "/agents/chat/",
        };
        Item {
            kind,
            href: format!("{page}{id}"),
            id,
            title: short(title),
            state: state.to_string(),
            hint: short(hint),
        }
    }
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
            Kind::Conversation => find_conversations(context, words, each)?,
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
            let state = state_of(transaction, task, &in_runs)?.word();
            let (id, hint) = (
                task.id.to_string(),
                format!("{}, {}", task.priority, task.kind),
            );
            Ok(Item::new(Kind::Task, id, &task.title, state, &hint))
        });
        items.collect()
    })
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
    let rows = runs::listing::rows(context, query)?.runs.into_iter();
    let item = |RunRow { record, title, .. }| {
        let hint = format!("{}, {}", record.kind, record.started_at);
        Item::new(Kind::Run, record.id, &title, record.status.word(), &hint)
    };
    Ok(rows.map(item).collect())
}

fn find_agents(context: &Context, words: &str) -> Result<Vec<Item>> {
    let wanted = Lookup {
        q: Some(words.to_string()),
        ..Default::default()
    };
    let known = agents::load_in(&context.workspace)?.keep_visible(context.surroundings.only());
    let found = known.agents.into_iter().filter(|agent| wanted.fits(agent));
    let item = |one: Agent| {
        let Agent {
            name, description, ..
        } = &one;
        Item::new(
            Kind::Agent,
            one.id.clone(),
            name,
            one.status.word(),
            description,
        )
    };
    Ok(found.map(item).collect())
}

fn find_conversations(context: &mut Context, words: &str, limit: u32) -> Result<Vec<Item>> {
    let filter = ConversationFilter {
        words: words.to_string(),
        limit,
        ..Default::default()
    };
    let user = context.surroundings.rights.user.clone();
    let page = context.read(|transaction| transaction.conversations(user.as_deref(), &filter))?;
    let item = |one: Conversation| {
        let hint = format!("{}, {}", one.agent_id, one.last_message_at);
        let title = one.title.as_deref().unwrap_or("Untitled");
        Item::new(Kind::Conversation, one.id, title, one.status.word(), &hint)
    };
    Ok(page.conversations.into_iter().map(item).collect())
}
