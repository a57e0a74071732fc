use serde_json::{Value, json};

use super::World;
use crate::ops::tokens::Scope;

/// A0-18.
#[test]
fn a_task_goes_its_way_and_is_counted() {
    let world = World::new();
    let made = world.post(
        "/api/tasks/create",
        json!({"title": "Write", "priority": "urgent", "assigned_to": "ami-creative"}),
    );
    let task = made.with(201)["task"].clone();
    assert_eq!(
        (&task["status"], &task["priority"]),
        (&json!("todo"), &json!("urgent"))
    );
    let path = format!("/api/tasks/{}", task["id"].as_str().unwrap());
    for (status, field) in [
        ("doing", "started_at"),
        ("review", "started_at"),
        ("done", "completed_at"),
    ] {
        let told = world
            .call("PUT", &path, json!({"status": status}))
            .with(200);
        assert_eq!(told["task"]["status"], status);
        assert!(told["task"][field].is_string(), "{status}");
    }
    let stats = world.get("/api/tasks/stats").with(200)["stats"].clone();
    assert_eq!(
        (&stats["total"], &stats["byStatus"]["done"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(stats["completionRate"], 1.0);
    world
        .call("PUT", &path, json!({"status": "in-progress"}))
        .with(200);
    let told = world
        .call(
            "PUT",
            &path,
            json!({"tags": ["a", "b"], "due_date": "2020-01-01"}),
        )
        .with(200);
    assert_eq!(told["task"]["tags"], json!(["a", "b"]));
    let told = world
        .call("PUT", &path, json!({"tags": ["c"], "assigned_to": null}))
        .with(200);
    assert_eq!(
        (&told["task"]["tags"], &told["task"]["assigned_to"]),
        (&json!(["c"]), &json!(null))
    );
    assert_eq!(
        world.get("/api/tasks?due=overdue&status=doing").with(200)["total"],
        1
    );
    assert_eq!(world.get("/api/tasks?q=WRITE").with(200)["total"], 1);
    for none in [
        "due=none",
        "status=todo",
        "agent=nobody",
        "q=other",
        "assigned=true",
    ] {
        assert_eq!(
            world.get(&format!("/api/tasks?{none}")).with(200)["total"],
            0,
            "{none}"
        );
    }
}

#[test]
fn the_most_urgent_comes_first_and_then_what_is_due() {
    let world = World::new();
    for (title, priority, due) in [
        ("a", "low", json!("2026-01-01")),
        ("b", "urgent", json!(null)),
        ("c", "urgent", json!("2026-01-02")),
        ("d", "medium", json!(null)),
    ] {
        world
            .post(
                "/api/tasks/create",
                json!({"title": title, "priority": priority, "due_date": due}),
            )
            .with(201);
    }
    let titles = |path: &str| -> Vec<String> {
        let told = world.get(path).with(200);
        let tasks = told["tasks"].as_array().unwrap().iter();
        tasks
            .map(|task| task["title"].as_str().unwrap().to_string())
            .collect()
    };
    assert_eq!(titles("/api/tasks"), ["c", "b", "d", "a"]);
    assert_eq!(titles("/api/tasks?limit=2&offset=1"), ["b", "d"]);
}

/// A0-18.
#[test]
fn what_a_task_cannot_be_is_refused_and_changes_nothing() {
    let world = World::new();
    for body in [
        json!({}),
        json!({"title": "  "}),
        json!({"title": "x".repeat(201)}),
        json!({"title": "a", "priority": "asap"}),
        json!({"title": "a", "due_date": "tomorrow"}),
        json!({"title": "a", "estimated_hours": -1}),
        json!({"title": ["a"]}),
        json!({"title": "a\u{1b}[2J"}),
        json!({"title": "a", "status": "bogus"}),
        json!({"title": "a", "status": "doing"}),
        json!({"title": "a", "prioritty": "high"}),
        json!({"title": "a", "estimated_hours": 1.005}),
    ] {
        let told = world.post("/api/tasks/create", body.clone()).with(400);
        assert_eq!(told["success"], false, "{body}");
    }
    world
        .post(
            "/api/tasks/create",
            json!({"title": "a", "assigned_to": "nobody"}),
        )
        .with(404);
    assert_eq!(world.get("/api/tasks").with(200)["total"], 0);
    world
        .post("/api/tasks/create", json!({"title": "a"}))
        .with(201);
    world
        .call("PUT", "/api/tasks/T1", json!({"status": "bogus"}))
        .with(400);
    world.call("PUT", "/api/tasks/T1", json!({})).with(400);
    world
        .call("PUT", "/api/tasks/T9", json!({"status": "doing"}))
        .with(404);
    for path in [
        "/api/tasks/nope",
        "/api/tasks/T1%00",
        "/api/tasks/..%2f..%2fetc",
        "/api/tasks?limit=x",
        "/api/tasks?nope=1",
    ] {
        assert_eq!(world.get(path).status, 400, "{path}");
    }
    assert_eq!(
        world.get("/api/tasks/T1").with(200)["task"]["status"],
        "todo"
    );
}

#[test]
fn a_task_is_assigned_to_no_agent_of_another_user() {
    let world = World::new();
    let (ann, bob) = (
        world.token("ann", Scope::Write),
        world.token("bob", Scope::Write),
    );
    let agent = json!({"id": "anns", "name": "Anns", "prompt": "p"});
    world
        .by(&ann, "POST", "/api/agents/create", agent)
        .with(201);
    let (path, task) = (
        "/api/tasks/create",
        json!({"title": "a", "assigned_to": "anns"}),
    );
    let told = world.by(&bob, "POST", path, task.clone()).with(404);
    assert_eq!(told["code"], "E_AGENT_NOT_FOUND");
    world.by(&ann, "POST", path, task).with(201);
    let change = json!({"assigned_to": "anns"});
    world
        .by(&bob, "PUT", "/api/tasks/T1", change.clone())
        .with(404);
    world.by(&ann, "PUT", "/api/tasks/T1", change).with(200);
}

#[test]
fn misspelled_field_is_answered_with_the_nearest_one() {
    let world = World::new();
    let talk = json!({"agent_id": "chat"});
    let talk = world.post("/api/conversations/create", talk).with(201);
    let talk = &talk["conversation"];
    let talk_path = format!("/api/conversations/{}", talk["id"].as_str().unwrap());
    let task = json!({"title": "a", "status": "todo"});
    let task = world.post("/api/tasks/create", task).with(201)["task"].clone();
    let agent = "/api/agents/ami-creative";
    for (method, path, body, near) in [
        (
            "POST",
            "/api/tasks/create",
            json!({"title": "a", "prioritty": "high"}),
            "priority",
        ),
        ("PUT", "/api/tasks/T1", json!({"titel": "x"}), "title"),
        ("PUT", talk_path.as_str(), json!({"titel": "x"}), "title"),
        (
            "POST",
            "/api/agents/create",
            json!({"name": "A", "prompt": "p", "temprature": 1}),
            "temperature",
        ),
        ("PUT", agent, json!({"temprature": 1}), "temperature"),
    ] {
        let told = world.call(method, path, body).with(400);
        let error = told["error"].as_str().unwrap();
        assert!(
            error.contains(&format!("`{near}` is the nearest")),
            "{error}"
        );
    }
    // Whoever changes a thing may send all that was told of it.
    world.call("PUT", "/api/tasks/T1", task).with(200);
    world.call("PUT", &talk_path, talk.clone()).with(200);
    let foreign = json!({"name": "B", "prompt": "p", "toolSchemas": [], "memoryType": "none"});
    world.post("/api/agents/create", foreign).with(201);
}

#[test]
fn no_list_is_of_nothing() {
    let world = World::new();
    let talk = json!({"agent_id": "chat"});
    let talk = world.post("/api/conversations/create", talk).with(201);
    let talk = talk["conversation"]["id"].as_str().unwrap();
    let as_many_as_there_are = [
        "/api/tasks",
        "/api/conversations",
        &format!("/api/conversations/{talk}"),
        "/api/agents/execute",
        "/api/agents/delegations",
    ];
    let limits = [("0", 400), ("1", 200), ("-1", 400), ("x", 400)];
    let large = [("4294967296", 200), ("99999999999999999999", 200)];
    let others = ["/api/runs", "/api/work/tasks"].map(|path| (path, &limits[..], &[][..]));
    let all = as_many_as_there_are.map(|path| (path, &limits[..], &large[..]));
    for (path, limits, large) in all.into_iter().chain(others) {
        for (limit, status) in limits.iter().chain(large) {
            let told = world.get(&format!("{path}?limit={limit}"));
            assert_eq!(told.status, *status, "{path} {limit}");
        }
    }
}

#[test]
fn what_a_task_always_has_is_not_emptied() {
    let world = World::new();
    let task = json!({"title": "One", "description": "two"});
    world.post("/api/tasks/create", task).with(201);
    for field in ["title", "status", "priority"] {
        let change = json!({"description": "three", field: null});
        let told = world.call("PUT", "/api/tasks/T1", change).with(400);
        let refused = json!({"success": false, "code": "E_INPUT_INVALID", "field": field,
            "error": format!("{field} is null, and a task is not without one")});
        assert_eq!(told, refused);
    }
    let task = &world.get("/api/tasks/T1").with(200)["task"];
    assert_eq!(task["description"], "two");
}

#[test]
fn every_limit_is_described_as_one_at_least() {
    let described = World::new().get("/openapi.json").with(200);
    let paths = described["paths"].as_object().unwrap().values();
    let lists = paths.filter_map(|path| path["get"]["parameters"].as_array());
    let limits = lists.flatten().filter(|one| one["name"] == "limit");
    let least: Vec<&Value> = limits.map(|one| &one["schema"]["minimum"]).collect();
    assert!(!least.is_empty());
    assert!(least.iter().all(|least| **least == 1), "{least:?}");
}
