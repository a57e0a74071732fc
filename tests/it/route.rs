//! `cleo route`: from a message to an agent.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::{CLEO, TestWorkspace, says};

/// Two that tie, one that sleeps and one that leads.
const AGENTS: &str = r#"# who there is
- id: first
  tags: [alpha, "second war"]
- id: second
  tags: beta, gamma
  description: Knows everything about Ökonomie
- {id: asleep, tags: [delta], status: paused}
- {id: boss, tags: [delta], role: supervisor, model: none}
"#;

fn world() -> TestWorkspace {
    TestWorkspace::bare().with("agents.yaml", AGENTS)
}

/// Routes a message and returns the agent, the score and the reason.
fn route(world: &TestWorkspace, line: &str) -> (String, u64, String) {
    let result = world.result(format!("route {line}"));
    let text = |name: &str| result[name].as_str().unwrap().to_string();
    (
        text("agent"),
        result["score"].as_u64().unwrap(),
        text("reason"),
    )
}

#[test]
fn messages_go_where_spec_says() {
    let world = TestWorkspace::bare();
    let (war, sum) = (
        "'Explain the Second War in Warcraft history.'",
        "'Solve 2x + 5 = 15 and explain the steps.'",
    );
    let (none, layout) = (
        "No suitable agent found (best score: 0)",
        "'Help me design a layout'",
    );
    let blog = "'Help me design a creative layout for my blog.'";
    for (line, agent, score, reason) in [
        (
            war.to_string(),
            "toby-technical",
            9,
            "Best match with score 9",
        ),
        (
            blog.to_string(),
            "ami-creative",
            12,
            "Best match with score 12",
        ),
        (
            sum.to_string(),
            "peter-logical",
            6,
            "Best match with score 6",
        ),
        (
            format!("{sum} --substring"),
            "peter-logical",
            7,
            "Best match with score 7",
        ),
        ("'zzzz qqqq'".to_string(), "finalize", 0, none),
        (
            "'What is the weather today?'".to_string(),
            "finalize",
            0,
            none,
        ),
        (
            format!("{layout} --agent peter-logical"),
            "peter-logical",
            0,
            "peter-logical was requested; its score is 0",
        ),
        (
            format!("{layout} --agent cleo-supervisor"),
            "ami-creative",
            6,
            "Best match with score 6",
        ),
        (
            format!("{layout} --agent nobody"),
            "ami-creative",
            6,
            "Best match with score 6; the requested agent `nobody` was not available (unknown)",
        ),
    ] {
        let expected = (agent.to_string(), score, reason.to_string());
        assert_eq!(route(&world, &line), expected, "{line}");
    }
}

#[test]
fn reply_has_all_parts_and_event() {
    let world = TestWorkspace::bare();
    let reply = world.ask("route 'Design a story, design the data'");
    let expected = json!({
        "agent": "ami-creative",
        "decided": "matched",
        "score": 6,
        "reason": "Best match with score 6",
        "margin": 3,
        "runnerUp": {"id": "toby-technical", "score": 3},
        "terms": ["design", "story", "the", "data"],
        "candidates": [
            {"id": "ami-creative", "score": 6, "base": 2, "tagBoost": 4,
             "matchedTerms": ["design", "story"], "matchedTags": ["design", "story"]},
            {"id": "toby-technical", "score": 3, "base": 1, "tagBoost": 2,
             "matchedTerms": ["data"], "matchedTags": ["data"]},
            {"id": "peter-logical", "score": 0, "base": 0, "tagBoost": 0,
             "matchedTerms": [], "matchedTags": []},
        ],
        "total": 3,
        "delegation": {"from": "cleo-supervisor", "to": "ami-creative", "reason": "Best match with score 6",
            "query": "Design a story, design the data", "timestamp": "2026-01-26T09:00:00.000Z"},
    });
    assert_eq!(reply["result"], expected);
    let limited = world.ask("route 'Design a story' --limit 1");
    assert_eq!(limited["result"]["candidates"].as_array().unwrap().len(), 1);
    assert_eq!(limited["result"]["total"], 3);
}

#[test]
fn people_see_words_that_count_and_parts() {
    let world = world();
    insta::assert_snapshot!(
        [
            "route 'Explain the Second War in Warcraft history.' --explain",
            "route 'Explain the Second War in Warcraft history.'",
            "route 'What is the weather today?' --explain",
            "route 'Alpha, beta; the second war' --agents agents.yaml --explain --limit 1",
            "route 'alpha beta' --agents agents.yaml --explain --agent second",
            "route '\u{1b}[31mred' --agent 'x\u{1b}[1m' --explain",
        ]
        .map(|line| format!("$ cleo {line:?}\n{}", world.cleo(line)))
        .join("\n")
    );
}

#[test]
fn agents_of_file_are_chosen_from() {
    let world = world()
        .with(
            "one.json",
            r#"{"agents":[{"id":"a","tags":["x-ray"],"prompt":{"any":1}}]}"#,
        )
        .with(
            "lines.jsonl",
            "{\"id\":\"a\",\"name\":\"Laser\"}\n{\"id\":\"b\",\"objective\":\"x ray\"}\n",
        )
        .with(
            "lists.jsonl",
            "{\"agents\":[{\"id\":\"a\",\"tags\":[\"x-ray\"]}]}\n{\"agents\":[{\"id\":\"b\",\"tags\":[\"laser\"]}]}\n",
        )
        .with(
            "signs.json",
            r#"[{"id":"boy","tags":["लड़का"]},{"id":"girl","tags":["लड़की"]}]"#,
        );
    for (words, agent, score) in [
        (["alpha beta", "agents.yaml"], "first", 3),
        (["beta", "agents.yaml"], "second", 3),
        (["okonomie", "agents.yaml"], "second", 1),
        (["delta", "agents.yaml"], "finalize", 0),
        (["the second war", "agents.yaml"], "first", 4),
        (["design", "agents.yaml"], "finalize", 0),
        (["an x-ray", "one.json"], "a", 3),
        (["ray laser", "lines.jsonl"], "a", 1),
        (["ray laser", "lists.jsonl"], "b", 3),
        (["लड़की", "signs.json"], "girl", 3),
        (["लड़का", "signs.json"], "boy", 3),
    ] {
        let found = route(&world, &format!("'{}' --agents {}", words[0], words[1]));
        assert_eq!((found.0.as_str(), found.1), (agent, score), "{words:?}");
    }
    let piped = world.json_with(
        &["route", "ray", "--agents", "-"],
        r#"[{"id":"p","tags":["ray"]}]"#,
    );
    assert_eq!(piped["result"]["agent"], "p");
    let tied = route(&world, "'alpha beta' --agents agents.yaml");
    assert_eq!(
        tied.2,
        "Best match with score 3 (the first of 2 agents with this score)"
    );
}

#[test]
fn faulty_file_is_refused_with_its_place() {
    let world = world()
        .with("broken.yaml", "- id: a\n- id: [\n")
        .with("broken.json", "[{\"id\":\"a\"},\n {\"id\":}]")
        .with("twice.json", r#"[{"id":"a"},{"id":"a"}]"#)
        .with("nameless.json", r#"[{"tags":["a"]}]"#)
        .with("role.json", r#"[{"id":"a","role":"worker"}]"#)
        .with("empty.yaml", " \n")
        .with("number.json", r#"[{"id":7}]"#)
        .with("answer.json", r#"[{"id":"a"},{"id":"finalize"}]"#);
    for (file, code, words) in [
        (
            "broken.yaml",
            "E_INPUT_INVALID",
            "broken.yaml is not YAML: ",
        ),
        (
            "broken.json",
            "E_INPUT_INVALID",
            "broken.json is not JSON: expected value at line 2 column 8",
        ),
        (
            "twice.json",
            "E_AGENT_INVALID",
            "agent 2 has the id of agent 1: `a`",
        ),
        (
            "nameless.json",
            "E_AGENT_INVALID",
            "agent 1: it needs a name, or an id",
        ),
        ("empty.yaml", "E_INPUT_INVALID", "empty.yaml is empty"),
        (
            "number.json",
            "E_AGENT_INVALID",
            "agent 1: id: invalid type",
        ),
        (
            "role.json",
            "E_AGENT_INVALID",
            "`worker` is not a valid role",
        ),
        (
            "answer.json",
            "E_AGENT_INVALID",
            "agent 2: `finalize` is what the router answers",
        ),
        ("none.json", "E_FILE_UNREADABLE", "none.json cannot be read"),
    ] {
        let error = world.expect_refusal(&["route", "x", "--agents", file], code);
        says(&error, words);
        assert!(error["fix"].is_string(), "{error}");
    }
}

#[test]
fn what_is_no_message_is_refused() {
    let world = TestWorkspace::bare();
    for words in [&["route", ""][..], &["route", " \n"]] {
        let error = world.expect_refusal(words, "E_INPUT_INVALID");
        assert_eq!(error["message"], "the message is empty");
        assert_eq!(world.shell(error["fix"].as_str().unwrap()).exit, 0);
    }
    world.refuse("route", "E_USAGE");
    world.refuse("route x --stdin", "E_USAGE");
    world.refuse("route --stdin --agents -", "E_USAGE");
    let many = world.refuse("route Help me", "E_USAGE");
    assert_eq!(many["alternatives"][0]["command"], "cleo route --help");
    let dashed = world.refuse("route '-x is wrong'", "E_USAGE");
    assert_eq!(dashed["alternatives"][0]["command"], "cleo route --help");
}

/// Routes lines and returns the answers and the exit code.
fn stream(world: &TestWorkspace, line: &str, input: &[u8]) -> (Vec<Value>, i32) {
    let mut command = assert_cmd::Command::from_std(world.command(&shlex::split(line).unwrap()));
    let output = command.write_stdin(input).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answers = text.lines().map(|line| serde_json::from_str(line).unwrap());
    (answers.collect(), output.status.code().unwrap())
}

#[test]
fn every_line_gets_one_answer_in_order() {
    let long = "x".repeat((1 << 20) + 1);
    let longest = "y".repeat(7 << 20);
    let mut input = "\u{feff}Help me design a layout\r\n\n\
        {\"message\":\"Help me design a layout\",\"agent\":\"peter-logical\"}\n\
        {\"input\":\"Help me design a layout\",\"metadata\":{\"requested_agent_id\":\"peter-logical\"}}\n\
        {\"message\":\n{\"message\":5}\n{}\nzzzz qqqq\n".as_bytes().to_vec();
    input.extend(b"caf\xe9\n");
    input.extend(format!("{long}\n{longest}\n\"solve\" it").as_bytes());
    let (answers, exit) = stream(&TestWorkspace::bare(), "route --stdin", &input);
    let told: Vec<String> = answers
        .iter()
        .map(|answer| {
            assert_eq!(answer["command"], "route");
            assert_eq!(answer["success"], answer.get("error").is_none());
            assert!(answer["result"].get("candidates").is_none());
            let said = [&answer["result"]["agent"], &answer["error"]["message"]];
            said.into_iter()
                .find_map(Value::as_str)
                .unwrap()
                .to_string()
        })
        .collect();
    assert_eq!(
        told,
        [
            "ami-creative",
            "line 2: the message is empty",
            "peter-logical",
            "peter-logical",
            "line 5: column 11: EOF while parsing a value",
            "line 6: column 12: invalid type: integer `5`, expected a string",
            "line 7: the message is missing",
            "finalize",
            "line 9: the message is not text in UTF-8",
            "line 10: the message has 1048577 bytes; at most 1048576 are allowed",
            "line 11 has more than 6295552 bytes",
            "peter-logical",
        ]
    );
    assert_eq!(exit, 81);
    assert_eq!(
        answers[0]["result"]["delegation"]["query"],
        "Help me design a layout"
    );
    let (answers, exit) = stream(
        &world(),
        "route --stdin --agents agents.yaml --explain --agent second",
        b"alpha\n",
    );
    assert_eq!((answers.len(), exit), (1, 0));
    assert_eq!(answers[0]["result"]["agent"], "second");
    assert_eq!(answers[0]["result"]["candidates"][0]["id"], "first");
    assert_eq!(stream(&world(), "route --stdin", b""), (vec![], 0));
}

#[test]
fn answer_comes_before_the_next_message() {
    let world = TestWorkspace::bare();
    let mut command = world.command(&["route", "--stdin"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for (message, agent) in [("design", "ami-creative"), ("solve", "peter-logical")] {
        writeln!(input, "{message}").unwrap();
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["result"]["agent"], agent);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn reader_that_has_enough_is_no_error() {
    let world = TestWorkspace::bare();
    let line =
        format!("(yes design | head -n 200000 | {CLEO} route --stdin; echo $? >exit) | head -n 1");
    let reply = world.shell(&line);
    assert_eq!(reply.stdout.lines().count(), 1, "{reply}");
    assert_eq!(world.read("exit"), "0\n");
    assert_eq!(reply.stderr, "");
}

#[test]
fn settings_change_rule() {
    let world = TestWorkspace::new();
    world.ok("config set routing.match substring");
    assert_eq!(
        route(&world, "'What is the weather today?'").0,
        "peter-logical"
    );
}

#[test]
fn registered_agents_take_part_at_once_and_paused_ones_do_not() {
    let world = TestWorkspace::new();
    let question = "Explain the Second War in Warcraft.";
    let winner = || route(&world, &format!("'{question}'")).0;
    assert_eq!(winner(), "toby-technical");
    world.ok("agents register 'Lore keeper' --id lore --prompt p --tag warcraft --tag wow --tag lore --tag 'second war'");
    assert_eq!(route(&world, &format!("'{question}'")).0, "lore");
    assert_eq!(route(&world, &format!("'{question}'")).1, 7);
    for (status, agent) in [
        ("paused", "toby-technical"),
        ("active", "lore"),
        ("archived", "toby-technical"),
    ] {
        world.ok(&format!("agents update lore --status {status}"));
        assert_eq!(winner(), agent, "{status}");
    }
    let asked = route(&world, &format!("'{question}' --agent lore"));
    assert_eq!(
        asked.2,
        "Best match with score 6; the requested agent `lore` was not available (archived)"
    );
}
