use super::*;
use crate::agent::Kind;
use proptest::prelude::*;

fn plan(rows: &[(&str, &[&str])]) -> Plan {
    let step = |(id, needs): &(&str, &[&str])| Step {
        id: id.to_string(),
        agent_capability: Some("c".into()),
        instruction: "do it".into(),
        dependencies: needs.iter().map(|need| need.to_string()).collect(),
        ..Step::default()
    };
    Plan {
        goal: "g".into(),
        steps: rows.iter().map(step).collect(),
        ..Plan::default()
    }
}

fn list_faults(plan: &Plan) -> Vec<String> {
    let told = |fault: Fault| format!("{}: {}", fault.place, fault.message);
    faults(plan).into_iter().map(told).collect()
}

#[test]
fn diamond_stands_and_its_middle_goes_side_by_side() {
    let diamond = plan(&[("d", &["b", "c"]), ("a", &[]), ("b", &["a"]), ("c", &["a"])]);
    assert_eq!(list_faults(&diamond), [] as [&str; 0]);
    assert_eq!(diamond.waves(), [vec!["a"], vec!["b", "c"], vec!["d"]]);
}

#[test]
fn every_fault_of_graph_is_named_with_its_place() {
    for (rows, expected) in [
        (
            &[("a", &["c"][..]), ("b", &["a"]), ("c", &["b"])][..],
            &["steps[0].dependencies: steps wait for each other in a circle: a → c → b → a"][..],
        ),
        (
            &[("a", &["a"]), ("b", &["c"]), ("c", &["b"])],
            &[
                "steps[0].dependencies: steps wait for each other in a circle: a → a",
                "steps[1].dependencies: steps wait for each other in a circle: b → c → b",
            ],
        ),
        (
            &[
                ("step-one", &[]),
                ("step-one", &["step-tow", "x"]),
                ("-", &["step-one", "step-one"]),
            ],
            &[
                "steps[1].id: steps[0] has the id `step-one` already",
                "steps[2].id: `-` is not an id of a step: letters, digits, `.`, `_` and `-`, at \
                 most 64, not first a sign",
                "steps[1].dependencies[0]: there is no step `step-tow`; is `step-one` meant?",
                "steps[1].dependencies[1]: there is no step `x`",
                "steps[2].dependencies[1]: `step-one` is named already, at 0",
            ],
        ),
        (&[], &["steps: a plan needs at least one step"]),
    ] {
        assert_eq!(list_faults(&plan(rows)), expected, "{rows:?}");
    }
}

#[test]
fn what_is_too_much_or_too_little_is_named() {
    let mut odd = plan(&[("a", &[])]);
    odd.max_loops = Some(0);
    odd.goal = "g".repeat(GOAL_MAX + 1);
    odd.steps[0].instruction = " ".into();
    odd.steps[0].agent_capability = None;
    odd.steps[0].title = Some("bell\u{7}".into());
    let found = list_faults(&odd);
    assert_eq!(found.len(), 5, "{found:?}");
    let many: Vec<String> = (0..=STEPS_MAX).map(|n| format!("s{n}")).collect();
    let rows: Vec<(&str, &[&str])> = many.iter().map(|id| (id.as_str(), &[][..])).collect();
    assert_eq!(
        list_faults(&plan(&rows)),
        ["steps: the plan has 1001 steps; 1000 are allowed"]
    );
}

#[test]
fn step_goes_to_first_active_agent_that_offers_it() {
    let agent = |id: &str, capability: &str, intents: &[&str], status| Agent {
        capability: Some(capability.into()),
        intents: intents.iter().map(|intent| intent.to_string()).collect(),
        status,
        ..Agent::new(id, Kind::Persistent, id)
    };
    let agents = [
        agent("asleep", "Writer", &[], AgentStatus::Paused),
        agent("plain", "writer", &[], AgentStatus::Active),
        agent("worker", "writer", &["summary.create"], AgentStatus::Active),
        agent("old", "sql-agent", &[], AgentStatus::Archived),
    ];
    let step = |capability: &str, agent: &str, intent: &str| {
        let word = |word: &str| (!word.is_empty()).then(|| word.to_string());
        Step {
            agent_capability: word(capability),
            agent: word(agent),
            intent: word(intent),
            ..Step::default()
        }
    };
    for (step, expected) in [
        (step("WRITER", "", ""), "plain"),
        (step("writer", "", "summary.create"), "worker"),
        (step("", "worker", ""), "worker"),
        (step("planner", "", ""), "Agent 'planner' not found"),
        (step("", "nobody", ""), "Agent 'nobody' not found"),
        (
            step("", "asleep", ""),
            "Agent 'asleep' not found: `asleep` is paused",
        ),
        (
            step("sql-agent", "", ""),
            "Agent 'sql-agent' not found: `old` is archived",
        ),
        (
            step("", "plain", "x"),
            "Agent 'plain' does not offer the intent `x`; it offers none",
        ),
        (
            step("", "worker", "x"),
            "Agent 'worker' does not offer the intent `x`; it offers summary.create",
        ),
    ] {
        let found = find_agent(&step, &agents).map(|agent| agent.id.clone());
        assert_eq!(
            found.unwrap_or_else(|(_, message)| message),
            expected,
            "{step:?}"
        );
    }
}

proptest! {
    #[test]
    fn plan_has_circle_or_waves_with_every_step(
        edges in prop::collection::vec((0..8_usize, 0..8_usize), 0..20),
    ) {
        let ids: Vec<String> = (0..8).map(|n| format!("s{n}")).collect();
        let mut rows: Vec<Vec<&str>> = vec![Vec::new(); 8];
        for (from, to) in edges {
            if !rows[from].contains(&ids[to].as_str()) {
                rows[from].push(&ids[to]);
            }
        }
        let rows: Vec<(&str, &[&str])> =
            ids.iter().map(String::as_str).zip(rows.iter().map(Vec::as_slice)).collect();
        let plan = plan(&rows);
        let in_waves = plan.waves().concat();
        let sound = faults(&plan).is_empty();
        prop_assert_eq!(sound, in_waves.len() == 8);
        for (at, id) in in_waves.iter().enumerate() {
            let step = plan.steps.iter().find(|step| step.id == *id).unwrap();
            prop_assert!(step.dependencies.iter().all(|need| in_waves[..at].contains(need)));
        }
    }
}
