//! What a run would do, without doing it.

use serde::Serialize;

use super::options::Options;
use super::trees::Trees;
use super::{Ambience, selection};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::{Context, Surroundings};

/// What a run would do.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Rehearsed {
    /// The tasks, in the order in which they would begin were nothing in their way.
    pub(crate) tasks: Vec<Rehearsal>,
    /// How many there are.
    pub(crate) total: usize,
}

/// What would become of a task.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rehearsal {
    /// The task.
    pub(crate) task_id: TaskId,
    /// Its title.
    pub(crate) title: String,
    /// In which wave it could begin at the earliest, from 0; none when it waits for itself.
    pub(crate) wave: Option<usize>,
    /// The tasks of the run that come before it.
    pub(crate) needs: Vec<TaskId>,
    /// The skill; none of an epic, on which nobody works.
    pub(crate) skill: Option<String>,
    /// The runner.
    pub(crate) runner: Option<String>,
    /// The model, if one is asked for.
    pub(crate) model: Option<String>,
}

pub(crate) fn rehearse(
    surroundings: Surroundings,
    options: &Options,
    ambience: &Ambience,
) -> Result<Rehearsed> {
    let mut context = Context::open(surroundings)?;
    let planned = selection::plan(&mut context, &options.selection)?;
    let team = selection::team(&mut context, &planned, options, ambience)?;
    if options.isolate {
        Trees::require_startable(&context.workspace)?;
    }
    let waves = crate::run::told::waves(&planned);
    let rows = planned.into_iter().zip(team.steps.iter().zip(team.skills));
    let tasks = rows.map(|(task, (step, skill))| {
        let worker = team.workers.get(step.runner).filter(|_| skill.is_some());
        Rehearsal {
            wave: waves.get(&task.task_id).copied(),
            task_id: task.task_id,
            title: task.title,
            needs: task.needs,
            runner: worker.map(|worker| worker.runner.name().to_string()),
            model: worker.and_then(|worker| worker.model.clone()),
            skill,
        }
    });
    let mut tasks: Vec<Rehearsal> = tasks.collect();
    tasks.sort_by_key(|task| task.wave.unwrap_or(usize::MAX));
    Ok(Rehearsed {
        total: tasks.len(),
        tasks,
    })
}
