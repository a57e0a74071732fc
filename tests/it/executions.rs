//! Executions: a message, the agent that fits it, and the record of it; with workers, a model, or
//! neither. Scenarios A0-2 to A0-9, A0-13, A0-15, A0-17 and A0-19 of the multi-agent notes.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::served::{Served, begin_conversation};
use crate::server::{Answer, Server};
use crate::world::{TestWorkspace, document};

fn does(workspace: &TestWorkspace, line: &str) -> Value {
    let reply = workspace.json(&shlex::split(line).unwrap());
    assert_eq!(reply["success"], true, "cleo {line}: {reply:#}");
    reply["result"].clone()
}

/// Runs a command that must fail, and returns the whole reply.
fn fails(workspace: &TestWorkspace, line: &str, code: &str) -> Value {
    let reply = workspace.json(&shlex::split(line).unwrap());
    assert_eq!(reply["error"]["code"], code, "cleo {line}: {reply:#}");
    reply
}

fn execute(workspace: &TestWorkspace, message: &str) -> Value {
    does(
        workspace,
        &format!("agents execute {}", shlex::try_quote(message).unwrap()),
    )
}

fn strings<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let list = list.as_array().unwrap();
    list.iter()
        .map(|one| one[field].as_str().unwrap())
        .collect()
}

/// A world with a model that is the given server.
fn with_model(server: &Server) -> TestWorkspace {
    TestWorkspace::new()
        .env("CLEO_LLM_PROVIDER", "openai-chat")
        .env("CLEO_LLM_BASE_URL", &server.url)
        .env("CLEO_LLM_RETRIES", "0")
        .env("OPENAI_API_KEY", "sk-test-0123456789abcdef")
}

fn says(text: &str) -> Answer {
    let body = json!({"model": "m-1", "choices": [{"message": {"content": text},
        "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
    Answer::Whole(200, "", body.to_string())
}

#[test]
fn cut_or_refused_answer_says_so() {
    for (reason, lack) in [
        ("length", "cut off at the most tokens"),
        ("content_filter", "would not answer"),
        ("odd", "for a reason of its own"),
    ] {
        let body = json!({"model": "m-1", "choices": [{"message": {"content": "Half of"},
            "finish_reason": reason}]});
        let server = Server::start(&[Answer::Whole(200, "", body.to_string())]);
        let workspace = with_model(&server);
        let told = workspace.json(&["agents", "execute", "Solve 2x + 5 = 15"]);
        let warning = told["warnings"][0].as_str().unwrap_or_default();
        assert!(warning.contains(lack), "{reason}: {told}");
        let said = told["result"]["messages"]
            .as_array()
            .unwrap()
            .last()
            .unwrap();
        let kept = said["metadata"]["incomplete"].as_str().unwrap_or_default();
        assert!(kept.contains(lack), "{reason}: {said}");
        assert_eq!(said["content"], "Half of", "{reason}");
    }
}

fn worker(text: &str) -> Answer {
    let body = json!({"request_id": "ID", "agent_name": "Summarizer", "status": "success",
        "output": {"result": text}, "error": null});
    Answer::Worker(body.to_string())
}

fn register(workspace: &TestWorkspace, server: &Server, timeout: u32) {
    let url = &server.url;
    let line = format!(
        "agents register Summarizer --tag summary --endpoint {url}/run --timeout-ms {timeout}"
    );
    does(workspace, &line);
}

#[test]
fn messages_of_spec_reach_their_agents() {
    let workspace = TestWorkspace::new();
    for (message, agent) in [
        (
            "Explain the Second War in Warcraft history.",
            json!("toby-technical"),
        ),
        (
            "Help me design a creative layout for my blog.",
            json!("ami-creative"),
        ),
        (
            "Solve 2x + 5 = 15 and explain the steps.",
            json!("peter-logical"),
        ),
        ("zzzz qqqq", Value::Null),
    ] {
        let run = execute(&workspace, message)["run"].clone();
        let why = workspace.cleo(&format!("why --run {}", run["id"].as_str().unwrap()));
        let reason = run["routingReason"].as_str().unwrap();
        assert_eq!(why.matches(reason).count(), 1, "{why}");
        assert_eq!(run["agent"], agent, "{message}");
        assert_eq!(run["status"], "completed", "{message}");
        assert_eq!(run["answeredBy"], "offline", "{message}");
        assert_eq!(run["routedBy"], "rule", "{message}");
        assert!(
            run["routingReason"].as_str().unwrap().contains("score"),
            "{run}"
        );
        let output = run["output"].as_str().unwrap();
        assert!(
            output.starts_with("[offline]") && output.contains("llm.provider"),
            "{run}"
        );
        assert_eq!(
            (&run["usage"], &run["cost"], &run["model"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
    }
}

#[test]
fn record_tells_each_step_in_order() {
    let workspace = TestWorkspace::new();
    let run = execute(&workspace, "Explain the Second War in Warcraft history.");
    let id = run["run"]["id"].as_str().unwrap();
    assert_eq!(id, "exec_1769418001000_1");
    let shown = does(&workspace, &format!("runs show {id}"));
    assert_eq!(shown["run"], run["run"]);
    let steps = shown["steps"].as_array().unwrap();
    let told: Vec<_> = steps
        .iter()
        .map(|step| {
            (
                step["action"].as_str().unwrap(),
                step["progress"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("analyzing", 10),
            ("routing", 30),
            ("routing", 40),
            ("delegating", 55),
            ("analyzing", 70),
            ("completing", 80),
            ("completing", 95),
            ("completing", 100)
        ]
    );
    assert_eq!(steps[3]["metadata"]["delegatedTo"], "toby-technical");
    let events = shown["events"].as_array().unwrap();
    let delegation = events
        .iter()
        .find(|event| event["kind"] == "agent-delegation");
    let detail = &delegation.unwrap()["detail"];
    assert_eq!(detail["from"], "cleo-supervisor");
    assert_eq!(detail["to"], "toby-technical");
    assert_eq!(strings(&shown["messages"], "type"), ["user", "agent"]);
    insta::assert_snapshot!(workspace.cleo(&format!("runs show {id}")));
    fails(&workspace, "runs show exec_1", "E_RUN_NOT_FOUND");
}

#[test]
fn old_agent_of_moment_is_swept_away_before_it_is_chosen() {
    let workspace = TestWorkspace::new();
    let keeper = "agents register Old --id custom_1 --runtime --prompt p --tag warcraft";
    does(&workspace, keeper);
    let later = workspace.env("CLEO_NOW", "2026-01-26T10:00:00Z");
    assert_eq!(execute(&later, "warcraft")["run"]["agent"], Value::Null);
    assert_eq!(does(&later, "agents list --kind runtime")["total"], 0);
}

#[test]
fn who_is_asked_for_answers_if_that_can_be() {
    let workspace = TestWorkspace::new();
    let layout = "agents execute 'Help me design a layout'";
    let run = does(&workspace, &format!("{layout} --agent peter-logical"))["run"].clone();
    assert_eq!(
        (&run["agent"], &run["routedBy"]),
        (&json!("peter-logical"), &json!("requested"))
    );
    assert!(
        run["routingReason"].as_str().unwrap().contains("requested"),
        "{run}"
    );
    for agent in ["cleo-supervisor", "nobody"] {
        let run = does(&workspace, &format!("{layout} --agent {agent}"))["run"].clone();
        assert_eq!(
            (&run["agent"], &run["routedBy"]),
            (&json!("ami-creative"), &json!("rule"))
        );
    }
    does(&workspace, "agents update ami-creative --status paused");
    let run = execute(&workspace, "Help me design a layout")["run"].clone();
    assert_eq!(run["agent"], Value::Null, "a paused agent is not chosen");
    does(&workspace, "agents update ami-creative --status active");
    let run = execute(&workspace, "Help me design a layout")["run"].clone();
    assert_eq!(run["agent"], "ami-creative");
    does(&workspace, "agents update ami-creative --status archived");
    assert_eq!(
        does(&workspace, "runs list --agent ami-creative")["total"],
        3
    );
}

#[test]
fn many_messages_are_worked_on_side_by_side_without_mixing() {
    let workspace = TestWorkspace::new();
    let lines = "Explain the Second War\n\n\
        {\"input\":\"Help me design a layout\",\"agentId\":\"peter-logical\"}\n\
        {\"message\":\"x\",\"metadata\":{\"requested_agent_id\":\"ami-creative\"}}\n\
        creative design content\n\
        {\"input\":5}\n";
    let command = ["agents", "execute", "--stdin", "--jobs", "3"];
    let reply = workspace.finish(workspace.command(&command), lines);
    assert_eq!(reply.exit, 81, "{reply}");
    let lines: Vec<Value> = reply
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, answers) = lines.split_last().unwrap();
    assert_eq!(
        last["result"],
        json!({"total": 5, "completed": 4, "failed": 1})
    );
    let mut agents: Vec<_> = answers
        .iter()
        .filter(|line| line["success"] == true)
        .map(|line| {
            (
                line["result"]["line"].as_u64().unwrap(),
                line["result"]["run"]["agent"].clone(),
            )
        })
        .collect();
    agents.sort_by_key(|(line, _)| *line);
    let expected = [
        (1, "toby-technical"),
        (3, "peter-logical"),
        (4, "ami-creative"),
        (5, "ami-creative"),
    ];
    assert_eq!(agents, expected.map(|(line, agent)| (line, json!(agent))));
    let failed = answers
        .iter()
        .find(|line| line["success"] == false)
        .unwrap();
    assert!(
        failed["error"]["message"]
            .as_str()
            .unwrap()
            .starts_with("line 6:"),
        "{failed}"
    );
}

#[test]
fn filter_sees_summary_too() {
    let workspace = TestWorkspace::new();
    let command = [
        "agents",
        "execute",
        "--stdin",
        "--jq",
        ".result.total // .result.run.agent",
    ];
    let reply = workspace.finish(workspace.command(&command), "creative content\n");
    assert_eq!((reply.exit, &*reply.stdout), (0, "ami-creative\n1\n"));
    let reply = workspace.finish(workspace.command(&command), "{\"input\":5}\n");
    assert_eq!(reply.exit, 81);
    let last = reply.stdout.lines().last().unwrap();
    assert!(last.contains("E_STEPS_FAILED"), "{reply}");
    let misfit = ["agents", "execute", "--stdin", "--jq", ".result.total / 1"];
    let reply = workspace.finish(workspace.command(&misfit), "creative content\n");
    assert_eq!((reply.exit, &*reply.stdout), (3, "1.0\n"), "{reply}");
}

#[test]
fn processes_that_execute_at_once_keep_their_records_apart() {
    let workspace = TestWorkspace::new();
    let lines = ["Help me --agent peter-logical", "'creative design content'"];
    let start = |line: &str| {
        let line = shlex::split(&format!("agents execute {line}")).unwrap();
        let line = match line.len() {
            3 => line,
            _ => vec![
                "agents".into(),
                "execute".into(),
                "Help me".into(),
                "--agent".into(),
                "peter-logical".into(),
            ],
        };
        let mut command = workspace.command(&line);
        command
            .env_remove("CLEO_NOW")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..8).map(|at| start(lines[at % 2])).collect();
    for (at, child) in children.into_iter().enumerate() {
        let reply = document(&workspace.reply(&child.wait_with_output().unwrap()));
        let agent = ["peter-logical", "ami-creative"][at % 2];
        let id = reply["result"]["run"]["id"].as_str().unwrap();
        let shown = does(&workspace, &format!("runs show {id}"));
        assert_eq!(shown["events"].as_array().unwrap().len(), 13);
        let agents = strings(&shown["steps"], "agent");
        assert!(
            agents
                .iter()
                .all(|one| *one == agent || *one == "cleo-supervisor"),
            "{agents:?}"
        );
    }
    assert_eq!(does(&workspace, "runs list --status completed")["total"], 8);
}

#[test]
fn events_are_streamed_and_run_comes_last() {
    let workspace = TestWorkspace::new();
    let command = ["agents", "execute", "zzzz", "--format", "ndjson"];
    let reply = workspace.finish(workspace.command(&command), "");
    let lines: Vec<Value> = reply
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (last, events) = lines.split_last().unwrap();
    assert_eq!(last["result"]["run"]["status"], "completed");
    let cursors: Vec<_> = events
        .iter()
        .map(|one| one["result"]["cursor"].as_u64().unwrap())
        .collect();
    assert!(cursors.is_sorted() && cursors.len() == 10, "{cursors:?}");
}

#[test]
fn what_is_no_message_is_refused_and_leaves_no_run() {
    let workspace = TestWorkspace::new();
    fails(&workspace, "agents execute '  '", "E_INPUT_INVALID");
    fails(
        &workspace,
        "agents execute x --conversation conv_1",
        "E_CONVERSATION_NOT_FOUND",
    );
    let large = "x".repeat(10 << 20);
    let command = workspace.command(&["agents", "execute", "--stdin"]);
    let reply = workspace.finish(command, &large);
    assert_eq!(reply.exit, 81, "{}", &reply.stdout[..500]);
    assert!(reply.stdout.contains("E_INPUT_INVALID"));
    assert!(!reply.stdout.contains("runs list"), "no run was kept");
    assert_eq!(does(&workspace, "runs list")["total"], 0);
}

#[test]
fn worker_answers_and_one_that_hangs_ends_by_its_time() {
    let server = Server::start(&[worker("Short.")]);
    let workspace = TestWorkspace::new();
    register(&workspace, &server, 60_000);
    let run = execute(&workspace, "a summary")["run"].clone();
    assert_eq!(
        (&run["agent"], &run["output"]),
        (&json!("summarizer"), &json!("Short."))
    );
    assert_eq!(
        (&run["answeredBy"], &run["usage"]),
        (&json!("worker"), &Value::Null)
    );
    assert_eq!(server.read_requests()[0].body["input"]["text"], "a summary");

    let hangs = Server::start(&[Answer::Hang]);
    let workspace = TestWorkspace::new();
    register(&workspace, &hangs, 200);
    let reply = fails(&workspace, "agents execute summary", "E_AGENT_FAILED");
    assert_eq!(reply["error"]["exitCode"], 80);
    let run = &reply["result"]["run"];
    assert_eq!(
        (&run["status"], &run["answeredBy"]),
        (&json!("failed"), &Value::Null)
    );
    assert!(run["error"].as_str().unwrap().contains("timeout"), "{run}");
    let messages = &reply["result"]["messages"];
    assert_eq!(messages[1]["metadata"]["error"], "agent_invoke_failed");
    let last = messages.as_array().unwrap().last().unwrap();
    assert_eq!(last["type"], "system");
    let said = last["content"].as_str().unwrap();
    let why = "Nobody could answer this message: summarizer could not answer: ";
    assert!(said.starts_with(why) && said.contains("timeout"), "{said}");
    assert_eq!(
        reply["error"]["fix"],
        format!("cleo runs show {}", run["id"].as_str().unwrap())
    );
}

#[test]
fn model_gets_agents_prompt_and_conversation() {
    let server = Server::start(&[says("Thrall."), says("Durotan.")]);
    let workspace = with_model(&server)
        .env("CLEO_LLM_INPUT_PRICE", "1")
        .env("CLEO_LLM_OUTPUT_PRICE", "3");
    let conversation = begin_conversation(&workspace, "toby-technical");
    let line = format!("agents execute 'Who leads?' --conversation {conversation}");
    let run = does(&workspace, &line)["run"].clone();
    assert_eq!(
        (&run["answeredBy"], &run["model"]),
        (&json!("model"), &json!("m-1"))
    );
    assert_eq!(
        run["usage"],
        json!({"inputTokens": 9, "outputTokens": 2, "totalTokens": 11})
    );
    assert_eq!(run["cost"], json!(0.000015));
    assert_eq!(
        (&run["routedBy"], &run["agent"]),
        (&json!("requested"), &json!("toby-technical"))
    );
    let line = format!("agents execute 'And his father?' --conversation {conversation}");
    does(&workspace, &line);
    let asked = server.read_requests();
    let messages = asked[1].body["messages"].clone();
    let roles = strings(&messages, "role");
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(messages[2]["content"], "Thrall.");
    let said = does(&workspace, &format!("conversations show {conversation}"));
    let texts = strings(&said["messages"], "content");
    assert_eq!(
        texts,
        ["Who leads?", "Thrall.", "And his father?", "Durotan."]
    );
    let database = std::fs::read(workspace.path(".cleo/cleo.db")).unwrap();
    let key = b"sk-test-0123456789abcdef";
    assert!(
        !database.windows(key.len()).any(|part| part == key),
        "no key is kept"
    );
}

#[test]
fn supervisor_answers_in_place_of_worker_that_fails() {
    let server = Server::start(&[says("In its place.")]);
    let workspace = with_model(&server);
    let broken = Server::start(&[Answer::Close]);
    register(&workspace, &broken, 5_000);
    let shown = execute(&workspace, "a summary");
    let run = &shown["run"];
    assert_eq!(
        (&run["status"], &run["output"]),
        (&json!("completed"), &json!("In its place."))
    );
    assert!(
        run["error"]
            .as_str()
            .unwrap()
            .starts_with("agent_invoke_failed"),
        "{run}"
    );
    assert_eq!(
        strings(&shown["messages"], "type"),
        ["user", "agent", "agent"]
    );
    let reply = workspace.text("agents execute 'a summary'", "");
    let warning = "cleo-supervisor answered in its place";
    assert!(reply.stderr.contains(warning), "{reply}");
    let metrics = does(&workspace, "agents metrics");
    let agents = metrics["agents"].as_array().unwrap();
    let failed = agents.iter().find(|one| one["agentId"] == "summarizer");
    assert_eq!(failed.unwrap()["successRate"], 0.0, "it never answered");
    assert_eq!(metrics["dashboard"]["successRate"], 0.0);
    assert_eq!(metrics["dashboard"]["window"]["failed"], 2);
    let broken = Server::start(&[Answer::Whole(500, "", "{}".to_string())]);
    let workspace = with_model(&broken);
    let reply = fails(&workspace, "agents execute zzzz", "E_AGENT_FAILED");
    let error = reply["result"]["run"]["error"].as_str().unwrap();
    assert!(error.starts_with("finalizer_llm_failed"), "{error}");
    assert_eq!(reply["error"]["retryable"], true);
}

#[test]
fn unreachable_model_is_not_asked_again_for_agent() {
    let silent = Server::start(&[Answer::Hang]);
    let workspace = with_model(&silent).env("CLEO_LLM_TIMEOUT", "1s");
    let line = "agents execute 'Help me design a layout'";
    let reply = fails(&workspace, line, "E_AGENT_FAILED");
    assert_eq!(silent.read_requests().len(), 1);
    assert_eq!(reply["error"]["retryable"], true);
    let error = reply["result"]["run"]["error"].as_str().unwrap();
    assert!(
        error.starts_with("agent_invoke_failed") && error.contains("finalizer_llm_failed"),
        "{error}"
    );
}

#[test]
fn what_answers_without_text_took_is_kept() {
    let prices = |server: &Server| {
        with_model(server)
            .env("CLEO_LLM_INPUT_PRICE", "1")
            .env("CLEO_LLM_OUTPUT_PRICE", "3")
    };
    let twice = json!({"inputTokens": 18, "outputTokens": 4, "totalTokens": 22});
    let server = Server::start(&[says(" "), says("In its place.")]);
    let run = execute(&prices(&server), "Help me design a layout")["run"].clone();
    assert_eq!(run["output"], "In its place.");
    assert_eq!((&run["usage"], &run["cost"]), (&twice, &json!(0.00003)));
    let server = Server::start(&[says(" ")]);
    let workspace = prices(&server);
    let line = "agents execute 'Help me design a layout'";
    let run = fails(&workspace, line, "E_AGENT_FAILED")["result"]["run"].clone();
    assert_eq!((&run["usage"], &run["cost"]), (&twice, &json!(0.00003)));
    let id = run["id"].as_str().unwrap();
    let kept = does(&workspace, &format!("runs show {id}"));
    assert_eq!(kept["run"]["usage"], twice);
}

#[test]
fn run_whose_process_was_killed_is_marked_by_next_command() {
    let server = Server::start(&[Answer::Hang]);
    let workspace = TestWorkspace::new();
    register(&workspace, &server, 60_000);
    let mut command = workspace.command(&["agents", "execute", "summary"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while server.read_requests().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let listed = does(&workspace, "runs list");
    assert_eq!(listed["runs"][0]["status"], "running", "its process lives");
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = does(&workspace, "runs list");
    assert_eq!(listed["runs"][0]["status"], "failed");
    let error = listed["runs"][0]["error"].as_str().unwrap();
    assert!(error.starts_with("interrupted"), "{error}");
    let signs = std::fs::read_dir(workspace.path(".cleo/runs")).unwrap();
    assert_eq!(signs.count(), 0, "no sign of life stays");
}

/// Gives an execution up while it waits for an answer of a server that was asked so often, and returns how
/// the run is shown then.
fn cancel_meanwhile(
    workspace: &TestWorkspace,
    server: &Server,
    message: &str,
    times: usize,
) -> Value {
    let mut command = workspace.command(&["agents", "execute", message]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while server.read_requests().len() < times {
        std::thread::sleep(Duration::from_millis(5));
    }
    let listed = does(workspace, "runs list");
    let id = listed["runs"][0]["id"].as_str().unwrap();
    let cancelled = does(workspace, &format!("runs cancel {id}"));
    assert_eq!(cancelled["run"]["status"], "cancelled");
    // It does not wait for the answer, which never comes.
    let exit = child.wait().unwrap().code();
    assert_eq!(exit, Some(130), "who waits for the answer is told");
    let shown = does(workspace, &format!("runs show {id}"));
    assert_eq!(
        (&shown["run"]["status"], &shown["run"]["output"]),
        (&json!("cancelled"), &Value::Null)
    );
    shown["run"].clone()
}

#[test]
fn cancelled_foreign_execution_keeps_no_answer() {
    let server = Server::start(&[Answer::Hang]);
    let workspace = TestWorkspace::new();
    register(&workspace, &server, 60_000);
    let run = cancel_meanwhile(&workspace, &server, "summary", 1);
    let again = format!("runs cancel {}", run["id"].as_str().unwrap());
    fails(&workspace, &again, "E_STATUS_REFUSED");
}

#[test]
fn what_execution_took_that_was_cancelled_is_kept() {
    let server = Server::start(&[says(" "), Answer::Hang]);
    let workspace = with_model(&server)
        .env("CLEO_LLM_INPUT_PRICE", "1")
        .env("CLEO_LLM_OUTPUT_PRICE", "3");
    let run = cancel_meanwhile(&workspace, &server, "Help me design a layout", 2);
    assert_eq!(
        (&run["usage"]["totalTokens"], &run["cost"]),
        (&json!(11), &json!(0.000_015))
    );
}

#[test]
fn twenty_executions_are_measured() {
    let workspace = TestWorkspace::new();
    let empty = does(&workspace, "agents metrics");
    assert_eq!(empty["dashboard"]["averageResponseTimeMs"], Value::Null);
    let messages = "history of war\ndesign content\nzzzz\nlogic problem\n".repeat(5);
    let command = workspace.command(&["agents", "execute", "--stdin"]);
    assert_eq!(workspace.finish(command, &messages).exit, 0);
    does(&workspace, "agents update peter-logical --status paused");
    let metrics = does(&workspace, "agents metrics");
    let dashboard = &metrics["dashboard"];
    assert_eq!(dashboard["completedExecutions"], 20);
    assert_eq!(dashboard["activeAgents"], 3);
    assert_eq!(dashboard["averageResponseTimeMs"], 1.0);
    assert_eq!(dashboard["mostUsedAgents"].as_array().unwrap().len(), 3);
    let patterns = dashboard["routingPatterns"].as_array().unwrap();
    let total: u64 = patterns
        .iter()
        .map(|one| one["count"].as_u64().unwrap())
        .sum();
    assert_eq!(total, 20);
    assert!(
        patterns.iter().all(|one| one["share"] == 0.25),
        "{patterns:?}"
    );
    let ids = strings(&metrics["agents"], "agentId");
    assert_eq!(
        ids,
        ["toby-technical", "ami-creative", "cleo-supervisor"],
        "unused ones last"
    );
    for agent in &metrics["agents"].as_array().unwrap()[..2] {
        assert_eq!(agent["executionCount"], 5);
        assert_eq!(agent["successRate"], 1.0);
        assert!(agent["lastUsedAt"].is_string());
    }
    let shown = does(&workspace, "agents show ami-creative");
    assert!(shown["agent"]["last_used_at"].is_string());
    assert_eq!(
        does(&workspace, "agents metrics --user other")["dashboard"]["completedExecutions"],
        0
    );
}

#[test]
fn last_messages_of_conversation_come_in_order() {
    let workspace = TestWorkspace::new();
    let id = begin_conversation(&workspace, "ami-creative");
    let created = does(&workspace, &format!("conversations show {id}"));
    assert_eq!(created["total"], 0);
    let lines: String = (1..=30).map(|n| format!("message {n}\n")).collect();
    let command = [
        "agents",
        "execute",
        "--stdin",
        "--jobs",
        "1",
        "--conversation",
        &id,
    ];
    assert_eq!(
        workspace.finish(workspace.command(&command), &lines).exit,
        0
    );
    let shown = does(&workspace, &format!("conversations show {id}"));
    let texts = strings(&shown["messages"], "content");
    assert_eq!(
        (texts.len(), texts[0], texts[48]),
        (50, "message 6", "message 30")
    );
    assert_ne!(
        shown["conversation"]["last_message_at"],
        created["conversation"]["last_message_at"]
    );
    let last = does(&workspace, &format!("conversations show {id} --limit 2"));
    assert_eq!(strings(&last["messages"], "type"), ["user", "agent"]);
    assert_eq!((&last["total"], &shown["total"]), (&json!(60), &json!(60)));
    assert_eq!(
        does(&workspace, "conversations list --agent ami-creative")["total"],
        1
    );

    let server = Served::start(&workspace, &[]);
    let archived = json!({"status": "archived"});
    let told = server.call("PUT", &format!("/api/conversations/{id}"), &archived);
    assert_eq!(told.0, 200, "{told:?}");
    drop(server);
    let add = format!("agents execute x --conversation {id}");
    fails(&workspace, &add, "E_STATUS_REFUSED");
    assert_eq!(
        does(&workspace, "conversations list --status active")["total"],
        0
    );
    let other = workspace.env("CLEO_AGENT", "other");
    fails(&other, &add, "E_CONVERSATION_NOT_FOUND");
}

#[test]
fn lines_of_one_conversation_are_answered_in_their_order() {
    let workspace = TestWorkspace::new();
    let [first, second] = [(); 2].map(|()| begin_conversation(&workspace, "ami-creative"));
    let line = |n: usize| match n % 3 {
        0 => format!(
            "{}\n",
            json!({"input": format!("message {n}"), "conversation": second})
        ),
        _ => format!("message {n}\n"),
    };
    let lines: String = (1..=24).map(line).collect();
    let command = ["agents", "execute", "--stdin", "--conversation", &first];
    let reply = workspace.finish(workspace.command(&command), &lines);
    assert_eq!(reply.exit, 0, "{reply}");
    for (id, is_second) in [(first, false), (second, true)] {
        let kept = does(&workspace, &format!("conversations show {id}"));
        let own: Vec<_> = (1..=24).filter(|n| (n % 3 == 0) == is_second).collect();
        let types = strings(&kept["messages"], "type");
        assert_eq!(types, ["user", "agent"].repeat(own.len()));
        let asked: Vec<_> = strings(&kept["messages"], "content")
            .into_iter()
            .step_by(2)
            .collect();
        let expected: Vec<_> = own.iter().map(|n| format!("message {n}")).collect();
        assert_eq!(asked, expected);
    }
}

#[test]
fn unknown_conversation_is_refused() {
    let workspace = TestWorkspace::new();
    fails(
        &workspace,
        "conversations show conv_1",
        "E_CONVERSATION_NOT_FOUND",
    );
    assert_eq!(does(&workspace, "conversations list")["total"], 0);
}

#[test]
fn key_within_message_is_neither_kept_nor_sent() {
    let server = Server::start(&[says("No.")]);
    let workspace = with_model(&server);
    let message = "design: is sk-test-0123456789abcdef a key?";
    let run = execute(&workspace, message)["run"].clone();
    assert_eq!(run["input"], "design: is [key] a key?");
    let asked = server.read_requests();
    let body = asked[0].body.to_string();
    assert!(
        body.contains("[key]") && !body.contains("sk-test"),
        "{body}"
    );
    for file in std::fs::read_dir(workspace.path(".cleo")).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let has_key = bytes.windows(7).any(|part| part == b"sk-test");
        assert!(!has_key, "{}", path.display());
    }
}
