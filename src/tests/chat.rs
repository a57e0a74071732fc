//! The grammar of the chat: sentences with the calls that they mean, and any text at all.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::chat::answer::interpret;
use crate::chat::{Chat, Meaning};

const SENTENCES: &str = include_str!("../../tests/it/chat/sentences.jsonl");

const NOW: &str = "2026-01-26T09:00:00.000Z";

/// Reads a message in a conversation in which nothing waits.
fn read(message: &str) -> Value {
    match interpret(&Chat::default(), message, NOW) {
        Meaning::Request(call) => {
            json!({"tool": call.tool.name(), "args": call.args})
        }
        _ => Value::Null,
    }
}

#[test]
fn sentences_mean_their_calls() {
    let rows = SENTENCES
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut wrong = Vec::new();
    for row in rows {
        let message = row["say"].as_str().unwrap();
        let found = read(message);
        if found["tool"] != row["tool"] || found["args"] != row["args"] {
            wrong.push(format!("{message}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

proptest! {
    #![proptest_config(super::cases(64))]

    #[test]
    fn any_text_is_read_without_panic(
        parts in prop::collection::vec(
            prop_oneof![
                4 => prop::sample::select(vec![
                    "update", "add", "change", "component", "101", "component_id=", "client", "6", "title",
                    "to", "=", ":", "with", "titled", "security group", "'", "\"", "“", "”", ",", "and",
                    "the", "card", "props.title", "header", "from", "rename", "ä", "ß", "please", "can you",
                ]),
                1 => Just("\u{130}"),
            ],
            0..14,
        ),
        gap in "[ ]?",
        other in "\\PC{0,5}",
    ) {
        let message = parts.join(&gap) + &other;
        let answer = json!({"tool": "updateComponent", "ask": null, "args": {
            "componentId": "101", "updates": [{"field": "title", "value": other}],
        }});
        read(&message);
        let _ = crate::chat::model::read(&answer.to_string(), &message, Some("6"));
    }
}
