//! Answers to what waits, and what becomes of it.

use serde_json::{Value, json};

use super::{component, data, design, has, say, say_in, seed, talk, tools};

#[test]
fn any_yes_takes_offer() {
    let workspace = seed();
    say(&workspace, "change button radius to full for client 6");
    say(&workspace, "Sure, go ahead!");
    let button = json!({"radius": "full", "style": "stroked"});
    assert_eq!(design(&workspace, "6")["button_design"], button);
    say(&workspace, "delete component 102 for client 6");
    has(&say(&workspace, "ok do it"), &["deleted successfully"]);
    let polite = [
        "delete component 103",
        "yes please",
        "delete my footer component",
    ];
    talk(&workspace, "default", &polite);
    has(&say(&workspace, "sounds good"), &["Please select one"]);
    let turn = say(&workspace, "sure");
    assert_eq!(turn["pending"]["tool"], "deleteComponent");
    assert_eq!(turn["pending"]["args"]["componentId"], "101");
    has(&say(&workspace, "please don't"), &["Cancelled"]);
    assert_ne!(component(&workspace, "6", "101"), Value::Null);
}

#[test]
fn another_message_replaces_what_waits() {
    let workspace = seed();
    let before = data(&workspace);
    say(&workspace, "delete component 103 for client 6");
    let turn = say(&workspace, "list components for client 6");
    has(&turn, &["dropped", "delete component 103", "Component 103"]);
    assert_eq!(tools(&say(&workspace, "yes")), [] as [&str; 0]);
    assert_eq!(data(&workspace), before);
}

#[test]
fn what_waits_is_forgotten_after_its_time() {
    for (minute, written) in [("09:14:59", true), ("09:15:00", false)] {
        let workspace = seed().env("CLEO_NOW", "2026-01-26T09:00:00Z");
        let turn = say(&workspace, "delete component 103 for client 6");
        assert_eq!(turn["pending"]["created_at"], "2026-01-26T09:00:00.000Z");
        assert_eq!(turn["pending"]["expires"], "2026-01-26T09:15:00.000Z");
        let later = workspace.env("CLEO_NOW", &format!("2026-01-26T{minute}Z"));
        let turn = say(&later, "yes");
        assert_eq!(component(&later, "6", "103").is_null(), written, "{turn:#}");
        if !written {
            has(&turn, &["waited too long", "please ask again"]);
            assert_eq!(turn["settled"], "expired");
            assert_eq!(turn["pending"], Value::Null);
        }
    }
    let workspace = seed().env("CLEO_NOW", "2026-01-26T09:00:00Z");
    say(&workspace, "change button radius to full");
    let later = workspace.env("CLEO_NOW", "2026-01-26T09:15:00Z");
    let turn = say(&later, "client 6");
    has(&turn, &["waited too long", "please ask again"]);
    assert_eq!(turn["pending"], Value::Null);
    let workspace = seed().env("CLEO_CHAT_PENDING_TTL", "1h");
    let workspace = workspace.env("CLEO_NOW", "2026-01-26T09:00:00Z");
    let turn = say(&workspace, "delete component 103 for client 6");
    assert_eq!(turn["pending"]["expires"], "2026-01-26T10:00:00.000Z");
}

#[test]
fn late_yes_reaches_no_newer_component() {
    let workspace = seed();
    say_in(
        &workspace,
        "a",
        "update component 103 title to Mine for client 6",
    );
    let newer = "add a card with title Other for client 6";
    let between = ["delete component 103 for client 6", "yes", newer, "yes"];
    talk(&workspace, "b", &between);
    let late = say_in(&workspace, "a", "yes");
    has(&late, &["Component with ID 103 not found for client 6"]);
    assert_eq!(component(&workspace, "6", "104")["props"]["title"], "Other");
}

/// The question, the answer, and how the question ended.
const SETTLED: &str = "\
change button radius to full for client 6 > yess > dropped
change button radius to full for client 6 > yes? > dropped
change button radius to full for client 6 > help > dropped
delete component 103 for client 6 > do not delete component 103 > dropped
delete component 103 for client 6 > yes, but not now > dropped
change button radius to full for client 6 > keep it > cancelled
change button radius to full for client 6 > 1 > dropped
change button radius to full for client 6 > no > cancelled
change button radius to full for client 6 > yes > confirmed
show the zebra card for client 6 > ok > confirmed
show the zebra card for client 6 > list components for client 7 > dropped
update title of my card component for client 6 to X > 9 > -
update title of my card component for client 6 to X > 2 > chosen
update title of my card component for client 6 to X > about > chosen
update title of my card component for client 6 to X > the card called 2 > dropped
update title of my card component for client 6 to X > delete component 102 > dropped";

#[test]
fn what_became_of_what_waited_is_told() {
    let workspace = seed();
    for (at, line) in SETTLED.lines().enumerate() {
        let conversation = format!("c{at}");
        let turns: Vec<&str> = line.split(" > ").collect();
        let told = talk(&workspace, &conversation, &turns[..2]);
        assert_ne!(told[0]["pending"], Value::Null, "{line}: {told:#?}");
        let settled = told[1]["settled"].as_str().unwrap_or("-");
        assert_eq!(settled, turns[2], "{line}: {told:#?}");
    }
}

#[test]
fn missing_client_is_asked_for_and_request_continues() {
    let workspace = seed();
    for (conversation, answer) in [
        ("a", "client 6"),
        ("b", "6."),
        ("c", "my clientId is 6"),
        ("d", "it's #6"),
        ("e", "client 6, please"),
    ] {
        let messages = ["change button radius to full", answer];
        let turns = talk(&workspace, conversation, &messages);
        has(&turns[0], &["client ID"]);
        assert_eq!(tools(&turns[0]), [] as [&str; 0]);
        has(&turns[1], &["the Button Radius to full. Should I proceed?"]);
        assert_eq!(turns[1]["pending"]["args"]["clientId"], "6");
    }
}

#[test]
fn unclear_message_with_another_client_asks_for_client() {
    let workspace = seed();
    for message in ["yes for client 7", "hm hm for client 7"] {
        let messages = ["client 6", message, "list components", "6"];
        let turns = talk(&workspace, "default", &messages);
        has(&turns[2], &["client ID"]);
        has(&turns[3], &["Components of client 6"]);
    }
    let turns = talk(&workspace, "default", &["client 7", "list components"]);
    has(&turns[1], &["Components of client 7"]);
}
