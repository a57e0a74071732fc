//! The chat about designs and components: the scenarios B-1 to B-20 of the chat notes, and what must
//! hold for every message. No model is configured but in `model`.

mod answers;
mod model;
mod refused;
mod stale;

use std::process::Stdio;

use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::served::Served;
use crate::world::{TestWorkspace, column};

const SEED: &str = include_str!("../../examples/chat/seed.json");

/// A workspace with clients 6 and 7 in it.
fn seed() -> TestWorkspace {
    let workspace = TestWorkspace::new().with("seed.json", SEED);
    workspace.ok("chat seed seed.json");
    workspace
}

/// Says something in a conversation and returns the answer.
fn say_in(workspace: &TestWorkspace, conversation: &str, message: &str) -> Value {
    let words = ["chat", "--conversation", conversation, "--message", message];
    let reply = workspace.json(&words);
    assert_eq!(reply["success"], true, "{message}: {reply}");
    assert_eq!(reply["result"]["conversation_id"], conversation);
    reply["result"].clone()
}

fn say(workspace: &TestWorkspace, message: &str) -> Value {
    say_in(workspace, "default", message)
}

/// Says messages to one process, each in its line, and returns the answers.
fn talk(workspace: &TestWorkspace, conversation: &str, messages: &[&str]) -> Vec<Value> {
    let command = workspace.command(&["chat", "--conversation", conversation]);
    let reply = workspace.finish(command, &messages.join("\n"));
    let documents = rows(&reply.stdout);
    assert_eq!(documents.len(), messages.len(), "{reply}");
    documents.iter().map(|it| it["result"].clone()).collect()
}

fn rows(table: &str) -> Vec<Value> {
    let lines = table.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Reads everything that the chat works on, without what it remembers.
fn data(workspace: &TestWorkspace) -> Vec<String> {
    let connection = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let sql = "SELECT owner, kind, id, record FROM records
        WHERE kind NOT IN ('chat', 'removed component') ORDER BY kind, owner, id";
    let mut statement = connection.prepare(sql).unwrap();
    let row = |row: &rusqlite::Row<'_>| {
        let cells = (0..4).map(|at| row.get::<_, String>(at).unwrap());
        Ok(cells.collect::<Vec<_>>().join(" "))
    };
    let rows = statement.query_map((), row).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Reads a component of a client; nothing when it is not there.
fn component(workspace: &TestWorkspace, client: &str, id: &str) -> Value {
    record(
        workspace,
        "SELECT record FROM records WHERE kind = 'component' AND owner = ?1 AND id = ?2",
        &[client, id],
    )
}

fn design(workspace: &TestWorkspace, client: &str) -> Value {
    record(
        workspace,
        "SELECT record FROM records WHERE kind = 'design' AND owner = ?1",
        &[client],
    )
}

fn record(workspace: &TestWorkspace, sql: &str, keys: &[&str]) -> Value {
    let connection = Connection::open(workspace.path(".cleo/cleo.db")).unwrap();
    let keys = rusqlite::params_from_iter(keys);
    let text: Option<String> = connection.query_row(sql, keys, |row| row.get(0)).ok();
    text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
}

fn tools(turn: &Value) -> Vec<&str> {
    column(&turn["tool_calls"], "name")
}

fn reply(turn: &Value) -> &str {
    turn["reply"].as_str().unwrap()
}

#[track_caller]
fn has(turn: &Value, parts: &[&str]) {
    for part in parts {
        assert!(reply(turn).contains(part), "`{part}` is not in: {turn:#}");
    }
}

#[test]
fn b1_blank_message_is_error() {
    let workspace = seed();
    for blank in ["", "  ", "\n\t"] {
        workspace.expect_refusal(&["chat", "--message", blank], "E_INPUT_INVALID");
        let error = workspace.json_with(&["chat"], blank)["error"].clone();
        assert_eq!(error["code"], "E_INPUT_INVALID", "{error}");
        assert_eq!(error["alternatives"][0]["command"], "cleo chat --help");
    }
    assert_eq!(workspace.text("chat", "/quit\n").exit, 0);
}

#[test]
fn b13_one_of_several_components_is_chosen_from_list() {
    let workspace = seed();
    let ask = "update title of my card component for client 6 to X";
    for (at, choice) in [
        "2",
        "102",
        "About",
        "component 102",
        "\"about\"",
        "the second one",
        "the one called About",
        "the About card, please",
        "the card called About",
        "card 102",
        "2)",
        "number 2",
    ]
    .iter()
    .enumerate()
    {
        let invalid = ["9", "-1", "1.5", "the fifth one", "button 102"];
        let invalid = &invalid[..if at == 0 { 5 } else { 0 }];
        let messages = [&[ask], invalid, &[choice]].concat();
        let turns = talk(&workspace, &format!("c{at}"), &messages);
        assert_eq!(turns[0]["agent"], "clarifier");
        let criteria = json!({"component_type": "cards"});
        assert_eq!(turns[0]["tool_calls"][0]["args"]["criteria"], criteria);
        has(&turns[0], &["1. Component 101", "2. Component 102"]);
        assert_eq!(turns[0]["pending"]["candidates"], json!(["101", "102"]));
        let first = json!({"id": "101", "type": "cards", "title": "Home"});
        assert_eq!(turns[0]["pending"]["options"][0], first);
        for turn in &turns[1..=invalid.len()] {
            has(turn, &["Invalid selection"]);
            assert_eq!(turn["pending"]["kind"], "select", "{turn:#}");
        }
        let pending = &turns[messages.len() - 1]["pending"];
        assert_eq!(pending["kind"], "confirm", "{choice}: {turns:#?}");
        assert_eq!(pending["args"]["componentId"], "102", "{choice}");
        let change = json!({"label": "title", "before": "About", "after": "X"});
        assert_eq!(pending["changes"], json!([change]));
        assert_eq!(component(&workspace, "6", "102")["props"]["title"], "About");
    }
    say_in(&workspace, "c0", "yes");
    assert_eq!(component(&workspace, "6", "102")["props"]["title"], "X");
    assert_eq!(component(&workspace, "6", "101")["props"]["title"], "Home");
}

#[test]
fn b18_hostile_keys_and_values_are_only_text() {
    let workspace = seed();
    let before = data(&workspace);
    for message in [
        "update component 101 props.title'; DROP TABLE components;-- to X for client 6",
        "update component 101 props.__proto__ to X for client 6",
        "update component 101 record to X for client 6",
        "delete my card component with props.title'; DROP TABLE components;-- X for client 6",
        "list components with props.title'||(SELECT 1) = X for client 6",
        "change button_radius'; DROP TABLE designs;-- to full for client 6",
    ] {
        let turn = say(&workspace, message);
        assert_ne!(
            turn["pending"]["tool"], "updateComponent",
            "{message}: {turn:#}"
        );
        say(&workspace, "no");
    }
    assert_eq!(data(&workspace), before);
    let title = "'); DROP TABLE components;--";
    say(
        &workspace,
        &format!("update component 101 title to \"{title}\" for client 6"),
    );
    say(&workspace, "yes");
    assert_eq!(component(&workspace, "6", "101")["props"]["title"], title);
    assert_eq!(data(&workspace).len(), before.len());
}

#[test]
fn b19_conversations_share_nothing_that_waits() {
    let workspace = seed();
    let ask = "change button radius to full for client 6";
    say_in(&workspace, "one", ask);
    let ask = "update component 101 title to Two for client 6";
    say_in(&workspace, "two", ask);
    let none = talk(&workspace, "three", &["yes", "list my components"]);
    assert_eq!(tools(&none[0]), [] as [&str; 0]);
    has(&none[1], &["client ID"]);
    let yes = |conversation| say_in(&workspace, conversation, "yes");
    assert_eq!(tools(&yes("two")), ["updateComponent"]);
    assert_eq!(tools(&yes("one")), ["updateDesign"]);
}

/// Sentences are what the chat understands without a model, each with the call that it means.
#[test]
fn no_sentence_of_table_is_answered_with_forms() {
    let workspace = seed();
    let rows = rows(include_str!("chat/sentences.jsonl"));
    let said = rows.iter().map(|row| row["say"].as_str().unwrap());
    let said: Vec<&str> = said.collect();
    for (message, turn) in said.iter().zip(talk(&workspace, "default", &said)) {
        let is_understood = !reply(&turn).contains("Say it like this");
        assert!(is_understood, "{message}: {turn:#}");
    }
}

#[test]
fn forms_are_filled_with_what_client_has_and_understood() {
    let workspace = seed();
    for (client, title, others) in [("6", "Home", "Storefront"), ("7", "Storefront", "Home")] {
        let turn = say(
            &workspace,
            &format!("make the buttons rounder for client {client}"),
        );
        has(
            &turn,
            &["I did not understand that", &format!("called \"{title}\"")],
        );
        assert!(!reply(&turn).contains(others), "{turn:#}");
        let forms: Vec<String> = reply(&turn)
            .lines()
            .filter_map(|line| Some(line.strip_prefix("- ")?.to_string()))
            .collect();
        assert_eq!(forms.len(), 8, "{turn:#}");
        for (at, form) in forms.iter().enumerate() {
            let turn = say_in(&workspace, &format!("{client}-{at}"), form);
            assert!(
                !tools(&turn).is_empty() || turn["pending"]["kind"] == "confirm",
                "{form}: {turn:#}"
            );
        }
    }
    workspace.write(
        "bare.json",
        r#"{"clients": [{"client_id": 8, "client_type": "creator"}]}"#,
    );
    workspace.ok("chat seed bare.json");
    let bare = say_in(&workspace, "bare", "hm for client 8");
    assert!(!reply(&bare).contains("Home") && !reply(&bare).contains("premium"));
    has(&bare, &["add a card with title \"News\" for client 8"]);
    let help = workspace.text("chat --help", "").stdout;
    let guide = include_str!("../../docs/guide.md");
    let turn = say_in(&workspace, "new", "help");
    has(
        &turn,
        &["I can show and change", "list components for client 6"],
    );
    say_in(&workspace, "old", "client 6");
    let shown = say_in(&workspace, "old", "help");
    for form in reply(&shown)
        .lines()
        .filter_map(|line| line.strip_prefix("- "))
    {
        assert!(help.contains(form), "{form} is not in the help");
        assert!(guide.contains(form), "{form} is not in docs/guide.md");
    }
}

#[test]
fn many_processes_that_say_yes_at_once_write_once() {
    let workspace = seed();
    say(&workspace, "add a banner with title Hello for client 6");
    let spawn = |_| {
        let mut command = workspace.command(&["chat", "--message", "yes"]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..8).map(spawn).collect();
    let outputs: Vec<_> = children
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect();
    let called = outputs.iter().filter(|output| {
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        text.contains("\"name\":\"addComponent\"")
    });
    assert_eq!(called.count(), 1);
    assert_ne!(component(&workspace, "6", "104"), Value::Null);
    assert_eq!(component(&workspace, "6", "105"), Value::Null);
}

#[test]
fn lines_of_pipe_are_messages() {
    let workspace = seed();
    let input = "change button radius to full for client 6\n\nbad \u{7} line\nyes\n";
    let reply = workspace.text("chat", input);
    assert_eq!(reply.exit, 6, "{reply}");
    assert!(reply.stderr.contains("E_TEXT_CONTROL"), "{reply}");
    assert!(
        reply.stdout.contains("Design updated successfully"),
        "{reply}"
    );
    let messages = ["list components for client 6", "hello"];
    let turns = talk(&workspace, "default", &messages);
    assert_eq!(turns[1]["agent"], "clarifier");
}

#[test]
fn faulty_messages_and_conversations_are_refused() {
    let workspace = seed();
    workspace.expect_refusal(&["chat", "--message", "a\u{1b}[31m"], "E_TEXT_CONTROL");
    for name in ["", "a b", "../x", "ä", &"x".repeat(101)] {
        let words = ["chat", "--message", "hello", "--conversation", name];
        let error = workspace.expect_refusal(&words, "E_INPUT_INVALID");
        assert_eq!(error["alternatives"][0]["command"], "cleo chat --help");
    }
    let long = "x ".repeat((1 << 19) + 1);
    let reply = workspace.json_with(&["chat"], &long);
    assert_eq!(reply["error"]["code"], "E_INPUT_INVALID", "{reply}");
    for text in ["a\nb", &"x".repeat(10_001)] {
        let ask = format!("set the title of component 101 to \"{text}\" for client 6");
        let turn = say(&workspace, &ask);
        has(&turn, &["allowed: a line of text of at most 10,000"]);
    }
    let bare = TestWorkspace::bare();
    bare.fails("chat --message hello", "E_WORKSPACE_NOT_FOUND");
    bare.fails("chat", "E_WORKSPACE_NOT_FOUND");
}

/// Possible sentences, one per line, with components inserted.
const PHRASES: &str = "\
show me my design
change button radius to full
set card style to solid
change the background to gradient
update component {id} title to Changed
delete component {id}
show component {id}
list components
add premium security group to component {id}
add members security group to component {id}
update title of my card component to X
delete my button component
add a banner with title New
add a component
update my footer component
1
2
9
{id}
Home
Storefront
no
title to Changed
banner
hello
client
full
premium
design recommendations";

/// Says something to a server and returns the whole answer as text.
fn turn(served: &Served, message: &str) -> String {
    let body = json!({"message": message, "conversation_id": "talk"});
    served.post("/api/chat", &body).to_string()
}

fn phrases() -> impl Strategy<Value = Vec<String>> {
    let phrase = prop_oneof![
        8 => (prop::sample::select(PHRASES.lines().collect::<Vec<_>>()), prop::sample::select(vec!["101", "103", "201"]))
            .prop_map(|(phrase, id)| phrase.replace("{id}", id)),
        1 => "[ -~]{0,30}".prop_map(|text| format!("x{text}")),
        1 => "\\PC{1,20}".prop_map(|text| format!("x{text}")),
    ];
    prop::collection::vec(phrase, 1..16)
}

proptest! {
    #![proptest_config(crate::world::cases(4))]

    #[test]
    fn nothing_changes_without_yes(phrases in phrases()) {
        let workspace = seed();
        let served = Served::start(&workspace, &[]);
        let before = data(&workspace);
        for phrase in phrases {
            turn(&served, &format!("{phrase} for client 6"));
            turn(&served, &phrase);
        }
        prop_assert_eq!(data(&workspace), before);
    }

    #[test]
    fn talk_about_one_client_neither_changes_nor_shows_another(phrases in phrases()) {
        let workspace = seed();
        let others = |rows: Vec<String>| -> Vec<String> {
            rows.into_iter().filter(|row| row.starts_with("7 ")).collect()
        };
        let served = Served::start(&workspace, &[]);
        let before = others(data(&workspace));
        prop_assert!(!before.is_empty());
        for phrase in phrases {
            for message in [format!("{phrase} for client 6"), "yes".to_string()] {
                let answer = turn(&served, &message);
                // Text of the message itself is repeated, and is not secret.
                if !phrase.contains("Storefront") {
                    prop_assert!(!answer.contains("Storefront"), "{}", answer);
                }
                prop_assert!(!answer.contains("storefront.jpg"), "{}", answer);
                prop_assert!(!answer.contains("Buy now"), "{}", answer);
                prop_assert!(!answer.contains("\"client_id\":\"7\""), "{}", answer);
            }
        }
        prop_assert_eq!(others(data(&workspace)), before);
    }
}
