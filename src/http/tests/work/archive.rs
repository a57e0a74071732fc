use serde_json::json;

use super::{Names, plan_epic};
use crate::http::tests::World;

#[test]
fn closed_tasks_are_archived_and_unarchived() {
    plan_epic().walk(
        r#"
        POST /api/work/archive {"tasks": ["T2"]} -> 409 E_STATUS_REFUSED
        POST /api/work/tasks/T2/start {} -> 200
        POST /api/work/tasks/T2/complete {} -> 200
        POST /api/work/archive {"tasks": ["T2"], "dryRun": true} -> 200 {"tasks": ["T2"], "operation": null}
        GET /api/work/tasks?archived=only -> 200 {"total": 0}
        POST /api/work/archive {"tasks": ["T2"], "agent": "tidy"} -> 200 {"total": 1, "dryRun": false, "operation": "$operation"}
        GET /api/work/tasks?archived=only -> 200 {"total": 1}
        POST /api/work/undo {"operation": "$operation"} -> 200
        GET /api/work/tasks?archived=only -> 200 {"total": 0}
        POST /api/work/archive {"olderThan": "2999-01-01", "epic": "T1"} -> 200 {"tasks": ["T2"]}
        POST /api/work/unarchive {"tasks": ["T2"]} -> 200 {"tasks": ["T2"]}
        GET /api/work/tasks?archived=only -> 200 {"total": 0}
        POST /api/work/archive {"tasks": ["T99"]} -> 404 E_TASK_NOT_FOUND
        POST /api/work/archive {} -> 400 E_INPUT_INVALID
        POST /api/work/archive {"olderThan": "soon"} -> 400 E_INPUT_INVALID
        POST /api/work/archive {"epic": "T1", "tasks": ["T2"]} -> 400 E_INPUT_INVALID
        POST /api/work/unarchive {"tasks": ["T99"]} -> 404
        POST /api/work/unarchive {} -> 400
        POST /api/work/unarchive {"tasks": []} -> 400
        "#,
    );
}

#[test]
fn export_is_imported_elsewhere_and_again() {
    let world = plan_epic();
    let told = world.get("/api/work/export");
    assert_eq!(told.header("content-type"), "application/x-ndjson");
    World::new().walk_with(
        Names::from([("text".to_string(), json!(told.text()))]),
        r#"
        POST /api/work/import {"text": "$text", "dryRun": true} -> 200 {"added": 5, "dryRun": true}
        GET /api/work/tasks -> 200 {"total": 0}
        POST /api/work/import {"text": "$text"} -> 200 {"added": 5}
        POST /api/work/import {"text": "$text"} -> 200 {"unchanged": 5}
        "#,
    );
}

#[test]
fn faulty_import_is_refused_and_imports_nothing() {
    World::new().walk(
        r#"
        POST /api/work/import {"text": "{\"cleo\":\"tasks\",\"version\":1}\n{\"id\":\n"} -> 400 E_IMPORT_INVALID {"result": {"faults": {"total": 1}}}
        POST /api/work/import {"text": ""} -> 400 {"error": {"message": "~the text"}}
        POST /api/work/import {"text": "what is this"} -> 400 {"error": {"message": "~the text"}}
        POST /api/work/import {"text": "{}", "from": "odd"} -> 400
        # Files of the server are out of reach.
        POST /api/work/import {"text": "x", "from": "backlog"} -> 400
        GET /api/work/tasks -> 200 {"total": 0}
        "#,
    );
}
