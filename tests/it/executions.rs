//! Executions: a message, the agent that fits it, and the record of it; with workers, a model, or
//! neither. Scenarios A0-2 to A0-9, A0-13, A0-15, A0-17 and A0-19 of the multi-agent notes.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::served::{Served, begin_conversation};
use crate::server::{Answer, Server};
use crate::world::{TestWorkspace, assert_fields, column, document};

/// Executes a message; without a model it is unanswered.
fn execute(workspace: &TestWorkspace, message: &str) -> Value {
    let reply = workspace.json(&["agents", "execute", message]);
    let is_unanswered = reply["error"]["code"] == "E_UNANSWERED";
    assert!(is_unanswered || reply["success"] == true, "{reply:#}");
    reply["result"].clone()
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
        let told = workspace.ask("agents execute 'Solve 2x + 5 = 15'");
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
    workspace.result(&line);
}

#[test]
fn record_tells_each_step_in_order() {
    let workspace = TestWorkspace::new();
    let run = execute(&workspace, "Explain the Second War in Warcraft history.");
    let id = run["run"]["id"].as_str().unwrap();
    assert_eq!(id, "exec_1769418001000_1");
    let shown = workspace.result(format!("runs show {id}"));
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
    let routing = events.iter().find(|event| event["kind"] == "routing");
    let expected = json!({
        "scoring": "Scoring 3 candidate agents",
        "message": ["explain", "the", "second", "war", "warcraft", "history"],
        "scores": ["toby-technical scored 9", "ami-creative scored 0", "peter-logical scored 0"],
        "selected": "Selected best match toby-technical with score 9",
    });
    assert_eq!(routing.unwrap()["detail"], expected);
    let delegation = events
        .iter()
        .find(|event| event["kind"] == "agent-delegation");
    let detail = &delegation.unwrap()["detail"];
    assert_eq!(detail["from"], "cleo-supervisor");
    assert_eq!(detail["to"], "toby-technical");
    assert_eq!(column(&shown["messages"], "type"), ["user", "agent"]);
    insta::assert_snapshot!(workspace.cleo(&format!("runs show {id}")));
    workspace.fails("runs show exec_1", "E_RUN_NOT_FOUND");
}

#[test]
fn old_agent_of_moment_is_swept_away_before_it_is_chosen() {
    let workspace = TestWorkspace::new();
    let keeper = "agents register Old --id custom_1 --runtime --prompt p --tag warcraft";
    workspace.result(keeper);
    let later = workspace.env("CLEO_NOW", "2026-01-26T10:00:00Z");
    assert_eq!(execute(&later, "warcraft")["run"]["agent"], Value::Null);
    assert_eq!(later.result("agents list --kind runtime")["total"], 0);
}

#[test]
fn who_is_asked_for_answers_if_that_can_be() {
    let workspace = TestWorkspace::new();
    let layout = "agents execute 'Help me design a layout'";
    let ask = |agent: &str| workspace.fails(format!("{layout} --agent {agent}"), "E_UNANSWERED");
    let run = ask("peter-logical")["result"]["run"].clone();
    assert_fields(
        &run,
        json!({"agent": "peter-logical", "routedBy": "requested"}),
    );
    assert!(
        run["routingReason"].as_str().unwrap().contains("requested"),
        "{run}"
    );
    for agent in ["cleo-supervisor", "nobody"] {
        let run = ask(agent)["result"]["run"].clone();
        assert_fields(&run, json!({"agent": "ami-creative", "routedBy": "rule"}));
    }
    workspace.result("agents update ami-creative --status paused");
    let run = execute(&workspace, "Help me design a layout")["run"].clone();
    assert_eq!(run["agent"], Value::Null, "a paused agent is not chosen");
    workspace.result("agents update ami-creative --status active");
    let run = execute(&workspace, "Help me design a layout")["run"].clone();
    assert_eq!(run["agent"], "ami-creative");
    workspace.result("agents update ami-creative --status archived");
    assert_eq!(
        workspace.result("runs list --agent ami-creative")["total"],
        3
    );
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
        let shown = workspace.result(format!("runs show {id}"));
        assert_eq!(shown["events"].as_array().unwrap().len(), 14);
        let agents = column(&shown["steps"], "agent");
        assert!(
            agents
                .iter()
                .all(|one| *one == agent || *one == "cleo-supervisor"),
            "{agents:?}"
        );
    }
    assert_eq!(
        workspace.result("runs list --status unanswered")["total"],
        8
    );
}

#[test]
fn events_are_streamed_and_run_comes_last() {
    let workspace = TestWorkspace::new();
    let command = ["agents", "execute", "zzzz", "--format", "ndjson"];
    let reply = workspace.finish(workspace.command(&command), "");
    let lines = reply.documents();
    let (last, events) = lines.split_last().unwrap();
    assert_eq!(last["result"]["run"]["status"], "unanswered");
    let cursors: Vec<_> = events
        .iter()
        .map(|one| one["result"]["cursor"].as_u64().unwrap())
        .collect();
    assert!(cursors.is_sorted() && cursors.len() == 11, "{cursors:?}");
}

#[test]
fn what_is_no_message_is_refused_and_leaves_no_run() {
    let workspace = TestWorkspace::new();
    workspace.fails("agents execute '  '", "E_INPUT_INVALID");
    workspace.fails(
        "agents execute x --conversation conv_1",
        "E_CONVERSATION_NOT_FOUND",
    );
    assert_eq!(workspace.result("runs list")["total"], 0);
}

#[test]
fn worker_answers_and_one_that_hangs_ends_by_its_time() {
    let server = Server::start(&[worker("Short.")]);
    let workspace = TestWorkspace::new();
    register(&workspace, &server, 60_000);
    let run = execute(&workspace, "a summary")["run"].clone();
    assert_fields(&run, json!({"agent": "summarizer", "output": "Short."}));
    assert_fields(&run, json!({"answeredBy": "worker", "usage": null}));
    assert_eq!(server.read_requests()[0].body["input"]["text"], "a summary");

    let hangs = Server::start(&[Answer::Hang]);
    let workspace = TestWorkspace::new();
    register(&workspace, &hangs, 200);
    let reply = workspace.fails("agents execute summary", "E_AGENT_FAILED");
    assert_eq!(reply["error"]["exitCode"], 80);
    let run = &reply["result"]["run"];
    assert_fields(run, json!({"status": "failed", "answeredBy": null}));
    assert!(run["error"].as_str().unwrap().contains("timeout"), "{run}");
    let messages = &reply["result"]["messages"];
    assert_eq!(messages[1]["metadata"]["error"], "agent_invoke_failed");
    let last = messages.as_array().unwrap().last().unwrap();
    assert_eq!(last["type"], "system");
    let said = last["content"].as_str().unwrap();
    let why = "No agent could answer this message: summarizer could not answer: ";
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
    let run = workspace.result(&line)["run"].clone();
    assert_fields(&run, json!({"answeredBy": "model", "model": "m-1"}));
    assert_eq!(
        run["usage"],
        json!({"inputTokens": 9, "outputTokens": 2, "totalTokens": 11})
    );
    assert_eq!(run["cost"], json!(0.000015));
    assert_fields(
        &run,
        json!({"routedBy": "requested", "agent": "toby-technical"}),
    );
    let line = format!("agents execute 'And his father?' --conversation {conversation}");
    workspace.result(&line);
    let asked = server.read_requests();
    let messages = asked[1].body["messages"].clone();
    let roles = column(&messages, "role");
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(messages[2]["content"], "Thrall.");
    let said = workspace.result(format!("conversations show {conversation}"));
    let texts = column(&said["messages"], "content");
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
fn key_alone_enables_model_unless_project_leads_elsewhere() {
    let server = Server::start(&[says("R1")]);
    let key = ("OPENAI_API_KEY", "sk-test-0123456789abcdef");
    let keyed = || TestWorkspace::new().env(key.0, key.1);
    let workspace = keyed().env("OPENAI_BASE_URL", &server.url);
    let told = workspace.ask("doctor").to_string();
    assert!(told.contains("chosen by OPENAI_API_KEY"), "{told}");
    assert_eq!(execute(&workspace, "x")["run"]["answeredBy"], "model");
    let asked = server.read_requests();
    assert!(asked[0].headers.contains(key.1), "{asked:?}");
    let off = [
        ("CLEO_LLM_PROVIDER", "none"),
        ("CLEO_LLM_API_KEY_ENV", "OTHER"),
        (key.0, ""),
    ];
    for (name, value) in off {
        let workspace = keyed().env("OPENAI_BASE_URL", &server.url).env(name, value);
        workspace.fails("agents execute x", "E_UNANSWERED");
    }
    let lead = format!("llm.baseUrl: {}\n", server.url);
    let workspace = keyed().with(".cleo/config.yaml", lead);
    workspace.fails("agents execute x", "E_UNTRUSTED");
    assert_eq!(server.read_requests().len(), asked.len());
    workspace.ask("trust --yes");
    workspace.ask("agents execute x");
    let last = server.read_requests().pop().unwrap();
    assert!(!last.headers.contains(key.1), "{last:?}");
    let workspace = keyed().with(".cleo/config.yaml", "llm.baseUrl: https://evil.example\n");
    workspace.fails("agents execute x", "E_CONFIG_INVALID");
}

#[test]
fn supervisor_answers_in_place_of_worker_that_fails() {
    let server = Server::start(&[says("In its place.")]);
    let workspace = with_model(&server);
    let broken = Server::start(&[Answer::Close]);
    register(&workspace, &broken, 5_000);
    let shown = execute(&workspace, "a summary");
    let run = &shown["run"];
    assert_fields(
        run,
        json!({"status": "completed", "output": "In its place."}),
    );
    assert!(
        run["error"]
            .as_str()
            .unwrap()
            .starts_with("agent_invoke_failed"),
        "{run}"
    );
    assert_eq!(
        column(&shown["messages"], "type"),
        ["user", "agent", "agent"]
    );
    let reply = workspace.text("agents execute 'a summary'", "");
    let warning = "cleo-supervisor answered in its place";
    assert!(reply.stderr.contains(warning), "{reply}");
    let metrics = workspace.result("agents metrics");
    let agents = metrics["agents"].as_array().unwrap();
    let failed = agents.iter().find(|one| one["agentId"] == "summarizer");
    assert_eq!(failed.unwrap()["successRate"], 0.0, "it never answered");
    assert_eq!(metrics["dashboard"]["successRate"], 0.0);
    let broken = Server::start(&[Answer::Whole(500, "", "{}".to_string())]);
    let workspace = with_model(&broken);
    let reply = workspace.fails("agents execute zzzz", "E_AGENT_FAILED");
    let error = reply["result"]["run"]["error"].as_str().unwrap();
    assert!(error.starts_with("finalizer_llm_failed"), "{error}");
    assert_eq!(reply["error"]["retryable"], true);
}

#[test]
fn unreachable_model_is_not_asked_again_for_agent() {
    let silent = Server::start(&[Answer::Hang]);
    let workspace = with_model(&silent).env("CLEO_LLM_TIMEOUT", "1s");
    let line = "agents execute 'Help me design a layout'";
    let reply = workspace.fails(line, "E_AGENT_FAILED");
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
    let run = workspace.fails(line, "E_AGENT_FAILED")["result"]["run"].clone();
    assert_eq!((&run["usage"], &run["cost"]), (&twice, &json!(0.00003)));
    let id = run["id"].as_str().unwrap();
    let kept = workspace.result(format!("runs show {id}"));
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
    let listed = workspace.result("runs list");
    assert_eq!(listed["runs"][0]["status"], "running", "its process lives");
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = workspace.result("runs list");
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
    let listed = workspace.result("runs list");
    let id = listed["runs"][0]["id"].as_str().unwrap();
    let cancelled = workspace.result(format!("runs cancel {id}"));
    assert_eq!(cancelled["run"]["status"], "cancelled");
    // It does not wait for the answer, which never comes.
    let exit = child.wait().unwrap().code();
    assert_eq!(exit, Some(130), "who waits for the answer is told");
    let shown = workspace.result(format!("runs show {id}"));
    assert_fields(
        &shown["run"],
        json!({"status": "cancelled", "output": null}),
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
    workspace.fails(&again, "E_STATUS_REFUSED");
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
    let empty = workspace.result("agents metrics");
    assert_eq!(empty["dashboard"]["averageResponseTimeMs"], Value::Null);
    let messages = ["history of war", "design content", "zzzz", "logic problem"];
    for message in messages.iter().cycle().take(20) {
        workspace.fails(format!("agents execute '{message}'"), "E_UNANSWERED");
    }
    workspace.result("agents update peter-logical --status paused");
    let metrics = workspace.result("agents metrics");
    let dashboard = &metrics["dashboard"];
    assert_eq!(dashboard["completedExecutions"], 20);
    assert_eq!(dashboard["unansweredExecutions"], 20);
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
    let ids = column(&metrics["agents"], "agentId");
    assert_eq!(
        ids,
        ["ami-creative", "toby-technical", "cleo-supervisor"],
        "unused ones last"
    );
    for agent in &metrics["agents"].as_array().unwrap()[..2] {
        assert_eq!(agent["executionCount"], 5);
        assert_eq!(agent["successRate"], Value::Null, "no model was asked");
        assert!(agent["lastUsedAt"].is_string());
    }
    let shown = workspace.result("agents show ami-creative");
    assert!(shown["agent"]["last_used_at"].is_string());
    assert_eq!(
        workspace.result("agents metrics --user other")["dashboard"]["completedExecutions"],
        0
    );
}

#[test]
fn last_messages_of_conversation_come_in_order() {
    let workspace = TestWorkspace::new();
    let id = begin_conversation(&workspace, "ami-creative");
    let created = workspace.result(format!("conversations show {id}"));
    assert_eq!(created["total"], 0);
    for n in 1..=30 {
        let line = format!("agents execute 'message {n}' --conversation {id}");
        workspace.fails(line, "E_UNANSWERED");
    }
    let shown = workspace.result(format!("conversations show {id}"));
    let texts = column(&shown["messages"], "content");
    assert_eq!(
        (texts.len(), texts[0], texts[48]),
        (50, "message 6", "message 30")
    );
    assert_ne!(
        shown["conversation"]["last_message_at"],
        created["conversation"]["last_message_at"]
    );
    let last = workspace.result(format!("conversations show {id} --limit 2"));
    assert_eq!(column(&last["messages"], "type"), ["user", "agent"]);
    assert_eq!((&last["total"], &shown["total"]), (&json!(60), &json!(60)));
    assert_eq!(
        workspace.result("conversations list --agent ami-creative")["total"],
        1
    );

    let server = Served::start(&workspace, &[]);
    let archived = json!({"status": "archived"});
    let told = server.call("PUT", &format!("/api/conversations/{id}"), &archived);
    assert_eq!(told.0, 200, "{told:?}");
    drop(server);
    let add = format!("agents execute x --conversation {id}");
    workspace.fails(&add, "E_STATUS_REFUSED");
    assert_eq!(
        workspace.result("conversations list --status active")["total"],
        0
    );
    let other = workspace.env("CLEO_AGENT", "other");
    other.fails(&add, "E_CONVERSATION_NOT_FOUND");
}

#[test]
fn unknown_conversation_is_refused() {
    let workspace = TestWorkspace::new();
    workspace.fails("conversations show conv_1", "E_CONVERSATION_NOT_FOUND");
    assert_eq!(workspace.result("conversations list")["total"], 0);
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
