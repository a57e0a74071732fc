use super::plan_epic;
use crate::http::tests::World;
use crate::id::TaskId;
use crate::ops::Assignment;
use crate::session::SessionId;

#[test]
fn session_is_started_ended_and_resumed() {
    plan_epic().walk(
        r#"
        POST /api/work/sessions {"agent": "lead", "scope": "T1", "name": "Release"} -> 201 {"session": {"id": "S1", "holder": "me@here/lead"}}
        GET /api/work/sessions/S1 -> 200 {"next": "T2"}
        POST /api/work/sessions {"agent": "other", "scope": "T2"} -> 409 E_SCOPE_CONFLICT
        POST /api/work/sessions {"agent": "lead"} -> 409 E_SESSION_EXISTS
        GET /api/work/sessions/S9 -> 404
        POST /api/work/sessions/S9/end {} -> 404
        POST /api/work/sessions/S9/resume {} -> 404
        GET /api/work/sessions/T1 -> 400
        POST /api/work/sessions/T1/end {} -> 400
        POST /api/work/sessions/T1/resume {} -> 400
        GET /api/work/sessions?status=odd -> 400
        # The focus is that of the holder of the session.
        PUT /api/work/focus {"agent": "lead", "task": "T2"} -> 200 {"focus": {"id": "T2"}, "session": {"focus": "T2"}}
        GET /api/work/focus?session=S1 -> 200 {"focus": {"id": "T2"}}
        GET /api/work/focus?agent=lead -> 200 {"session": {"id": "S1"}}
        GET /api/work/focus -> 409 E_SESSION_REQUIRED
        PUT /api/work/focus {"agent": "lead", "task": "T99"} -> 404
        PUT /api/work/focus {"agent": "lead"} -> 200 {"focus": null}
        # The end.
        POST /api/work/sessions/S1/end {} -> 409 E_SESSION_CLOSE_BLOCKED
        POST /api/work/sessions/S1/end {"agent": "lead", "note": ""} -> 400
        POST /api/work/sessions/S1/end {"agent": "lead", "note": "T4 waits"} -> 200 {"session": {"status": "ended", "notes": {"0": {"text": "T4 waits"}}}}
        GET /api/work/sessions?status=open -> 200 {"total": 0}
        POST /api/work/sessions/S1/resume -> 200 {"session": {"holder": "me@here"}}
        GET /api/work/sessions?status=open -> 200 {"total": 1}
        "#,
    );
}

#[test]
fn env_of_server_gives_callers_no_task() {
    let world = World::with_assignment(Assignment {
        run: Some("exec_1_a".to_string()),
        task: Some(TaskId(1)),
        epoch: Some(7),
        session: Some(SessionId(9)),
        ..Assignment::default()
    });
    world.walk(
        r#"
        POST /api/work/tasks {"title": "One"} -> 201
        POST /api/work/tasks/T1/claim {"agent": "ann"} -> 200
        POST /api/work/tasks/T1/start {"agent": "ann"} -> 200
        POST /api/work/tasks/T1/complete {"agent": "ann"} -> 200
        POST /api/work/sessions {"agent": "ann"} -> 201
        GET /api/work/focus?agent=ann -> 200 {"session": {"id": "S1"}}
        POST /api/work/sessions/S1/end {"agent": "ann", "note": "half of it"} -> 200
        "#,
    );
}

#[test]
fn phases_go_from_named_to_completed() {
    let world = plan_epic();
    world.walk(
        r#"
        PATCH /api/work/tasks/T2 {"phase": "build"} -> 200
        PATCH /api/work/tasks/T3 {"phase": "ship"} -> 200
        GET /api/work/phases -> 200 {"total": 2, "current": null}
        POST /api/work/phases/build/start -> 200 {"phase": {"status": "active"}}
        POST /api/work/phases/build/complete {} -> 409 E_STATUS_REFUSED
        POST /api/work/phases/build/complete {"force": true} -> 200 {"phase": {"status": "completed"}, "changed": true}
        POST /api/work/phases/ship/set {"agent": "lead"} -> 200 {"phase": {"status": "active"}}
        GET /api/work/phases -> 200 {"current": "ship"}
        "#,
    );
    for name in ["nope", "%00", &"a".repeat(5_000)] {
        for verb in ["set", "start", "complete"] {
            let path = format!("/api/work/phases/{name}/{verb}");
            world.walk(&format!("POST {path} {{}} -> 404 E_PHASE_NOT_FOUND"));
        }
    }
}
