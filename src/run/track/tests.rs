use serde_json::json;

use super::*;

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
        (Stage::Failed, Some("all done"))
    );
    assert_eq!(tries[0].missing, ["no entry"]);
    let found = tries[0].verification.as_ref().unwrap();
    assert_eq!(
        (found.started_at.as_str(), found.passed),
        ("t4", Some(false))
    );
    assert!(tries[1].resumes && tries[1].state == Stage::Running);
    assert_eq!(
        track.load.iter().map(|load| load.n).collect::<Vec<_>>(),
        [1, 0, 1]
    );
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
    assert_eq!((whole.load, whole.cursor), (parts.load, parts.cursor));
}

#[test]
fn what_was_under_way_when_the_process_ended_was_cancelled() {
    let mut track = Track::default();
    track.take(&story());
    track.take(&[event(8, kind::RUN_RESUMED, json!({}))]);
    let last = track.attempts(TaskId(1)).last().unwrap();
    assert_eq!(
        (last.state, last.outcome),
        (Stage::Failed, Some(Outcome::Cancelled))
    );
    assert_eq!(last.verification, None);
    assert!(last.was_cancelled() && !last.has_failed());
    assert_eq!(
        track.tally(),
        (2, 1, 0),
        "what was cancelled has not failed"
    );
    assert_eq!(track.load.last().unwrap().n, 0);
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
