//! Tasks in the words of the multi-agent specification.

use serde_json::Value;

use super::World;

/// A0-18.
#[test]
fn task_is_created_changed_found_and_counted() {
    World::new().walk(
        r#"
        POST /api/tasks/create {"title": "Write", "priority": "urgent", "assigned_to": "ami-creative"} -> 201 {"task": {"id": "T1", "status": "todo", "priority": "urgent", "user_id": "me@here", "created_by": "me@here"}}
        PUT /api/tasks/T1 {"status": "doing"} -> 200 {"task": {"status": "doing", "started_at": "*"}}
        PUT /api/tasks/T1 {"status": "review"} -> 200 {"task": {"status": "review", "started_at": "*"}}
        PUT /api/tasks/T1 {"status": "done"} -> 200 {"task": {"status": "done", "completed_at": "*"}}
        GET /api/tasks/stats -> 200 {"stats": {"total": 1, "byStatus": {"done": 1}, "completionRate": 1.0}}
        PUT /api/tasks/T1 {"status": "in-progress"} -> 200
        PUT /api/tasks/T1 {"tags": ["a", "b"], "due_date": "2020-01-01"} -> 200 {"task": {"tags": ["a", "b"]}}
        PUT /api/tasks/T1 {"tags": ["c"], "assigned_to": null} -> 200 {"task": {"tags": ["c"], "assigned_to": null}}
        GET /api/tasks?due=overdue&status=doing -> 200 {"total": 1}
        GET /api/tasks?q=WRITE -> 200 {"total": 1, "tasks": [{"created_by": "me@here"}]}
        GET /api/tasks?due=none -> 200 {"total": 0}
        GET /api/tasks?status=todo -> 200 {"total": 0}
        GET /api/tasks?agent=nobody -> 200 {"total": 0}
        GET /api/tasks?q=other -> 200 {"total": 0}
        GET /api/tasks?assigned=true -> 200 {"total": 0}
        "#,
    );
}

#[test]
fn tasks_sort_by_priority_and_due_date() {
    World::new().walk(
        r#"
        POST /api/tasks/create {"title": "a", "priority": "low", "due_date": "2026-01-01"} -> 201
        POST /api/tasks/create {"title": "b", "priority": "urgent", "due_date": null} -> 201
        POST /api/tasks/create {"title": "c", "priority": "urgent", "due_date": "2026-01-02"} -> 201
        POST /api/tasks/create {"title": "d", "priority": "medium", "due_date": null} -> 201
        GET /api/tasks -> 200 {"tasks": [{"title": "c"}, {"title": "b"}, {"title": "d"}, {"title": "a"}]}
        GET /api/tasks?limit=2&offset=1 -> 200 {"tasks": [{"title": "b"}, {"title": "d"}]}
        "#,
    );
}

/// A0-18.
#[test]
fn invalid_tasks_are_refused() {
    let world = World::new();
    let long = format!(
        r#"POST /api/tasks/create {{"title": "{}"}} -> 400 {{"success": false}}"#,
        "x".repeat(201)
    );
    world.walk(&long);
    world.walk(
        r#"
        POST /api/tasks/create {} -> 400 {"success": false}
        POST /api/tasks/create {"title": "  "} -> 400 {"success": false}
        POST /api/tasks/create {"title": "a", "priority": "asap"} -> 400 {"success": false}
        POST /api/tasks/create {"title": "a", "due_date": "tomorrow"} -> 400 {"success": false}
        POST /api/tasks/create {"title": "a", "estimated_hours": -1} -> 400 {"success": false, "field": "estimated_hours"}
        POST /api/tasks/create {"title": "a", "estimated_hours": 1.005} -> 400 {"success": false}
        POST /api/tasks/create {"title": ["a"]} -> 400 {"success": false}
        POST /api/tasks/create {"title": "a\u001b[2J"} -> 400 {"success": false}
        POST /api/tasks/create {"title": "a", "status": "bogus"} -> 400 {"success": false}
        POST /api/tasks/create {"title": "a", "status": "doing"} -> 400 {"success": false}
        POST /api/tasks/create {"title": "a", "tags": ["a,b"]} -> 400 {"error": "~holds a comma, which separates labels", "field": "tags"}
        POST /api/work/tasks {"title": "a", "labels": ["a,b"]} -> 400 {"error": {"message": "~holds a comma, which separates labels"}}
        POST /api/work/tasks {"title": "a", "depends": [" T1"]} -> 400
        POST /api/tasks/create {"title": "a", "assigned_to": "nobody"} -> 404
        GET /api/tasks -> 200 {"total": 0}
        POST /api/tasks/create {"title": "a", "description": "two"} -> 201
        PUT /api/tasks/T1 {"status": "bogus"} -> 400
        PUT /api/tasks/T1 {} -> 400
        GET /api/tasks?limit=x -> 400
        PUT /api/tasks/T1 {"description": "three", "title": null} -> 400 E_INPUT_INVALID {"success": false, "field": "title", "error": "title is null, and a task is not without one"}
        PUT /api/tasks/T1 {"description": "three", "status": null} -> 400 E_INPUT_INVALID {"success": false, "field": "status", "error": "status is null, and a task is not without one"}
        PUT /api/tasks/T1 {"description": "three", "priority": null} -> 400 E_INPUT_INVALID {"success": false, "field": "priority", "error": "priority is null, and a task is not without one"}
        GET /api/tasks/T1 -> 200 {"task": {"status": "todo", "description": "two"}}
        "#,
    );
}

#[test]
fn words_are_those_of_the_specification() {
    World::new().walk(
        r#"
        POST /api/tasks/create {"title": "a", "status": "zz"} -> 400 {"error": "status: `zz` is not a valid status; use one of todo, doing, review, done, paused, cancelled", "field": "status"}
        POST /api/tasks/create {"title": "a", "priority": "asap"} -> 400 {"error": "priority: `asap` is not a valid priority; use one of low, medium, high, urgent"}
        POST /api/tasks/create {"title": "a", "status": "Todo", "priority": "HIGH"} -> 201 {"task": {"status": "todo", "priority": "high"}}
        PUT /api/tasks/T1 {"status": "blocked"} -> 400 {"error": "status: `blocked` is not a valid status; use one of todo, doing, review, done, paused, cancelled"}
        PUT /api/tasks/T1 {"status": "in-progress", "priority": "critical"} -> 200 {"task": {"status": "doing", "priority": "urgent"}}
        PUT /api/tasks/T1 {"assigned_to": "ami-creative", "due_date": "soon"} -> 400 {"field": "due_date"}
        PUT /api/tasks/T1 {"assigned_to": "a\u0001"} -> 404
        GET /api/tasks?status=blocked -> 400
        PATCH /api/work/tasks/T1 {"status": "blocked"} -> 200
        PUT /api/tasks/T1 {"title": "b", "status": "paused"} -> 200 {"task": {"title": "b", "status": "paused"}}
        GET /api/work/tasks/T1 -> 200 {"task": {"status": "blocked"}}
        PUT /api/tasks/T1 {"status": "doing"} -> 200
        GET /api/tasks?status=doing&priority=urgent -> 200 {"total": 1}
        "#,
    );
}

#[test]
fn misspelled_field_is_answered_with_nearest_one() {
    World::new().walk(
        r#"
        POST /api/conversations/create {"agent_id": "chat"} -> 201 {"conversation": "$talk"}
        GET /api/conversations -> 200 {"conversations": [{"id": "$id"}]}
        POST /api/tasks/create {"title": "a", "status": "todo"} -> 201 {"task": "$task"}
        POST /api/tasks/create {"title": "a", "prioritty": "high"} -> 400 {"error": "~`priority` is the nearest"}
        PUT /api/tasks/T1 {"titel": "x"} -> 400 {"error": "~`title` is the nearest"}
        POST /api/work/tasks/T1/claim {"agnet": "x"} -> 400 {"error": {"message": "~`agent` is the nearest"}}
        PUT /api/tasks/T1 {"title": "a", "created_at": 1, "createdAt": 1} -> 200
        PUT /api/tasks/T1 {"title": "a", "CREATEDAT": 1} -> 400
        PUT /api/conversations/$id {"titel": "x"} -> 400 {"error": "~`title` is the nearest"}
        POST /api/agents/create {"name": "A", "prompt": "p", "temprature": 1} -> 400 {"error": "~`temperature` is the nearest"}
        PUT /api/agents/ami-creative {"temprature": 1} -> 400 {"error": "~`temperature` is the nearest"}
        # A change may hold all fields of the reply.
        PUT /api/tasks/T1 "$task" -> 200
        PUT /api/conversations/$id "$talk" -> 200
        POST /api/agents/create {"name": "B", "prompt": "p", "toolSchemas": [], "memoryType": "none"} -> 201
        "#,
    );
}

#[test]
fn limits_of_lists_are_one_at_least() {
    let world = World::new();
    let names = world.walk(
        r#"POST /api/conversations/create {"agent_id": "chat"} -> 201 {"conversation": {"id": "$talk"}}"#,
    );
    let talk = format!("/api/conversations/{}", names["talk"].as_str().unwrap());
    let limits = [("0", 400), ("1", 200), ("-1", 400), ("x", 400)];
    let large = [("4294967296", 200), ("99999999999999999999", 200)];
    for (path, takes_all) in [
        ("/api/tasks", true),
        ("/api/conversations", true),
        (talk.as_str(), true),
        ("/api/agents/execute", true),
        ("/api/agents/delegations", true),
        ("/api/runs", false),
        ("/api/work/tasks", false),
    ] {
        let large = large.iter().filter(|_| takes_all);
        for (limit, status) in limits.iter().chain(large) {
            let told = world.get(&format!("{path}?limit={limit}"));
            assert_eq!(told.status, *status, "{path} {limit}");
        }
    }
    let described = world.get("/openapi.json").with(200);
    let paths = described["paths"].as_object().unwrap().values();
    let lists = paths.filter_map(|path| path["get"]["parameters"].as_array());
    let limits = lists.flatten().filter(|one| one["name"] == "limit");
    let least: Vec<&Value> = limits.map(|one| &one["schema"]["minimum"]).collect();
    assert!(!least.is_empty());
    assert!(least.iter().all(|least| **least == 1), "{least:?}");
}
