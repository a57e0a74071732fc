//! Events of a run: typed, as stored, and as lines of a stream. Pure.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::planned::Planned;
use super::{Detail, Outcome, STEP, Spent, Usage};
use crate::id::TaskId;

/// The event that asks a run to stop.
pub(crate) const RUN_CANCEL: &str = "run.cancel";
/// The event of a run whose process ended before it did.
pub(crate) const RUN_INTERRUPTED: &str = "run.interrupted";
/// The event with which a run ends; nothing comes after it.
pub(crate) const RUN_FINISHED: &str = "run.finished";
/// The event with which a plan is resumed after its process ended, or after it failed.
pub(crate) const PLAN_RESUMED: &str = "resumed";

/// An event of a run over tasks. Of plans, queries and executions only the events that all runs have are read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all_fields = "camelCase")]
pub(crate) enum RunEvent {
    #[serde(rename = "run.started")]
    Started {
        /// The checkout, of a run with worktrees.
        #[serde(flatten)]
        base: Option<Base>,
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
        /// Whether failed tasks are retried.
        #[serde(default)]
        again: bool,
    },
    #[serde(rename = "resumed")]
    PlanResumed {},
    #[serde(rename = "run.cancel")]
    CancelRequested { by: Option<String> },
    #[serde(rename = "run.stopping")]
    Stopping { reason: String },
    /// The process of the run ended before the run did.
    #[serde(rename = "run.interrupted")]
    Interrupted {},
    #[serde(rename = "run.finished")]
    Finished {
        /// The status that the run has.
        reason: Option<String>,
        duration_ms: Option<u64>,
        usage: Option<Usage>,
        cost: Option<f64>,
    },
    /// An event of a task, with the number of its attempt.
    #[serde(skip)]
    Task(TaskId, Option<u32>, TaskEvent),
}

/// A checkout: a branch, or none when HEAD is detached, and a commit. For a run it is the checkout when it began, with the
/// last commit that the run made there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Base {
    pub(crate) branch: Option<String>,
    pub(crate) commit: String,
    /// Digest of the settings by which git converts content, when a run began.
    pub(crate) conversion: Option<String>,
}

/// An event of a task of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all_fields = "camelCase")]
pub(crate) enum TaskEvent {
    /// The task is claimed and its prompt is ready: an agent is about to be started.
    #[serde(rename = "task.started")]
    Started(AttemptStart),
    #[serde(rename = "agent.started")]
    AgentStarted {
        group: Option<u32>,
        /// When its first process began, as the system counts: the group number alone may be reused.
        process_start_time: Option<String>,
    },
    /// The agent is in a conversation that can be resumed.
    #[serde(rename = "agent.conversation")]
    AgentConversation { conversation: Option<String> },
    #[serde(rename = "agent.progress")]
    AgentProgress { doing: Option<String> },
    #[serde(rename = "agent.ended")]
    AgentEnded(AgentEnd),
    /// The commands of the task were run.
    #[serde(rename = "task.checked")]
    Checked {
        reason: Option<String>,
        #[serde(default)]
        results: Vec<String>,
    },
    #[serde(rename = "task.verification_failed")]
    VerificationFailed {
        outcome: Option<Outcome>,
        #[serde(default)]
        violations: Vec<String>,
        branch: Option<String>,
    },
    /// Somebody sent words to the agent at work. The note on the task holds them.
    #[serde(rename = "task.words_sent")]
    WordsSent { by: Option<String> },
    /// Somebody stopped the agent at work.
    #[serde(rename = "task.stop_requested")]
    StopRequested { by: String },
    /// The task waits before its next attempt, or for another run.
    #[serde(rename = "task.waiting")]
    Waiting {
        reason: Option<String>,
        wait_ms: Option<u64>,
    },
    #[serde(rename = "task.merged")]
    Merged { commit: Option<String> },
    /// A part of the work stays outside of the workspace: a worktree, an output that changed in the workspace too, or
    /// a branch that is not merged.
    #[serde(rename = "worktree.retained")]
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
        /// The task that kept it from starting.
        caused_by: Option<TaskId>,
    },
}

/// The skill, the runner and the claim of an attempt, and where its entry and output go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// The commit that was checked out, of an attempt without a worktree.
    pub(crate) commit: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AgentEnd {
    /// How it ended. `Ok` means in good order, before anything is verified.
    pub(crate) outcome: Option<Outcome>,
    /// Why, when it is not `Ok`.
    pub(crate) reason: Option<String>,
    /// The last message of the agent.
    pub(crate) message: Option<String>,
    /// False where the conversation that it was to resume is missing.
    pub(crate) resumes: Option<bool>,
    pub(crate) conversation: Option<String>,
    /// Tokens that it used, if the program reports them.
    pub(crate) usage: Option<Usage>,
    /// Cost in US dollars, if the program reports it.
    pub(crate) cost: Option<f64>,
    /// How many turns it took, if the program reports them.
    pub(crate) turns: Option<u32>,
    /// Tools that it was denied, such as `Write`.
    pub(crate) denied_tools: Vec<String>,
    /// When to retry after too many requests, in milliseconds.
    pub(crate) retry_after_ms: Option<u64>,
    /// None when a signal ended it.
    pub(crate) exit_code: Option<i32>,
    pub(crate) duration_ms: Option<u64>,
    /// The last lines of its standard error.
    pub(crate) stderr_tail: Vec<String>,
}

impl AgentEnd {
    pub(crate) fn to_spent(&self) -> Spent {
        Spent {
            usage: self.usage,
            cost: self.cost,
        }
    }
}

impl TaskEvent {
    pub(crate) fn for_task(self, task_id: TaskId) -> RunEvent {
        RunEvent::Task(task_id, None, self)
    }
}

impl RunEvent {
    /// Returns the kind and the detail, without fields that hold nothing.
    pub(crate) fn to_parts(&self) -> (String, Detail) {
        let (about, value) = match self {
            RunEvent::Task(task, attempt, event) => {
                (Some((task, attempt)), serde_json::to_value(event))
            }
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

    /// Reads the tasks of a run, and the options that it is carried out with: those of the last start, and the last
    /// options.
    pub(crate) fn read_start(events: &[Event]) -> (Vec<Planned>, Option<Value>) {
        let (mut planned, mut last) = (Vec::new(), None);
        for event in events.iter().filter_map(RunEvent::read) {
            match event {
                RunEvent::Started { tasks, options, .. } => (planned, last) = (tasks, options),
                RunEvent::Resumed { options, .. } => last = options.or(last),
                _ => {}
            }
        }
        (planned, last)
    }

    /// Reads an event; `None` for one of another kind or form.
    pub(crate) fn read(event: &Event) -> Option<RunEvent> {
        let Event { kind, detail, .. } = event;
        let tagged = || Value::from_iter([(kind.clone(), Value::from(detail.clone()))]);
        let of_tasks = ["task.", "agent.", "worktree."];
        if of_tasks.iter().any(|start| kind.starts_with(start)) {
            let task = detail.get("taskId")?.as_str()?.parse().ok()?;
            let attempt = detail.get("attempt").and_then(Value::as_u64);
            let attempt = attempt.and_then(|attempt| u32::try_from(attempt).ok());
            let event = serde_json::from_value(tagged()).ok()?;
            return Some(RunEvent::Task(task, attempt, event));
        }
        serde_json::from_value(tagged()).ok()
    }
}

/// An event of a run as it is stored. Cursors grow, so a reader that continues from the last one misses nothing.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub(crate) struct Event {
    /// Its number among all events.
    pub(crate) cursor: u64,
    pub(crate) run: String,
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
    /// Its kind, such as `task.started`, `execution_start`, [`STEP`] or
    /// [`DELEGATION`](super::DELEGATION).
    pub(crate) kind: String,
    pub(crate) detail: Detail,
}

/// An event as one line of JSON. Its task, step and attempt are beside its detail, not in it.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
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
            violations: vec!["a".into()],
            branch: None,
        };
        let failed = RunEvent::Task(TaskId(7), Some(1), failed);
        let (kind, detail) = failed.to_parts();
        let expected = json!({"taskId": "T7", "attempt": 1, "outcome": "rate_limited",
            "violations": ["a"]});
        assert_eq!(
            (kind.as_str(), json!(detail)),
            ("task.verification_failed", expected)
        );
        assert_eq!(RunEvent::read(&store(&kind, &json!(detail))), Some(failed));
        let odd = store("task.started", &json!({"taskId": "T7", "epoch": "x"}));
        assert_eq!(RunEvent::read(&odd), None);
    }

    #[test]
    fn event_kind_constants_match_their_variants() {
        for (kind, event) in [
            (RUN_CANCEL, RunEvent::CancelRequested { by: None }),
            (RUN_INTERRUPTED, RunEvent::Interrupted {}),
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
    fn task_and_attempt_are_beside_detail() {
        let whole = line(json!({"taskId": "T3", "attempt": 2, "skill": "x"}));
        let expected = json!({"cursor": 7, "type": "task.started", "ts": "t", "runId": "r",
            "taskId": "T3", "attempt": 2, "detail": {"skill": "x"}});
        assert_eq!(whole, expected);
        assert_eq!(line(json!({"step": "s1"}))["step"], "s1");
    }

    #[test]
    fn unexpected_fields_stay_in_detail() {
        let odd = json!({"step": {"id": 1}, "attempt": "first"});
        assert_eq!(line(odd.clone())["detail"], odd);
    }
}
