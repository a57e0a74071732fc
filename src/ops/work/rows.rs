//! Tasks on one line each, for lists, boards and graphs; filtered and sorted here, so that a page reads a few of many.

use serde::{Deserialize, Serialize};

use super::scene::{Scene, StateCounts, View, find_failed_gate, with_scene};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::proof::GateState;
use crate::ops::tasks::HeldClaim;
use crate::run::StepState;
use crate::score::normalize;
use crate::store::records::Dir;
use crate::task::graph::Node;
use crate::task::{DisplayStatus, Status, Task, TaskType, TaskView};

/// Maximum number of dependencies in a row.
const WAITS_MAX: usize = 8;
/// Maximum length of a note, in characters.
const NOTE_MAX: usize = 300;

/// Filter and order of tasks.
#[derive(Clone, Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct RowsQuery {
    /// Only tasks below this one.
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

/// The order of rows; equal ones by id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Order {
    #[default]
    Wave,
    Id,
    Title,
    Priority,
    DisplayStatus,
    /// By creation time.
    Age,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct RowPage {
    pub(crate) rows: Vec<Row>,
    /// Number of tasks that match.
    pub(crate) total: usize,
    /// Number of tasks by state, before filtering.
    pub(crate) counts: StateCounts,
    /// Changes when any of it does.
    pub(crate) version: String,
}

/// A task on one line.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) task: TaskView,
    #[serde(flatten)]
    pub(crate) standing: Standing,
    /// The kind of work.
    #[serde(rename = "type")]
    pub(crate) kind: TaskType,
    /// The skill of its last prompt.
    pub(crate) skill: Option<String>,
    /// Its six gates in order, as they were set, without a look at files; none if none was set.
    pub(crate) gates: Option<Vec<GateState>>,
    /// The runner of its last agent.
    pub(crate) runner: Option<String>,
    /// Number of attempts in the last run that had it.
    pub(crate) attempt: Option<u32>,
    /// The reason of a failure, or the progress of its agent.
    pub(crate) note: Option<String>,
    /// Some of the open tasks that it depends on.
    pub(crate) waits_for: Vec<TaskId>,
    pub(crate) updated_at: String,
}

/// The place of a task among others.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Standing {
    pub(crate) state: DisplayStatus,
    /// Whether it is done and verified by cleo.
    pub(crate) verified: bool,
    /// Whether a run works on it, and not only its status says so.
    pub(crate) live: bool,
    /// Its wave, from 0; none for groups and in a circle.
    pub(crate) wave: Option<usize>,
    /// Whether it is on the critical path.
    pub(crate) critical: bool,
    pub(crate) claim: Option<HeldClaim>,
}

/// Lists tasks, joined with the runs that the caller sees.
pub(crate) fn rows(context: &mut Context, query: RowsQuery) -> Result<RowPage> {
    with_scene(
        context,
        |_| Ok(query.epic),
        |view| {
            let found = list(&view.scene, &query);
            let shown = found.iter().skip(query.offset as usize);
            let mut rows = Vec::new();
            for id in shown.take(query.limit as usize) {
                rows.extend(view.read_row(*id)?);
            }
            Ok(RowPage {
                total: found.len(),
                rows,
                counts: view.scene.counts.clone(),
                version: view.version.clone(),
            })
        },
    )
}

/// Finds the tasks of a query, in its order.
fn list(scene: &Scene, query: &RowsQuery) -> Vec<TaskId> {
    let words = normalize(&query.q);
    let title = |id| {
        let outline = scene.outlines.get(id);
        outline.map_or_else(String::new, |outline| normalize(&outline.title))
    };
    let has_words = |node: &Node| {
        let title = title(node.id);
        node.id.to_string().to_lowercase() == words.trim()
            || words.split_whitespace().all(|word| title.contains(word))
    };
    let found = scene
        .tasks()
        .filter(|node| scene.is_at(node.id, &query.state) && (words.is_empty() || has_words(node)));
    let mut found: Vec<&Node> = found.collect();
    match query.sort {
        // Tasks in a circle have no layer and come first.
        Order::Wave => found.sort_by_key(|node| (scene.layers.of.get(&node.id), node.id)),
        // Later tasks have larger ids.
        Order::Id | Order::Age => found.sort_by_key(|node| node.id),
        Order::Title => found.sort_by_cached_key(|node| (title(node.id), node.id)),
        Order::Priority => found.sort_by_key(|node| (node.priority, node.id)),
        Order::DisplayStatus => found.sort_by_key(|node| (scene.state(node.id), node.id)),
    }
    if query.dir == Dir::Desc {
        found.reverse();
    }
    found.iter().map(|node| node.id).collect()
}

impl View<'_> {
    pub(super) fn read_standing(&self, task: &Task) -> Result<Standing> {
        let (id, scene) = (task.id, &self.scene);
        let claim = self.transaction.claim(id)?;
        Ok(Standing {
            state: scene.state_around(self.transaction, task)?,
            verified: scene.verified.contains(&id),
            live: (scene.in_runs.get(&id)).is_some_and(|task| task.state.is_under_way()),
            wave: scene.layers.of.get(&id).copied(),
            critical: scene.critical.contains(&id),
            claim: claim.and_then(|claim| HeldClaim::new(claim, &self.now)),
        })
    }

    /// Reads the row of a task of the scene; none of a damaged one.
    pub(super) fn read_row(&self, id: TaskId) -> Result<Option<Row>> {
        let Some(task) = self.transaction.readable(&[id])?.pop() else {
            return Ok(None);
        };
        let gates = self.scene.gates.get(&id);
        let in_run = self.scene.in_runs.get(&id);
        let skill = match in_run.and_then(|task| task.setup.skill.clone()) {
            Some(skill) => Some(skill),
            None => {
                let spawn = self.transaction.latest_spawn_to_show(id)?;
                spawn.and_then(|spawn| spawn.receipt["skill"].as_str().map(String::from))
            }
        };
        Ok(Some(Row {
            standing: self.read_standing(&task)?,
            skill,
            note: describe_state(&self.scene, &task),
            gates: gates.and_then(|gates| GateState::all(gates, &[])),
            runner: in_run.and_then(|task| task.setup.runner.clone()),
            attempt: in_run.map(|task| task.attempts).filter(|n| *n > 0),
            waits_for: waits_for(&self.scene, &task),
            kind: task.kind.clone(),
            updated_at: task.updated_at.clone(),
            task: task.into(),
        }))
    }
}

fn describe_state(scene: &Scene, task: &Task) -> Option<String> {
    let last = scene.in_runs.get(&task.id);
    let text = match scene.state(task.id) {
        DisplayStatus::Failed => last
            .filter(|last| last.state == StepState::Failed)
            .and_then(|last| last.reason.clone())
            .or_else(|| {
                let gate = find_failed_gate(scene.gates.get(&task.id)?)?;
                Some(format!("{gate} failed"))
            }),
        DisplayStatus::Running => last
            .filter(|last| last.state.is_under_way())
            .and_then(|last| last.doing.clone()),
        DisplayStatus::NeedsYou => task.notes.last().map(|note| note.text.clone()),
        _ => None,
    };
    text.map(|text| text.chars().take(NOTE_MAX).collect())
}

fn waits_for(scene: &Scene, task: &Task) -> Vec<TaskId> {
    let is_open = |need: &TaskId| {
        let node = scene.graph.node(*need);
        node.is_none_or(|node| node.status != Status::Done)
    };
    let open = task.depends.iter().copied().filter(is_open);
    open.take(WAITS_MAX).collect()
}
