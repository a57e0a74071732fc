//! The main job on real input, in a folder of its own: tasks, dispatch, prompts, agents, checks.
//! Every step is the `ops` function that the command of that name calls. Only the agents are
//! played, by a script.

mod agent;
mod folder;
mod next;
mod wave;

use std::path::PathBuf;

use serde::Serialize;

use super::{Context, Surroundings, complete, skills, tasks};
use crate::dispatch::Strategy;
use crate::error::{Code, Error, Result};
use crate::file::write_whole;
use crate::id::TaskId;
use crate::workspace::Workspace;
pub(crate) use next::Next;
pub(crate) use wave::{Attempt, Played};

const TASKS: &str = include_str!("../../../examples/demo/tasks.jsonl");
const AGENT: &str = include_str!("../../../examples/demo/agent.sh");

/// Where and with what.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Folder to use; the next free `cleo-demo` when there is none.
    pub(crate) folder: Option<PathBuf>,
    /// The cleo that the agents call.
    pub(crate) program: PathBuf,
    /// True when that cleo is on the PATH.
    pub(crate) installed: bool,
}

/// Everything that happened.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Demo {
    /// The folder, as it can be typed from here.
    pub(crate) folder: String,
    /// Who played the agents: a script.
    pub(crate) agents: &'static str,
    /// What was done, in order.
    pub(crate) steps: Vec<Step>,
    /// What to look at in the folder.
    pub(crate) look: Vec<Next>,
    /// What to type in a project of one's own.
    pub(crate) next: Vec<Next>,
}

/// One step with its results.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "step", rename_all = "camelCase")]
pub(crate) enum Step {
    /// An epic with its tasks was added.
    Tasks {
        /// The epic.
        epic: Line,
        /// Its tasks.
        tasks: Vec<Line>,
    },
    /// A skill was chosen for each task.
    Dispatch {
        /// The choices.
        choices: Vec<Choice>,
    },
    /// The tasks fell into waves.
    Waves {
        /// The waves, each with tasks that can be worked on side by side.
        waves: Vec<Vec<TaskId>>,
    },
    /// A wave was worked on.
    Wave {
        /// Its number, from 0.
        number: usize,
        /// What happened to each of its tasks.
        tasks: Vec<Played>,
    },
    /// The epic was completed.
    Done {
        /// The epic.
        epic: TaskId,
        /// How many tasks are done, the epic included.
        done: usize,
    },
}

/// A task in a line.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Line {
    pub(crate) id: TaskId,
    pub(crate) title: String,
}

/// The skill for a task, and why.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Choice {
    pub(crate) task_id: TaskId,
    pub(crate) skill: String,
    pub(crate) strategy: Strategy,
    pub(crate) reason: String,
}

/// Runs the demo. It leaves nothing behind but its folder.
pub(crate) fn demo(surroundings: &Surroundings, options: &Options) -> Result<Demo> {
    let (shown, folder) = folder::make(&surroundings.directory, options.folder.as_deref())?;
    let mut context = open(surroundings, folder)?;
    let (epic, tasks) = add(&mut context)?;
    let ids: Vec<TaskId> = tasks.iter().map(|task| task.id).collect();
    let mut steps = vec![
        Step::Tasks {
            epic: epic.clone(),
            tasks,
        },
        dispatch(&mut context, &ids)?,
        waves(&mut context, epic.id)?,
    ];
    steps.extend(wave::play_all(&mut context, &options.program, epic.id)?);
    steps.push(finish(&mut context, epic.id, ids.len())?);
    Ok(Demo {
        look: next::here(&shown, options.installed),
        next: next::project(),
        folder: shown,
        agents: "script",
        steps,
    })
}

/// Opens a new workspace in the folder. Skills of the user's own stay out of it, so that the demo
/// is the same everywhere.
fn open(surroundings: &Surroundings, folder: PathBuf) -> Result<Context> {
    Workspace::create(&folder)?;
    write_whole(&folder.join("tasks.jsonl"), TASKS)?;
    write_whole(&folder.join("agent.sh"), AGENT)?;
    Context::open(Surroundings {
        assignment: Default::default(),
        command: "demo",
        root: Some(folder.clone()),
        directory: folder,
        skills_dirs: Vec::new(),
        home: None,
        data_home: None,
        ..surroundings.clone()
    })
}

fn add(context: &mut Context) -> Result<(Line, Vec<Line>)> {
    let drafts = tasks::read_batch(TASKS.as_bytes(), None)?;
    let mut lines = tasks::add(context, drafts)?.into_iter().map(|added| Line {
        id: added.task.id,
        title: added.task.title,
    });
    let epic = lines.next();
    let epic = epic.ok_or_else(|| Error::new(Code::Internal, "the demo has no tasks"))?;
    Ok((epic, lines.collect()))
}

fn dispatch(context: &mut Context, ids: &[TaskId]) -> Result<Step> {
    let mut choices = Vec::new();
    for id in ids {
        let (decision, _) = skills::dispatch_task(context, *id, None, false)?;
        choices.push(Choice {
            task_id: *id,
            skill: decision.skill,
            strategy: decision.strategy,
            reason: decision.reason,
        });
    }
    Ok(Step::Dispatch { choices })
}

fn waves(context: &mut Context, epic: TaskId) -> Result<Step> {
    let waves = tasks::waves(context, Some(epic), None)?.waves;
    let ids = waves
        .iter()
        .map(|wave| wave.iter().map(|task| task.id).collect());
    Ok(Step::Waves {
        waves: ids.collect(),
    })
}

fn finish(context: &mut Context, epic: TaskId, below: usize) -> Result<Step> {
    complete::complete(context, epic, None, false)?;
    Ok(Step::Done {
        epic,
        done: below + 1,
    })
}
