//! The search for tasks, runs, agents and conversations by words.

use serde::{Deserialize, Serialize};

use super::runs;
use super::scene::{find_last_runs, state_of, with_last_runs};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::agents::Lookup;
use crate::ops::{Context, agents, tasks};
use crate::store::records::{ConversationFilter, RunFilter};
use crate::store::{Archived, Transaction};
use crate::task::{Status, Task};

/// Maximum number of things of each kind if the search has several kinds.
const EACH_MAX: u32 = 20;
/// Maximum length of titles and hints, in characters.
const TEXT_MAX: usize = 200;

crate::words::closed! {
    /// A kind of thing to search for.
    Kind, "kind of thing":
    Task = "task",
    Run = "run",
    Agent = "agent",
    Conversation = "conversation",
}

#[derive(Clone, Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SearchQuery {
    /// Words; without any, tasks of the last changes are found.
    pub(crate) q: String,
    /// Only these kinds, between commas: task, run, agent, conversation.
    pub(crate) kinds: Vec<Kind>,
    pub(crate) limit: u32,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct SearchPage {
    /// The things by kind, best matches first.
    pub(crate) items: Vec<Item>,
    /// Number of items.
    pub(crate) total: usize,
    pub(crate) q: String,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Item {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) state: String,
    /// A detail that distinguishes it.
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
pub(crate) fn search(context: &mut Context, query: SearchQuery) -> Result<SearchPage> {
    let words = query.q.trim().trim_start_matches(['#', '@', '>']).trim();
    let (kinds, each) = match query.kinds.as_slice() {
        [] => (Kind::ALL, query.limit.min(EACH_MAX)),
        [only] => (std::slice::from_ref(only), query.limit),
        several => (several, query.limit.min(EACH_MAX)),
    };
    let mut items = Vec::new();
    for kind in kinds {
        let mut found = match kind {
            Kind::Task => find_tasks(context, words, each)?,
            Kind::Run => find_runs(context, words, each)?,
            Kind::Agent => find_agents(context, words)?,
            Kind::Conversation => find_conversations(context, words, each)?,
        };
        found.truncate(each as usize);
        items.append(&mut found);
    }
    items.truncate(query.limit as usize);
    Ok(SearchPage {
        total: items.len(),
        items,
        q: query.q,
    })
}

fn find_tasks(context: &mut Context, words: &str, limit: u32) -> Result<Vec<Item>> {
    let by_id: Vec<TaskId> = words.parse().into_iter().collect();
    let by_words = match words.is_empty() {
        true => context.read(|transaction| read_recent(transaction, limit))?,
        false => tasks::find(context, words, Archived::Hidden, limit)?.tasks,
    };
    with_last_runs(context, |transaction, runs, tracks| {
        let in_runs = find_last_runs(runs, tracks);
        let found = transaction.readable(&by_id)?.into_iter().chain(by_words);
        let items = found.take(limit as usize).map(|task| {
            let state = state_of(transaction, &task, in_runs.get(&task.id))?.word();
            let hint = format!("{}, {}", task.priority, task.kind);
            let id = task.id.to_string();
            Ok(Item::new(Kind::Task, id, &task.title, state, &hint))
        });
        items.collect()
    })
}

/// Reads tasks in progress, then the last changed ones.
fn read_recent(transaction: &dyn Transaction, limit: u32) -> Result<Vec<Task>> {
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
    Ok(found)
}

fn find_runs(context: &mut Context, words: &str, limit: u32) -> Result<Vec<Item>> {
    let filter = RunFilter {
        words: words.to_string(),
        limit,
        ..RunFilter::default()
    };
    let rows = runs::listing::rows(context, filter)?.runs.into_iter();
    let items = rows.map(|row| {
        let (run, title) = (row.record, row.title);
        let hint = format!("{}, {}", run.kind, run.started_at);
        Item::new(Kind::Run, run.id, &title, run.status.word(), &hint)
    });
    Ok(items.collect())
}

fn find_agents(context: &Context, words: &str) -> Result<Vec<Item>> {
    let lookup = Lookup {
        q: Some(words.to_string()),
        ..Lookup::default()
    };
    let known =
        agents::load_in(&context.workspace)?.keep_visible(context.surroundings.visible_user());
    let found = known.agents.into_iter().filter(|agent| lookup.fits(agent));
    let items = found.map(|one| {
        let state = one.status.word();
        Item::new(Kind::Agent, one.id, &one.name, state, &one.description)
    });
    Ok(items.collect())
}

fn find_conversations(context: &mut Context, words: &str, limit: u32) -> Result<Vec<Item>> {
    let filter = ConversationFilter {
        words: words.to_string(),
        limit,
        ..ConversationFilter::default()
    };
    let user = context.visible_user();
    let page = context.read(|transaction| transaction.conversations(user.as_deref(), &filter))?;
    let items = page.conversations.into_iter().map(|one| {
        let hint = format!("{}, {}", one.agent_id, one.last_message_at);
        let title = one.title.as_deref().unwrap_or("Untitled");
        Item::new(Kind::Conversation, one.id, title, one.status.word(), &hint)
    });
    Ok(items.collect())
}
