use super::plan_epic;
use crate::http::tests::World;

#[test]
fn task_is_added_changed_undone_and_deleted() {
    World::new().walk(
        r#"
        POST /api/work/tasks {"title": "First", "key": "k"} -> 201 {"task": {"id": "T1"}, "created": true}
        POST /api/work/tasks {"title": "First", "key": "k"} -> 200 {"created": false, "operation": null}
        PATCH /api/work/tasks/T1 {"title": "Better", "addLabels": ["a"], "notes": ["so it is"], "clear": ["key"]} -> 200 {"task": {"title": "Better", "labels": ["a"], "notes": {"0": {"by": "me@here"}}}, "operation": "$operation"}
        POST /api/work/undo {"operation": "$operation"} -> 200
        GET /api/work/tasks/T1 -> 200 {"task": {"title": "First", "key": "k"}}
        # An undo names its operation.
        POST /api/work/undo {} -> 400 E_INPUT_INVALID
        POST /api/work/undo {"operation": null} -> 400 E_INPUT_INVALID
        GET /api/work/tasks/T1 -> 200
        DELETE /api/work/tasks/T1 {"dryRun": true} -> 400 E_INPUT_INVALID
        DELETE /api/work/tasks/T1 {} -> 200 {"deleted": ["T1"]}
        GET /api/work/tasks/T1 -> 404 E_TASK_NOT_FOUND
        # Text that a page could mistake for markup comes out as it is.
        POST /api/work/tasks {"title": "<script>'&{{TASK_ID}} $(rm -rf /) %0d%0aSet-Cookie: a=b", "labels": ["<b>"]} -> 201 {"task": {"id": "$id"}}
        GET /api/work/tasks/$id -> 200 {"task": {"title": "<script>'&{{TASK_ID}} $(rm -rf /) %0d%0aSet-Cookie: a=b", "labels": ["<b>"]}}
        GET /api/search?q=script -> 200 {"items": {"0": {"title": "<script>'&{{TASK_ID}} $(rm -rf /) %0d%0aSet-Cookie: a=b"}}}
        POST /api/work/tasks {"title": "a\u001b[31mb"} -> 400 E_TEXT_CONTROL
        "#,
    );
}

#[test]
fn tasks_are_filtered_and_paged() {
    plan_epic().walk(
        r#"
        GET /api/work/tasks?limit=2&offset=1 -> 200 {"tasks": [{"id": "T2"}, {"id": "T3"}], "total": 5}
        GET /api/work/tasks?priority=high -> 200 {"tasks": [{"id": "T3"}], "total": 1}
        GET /api/work/tasks?label=docs&status=pending,active -> 200 {"tasks": [{"id": "T5"}], "total": 1}
        GET /api/work/tasks?type=epic -> 200 {"tasks": [{"id": "T1"}], "total": 1}
        GET /api/work/tasks?q=document -> 200 {"tasks": [{"id": "T5"}], "total": 1}
        GET /api/work/tasks?limit=501 -> 400
        GET /api/work/tasks?limit=%20501 -> 400
        GET /api/work/tasks?limit=5%0A -> 400
        GET /api/work/tasks?status=nope -> 400
        GET /api/work/tasks?parent=x -> 400
        GET /api/work/tasks?parent=T99 -> 404
        "#,
    );
}

#[test]
fn claim_is_held_until_it_is_released_or_lost() {
    plan_epic().walk(
        r#"
        POST /api/work/tasks/T2/claim {"agent": "coder-1"} -> 200 {"claim": {"holder": "me@here/coder-1", "epoch": 1}}
        POST /api/work/tasks/T2/claim {"agent": "coder-2"} -> 409 E_CLAIMED
        POST /api/work/tasks/T2/heartbeat {"epoch": 1, "lease": 60} -> 200
        POST /api/work/tasks/T2/complete {"epoch": 7} -> 409 E_CLAIM_LOST
        POST /api/work/tasks/T2/release {"epoch": 1} -> 200
        POST /api/work/tasks/T2/claim {"epic": "T1"} -> 400 E_INPUT_INVALID
        POST /api/work/claim {"force": true} -> 400 E_INPUT_INVALID
        POST /api/work/claim {"epic": "T1"} -> 200 {"task": {"id": "T2"}}
        POST /api/work/claim {} -> 409 E_NOTHING_READY
        POST /api/work/tasks/T2/heartbeat {"lease": 0} -> 400
        POST /api/work/tasks/T2/claim {"agent": "a\nb"} -> 400
        "#,
    );
}

#[test]
fn token_acts_under_name_of_its_user() {
    plan_epic().walk(
        r#"
        ann POST /api/work/tasks/T2/claim {"agent": "bob"} -> 200 {"claim": {"holder": "ann/bob"}}
        "#,
    );
}

#[test]
fn completed_task_unblocks_its_dependents() {
    plan_epic().walk(
        r#"
        POST /api/work/tasks/T2/start {} -> 200
        POST /api/work/tasks/T2/complete -> 200 {"changed": true, "unblocked": ["T3", "T5"]}
        POST /api/work/tasks/T2/complete {} -> 200 {"changed": false, "operation": null}
        POST /api/work/tasks/T2/reopen {} -> 200
        POST /api/work/tasks/T3/cancel {"reason": "no longer"} -> 200 {"warnings": {"0": "~T4"}}
        GET /api/work/log?task=T3&limit=1 -> 200 {"operations": [{"command": "cancel"}]}
        "#,
    );
}

#[test]
fn refusal_lists_the_faults_of_all_fields() {
    let world = World::new();
    let long = "x".repeat(501);
    let fields = r#"{"title": "~501 characters", "estimate": "~hours from 0", "files": "~outside",
        "acceptance": "~without a shell", "depends": "~no task T9", "parent": "~not a task id"}"#
        .replace('\n', "");
    world.walk(&format!(
        r#"
        POST /api/work/tasks {{"title": "{long}", "estimate": -1, "files": ["../x"], "depends": ["T9"], "parent": "x", "acceptance": ["a :: b | c"]}} -> 400 {{"error": {{"code": "E_INPUT_INVALID", "fields": {fields}}}}}
        POST /api/work/tasks {{"title": "x", "acceptance": ["a :: true"], "estimate": -1}} -> 400 {{"error": {{"fields": {{"estimate": "*"}}}}}}
        GET /api/work/tasks -> 200 {{"total": 0}}
        POST /api/work/tasks {{"title": "One"}} -> 201
        PATCH /api/work/tasks/T1 {{"title": "", "addFiles": ["/etc"], "addDepends": ["T1"]}} -> 400 {{"error": {{"fields": {{"title": "*", "files": "*", "depends": "*"}}}}}}
        PATCH /api/work/tasks/T1 {{"parent": "T1"}} -> 409 {{"error": {{"fields": {{"parent": "~circle"}}}}}}
        PATCH /api/work/tasks/T1 {{"title": "", "notes": [" "], "requireGates": ["x"], "removeFiles": ["x"], "status": "done"}} -> 400 {{"error": {{"fields": {{"title": "*", "notes": "*", "requireGates": "*", "removeFiles": "*", "status": "*"}}}}}}
        POST /api/work/tasks {{"title": "", "due": "x", "key": ""}} -> 400 {{"error": {{"fields": {{"title": "*", "due": "*", "key": "*"}}}}}}
        POST /api/work/tasks {{"title": "a", "id": "T9"}} -> 400 {{"error": {{"message": "there is no field `id`; there are title, description, type, labels, priority, phase, size, acceptance, files, deliverables, notes, assignedAgent, due, estimate, feature, depends, parent, key, agent"}}}}
        GET /api/work/tasks/T1 -> 200 {{"task": {{"title": "One"}}}}
        "#
    ));
}
