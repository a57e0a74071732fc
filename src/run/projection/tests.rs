use serde_json::json;

use super::*;
use crate::run::{Detail, PLAN_RESUMED, RUN_FINISHED};

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
            "run.started",
            json!({"tasks": [{"taskId": "T1", "title": "a"}], "options": {"jobs": 4}}),
        ),
        event(
            2,
            "task.started",
            task(json!({"attempt": 1, "runner": "codex"})),
        ),
        event(3, "agent.started", task(json!({"attempt": 1, "group": 7}))),
        event(
            4,
            "agent.ended",
            task(json!({"outcome": "ok", "exitCode": 0, "message": "all done"})),
        ),
        event(
            5,
            "task.verification_failed",
            task(json!({"outcome": "protocol_violation", "violations": ["no entry"]})),
        ),
        event(
            6,
            "task.started",
            task(json!({"attempt": 2, "runner": "codex", "resumes": true})),
        ),
        event(7, "agent.started", task(json!({"attempt": 2}))),
    ]
}

#[test]
fn attempt_holds_last_message_and_violations() {
    let mut track = RunProjection::default();
    track.apply_new(&story());
    let tries = track.attempts(TaskId(1));
    assert_eq!(tries.len(), 2);
    assert_eq!(
        (tries[0].state, tries[0].said.as_deref()),
        (StepState::Failed, Some("all done"))
    );
    assert_eq!(tries[0].violations, ["no entry"]);
    assert!(tries[1].resumes && tries[1].state == StepState::Running);
    assert_eq!(track.options, Some(json!({"jobs": 4})));
}

#[test]
fn events_may_come_in_parts_and_repeatedly() {
    let (mut whole, mut parts) = (RunProjection::default(), RunProjection::default());
    whole.apply_new(&story());
    for events in story().windows(3) {
        parts.apply_new(events);
    }
    assert_eq!(whole.attempts(TaskId(1)), parts.attempts(TaskId(1)));
    assert_eq!(whole.cursor, parts.cursor);
}

#[test]
fn open_attempt_of_dead_process_is_cancelled() {
    let mut track = RunProjection::default();
    track.apply_new(&story());
    track.apply_new(&[event(8, "run.resumed", json!({}))]);
    let last = track.attempts(TaskId(1)).last().unwrap();
    assert_eq!(
        (last.state, last.outcome),
        (StepState::Cancelled, Some(Outcome::Cancelled))
    );
    let failed = track
        .attempts(TaskId(1))
        .iter()
        .filter(|one| one.state == StepState::Failed);
    assert_eq!(failed.count(), 1, "what was cancelled has not failed");
}

#[test]
fn odd_events_change_nothing() {
    let mut track = RunProjection::default();
    track.apply_new(&[
        event(1, "task.verification_failed", json!({"taskId": "T9"})),
        event(2, "agent.ended", json!({"taskId": 5, "exitCode": "x"})),
        event(3, "nonsense", json!({})),
    ]);
    assert_eq!(track.attempts(TaskId(9)), []);
}

fn apply_one(track: &mut RunProjection, kind: &str, at: &str, detail: Value) {
    let event = Event {
        at: at.into(),
        ..event(1, kind, detail)
    };
    track.apply(at, RunEvent::read(&event).as_ref());
}

fn two_tasks() -> RunProjection {
    let tasks = json!([{"taskId": "T1", "title": "Task 1"}, {"taskId": "T2", "title": "Task 2"}]);
    let mut track = RunProjection::default();
    apply_one(&mut track, "run.started", "t0", json!({"tasks": tasks}));
    track
}

#[test]
fn failure_names_retained_worktree() {
    let mut track = two_tasks();
    let failed = json!({"taskId": "T1", "outcome": "agent_error", "reason": "it crashed"});
    apply_one(&mut track, "task.failed", "t1", failed);
    let kept = json!({"taskId": "T1", "worktree": "/w/T1-1", "reason": "no commit"});
    apply_one(&mut track, "worktree.retained", "t2", kept);
    let task = &track.tasks()[0];
    let reason = "it crashed; its worktree is kept: /w/T1-1";
    assert_eq!(task.reason.as_deref(), Some(reason));
    assert_eq!(task.violations, ["no commit"]);
    apply_one(&mut track, "task.completed", "t3", json!({"taskId": "T1"}));
    let task = &track.tasks()[0];
    assert!(task.violations.is_empty());
    assert_eq!(task.warnings, ["no commit"], "they stay");
    assert_eq!(task.worktree.as_deref(), Some("/w/T1-1"));
}

#[test]
fn failure_names_retained_branch() {
    let mut track = two_tasks();
    let failed = json!({"taskId": "T1", "reason": "it was cancelled"});
    apply_one(&mut track, "task.failed", "t1", failed);
    let kept = json!({"taskId": "T1", "branch": "cleo/run_1/T1-1"});
    apply_one(&mut track, "worktree.retained", "t2", kept);
    let task = &track.tasks()[0];
    let reason = "it was cancelled; its work is kept on the branch cleo/run_1/T1-1";
    assert_eq!(task.reason.as_deref(), Some(reason));
    assert_eq!(task.branch.as_deref(), Some("cleo/run_1/T1-1"));
}

#[test]
fn place_of_retained_work_is_named_once() {
    let mut track = two_tasks();
    let failed = json!({"taskId": "T1", "reason": "it crashed"});
    apply_one(&mut track, "task.failed", "t1", failed);
    let kept = |worktree: Option<&str>, branch: &str| json!({"taskId": "T1", "worktree": worktree, "branch": branch, "reason": "no commit"});
    for _ in 0..2 {
        apply_one(
            &mut track,
            "worktree.retained",
            "t2",
            kept(Some("/w/T1-1"), "b/T1-1"),
        );
        let task = &track.tasks()[0];
        let reason = "it crashed; its worktree is kept: /w/T1-1";
        assert_eq!(task.reason.as_deref(), Some(reason));
        assert_eq!((task.violations.len(), task.warnings.len()), (1, 1));
    }
    let mut reason = "it crashed".to_string();
    for branch in ["b/T1-1", "b/T1-2"] {
        apply_one(&mut track, "worktree.retained", "t3", kept(None, branch));
        reason += &format!("; its work is kept on the branch {branch}");
        assert_eq!(track.tasks()[0].reason.as_ref(), Some(&reason));
    }
}

#[test]
fn task_sums_its_attempts() {
    let mut track = two_tasks();
    for attempt in [1, 2] {
        let started = json!({"taskId": "T1", "attempt": attempt, "epoch": 3});
        apply_one(&mut track, "task.started", "t1", started);
        let ended = json!({"taskId": "T1", "durationMs": 5, "cost": 0.25});
        apply_one(&mut track, "agent.ended", "t2", ended);
    }
    apply_one(&mut track, "task.completed", "t3", json!({"taskId": "T1"}));
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
fn cancelled_tasks_are_not_counted_as_failed() {
    let mut track = two_tasks();
    for (task, outcome) in [(1, Outcome::Cancelled), (2, Outcome::AgentError)] {
        let failed = json!({"taskId": TaskId(task), "outcome": outcome});
        apply_one(&mut track, "task.failed", "t1", failed);
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
fn conversation_totals_last_until_new_one_begins() {
    let mut track = two_tasks();
    let costs = [(false, 0.1), (true, 0.2), (false, 0.5)];
    let mut conversed = Vec::new();
    for (resumes, cost) in costs {
        let started = json!({"taskId": "T1", "resumes": resumes});
        apply_one(&mut track, "task.started", "t1", started);
        let ended = json!({"taskId": "T1", "cost": cost});
        apply_one(&mut track, "agent.ended", "t2", ended);
        apply_one(&mut track, "run.resumed", "t3", json!({}));
        conversed.push(track.tasks()[0].conversed.cost);
    }
    assert_eq!(conversed, [Some(0.1), Some(0.3), Some(0.5)]);
    assert_eq!(track.tasks()[0].spent.cost, Some(0.8));
}

#[test]
fn conversation_is_resumed_unless_missing() {
    for (resumes, outcome, left) in [
        (None, Outcome::AgentError, Some("s1")),
        (None, Outcome::RateLimited, Some("s1")),
        (Some(false), Outcome::AgentError, None),
    ] {
        let mut track = two_tasks();
        let conversation = json!({"taskId": "T1", "conversation": "s1"});
        apply_one(&mut track, "agent.conversation", "t1", conversation);
        let ended =
            json!({"taskId": "T1", "resumes": resumes, "outcome": outcome, "conversation": "s1"});
        apply_one(&mut track, "agent.ended", "t2", ended);
        assert_eq!(track.tasks()[0].conversation.as_deref(), left);
    }
}

#[test]
fn attempt_of_killed_run_ends_at_its_last_event() {
    let at = |second: u32| format!("2026-01-26T10:00:{second:02}.000Z");
    let mut track = two_tasks();
    apply_one(&mut track, "task.started", &at(1), json!({"taskId": "T1"}));
    apply_one(&mut track, "agent.started", &at(2), json!({"taskId": "T1"}));
    apply_one(
        &mut track,
        "agent.progress",
        &at(5),
        json!({"taskId": "T1"}),
    );
    apply_one(&mut track, "run.cancel", &at(30), json!({}));
    apply_one(&mut track, "run.interrupted", &at(40), json!({}));
    apply_one(&mut track, "run.resumed", &at(50), json!({}));
    assert_eq!(track.tasks()[0].duration_ms, 3_000);
}

#[test]
fn resume_reopens_unfinished_tasks() {
    let mut track = two_tasks();
    apply_one(&mut track, "task.started", "t1", json!({"taskId": "T1"}));
    let failed = json!({"taskId": "T2", "outcome": "agent_error"});
    apply_one(&mut track, "task.failed", "t2", failed);
    apply_one(&mut track, "run.resumed", "t3", json!({}));
    let states = track.tasks().iter().map(|task| task.state);
    let states: Vec<_> = states.collect();
    assert_eq!(states, [StepState::Waiting, StepState::Failed]);
}

#[test]
fn resume_knows_open_attempts_and_their_last_messages() {
    let mut track = two_tasks();
    apply_one(&mut track, "task.started", "t1", json!({"taskId": "T1"}));
    let ended = json!({"taskId": "T1", "outcome": "ok", "message": "I am done."});
    apply_one(&mut track, "agent.ended", "t2", ended);
    apply_one(&mut track, "task.started", "t3", json!({"taskId": "T1"}));
    let cut_off = json!({"taskId": "T1", "outcome": "cancelled"});
    apply_one(&mut track, "agent.ended", "t3", cut_off);
    for _ in 0..2 {
        apply_one(&mut track, "run.resumed", "t4", json!({}));
        let task = &track.tasks()[0];
        assert_eq!((task.is_held, task.ended), (true, Some(Outcome::Ok)));
        assert_eq!(task.message.as_deref(), Some("I am done."));
    }
    apply_one(&mut track, "task.failed", "t5", json!({"taskId": "T1"}));
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
fn time_of_each_process_counts_until_its_last_event() {
    let mut events = Vec::new();
    for (second, kind, counted) in [
        (1, "run.started", Some(0)),
        (4, "agent.progress", Some(3_000)),
        (20, "run.cancel", Some(3_000)),
        (30, "run.interrupted", None),
        (31, "agent.ended", None),
        (40, "run.resumed", Some(0)),
        (42, "agent.started", Some(2_000)),
        (43, RUN_FINISHED, None),
    ] {
        events.push(plain(second, kind));
        assert_eq!(
            RunProjection::read(&events).count_open_time(),
            counted,
            "{kind}"
        );
    }
    assert_eq!(RunProjection::default().count_open_time(), None);
}

#[test]
fn plan_starts_at_its_first_event() {
    let mut events = Vec::new();
    for (second, kind, step, counted) in [
        (1, "chat", None, Some(0)),
        (2, "plan", None, Some(1_000)),
        (4, "error", Some("a"), Some(3_000)),
        (5, "plan", None, Some(4_000)),
        (9, "run.cancel", None, Some(4_000)),
        (10, "run.interrupted", None, None),
        (20, PLAN_RESUMED, None, Some(0)),
        (23, "stepCompleted", Some("a"), Some(3_000)),
        (24, RUN_FINISHED, None, None),
        (30, "run.cancel", None, None),
    ] {
        let mut told = plain(second, kind);
        let step = step.map(|step: &str| ("stepId".to_string(), step.into()));
        told.detail.extend(step);
        events.push(told);
        assert_eq!(
            RunProjection::read(&events).count_open_time(),
            counted,
            "{second} {kind}"
        );
    }
}
