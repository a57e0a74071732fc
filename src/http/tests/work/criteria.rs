use crate::http::tests::World;

#[test]
fn criteria_are_accepted_with_evidence_or_run_for_admins() {
    World::new().walk(
        r#"
        POST /api/work/tasks {"title": "One", "acceptance": ["looks good", "it fails :: false"]} -> 201
        POST /api/work/tasks/T1/accept {"criterion": 1, "notes": ["seen"], "agent": "lead"} -> 200 {"criteria": {"0": {"state": "claimed"}}}
        POST /api/work/tasks/T1/accept {"criterion": 1} -> 400
        POST /api/work/tasks/T1/accept {"criterion": 2, "notes": ["x"]} -> 400
        POST /api/work/tasks/T1/accept {"criterion": 9, "notes": ["x"]} -> 400
        POST /api/work/tasks/T1/accept {"criterion": 1, "files": ["../../etc/passwd"]} -> 400
        POST /api/work/tasks/T1/accept {"criterion": 1, "files": ["a", "a"], "notes": ["T3", "x"]} -> 400
        POST /api/work/tasks/T1/renew -> 200 {"ran": {"0": {"criterion": 2, "outcome": "failed"}}}
        POST /api/work/tasks/T1/renew {"timeLimit": 0} -> 400
        ann POST /api/work/tasks/T1/renew {} -> 403 E_FORBIDDEN
        "#,
    );
}

#[test]
fn only_admins_give_commands() {
    World::new().walk(
        r#"
        ann POST /api/work/tasks {"title": "One", "acceptance": ["in words", "holds :: false"]} -> 403 E_FORBIDDEN
        GET /api/work/tasks -> 200 {"total": 0}
        ann POST /api/work/tasks {"title": "Words", "acceptance": ["in words"]} -> 201
        ann PATCH /api/work/tasks/T1 {"addAcceptance": ["holds :: false"]} -> 403 E_FORBIDDEN
        # A command that an admin gave before is known, and an admin may have it run.
        PATCH /api/work/tasks/T1 {"addAcceptance": ["holds :: false"]} -> 200
        ann POST /api/work/tasks {"title": "Two", "acceptance": ["in words", "holds :: false"]} -> 201
        ann POST /api/work/tasks {"title": "Three", "acceptance": ["in words", "holds :: true"]} -> 403
        POST /api/work/tasks/T2/renew {} -> 200 {"ran": {"0": {"outcome": "failed"}}}
        ann POST /api/agents/create {"id": "w", "name": "W", "command": ["true"]} -> 403
        ann POST /api/agents/register {"id": "w", "name": "W", "command": ["true"]} -> 403
        POST /api/agents/create {"id": "w", "name": "W", "command": ["true"]} -> 201
        "#,
    );
}

#[test]
fn imported_command_is_not_run_before_it_is_trusted() {
    let world = World::new();
    world.walk(
        r#"
        POST /api/work/import {"text": "{\"cleo\":\"tasks\",\"version\":1}\n{\"id\":\"T1\",\"title\":\"x\",\"type\":\"task\",\"status\":\"pending\",\"priority\":\"medium\",\"createdAt\":\"2026-01-01T00:00:00Z\",\"updatedAt\":\"2026-01-01T00:00:00Z\",\"acceptance\":[\"holds :: touch pwned\"]}\n"} -> 200
        POST /api/work/tasks/T1/renew {} -> 403 E_UNTRUSTED
        "#,
    );
    assert!(!world.folder.path().join("pwned").exists());
}
