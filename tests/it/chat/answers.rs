//! Answers to what waits, and what becomes of it.

use serde_json::{Value, json};

use super::{component, data, design, has, say, say_in, seeded, tools};

#[test]
fn any_yes_takes_an_offer() {
    let workspace = seeded();
    say(&workspace, "change button radius to full for client 6");
    say(&workspace, "Sure, go ahead!");
    let button = json!({"radius": "full", "style": "stroked"});
    assert_eq!(design(&workspace, "6")["button_design"], button);
    say(&workspace, "delete component 102 for client 6");
    has(&say(&workspace, "ok do it"), &["deleted successfully"]);
    say(&workspace, "delete component 103 for client 6");
    say(&workspace, "yes please");
    say(&workspace, "delete my footer component for client 6");
    has(&say(&workspace, "sounds good"), &["Please select one"]);
    let turn = say(&workspace, "sure");
    assert_eq!(turn["pending"]["tool"], "deleteComponent");
    assert_eq!(turn["pending"]["args"]["componentId"], "101");
    has(&say(&workspace, "please don't"), &["Cancelled"]);
    assert_ne!(component(&workspace, "6", "101"), Value::Null);
}

#[test]
fn another_message_replaces_what_waits_and_says_so() {
    let workspace = seeded();
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
        let workspace = seeded().env("CLEO_NOW", "2026-01-26T09:00:00Z");
        let turn = say(&workspace, "delete component 103 for client 6");
        assert_eq!(turn["pending"]["created_at"], "2026-01-26T09:00:00.000Z");
        assert_eq!(turn["pending"]["expires"], "2026-01-26T09:15:00.000Z");
        let later = workspace.env("CLEO_NOW", &format!("2026-01-26T{minute}Z"));
        let turn = say(&later, "yes");
        assert_eq!(component(&later, "6", "103").is_null(), written, "{turn:#}");
        if !written {
            has(&turn, &["waited too long"]);
            assert_eq!(turn["settled"], "expired");
        }
    }
    let workspace = seeded().env("CLEO_CHAT_PENDING_TTL", "1h");
    let workspace = workspace.env("CLEO_NOW", "2026-01-26T09:00:00Z");
    let turn = say(&workspace, "delete component 103 for client 6");
    assert_eq!(turn["pending"]["expires"], "2026-01-26T10:00:00.000Z");
}

#[test]
fn a_late_yes_reaches_no_newer_component() {
    let workspace = seeded();
    say_in(
        &workspace,
        "a",
        "update component 103 title to Mine for client 6",
    );
    for message in ["delete component 103 for client 6", "yes"] {
        say_in(&workspace, "b", message);
    }
    for message in ["add a card with title Other for client 6", "yes"] {
        say_in(&workspace, "b", message);
    }
    let late = say_in(&workspace, "a", "yes");
    has(&late, &["Component with ID 103 not found for client 6"]);
    assert_eq!(component(&workspace, "6", "104")["props"]["title"], "Other");
}

/// What is asked, the answer, and what became of the question.
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
    let workspace = seeded();
    for (at, line) in SETTLED.lines().enumerate() {
        let conversation = format!("c{at}");
        let turns: Vec<&str> = line.split(" > ").collect();
        let first = say_in(&workspace, &conversation, turns[0]);
        assert_ne!(first["pending"], Value::Null, "{first:#}");
        let turn = say_in(&workspace, &conversation, turns[1]);
        assert_eq!(
            turn["settled"].as_str().unwrap_or("-"),
            turns[2],
            "{line}: {turn:#}"
        );
    }
}

#[test]
fn a_missing_client_is_asked_for_and_the_request_goes_on() {
    let workspace = seeded();
    for (conversation, answer) in [
        ("a", "client 6"),
        ("b", "6."),
        ("c", "my clientId is 6"),
        ("d", "it's #6"),
        ("e", "client 6, please"),
    ] {
        let turn = say_in(&workspace, conversation, "change button radius to full");
        has(&turn, &["client ID"]);
        assert_eq!(tools(&turn), [] as [&str; 0]);
        let turn = say_in(&workspace, conversation, answer);
        has(&turn, &["the Button Radius to full. Should I proceed?"]);
        assert_eq!(turn["pending"]["args"]["clientId"], "6");
    }
}

#[test]
fn after_another_client_in_what_is_not_understood_it_is_asked_for() {
    let workspace = seeded();
    for message in ["yes for client 7", "hm hm for client 7"] {
        say(&workspace, "client 6");
        say(&workspace, message);
        has(&say(&workspace, "list components"), &["client ID"]);
        has(&say(&workspace, "6"), &["Components of client 6"]);
    }
    say(&workspace, "client 7");
    has(
        &say(&workspace, "list components"),
        &["Components of client 7"],
    );
}

#[test]
fn an_answer_that_came_too_late_is_only_dropped() {
    for (asked, answer) in [
        ("change button radius to full", "client 6"),
        ("delete component 103 for client 6", "yes"),
    ] {
        let workspace = seeded().env("CLEO_NOW", "2026-01-26T09:00:00Z");
        say(&workspace, asked);
        let later = workspace.env("CLEO_NOW", "2026-01-26T09:15:00Z");
        let turn = say(&later, answer);
        has(&turn, &["waited too long", "please ask again"]);
        assert_eq!(turn["pending"], Value::Null);
    }
}
