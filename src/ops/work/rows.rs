//! Tasks line by line: counted, filtered and sorted here, so that a page shows a few of many.

use std::cmp::Ordering;

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

/// Which rows, in which order.
#[derive(Clone, Debug, Default)]
pub struct RowsWanted {
    /// Below this task; none: all.
    pub epic: Option<TaskId>,
    /// Standing at one of these.
    pub states: Vec<State>,
    /// With one of these statuses.
    pub statuses: Vec<Status>,
    /// With one of these priorities.
    pub priorities: Vec<Priority>,
    /// With this in title or id.
    pub words: String,
    /// By what.
    pub order: Order,
    /// Which way.
    pub dir: Dir,
    /// At most so many.
    pub limit: usize,
    /// Without the first so many.
    pub offset: usize,
}

/// By what rows are sorted; what is equal, by id.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Order {
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
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Dir {
    /// The smallest first.
    #[default]
    Asc,
    /// The largest first.
    Desc,
}

/// Rows, and how many tasks there are.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct RowsShown {
    /// The rows.
    pub rows: Vec<Row>,
    /// How many fit in all.
    pub total: usize,
    /// How many stand where, whatever is asked for.
    pub counts: Counted,
    /// Changes when any of it does.
    pub version: String,
}

/// Reads rows. Of runs only those of a user tell of tasks, or those of everybody.
pub fn rows(
    context: &mut Context,
    agency: Option<&mut SqliteAgency>,
    memory: &mut Memory,
    user: Option<&str>,
    wanted: &RowsWanted,
) -> Result<RowsShown> {
    let (runs, cursor) = memory.runs(agency, user)?;
    let now = context.now();
    context.read(|transaction| {
        let scene = Scene::read(transaction, wanted.epic, &runs, memory)?;
        let words = normalize(&wanted.words);
        let mut found: Vec<&Node> = scene
            .tasks()
            .filter(|node| fits(&scene, node, wanted, &words))
            .collect();
        found.sort_by(|a, b| compared(&scene, a, b, wanted));
        let mut rows = Vec::new();
        for node in found.iter().skip(wanted.offset).take(wanted.limit) {
            rows.extend(row(transaction, &scene, node.id, &now)?);
        }
        Ok(RowsShown {
            total: found.len(),
            rows,
            counts: scene.counted(scene.tasks()),
            version: format!("{}-{cursor}", transaction.last_cursor()?),
        })
    })
}

fn fits(scene: &Scene<'_>, node: &Node, wanted: &RowsWanted, words: &str) -> bool {
    let one_of = |is_free: bool, fits: bool| is_free || fits;
    let state = scene.state(node.id);
    one_of(wanted.states.is_empty(), wanted.states.contains(&state))
        && one_of(
            wanted.statuses.is_empty(),
            wanted.statuses.contains(&node.status),
        )
        && one_of(
            wanted.priorities.is_empty(),
            wanted.priorities.contains(&node.priority),
        )
        && one_of(words.is_empty(), is_named(scene, node.id, words))
}

fn is_named(scene: &Scene<'_>, id: TaskId, words: &str) -> bool {
    let title = scene
        .outlines
        .get(id)
        .map(|outline| normalize(&outline.title));
    let title = title.unwrap_or_default();
    let id = id.to_string().to_lowercase();
    id == words.trim() || words.split_whitespace().all(|word| title.contains(word))
}

fn compared(scene: &Scene<'_>, a: &Node, b: &Node, wanted: &RowsWanted) -> Ordering {
    let wave = |node: &Node| {
        let layer = scene.layers.of.get(&node.id);
        layer.map_or(0, |layer| layer + 1)
    };
    let title = |node: &Node| {
        let outline = scene.outlines.get(node.id);
        outline
            .map(|outline| normalize(&outline.title))
            .unwrap_or_default()
    };
    let order = match wanted.order {
        Order::Wave => wave(a).cmp(&wave(b)),
        // Ids grow, so what was made later has the larger one.
        Order::Id | Order::Age => Ordering::Equal,
        Order::Title => title(a).cmp(&title(b)),
        Order::Priority => a.priority.cmp(&b.priority),
        Order::State => scene.state(a.id).cmp(&scene.state(b.id)),
    };
    let order = order.then(a.id.cmp(&b.id));
    match wanted.dir {
        Dir::Asc => order,
        Dir::Desc => order.reverse(),
    }
}
