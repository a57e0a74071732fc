//! A model in the chat: asked where no sentence fits, believed as far as the message goes.

use std::time::Instant;

use serde_json::{Value, json};

use super::{component, data, has, rows, say, seed, talk};
use crate::server::{Answer, Server};
use crate::world::TestWorkspace;

const MESSAGE: &str = r#"change in component 101 the title to "Fresh start", client 6"#;

/// A model that says something, and a workspace that asks it.
fn with_model(text: &str) -> (Server, TestWorkspace) {
    let server = Server::start(&[say_as_model(text)]);
    let workspace = asking(&server);
    (server, workspace)
}

fn say_as_model(text: &str) -> Answer {
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]});
    Answer::Whole(200, "", body.to_string())
}

fn asking(server: &Server) -> TestWorkspace {
    seed()
        .env("CLEO_LLM_PROVIDER", "openai-chat")
        .env("CLEO_LLM_BASE_URL", &server.url)
        .env("CLEO_LLM_RETRIES", "0")
        .env("CLEO_LLM_TIMEOUT", "1s")
        .env("OPENAI_API_KEY", "sk-test-0123456789abcdef")
}

#[test]
fn right_call_is_offered_and_written_after_yes() {
    let updates = json!([{"field": "title", "value": "Fresh start"}]);
    let args = json!({
        "clientId": "6", "componentId": "101", "criteria": null, "updates": updates,
    });
    let answer = json!({"tool": "updateComponent", "args": args, "ask": null});
    let (server, workspace) = with_model(&answer.to_string());
    let turn = say(&workspace, MESSAGE);
    assert_eq!(turn["reason"], "a model chose");
    let args =
        json!({"clientId": "6", "componentId": "101", "updates": {"props.title": "Fresh start"}});
    assert_eq!(turn["pending"]["args"], args);
    assert_eq!(component(&workspace, "6", "101")["props"]["title"], "Home");
    say(&workspace, "yes");
    assert_eq!(
        component(&workspace, "6", "101")["props"]["title"],
        "Fresh start"
    );
    let asked = server.read_requests();
    assert_eq!(asked.len(), 1);
    let format = &asked[0].body["response_format"]["json_schema"];
    assert_eq!(format["strict"], true);
    assert_eq!(format["schema"]["additionalProperties"], false);
}

#[test]
fn values_of_model_are_compared_as_their_fields_read_them() {
    for (message, field, value, key) in [
        (
            "set in component 101 the schedule start to 2026-12-01",
            "schedule start",
            "2026-12-01",
            "schedule_start",
        ),
        (
            "set in component 101 the blur to on",
            "blur",
            "on",
            "is_blur",
        ),
        (
            r#"make component 101 have the title "A""#,
            "title",
            "A",
            "props.title",
        ),
    ] {
        let updates = json!([{"field": field, "value": value}]);
        let args = json!({"componentId": "101", "updates": updates});
        let answer = json!({"tool": "updateComponent", "args": args, "ask": null});
        let (_server, workspace) = with_model(&answer.to_string());
        say(&workspace, "client 6");
        let turn = say(&workspace, message);
        assert!(
            turn["pending"]["args"]["updates"].get(key).is_some(),
            "{turn:#}"
        );
    }
}

/// Calls that a model makes of a message, each with why it is refused.
#[test]
fn what_message_does_not_say_is_refused() {
    let rows = rows(include_str!("model.jsonl"));
    let answers = rows.iter().map(|row| {
        let mut args = row["args"].clone();
        for part in ["updates", "criteria"] {
            let Some(fields) = args[part].as_object() else {
                continue;
            };
            let pair = |(field, value)| json!({"field": field, "value": value});
            args[part] = fields.iter().map(pair).collect();
        }
        say_as_model(&json!({"tool": row["tool"], "args": args, "ask": null}).to_string())
    });
    let server = Server::start(&answers.collect::<Vec<_>>());
    let workspace = asking(&server);
    let before = data(&workspace);
    let said = rows.iter().map(|row| row["say"].as_str().unwrap());
    let said: Vec<&str> = said.flat_map(|say| ["client 6", say, "yes"]).collect();
    let turns = talk(&workspace, "default", &said);
    for (row, turn) in rows.iter().zip(turns.iter().skip(1).step_by(3)) {
        let why = row["reply"].as_str().unwrap();
        has(turn, &[why, "Say it like this", "called \"Home\""]);
        assert_eq!(turn["pending"], Value::Null, "{row}: {turn:#}");
    }
    assert_eq!(server.read_requests().len(), rows.len());
    assert_eq!(data(&workspace), before);
}

#[test]
fn id_that_rest_contradicts_finds_nothing() {
    let criteria = json!([{"field": "type", "value": "button"}]);
    let updates = json!([{"field": "title", "value": "Start"}]);
    let args = json!({"componentId": "101", "criteria": criteria, "updates": updates});
    let answer = json!({"tool": "updateComponent", "args": args, "ask": null});
    let (_server, workspace) = with_model(&answer.to_string());
    say(&workspace, "client 6");
    let turn = say(
        &workspace,
        r#"set in the button component 101 the title to "Start""#,
    );
    assert_eq!(turn["reason"], "a model chose");
    has(&turn, &["No components found matching"]);
    assert_eq!(turn["pending"]["tool"], "searchComponent");
}

#[test]
fn model_may_ask_back() {
    let (_server, workspace) = with_model(
        &json!({"tool": null, "args": null, "ask": "Which field?\u{1b}[2J"}).to_string(),
    );
    let turn = say(&workspace, "rounder, please, client 6");
    has(
        &turn,
        &["The model asks: Which field?[2J", "Say it like this"],
    );
    assert_eq!(turn["reason"], "what a model says is not a call");
}

#[test]
fn without_answer_that_can_be_used_forms_are_shown() {
    let slow = Server::start(&[Answer::Hang]);
    let (prose, prosaic) = with_model("Sure! I set the title.");
    let keyless = seed().env("CLEO_LLM_PROVIDER", "openai-chat");
    let begun = Instant::now();
    for (workspace, why) in [
        (&prosaic, "not a call in JSON"),
        (&keyless, "OPENAI_API_KEY"),
        (&asking(&slow), ""),
    ] {
        let before = data(workspace);
        let turn = say(workspace, MESSAGE);
        let useless = "I did not understand that: the model gave no answer that can be used";
        has(&turn, &[useless, why, "Say it like this"]);
        assert_eq!(data(workspace), before);
    }
    assert!(begun.elapsed().as_secs() < 30);
    assert_eq!(prose.read_requests().len(), 1);
}

#[test]
fn model_is_asked_for_no_sentence() {
    let (server, workspace) = with_model("{}");
    for message in [
        "list components for client 6",
        "yes",
        "change button radius to full",
        "no",
        "update component 101 title",
        "update component 101 title to Hello no wait Welcome",
        "no",
        "9",
        "help",
    ] {
        say(&workspace, message);
    }
    assert_eq!(server.read_requests().len(), 0);
}
