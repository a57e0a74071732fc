use std::fs;

use super::plan_epic;

#[test]
fn prompt_preview_is_not_recorded() {
    plan_epic().walk(
        r#"
        GET /api/work/tasks/T3/dispatch?explain=true -> 200 {"skill": "ct-task-executor", "rejected": {"0": "*"}}
        GET /api/work/tasks/T2/prompt -> 200 {"promptDigest": "$digest", "prompt": "$prompt"}
        GET /api/work/tasks/T2/why -> 404 E_RECEIPT_NOT_FOUND
        POST /api/work/tasks/T2/spawn {} -> 200 {"promptDigest": "$digest", "manifestId": "$manifest"}
        GET /api/work/tasks/T2/why -> 200 {"reproduced": true}
        POST /api/work/tasks/T2/verify {} -> 422 E_ENTRY_MISSING {"result": {"verdict": "fail"}}
        GET /api/work/tasks/T2/manifest -> 200 {"verdict": "fail", "entry": null, "text": null}
        POST /api/work/tasks/T2/complete {} -> 422 E_NOT_VERIFIED
        GET /api/work/tasks/T2 -> 200 {"spawns": {"0": {"manifestId": "$manifest"}}}
        GET /api/work/tasks/T2/prompt?template=nobody -> 404
        # A prompt carries the protocol.
        POST /api/work/verify/prompt {"text": "$prompt", "task": "T2", "strict": true} -> 200 {"verdict": "pass"}
        POST /api/work/verify/prompt {"text": "$prompt", "task": "T3"} -> 422 E_PROTOCOL_MISSING
        POST /api/work/verify/prompt {"text": "Do it."} -> 422 {"result": {"verdict": "fail"}}
        POST /api/work/verify/prompt {"text": "Do it.", "task": "T99"} -> 404
        POST /api/work/verify/prompt {"text": " "} -> 400
        GET /api/work/block -> 200 {"block": "~BEGIN SUBAGENT PROTOCOL"} has {{
        GET /api/work/tasks/T2/block -> 200 {"block": "~BEGIN SUBAGENT PROTOCOL"} has T2
        # A last message is one of the sentences of the protocol.
        ann/read POST /api/work/verify/message {"message": "Task complete. See MANIFEST.jsonl for summary."} -> 200 {"status": "complete"}
        POST /api/work/verify/message {"message": "I did it."} -> 422 E_RETURN_MESSAGE {"result": {"nearest": "~"}}
        POST /api/work/verify/message {} -> 400
        # A skill is judged by its text.
        POST /api/work/skills/validate {"name": "my-skill", "text": "---\nname: my-skill\ndescription: Does it well. Use when it is to be done.\n---\n\n# Do it\n"} -> 200 {"valid": true}
        POST /api/work/skills/validate {"name": "other", "text": "---\nname: my-skill\ndescription: Does it well. Use when it is to be done.\n---\n\n# Do it\n"} -> 400 E_SKILL_INVALID {"result": {"faults": {"0": {"line": "*"}}}}
        POST /api/work/skills/validate {"name": "x"} -> 400
        "#,
    );
}

#[test]
fn gate_follows_its_command_and_only_admins_run_commands() {
    plan_epic().walk(
        r#"
        POST /api/work/tasks/T2/gates/implemented {"notes": ["seen"]} -> 200 {"gates": {"implemented": {"passed": true}}}
        POST /api/work/tasks/T2/gates/testsPassed {"run": ["false"]} -> 200 {"gates": {"testsPassed": {"passed": false, "evidence": {"0": {"kind": "command", "exitCode": 1}}}}}
        GET /api/work/tasks/T2 -> 200 {"state": "failed", "gates": {"states": {"1": "failed"}}}
        ann POST /api/work/tasks/T2/gates/testsPassed {"run": ["true"]} -> 403 E_FORBIDDEN
        ann POST /api/work/tasks/T2/gates/testsPassed {"notes": ["x"]} -> 200
        POST /api/work/tasks/T2/gates/odd {} -> 400 E_GATE_UNKNOWN
        POST /api/work/tasks/T2/gates/qaPassed {"files": ["../../etc/passwd"]} -> 400
        "#,
    );
}

#[test]
fn invalid_evidence_file_is_refused_without_its_path() {
    let world = plan_epic();
    fs::create_dir(world.folder.path().join("sub")).unwrap();
    std::os::unix::fs::symlink("/etc", world.folder.path().join("link")).unwrap();
    let names = world.walk(
        r#"
        POST /api/work/tasks/T2/gates/implemented {"files": ["nope"]} -> 400 E_FILE_UNREADABLE {"error": {"message": "nope is not a regular file that can be read"}}
        POST /api/work/tasks/T2/gates/implemented {"files": ["sub"]} -> 400 E_FILE_UNREADABLE {"error": {"message": "sub is not a regular file that can be read"}}
        POST /api/work/tasks/T2/gates/implemented {"files": ["link/passwd"]} -> 400 E_PATH_OUTSIDE_WORKSPACE {"error": {"message": "`link/passwd` leads out of the workspace"}}
        POST /api/work/tasks/T2/gates/implemented {"run": ["./sub"]} -> 400 E_FILE_UNREADABLE {"error": "$error"}
        "#,
    );
    let error = names["error"].as_object().unwrap();
    let message = "`./sub` cannot be started: Permission denied (os error 13)";
    assert_eq!(error["message"], message);
    let fields: Vec<&String> = error.keys().collect();
    assert_eq!(
        fields,
        ["alternatives", "code", "exitCode", "message", "retryable"]
    );
}

#[test]
fn manifest_is_checked_and_compacted() {
    let world = plan_epic();
    world.walk(
        r#"
        POST /api/work/verify/manifest -> 200 {"verdict": "pass"}
        POST /api/work/verify/manifest {"entry": "nope"} -> 422 E_ENTRY_MISSING
        "#,
    );
    let folder = world.folder.path().join("claudedocs/agent-outputs");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("MANIFEST.jsonl"), "not json\n").unwrap();
    world.walk(
        r#"
        GET /api/work/manifest/validate -> 400 E_MANIFEST_INVALID {"result": {"valid": false}}
        POST /api/work/manifest/compact {"dryRun": true} -> 200 {"total": 1, "kept": 0}
        GET /api/work/manifest/validate -> 400
        POST /api/work/manifest/compact {} -> 200 {"total": 1}
        GET /api/work/manifest/validate -> 200 {"valid": true}
        "#,
    );
}
