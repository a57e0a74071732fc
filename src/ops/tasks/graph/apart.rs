//! Waves, and ready tasks that can be worked on in parallel.

use std::collections::HashSet;

use serde::Serialize;

use super::{load, make_views};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::tasks::Extract;
use crate::ops::tasks::read::warn_of_problems;
use crate::store::Transaction;
use crate::task::graph::{Conflict, Problem};
use crate::task::overlap::{Occupied, patterns};
use crate::task::{Status, TaskView};

/// Maximum number of tasks in progress whose files are compared.
const WORKING_MAX: u32 = 1_000;
/// Maximum number of files that a sentence names.
const FILES_TOLD: usize = 3;

/// Ready tasks that share no files, and those that conflict with others.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    /// Tasks that can be given out at once, most urgent first.
    pub(crate) tasks: Vec<TaskId>,
    /// Tasks that cannot, each with the task that has its files.
    pub(crate) conflicts: Vec<Conflict>,
}

/// Chooses from ready tasks, most urgent first, at most `limit` that touch neither the files of
/// each other nor those of a task in progress at `now` (RFC 3339 in UTC).
pub(crate) fn select_independent(
    transaction: &dyn Transaction,
    ready: &[TaskId],
    limit: usize,
    now: &str,
) -> Result<Apart> {
    let working = list_in_progress(transaction, now)?;
    select_independent_of(transaction, &working, ready, limit)
}

/// Reads the tasks in progress: active ones, and those that somebody holds.
pub(super) fn list_in_progress(transaction: &dyn Transaction, now: &str) -> Result<Vec<TaskId>> {
    let mut working = transaction.recent(None, Status::Active, WORKING_MAX)?;
    let mut known: HashSet<TaskId> = working.iter().copied().collect();
    let held = transaction.running_claims(now, WORKING_MAX)?;
    let held = held.into_iter().map(|claim| claim.task);
    working.extend(held.filter(|id| known.insert(*id)));
    Ok(working)
}

/// Chooses as [`select_independent`] does, beside these tasks in progress.
pub(super) fn select_independent_of(
    transaction: &dyn Transaction,
    working: &[TaskId],
    ready: &[TaskId],
    limit: usize,
) -> Result<Apart> {
    let mut all: Vec<TaskId> = working.iter().chain(ready).copied().collect();
    all.sort_unstable();
    let outlines = transaction.outlines(&all)?;
    let mut occupied = Occupied::default();
    for id in working {
        occupied.occupy(id.0, patterns(outlines.files(*id)));
    }
    let mut chosen = Apart::default();
    for id in ready {
        if chosen.tasks.len() == limit {
            break;
        }
        let files = outlines.files(*id);
        let own = patterns(files);
        if let Some(taken) = occupied.conflict(&own) {
            chosen.conflicts.push(Conflict {
                task: *id,
                conflicts_with: TaskId(taken.owner),
                files: taken.texts.iter().map(|at| files[*at].clone()).collect(),
            });
        } else {
            occupied.occupy(id.0, own);
            chosen.tasks.push(*id);
        }
    }
    Ok(chosen)
}

pub(crate) fn describe_conflict(conflict: &Conflict) -> String {
    let (task, other) = (conflict.task, conflict.conflicts_with);
    let files = &conflict.files[..conflict.files.len().min(FILES_TOLD)];
    let more = match conflict.files.len() - files.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let files = files.join(", ");
    format!("{task} touches files that {other} works on: {files}{more}")
}

/// Open tasks in waves; the tasks of a wave can be worked on at the same time.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Waves {
    /// The waves in order, at most as many as asked for.
    pub(crate) waves: Vec<Vec<TaskView>>,
    pub(crate) total: usize,
    /// Tasks that come a wave later because they touch the same files as another.
    pub(crate) conflicts: Vec<Conflict>,
    /// Tasks that no wave ever reaches.
    pub(crate) stuck: Vec<TaskView>,
    /// Tasks that wait for open tasks outside.
    pub(crate) outside: Vec<Outside>,
    /// Why tasks can never start.
    pub(crate) problems: Vec<Problem>,
}

/// A task that waits for tasks outside of what was asked for.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outside {
    pub(crate) task: TaskId,
    pub(crate) waits_for: Vec<TaskId>,
}

/// Reads the waves below an epic, or of the whole workspace, and warns of what can never start.
pub(crate) fn waves(context: &mut Context, part: Extract) -> Result<Waves> {
    let found = find_waves(context, part.epic, part.limit)?;
    warn_of_problems(context, &found.problems);
    Ok(found)
}

/// Reads the waves below `epic`, or of the whole workspace, at most `limit`.
pub(crate) fn find_waves(
    context: &mut Context,
    epic: Option<TaskId>,
    limit: Option<u32>,
) -> Result<Waves> {
    context.read(|tasks| {
        let graph = load(tasks, epic)?;
        let outlines = tasks.outlines(&graph.ids())?;
        let found = graph.waves(|id| outlines.files(id));
        let shown = found.waves.iter();
        let shown = shown.take(limit.map_or(usize::MAX, |n| n as usize));
        let outside = graph.waiting_outside().into_iter();
        let outside = outside.map(|(task, waits_for)| Outside { task, waits_for });
        Ok(Waves {
            waves: shown
                .map(|wave| make_views(&graph, &outlines, wave))
                .collect(),
            total: found.waves.len(),
            conflicts: found.conflicts,
            stuck: make_views(&graph, &outlines, &found.stuck),
            outside: outside.collect(),
            problems: graph.problems(),
        })
    })
}
