//! Replies of commands match their schemas.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::served::begin_conversation;
use crate::world::{TestWorkspace, document};

/// Command lines in an order in which they make sense, with something on standard input for some.
/// `@run` and `@token` are the last that were told, `@conversation` is one that was begun over HTTP.
const LINES: &[(&str, &str)] = &[
    ("init --agents all --dry-run", ""),
    ("add 'one more' --label auth --due 2026-02-01", ""),
    ("add 'with a key' --key once", ""),
    (
        "add --batch -",
        "{\"title\":\"a\",\"key\":\"a\"}\n{\"title\":\"b\",\"depends\":[\"@a\"]}\n",
    ),
    ("update T6 --priority high --note 'seen'", ""),
    ("show T2", ""),
    ("show T99", ""),
    ("list", ""),
    ("list --tree", ""),
    ("find token", ""),
    ("deps T3", ""),
    ("orchestrator ready", ""),
    ("ready", ""),
    ("status", ""),
    ("orchestrator next", ""),
    ("orchestrator waves --epic T1", ""),
    ("orchestrator waves", ""),
    ("next", ""),
    ("orchestrator analyze", ""),
    ("orchestrator start", ""),
    ("orchestrator status", ""),
    ("orchestrator context --task T2", ""),
    ("orchestrator brief", ""),
    ("session start --scope T1 --name Login", ""),
    ("focus T3", ""),
    ("focus", ""),
    ("session status", ""),
    ("session list", ""),
    ("session end", ""),
    ("session resume S1", ""),
    ("session end", ""),
    ("phase list", ""),
    ("phase start discovery", ""),
    ("phase complete --force", ""),
    ("phase set discovery", ""),
    ("claim T3 --force", ""),
    ("heartbeat T3", ""),
    ("release T3", ""),
    ("claim --next", ""),
    ("spawn T2 --dry-run", ""),
    ("orchestrator spawn T2", ""),
    ("why T2", ""),
    ("start T2", ""),
    ("verify output T2", ""),
    ("verify manifest", ""),
    ("verify message 'All done!'", ""),
    ("verify prompt -", "do it"),
    ("verify T2 --gate implemented --run true", ""),
    ("verify T2", ""),
    ("verify T2 --run-all", ""),
    (
        "update T2 --acceptance 'it builds :: true' --require-gate implemented",
        "",
    ),
    ("verify T2 --run-all", ""),
    ("orchestrator validate", ""),
    (
        "manifest append --id one --file one.md --title One --topic x --finding 'A.' --finding 'B.' --finding 'C.' --task T2",
        "",
    ),
    ("manifest list", ""),
    ("manifest show one", ""),
    ("manifest validate", ""),
    ("research list", ""),
    ("research show one", ""),
    ("research link T3 one", ""),
    ("research links T3", ""),
    ("research inject", ""),
    ("complete T2", ""),
    ("complete T2 --force", ""),
    ("reopen T2", ""),
    ("cancel T6", ""),
    ("archive T6", ""),
    ("unarchive T6", ""),
    ("delete T7", ""),
    ("undo --dry-run", ""),
    ("undo", ""),
    ("log", ""),
    ("log --operation 1", ""),
    ("manifest compact", ""),
    ("backup copy.db", ""),
    ("export --output tasks.jsonl", ""),
    ("import tasks.jsonl --dry-run", ""),
    ("route 'Help me design a layout' --explain", ""),
    ("route 'zzzz' --agent nobody --substring", ""),
    ("route 'solve the layout' --min-margin 3", ""),
    ("skills list", ""),
    ("skills show research-agent", ""),
    ("skills validate", ""),
    ("skills dispatch T3 --explain", ""),
    ("skills export --to exported", ""),
    ("config list --show-origin", ""),
    ("config get agent", ""),
    ("config set skills.dirs a,b", ""),
    ("config list", ""),
    ("config unset skills.dirs", ""),
    ("doctor", ""),
    ("next", ""),
    ("orchestrator start --epic T1", ""),
    ("orchestrator status", ""),
    ("orchestrator analyze --epic T1", ""),
    ("orchestrator analyze", ""),
    ("orchestrator context --tokens 7500", ""),
    ("orchestrator context --epic T1 --task T3", ""),
    ("deps T3 --dot", ""),
    ("deps --epic T1 --svg", ""),
    ("spawn T2 T99", ""),
    ("orchestrator spawn --epic T1 --wave --dry-run", ""),
    ("claim T2", ""),
    ("claim T2", ""),
    ("claim --next", ""),
    ("heartbeat T2 --lease 2h", ""),
    ("session start --scope T1 --name Login", ""),
    ("focus T2", ""),
    ("focus", ""),
    ("session status", ""),
    ("session list", ""),
    ("orchestrator start", ""),
    ("orchestrator brief --epic T1", ""),
    ("orchestrator brief --output HANDOVER.md", ""),
    ("release T2", ""),
    ("release T8 --force", ""),
    ("release T9 --force", ""),
    ("session end --force", ""),
    ("session resume S1", ""),
    ("phase set discovery", ""),
    ("phase complete --force", ""),
    ("phase list", ""),
    (
        "agents register 'Lore keeper' --tag lore --prompt 'You know.'",
        "",
    ),
    ("agents register --runtime Try --prompt p", ""),
    (
        "agents import -",
        "- name: Worker\n  type: cli\n  command: [run]\n",
    ),
    ("agents check", ""),
    ("trust --list", ""),
    ("agents list --status active", ""),
    ("agents show toby-technical", ""),
    ("agents update lore-keeper --status paused", ""),
    ("agents execute 'creative design'", ""),
    ("agents metrics", ""),
    ("conversations list", ""),
    ("run --all-ready --command true --dry-run", ""),
    ("run --all-ready --command true --repair 0", ""),
    ("runs list", ""),
    ("runs show @run", ""),
    ("why --run @run", ""),
    ("runs logs @run --raw", ""),
    ("runs resume @run", ""),
    ("runs cancel @run", ""),
    ("conversations show @conversation", ""),
    ("agents execute hello --conversation @conversation", ""),
    ("agents cleanup", ""),
    ("ask 'Summarize X'", ""),
    ("plan 'search the web' --output plan.yaml", ""),
    ("plan 'search the web' --dot", ""),
    ("plan check plan.yaml", ""),
    ("plan check -", "goal: g\nsteps: [x]\n"),
    ("plan run plan.yaml", ""),
    ("plan show plan.yaml", ""),
    ("plan show plan.yaml --svg", ""),
    ("agents remove lore-keeper", ""),
    ("manifest compact --dry-run", ""),
    ("manifest compact", ""),
    ("export --output tasks.jsonl", ""),
    ("import tasks.jsonl --dry-run", ""),
    (
        "import -",
        "{\"id\":\"bd-1\",\"title\":\"from elsewhere\",\"status\":\"open\",\"priority\":1,\"issue_type\":\"task\",\"created_at\":\"2026-01-20T09:00:00Z\",\"updated_at\":\"2026-01-20T09:00:00Z\"}\n",
    ),
    ("find bd-1", ""),
    ("archive T6", ""),
    ("archive --older-than 1d --dry-run", ""),
    ("list --archived", ""),
    ("show T6", ""),
    ("unarchive T6", ""),
    ("update T3 --priority low", ""),
    ("undo --dry-run", ""),
    ("undo", ""),
    ("log", ""),
    ("log --task T2 --limit 2", ""),
    ("log --operation 3", ""),
    ("explain E_CYCLE", ""),
    ("explain", ""),
    ("help add", ""),
    ("help exit-codes", ""),
    ("man --output pages", ""),
    ("chat seed -", include_str!("../../examples/chat/seed.json")),
    (
        "chat -m 'update title of my card component for client 6 to X'",
        "",
    ),
    ("chat -m 2", ""),
    ("chat -m yes", ""),
    ("chat -m ' '", ""),
    ("chat -m 'update my footer component'", ""),
    ("serve", ""),
    ("serve token create", ""),
    ("serve token list", ""),
    ("serve token revoke @token", ""),
    ("schema --list", ""),
    ("demo", ""),
    ("--version", ""),
    ("runs send", ""),
    ("runs stop", ""),
];

/// The reply to a command for an agent at work, whose run is then ended.
fn ask_agent(workspace: &TestWorkspace, command: &str, words: &[&str]) -> Value {
    let added = workspace.json(&["add", "Wait a while"]);
    let task = added["result"]["task"]["id"].as_str().unwrap();
    let mut run = workspace.command(&["run", task, "--command", "sleep 600"]);
    let mut run = run
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (id, reply) = loop {
        let runs = workspace.json(&["runs", "list", "--status", "running"]);
        let id = runs["result"]["runs"][0]["id"].as_str().unwrap_or("run_0");
        let reply = workspace.json(&[&["runs", command, id, task], words].concat());
        if reply["success"] == true {
            break (id.to_string(), reply);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    workspace.json(&["runs", "cancel", &id]);
    run.wait().unwrap();
    reply
}

/// The first reply of a server, which runs until it is stopped.
fn serve(workspace: &TestWorkspace) -> Value {
    let mut command = workspace.command(&["serve", "--port", "0", "--json"]);
    let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut told = BufReader::new(server.stdout.take().unwrap());
    told.read_line(&mut line).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    serde_json::from_str(&line).unwrap()
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schemas"))
}

fn schema(command: &str) -> Value {
    let file = folder().join(format!("{command}.json"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|_| panic!("{command} has no schema"));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn replies_match_their_schemas_and_every_schema_is_used() {
    let workspace = TestWorkspace::with_plan();
    let mut answered = BTreeSet::new();
    let mut told = json!({"conversation": begin_conversation(&workspace, "ami-creative")});
    for (line, input) in LINES {
        let mut words = shlex::split(line).unwrap();
        for word in words.iter_mut().filter(|word| word.starts_with('@')) {
            *word = told[&word[1..]].as_str().unwrap().to_string();
        }
        words.push("--json".to_string());
        let reply = match *line {
            "serve" => serve(&workspace),
            "runs send" => ask_agent(&workspace, "send", &["Wait no more."]),
            "runs stop" => ask_agent(&workspace, "stop", &[]),
            _ => document(&workspace.finish(workspace.command(&words), input)),
        };
        let command = reply["command"].as_str().unwrap();
        for thing in ["run", "token"] {
            if let Some(id) = reply["result"][thing]["id"].as_str() {
                told[thing] = id.into();
            }
        }
        let validator = jsonschema::validator_for(&schema(command)).unwrap();
        let faults: Vec<String> = validator
            .iter_errors(&reply)
            .map(|fault| format!("{}: {fault}", fault.instance_path()))
            .collect();
        assert!(
            faults.is_empty(),
            "cleo {line}\n{}\n{reply:#}",
            faults.join("\n")
        );
        if reply.get("result").is_some() {
            answered.insert(command.to_string());
        }
    }
    let files = std::fs::read_dir(folder()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<String> = names.map(|name| name.replace(".json", "")).collect();
    // It needs a server.
    answered.insert("store.copy".to_string());
    let missing: Vec<&String> = names.difference(&answered).collect();
    assert!(
        missing.is_empty(),
        "no line above makes a result of these: {missing:?}"
    );
}

#[test]
fn schema_is_printed_by_command_name() {
    let workspace = TestWorkspace::bare();
    let printed = workspace.ok("schema orchestrator ready");
    let file = std::fs::read_to_string(folder().join("orchestrator.ready.json")).unwrap();
    assert_eq!(printed.stdout, file);
    assert_eq!(workspace.ok("schema orchestrator.ready").stdout, file);
    for name in ["list", "ls"] {
        let title = workspace.ok(&format!("schema {name} --jq .title"));
        assert_eq!(title.stdout, "cleo list\n");
    }
    let refused = workspace.ask("schema lits");
    assert_eq!(refused["error"]["fix"], "cleo schema list");
    let names = workspace.ok("schema --list");
    assert!(
        names.stdout.lines().any(|name| name == "config.get"),
        "{names}"
    );
}
