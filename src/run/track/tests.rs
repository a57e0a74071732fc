use serde_json::json;

use super::*;
use crate::run::Detail;
use crate::run::told::Planned;

fn event(cursor: u64, kind: &str, detail: Value) -> Event {
    Event {
        cursor,
        run: "r".into(),
        at: format!("t{cursor}"),
        kind: kind.into(),
        detail: detail.as_object().unwrap().clone(),
    }
}

fn story() -> Vec<Event> {
    let task = |more: Value| {
        let mut detail = json!({"taskId": "T1"});
        for (name, value) in more.as_object().unwrap() {
            detail[name] = value.clone();
        }
        detail
    };
    vec![
        event(
            1,
            kind::RUN_STARTED,
            json!({"tasks": [{"taskId": "T1", "title": "a"}], "options": {"jobs": 4}}),
        ),
        event(
            2,
            kind::TASK_STARTED,
            task(json!({"attempt": 1, "runner": "codex"})),
        ),
        event(
            3,
            kind::AGENT_STARTED,
            task(json!({"attempt": 1, "group": 7})),
        ),
        event(
            4,
            kind::AGENT_ENDED,
            task(json!({"outcome": "ok", "exitCode": 0, "message": "all done"})),
        ),
        event(
            5,
            kind::TASK_LACKING,
            task(json!({"outcome": "protocol_violation", "missing": ["no entry"]})),
        ),
        event(
            6,
            kind::TASK_STARTED,
            task(json!({"attempt": 2, "runner": "codex", "resumes": true})),
        ),
        event(7, kind::AGENT_STARTED, task(json!({"attempt": 2}))),
    ]
}

#[test]
fn each_try_says_what_the_agent_said_and_what_was_found() {
    let mut track = Track::default();
    track.take(&story());
    let tries = track.attempts(TaskId(1));
    assert_eq!(tries.len(), 2);
    assert_eq!(
        (tries[0].state, tries[0].said.as_deref()),
        (TaskState::Failed, Some("all done"))
    );
    assert_eq!(tries[0].missing, ["no entry"]);
    assert!(tries[1].resumes && tries[1].state == TaskState::Running);
    assert_eq!(track.options, Some(json!({"jobs": 4})));
}

#[test]
fn events_may_come_a_few_at_a_time_and_twice() {
    let (mut whole, mut parts) = (Track::default(), Track::default());
    whole.take(&story());
    for events in story().windows(3) {
        parts.take(events);
    }
    assert_eq!(whole.attempts(TaskId(1)), parts.attempts(TaskId(1)));
    assert_eq!(whole.cursor, parts.cursor);
}

#[test]
fn what_was_under_way_when_the_process_ended_was_cancelled() {
    let mut track = Track::default();
    track.take(&story());
    track.take(&[event(8, kind::RUN_RESUMED, json!({}))]);
    let last = track.attempts(TaskId(1)).last().unwrap();
    assert_eq!(
        (last.state, last.outcome),
        (TaskState::Cancelled, Some(Outcome::Cancelled))
    );
    let failed = track
        .attempts(TaskId(1))
        .iter()
        .filter(|one| one.state == TaskState::Failed);
    assert_eq!(failed.count(), 1, "what was cancelled has not failed");
}

#[test]
fn odd_events_change_nothing() {
    let mut track = Track::default();
    track.take(&[
        event(1, kind::TASK_LACKING, json!({"taskId": "T9"})),
        event(2, kind::AGENT_ENDED, json!({"taskId": 5, "exitCode": "x"})),
        event(3, "nonsense", json!({})),
    ]);
    assert_eq!(track.attempts(TaskId(9)), []);
}

fn told(task: u32) -> Told {
    Told::of(TaskId(task))
}

fn two_tasks() -> Track {
    let planned = |id| Planned {
        task_id: TaskId(id),
        title: format!("Task {id}"),
        ..Planned::default()
    };
    let mut track = Track::default();
    let tasks = vec![planned(1), planned(2)];
    let started = Told {
        tasks,
        ..Told::default()
    };
    track.apply(kind::RUN_STARTED, "t0", &started);
    track
}

#[test]
fn a_worktree_that_is_kept_is_told_beside_the_reason_of_the_failure() {
    let mut track = two_tasks();
    let failed = Told {
        outcome: Some(Outcome::AgentError),
        reason: Some("it crashed".into()),
        ..told(1)
    };
    track.apply(kind::TASK_FAILED, "t1", &failed);
    let kept = Told {
        worktree: Some("/w/T1-1".into()),
        reason: Some("no commit".into()),
        ..told(1)
    };
    track.apply(kind::TASK_KEPT, "t2", &kept);
    let task = &track.tasks()[0];
    let reason = "it crashed; its worktree is kept: /w/T1-1";
    assert_eq!(task.reason.as_deref(), Some(reason));
    assert_eq!(task.missing, ["no commit"]);
    track.apply(kind::TASK_COMPLETED, "t3", &told(1));
    let task = &track.tasks()[0];
    assert!(task.missing.is_empty());
    assert_eq!(task.warnings, ["no commit"], "they stay");
    assert_eq!(task.worktree.as_deref(), Some("/w/T1-1"));
}

#[test]
fn a_branch_that_is_kept_is_told_beside_the_reason_of_the_failure() {
    let mut track = two_tasks();
    let failed = Told {
        reason: Some("it was cancelled".into()),
        ..told(1)
    };
    track.apply(kind::TASK_FAILED, "t1", &failed);
    let kept = Told {
        branch: Some("cleo/run_1/T1-1".into()),
        ..told(1)
    };
    track.apply(kind::TASK_KEPT, "t2", &kept);
    let task = &track.tasks()[0];
    let reason = "it was cancelled; its work is kept on the branch cleo/run_1/T1-1";
    assert_eq!(task.reason.as_deref(), Some(reason));
    assert_eq!(task.branch.as_deref(), Some("cleo/run_1/T1-1"));
}

#[test]
fn where_work_is_kept_is_told_once_and_as_it_stands() {
    let mut track = two_tasks();
    let failed = Told {
        reason: Some("it crashed".into()),
        ..told(1)
    };
    track.apply(kind::TASK_FAILED, "t1", &failed);
    let kept = |worktree: Option<&str>, branch: &str| Told {
        worktree: worktree.map(str::to_string),
        branch: Some(branch.to_string()),
        reason: Some("no commit".into()),
        ..told(1)
    };
    for _ in 0..2 {
        track.apply(kind::TASK_KEPT, "t2", &kept(Some("/w/T1-1"), "b/T1-1"));
        let task = &track.tasks()[0];
        let reason = "it crashed; its worktree is kept: /w/T1-1";
        assert_eq!(task.reason.as_deref(), Some(reason));
        assert_eq!((task.missing.len(), task.warnings.len()), (1, 1));
    }
    let mut reason = "it crashed".to_string();
    for branch in ["b/T1-1", "b/T1-2"] {
        track.apply(kind::TASK_KEPT, "t3", &kept(None, branch));
        reason += &format!("; its work is kept on the branch {branch}");
        assert_eq!(track.tasks()[0].reason.as_ref(), Some(&reason));
    }
}

#[test]
fn a_task_adds_up_what_its_tries_took() {
    let mut track = two_tasks();
    for attempt in [1, 2] {
        let started = Told {
            attempt: Some(attempt),
            epoch: Some(3),
            ..told(1)
        };
        track.apply(kind::TASK_STARTED, "t1", &started);
        let ended = Told {
            duration_ms: Some(5),
            cost: Some(0.25),
            ..told(1)
        };
        track.apply(kind::AGENT_ENDED, "t2", &ended);
    }
    track.apply(kind::TASK_COMPLETED, "t3", &told(1));
    let task = track.task(TaskId(1)).unwrap();
    assert_eq!((task.attempts, task.duration_ms), (2, 10));
    assert_eq!(
        (task.spent.cost, task.outcome),
        (Some(0.5), Some(Outcome::Ok))
    );
    assert_eq!(task.started_at.as_deref(), Some("t1"));
    let summary = track.counts();
    assert_eq!((summary.done, summary.open), (1, 1));
}

#[test]
fn what_was_cancelled_is_counted_apart_from_what_failed() {
    let mut track = two_tasks();
    for (task, outcome) in [(1, Outcome::Cancelled), (2, Outcome::AgentError)] {
        let failed = Told {
            outcome: Some(outcome),
            ..told(task)
        };
        track.apply(kind::TASK_FAILED, "t1", &failed);
    }
    let expected = Counts {
        total: 2,
        failed: 1,
        cancelled: 1,
        ..Counts::default()
    };
    assert_eq!(track.counts(), expected);
}

#[test]
fn what_a_conversation_came_to_is_known_until_a_new_one_begins() {
    let mut track = two_tasks();
    let costs = [(None, 0.1), (Some(true), 0.2), (None, 0.5)];
    let mut conversed = Vec::new();
    for (resumes, cost) in costs {
        let started = Told { resumes, ..told(1) };
        track.apply(kind::TASK_STARTED, "t1", &started);
        let ended = Told {
            cost: Some(cost),
            ..told(1)
        };
        track.apply(kind::AGENT_ENDED, "t2", &ended);
        track.apply(kind::RUN_RESUMED, "t3", &Told::default());
        conversed.push(track.tasks()[0].conversed.cost);
    }
    assert_eq!(conversed, [Some(0.1), Some(0.3), Some(0.5)]);
    assert_eq!(track.tasks()[0].spent.cost, Some(0.8));
}

#[test]
fn a_conversation_is_gone_on_with_unless_it_is_not_there() {
    for (resumes, outcome, left) in [
        (None, Outcome::AgentError, Some("s1")),
        (None, Outcome::RateLimited, Some("s1")),
        (Some(false), Outcome::AgentError, None),
    ] {
        let mut track = two_tasks();
        let conversation = Told {
            conversation: Some("s1".into()),
            ..told(1)
        };
        track.apply(kind::AGENT_CONVERSATION, "t1", &conversation);
        let ended = Told {
            resumes,
            outcome: Some(outcome),
            conversation: Some("s1".into()),
            ..told(1)
        };
        track.apply(kind::AGENT_ENDED, "t2", &ended);
        assert_eq!(track.tasks()[0].conversation.as_deref(), left);
    }
}

#[test]
fn an_agent_whose_cleo_was_killed_worked_until_something_was_told_last() {
    let at = |second: u32| format!("2026-01-26T10:00:{second:02}.000Z");
    let mut track = two_tasks();
    track.apply(kind::TASK_STARTED, &at(1), &told(1));
    track.apply(kind::AGENT_STARTED, &at(2), &told(1));
    track.apply(kind::AGENT_DOING, &at(5), &told(1));
    track.apply(kind::RUN_CANCEL, &at(30), &Told::default());
    track.apply(kind::RUN_LEFT, &at(40), &Told::default());
    track.apply(kind::RUN_RESUMED, &at(50), &Told::default());
    assert_eq!(track.tasks()[0].duration_ms, 3_000);
}

#[test]
fn going_on_takes_up_what_came_to_no_end() {
    let mut track = two_tasks();
    track.apply(kind::TASK_STARTED, "t1", &told(1));
    let failed = Told {
        outcome: Some(Outcome::AgentError),
        ..told(2)
    };
    track.apply(kind::TASK_FAILED, "t2", &failed);
    track.apply(kind::RUN_RESUMED, "t3", &Told::default());
    let states = track.tasks().iter().map(|task| task.state);
    let states: Vec<_> = states.collect();
    assert_eq!(states, [TaskState::Waiting, TaskState::Failed]);
}

#[test]
fn what_was_under_way_and_what_its_agent_said_last_are_known_when_a_run_goes_on() {
    let mut track = two_tasks();
    track.apply(kind::TASK_STARTED, "t1", &told(1));
    let ended = Told {
        outcome: Some(Outcome::Ok),
        message: Some("I am done.".into()),
        ..told(1)
    };
    track.apply(kind::AGENT_ENDED, "t2", &ended);
    track.apply(kind::TASK_STARTED, "t3", &told(1));
    let cut_off = Told {
        outcome: Some(Outcome::Cancelled),
        ..told(1)
    };
    track.apply(kind::AGENT_ENDED, "t3", &cut_off);
    for _ in 0..2 {
        track.apply(kind::RUN_RESUMED, "t4", &Told::default());
        let task = &track.tasks()[0];
        assert_eq!((task.is_held, task.ended), (true, Some(Outcome::Ok)));
        assert_eq!(task.message.as_deref(), Some("I am done."));
    }
    track.apply(kind::TASK_FAILED, "t5", &told(1));
    assert!(!track.tasks()[0].is_held);
}

fn plain(second: u8, kind: &str) -> Event {
    Event {
        cursor: second.into(),
        run: "run_1".into(),
        at: format!("2026-01-26T10:00:{second:02}.000Z"),
        kind: kind.into(),
        detail: Detail::new(),
    }
}

#[test]
fn each_process_counts_once_until_it_told_something_last() {
    let mut events = Vec::new();
    for (second, kind, counted) in [
        (1, kind::RUN_STARTED, Some(0)),
        (4, kind::AGENT_DOING, Some(3_000)),
        (20, kind::RUN_CANCEL, Some(3_000)),
        (30, kind::RUN_LEFT, None),
        (31, kind::AGENT_ENDED, None),
        (40, kind::RUN_RESUMED, Some(0)),
        (42, kind::AGENT_STARTED, Some(2_000)),
        (43, RUN_FINISHED, None),
    ] {
        events.push(plain(second, kind));
        assert_eq!(Track::read(&events).unsettled_time(), counted, "{kind}");
    }
    assert_eq!(Track::default().unsettled_time(), None);
}

#[test]
fn a_plan_counts_from_its_first_event_and_errors_of_its_steps_end_nothing() {
    let mut events = Vec::new();
    for (second, kind, step, counted) in [
        (1, "chat", None, Some(0)),
        (2, "plan", None, Some(1_000)),
        (4, "error", Some("a"), Some(3_000)),
        (5, "plan", None, Some(4_000)),
        (9, kind::RUN_CANCEL, None, Some(4_000)),
        (10, kind::RUN_LEFT, None, None),
        (20, PLAN_RESUMED, None, Some(0)),
        (23, "stepCompleted", Some("a"), Some(3_000)),
        (24, RUN_FINISHED, None, None),
        (30, kind::RUN_CANCEL, None, None),
    ] {
        let mut told = plain(second, kind);
        let step = step.map(|step: &str| ("stepId".to_string(), step.into()));
        told.detail.extend(step);
        events.push(told);
        assert_eq!(
            Track::read(&events).unsettled_time(),
            counted,
            "{second} {kind}"
        );
    }
}
