//! Queries: planned, carried out by real workers, answered. Scenarios D-4 to D-13 and D-15 of the
//! supervisor-web-app notes that need no server of our own.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Answer, Server, nobody};
use crate::world::{TestWorkspace, assert_fields, column, document};

pub(crate) const NAME: &str = "document_summarizer_agent";

pub(crate) fn well(result: &str) -> Answer {
    let body = json!({"request_id": "ID", "agent_name": NAME, "status": "success",
        "output": {"result": result}, "error": null});
    Answer::Worker(body.to_string())
}

/// Registers a worker under a name, with what it is asked for and how it is reached.
pub(crate) fn register(workspace: &TestWorkspace, name: &str, intent: &str, more: &str) {
    let line = format!("agents register {name} --intent {intent} --timeout-ms 60000 {more}");
    workspace.ok(&line);
}

/// A world with the summarizer of the specification at an address.
fn summarizer(server: &Server) -> TestWorkspace {
    let workspace = TestWorkspace::new();
    let more = format!("--endpoint {}/run", server.url);
    register(&workspace, NAME, "summary.create", &more);
    workspace
}

#[track_caller]
fn asks(workspace: &TestWorkspace, words: &[&str]) -> Value {
    let reply = workspace.json(&[&["ask"], words].concat());
    let mut keys: Vec<_> = reply["result"].as_object().unwrap().keys().collect();
    keys.sort();
    assert_eq!(
        keys,
        ["answer", "error", "intermediate_results", "used_agents"]
    );
    reply
}

pub(crate) fn steps(steps: &[(u64, &str, &str, &str)]) -> String {
    let step = |(id, agent, intent, source): &(u64, &str, &str, &str)| json!({"step_id": id, "agent": agent, "intent": intent, "input_source": source});
    json!({"steps": steps.iter().map(step).collect::<Vec<_>>()}).to_string()
}

/// A program that plans so.
fn planner(workspace: &TestWorkspace, plan: &str) -> String {
    workspace.write("plan.json", plan);
    workspace.write("planner.sh", "cat > brief.json; cat plan.json");
    "sh planner.sh".to_string()
}

fn statuses(reply: &Value) -> Vec<&str> {
    column(&reply["result"]["used_agents"], "status")
}

#[test]
fn d_3_blank_query_is_refused() {
    let workspace = TestWorkspace::new();
    for query in ["", "  "] {
        let reply = workspace.json(&["ask", query]);
        assert_eq!(reply["error"]["code"], "E_INPUT_INVALID");
        assert_eq!(reply["error"]["message"], "Query cannot be empty");
    }
    assert_eq!(workspace.ask("runs list")["result"]["total"], 0);
}

#[test]
fn d_4_without_model_summarizer_answers() {
    let server = Server::start(&[well("R1")]);
    let workspace = summarizer(&server);
    let reply = asks(&workspace, &["Summarize X"]);
    let result = &reply["result"];
    assert_eq!(
        result["used_agents"],
        json!([{"name": NAME, "intent": "summary.create", "status": "success"}])
    );
    assert_eq!(
        result["intermediate_results"]["step_0"]["output"]["result"],
        "R1"
    );
    assert_eq!(
        result["answer"],
        "Based on the tools, here is what I found: R1"
    );
    assert_eq!(result["error"], Value::Null);
    let asked = server.read_requests().remove(0).body;
    let id = asked["request_id"].as_str().unwrap();
    assert_eq!((id.len(), id.as_bytes()[14]), (36, b'4'));
    assert_eq!(result["intermediate_results"]["step_0"]["request_id"], id);
    assert_fields(
        &asked,
        json!({"agent_name": NAME, "intent": "summary.create"}),
    );
    assert_eq!(
        asked["input"],
        json!({"text": "Summarize X", "metadata": {"language": "en", "extra": {}}})
    );
    assert_eq!(asked["context"]["user_id"], Value::Null);
    assert_eq!(asked["context"]["timestamp"], "2026-01-26T09:00:02.000Z");
    let runs = workspace.ask("runs list --kind query");
    let run = &runs["result"]["runs"][0];
    assert_eq!(asked["context"]["conversation_id"], run["id"]);
    assert_fields(run, json!({"status": "completed", "answeredBy": "worker"}));
    asks(
        &workspace,
        &["again", "--user", "u7", "--conversation", "C7"],
    );
    let context = server.read_requests().remove(1).body["context"].clone();
    assert_fields(&context, json!({"user_id": "u7", "conversation_id": "C7"}));
}

#[test]
fn d_5_result_of_step_is_input_of_another() {
    let (one, two) = (
        Server::start(&[well("first")]),
        Server::start(&[well("second")]),
    );
    let workspace = summarizer(&one);
    register(
        &workspace,
        "two",
        "x.do",
        &format!("--endpoint {}/run", two.url),
    );
    let plan = steps(&[
        (0, NAME, "summary.create", "user_query"),
        (1, "two", "x.do", "step:0.output.result"),
    ]);
    let planner = planner(&workspace, &plan);
    let reply = asks(&workspace, &["Do both", "--planner", &planner]);
    assert_eq!(
        reply["result"]["answer"],
        "Based on the tools, here is what I found: first | second"
    );
    assert_eq!(two.read_requests()[0].body["input"]["text"], "first");
    let brief: Value = serde_json::from_str(&workspace.read("brief.json")).unwrap();
    assert_eq!(brief["user_query"], "Do both");
    assert_eq!(
        brief["available_agents"][0],
        json!({"name": NAME, "description": "", "intents": ["summary.create"]})
    );
    let results = reply["result"]["intermediate_results"].as_object().unwrap();
    assert_eq!(results.keys().collect::<Vec<_>>(), ["step_0", "step_1"]);
}

#[test]
fn d_6_to_d_9_what_is_wrong_with_worker_has_type() {
    let other = r#"{"request_id":"other","status":"success","output":{"result":"R"},"error":null}"#;
    let both = r#"{"request_id":"ID","status":"success","output":{"result":"R"},"error":{"type":"t","message":"m"}}"#;
    for (answer, kind, word) in [
        (
            Answer::Whole(500, "", String::new()),
            "http_error",
            "HTTP 500 calling",
        ),
        (
            Answer::Whole(302, "Location: http://127.0.0.1:9/\r\n", String::new()),
            "http_error",
            "",
        ),
        (Answer::Close, "network_error", ""),
        (
            Answer::Worker("hello".into()),
            "invalid_response",
            "not JSON",
        ),
        (Answer::Worker(both.into()), "invalid_response", "both"),
        (
            Answer::Worker(other.into()),
            "invalid_response",
            "request_id",
        ),
    ] {
        let server = Server::start(&[answer]);
        let reply = asks(&summarizer(&server), &["Summarize X"]);
        let (result, error) = (&reply["result"], &reply["result"]["error"]);
        assert_eq!(error["type"], kind, "{reply:#}");
        assert!(
            error["message"].as_str().unwrap().contains(word),
            "{reply:#}"
        );
        assert_eq!(result["intermediate_results"]["step_0"]["error"], *error);
        assert_eq!(
            result["intermediate_results"]["step_0"]["output"],
            Value::Null
        );
        assert_eq!(
            result["answer"],
            "I could not complete your request because every tool failed. Please try again."
        );
        assert_eq!(statuses(&reply), ["error"]);
        assert_fields(
            &reply["error"],
            json!({"code": "E_AGENT_FAILED", "exitCode": 80}),
        );
    }
    // D-8: no server listens there.
    let workspace = TestWorkspace::new();
    register(
        &workspace,
        NAME,
        "summary.create",
        &format!("--endpoint http://{}/", nobody()),
    );
    assert_eq!(
        asks(&workspace, &["x"])["result"]["error"]["type"],
        "network_error"
    );
}

#[test]
fn d_7_worker_that_sleeps_is_left_when_its_time_is_up() {
    let server = Server::start(&[Answer::Hang]);
    let workspace = summarizer(&server);
    workspace.ok("agents update document-summarizer-agent --timeout-ms 2000");
    let reply = asks(&workspace, &["x"]);
    assert_eq!(reply["result"]["error"]["type"], "timeout", "{reply:#}");
    server.left.recv_timeout(Duration::from_secs(20)).unwrap();
}

#[test]
fn d_10_one_that_fails_stops_only_those_that_need_it() {
    let (bad, good) = (
        Server::start(&[Answer::Whole(500, "", String::new())]),
        Server::start(&[well("R")]),
    );
    let workspace = summarizer(&bad);
    register(
        &workspace,
        "good",
        "x.do",
        &format!("--endpoint {}/run", good.url),
    );
    let plan = steps(&[
        (0, NAME, "summary.create", "user_query"),
        (1, "good", "x.do", "step:0.output.result"),
        (2, "good", "x.do", "user_query"),
        (5, "good", "x.do", "step:1.output.result"),
    ]);
    let planner = planner(&workspace, &plan);
    let reply = asks(&workspace, &["The query", "--planner", &planner]);
    let result = &reply["result"];
    assert_eq!(
        result["answer"],
        "Based on the tools, here is what I found: R"
    );
    assert_eq!(
        (&reply["success"], &result["error"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(statuses(&reply), ["error", "error", "success", "error"]);
    for step in ["step_1", "step_5"] {
        assert_eq!(
            result["intermediate_results"][step]["error"]["type"],
            "dependency_error"
        );
    }
    // The query is not sent in the place of what is missing.
    assert_eq!(good.read_requests().len(), 1);
    assert_eq!(good.read_requests()[0].body["input"]["text"], "The query");
}

#[test]
fn d_11_plan_that_is_none_leaves_it_to_usual_worker() {
    let server = Server::start(&[well("R1")]);
    let workspace = summarizer(&server);
    for plan in [
        "Use the summarizer!".to_string(),
        "{}".to_string(),
        steps(&[(0, "nobody", "summary.create", "user_query")]),
        steps(&[(0, NAME, "other.intent", "user_query")]),
        steps(&[
            (0, NAME, "summary.create", "step:1.output.result"),
            (1, NAME, "summary.create", "user_query"),
        ]),
        steps(&[
            (0, NAME, "summary.create", "user_query"),
            (0, NAME, "summary.create", "user_query"),
        ]),
    ] {
        let planner = planner(&workspace, &plan);
        let reply = asks(&workspace, &["Summarize X", "--planner", &planner]);
        assert_eq!(
            reply["result"]["answer"], "Based on the tools, here is what I found: R1",
            "{plan}"
        );
        assert!(
            reply["warnings"][0]
                .as_str()
                .unwrap()
                .contains("one worker is asked"),
            "{reply:#}"
        );
    }
    for planner in ["false", "no-such-program-at-all"] {
        let reply = asks(&workspace, &["Summarize X", "--planner", planner]);
        assert_eq!(reply["success"], true, "{reply:#}");
    }
    // The possible steps of a plan are done.
    let plan = steps(&[
        (0, "nobody", "x", "user_query"),
        (1, NAME, "summary.create", "user_query"),
        (2, NAME, "summary.create", "step:0.output.result"),
    ]);
    let planner = planner(&workspace, &plan);
    let reply = asks(&workspace, &["Summarize X", "--planner", &planner]);
    assert_eq!(statuses(&reply), ["success", "error"]);
    assert_eq!(
        reply["result"]["intermediate_results"]["step_2"]["error"]["type"],
        "dependency_error"
    );
    assert!(
        reply["warnings"][0]
            .as_str()
            .unwrap()
            .contains("step 0 of the plan is left out"),
        "{reply:#}"
    );
}

#[test]
fn without_any_worker_there_is_error() {
    let workspace = TestWorkspace::new();
    let reply = asks(&workspace, &["Summarize X"]);
    assert_eq!(reply["result"]["error"]["type"], "no_agents");
    assert_eq!(reply["error"]["code"], "E_AGENT_NOT_FOUND");
    assert_eq!(reply["result"]["used_agents"], json!([]));
    let server = Server::start(&[well("R")]);
    register(&workspace, "mail", "email.prioritize", "--command false");
    register(
        &workspace,
        "dates",
        "deadline.monitor",
        &format!("--endpoint {}/", server.url),
    );
    let reply = asks(&workspace, &["monitor the deadline"]);
    assert_eq!(reply["result"]["used_agents"][0]["name"], "dates");
    // D-13: who is new is there at once.
    let planner = planner(&workspace, "{}");
    asks(&workspace, &["x", "--planner", &planner]);
    let names = workspace.read("brief.json");
    assert!(
        names.contains("\"mail\"") && names.contains("\"dates\""),
        "{names}"
    );
}

/// A program that keeps the request in a file and answers well.
const PROGRAM: &str = r#"cat > asked.json
id=$(sed 's/.*"request_id":"\([^"]*\)".*/\1/' asked.json)
printf '{"request_id":"%s","status":"success","output":{"result":"R1"},"error":null}' "$id"
"#;

#[test]
fn d_12_program_gets_text_verbatim() {
    let workspace = TestWorkspace::new().with("worker.sh", PROGRAM);
    register(
        &workspace,
        NAME,
        "summary.create",
        "--command 'sh worker.sh'",
    );
    let text = "quotes \" ' and $(touch hacked) `touch hacked`\nand a line; \\ ü %s %n";
    let reply = asks(&workspace, &[text]);
    assert_eq!(
        reply["result"]["answer"],
        "Based on the tools, here is what I found: R1"
    );
    let asked: Value = serde_json::from_str(&workspace.read("asked.json")).unwrap();
    assert_eq!(asked["input"]["text"], text);
    assert!(!workspace.path("hacked").exists());
    workspace.ok("agents update document-summarizer-agent --command false");
    assert_eq!(
        asks(&workspace, &["x"])["result"]["error"]["type"],
        "cli_error"
    );
    workspace.write(
        "sleeps.sh",
        "sleep 300 & echo $! > child; echo $$ > own; sleep 300",
    );
    workspace
        .ok("agents update document-summarizer-agent --command 'sh sleeps.sh' --timeout-ms 1000");
    assert_eq!(
        asks(&workspace, &["x"])["result"]["error"]["type"],
        "timeout"
    );
    for name in ["child", "own"] {
        let pid = workspace.read(name);
        let is_gone = || {
            let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            status.map_or(true, |status| status.contains(") Z "))
        };
        let goes = (0..400).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            is_gone()
        });
        assert!(goes, "{name} {pid}");
    }
}

#[test]
fn d_15_queries_at_once_do_not_mix() {
    let server = Server::start(&[well("R")]);
    let workspace = summarizer(&server);
    let start = |n: usize| {
        let mut command = workspace.command(&["ask".to_string(), format!("query {n}")]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..20).map(start).collect();
    let replies = children.into_iter().map(|child| {
        document(&workspace.reply(&child.wait_with_output().unwrap()))["result"].clone()
    });
    let replies: Vec<Value> = replies.collect();
    let asked = server.read_requests();
    assert_eq!(asked.len(), 20);
    for (n, reply) in replies.iter().enumerate() {
        let id = &reply["intermediate_results"]["step_0"]["request_id"];
        let own: Vec<_> = asked
            .iter()
            .filter(|one| one.body["request_id"] == *id)
            .collect();
        assert_eq!(own.len(), 1, "{id}");
        assert_eq!(own[0].body["input"]["text"], format!("query {n}"));
    }
    assert_eq!(
        workspace.ask("runs list --kind query")["result"]["total"],
        20
    );
}

/// A model that says these things, one after the other, piece by piece where there is more than one.
pub(crate) fn says(text: &str) -> Answer {
    let body = json!({"model": "m-1", "choices": [{"message": {"content": text},
        "finish_reason": "stop"}], "usage": {"prompt_tokens": 9, "completion_tokens": 2}});
    Answer::Whole(200, "", body.to_string())
}

fn piece(text: &str) -> String {
    let event = json!({"choices": [{"delta": {"content": text}}]});
    format!("data: {event}\n\n")
}

pub(crate) fn stream(texts: &[&str]) -> Answer {
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    let mut pieces: Vec<String> = texts.iter().map(|text| piece(text)).collect();
    pieces.push(format!("data: {end}\n\n"));
    Answer::Pieces("Content-Type: text/event-stream\r\n", pieces)
}

pub(crate) fn with_model(workspace: TestWorkspace, server: &Server) -> TestWorkspace {
    workspace
        .env("CLEO_LLM_PROVIDER", "openai-chat")
        .env("CLEO_LLM_BASE_URL", &server.url)
        .env("CLEO_LLM_RETRIES", "0")
}

#[test]
fn model_plans_and_answers_out_of_what_workers_said() {
    let worker = Server::start(&[well("Paris is sunny")]);
    let plan = steps(&[(0, NAME, "summary.create", "user_query")]);
    let model = Server::start(&[says(&plan), says("It is sunny.")]);
    let workspace = with_model(summarizer(&worker), &model);
    let reply = asks(&workspace, &["How is Paris?"]);
    assert_eq!(reply["result"]["answer"], "It is sunny.");
    assert_eq!(reply["warnings"], json!([]));
    let asked = model.read_requests();
    let brief: Value =
        serde_json::from_str(asked[0].body["messages"][1]["content"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&brief["user_query"], &brief["available_agents"][0]["name"]),
        (&json!("How is Paris?"), &json!(NAME))
    );
    assert_eq!(asked[0].body["temperature"], 0.0);
    let outputs: Value =
        serde_json::from_str(asked[1].body["messages"][1]["content"].as_str().unwrap()).unwrap();
    assert_eq!(
        outputs["tool_outputs"][0],
        json!({"agent": NAME, "status": "success", "result": "Paris is sunny", "details": null})
    );
    assert_eq!(asked[1].body["temperature"], 0.2);
    let run = workspace.ask("runs list")["result"]["runs"][0].clone();
    assert_eq!(
        (&run["answeredBy"], &run["usage"]["totalTokens"]),
        (&json!("model"), &json!(11))
    );
}

#[test]
fn model_that_fails_costs_nothing_but_its_answer() {
    let worker = Server::start(&[well("R1")]);
    for answers in [
        vec![Answer::Whole(500, "", String::new())],
        vec![Answer::Close],
        vec![says("no plan"), Answer::Garbage],
    ] {
        let model = Server::start(&answers);
        let workspace = with_model(summarizer(&worker), &model);
        let reply = asks(&workspace, &["Summarize X"]);
        assert_eq!(
            reply["result"]["answer"],
            "Based on the tools, here is what I found: R1"
        );
        assert_eq!(reply["warnings"].as_array().unwrap().len(), 2, "{reply:#}");
    }
}

#[test]
fn answer_of_model_is_streamed_piece_by_piece() {
    let worker = Server::start(&[well("R1")]);
    let plan = steps(&[(0, NAME, "summary.create", "user_query")]);
    let model = Server::start(&[says(&plan), stream(&["It is ", "sunny."])]);
    (0..9).for_each(|_| model.go.send(()).unwrap());
    let workspace = with_model(summarizer(&worker), &model);
    let reply = workspace.finish(workspace.command(&["ask", "x", "--format", "ndjson"]), "");
    let lines = reply
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.map(|line| line["result"].clone()).collect();
    let pieces: Vec<_> = lines
        .iter()
        .filter_map(|line| line["piece"].as_str())
        .collect();
    assert_eq!(pieces, ["It is ", "sunny."], "{reply}");
    assert_eq!(lines.last().unwrap()["answer"], "It is sunny.");
    // An execution does the same.
    let model = Server::start(&[stream(&["Two ", "and two."])]);
    (0..9).for_each(|_| model.go.send(()).unwrap());
    let workspace = with_model(TestWorkspace::new(), &model);
    let words = [
        "agents",
        "execute",
        "x",
        "--agent",
        "toby-technical",
        "--format",
        "ndjson",
    ];
    let reply = workspace.finish(workspace.command(&words), "");
    let lines = reply
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.map(|line| line["result"].clone()).collect();
    let pieces: Vec<_> = lines
        .iter()
        .filter(|line| line.get("piece").is_some())
        .collect();
    assert_eq!(pieces.len(), 2, "{reply}");
    assert_fields(
        pieces[0],
        json!({"agent": "toby-technical", "piece": "Two "}),
    );
    assert_eq!(lines.last().unwrap()["run"]["output"], "Two and two.");
}

#[test]
fn people_see_answer_and_with_debug_who_said_what() {
    let workspace = TestWorkspace::new().with("worker.sh", PROGRAM);
    register(
        &workspace,
        NAME,
        "summary.create",
        "--command 'sh worker.sh'",
    );
    insta::assert_snapshot!(workspace.cleo("ask 'Summarize X'"));
    insta::assert_snapshot!(workspace.cleo("ask 'Summarize X' --debug"));
}
