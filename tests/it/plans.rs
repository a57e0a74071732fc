//! Plans: made of goals, read from files, checked and drawn.

use serde_json::{Value, json};

use crate::world::{TestWorkspace, assert_fields, column, says};

/// Makes a workspace in which agents offer these capabilities.
fn offering(capabilities: &[&str]) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    for capability in capabilities {
        workspace.ok(&format!(
            "agents register the-{capability} --capability {capability} --prompt p"
        ));
    }
    workspace
}

const THREE: &[&str] = &["Planner", "web-crawler", "summarizer"];

const GOAL: &str = "Plan, search the web, and report a summary about NER in finance.";

/// A plan whose middle steps can run in parallel.
const DIAMOND: &str = "\
goal: Compare two caches
maxLoops: 2
steps:
  - id: criteria
    capability: planner
    instruction: Say what matters.
  - id: first
    agent: the-web-crawler
    title: The first cache
    instruction: Look at the first.
    dependsOn: [criteria]
  - id: second
    capability: web-crawler
    instruction: Look at the second.
    dependsOn: [criteria]
  - id: verdict
    capability: summarizer
    instruction: Judge them.
    dependsOn: [first, second]
";

#[test]
fn goal_becomes_steps_with_reasons() {
    let workspace = offering(THREE);
    insta::assert_snapshot!(workspace.cleo(&format!("plan '{GOAL}' --max-loops 3")));
    let result = &workspace.ask(format!("plan '{GOAL}'"))["result"];
    let steps = result["plan"]["steps"].as_array().unwrap();
    let chain: Vec<_> = steps
        .iter()
        .map(|step| (&step["id"], &step["dependencies"]))
        .collect();
    let expected = [
        (json!("planning-step"), json!([])),
        (json!("search-step"), json!(["planning-step"])),
        (json!("summarization-step"), json!(["search-step"])),
    ];
    assert_eq!(chain, expected.each_ref().map(|(id, needs)| (id, needs)));
    assert_eq!(result["plan"]["unavailable"][0]["skill"], "ner");
    assert_eq!(result["skills"][1]["words"], json!(["search", "web"]));
    assert_eq!(result["assignments"][1]["agent"], "the-web-crawler");
    assert_eq!(
        result["waves"],
        json!([["planning-step"], ["search-step"], ["summarization-step"]])
    );
    for step in steps {
        says(&step["instruction"], GOAL);
    }
}

#[test]
fn plan_that_nobody_can_do_names_what_is_missing() {
    for workspace in [TestWorkspace::bare(), TestWorkspace::new()] {
        let made = workspace.ask("plan 'do work' --output plan.json");
        assert_eq!(made["success"], true, "{made:#}");
        assert_eq!(made["result"]["source"], "fallback");
        let missing = "steps[0]: Agent 'planner' not found; steps[1]: Agent 'summarizer' not found; to add one: `cleo agents register --help`";
        assert_eq!(made["warnings"][0], missing);
        assert_eq!(made["warnings"].as_array().unwrap().len(), 2);
        let checked = workspace.ask("plan check plan.json");
        let error = &checked["error"];
        assert_fields(error, json!({"code": "E_AGENT_NOT_FOUND", "exitCode": 4}));
        says(error, "Agent 'planner' not found");
        assert_eq!(error["fix"], "cleo agents list");
        assert_eq!(checked["result"]["total"], 2);
    }
}

#[test]
fn plans_use_active_agents_and_first_gets_step() {
    let workspace = offering(&["sql-agent"]);
    let steps = |goal: &str| {
        let made = workspace.ask(format!("plan '{goal}' --fields plan.steps,assignments"));
        let assigned = made["result"]["assignments"].as_array().unwrap().clone();
        let name = |one: &Value| {
            let agent = one["agent"].as_str().unwrap_or("nobody");
            format!("{} by {agent}", one["step"].as_str().unwrap())
        };
        assigned.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(steps("query the database"), ["sql-step by the-sql-agent"]);
    workspace.ok("agents register second --capability SQL-Agent --prompt p");
    assert_eq!(steps("query the database"), ["sql-step by the-sql-agent"]);
    workspace.ok("agents update the-sql-agent --status paused");
    assert_eq!(steps("query the database"), ["sql-step by second"]);
    workspace.ok("agents update second --status archived");
    let nobody = ["planning-step by nobody", "summarization-step by nobody"];
    assert_eq!(steps("query the database"), nobody);
}

#[test]
fn plan_is_written_as_json_or_yaml() {
    let workspace = offering(THREE);
    let made = workspace.ask("plan 'do work' --max-loops 3 --output plan.yaml");
    assert_eq!(made["result"]["file"], "plan.yaml");
    insta::assert_snapshot!(workspace.read("plan.yaml"));
    workspace.ok("plan 'do work' --max-loops 3 --output plans/plan.json");
    for file in ["plan.yaml", "plans/plan.json"] {
        let checked = workspace.result(format!("plan check {file}"));
        assert_eq!(checked["plan"], made["result"]["plan"]);
    }
    let refused = |line: &str, code: &str| {
        let words = shlex::split(line).unwrap();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        workspace.expect_refusal(&words, code)
    };
    let error = refused("plan 'do more' --output plan.yaml", "E_EXISTS");
    assert_eq!(error["alternatives"][0]["command"], "cleo plan --help");
    refused("plan 'do more' --output plan.txt", "E_INPUT_INVALID");
    refused("plan ''", "E_INPUT_INVALID");
    refused("plan", "E_USAGE");
    refused("plan 'do work' --max-loops 0", "E_USAGE");
    refused("plan 'do work' --force", "E_USAGE");
    workspace.ok("plan 'do more' --output plan.yaml --force");
    assert!(workspace.read("plan.yaml").contains("do more"));
    let whole = workspace.ask("plan 'do work'").to_string();
    assert!(
        workspace
            .text("plan check -", &whole)
            .stdout
            .starts_with("pass")
    );
    let from_input = workspace.text("plan -", "do work\n");
    assert!(from_input.stdout.starts_with("do work\n"), "{from_input}");
}

#[test]
fn plan_of_ones_own_is_checked_shown_and_drawn() {
    let workspace = offering(THREE).with("plan.yaml", DIAMOND);
    insta::assert_snapshot!(workspace.cleo("plan check plan.yaml"));
    insta::assert_snapshot!(workspace.cleo("plan show plan.yaml"));
    insta::assert_snapshot!(workspace.cleo("plan show plan.yaml --dot"));
    let svg = workspace.cleo("plan show plan.yaml --svg");
    assert_eq!(svg.matches("class=\"task").count(), 4);
    let made = workspace.cleo("plan 'do work' --dot");
    assert!(
        made.contains("label=\"search-step\\nFind what is needed\"") && made.contains("T1 -> T2;"),
        "{made}"
    );
    workspace.ok("agents update the-web-crawler --status paused");
    let shown = workspace.ask("plan show plan.yaml");
    assert_eq!(shown["success"], true);
    assert_eq!(shown["result"]["assignments"][1]["agent"], Value::Null);
    assert!(
        shown["warnings"]
            .to_string()
            .contains("`the-web-crawler` is paused"),
        "{shown}"
    );
}

#[test]
fn plan_errors_have_their_places() {
    let faulty = DIAMOND
        .replace("dependsOn: [criteria]", "dependsOn: [verdict, criterium]")
        .replace(
            "agent: the-web-crawler",
            "agent: the-web-crawler\n    intent: web.read",
        )
        .replace("capability: summarizer", "capability: judge\n    tier: 2")
        .replace("id: second", "id: first");
    let workspace = offering(THREE).with("plan.yaml", faulty);
    insta::assert_snapshot!(workspace.cleo("plan check plan.yaml"));
    let checked = workspace.fails("plan check plan.yaml", "E_PLAN_INVALID");
    let kinds = column(&checked["result"]["faults"], "kind");
    for kind in ["field", "id", "dependency", "circle", "intent", "agent"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    let error = workspace.refuse("plan show plan.yaml", "E_PLAN_INVALID");
    assert_eq!(error["exitCode"], 6);
}

#[test]
fn step_with_intent_goes_to_worker_that_offers_it() {
    let workspace = offering(&["summarizer"]);
    workspace
        .ok("agents register worker --command run --capability summarizer --intent summary.create");
    let plan = |intent: &str| {
        format!(
            "{{\"goal\":\"g\",\"steps\":[{{\"id\":\"a\",\"capability\":\"summarizer\",\
             \"intent\":\"{intent}\",\"instruction\":\"i\"}}]}}"
        )
    };
    let checked = workspace.json_with(&["plan", "check", "-"], &plan("summary.create"));
    assert_eq!(checked["result"]["assignments"][0]["agent"], "worker");
    let checked = workspace.json_with(&["plan", "check", "-"], &plan("summary.print"));
    assert_eq!(checked["error"]["code"], "E_PLAN_INVALID");
    workspace.ok("agents update worker --intent summary.create,summary.print");
    let checked = workspace.json_with(&["plan", "check", "-"], &plan("summary.print"));
    assert_eq!(checked["success"], true, "{checked:#}");
}

#[test]
fn hostile_plans_are_refused_whole() {
    let workspace = TestWorkspace::bare();
    let check = |text: &str| workspace.json_with(&["plan", "check", "-"], text);
    let large = format!("{{\"goal\": \"{}\"}}", "x".repeat(10 << 20));
    assert_eq!(check(&large)["error"]["code"], "E_INPUT_INVALID");
    for text in [
        "[".repeat(1 << 20),
        "a: &a [*a]".into(),
        "!x y".into(),
        "\0".into(),
    ] {
        assert_eq!(check(&text)["error"]["code"], "E_PLAN_INVALID");
    }
    let edges: Vec<String> = (0..500).map(|n| format!("\"n{n}\"")).collect();
    let edges = edges.join(",");
    let steps: Vec<String> = (0..500)
        .map(|n| format!("{{\"id\":\"s{n}\",\"dependsOn\":[{edges}]}}"))
        .collect();
    let many = check(&format!(
        "{{\"goal\":\"g\",\"steps\":[{}]}}",
        steps.join(",")
    ));
    assert_eq!(many["result"]["faults"].as_array().unwrap().len(), 100);
    let steering = "{\"goal\":\"g\\u001b[31m\",\"steps\":[{\"id\":\"\\u001b[2J\"}]}";
    let shown = workspace.text("plan check -", steering);
    assert!(!shown.to_string().contains('\u{1b}'), "{shown}");
}
