use std::fs;

use serde_json::{Value, json};

use super::{code, planned};
use crate::http::tests::World;
use crate::ops::tokens::Scope;

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
