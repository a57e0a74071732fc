use std::fmt::Write as _;

use super::World;

/// A0-19.
#[test]
fn conversation_shows_its_last_messages_oldest_first() {
    let world = World::new();
    let names = world.walk(
        r#"POST /api/conversations/create {"agent_id": "toby-technical", "title": "War"} -> 201 {"conversation": {"id": "$id", "agent_id": "toby-technical", "kind": "agent"}}"#,
    );
    let said = (0..30).fold(String::new(), |mut said, number| {
        let body = format!(r#"{{"input": "message {number}", "conversationId": "$id"}}"#);
        let reply = r#"{"execution": {"delegatedTo": "toby-technical"}}"#;
        writeln!(
            said,
            "POST /api/agents/execute?wait=true {body} -> 200 {reply}"
        )
        .unwrap();
        said
    });
    let names = world.walk_with(names, &said);
    world.walk_with(
        names,
        r##"
        GET /api/conversations/$id?limit=50 -> 200 {"total": 60, "messages": "#50"}
        GET /api/conversations/$id?limit=50 -> 200 {"messages": {"0": {"id": "$first", "content": "message 5", "type": "user"}, "1": {"type": "agent"}, "48": {"content": "message 29"}}}
        GET /api/conversations/$id?before=$first&limit=2 -> 200 {"messages": {"0": {"content": "message 4"}}}
        GET /api/conversations/$id?before=zzz -> 400 E_INPUT_INVALID
        GET /api/conversations -> 200 {"total": 1, "conversations": [{"waiting": false}]}
        PUT /api/conversations/$id {"status": "archived", "title": "Over"} -> 200 {"conversation": {"title": "Over"}}
        POST /api/agents/execute {"input": "x", "conversationId": "$id"} -> 409
        POST /api/conversations/create {"agent_id": "nobody"} -> 404
        POST /api/conversations/create {} -> 400
        # It stays with its agent, and a change of nothing is refused.
        POST /api/conversations/create {"agent_id": "toby-technical", "title": "War"} -> 201 {"conversation": {"id": "$id2"}}
        PUT /api/conversations/$id2 {} -> 400 {"error": "nothing was said that is to change"}
        PUT /api/conversations/$id2 {"title": null} -> 400 {"error": "nothing was said that is to change"}
        PUT /api/conversations/$id2 {"agent_id": "chat", "title": "Over"} -> 400 {"error": "agent_id: the conversation is with `toby-technical` and stays so; begin another"}
        PUT /api/conversations/$id2 {"agent_id": "toby-technical", "title": "Peace"} -> 200 {"conversation": {"title": "Peace"}}
        "##,
    );
}

/// A0-19.
#[test]
fn conversation_is_for_its_user_and_admins() {
    World::new().walk(
        r#"
        ann POST /api/conversations/create {"agent_id": "cleo-supervisor"} -> 201 {"conversation": {"id": "$id"}}
        ann POST /api/agents/execute?wait=true {"input": "a secret", "conversationId": "$id"} -> 200 {"execution": {"id": "$execution"}}
        bob GET /api/conversations/$id -> 404 lacks secret
        bob PUT /api/conversations/$id {} -> 404 lacks secret
        bob GET /api/agents/execution/$execution -> 404 lacks secret
        bob GET /api/conversations -> 200 lacks secret
        bob GET /api/agents/execute -> 200 lacks secret
        bob GET /api/agents/delegations -> 200 lacks secret
        bob POST /api/agents/execute {"input": "a secret", "conversationId": "$id"} -> 404
        ann GET /api/conversations/$id -> 200 has a secret
        root/admin GET /api/conversations/$id -> 200 has a secret
        "#,
    );
}
