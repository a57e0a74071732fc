use serde_json::{Value, json};

use super::{code, planned};
use crate::http::tests::World;
use crate::ops::tokens::Scope;

#[test]
fn what_was_exported_can_be_imported_elsewhere_and_again() {
    let world = planned();
    let told = world.get("/api/work/export");
    assert_eq!(told.header("content-type"), "application/x-ndjson");
    let text = told.text();
    let other = World::new();
    let import = |body: Value| other.post("/api/work/import", body);
    let tried = import(json!({"text": text, "dryRun": true})).with(200);
    assert_eq!(
        (&tried["added"], &tried["dryRun"]),
        (&json!(5), &json!(true))
    );
    assert_eq!(other.get("/api/work/tasks").with(200)["total"], 0);
    assert_eq!(import(json!({"text": text})).with(200)["added"], 5);
    assert_eq!(import(json!({"text": text})).with(200)["unchanged"], 5);
    let page = world.get("/api/work/export?format=markdown");
    assert!(page.header("content-type").starts_with("text/markdown"));
    assert!(page.text().contains("Release the thing"));
    world.get("/api/work/export?format=odd").with(400);
}

#[test]
fn a_faulty_text_is_refused_with_its_faults_and_imports_nothing() {
    let world = World::new();
    let import = |body: Value| world.post("/api/work/import", body);
    let text = "{\"cleo\":\"tasks\",\"version\":1}\n{\"id\":\n";
    let told = import(json!({"text": text})).with(400);
    assert_eq!(
        (code(&told), &told["result"]["faults"]["total"]),
        ("E_IMPORT_INVALID", &json!(1))
    );
    for text in ["", "what is this"] {
        let told = import(json!({"text": text})).with(400);
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains("the text"), "{message}");
    }
    import(json!({"text": text, "from": "odd"})).with(400);
    // What lies on the server's machine is not reached.
    import(json!({"text": "x", "from": "backlog"})).with(400);
    import(json!({"file": "/etc/passwd"})).with(400);
    assert_eq!(world.get("/api/work/tasks").with(200)["total"], 0);
}

#[test]
fn only_admins_have_all_tasks_go_out_and_come_in_with_their_agents() {
    let world = planned();
    let ann = world.token("ann", Scope::Write);
    let body = json!({"text": "{}"});
    for (method, path) in [("GET", "/api/work/export"), ("POST", "/api/work/import")] {
        let told = world.by(&ann, method, path, body.clone()).with(403);
        assert_eq!(code(&told), "E_FORBIDDEN");
    }
}
