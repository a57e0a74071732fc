use std::fs;

use serde_json::{Value, json};

use super::{code, planned};
use crate::http::tests::World;
use crate::ops::tokens::Scope;

#[test]
fn prompt_preview_is_not_recorded() {
    let world = planned();
    let dispatch = world.get("/api/work/tasks/T3/dispatch").with(200);
    assert_eq!(dispatch["skill"], "ct-task-executor");
    assert!(!dispatch["rejected"].as_array().unwrap().is_empty());
    let shown = world.get("/api/work/tasks/T2/prompt").with(200);
    assert_eq!(
        code(&world.get("/api/work/tasks/T2/why").with(404)),
        "E_RECEIPT_NOT_FOUND"
    );
    let spawned = world.post("/api/work/tasks/T2/spawn", json!({})).with(200);
    assert_eq!(shown["promptDigest"], spawned["promptDigest"]);
    assert_eq!(
        world.get("/api/work/tasks/T2/why").with(200)["reproduced"],
        true
    );
    let refused = world.post("/api/work/tasks/T2/verify", json!({})).with(422);
    assert_eq!(refused["result"]["verdict"], "fail");
    assert_eq!(code(&refused), "E_ENTRY_MISSING");
    let left = world.get("/api/work/tasks/T2/manifest").with(200);
    assert_eq!(
        (&left["verdict"], &left["entry"], &left["text"]),
        (&json!("fail"), &Value::Null, &Value::Null)
    );
    let refused = world
        .post("/api/work/tasks/T2/complete", json!({}))
        .with(422);
    assert_eq!(code(&refused), "E_NOT_VERIFIED");
    let page = world.get("/api/work/tasks/T2").with(200);
    assert_eq!(page["spawns"][0]["manifestId"], spawned["manifestId"]);
    world
        .get("/api/work/tasks/T2/prompt?template=nobody")
        .with(404);
}

#[test]
fn gate_follows_its_command_and_only_admins_run_commands() {
    let world = planned();
    let path = |gate: &str| format!("/api/work/tasks/T2/gates/{gate}");
    let told = world
        .post(&path("implemented"), json!({"notes": ["seen"]}))
        .with(200);
    assert_eq!(told["gates"]["implemented"]["passed"], true);
    let told = world
        .post(&path("testsPassed"), json!({"run": ["false"]}))
        .with(200);
    assert_eq!(told["gates"]["testsPassed"]["passed"], false);
    let evidence = &told["gates"]["testsPassed"]["evidence"][0];
    assert_eq!(
        (&evidence["kind"], &evidence["exitCode"]),
        (&json!("command"), &json!(1))
    );
    let page = world.get("/api/work/tasks/T2").with(200);
    assert_eq!(
        (&page["state"], &page["gates"]["states"][1]),
        (&json!("failed"), &json!("failed"))
    );
    let token = world.token("ann", Scope::Write);
    let refused = world.by(
        &token,
        "POST",
        &path("testsPassed"),
        json!({"run": ["true"]}),
    );
    assert_eq!(code(&refused.with(403)), "E_FORBIDDEN");
    world
        .by(
            &token,
            "POST",
            &path("testsPassed"),
            json!({"notes": ["x"]}),
        )
        .with(200);
    assert_eq!(
        code(&world.post(&path("odd"), json!({})).with(400)),
        "E_GATE_UNKNOWN"
    );
    world
        .post(&path("qaPassed"), json!({"files": ["../../etc/passwd"]}))
        .with(400);
}

#[test]
fn invalid_evidence_file_is_refused_without_its_path() {
    let world = planned();
    std::fs::create_dir(world.folder.path().join("sub")).unwrap();
    std::os::unix::fs::symlink("/etc", world.folder.path().join("link")).unwrap();
    let unreadable = "E_FILE_UNREADABLE";
    for (body, named, message) in [
        (
            json!({"files": ["nope"]}),
            unreadable,
            "nope is no regular file that can be read",
        ),
        (
            json!({"files": ["sub"]}),
            unreadable,
            "sub is no regular file that can be read",
        ),
        (
            json!({"files": ["link/passwd"]}),
            "E_PATH_OUTSIDE_WORKSPACE",
            "`link/passwd` leads out of the workspace",
        ),
        (
            json!({"run": ["./sub"]}),
            unreadable,
            "`./sub` cannot be started: Permission denied (os error 13)",
        ),
    ] {
        let told = world.post("/api/work/tasks/T2/gates/implemented", body);
        let exit = told.json()["error"]["exitCode"].clone();
        let error = json!({"code": named, "exitCode": exit, "message": message,
            "alternatives": [], "retryable": false});
        assert_eq!(told.with(400), json!({"error": error}));
    }
}

#[test]
fn a_prompt_carries_the_protocol_or_is_refused() {
    let world = planned();
    let prompt = world.get("/api/work/tasks/T2/prompt").with(200)["prompt"].clone();
    let check = |body: Value| world.post("/api/work/verify/prompt", body);
    let told = check(json!({"text": prompt, "task": "T2", "strict": true})).with(200);
    assert_eq!(told["verdict"], "pass");
    let told = check(json!({"text": prompt, "task": "T3"})).with(422);
    assert_eq!(code(&told), "E_PROTOCOL_MISSING");
    let told = check(json!({"text": "Do it."})).with(422);
    assert_eq!(told["result"]["verdict"], "fail");
    check(json!({"text": "Do it.", "task": "T99"})).with(404);
    check(json!({"text": " "})).with(400);
    check(json!({"file": "/etc/passwd"})).with(400);
}

#[test]
fn a_last_message_is_one_of_the_sentences_and_who_reads_may_ask() {
    let world = planned();
    let path = "/api/work/verify/message";
    let good = json!({"message": "Task complete. See MANIFEST.jsonl for summary."});
    let reader = world.token("ann", Scope::Read);
    let told = world.by(&reader, "POST", path, good).with(200);
    assert_eq!(told["status"], "complete");
    let told = world.post(path, json!({"message": "I did it."})).with(422);
    assert_eq!(code(&told), "E_RETURN_MESSAGE");
    assert!(told["result"]["nearest"].is_string());
    world.post(path, json!({})).with(400);
}

/// Writes a line into the manifest that is no entry.
fn torn(world: &World) {
    let folder = world.folder.path().join("claudedocs/agent-outputs");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("MANIFEST.jsonl"), "not json\n").unwrap();
}

#[test]
fn the_manifest_is_checked_and_cleaned() {
    let world = planned();
    let whole = world.raw("POST", "/api/work/verify/manifest", "");
    assert_eq!(whole.with(200)["verdict"], "pass");
    let one = json!({"entry": "nope"});
    let told = world.post("/api/work/verify/manifest", one).with(422);
    assert_eq!(code(&told), "E_ENTRY_MISSING");
    torn(&world);
    let told = world.get("/api/work/manifest/validate").with(400);
    assert_eq!(
        (code(&told), &told["result"]["valid"]),
        ("E_MANIFEST_INVALID", &json!(false))
    );
    let compact = |body: Value| world.post("/api/work/manifest/compact", body);
    let tried = compact(json!({"dryRun": true})).with(200);
    assert_eq!((&tried["total"], &tried["kept"]), (&json!(1), &json!(0)));
    world.get("/api/work/manifest/validate").with(400);
    assert_eq!(compact(json!({})).with(200)["total"], 1);
    let told = world.get("/api/work/manifest/validate").with(200);
    assert_eq!(told["valid"], true);
    compact(json!({"file": "x"})).with(400);
}

#[test]
fn a_skill_is_judged_by_its_text() {
    let world = planned();
    let text = "---\nname: my-skill\ndescription: Does it well. Use when it is to be done.\n---\n\n# Do it\n";
    let judge = |name: &str| {
        let body = json!({"name": name, "text": text});
        world.post("/api/work/skills/validate", body)
    };
    assert_eq!(judge("my-skill").with(200)["valid"], true);
    let told = judge("other").with(400);
    assert_eq!(code(&told), "E_SKILL_INVALID");
    assert!(told["result"]["faults"][0]["line"].is_u64());
    world
        .post("/api/work/skills/validate", json!({"name": "x"}))
        .with(400);
}
