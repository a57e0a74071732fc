//! Tasks line by line: counted, filtered and sorted here, so that a page shows a few of many.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::memory::lock;
use super::row::{Row, row};
use super::scene::{Counted, Scene};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::score::normalize;
use crate::store::records::Dir;
use crate::task::DisplayStatus;
use crate::task::graph::Node;

/// Which tasks, in which order.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RowsQuery {
    /// Only what is below this task.
    pub(crate) epic: Option<TaskId>,
    /// Only tasks in one of these states, between commas.
    pub(crate) state: Vec<DisplayStatus>,
    /// Words to look for in title and id.
    pub(crate) q: String,
    pub(crate) sort: Order,
    pub(crate) dir: Dir,
    pub(crate) limit: u32,
    pub(crate) offset: u32,
}

/// By what rows are sorted; what is equal, by id.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Order {
    /// By wave.
    #[default]
    Wave,
    /// By id.
    Id,
    /// By title.
    Title,
    /// By priority.
    Priority,
    /// By where they stand.
    DisplayStatus,
    /// By when they were made.
    Age,
}

/// Rows, and how many tasks there are.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct RowsShown {
    pub(crate) rows: Vec<Row>,
    /// How many fit in all.
    pub(crate) total: usize,
    /// How many stand where, whatever is asked for.
    pub(crate) counts: Counted,
    /// Changes when any of it does.
    pub(crate) version: String,
}

/// Lists tasks. Of runs only those that the caller sees tell of them.
pub(crate) fn rows(context: &mut Context, query: RowsQuery) -> Result<RowsShown> {
    let memory = Arc::clone(&context.memory);
    let mut memory = lock(&memory);
    let (runs, cursor) = memory.runs(context)?;
    let now = context.now();
    context.read(|transaction| {
        let scene = memory.scene(transaction, query.epic, &runs)?;
        let found = list(&scene, &query);
        let shown = found.iter().skip(query.offset as usize);
        let mut rows = Vec::new();
        for id in shown.take(query.limit as usize) {
            rows.extend(row(transaction, &scene, *id, &now)?);
        }
        Ok(RowsShown {
            total: found.len(),
            rows,
            counts: scene.counts.clone(),
            version: format!("{}-{cursor}", transaction.last_cursor()?),
        })
    })
}

/// Finds the tasks that are asked for, in their order.
fn list(scene: &Scene, choice: &RowsQuery) -> Vec<TaskId> {
    let words = normalize(&choice.q);
    let is_named = |node: &&Node| {
        let (id, title) = (node.id.to_string().to_lowercase(), title(scene, node.id));
        id == words.trim() || words.split_whitespace().all(|word| title.contains(word))
    };
    let at = scene
        .tasks()
        .filter(|node| scene.is_at(node.id, &choice.state));
    let mut found: Vec<&Node> = at
        .filter(|node| words.is_empty() || is_named(node))
        .collect();
    match choice.sort {
        // Those that wait for themselves first.
        Order::Wave => found.sort_by_key(|node| (scene.layers.of.get(&node.id), node.id)),
        // Ids grow, so what was made later has the larger one.
        Order::Id | Order::Age => found.sort_by_key(|node| node.id),
        Order::Title => found.sort_by_cached_key(|node| (title(scene, node.id), node.id)),
        Order::Priority => found.sort_by_key(|node| (node.priority, node.id)),
        Order::DisplayStatus => found.sort_by_key(|node| (scene.state(node.id), node.id)),
    }
    if choice.dir == Dir::Desc {
        found.reverse();
    }
    found.iter().map(|node| node.id).collect()
}

fn title(scene: &Scene, id: TaskId) -> String {
    let outline = scene.outlines.get(id);
    outline.map_or_else(String::new, |outline| normalize(&outline.title))
}
