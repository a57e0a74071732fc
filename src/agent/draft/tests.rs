use super::*;
use crate::agent::AgentStatus;
use serde_json::json;

fn apply(draft: Value) -> Result<Agent> {
    let draft: Draft = read(draft)?;
    let kind = draft.worker().unwrap_or(Kind::Persistent);
    let mut agent = Agent::new("a", kind, "");
    draft.apply(&mut agent)?;
    Ok(agent)
}

#[test]
fn both_ways_of_writing_names() {
    let agent = apply(
        json!({"name": " Lore keeper ", "prompt": "p", "max_tokens": 9,
        "tags": "wow, lore,second war,", "status": "Paused", "role": "specialist"}),
    )
    .unwrap();
    assert_eq!(agent.name, "Lore keeper");
    assert_eq!(agent.max_tokens, 9);
    assert_eq!(agent.tags, ["wow", "lore", "second war"]);
    assert_eq!(agent.status, AgentStatus::Paused);
    assert_eq!(
        apply(json!({"name": "x", "maxTokens": 7}))
            .unwrap()
            .max_tokens,
        7
    );
}

#[test]
fn connection_makes_worker_and_splits_its_command() {
    let worker = apply(json!({"name": "w", "command": "run 'a b' $(x)"})).unwrap();
    assert_eq!(worker.kind, Kind::Cli);
    assert_eq!(worker.command, ["run", "a b", "$(x)"]);
    let worker = apply(json!({"name": "w", "endpoint": "http://127.0.0.1:1/x"})).unwrap();
    assert_eq!(worker.kind, Kind::Http);
}

#[test]
fn invalid_values_are_refused_with_reason() {
    for (draft, word) in [
        (json!({"name": ""}), "needs a name"),
        (json!({"name": "\u{7}"}), "needs a name"),
        (json!({"name": "x".repeat(101)}), "101 characters"),
        (
            json!({"name": "two\nlines"}),
            "the name holds the control character U+000A",
        ),
        (json!({"name": "x", "color": "red"}), "not a color"),
        (json!({"name": "x", "color": "#12345g"}), "not a color"),
        (
            json!({"name": "x", "temperature": 2.1}),
            "temperature is 2.1",
        ),
        (
            json!({"name": "x", "temperature": -0.1}),
            "temperature is -0.1",
        ),
        (json!({"name": "x", "maxTokens": 0}), "maxTokens is 0"),
        (json!({"name": "x", "timeoutMs": 0}), "timeoutMs is 0"),
        (json!({"name": "x", "role": "worker"}), "not a valid role"),
        (
            json!({"name": "x", "status": "asleep"}),
            "not a valid status",
        ),
        (json!({"name": "x", "type": "http"}), "needs an endpoint"),
        (json!({"name": "x", "type": "cli"}), "needs a command"),
        (
            json!({"name": "x", "endpoint": "ftp://x"}),
            "must be an address",
        ),
        (
            json!({"name": "x", "endpoint": "http:///x"}),
            "must be an address",
        ),
        (json!({"name": "x", "command": "a 'b"}), "quote without end"),
        (json!({"name": "x", "model": ""}), "model must be"),
        (json!({"name": 7}), "name: invalid type"),
        (
            json!({"name": "x", "temperature": "hot"}),
            "temperature: invalid type",
        ),
        (
            json!({"name": "x", "temperature": 0.123}),
            "at most two decimals",
        ),
        (
            json!({"name": "x", "endpoint": "http://me:word@127.0.0.1:9/x"}),
            "must not hold a name or a password",
        ),
    ] {
        let error = apply(draft.clone()).unwrap_err();
        assert!(error.message.contains(word), "{draft}: {}", error.message);
    }
}

#[test]
fn what_is_wrong_is_quoted_within_line() {
    for draft in [
        json!("x".repeat(10_000)),
        json!({"tags": "é".repeat(10_000), "name": ["x".repeat(10_000)]}),
    ] {
        let error = apply(draft).unwrap_err();
        assert!(error.message.chars().count() < 200, "{}", error.message);
    }
    let error = apply(json!({"name": "x", "endpoint": "https://me:word@h/x"})).unwrap_err();
    assert!(!error.message.contains("word@") && !error.message.contains("me:"));
    let fine = json!({"name": "x", "endpoint": "http://127.0.0.1:9/a@b", "temperature": 0.29});
    assert_eq!(apply(fine).unwrap().temperature, 0.29);
}

#[test]
fn ids_are_plain_and_made_of_names() {
    for id in ["lore-keeper", "A.b_c", "custom_1"] {
        assert!(check_id(id).is_ok(), "{id}");
    }
    for id in ["", "-a", "a b", "ä", "a/b", &"x".repeat(65)] {
        assert_eq!(
            check_id(id).err().map(|e| e.code),
            Some(Code::AgentInvalid),
            "{id}"
        );
    }
    assert_eq!(suggest_id("Lore Keeper: Łódź é"), "lore-keeper-odz-e");
    assert_eq!(suggest_id(" "), "agent");
    let (japan, tower) = (suggest_id("日本"), suggest_id("Башня"));
    assert!(japan.starts_with("agent-"), "{japan}");
    assert!(check_id(&japan).is_ok(), "{japan}");
    assert_ne!(japan, tower);
    assert_eq!(japan, suggest_id(" 日本 "));
    assert_eq!(add_number("lore", 2), "lore-2");
    assert!(check_id(&add_number(&"x".repeat(64), 4_000_000_000)).is_ok());
}
