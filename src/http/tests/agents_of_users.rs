use serde_json::json;

use super::walk::Names;
use super::{World, minutes_ago};

#[test]
fn agents_belong_to_their_user() {
    World::new().walk(
        r#"
        ann POST /api/agents/create {"id": "anns", "name": "Anns", "prompt": "p", "tags": ["zebra"]} -> 201
        ann POST /api/route {"message": "a zebra"} -> 200 {"route": {"agent": "anns"}}
        bob POST /api/route {"message": "a zebra"} -> 200 {"route": {"agent": "finalize"}}
        bob POST /api/agents/execute?wait=true {"input": "a zebra"} -> 200 {"execution": {"delegatedTo": null}}
        bob GET /api/agents/anns -> 404
        bob PUT /api/agents/anns {"description": "mine"} -> 404
        bob DELETE /api/agents/anns -> 404
        bob GET /api/agents/sync -> 200 lacks anns
        ann GET /api/agents/sync -> 200 has anns
        bob GET /api/agents/list -> 200 lacks anns
        ann GET /api/agents/list -> 200 has anns
        bob GET /api/agents/metrics -> 200 lacks anns
        ann GET /api/agents/metrics -> 200 has anns
        bob PUT /api/agents/ami-creative {"status": "paused"} -> 403
        bob POST /api/agents/cleanup {} -> 403
        # Tasks are assigned to agents that the caller sees.
        bob POST /api/tasks/create {"title": "a", "assigned_to": "anns"} -> 404 E_AGENT_NOT_FOUND
        ann POST /api/tasks/create {"title": "a", "assigned_to": "anns"} -> 201
        bob PUT /api/tasks/T1 {"assigned_to": "anns"} -> 404
        ann PUT /api/tasks/T1 {"assigned_to": "anns"} -> 200
        # The agent that is hidden from a caller stays when its null comes back.
        bob PUT /api/tasks/T1 {"title": "b", "assigned_to": null} -> 200 {"task": {"title": "b", "assigned_to": null}}
        ann GET /api/tasks/T1 -> 200 {"task": {"assigned_to": "anns"}}
        # So are steps of plans.
        ann POST /api/plans/check {"text": "goal: Reach it\nsteps:\n- {id: a, agent: anns, instruction: Do it}\n"} -> 200
        bob/read POST /api/plans/check {"text": "goal: Reach it\nsteps:\n- {id: a, agent: anns, instruction: Do it}\n"} -> 404
        "#,
    );
}

#[test]
fn runtime_agent_is_shared_and_changed_by_its_owner_only() {
    let id = json!(format!("custom_{}", minutes_ago(0)));
    World::new().walk_with(
        Names::from([("id".to_string(), id)]),
        r#"
        ann POST /api/agents/register {"id": "$id", "name": "Lore", "prompt": "p", "tags": ["zebra"]} -> 200 {"recreated": false}
        bob POST /api/agents/register {"id": "$id", "name": "Lore", "prompt": "p", "tags": ["zebra"]} -> 403
        bob PUT /api/agents/$id {"description": "taken"} -> 403
        bob DELETE /api/agents/$id -> 403
        bob POST /api/agents/execute?wait=true {"input": "a zebra"} -> 200 {"execution": {"delegatedTo": "$id"}}
        bob GET /api/agents/$id -> 200 {"agent": {"id": "$id"}} lacks "ann"
        bob GET /api/agents/list -> 200 {"agents": "~custom_"} lacks "ann"
        bob GET /api/agents/sync -> 200 {"agents": "~custom_"} lacks "ann"
        ann PUT /api/agents/$id {"description": "taken"} -> 200
        ann POST /api/agents/register {"id": "$id", "name": "Lore", "prompt": "p", "tags": ["zebra"]} -> 200 {"recreated": true}
        PUT /api/agents/$id {"description": "of the admin"} -> 200
        ann DELETE /api/agents/$id -> 200
        "#,
    );
}

#[test]
fn agent_names_are_per_user() {
    World::new().walk(
        r#"
        ann POST /api/agents/create {"name": "Lore keeper", "prompt": "p"} -> 201 {"agent": {"id": "lore-keeper"}}
        bob POST /api/agents/create {"name": "Lore keeper", "prompt": "p"} -> 201 {"agent": {"id": "lore-keeper-2"}}
        bob POST /api/agents/create {"name": "Lore keeper", "prompt": "p"} -> 409 {"error": "~lore-keeper-2"}
        bob POST /api/agents/create {"id": "lore-keeper", "name": "Mine", "prompt": "p"} -> 409 {"error": "the id `lore-keeper` is not free; `lore-keeper-3` is free"} lacks agents show
        "#,
    );
}
