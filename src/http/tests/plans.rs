use super::World;

#[test]
fn plans_are_made_checked_and_drawn() {
    World::new().walk(
        r#"
        POST /api/plans {"goal": "Search the web for caches and report which is best", "maxLoops": 3} -> 200 {"plan": {"steps": {"0": "*"}, "maxLoops": 3}}
        POST /api/plans/check {"text": "goal: Reach it\nsteps:\n- {id: a, agent: ami-creative, instruction: Do it}\n"} -> 200 {"total": 0, "assignments": {"0": {"agent": "ami-creative"}}}
        POST /api/plans/draw {"text": "goal: Reach it\nsteps:\n- {id: a, agent: ami-creative, instruction: Do it}\n"} -> 200 {"svg": "~<svg", "dot": "~digraph"}
        POST /api/plans/check {"text": "goal: Reach it\nsteps:\n- {id: a, agent: nobody, instruction: Do it}\n"} -> 404 E_AGENT_NOT_FOUND {"result": {"total": 1}}
        POST /api/plans/check {"text": "steps: 7"} -> 400 E_PLAN_INVALID
        POST /api/plans/draw {"text": "steps: 7"} -> 400 E_PLAN_INVALID
        POST /api/plans {"goal": " "} -> 400
        POST /api/plans {"goal": "x", "maxLoops": 0} -> 400
        # Nothing of it is kept.
        GET /api/runs -> 200 {"total": 0}
        "#,
    );
}

#[test]
fn invalid_plans_are_refused_before_anything_begins() {
    World::new().walk(
        r#"
        POST /api/plans/run {} -> 400 E_INPUT_INVALID
        POST /api/plans/run {"goal": " "} -> 400 E_INPUT_INVALID
        POST /api/plans/run {"text": null} -> 400 E_INPUT_INVALID
        POST /api/plans/run {"text": "goal: a\nsteps:\n- {id: a, agent: ami-creative, instruction: b}\n", "goal": "Reach it"} -> 400 E_INPUT_INVALID
        POST /api/plans/run {"text": "goal: a\nsteps:\n- {id: a, agent: ami-creative, instruction: b}\n", "maxLoops": 0} -> 400 E_INPUT_INVALID
        POST /api/plans/run {"text": "goal: a\nsteps:\n- {id: a, agent: ami-creative, instruction: b}\n", "maxLoops": 101} -> 400 E_INPUT_INVALID
        POST /api/plans/run {"text": "goal: a\nsteps:\n- {id: a, agent: ami-creative, instruction: b}\n", "refine": "again"} -> 400 E_INPUT_INVALID
        POST /api/plans/run {"text": "goal: a\nsteps:\n- {id: a, agent: ami-creative, instruction: b}\n", "jobs": 70000} -> 400 E_INPUT_INVALID
        POST /api/plans/run {"text": "goal: a\nsteps:\n- {id: a, agent: ami-creative, instruction: b}\n", "satisfiedBy": "sh"} -> 400 E_INPUT_INVALID
        POST /api/plans/run {"text": "goal: a\nsteps:\n- {id: a, agent: ami-creative, instruction: b}\n", "planner": "sh"} -> 400 E_INPUT_INVALID
        POST /api/plans/run {"text": "steps: 7"} -> 400 E_PLAN_INVALID {"result": {"total": "*"}} lacks "total":0
        POST /api/plans/run {"text": "goal: a\nsteps:\n- {id: a, agent: nobody, instruction: b}\n"} -> 404 E_AGENT_NOT_FOUND
        POST /api/plans/run {"goal": "query the database"} -> 404 E_AGENT_NOT_FOUND
        GET /api/runs -> 200 {"total": 0}
        "#,
    );
}
