//! Plans carried out by real workers: programs that say what a test told them. Scenarios C-1 to C-19
//! of the coordinator notes; those about words of goals alone are beside the rule in src/plan.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::served::Served;
use crate::server::{Answer, Server};
use crate::world::{TestWorkspace, assert_fields, document, milliseconds_between};

/// A worker: `worker.sh NAME TEXT…` says `[NAME] TEXT`, the next text on each call. A text that begins
/// with `!` is a failure, one with `+` is satisfied without saying so. It keeps what it was asked.
const WORKER: &str = r#"
name=$1; shift
request=$(cat)
printf '%s\n' "$request" >> "$name.log"
calls=$(wc -l < "$name.log")
while [ "$calls" -gt 1 ] && [ $# -gt 1 ]; do shift; calls=$((calls - 1)); done
id=$(printf '%s' "$request" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
case $1 in
!*) printf '{"request_id":"%s","status":"error","output":null,"error":{"message":"%s"}}' "$id" "${1#!}" ;;
+*) printf '{"request_id":"%s","status":"success","output":{"result":"[%s] %s","details":{"satisfied":"true"}},"error":null}' "$id" "$name" "${1#+}" ;;
*) printf '{"request_id":"%s","status":"success","output":{"result":"[%s] %s"},"error":null}' "$id" "$name" "$1" ;;
esac
"#;

/// Makes a workspace with workers: capability, and what each says.
pub(crate) fn world(workers: &[(&str, &[&str])]) -> TestWorkspace {
    let workspace = TestWorkspace::new().with("worker.sh", WORKER);
    let agents: Vec<Value> = workers
        .iter()
        .map(|(capability, texts)| {
            let words = ["sh", "worker.sh", capability];
            let command: Vec<&str> = words.iter().chain(*texts).copied().collect();
            json!({"id": format!("the-{capability}"), "name": capability, "type": "cli",
                "capability": capability, "command": command, "timeoutMs": 60_000})
        })
        .collect();
    if !agents.is_empty() {
        let reply = workspace.json_with(&["agents", "import", "-"], &json!(agents).to_string());
        assert_eq!(reply["success"], true, "{reply:#}");
        workspace.ok("trust --yes");
    }
    workspace
}

#[track_caller]
fn runs(workspace: &TestWorkspace, line: &str) -> Value {
    let reply = workspace.result(format!("plan run {line}"));
    reply.clone()
}

#[track_caller]
fn fails(workspace: &TestWorkspace, line: &str, code: &str) -> Value {
    workspace.fails(format!("plan run {line}"), code)
}

/// Requests to a worker, one per call.
fn read_calls(workspace: &TestWorkspace, capability: &str) -> Vec<Value> {
    let log = std::fs::read_to_string(workspace.path(&format!("{capability}.log")));
    let log = log.unwrap_or_default();
    let asked = log.lines().map(|line| serde_json::from_str(line).unwrap());
    asked.collect()
}

fn read_answers(workspace: &TestWorkspace, capability: &str) -> Vec<String> {
    let asked = read_calls(workspace, capability).into_iter();
    let text = |one: Value| one["input"]["text"].as_str().unwrap().to_string();
    asked.map(text).collect()
}

/// Events of a run for a late reader: kinds and steps.
fn events(workspace: &TestWorkspace, run: &Value) -> Vec<(String, String)> {
    let id = run["run"]["id"].as_str().unwrap();
    let shown = workspace.ask(format!("runs show {id}"));
    let events = shown["result"]["events"].as_array().unwrap().iter();
    let event = |event: &Value| {
        let step = event["detail"]["stepId"].as_str().unwrap_or_default();
        (
            event["kind"].as_str().unwrap().to_string(),
            step.to_string(),
        )
    };
    events.map(event).collect()
}

const THREE: &[(&str, &[&str])] = &[
    ("planner", &["planned steps"]),
    ("web-crawler", &["fetched evidence"]),
    ("summarizer", &["final synthesis [done]"]),
];
const GOAL: &str = "'Plan, search the web, and report a summary about NER in finance.'";

#[test]
fn c_1_goal_goes_through_three_agents() {
    let workspace = world(THREE);
    let result = runs(&workspace, GOAL);
    assert_eq!(
        result["answer"],
        "[planning-step] [planner] planned steps\n\n\
         [search-step] [web-crawler] fetched evidence\n\n\
         [summarization-step] [summarizer] final synthesis [done]"
    );
    assert_fields(&result, json!({"satisfied": true, "passes": 1}));
    let steps = result["plan"]["steps"].as_array().unwrap();
    let needs: Vec<_> = steps
        .iter()
        .map(|step| step["dependencies"].clone())
        .collect();
    assert_eq!(
        needs,
        [json!([]), json!(["planning-step"]), json!(["search-step"])]
    );
    let run = &result["run"];
    assert_fields(run, json!({"kind": "plan", "status": "completed"}));
    assert_eq!(
        (&run["output"], &run["answeredBy"]),
        (&result["answer"], &json!("worker"))
    );
    assert_eq!(workspace.ask("runs list --kind plan")["result"]["total"], 1);
    // Direct dependencies only.
    let told = &read_answers(&workspace, "summarizer")[0];
    let context = "\n\nContext from dependencies:\n- [search-step][the-web-crawler]: [web-crawler] fetched evidence";
    assert!(told.ends_with(context), "{told}");
    assert!(
        !told.contains("planned steps") && !told.contains("[done]"),
        "{told}"
    );
}

#[test]
fn c_2_and_c_18_late_readers_get_events_in_causal_order() {
    let workspace = world(THREE);
    let result = runs(&workspace, "'plan, then search, then summarize'");
    let told: Vec<(String, String)> = events(&workspace, &result)
        .into_iter()
        .filter(|(kind, _)| matches!(&**kind, "plan" | "dispatch" | "stepCompleted" | "aggregate"))
        .collect();
    let told: Vec<_> = told.iter().map(|(kind, step)| (&**kind, &**step)).collect();
    assert_eq!(
        told,
        [
            ("plan", ""),
            ("dispatch", "planning-step"),
            ("stepCompleted", "planning-step"),
            ("dispatch", "search-step"),
            ("stepCompleted", "search-step"),
            ("dispatch", "summarization-step"),
            ("stepCompleted", "summarization-step"),
            ("aggregate", ""),
        ]
    );
}

#[test]
fn c_18_events_stream_as_stored_and_result_is_last() {
    let workspace = world(THREE);
    let words = shlex::split(&format!("plan run {GOAL} --format ndjson")).unwrap();
    let reply = workspace.finish(workspace.command(&words), "");
    assert_eq!(reply.exit, 0, "{reply}");
    let lines = reply
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let (last, told) = lines.split_last().unwrap();
    let id = last["result"]["run"]["id"].as_str().unwrap();
    let logs = ["runs", "logs", id, "--format", "ndjson"];
    let kept = workspace.finish(workspace.command(&logs), "").stdout;
    let kept = kept.lines().map(|line| serde_json::from_str(line).unwrap());
    assert_eq!(
        told,
        kept.collect::<Vec<Value>>(),
        "one stream for all runs"
    );
    assert_eq!(told[0]["runId"], id);
}

#[test]
fn c_3_what_is_not_satisfied_is_done_again_as_often_as_allowed() {
    let texts: &[&str] = &["first try", "second try [done]"];
    let workspace = world(&[("summarizer", texts)]);
    let result = runs(&workspace, "'do work' --max-loops 2");
    assert_eq!(
        result["answer"],
        "[summarization-step] [summarizer] second try [done]"
    );
    assert_fields(&result, json!({"satisfied": true, "passes": 2}));
    let told = read_answers(&workspace, "summarizer");
    assert_eq!(told.len(), 2);
    assert!(!told[0].contains("Refine"), "{}", told[0]);
    assert!(
        told[1].contains("The last attempt was not satisfactory.\n\nPrevious result:\n[summarization-step] [summarizer] first try"),
        "{}",
        told[1]
    );
    let starts = events(&workspace, &result);
    assert_eq!(starts.iter().filter(|(kind, _)| kind == "plan").count(), 2);
}

#[test]
fn c_4_default_is_one_pass() {
    let workspace = world(&[("summarizer", &["first try", "second try [done]"])]);
    let reply = workspace.ask("plan run 'do work'");
    assert_eq!(reply["result"]["satisfied"], false);
    assert!(
        reply["result"]["answer"]
            .as_str()
            .unwrap()
            .contains("first try")
    );
    let warning = reply["warnings"].as_array().unwrap().last().unwrap();
    assert!(
        warning.as_str().unwrap().contains("after 1 pass"),
        "{reply:#}"
    );
    assert_eq!(read_answers(&workspace, "summarizer").len(), 1);
}

#[test]
fn c_5_to_c_7_last_reply_decides_how_many_passes_there_are() {
    for (texts, passes, satisfied) in [
        (&["never"][..], 3, false),
        (&["+well"], 1, true),
        (&["[DONE]"], 1, true),
    ] {
        let workspace = world(&[("summarizer", texts)]);
        let result = runs(&workspace, "'do work' --max-loops 3");
        assert_eq!(result["passes"], passes, "{texts:?}");
        assert_eq!(result["satisfied"], satisfied, "{texts:?}");
        assert_eq!(
            read_answers(&workspace, "summarizer").len(),
            passes,
            "{texts:?}"
        );
    }
    // The reply of another step ends nothing.
    let workspace = world(&[("planner", &["[done]"]), ("summarizer", &["not yet"])]);
    assert_eq!(
        runs(&workspace, "'plan and summarize' --max-loops 2")["passes"],
        2
    );
}

#[test]
fn c_8_invalid_number_of_passes_means_one_pass() {
    for wish in ["abc", "0", "-2"] {
        let workspace = world(&[("summarizer", &["never"])]);
        let result = runs(&workspace, &format!("'do work' --max-loops {wish}"));
        assert_eq!(result["passes"], 1, "{wish}");
        assert_eq!(result["satisfied"], false, "{wish}");
    }
    let workspace = world(&[("summarizer", &["never"])]);
    for wish in ["101", "99999999999", "99999999999999999999999"] {
        let line = format!("'do work' --max-loops {wish}");
        fails(&workspace, &line, "E_USAGE");
    }
}

#[test]
fn only_last_step_is_done_again_when_that_is_asked_for() {
    let workspace = world(&[
        ("planner", &["one"]),
        ("summarizer", &["bad", "good [done]"]),
    ]);
    let line = "'plan and summarize' --max-loops 3 --refine last-step";
    let result = runs(&workspace, line);
    assert_eq!(result["passes"], 2);
    assert_eq!(read_answers(&workspace, "planner").len(), 1);
    let told = read_answers(&workspace, "summarizer").remove(1);
    assert!(
        told.contains("Previous result:\n[planning-step] [planner] one"),
        "{told}"
    );
    assert!(
        told.contains("- [planning-step][the-planner]: [planner] one"),
        "{told}"
    );
    assert_eq!(
        result["answer"],
        "[planning-step] [planner] one\n\n[summarization-step] [summarizer] good [done]"
    );
}

#[test]
fn c_9_without_agents_run_fails_at_once() {
    let workspace = world(&[]);
    let reply = fails(&workspace, "'do work'", "E_AGENT_NOT_FOUND");
    assert_eq!(reply["error"]["message"], "Agent 'planner' not found");
    assert_eq!(reply["result"]["run"]["status"], "failed");
    assert_eq!(reply["result"]["run"]["error"], "Agent 'planner' not found");
    assert_eq!(
        workspace.ask("runs list --status failed --kind plan")["result"]["total"],
        1
    );
    // Nothing begins when anything of the plan cannot be done.
    let workspace = world(&[("planner", &["x"])]);
    workspace.write("plan.yaml", "goal: g\nsteps:\n- {id: a, capability: planner, instruction: x}\n- {id: b, agent: nobody, instruction: y, dependsOn: [a]}\n");
    let reply = fails(&workspace, "plan.yaml", "E_AGENT_NOT_FOUND");
    assert_eq!(reply["error"]["message"], "Agent 'nobody' not found");
    assert_eq!(read_answers(&workspace, "planner").len(), 0);
    // Once an agent exists, it continues with its plan.
    workspace.ok("agents register nobody --id nobody --command 'sh worker.sh nobody well' --timeout-ms 60000");
    let id = reply["result"]["run"]["id"].as_str().unwrap();
    let result = runs(&workspace, &format!("--resume {id}"));
    assert_eq!(result["answer"], "[a] [planner] x\n\n[b] [nobody] well");
}

#[test]
fn c_10_to_c_12_and_c_19_words_of_goal_choose_who_works() {
    let workspace = world(&[("sql-agent", &["rows [done]"])]);
    let result = runs(&workspace, "'query the database'");
    assert_eq!(result["answer"], "[sql-step] [sql-agent] rows [done]");
    let all = [
        "planner",
        "web-crawler",
        "ie-agent",
        "sql-agent",
        "classifier",
        "orchestrator",
        "summarizer",
    ];
    let all: Vec<(&str, &[&str])> = all.iter().map(|one| (*one, &["x"][..])).collect();
    let workspace = world(&all);
    let steps = |line: &str| {
        let result = runs(&workspace, line);
        let steps = result["steps"].as_array().unwrap().iter();
        let steps = steps.map(|step| step["step"].as_str().unwrap().to_string());
        steps.collect::<Vec<_>>()
    };
    assert_eq!(steps("'use a tool'"), ["tool-use-step"]);
    let seven = steps("'plan search extract entities classify sql summarize tool'");
    assert_eq!(
        (seven.len(), &*seven[0], &*seven[1], &*seven[6]),
        (7, "planning-step", "search-step", "summarization-step")
    );
    let trap = steps("\"Explain our partner's energy plant\"");
    assert!(!trap.contains(&"ner-step".to_string()), "{trap:?}");
}

#[test]
fn c_13_failed_step_is_retried_while_passes_are_left() {
    let workspace = world(&[("summarizer", &["!boom", "well [done]"])]);
    let result = runs(&workspace, "'do work' --max-loops 2");
    assert_eq!(result["steps"][0]["tries"], 2);
    assert_fields(&result, json!({"passes": 1, "satisfied": true}));
    let told = events(&workspace, &result);
    assert!(
        told.contains(&("error".into(), "summarization-step".into())),
        "{told:?}"
    );
    let workspace = world(&[
        ("planner", &["x"]),
        ("summarizer", &["!boom", "well [done]"]),
    ]);
    let reply = fails(&workspace, "'plan and summarize'", "E_STEPS_FAILED");
    assert!(
        reply["error"]["message"]
            .as_str()
            .unwrap()
            .ends_with("boom"),
        "{reply:#}"
    );
    let steps = reply["result"]["steps"].as_array().unwrap();
    assert_eq!(
        (&steps[0]["status"], &steps[1]["status"]),
        (&json!("done"), &json!("failed"))
    );
    assert_eq!(reply["result"]["answer"], "[planning-step] [planner] x");
    assert_eq!(reply["result"]["run"]["status"], "failed");
    let workspace = world(&[("summarizer", &["!boom"])]);
    fails(&workspace, "'do work'", "E_AGENT_FAILED");
}

#[test]
fn c_14_conversations_at_once_do_not_mix() {
    let workspace = world(THREE);
    let start = |goal: &str| {
        let mut command = workspace.command(&["plan", "run", goal]);
        command
            .env_remove("CLEO_NOW")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children = [
        start("plan red and summarize"),
        start("plan blue and summarize"),
    ];
    let mut ids = Vec::new();
    for (child, color) in children.into_iter().zip(["red", "blue"]) {
        let reply = document(&workspace.reply(&child.wait_with_output().unwrap()));
        let run = &reply["result"]["run"];
        assert_eq!(run["status"], "completed", "{reply:#}");
        let id = run["id"].as_str().unwrap();
        let asked = [
            read_calls(&workspace, "planner"),
            read_calls(&workspace, "summarizer"),
        ]
        .concat();
        let own = asked
            .iter()
            .filter(|one| one["context"]["conversation_id"] == id);
        let own: Vec<_> = own
            .map(|one| one["input"]["text"].as_str().unwrap())
            .collect();
        assert_eq!(own.len(), 2);
        assert!(own.iter().all(|text| text.contains(color)), "{own:?}");
        ids.push(id.to_string());
    }
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn c_15_agent_answers_twice() {
    let workspace = world(&[("summarizer", &["one", "two"])]);
    for expected in ["[summarizer] one", "[summarizer] two"] {
        let reply = workspace.ask("agents execute x --agent the-summarizer");
        assert_eq!(reply["result"]["run"]["output"], expected);
    }
    assert_eq!(
        workspace.ask("agents list --capability SUMMARIZER")["result"]["total"],
        1
    );
    workspace.ask("agents remove the-summarizer");
    assert_eq!(
        workspace.ask("agents list --capability summarizer")["result"]["total"],
        0
    );
}

const DIAMOND: &str = "\
goal: Compare
steps:
  - {id: a, capability: planner, instruction: begin}
  - {id: b, agent: left, instruction: left, dependsOn: [a]}
  - {id: c, agent: right, instruction: right, dependsOn: [a]}
  - {id: d, capability: summarizer, instruction: end, dependsOn: [c, b]}
";

/// A worker that ends only when another works at the same time.
const MEETING: &str = r#"
touch "$1.there"
until [ -e "$2.there" ]; do sleep 0.05; done
exec sh worker.sh "$1" met
"#;

#[test]
fn c_17_middle_of_diamond_is_worked_on_at_once() {
    let workspace = world(&[("planner", &["x"]), ("summarizer", &["end [done]"])])
        .with("plan.yaml", DIAMOND)
        .with("meet.sh", MEETING);
    for (one, other) in [("left", "right"), ("right", "left")] {
        let line = format!(
            "agents register {one} --timeout-ms 60000 --command 'sh meet.sh {one} {other}'"
        );
        workspace.ok(&line);
    }
    let result = runs(&workspace, "plan.yaml");
    let told = events(&workspace, &result);
    let at = |kind: &str, step: &str| {
        let is_it = |one: &(String, String)| one.0 == kind && one.1 == step;
        told.iter().position(is_it).unwrap()
    };
    for step in ["b", "c"] {
        assert!(at("stepCompleted", "a") < at("dispatch", step));
        assert!(at("stepCompleted", step) < at("dispatch", "d"));
        assert!(at("dispatch", step) < at("stepCompleted", "b").min(at("stepCompleted", "c")));
    }
    // The context is in the order of the dependencies.
    let told = read_answers(&workspace, "summarizer").remove(0);
    assert!(
        told.ends_with("- [c][right]: [right] met\n- [b][left]: [left] met"),
        "{told}"
    );
    workspace.write(
        "circle.yaml",
        DIAMOND.replace("begin}", "begin, dependsOn: [d]}"),
    );
    let reply = fails(&workspace, "circle.yaml", "E_PLAN_INVALID");
    assert!(
        reply["error"]["message"]
            .as_str()
            .unwrap()
            .contains("circle"),
        "{reply:#}"
    );
}

#[test]
fn plan_is_carried_out_by_run_too() {
    let workspace = world(&[("planner", &["a"]), ("summarizer", &["b [done]"])]);
    let plan = "goal: Compare\nsteps:\n  - {id: a, capability: planner, instruction: begin}\n\
                \x20 - {id: b, capability: summarizer, instruction: end, dependsOn: [a]}\n";
    workspace.write("plan.yaml", plan);
    let reply = workspace.ask("run --plan plan.yaml --jobs 2");
    assert_eq!(
        (&reply["command"], &reply["result"]["satisfied"]),
        (&json!("plan.run"), &json!(true)),
        "{reply:#}"
    );
    workspace.refuse("run --plan 'search the web'", "E_FILE_UNREADABLE");
    workspace.refuse("run T1 --plan plan.yaml", "E_USAGE");
}

#[test]
fn offline_reply_is_no_result_of_step() {
    let workspace = TestWorkspace::new();
    workspace.ok("agents register Summarizer --capability summarizer --prompt p");
    let reply = fails(&workspace, "'do work' --max-loops 3", "E_CONFIG_INVALID");
    assert_eq!(reply["error"]["fix"], "cleo doctor");
    assert_eq!(reply["result"]["run"]["status"], "failed");
    assert_eq!(reply["result"]["steps"][0]["tries"], 0);
}

#[test]
fn plan_runs_no_untrusted_worker_of_project() {
    let workspace = world(&[("planner", &["x"])]).with(
        ".cleo/agents/evil.yaml",
        "name: Evil\ncapability: summarizer\ncommand: [touch, pwned]\n",
    );
    let reply = fails(
        &workspace,
        "'plan and summarize' --max-loops 2",
        "E_UNTRUSTED",
    );
    assert_eq!(reply["error"]["fix"], "cleo trust");
    assert_eq!(read_answers(&workspace, "planner").len(), 0);
    assert!(!workspace.path("pwned").exists());
}

#[test]
fn program_of_user_can_plan() {
    let workspace = world(&[("planner", &["one", "two"])])
        .with("wish.sh", "cat > wish.json\necho '{\"steps\":[{\"id\":\"only\",\"capability\":\"planner\",\"instruction\":\"Do it.\"}]}'\n")
        .with("judge.sh", "cat > judged.json\ngrep -q two judged.json && echo '{\"satisfied\":true}' || echo '{\"satisfied\":false}'\n");
    let line = "'any goal' --planner 'sh wish.sh' --satisfied-by 'sh judge.sh' --max-loops 5";
    let result = runs(&workspace, line);
    assert_fields(&result, json!({"passes": 2, "satisfied": true}));
    assert_eq!(result["answer"], "[only] [planner] two");
    let wish: Value = serde_json::from_str(&workspace.read("wish.json")).unwrap();
    assert_fields(
        &wish,
        json!({"goal": "any goal", "previousResult": "[only] [planner] one"}),
    );
    let judged: Value = serde_json::from_str(&workspace.read("judged.json")).unwrap();
    assert_fields(&judged, json!({"pass": 2, "reply": "[planner] two"}));
    for (planner, code) in [
        ("echo no plan", "E_AGENT_FAILED"),
        ("false", "E_AGENT_FAILED"),
        ("no-such-program-at-all", "E_PROGRAM_MISSING"),
        (
            "echo '{\"steps\":[{\"id\":\"a\",\"agent\":\"nobody\",\"instruction\":\"x\"}]}'",
            "E_AGENT_NOT_FOUND",
        ),
        (
            "echo '{\"steps\":[{\"id\":\"a\",\"capability\":\"planner\",\"instruction\":\"x\",\"dependsOn\":[\"a\"]}]}'",
            "E_AGENT_FAILED",
        ),
        ("a 'b", "E_INPUT_INVALID"),
    ] {
        let words = ["plan", "run", "g", "--planner", planner];
        let reply = workspace.json(&words);
        assert_eq!(reply["error"]["code"], code, "{planner}: {reply:#}");
    }
    let reply = workspace.json(&["plan", "run", "'plan'", "--satisfied-by", "echo maybe"]);
    assert_eq!(reply["error"]["code"], "E_STEPS_FAILED", "{reply:#}");
    assert!(
        reply["result"]["answer"].as_str().unwrap().contains("two"),
        "{reply:#}"
    );
}

/// A world with a model that is the given server.
fn with_model(workspace: TestWorkspace, server: &Server) -> TestWorkspace {
    workspace
        .env("CLEO_LLM_PROVIDER", "openai-chat")
        .env("CLEO_LLM_BASE_URL", &server.url)
        .env("CLEO_LLM_RETRIES", "0")
}

fn says(text: &str) -> Answer {
    let body = json!({"model": "m-1", "choices": [{"message": {"content": text},
        "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
    Answer::Whole(200, "", body.to_string())
}

fn write_plan(agent: &str, needs: &str) -> String {
    json!({"steps": [
        {"id": "look", "title": "Look", "agent": agent, "intent": null, "instruction": "Look.", "dependsOn": []},
        {"id": "tell", "title": "Tell", "agent": "the-summarizer", "intent": null, "instruction": "Tell.", "dependsOn": [needs]},
    ]})
    .to_string()
}

#[test]
fn model_plans_and_what_it_gets_wrong_it_may_fix_once() {
    let good = write_plan("the-planner", "look");
    for (answers, asked) in [
        (vec![says(&good)], 1),
        (vec![says(&format!("```json\n{good}\n```"))], 1),
        (vec![says(&write_plan("nobody", "look")), says(&good)], 2),
        (
            vec![says(&write_plan("the-planner", "tell")), says(&good)],
            2,
        ),
        (vec![says("Here you are!"), says(&good)], 2),
        (
            vec![
                Answer::Whole(400, "", "{\"error\":\"no schemas here\"}".into()),
                says(&good),
            ],
            2,
        ),
    ] {
        let server = Server::start(&answers);
        let workspace = with_model(world(THREE), &server);
        let reply = workspace.ask("plan 'Look and tell' --llm");
        assert_eq!(reply["result"]["source"], "model", "{reply:#}");
        assert_eq!(reply["warnings"], json!([]));
        assert_eq!(
            reply["result"]["plan"]["steps"][1]["dependencies"],
            json!(["look"])
        );
        assert_eq!(reply["result"]["plan"]["goal"], "Look and tell");
        assert_eq!(server.read_requests().len(), asked);
        let first = &server.read_requests()[0].body;
        assert_eq!(first["response_format"]["json_schema"]["strict"], true);
    }
}

#[test]
fn planner_falls_back_to_rule_and_says_so() {
    for answers in [
        vec![says("no"), says("no")],
        vec![says(&write_plan("nobody", "look"))],
        vec![says(&write_plan("the-planner", "tell"))],
        vec![says("{\"steps\":[]}")],
        vec![Answer::Whole(401, "", String::new())],
        vec![Answer::Close],
    ] {
        let server = Server::start(&answers);
        let workspace = with_model(world(THREE), &server);
        let reply = workspace.ask(format!("plan {GOAL} --llm"));
        assert_eq!(reply["result"]["source"], "words", "{reply:#}");
        assert!(
            reply["warnings"][0]
                .as_str()
                .unwrap()
                .contains("so the rule did"),
            "{reply:#}"
        );
        assert_eq!(
            reply["result"]["plan"]["steps"].as_array().unwrap().len(),
            3
        );
        assert!(server.read_requests().len() <= 2);
    }
    let reply = world(THREE).ask(format!("plan {GOAL} --llm"));
    assert_eq!(reply["result"]["source"], "words");
    assert!(
        reply["warnings"][0]
            .as_str()
            .unwrap()
            .contains("no model is configured"),
        "{reply:#}"
    );
}

#[test]
fn plan_of_model_is_carried_out_by_model_and_worker() {
    let good = write_plan("looker", "look");
    let server = Server::start(&[says(&good), says("seen")]);
    let workspace = with_model(world(&[("summarizer", &["told [done]"])]), &server);
    workspace.ok("agents register Looker --prompt 'You look.'");
    let result = runs(&workspace, "'Look and tell' --llm");
    assert_eq!(
        result["answer"],
        "[look] seen\n\n[tell] [summarizer] told [done]"
    );
    assert_eq!(result["run"]["usage"]["totalTokens"], 11);
    assert_eq!(result["run"]["answeredBy"], Value::Null);
    let told = read_answers(&workspace, "summarizer").remove(0);
    assert_eq!(
        told,
        "Tell.\n\nContext from dependencies:\n- [look][looker]: seen"
    );
}

/// Five steps in a chain. The fourth kills cleo, the first time.
fn killing() -> (TestWorkspace, String) {
    kill(|_| {})
}

/// The same, for which the command that is killed can be prepared.
fn kill(prepare: impl FnOnce(&mut Command)) -> (TestWorkspace, String) {
    let names = ["a", "b", "c", "d", "e"];
    let workers: Vec<(&str, &[&str])> = names.iter().map(|name| (*name, &["well"][..])).collect();
    let workspace = world(&workers);
    let step = |(at, name): (usize, &&str)| {
        let needs = at
            .checked_sub(1)
            .map(|before| vec![names[before]])
            .unwrap_or_default();
        json!({"id": name, "agent": format!("the-{name}"), "instruction": "Do.", "dependsOn": needs})
    };
    let steps: Vec<Value> = names.iter().enumerate().map(step).collect();
    workspace.write(
        "plan.json",
        json!({"goal": "g", "maxLoops": 2, "steps": steps}).to_string(),
    );
    let script = "[ -e killed ] || { touch killed; kill -9 $PPID; exit 1; }\nexec sh worker.sh d 'well [done]'\n";
    workspace.write("kill.sh", script);
    workspace.ok("agents update the-d --command 'sh kill.sh'");
    let words = ["plan", "run", "plan.json"];
    let mut command = workspace.command(&words);
    prepare(&mut command);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), None, "cleo was killed");
    let listed = workspace.ask("runs list --kind plan");
    let run = &listed["result"]["runs"][0];
    assert_eq!(run["status"], "interrupted", "{listed:#}");
    (workspace, run["id"].as_str().unwrap().to_string())
}

#[test]
fn a_plan_whose_process_was_killed_goes_on_where_it_stood() {
    let (workspace, id) = killing();
    let result = runs(&workspace, &format!("--resume {id}"));
    assert_fields(&result["run"], json!({"id": id, "status": "completed"}));
    // The last step does not say that the goal is reached, so there was a second pass.
    assert_fields(&result, json!({"passes": 2, "satisfied": false}));
    for (name, calls) in [("a", 2), ("b", 2), ("c", 2), ("d", 2), ("e", 2)] {
        assert_eq!(read_answers(&workspace, name).len(), calls, "{name}");
    }
    let first = read_answers(&workspace, "d").remove(0);
    assert!(first.ends_with("- [c][the-c]: [c] well"), "{first}");
    // A finished or running run is not resumed.
    workspace.fails(format!("plan run --resume {id}"), "E_STATUS_REFUSED");
    workspace.fails(format!("runs resume {id}"), "E_STATUS_REFUSED");
    workspace.fails("plan run --resume exec_1", "E_RUN_NOT_FOUND");
}

#[test]
#[cfg(target_os = "linux")]
fn workers_of_killed_run_are_ended() {
    let script = "[ -e again ] && exec sh worker.sh a 'well [done]'\n: >again\n\
        setsid sleep 600 &\necho $! >daemon\nsleep 0.5\necho $$ >worker.new\nmv worker.new worker\nexec sleep 600\n";
    let begin = |words: &[&str]| {
        let workspace = world(&[("a", &[])]).with("hang.sh", script);
        workspace.ok("agents update the-a --command 'sh hang.sh'");
        workspace.write(
            "plan.json",
            r#"{"goal":"g","steps":[{"id":"a","agent":"the-a","instruction":"Do."}]}"#,
        );
        let mut child = workspace.command(words).spawn().unwrap();
        while !workspace.path("worker").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let begun = Instant::now();
        while is_alive(&workspace, "worker") {
            assert!(begun.elapsed() < Duration::from_secs(20), "it lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(is_alive(&workspace, "daemon"));
        workspace
    };
    for line in ["runs resume", "runs cancel"] {
        let workspace = begin(&["plan", "run", "plan.json"]);
        let listed = workspace.ask("runs list");
        let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
        workspace.result(format!("{line} {id}"));
        assert!(!is_alive(&workspace, "daemon"), "{line}");
    }
    // These are not resumed.
    for words in [
        &["ask", "well"][..],
        &["agents", "execute", "well", "--agent", "the-a"],
    ] {
        let workspace = begin(words);
        workspace.ask("runs list");
        assert!(!is_alive(&workspace, "daemon"), "{words:?}");
    }
}

#[test]
fn silent_worker_ends_when_its_plan_is_cancelled() {
    let script = "echo $$ >worker.new\nmv worker.new worker\nexec sleep 600\n";
    let workspace = world(&[("a", &[])]).with("hang.sh", script);
    workspace.ok("agents update the-a --command 'sh hang.sh'");
    workspace.write(
        "plan.json",
        r#"{"goal":"g","maxLoops":3,"steps":[{"id":"a","agent":"the-a","instruction":"Do."}]}"#,
    );
    let mut command = workspace.command(&["plan", "run", "plan.json"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    while !workspace.path("worker").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let listed = workspace.ask("runs list");
    let id = listed["result"]["runs"][0]["id"].as_str().unwrap();
    // The command waits for the end of the run, up to a limit.
    let reply = workspace.ask(format!("runs cancel {id}"));
    assert_eq!(reply["result"]["run"]["status"], "cancelled", "{reply:#}");
    let ended = document(&workspace.reply(&child.wait_with_output().unwrap()));
    assert_eq!(ended["error"]["code"], "E_RUN_CANCELLED", "{ended:#}");
}

/// Returns whether the process is alive that a file names.
fn is_alive(workspace: &TestWorkspace, file: &str) -> bool {
    let process = workspace.read(file);
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn time_of_plan_whose_process_was_killed_counts() {
    // The following commands have a fixed clock, by which each process takes a millisecond.
    for (line, after) in [("runs resume", 1), ("runs cancel", 0)] {
        let (workspace, id) = kill(|command| {
            command.env_remove("CLEO_NOW");
        });
        let shown = workspace.ask(format!("runs show {id}"))["result"].clone();
        let own = shown["events"].as_array().unwrap().iter();
        let own = own.filter(|event| event["kind"] != "run.interrupted");
        let times: Vec<&str> = own.map(|event| event["at"].as_str().unwrap()).collect();
        let before = milliseconds_between(times[0], times[times.len() - 1]);
        assert!(before > 0, "as long as three steps took: {shown:#}");
        assert_eq!(shown["run"]["executionTimeMs"], before, "{shown:#}");
        let reply = workspace.ask(format!("{line} {id}"));
        let all = &reply["result"]["run"]["executionTimeMs"];
        assert_eq!(*all, before + after, "{line}: {reply:#}");
    }
}

#[test]
fn a_plan_goes_on_like_every_other_run() {
    let (workspace, id) = killing();
    workspace.fails(format!("runs resume {id} --junit x.xml"), "E_USAGE");
    let reply = workspace.ask(format!("runs resume {id}"));
    assert_fields(&reply, json!({"command": "runs.resume", "success": true}));
    let result = &reply["result"];
    assert_eq!(
        (&result["run"]["id"], &result["passes"]),
        (&json!(id), &json!(2))
    );
    assert_eq!(
        read_answers(&workspace, "a").len(),
        2,
        "what was done stayed done"
    );
}

#[test]
fn a_plan_goes_on_over_http() {
    let (workspace, id) = killing();
    let server = Served::start(&workspace, &[]);
    let (status, told) = server.call("POST", &format!("/api/runs/{id}/resume"), &json!({}));
    assert_eq!((status, &told["run"]["id"]), (202, &json!(id)), "{told}");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        let shown = workspace.ask(format!("runs show {id}"));
        match shown["result"]["run"]["status"].as_str() {
            Some("running") => std::thread::sleep(Duration::from_millis(50)),
            status => return assert_eq!(status, Some("completed"), "{shown:#}"),
        }
    }
    panic!("it runs for too long");
}

#[test]
fn plan_is_cancelled_between_two_steps_and_resumed() {
    let workspace = world(&[("planner", &["x"]), ("summarizer", &["well [done]"])])
        .with("cancel.sh", "cleo runs list --jq '.result.runs[0].id' --format json | tr -d '\"' > id\n(cleo runs cancel $(cat id) > cancelled 2>&1 &)\nuntil cleo runs show $(cat id) --json | grep -q run.cancel; do sleep 0.05; done\nexec sh worker.sh planner x\n");
    workspace.ok("agents update the-planner --timeout-ms 60000 --command 'sh cancel.sh'");
    let reply = fails(&workspace, "'plan and summarize'", "E_RUN_CANCELLED");
    assert_eq!(reply["result"]["run"]["status"], "cancelled");
    let steps = reply["result"]["steps"].as_array().unwrap();
    assert_eq!(
        (&steps[0]["status"], &steps[1]["status"]),
        (&json!("done"), &json!("waiting"))
    );
    let id = reply["result"]["run"]["id"].as_str().unwrap();
    let result = runs(&workspace, &format!("--resume {id}"));
    assert_eq!(result["satisfied"], true, "{result:#}");
    assert_eq!(read_answers(&workspace, "planner").len(), 1);
}

#[test]
fn a_plan_that_is_interrupted_says_which_run_goes_on_and_how() {
    let workspace = world(&[("planner", &["x"]), ("summarizer", &["well [done]"])]).with(
        "end.sh",
        "[ -e ended ] || { : >ended; kill -INT $PPID; sleep 60; }\n\
         exec sh worker.sh summarizer 'well [done]'\n",
    );
    workspace.ok("agents update the-summarizer --command 'sh end.sh'");
    let reply = fails(&workspace, "'plan and summarize'", "E_INTERRUPTED");
    let run = &reply["result"]["run"];
    assert_eq!(run["status"], "interrupted", "{reply:#}");
    let id = run["id"].as_str().unwrap();
    let fix = format!("cleo plan run --resume {id}");
    assert_eq!(reply["error"]["fix"], fix, "{reply:#}");
    let result = runs(&workspace, &format!("--resume {id}"));
    assert_eq!(result["satisfied"], true, "{result:#}");
    assert_eq!(read_answers(&workspace, "planner").len(), 1);
}

#[test]
fn a_plan_that_failed_goes_on_with_what_failed() {
    let workspace = world(&[
        ("planner", &["x"]),
        ("summarizer", &["!boom", "well [done]"]),
    ]);
    let reply = fails(&workspace, "'plan and summarize'", "E_STEPS_FAILED");
    let id = reply["result"]["run"]["id"].as_str().unwrap();
    let result = runs(&workspace, &format!("--resume {id}"));
    assert_eq!(result["satisfied"], true);
    // By a fixed clock each process takes a millisecond; both count.
    let times = [&reply["result"], &result].map(|one| &one["run"]["executionTimeMs"]);
    assert_eq!(times, [&json!(1), &json!(2)]);
    assert_eq!(
        (
            read_answers(&workspace, "planner").len(),
            read_answers(&workspace, "summarizer").len()
        ),
        (1, 2)
    );
    assert_eq!(result["run"]["error"], Value::Null);
}

#[test]
fn coordinator_and_agents_have_states_of_specification() {
    let look = "cleo agents list --json --jq '.result.agents[] | [.id, .state]' > agents\n\
                cleo runs show --json --jq .result.run.coordinator > coordinator\n\
                exec sh worker.sh planner x\n";
    let workspace =
        world(&[("planner", &["x"]), ("summarizer", &["[done]"])]).with("look.sh", look);
    workspace.ok("agents update the-planner --command 'sh look.sh'");
    workspace.ok("agents update toby-technical --status paused");
    let run = runs(&workspace, "'plan and summarize'");
    assert_eq!(run["satisfied"], true);
    assert_eq!(workspace.read("coordinator"), "dispatching\n");
    let seen = workspace.read("agents");
    let seen: Vec<&str> = seen.lines().collect();
    assert_eq!(
        seen,
        [
            r#"["cleo-supervisor","idle"]"#,
            r#"["toby-technical","stopped"]"#,
            r#"["ami-creative","idle"]"#,
            r#"["peter-logical","idle"]"#,
            r#"["the-planner","processing"]"#,
            r#"["the-summarizer","idle"]"#,
        ]
    );
    let shown = workspace.result("runs show");
    assert_eq!(shown["run"]["coordinator"], "waiting");
    let planner = workspace.result("agents show the-planner");
    assert_eq!(planner["agent"]["state"], "idle");
}
