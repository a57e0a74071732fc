//! The plan of a run, for `--dry-run`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::RunEnvironment;
use super::options::Options;
use super::selection::{select_tasks, team};
use super::trees::Trees;
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::proof::check_earlier_work;
use crate::ops::tasks::explain_claim;
use crate::ops::{Context, Surroundings};
use crate::run::Planned;
use crate::store::Outlines;
use crate::task::overlap::{Occupied, patterns};

/// The steps that a run would take.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Rehearsed {
    /// The tasks, in the order in which they would begin were nothing in their way.
    pub(crate) tasks: Vec<Rehearsal>,
    /// How many there are.
    pub(crate) total: usize,
}

/// The plan for a task.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rehearsal {
    #[serde(flatten)]
    pub(crate) task: Planned,
    /// In which wave it could begin at the earliest, from 0; none when it waits for itself.
    pub(crate) wave: Option<usize>,
    /// Tasks that it waits for because they touch the same files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) shares_files: Vec<TaskId>,
    /// The skill; none for an epic, which needs no agent.
    pub(crate) skill: Option<String>,
    pub(crate) runner: Option<String>,
    /// The model, if one is asked for.
    pub(crate) model: Option<String>,
    /// The claim in its way, or the way in which work that is there counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) earlier_work: Option<String>,
}

pub(crate) fn rehearse(
    surroundings: Surroundings,
    options: &Options,
    ambience: &RunEnvironment,
) -> Result<Rehearsed> {
    let mut context = Context::open(surroundings)?;
    let planned = select_tasks(&mut context, &options.request)?;
    let team = team(&mut context, planned, options, ambience)?;
    if options.is_isolated() {
        Trees::require_startable(&context.workspace)?;
    }
    let ids: BTreeSet<TaskId> = team.planned.iter().map(|task| task.task_id).collect();
    let sorted = Vec::from_iter(ids.iter().copied());
    let outlines = context.read(|transaction| transaction.outlines(&sorted))?;
    let (waves, mut shares) = keep_files_apart(team.planned.clone(), &outlines);
    let rows = team
        .planned
        .into_iter()
        .zip(team.steps.iter().zip(team.skills));
    let tasks = rows.map(|(task, (step, skill))| {
        let earlier = check_earlier_work(&mut context, task.task_id, &ids)?;
        let earlier_work = earlier.and_then(|earlier| match earlier.faults.first() {
            None => Some("its work verifies and needs no agent".to_string()),
            Some(_) if earlier.lacks_only_proof() && !options.is_isolated() => {
                Some("its work verifies, and its commands run before an agent".to_string())
            }
            Some(_) => earlier.explain_wait(),
        });
        let held = explain_claim(&mut context, task.task_id)?;
        let worker = team.workers.get(step.runner).filter(|_| skill.is_some());
        Ok(Rehearsal {
            wave: waves.get(&task.task_id).copied(),
            shares_files: shares.remove(&task.task_id).unwrap_or_default(),
            task,
            runner: worker.map(|worker| worker.runner.name().to_string()),
            model: worker.and_then(|worker| worker.model.clone()),
            skill,
            earlier_work: held.or(earlier_work),
        })
    });
    let mut tasks = tasks.collect::<Result<Vec<Rehearsal>>>()?;
    tasks.sort_by_key(|task| task.wave.unwrap_or(usize::MAX));
    Ok(Rehearsed {
        total: tasks.len(),
        tasks,
    })
}

/// Returns the wave of each task, and the tasks that it is claimed after because they touch the same files.
fn keep_files_apart(
    mut planned: Vec<Planned>,
    outlines: &Outlines,
) -> (BTreeMap<TaskId, usize>, BTreeMap<TaskId, Vec<TaskId>>) {
    let mut shares: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    let (mut waves, mut number) = (crate::run::waves(&planned), 0);
    while waves.values().any(|wave| *wave >= number) {
        let (mut occupied, mut is_moved) = (Occupied::default(), false);
        let is_in_wave =
            |task: &&mut Planned| !task.is_epic && waves.get(&task.task_id) == Some(&number);
        for task in planned.iter_mut().filter(is_in_wave) {
            let patterns = patterns(outlines.files(task.task_id));
            let Some(taken) = occupied.conflict(&patterns) else {
                occupied.occupy(task.task_id.0, patterns);
                continue;
            };
            let (other, shared) = (TaskId(taken.owner), shares.entry(task.task_id));
            task.needs.push(other);
            shared.or_default().push(other);
            is_moved = true;
        }
        match is_moved {
            true => waves = crate::run::waves(&planned),
            false => number += 1,
        }
    }
    (waves, shares)
}
