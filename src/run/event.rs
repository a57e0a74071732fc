//! Events of a run: typed, as stored, and as lines of `events.jsonl` and of a stream. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Detail, Outcome, STEP, Usage};
use crate::id::TaskId;
use crate::task::graph::{Edges, depths};

/// The event that asks a run to stop.
pub(crate) const RUN_CANCEL: &str = "run.cancel";
/// The event that tells that the process of a run is gone.
pub(crate) const RUN_LOST: &str = "error";
/// The event with which a run ends; nothing comes after it.
pub(crate) const RUN_FINISHED: &str = "run.finished";
/// The event with which a plan goes on after its process ended, or after it failed.
pub(crate) const PLAN_RESUMED: &str = "resumed";

/// What happens in a run over tasks. Of plans, queries and executions only the events that all runs have are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all_fields = "camelCase")]
pub(crate) enum RunEvent {
    #[serde(rename = "run.started")]
    Started {
        /// The branch and the commit that were checked out, of a run with worktrees; no branch on a detached HEAD.
        branch: Option<String>,
        commit: Option<String>,
        /// Digest of the settings by which git converts content.
        conversion: Option<String>,
        /// The tasks of the run, in order.
        #[serde(default)]
        tasks: Vec<Planned>,
        options: Option<Value>,
    },
    #[serde(rename = "run.resumed")]
    Resumed {
        /// The status that the run had.
        reason: Option<String>,
        options: Option<Value>,
        /// Whether failed tasks are tried again.
        #[serde(default)]
        again: bool,
    },
    #[serde(rename = "resumed")]
    PlanResumed {},
    #[serde(rename = "run.cancel")]
    CancelRequested { by: Option<String> },
    #[serde(rename = "run.stopping")]
    Stopping { reason: String },
    /// The process of the run is gone, and somebody has noticed.
    #[serde(rename = "error")]
    Lost {},
    #[serde(rename = "run.finished")]
    Finished {
        /// The status that the run has.
        reason: Option<String>,
        duration_ms: Option<u64>,
        usage: Option<Usage>,
        cost: Option<f64>,
    },
    #[serde(skip)]
    Task {
        task_id: TaskId,
        attempt: Option<u32>,
        event: TaskEvent,
    },
}

/// What happens to a task of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all_fields = "camelCase")]
pub(crate) enum TaskEvent {
    /// The task is claimed and its prompt is ready: an agent is about to be started.
    #[serde(rename = "task.started")]
    Started(AttemptStart),
    #[serde(rename = "agent.started")]
    AgentStarted {
        group: Option<u32>,
        /// When its first process began, as the system counts, so that a number that another process has got since
        /// is known.
        born: Option<String>,
    },
    /// The agent is in a conversation that can be resumed.
    #[serde(rename = "agent.conversation")]
    AgentConversation { conversation: Option<String> },
    #[serde(rename = "agent.doing")]
    AgentProgress { doing: Option<String> },
    #[serde(rename = "agent.ended")]
    AgentEnded(AgentEnd),
    /// The commands of the task were run.
    #[serde(rename = "task.checked")]
    Checked {
        reason: Option<String>,
        #[serde(default)]
        complaints: Vec<String>,
    },
    #[serde(rename = "task.lacking")]
    VerificationFailed {
        outcome: Option<Outcome>,
        #[serde(default)]
        missing: Vec<String>,
        branch: Option<String>,
    },
    /// The task waits before it is tried again, or for another run.
    #[serde(rename = "task.waiting")]
    Waiting {
        reason: Option<String>,
        wait_ms: Option<u64>,
    },
    #[serde(rename = "task.merged")]
    Merged { commit: Option<String> },
    /// Something of the task stays outside of the workspace: its worktree, an output that somebody else has changed
    /// too, or a branch that is not merged.
    #[serde(rename = "task.kept")]
    Retained {
        reason: Option<String>,
        branch: Option<String>,
        worktree: Option<String>,
    },
    #[serde(rename = "task.completed")]
    Completed { reason: Option<String> },
    #[serde(rename = "task.failed")]
    Failed {
        outcome: Option<Outcome>,
        reason: Option<String>,
    },
    #[serde(rename = "task.skipped")]
    Skipped {
        reason: Option<String>,
        /// The task because of which it was not begun.
        because: Option<TaskId>,
    },
}

/// The skill, the runner and the claim of an attempt, and where its entry and output go.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Setup {
    pub(crate) skill: Option<String>,
    pub(crate) runner: Option<String>,
    pub(crate) epoch: Option<u32>,
    pub(crate) manifest_id: Option<String>,
    pub(crate) output_file: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AttemptStart {
    #[serde(flatten)]
    pub(crate) setup: Setup,
    /// The criteria that count: those that the task had when it was claimed.
    pub(crate) acceptance: Vec<String>,
    /// Whether it resumes an earlier conversation.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) resumes: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AgentEnd {
    /// False where the conversation that it was to resume is not there.
    pub(crate) resumes: Option<bool>,
    pub(crate) conversation: Option<String>,
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
}

impl TaskEvent {
    pub(crate) fn for_task(self, task_id: TaskId) -> RunEvent {
        RunEvent::Task {
            task_id,
            attempt: None,
            event: self,
        }
    }
}

impl RunEvent {
    /// Returns the kind and the detail, without fields that hold nothing.
    pub(crate) fn to_parts(&self) -> (String, Detail) {
        let (about, value) = match self {
            RunEvent::Task {
                task_id,
                attempt,
                event,
            } => (Some((task_id, attempt)), serde_json::to_value(event)),
            event => (None, serde_json::to_value(event)),
        };
        let Ok(Value::Object(tagged)) = value else {
            return Default::default();
        };
        let Some((kind, Value::Object(mut detail))) = tagged.into_iter().next() else {
            return Default::default();
        };
        let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        detail.retain(|_, value| !value.is_null() && !is_empty(value));
        if let Some((task_id, attempt)) = about {
            detail.insert("taskId".to_string(), task_id.to_string().into());
            let attempt = attempt.map(|attempt| ("attempt".to_string(), attempt.into()));
            detail.extend(attempt);
        }
        (kind, detail)
    }

    /// Reads an event; `None` for one of another kind or form. Steps of plans have errors of their own.
    pub(crate) fn read(event: &Event) -> Option<RunEvent> {
        let Event { kind, detail, .. } = event;
        let tagged = || Value::from_iter([(kind.clone(), Value::from(detail.clone()))]);
        if kind.starts_with("task.") || kind.starts_with("agent.") {
            return Some(RunEvent::Task {
                task_id: detail.get("taskId")?.as_str()?.parse().ok()?,
                attempt: (detail.get("attempt").and_then(Value::as_u64))
                    .and_then(|attempt| u32::try_from(attempt).ok()),
                event: serde_json::from_value(tagged()).ok()?,
            });
        }
        let is_of_step = kind == RUN_LOST && detail.contains_key("stepId");
        serde_json::from_value(tagged())
            .ok()
            .filter(|_| !is_of_step)
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

    fn store(kind: &str, detail: &Value) -> Event {
        Event {
            cursor: 7,
            run: "r".into(),
            at: "t".into(),
            kind: kind.into(),
            detail: detail.as_object().unwrap().clone(),
        }
    }

    #[test]
    fn events_are_read_as_they_were_written() {
        let failed = TaskEvent::VerificationFailed {
            outcome: Some(Outcome::RateLimited),
            missing: vec!["a".into()],
            branch: None,
        };
        let failed = RunEvent::Task {
            task_id: TaskId(7),
            attempt: Some(1),
            event: failed,
        };
        let (kind, detail) = failed.to_parts();
        let expected = json!({"taskId": "T7", "attempt": 1, "outcome": "rate_limited",
            "missing": ["a"]});
        assert_eq!((kind.as_str(), json!(detail)), ("task.lacking", expected));
        assert_eq!(RunEvent::read(&store(&kind, &json!(detail))), Some(failed));
        let odd = store("task.started", &json!({"taskId": "T7", "epoch": "x"}));
        assert_eq!(RunEvent::read(&odd), None);
    }

    #[test]
    fn kinds_that_are_looked_for_are_those_that_are_written() {
        for (kind, event) in [
            (RUN_CANCEL, RunEvent::CancelRequested { by: None }),
            (RUN_LOST, RunEvent::Lost {}),
            (PLAN_RESUMED, RunEvent::PlanResumed {}),
        ] {
            assert_eq!(event.to_parts().0, kind);
        }
        let finished = RunEvent::read(&store(RUN_FINISHED, &json!({"status": "completed"})));
        assert!(matches!(finished, Some(RunEvent::Finished { .. })));
    }

    fn line(detail: serde_json::Value) -> serde_json::Value {
        json!(Line::from(&store("task.started", &detail)))
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
