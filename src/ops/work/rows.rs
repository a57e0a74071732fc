//! Tasks line by line: counted, filtered and sorted here, so that a page shows a few of many.

use serde::{Deserialize, Serialize};

use super::memory::Memory;
use super::row::{Row, row};
use super::scene::{Counted, Scene};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::score::normalize;
use crate::store::sqlite::SqliteAgency;
use crate::task::graph::Node;
use crate::task::{Priority, State, Status};

/// Which rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowsWanted {
    /// Below this task; none: all.
    pub(crate) epic: Option<TaskId>,
    /// Of these.
    pub(crate) choice: Choice,
    /// At most so many.
    pub(crate) limit: usize,
    /// Without the first so many.
    pub(crate) offset: usize,
}

/// Which tasks, in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Standing at one of these.
    pub(crate) states: Vec<State>,
    /// With one of these statuses.
    pub(crate) statuses: Vec<Status>,
    /// With one of these priorities.
    pub(crate) priorities: Vec<Priority>,
    /// With this in title or id.
    pub(crate) words: String,
    /// By what.
    pub(crate) order: Order,
    /// Which way.
    pub(crate) dir: Dir,
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
    State,
    /// By when they were made.
    Age,
}

/// Which way rows are sorted.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Dir {
    /// The smallest first.
    #[default]
    Asc,
    /// The largest first.
    Desc,
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

/// Reads rows. Of runs only those of a user tell of tasks, or those of everybody.
pub(crate) fn rows(
    context: &mut Context,
    agency: Option<&mut SqliteAgency>,
    memory: &mut Memory,
    user: Option<&str>,
    wanted: &RowsWanted,
) -> Result<RowsShown> {
    let (runs, cursor) = memory.runs(agency, user)?;
    let now = context.now();
    context.read(|transaction| {
        let scene = memory.scene(transaction, wanted.epic, &runs)?;
        let found = list(&scene, &wanted.choice);
        let mut rows = Vec::new();
        for id in found.iter().skip(wanted.offset).take(wanted.limit) {
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

/// Finds the tasks of a choice, in its order.
fn list(scene: &Scene, choice: &Choice) -> Vec<TaskId> {
    let words = normalize(&choice.words);
    let tasks = scene
        .tasks()
        .filter(|node| fits(scene, node, choice, &words));
    let mut found: Vec<&Node> = tasks.collect();
    found.sort_by_cached_key(|node| (key(scene, node, choice.order), node.id));
    if choice.dir == Dir::Desc {
        found.reverse();
    }
    found.iter().map(|node| node.id).collect()
}

fn fits(scene: &Scene, node: &Node, choice: &Choice, words: &str) -> bool {
    scene.is_at(node.id, &choice.states)
        && (choice.statuses.is_empty() || choice.statuses.contains(&node.status))
        && (choice.priorities.is_empty() || choice.priorities.contains(&node.priority))
        && (words.is_empty() || is_named(scene, node.id, words))
}

fn is_named(scene: &Scene, id: TaskId, words: &str) -> bool {
    let title = title(scene, id);
    let id = id.to_string().to_lowercase();
    id == words.trim() || words.split_whitespace().all(|word| title.contains(word))
}

fn title(scene: &Scene, id: TaskId) -> String {
    let outline = scene.outlines.get(id);
    outline.map_or_else(String::new, |outline| normalize(&outline.title))
}

/// What a task is sorted by; of one order only.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Wave(Option<usize>),
    Id,
    Title(String),
    Priority(Priority),
    State(State),
}

fn key(scene: &Scene, node: &Node, order: Order) -> Key {
    match order {
        // Those that wait for themselves first.
        Order::Wave => Key::Wave(scene.layers.of.get(&node.id).copied()),
        // Ids grow, so what was made later has the larger one.
        Order::Id | Order::Age => Key::Id,
        Order::Title => Key::Title(title(scene, node.id)),
        Order::Priority => Key::Priority(node.priority),
        Order::State => Key::State(scene.state(node.id)),
    }
}
