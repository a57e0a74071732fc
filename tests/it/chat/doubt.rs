//! What is not sure is asked again: answers that are none, messages that nobody understands, and what came
//! too late.

use serde_json::{Value, json};

use super::{has, reply, say, seeded};

#[test]
fn what_could_be_turned_round_waits_for_no_yes() {
    let workspace = seeded();
    for (message, said) in [
        (
            "component 101 should not be blurred for client 6",
            "Please say it again with \"blur component 101\" or \"unblur component 101\".",
        ),
        ("delete the card that is not Home", "\"not\""),
        (
            "delete component 101's description",
            "\"delete component 101\" or \"delete the description of component 101\"",
        ),
        (
            "remove security from component 101",
            "unsecure component 101",
        ),
        (
            "replace Home with House in the title of component 101",
            "I can only set a whole field",
        ),
        ("I don't want the button radius full", "\"n't\""),
    ] {
        let turn = say(&workspace, message);
        has(&turn, &[said, "Nothing was changed"]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
    }
    let turn = say(&workspace, "is the button radius full?");
    has(&turn, &["The design of client 6"]);
}

#[test]
fn an_answer_about_a_design_that_is_no_option_is_asked_again() {
    let workspace = seeded();
    say(&workspace, "client 6");
    for (asked, answer) in [
        ("button radius", "not full"),
        ("button radius", "anything but full"),
        ("button radius", "is full good?"),
        ("button radius", "medium for the card"),
        ("button style", "never solid"),
        ("button style", "solid is ugly"),
        ("button style", "instead of solid stroked"),
        ("card style", "hard shadow or soft shadow"),
        ("button radius", "neither"),
        ("button radius", "full and title font Lato"),
    ] {
        say(&workspace, &format!("change {asked}"));
        let turn = say(&workspace, answer);
        let again = format!("I did not understand \"{answer}\".\nWhat should the {asked} be?");
        has(&turn, &[&again]);
        assert_eq!(turn["pending"], Value::Null, "{answer}");
    }
}

#[test]
fn an_answer_that_names_another_part_changes_that_alone() {
    let workspace = seeded();
    say(&workspace, "client 6");
    for answers in [
        &["card radius full"] as &[&str],
        &["I meant card radius, full"],
        &["actually card radius", "full"],
    ] {
        say(&workspace, "change button radius");
        let turns: Vec<Value> = answers
            .iter()
            .map(|answer| say(&workspace, answer))
            .collect();
        has(&turns[0], &["I no longer wait for an answer"]);
        let updates = &turns[turns.len() - 1]["pending"]["args"]["designUpdates"];
        assert_eq!(*updates, json!({"card_radius": "full"}), "{answers:?}");
    }
    say(&workspace, "change button radius");
    let turn = say(&workspace, "full and card radius medium");
    let updates = json!({"button_radius": "full", "card_radius": "medium"});
    assert_eq!(turn["pending"]["args"]["designUpdates"], updates);
}

#[test]
fn a_question_or_another_request_becomes_no_text() {
    let workspace = seeded();
    for answer in [
        "what is it now?",
        "no, change the caption instead",
        "change the caption instead",
    ] {
        say(&workspace, "update component 101 title for client 6");
        let turn = say(&workspace, answer);
        has(
            &turn,
            &[
                "put it in quotes",
                "What should the title of component 101 be?",
            ],
        );
        assert_eq!(turn["pending"], Value::Null, "{answer}");
    }
    say(&workspace, "update component 101 blur for client 6");
    let turn = say(&workspace, "make it blurred");
    assert_eq!(turn["pending"]["args"]["updates"], json!({"is_blur": true}));
    for (answer, updates) in [
        ("make it Welcome", json!({"props.title": "Welcome"})),
        (
            "I'd like it to be Welcome",
            json!({"props.title": "Welcome"}),
        ),
        ("\"Hi\", please", json!({"props.title": "Hi"})),
        ("\"what is it?\"", json!({"props.title": "what is it?"})),
        ("No entry", json!({"props.title": "No entry"})),
        ("no, change the caption to X", json!({"props.caption": "X"})),
    ] {
        say(&workspace, "update component 101 title for client 6");
        let turn = say(&workspace, answer);
        assert_eq!(
            turn["pending"]["args"]["updates"], updates,
            "{answer}: {turn:#}"
        );
    }
}

#[test]
fn what_is_not_understood_moves_no_client() {
    let workspace = seeded();
    for message in ["yes for client 7", "hm hm for client 7"] {
        say(&workspace, "update component 101 title to Hi for client 6");
        has(&say(&workspace, message), &["I did not understand"]);
        let turn = say(&workspace, "list components");
        has(&turn, &["Components of client 6"]);
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
        ("add a component for client 6", "card"),
        ("change button radius for client 6", "full"),
        ("update component 101 title for client 6", "Show more"),
    ] {
        let workspace = seeded().env("CLEO_NOW", "2026-01-26T09:00:00Z");
        say(&workspace, asked);
        let later = workspace.env("CLEO_NOW", "2026-01-26T09:15:00Z");
        let turn = say(&later, answer);
        assert!(reply(&turn).ends_with("please ask again."), "{turn:#}");
        assert_eq!(turn["pending"], Value::Null);
    }
    let workspace = seeded().env("CLEO_NOW", "2026-01-26T09:00:00Z");
    say(&workspace, "add a component for client 6");
    let later = workspace.env("CLEO_NOW", "2026-01-26T09:15:00Z");
    let turn = say(&later, "list components");
    has(&turn, &["was dropped", "Components of client 6"]);
}
