//! What the events of a run over tasks tell, of which kinds they are, and the tasks as they are planned.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Detail, Outcome, Usage};
use crate::id::TaskId;

/// Kinds of events of a run over tasks.
pub mod kind {
    /// The run began; tells its tasks, in order.
    pub const RUN_STARTED: &str = "run.started";
    /// It goes on after its process ended.
    pub const RUN_RESUMED: &str = "run.resumed";
    /// Somebody asks for its end.
    pub const RUN_CANCEL: &str = "run.cancel";
    /// It is being ended before all is done.
    pub const RUN_STOPPING: &str = "run.stopping";
    /// Its process is gone, and somebody has noticed.
    pub const RUN_LEFT: &str = "error";
    /// A task is claimed and its prompt is ready: an agent is about to be started.
    pub const TASK_STARTED: &str = "task.started";
    /// An agent runs.
    pub const AGENT_STARTED: &str = "agent.started";
    /// It is in a conversation that can be gone on with.
    pub const AGENT_CONVERSATION: &str = "agent.conversation";
    /// It does something.
    pub const AGENT_DOING: &str = "agent.doing";
    /// It ended.
    pub const AGENT_ENDED: &str = "agent.ended";
    /// The commands of a task were run.
    pub const TASK_CHECKED: &str = "task.checked";
    /// A task does not verify.
    pub const TASK_LACKING: &str = "task.lacking";
    /// A task waits before it is tried again.
    pub const TASK_WAITING: &str = "task.waiting";
    /// The work on a task was brought from its worktree into the workspace.
    pub const TASK_MERGED: &str = "task.merged";
    /// Something of a task stays outside of the workspace: its worktree, an output that somebody else has
    /// changed too, or a branch that is not merged.
    pub const TASK_KEPT: &str = "task.kept";
    /// A task verified and is done.
    pub const TASK_COMPLETED: &str = "task.completed";
    /// A task failed and was given back.
    pub const TASK_FAILED: &str = "task.failed";
    /// A task was not begun.
    pub const TASK_SKIPPED: &str = "task.skipped";
}

/// What an event of a run over tasks tells; each kind tells a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Told {
    /// The task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Which try of it, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Epoch of the claim under which it is worked on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u32>,
    /// The skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The runner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// Id of the manifest entry that is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest_id: Option<String>,
    /// The output file that is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_file: Option<String>,
    /// The criteria that count: those that the task had when it was claimed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acceptance: Vec<String>,
    /// True when the try goes on with an earlier conversation; false at the end of one that was to, where that
    /// conversation is not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumes: Option<bool>,
    /// Number of the process group of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// When its first process began, as the system counts, so that a number that another process has
    /// got since is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub born: Option<String>,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// What the agent does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doing: Option<String>,
    /// How a try ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Exit code of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long the agent took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Tokens that it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What it cost in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// How many turns it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// Its last message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What it was not allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
    /// The last lines of its standard error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub complaints: Vec<String>,
    /// What is missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The task because of which it was not begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<TaskId>,
    /// How long it waits, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
    /// The branch on which it is worked on; at the start of a run with worktrees the one that was checked out,
    /// none on a detached HEAD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The worktree that was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The commit that brought the work into the workspace; at the start of a run with worktrees the one that was
    /// checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The tasks of the run, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<Planned>,
    /// How the run is carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<serde_json::Value>,
    /// True when tasks that failed are tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<bool>,
    /// Who asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl Told {
    /// Tells of a task.
    pub fn of(task: TaskId) -> Told {
        Told {
            task_id: Some(task),
            ..Told::default()
        }
    }

    /// Returns it as the detail of an event.
    pub fn detail(&self) -> Detail {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(detail)) => detail,
            _ => Detail::new(),
        }
    }

    /// Reads the detail of an event; what has another form tells nothing.
    pub fn read(detail: &Detail) -> Told {
        serde_json::from_value(detail.clone().into()).unwrap_or_default()
    }
}

/// A task of a run, as it is planned.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    /// The task.
    pub task_id: TaskId,
    /// Its title.
    pub title: String,
    /// The tasks of the run that come before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<TaskId>,
    /// True for an epic, which is done once its parts are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_epic: bool,
}

/// Counts the waves, from 0: a task is in the one after the last of those that come before it. Epics, on
/// which nobody works, make none; what waits for itself is in none.
pub fn waves(tasks: &[Planned]) -> BTreeMap<TaskId, usize> {
    let mut waves: BTreeMap<TaskId, usize> = BTreeMap::new();
    // The first wave that what waits for a task can be in.
    let mut after: BTreeMap<TaskId, usize> = BTreeMap::new();
    let mut open: Vec<&Planned> = tasks.iter().collect();
    loop {
        let before = open.len();
        open.retain(|task| {
            let needs = task.needs.iter().map(|need| after.get(need).copied());
            let Some(needs) = needs.collect::<Option<Vec<usize>>>() else {
                return true;
            };
            let wave = needs.into_iter().max().unwrap_or(0);
            waves.insert(task.task_id, wave.saturating_sub(usize::from(task.is_epic)));
            after.insert(task.task_id, wave + usize::from(!task.is_epic));
            false
        });
        if open.is_empty() || open.len() == before {
            return waves;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_in_the_wave_after_the_last_that_it_needs() {
        let planned = |id, needs: &[u32], is_epic| Planned {
            task_id: TaskId(id),
            title: String::new(),
            needs: needs.iter().copied().map(TaskId).collect(),
            is_epic,
        };
        let tasks = [
            planned(1, &[2, 3], true),
            planned(2, &[], false),
            planned(3, &[2], false),
            planned(4, &[1], false),
            planned(5, &[6], false),
            planned(6, &[5], false),
        ];
        let waves: Vec<(u32, usize)> = waves(&tasks)
            .into_iter()
            .map(|(id, wave)| (id.0, wave))
            .collect();
        assert_eq!(waves, [(1, 1), (2, 0), (3, 1), (4, 2)]);
    }

    #[test]
    fn what_is_told_is_read_as_it_was_written() {
        let told = Told {
            attempt: Some(1),
            outcome: Some(Outcome::RateLimited),
            missing: vec!["a".into()],
            ..Told::of(TaskId(7))
        };
        assert_eq!(Told::read(&told.detail()), told);
        let odd = Detail::from_iter([("attempt".to_string(), "x".into())]);
        assert_eq!(Told::read(&odd), Told::default());
    }
}
