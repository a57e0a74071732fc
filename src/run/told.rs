//! Events of a run: as stored, as lines of `events.jsonl` and of a stream; their kinds, and the payload of a
//! run over tasks. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Detail, Outcome, STEP, Usage};
use crate::id::TaskId;
use crate::task::graph::{Edges, depths};

pub(crate) mod kind {
    /// The run began; tells its tasks, in order.
    pub(crate) const RUN_STARTED: &str = "run.started";
    /// It goes on after its process ended.
    pub(crate) const RUN_RESUMED: &str = "run.resumed";
    /// Somebody asks for its end.
    pub(crate) const RUN_CANCEL: &str = "run.cancel";
    /// It is being ended before all is done.
    pub(crate) const RUN_STOPPING: &str = "run.stopping";
    /// Its process is gone, and somebody has noticed.
    pub(crate) const RUN_LEFT: &str = "error";
    /// A task is claimed and its prompt is ready: an agent is about to be started.
    pub(crate) const TASK_STARTED: &str = "task.started";
    pub(crate) const AGENT_STARTED: &str = "agent.started";
    /// It is in a conversation that can be gone on with.
    pub(crate) const AGENT_CONVERSATION: &str = "agent.conversation";
    pub(crate) const AGENT_DOING: &str = "agent.doing";
    pub(crate) const AGENT_ENDED: &str = "agent.ended";
    /// The commands of a task were run.
    pub(crate) const TASK_CHECKED: &str = "task.checked";
    pub(crate) const TASK_LACKING: &str = "task.lacking";
    /// A task waits before it is tried again.
    pub(crate) const TASK_WAITING: &str = "task.waiting";
    pub(crate) const TASK_MERGED: &str = "task.merged";
    /// Something of a task stays outside of the workspace: its worktree, an output that somebody else has
    /// changed too, or a branch that is not merged.
    pub(crate) const TASK_KEPT: &str = "task.kept";
    pub(crate) const TASK_COMPLETED: &str = "task.completed";
    pub(crate) const TASK_FAILED: &str = "task.failed";
    pub(crate) const TASK_SKIPPED: &str = "task.skipped";
}

/// What an event of a run over tasks tells; each kind tells a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Told {
    pub(crate) task_id: Option<TaskId>,
    pub(crate) attempt: Option<u32>,
    pub(crate) epoch: Option<u32>,
    pub(crate) skill: Option<String>,
    pub(crate) runner: Option<String>,
    pub(crate) manifest_id: Option<String>,
    pub(crate) output_file: Option<String>,
    /// The criteria that count: those that the task had when it was claimed.
    pub(crate) acceptance: Vec<String>,
    /// True when the try goes on with an earlier conversation; false at the end of one that was to, where that
    /// conversation is not there.
    pub(crate) resumes: Option<bool>,
    pub(crate) group: Option<u32>,
    /// When its first process began, as the system counts, so that a number that another process has
    /// got since is known.
    pub(crate) born: Option<String>,
    pub(crate) conversation: Option<String>,
    pub(crate) doing: Option<String>,
    pub(crate) outcome: Option<Outcome>,
    pub(crate) reason: Option<String>,
    pub(crate) exit_code: Option<i32>,
    pub(crate) duration_ms: Option<u64>,
    pub(crate) usage: Option<Usage>,
    /// What it cost in US dollars.
    pub(crate) cost: Option<f64>,
    pub(crate) turns: Option<u32>,
    pub(crate) message: Option<String>,
    pub(crate) denied: Vec<String>,
    /// The last lines of its standard error.
    pub(crate) complaints: Vec<String>,
    pub(crate) missing: Vec<String>,
    /// The task because of which it was not begun.
    pub(crate) because: Option<TaskId>,
    pub(crate) wait_ms: Option<u64>,
    /// The branch on which it is worked on; at the start of a run with worktrees the one that was checked out,
    /// none on a detached HEAD.
    pub(crate) branch: Option<String>,
    pub(crate) worktree: Option<String>,
    /// The commit that brought the work into the workspace; at the start of a run with worktrees the one that was
    /// checked out.
    pub(crate) commit: Option<String>,
    /// Digest of the settings by which git converts content, at the start of a run with worktrees.
    pub(crate) conversion: Option<String>,
    /// The tasks of the run, in order.
    pub(crate) tasks: Vec<Planned>,
    pub(crate) options: Option<Value>,
    pub(crate) again: Option<bool>,
    pub(crate) by: Option<String>,
}

impl Told {
    pub(crate) fn of(task: TaskId) -> Told {
        Told {
            task_id: Some(task),
            ..Told::default()
        }
    }

    pub(crate) fn with_reason(self, reason: impl Into<String>) -> Told {
        Told {
            reason: Some(reason.into()),
            ..self
        }
    }

    /// Returns what is told as the detail of an event: without fields that tell nothing.
    pub(crate) fn detail(&self) -> Detail {
        let Ok(Value::Object(mut detail)) = serde_json::to_value(self) else {
            return Detail::new();
        };
        let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        detail.retain(|_, value| !value.is_null() && !is_empty(value));
        detail
    }

    /// Reads the detail of an event; what has another form tells nothing.
    pub(crate) fn read(detail: &Detail) -> Told {
        serde_json::from_value(detail.clone().into()).unwrap_or_default()
    }
}

#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Planned {
    pub(crate) task_id: TaskId,
    pub(crate) title: String,
    /// The tasks of the run that come before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) needs: Vec<TaskId>,
    /// Its criteria when the run began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) acceptance: Vec<String>,
    /// True for an epic, which is done once its parts are.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_epic: bool,
}

/// Returns the wave of each task, from 0: the one after its last dependency. Epics, on which nobody works,
/// have none, nor do tasks in a cycle.
pub(crate) fn waves(tasks: &[Planned]) -> BTreeMap<TaskId, usize> {
    let mut graph = Edges::default();
    for task in tasks {
        graph.add_node(task.task_id);
        for need in &task.needs {
            graph.add_edge(*need, task.task_id, ());
        }
    }
    let epics: BTreeSet<TaskId> = tasks
        .iter()
        .filter(|task| task.is_epic)
        .map(|task| task.task_id)
        .collect();
    let depths = depths(&graph, |id| usize::from(!epics.contains(&id)));
    let wave = |(id, depth): (TaskId, usize)| {
        let is_epic = epics.contains(&id);
        (id, depth.saturating_sub(usize::from(is_epic)))
    };
    crate::build_map(depths.into_iter().map(wave))
}

/// The event with which a run ends; nothing comes after it.
pub(crate) const RUN_FINISHED: &str = "run.finished";
/// The event with which a plan goes on after its process ended, or after it failed.
pub(crate) const PLAN_RESUMED: &str = "resumed";

/// Something that happened in a run. Cursors grow: whoever goes on from the last one misses nothing.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Event {
    /// Its number among all events.
    pub(crate) cursor: u64,
    pub(crate) run: String,
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
    /// What happened, such as `task.started`, `execution_start`, [`STEP`] or
    /// [`DELEGATION`](super::DELEGATION).
    pub(crate) kind: String,
    pub(crate) detail: Detail,
}

/// An event as one line of JSON. What an event is about stands beside its detail and not in it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Line {
    /// Its number among all events.
    pub(crate) cursor: u64,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// When, RFC 3339 in UTC.
    pub(crate) ts: String,
    pub(crate) run_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempt: Option<u64>,
    pub(crate) detail: Detail,
}

impl From<&Event> for Line {
    fn from(event: &Event) -> Line {
        let mut detail = event.detail.clone();
        // The step of an execution has fields of its own.
        let mut word = |name: &str| {
            let is_there = event.kind != STEP && detail.get(name).is_some_and(Value::is_string);
            let value = is_there.then(|| detail.remove(name)).flatten()?;
            value.as_str().map(str::to_string)
        };
        let (task_id, step) = (word("taskId"), word("step"));
        let attempt = detail.get("attempt").and_then(Value::as_u64);
        if attempt.is_some() {
            detail.remove("attempt");
        }
        Line {
            cursor: event.cursor,
            kind: event.kind.clone(),
            ts: event.at.clone(),
            run_id: event.run.clone(),
            task_id,
            step,
            attempt,
            detail,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_task_is_in_the_wave_after_the_last_that_it_needs() {
        let planned = |id, needs: &[u32], is_epic| Planned {
            task_id: TaskId(id),
            needs: needs.iter().copied().map(TaskId).collect(),
            is_epic,
            ..Planned::default()
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

    fn line(detail: serde_json::Value) -> serde_json::Value {
        let event = Event {
            cursor: 7,
            run: "r".into(),
            at: "t".into(),
            kind: "task.started".into(),
            detail: detail.as_object().unwrap().clone(),
        };
        json!(Line::from(&event))
    }

    #[test]
    fn what_an_event_is_about_stands_beside_its_detail() {
        let whole = line(json!({"taskId": "T3", "attempt": 2, "skill": "x"}));
        let expected = json!({"cursor": 7, "type": "task.started", "ts": "t", "runId": "r",
            "taskId": "T3", "attempt": 2, "detail": {"skill": "x"}});
        assert_eq!(whole, expected);
        assert_eq!(line(json!({"step": "s1"}))["step"], "s1");
    }

    #[test]
    fn what_has_another_form_stays_where_it_is() {
        let odd = line(json!({"step": {"id": 1}, "attempt": "first"}));
        assert_eq!(
            odd["detail"],
            json!({"step": {"id": 1}, "attempt": "first"})
        );
    }
}
