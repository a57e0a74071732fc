//! Agents that were under way when the process of their run ended: nobody listened to them any more, but
//! what they wrote until they were ended is kept, and says what they have used. It counts however the run
//! goes on from there.

use std::path::Path;

use crate::file::read_start;
use crate::run::board::{Board, TaskRun};
use crate::run::told::{Told, kind};
use crate::run::{Outcome, Spent};
use crate::runner::agent;

/// Most bytes of an output that are read; more of none is kept.
const OUTPUT_MAX: u64 = 65 << 20;

pub(super) fn cut_off(folder: &Path, board: &mut Board, at: &str) -> Vec<(&'static str, Told)> {
    let told = board.tasks().iter().filter_map(|task| ended(folder, task));
    let told: Vec<Told> = told.collect();
    for one in &told {
        board.take(kind::AGENT_ENDED, at, one);
    }
    told.into_iter()
        .map(|one| (kind::AGENT_ENDED, one))
        .collect()
}

/// Tells of the end of an agent; nothing where none was under way, or none said what it used.
fn ended(folder: &Path, task: &TaskRun) -> Option<Told> {
    // The group is known from when an agent begins until its end was told.
    task.group.as_ref()?;
    let spent = used(folder, task);
    let is_told = spent.usage.is_some() || spent.cost.is_some();
    is_told.then(|| Told {
        attempt: Some(task.attempts),
        outcome: Some(Outcome::Cancelled),
        usage: spent.usage,
        cost: spent.cost,
        ..Told::of(task.task_id)
    })
}

fn used(folder: &Path, task: &TaskRun) -> Spent {
    let name = format!("{}-{}.out", task.task_id, task.attempts);
    let written = read_start(&folder.join(name), OUTPUT_MAX).unwrap_or_default();
    let runner = task.runner.as_deref().unwrap_or_default();
    agent::used(runner, &written, task.conversed)
}
