//! The chat about designs and components: the scenarios B-1 to B-20 of the chat notes, and what must
//! hold for every message. No model is configured anywhere here.

mod doubt;
mod stale;
mod words;

use std::process::Stdio;

use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::server::{Answer, Server};
use crate::world::TestWorkspace;

const SEED: &str = include_str!("../../examples/chat/seed.json");

/// A workspace with clients 6 and 7 in it.
fn seeded() -> TestWorkspace {
    let workspace = TestWorkspace::new().with("seed.json", SEED);
    workspace.ok("chat seed seed.json");
    workspace
}

/// Says something in a conversation and returns the answer.
fn say_in(workspace: &TestWorkspace, conversation: &str, message: &str) -> Value {
    let words = ["chat", "--conversation", conversation, "--message", message];
    let reply = workspace.json(&words);
    assert_eq!(reply["success"], true, "{message}: {reply}");
    assert_eq!(reply["result"]["conversationId"], conversation);
    reply["result"].clone()
}

fn say(workspace: &TestWorkspace, message: &str) -> Value {
    say_in(workspace, "default", message)
}

/// Reads everything that the chat works on, without what it remembers.
fn data(workspace: &TestWorkspace) -> Vec<String> {
    let connection = Connection::open(workspace.path(".cleo/agents.db")).unwrap();
    let tables = [
        "clients",
        "designs",
        "components",
        "security_groups",
        "component_security_groups",
        "questions",
        "answers",
        "media_library",
    ];
    let mut rows = Vec::new();
    for table in tables {
        let mut statement = connection
            .prepare(&format!("SELECT * FROM {table}"))
            .unwrap();
        let columns = statement.column_count();
        let mut found = statement.query(()).unwrap();
        while let Some(row) = found.next().unwrap() {
            let cells: Vec<rusqlite::types::Value> =
                (0..columns).map(|at| row.get(at).unwrap()).collect();
            rows.push(format!("{table} {cells:?}"));
        }
    }
    rows
}

/// Reads a component of a client; nothing when it is not there.
fn component(workspace: &TestWorkspace, client: &str, id: &str) -> Value {
    record(
        workspace,
        "SELECT record FROM components WHERE client_id = ?1 AND component_id = ?2",
        &[client, id],
    )
}

fn design(workspace: &TestWorkspace, client: &str) -> Value {
    record(
        workspace,
        "SELECT record FROM designs WHERE client_id = ?1",
        &[client],
    )
}

fn record(workspace: &TestWorkspace, sql: &str, keys: &[&str]) -> Value {
    let connection = Connection::open(workspace.path(".cleo/agents.db")).unwrap();
    let keys = rusqlite::params_from_iter(keys);
    let text: Option<String> = connection.query_row(sql, keys, |row| row.get(0)).ok();
    text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
}

fn tools(turn: &Value) -> Vec<&str> {
    let calls = turn["toolCalls"].as_array().unwrap();
    calls
        .iter()
        .map(|call| call["name"].as_str().unwrap())
        .collect()
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
fn b1_a_blank_message_is_an_error() {
    let workspace = seeded();
    for blank in ["", "  ", "\n\t"] {
        workspace.refused(&["chat", "--message", blank], "E_INPUT_INVALID");
    }
}

#[test]
fn b2_a_design_is_shown_and_nothing_changes() {
    let workspace = seeded();
    let before = data(&workspace);
    let turn = say(&workspace, "show me my design for client 6");
    assert_eq!(turn["agent"], "design");
    assert!(tools(&turn).contains(&"getClientDesign"));
    let shown = &turn["toolCalls"][0]["result"];
    assert_eq!(shown["banner_mediaUrl"], "clients/6/banner.jpg");
    has(
        &turn,
        &[
            "layout: classic",
            "button radius: small",
            "card style: solid",
            "calm",
        ],
    );
    assert_eq!(turn["pending"], Value::Null);
    assert_eq!(data(&workspace), before);
}

#[test]
fn b3_a_design_changes_after_a_yes_and_once() {
    let workspace = seeded();
    let before = data(&workspace);
    let turn = say(&workspace, "change button radius to full for client 6");
    assert_eq!(turn["agent"], "design");
    assert_eq!(tools(&turn), ["getClientDesign", "getQAForClient"]);
    has(
        &turn,
        &[
            "You want to change the Button Radius to full. Should I proceed?",
            "calm",
        ],
    );
    assert_eq!(turn["pending"]["kind"], "confirm");
    assert_eq!(data(&workspace), before);
    let turn = say(&workspace, "yes");
    assert_eq!(tools(&turn), ["updateDesign"]);
    let args = json!({"clientId": "6", "designUpdates": {"button_radius": "full"}});
    assert_eq!(turn["toolCalls"][0]["args"], args);
    assert_eq!(
        turn["toolCalls"][0]["result"]["message"],
        "Design updated successfully."
    );
    assert_eq!(turn["pending"], Value::Null);
    let button = json!({"radius": "full", "style": "stroked"});
    assert_eq!(design(&workspace, "6")["button_design"], button);
    let after = data(&workspace);
    let again = say(&workspace, "yes");
    assert_eq!(tools(&again), [] as [&str; 0]);
    assert_eq!(data(&workspace), after);
}

#[test]
fn b3_a_no_leaves_the_design_and_clears_what_waited() {
    let workspace = seeded();
    let before = data(&workspace);
    say(&workspace, "change button radius to full for client 6");
    let turn = say(&workspace, "no");
    assert_eq!(turn["pending"], Value::Null);
    assert_eq!(tools(&say(&workspace, "yes")), [] as [&str; 0]);
    assert_eq!(data(&workspace), before);
}

#[test]
fn b4_and_b5_what_is_no_option_is_refused_with_those_that_are() {
    let workspace = seeded();
    let before = data(&workspace);
    for (message, options) in [
        (
            "change button radius to 12px for client 6",
            "no-radius, small, medium, full",
        ),
        (
            "set card style to classic for client 6",
            "solid, stroked, soft-shadow, hard-shadow",
        ),
        (
            "set button style to hard-shadow for client 6",
            "solid, stroked, soft-shadow",
        ),
        (
            "change layout to grid for client 6",
            "classic, compact, banner, imaged",
        ),
        (
            "change link text color to #12 for client 6",
            "a color such as",
        ),
        ("change hover to blue for client 6", "You can change:"),
    ] {
        let turn = say(&workspace, message);
        assert_eq!(turn["agent"], "design", "{message}");
        has(&turn, &[options]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
        say(&workspace, "yes");
    }
    assert_eq!(data(&workspace), before);
}

#[test]
fn b6_an_ambiguous_change_names_the_fields_and_one_can_be_chosen() {
    let workspace = seeded();
    let turn = say(&workspace, "change the background for client 6");
    has(
        &turn,
        &[
            "desktop_background.type",
            "page_props.background",
            "appearance.background",
        ],
    );
    assert_eq!(turn["pending"], Value::Null);
    let turn = say(&workspace, "2");
    has(&turn, &["page background", "gradient"]);
    has(
        &say(&workspace, "gradient"),
        &["the Page Background to gradient. Should I proceed?"],
    );
    say(&workspace, "yes");
    let page = json!({"background": "gradient", "filter": "none"});
    assert_eq!(design(&workspace, "6")["page_props"], page);
}

#[test]
fn b7_a_missing_client_is_asked_for_and_the_request_goes_on() {
    let workspace = seeded();
    for (conversation, answer) in [("a", "client 6"), ("b", "6"), ("c", "my clientId is 6")] {
        let turn = say_in(&workspace, conversation, "change button radius to full");
        has(&turn, &["client ID"]);
        assert_eq!(tools(&turn), [] as [&str; 0]);
        let turn = say_in(&workspace, conversation, answer);
        has(&turn, &["the Button Radius to full. Should I proceed?"]);
        assert_eq!(turn["pending"]["args"]["clientId"], "6");
    }
}

#[test]
fn b8_a_component_changes_after_a_yes_and_keeps_the_rest() {
    let workspace = seeded();
    let before = data(&workspace);
    let turn = say(
        &workspace,
        "update component 101 title to Welcome for client 6",
    );
    assert_eq!(turn["agent"], "editor");
    assert_eq!(turn["pending"]["kind"], "confirm");
    assert_eq!(data(&workspace), before);
    let turn = say(&workspace, "yes");
    assert_eq!(tools(&turn), ["updateComponent"]);
    has(
        &turn,
        &[
            "Understood:",
            "Action:",
            "Result: Component 101 updated successfully",
            "Next:",
        ],
    );
    let props = json!({"title": "Welcome", "description": "Where it begins"});
    assert_eq!(component(&workspace, "6", "101")["props"], props);
}

#[test]
fn b9_a_component_of_another_client_is_not_found() {
    let workspace = seeded();
    let before = data(&workspace);
    let turn = say(
        &workspace,
        "update component 101 title to Welcome for client 7",
    );
    has(&turn, &["not found for client 7"]);
    assert_eq!(turn["pending"], Value::Null);
    say(&workspace, "yes");
    assert_eq!(data(&workspace), before);
}

#[test]
fn b10_a_component_is_deleted_after_a_yes() {
    let workspace = seeded();
    let turn = say(&workspace, "delete component 103 for client 6");
    assert_eq!(turn["pending"]["tool"], "deleteComponent");
    assert_ne!(component(&workspace, "6", "103"), Value::Null);
    has(
        &say(&workspace, "confirm"),
        &["Component with ID 103 deleted successfully"],
    );
    assert_eq!(component(&workspace, "6", "103"), Value::Null);
    has(
        &say(&workspace, "delete component 103 for client 6"),
        &["not found for client 6"],
    );
}

#[test]
fn b11_protected_fields_are_refused_and_reported() {
    let workspace = seeded();
    let before = data(&workspace);
    for message in [
        "update component 101 component_type to banner for client 6",
        "change the type of component 101 to banner for client 6",
        "update component 101 clientId to 7 for client 6",
        "update component 101 componentId to 5 for client 6",
        "update component 101 library_id to 5 for client 6",
    ] {
        let turn = say(&workspace, message);
        has(&turn, &["protected"]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
        say(&workspace, "yes");
    }
    assert_eq!(data(&workspace), before);
    let mixed = "update component 101 component_type to banner and title to New for client 6";
    has(
        &say(&workspace, mixed),
        &["component_type", "cannot be changed"],
    );
    let done = say(&workspace, "yes");
    assert_eq!(
        done["toolCalls"][0]["result"]["rejectedFields"],
        json!(["component_type"])
    );
    assert_eq!(component(&workspace, "6", "101")["props"]["title"], "New");
    assert_eq!(component(&workspace, "6", "101")["component_type"], "cards");
}

#[test]
fn b12_security_groups_come_and_go() {
    let workspace = seeded();
    let add = "add premium security group to component 101 for client 6";
    say(&workspace, add);
    let turn = say(&workspace, "yes");
    assert_eq!(turn["toolCalls"][0]["result"]["is_secured"], true);
    assert_eq!(component(&workspace, "6", "101")["is_secured"], true);
    has(&say(&workspace, add), &["already"]);
    let unknown = say(
        &workspace,
        "add gold security group to component 101 for client 6",
    );
    has(&unknown, &["gold", "not found for client 6"]);
    has(&unknown, &["Understood:", "Action:", "Result:", "Next:"]);
    assert!(!reply(&unknown).contains("no field"), "{unknown:#}");
    let foreign = say(
        &workspace,
        "add members security group to component 101 for client 6",
    );
    has(&foreign, &["members", "not found for client 6"]);
    say(
        &workspace,
        "remove premium security group from component 101 for client 6",
    );
    let turn = say(&workspace, "yes");
    assert_eq!(turn["toolCalls"][0]["result"]["is_secured"], false);
    assert_eq!(component(&workspace, "6", "101")["is_secured"], false);
    let turn = say(
        &workspace,
        "remove premium security group from component 101 for client 6",
    );
    has(&turn, &["is not on component 101"]);
}

#[test]
fn b13_one_of_several_components_is_chosen_from_a_list() {
    for choice in ["2", "102", "About", "component 102", "\"about\""] {
        let workspace = seeded();
        let turn = say(
            &workspace,
            "update title of my card component for client 6 to X",
        );
        assert_eq!(turn["agent"], "clarifier");
        let criteria = json!({"component_type": "cards"});
        assert_eq!(turn["toolCalls"][0]["args"]["criteria"], criteria);
        has(&turn, &["1. Component 101", "2. Component 102"]);
        assert_eq!(turn["pending"]["kind"], "select");
        assert_eq!(turn["pending"]["candidates"], json!(["101", "102"]));
        let turn = say(&workspace, "9");
        has(&turn, &["Invalid selection"]);
        assert_eq!(turn["pending"]["kind"], "select");
        let turn = say(&workspace, choice);
        assert_eq!(turn["pending"]["kind"], "confirm", "{choice}: {turn:#}");
        assert_eq!(turn["pending"]["args"]["componentId"], "102", "{choice}");
        assert_eq!(component(&workspace, "6", "102")["props"]["title"], "About");
        say(&workspace, "yes");
        assert_eq!(component(&workspace, "6", "102")["props"]["title"], "X");
        assert_eq!(component(&workspace, "6", "101")["props"]["title"], "Home");
    }
}

#[test]
fn b14_one_component_that_fits_is_taken() {
    let workspace = seeded();
    let turn = say(
        &workspace,
        "change my button component with caption Login for client 6",
    );
    assert_eq!(turn["agent"], "clarifier");
    has(&turn, &["103", "Login"]);
    let turn = say(&workspace, "caption to 'Sign in'");
    assert_eq!(turn["pending"]["args"]["componentId"], "103");
    say(&workspace, "yes");
    assert_eq!(
        component(&workspace, "6", "103")["props"]["caption"],
        "Sign in"
    );
    let turn = say(
        &workspace,
        "delete my button component with caption 'Sign in'",
    );
    assert_eq!(turn["pending"]["tool"], "deleteComponent");
    assert_eq!(turn["pending"]["args"]["componentId"], "103");
}

#[test]
fn b15_where_nothing_fits_the_whole_list_is_offered() {
    let workspace = seeded();
    let turn = say(&workspace, "update my footer component for client 6");
    has(
        &turn,
        &[
            "No components found matching 'footers'. Would you like me to show all your components so \
         you can select one?",
        ],
    );
    let turn = say(&workspace, "yes");
    assert_eq!(tools(&turn), ["searchComponent"]);
    has(
        &turn,
        &["1. Component 101", "2. Component 102", "3. Component 103"],
    );
    has(&say(&workspace, "3"), &["103", "which field"]);
}

#[test]
fn an_offer_is_taken_by_any_yes_also_where_there_is_only_one_to_choose() {
    let workspace = seeded();
    say(&workspace, "change button radius to full for client 6");
    say(&workspace, "Sure, go ahead!");
    assert_eq!(design(&workspace, "6")["button_design"]["radius"], "full");
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
fn b16_components_are_listed_without_those_of_others() {
    let workspace = seeded();
    let turn = say(&workspace, "list components for client 6");
    assert_eq!(turn["toolCalls"][0]["args"]["criteria"], json!({}));
    has(&turn, &["Component 101", "Component 102", "Component 103"]);
    for foreign in ["201", "202", "Storefront", "Buy now"] {
        assert!(!turn.to_string().contains(foreign), "{turn:#}");
    }
}

#[test]
fn b17_a_component_is_made_and_its_type_asked_for() {
    let workspace = seeded();
    let turn = say(&workspace, "add a banner with title Hello for client 6");
    assert_eq!(turn["agent"], "editor");
    let updates = json!({"component_type": "banner", "props": {"title": "Hello"}});
    assert_eq!(turn["pending"]["args"]["updates"], updates);
    assert_eq!(component(&workspace, "6", "104"), Value::Null);
    has(&say(&workspace, "yes"), &["Component created successfully"]);
    let made = component(&workspace, "6", "104");
    assert_eq!(made["component_type"], "banner");
    assert_eq!(made["props"], json!({"title": "Hello"}));
    let turn = say(&workspace, "add a component with title Bye for client 6");
    has(
        &turn,
        &["Please specify the type of component you want to create"],
    );
    let turn = say(&workspace, "card");
    assert_eq!(
        turn["pending"]["args"]["updates"]["component_type"],
        "cards"
    );
    has(
        &say(&workspace, "add a card with title X for client 99"),
        &["Client 99 not found"],
    );
}

#[test]
fn a_client_that_is_not_there_is_not_found_whatever_is_asked() {
    let workspace = seeded();
    for message in [
        "list components for client 99",
        "show my card component for client 99",
        "delete my card component for client 99",
        "add a banner with title Hello for client 99",
    ] {
        let turn = say(&workspace, message);
        has(&turn, &["Client 99 not found"]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
    }
    let turn = say(&workspace, "update my component title to X for client 99");
    has(&turn, &["show all your components"]);
    has(&say(&workspace, "yes"), &["Client 99 not found"]);
}

#[test]
fn b18_hostile_keys_and_values_are_only_text() {
    let workspace = seeded();
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
    let workspace = seeded();
    say_in(
        &workspace,
        "one",
        "change button radius to full for client 6",
    );
    say_in(
        &workspace,
        "two",
        "update component 101 title to Two for client 6",
    );
    let none = say_in(&workspace, "three", "yes");
    assert_eq!(tools(&none), [] as [&str; 0]);
    assert_eq!(
        tools(&say_in(&workspace, "two", "yes")),
        ["updateComponent"]
    );
    assert_eq!(tools(&say_in(&workspace, "one", "yes")), ["updateDesign"]);
    has(
        &say_in(&workspace, "three", "list my components"),
        &["client ID"],
    );
}

#[test]
fn several_changes_of_a_design_wait_for_one_yes() {
    let workspace = seeded();
    let turn = say(
        &workspace,
        "change button radius to full and card style to stroked for client 6",
    );
    has(
        &turn,
        &["the Button Radius to full", "the Card Style to stroked"],
    );
    say(&workspace, "yes");
    assert_eq!(design(&workspace, "6")["button_design"]["radius"], "full");
    assert_eq!(design(&workspace, "6")["card_design"]["style"], "stroked");
    let turn = say(&workspace, "set button radius to 12px, card style to solid");
    has(&turn, &["cannot be \"12px\""]);
    assert_eq!(turn["pending"], serde_json::Value::Null);
}

#[test]
fn what_is_not_to_be_done_and_what_names_two_components_waits_for_no_yes() {
    let workspace = seeded();
    for message in [
        "do not delete component 101 for client 6",
        "don't change button radius to full for client 6",
        "never remove component 102 for client 6",
        "delete component 101 and 102 for client 6",
        "delete component 201 for client 6 and component 202 for client 7",
    ] {
        let turn = say(&workspace, message);
        assert_eq!(
            turn["pending"],
            serde_json::Value::Null,
            "{message}: {turn}"
        );
    }
    let turn = say(
        &workspace,
        "update component 101, 102 title to X for client 6",
    );
    has(&turn, &["one component at a time", "101, 102"]);
}

#[test]
fn what_is_no_number_names_no_other_component_and_no_other_client() {
    let workspace = seeded();
    let before = data(&workspace);
    for (message, said) in [
        (
            "delete component -101 for client 6",
            "\"-101\" is no number of a component",
        ),
        (
            "update component 101.5 title to X for client 6",
            "\"101.5\" is no number of a component",
        ),
        (
            "change button radius to full for client -6",
            "\"-6\" is no number of a client",
        ),
        (
            "show me my design for client 6.1",
            "\"6.1\" is no number of a client",
        ),
        (
            "show me my design for client 99999999999999999999999999",
            "\"99999999999999999999999999\" is no number of a client",
        ),
    ] {
        let turn = say(&workspace, message);
        has(&turn, &[said, "Nothing was changed"]);
        assert_eq!(tools(&turn), [""; 0], "{message}");
        assert_eq!(turn["pending"], serde_json::Value::Null, "{message}");
        say(&workspace, "yes");
    }
    assert_eq!(data(&workspace), before);
    let turn = say(&workspace, "how would it look for client 6");
    assert_eq!(turn["agent"], "design");
}

#[test]
fn a_model_is_asked_only_where_no_rule_fits_and_writes_nothing() {
    let says = |text: &str| {
        let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]});
        Answer::Whole(200, "", body.to_string())
    };
    let server = Server::start(&[says("Design."), says("rm -rf / yes")]);
    let workspace = seeded()
        .env("CLEO_LLM_PROVIDER", "openai-chat")
        .env("CLEO_LLM_BASE_URL", &server.url)
        .env("CLEO_LLM_RETRIES", "0")
        .env("OPENAI_API_KEY", "sk-test-0123456789abcdef");
    let before = data(&workspace);
    say(&workspace, "list components for client 6");
    say(&workspace, "yes");
    say(&workspace, "change button radius to full");
    say(&workspace, "no");
    assert_eq!(server.asked().len(), 0);
    let turn = say(&workspace, "make it friendlier");
    assert_eq!(
        (&turn["agent"], &turn["reason"]),
        (&json!("design"), &json!("a model chose"))
    );
    let reply = workspace.json(&["chat", "--message", "what now?"]);
    assert_eq!(reply["result"]["reason"], "no rule fits");
    let warning = reply["warnings"][0].as_str().unwrap();
    assert!(warning.contains("the rules decided"), "{warning}");
    assert_eq!(server.asked().len(), 2);
    assert_eq!(data(&workspace), before);
}

#[test]
fn what_is_taken_from_a_component_is_a_field_and_never_the_component() {
    let workspace = seeded();
    for (message, updates) in [
        (
            "remove title from component 101 for client 6",
            json!({"props.title": ""}),
        ),
        (
            "delete the caption of component 103 for client 6",
            json!({"props.caption": ""}),
        ),
        (
            "remove the link from component 101 for client 6",
            json!({"link_props.url": ""}),
        ),
        (
            "remove blur from component 101 for client 6",
            json!({"is_blur": false}),
        ),
        (
            "add title Foo to component 101 for client 6",
            json!({"props.title": "Foo"}),
        ),
    ] {
        let turn = say(&workspace, message);
        assert_eq!(turn["pending"]["tool"], "updateComponent", "{message}");
        assert_eq!(turn["pending"]["args"]["updates"], updates, "{message}");
    }
    let turn = say(&workspace, "remove title and logo from component 101");
    has(&turn, &["Left out, because it cannot be changed: logo."]);
    has(
        &say(&workspace, "remove premium from component 101"),
        &["Security group 'premium' is not on component 101"],
    );
    let turn = say(&workspace, "remove everything from component 101");
    has(
        &turn,
        &[
            "Understood:",
            "'everything' not found",
            "\"everything\" is no field of a component",
        ],
    );
    has(
        &say(&workspace, "remove the radius from component 101"),
        &["allowed: no-radius, small, medium, full"],
    );
    has(
        &say(&workspace, "remove all from component 101"),
        &["I couldn't identify which field"],
    );
    let turn = say(&workspace, "remove the title from my button component");
    assert_eq!(turn["pending"]["tool"], "updateComponent");
    let turn = say(
        &workspace,
        "add component 101 to the premium security group",
    );
    assert_eq!(turn["pending"]["tool"], "addSecurityGroup");
    assert_eq!(turn["pending"]["args"]["security_group_title"], "premium");
}

#[test]
fn a_description_that_nothing_fits_offers_no_other_component() {
    let workspace = seeded();
    for message in [
        "delete the Logout button component for client 6",
        "delete my buttons component Buy now for client 6",
        "change caption of the Logout button to Bye for client 6",
        "add premium security group to the Signup button component for client 6",
        "change title of the Imprint card to Us for client 6",
        "change the button caption Logout to Sign in for client 6",
    ] {
        let turn = say(&workspace, message);
        has(&turn, &["No components found matching", "show all"]);
        assert_eq!(turn["pending"]["tool"], "searchComponent", "{message}");
    }
    let turn = say(&workspace, "delete my old card for client 6");
    has(
        &turn,
        &["No components found matching 'old cards'", "show all"],
    );
    let turn = say(&workspace, "get the second card for client 6");
    has(&turn, &["I found one: Component 102"]);
    let turn = say(
        &workspace,
        "change title of my first card for client 6 to X",
    );
    assert_eq!(turn["pending"]["args"]["componentId"], "101");
    for message in [
        "add my About card to premium",
        "add my About card to the premium group, please",
    ] {
        let turn = say(&workspace, message);
        assert_eq!(turn["pending"]["tool"], "addSecurityGroup");
        assert_eq!(turn["pending"]["args"]["componentId"], "102");
        assert_eq!(turn["pending"]["args"]["security_group_title"], "premium");
    }
    let turn = say(
        &workspace,
        "change title of the About card to Us for client 6",
    );
    assert_eq!(turn["pending"]["args"]["componentId"], "102");
    let turn = say(&workspace, "delete the login component for client 6");
    assert_eq!(turn["pending"]["args"]["componentId"], "103");
}

#[test]
fn a_value_that_is_refused_is_not_replaced_by_another() {
    let workspace = seeded();
    for message in [
        "set button radius to huge, not full for client 6",
        "change button radius from small to 12px for client 6",
        "set button radius to 12px full for client 6",
        "set button radius to anything besides full for client 6",
        "set card radius to non full for client 6",
        "change button radius to small instead of full for client 6",
    ] {
        let turn = say(&workspace, message);
        has(&turn, &["cannot be", "no-radius, small, medium, full"]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
    }
    has(
        &say(&workspace, "set the page background to a nice gradient"),
        &["the Page Background to gradient"],
    );
    for (message, key, value) in [
        (
            "set title font to Arial, Helvetica, sans-serif for client 6",
            "title_font",
            "Arial, Helvetica, sans-serif",
        ),
        (
            "change title font to Hello and Goodbye",
            "title_font",
            "Hello and Goodbye",
        ),
    ] {
        let turn = say(&workspace, message);
        assert_eq!(turn["pending"]["args"]["designUpdates"][key], value);
    }
    let turn = say(&workspace, "set card background color to rgb(1, 2, 3)");
    has(&turn, &["cannot be \"rgb(1, 2, 3)\""]);
    has(
        &say(&workspace, "change button radius to the full one, please"),
        &["the Button Radius to full"],
    );
}

#[test]
fn every_change_in_a_message_is_offered_or_named() {
    let workspace = seeded();
    for (message, parts) in [
        (
            "set layout to banner and button style to solid for client 6",
            &["the Button Style to solid", "the Layout to banner"] as &[&str],
        ),
        (
            "card radius to full and layout to compact and button radius to full",
            &[
                "the Card Radius to full",
                "the Layout to compact",
                "the Button Radius to full",
            ],
        ),
        (
            "change button radius to full for client 6 and delete component 101",
            &[
                "the Button Radius to full",
                "Left out",
                "\"delete component 101\"",
            ],
        ),
        (
            "change background and card style to stroked",
            &[
                "the Card Style to stroked",
                "Left out",
                "\"change background\"",
            ],
        ),
        (
            "set layout to banner for client 6 and button style to solid for client 7",
            &["one client at a time"],
        ),
        (
            "set card radius to full and card radius to small for client 6",
            &["cannot be both \"full\" and \"small\""],
        ),
        (
            "update component 101 caption to B, subtitle to C for client 6",
            &["\"B\" and \"C\" are both to be the caption"],
        ),
    ] {
        has(&say(&workspace, message), parts);
    }
}

#[test]
fn parts_of_a_design_are_known_in_every_spelling() {
    let workspace = seeded();
    for key in [
        "social icon style",
        "social-icon-style",
        "social_icon_style",
        "socialIconStyle",
        "header_design.social-icon-style",
    ] {
        let turn = say(&workspace, &format!("change {key} to solid for client 6"));
        has(
            &turn,
            &["the Social Icon Style to solid. Should I proceed?"],
        );
    }
    for (message, label) in [
        (
            "change appearance image to 1 for client 6",
            "appearance image",
        ),
        (
            "change page filter to grayscale for client 6",
            "page filter",
        ),
        (
            "change color palette primary #112233 for client 6",
            "color palette",
        ),
    ] {
        let turn = say(&workspace, message);
        has(
            &turn,
            &[&format!(
                "The {label} is shown, but cannot be changed here."
            )],
        );
        assert_eq!(turn["pending"], Value::Null, "{message}");
    }
}

#[test]
fn a_component_named_behind_the_value_is_seen() {
    let workspace = seeded();
    for message in [
        "set title to Welcome on component 101 for client 6",
        "change the title to Welcome for component 101 of client 6",
        "client 6: change title to Welcome in component 101",
        "set title to Welcome for client 6 on component 101",
    ] {
        let turn = say(&workspace, message);
        let args =
            json!({"clientId": "6", "componentId": "101", "updates": {"props.title": "Welcome"}});
        assert_eq!(turn["pending"]["args"], args, "{message}");
    }
    for message in [
        "update component 101 title to We love client 7",
        "set title font to Lato client 7",
    ] {
        let turn = say(&workspace, message);
        has(&turn, &["which client you mean", "Nothing was changed"]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
    }
    let turn = say(&workspace, "list components");
    has(&turn, &["Components of client 6"]);
    let turn = say(&workspace, "set title font to Lato client 6");
    let updates = json!({"title_font": "Lato"});
    assert_eq!(turn["pending"]["args"]["designUpdates"], updates);
}

#[test]
fn an_answer_that_is_none_is_asked_for_again() {
    let workspace = seeded();
    has(
        &say(&workspace, "change component 101 for client 6"),
        &["What should I change?"],
    );
    has(
        &say(&workspace, "title"),
        &["What should the title of component 101 be?"],
    );
    for answer in ["what?", "the title", "yes"] {
        let turn = say(&workspace, answer);
        has(&turn, &["What should the title of component 101 be?"]);
        assert_eq!(turn["pending"], Value::Null, "{answer}");
    }
    for answer in ["New", "Get started", "Who?", "Order"] {
        let turn = say(&workspace, answer);
        let updates = json!({"props.title": answer});
        assert_eq!(turn["pending"]["args"]["updates"], updates, "{answer}");
        say(&workspace, "update component 101 title");
    }
    has(&say(&workspace, "cancel"), &["Cancelled"]);
    has(&say(&workspace, "cancel"), &["Nothing is waiting"]);
    say(&workspace, "delete component 103");
    let turn = say(&workspace, "help");
    has(
        &turn,
        &[
            "I can show and change",
            "Still waiting: delete component 103",
        ],
    );
    assert_eq!(turn["pending"]["tool"], "deleteComponent");
    for answer in ["yess", "what?", "hmm"] {
        let turn = say(&workspace, answer);
        has(&turn, &["I did not understand", "delete component 103"]);
        assert_eq!(turn["pending"]["tool"], "deleteComponent", "{answer}");
    }
    say(&workspace, "update title of my card component to X");
    has(&say(&workspace, "hmm"), &["Please select one"]);
    let turn = say(&workspace, "the second one, please");
    assert_eq!(turn["pending"]["args"]["componentId"], "102");
}

#[test]
fn colors_and_names_are_taken_as_answers_and_another_request_leads_out() {
    let workspace = seeded();
    for (message, answer, updates) in [
        (
            "change card text color for client 6",
            "#ff0000",
            json!({"card_text_color": "#ff0000"}),
        ),
        (
            "change card text color",
            "make it navy, please",
            json!({"card_text_color": "navy"}),
        ),
        ("change title font", "Lato", json!({"title_font": "Lato"})),
        (
            "change title font",
            "Playfair Display",
            json!({"title_font": "Playfair Display"}),
        ),
        (
            "change title font",
            "Arial, Helvetica",
            json!({"title_font": "Arial, Helvetica"}),
        ),
    ] {
        say(&workspace, message);
        let turn = say(&workspace, answer);
        let offered = &turn["pending"]["args"]["designUpdates"];
        assert_eq!(*offered, updates, "{answer}: {turn:#}");
    }
    say(&workspace, "change card text color");
    has(
        &say(&workspace, "change the logo"),
        &["I did not understand"],
    );
    say(&workspace, "change the font");
    has(&say(&workspace, "1"), &["What should the title font be?"]);
    has(
        &say(&workspace, "the title font"),
        &["What should the title font be?"],
    );
    has(
        &say(&workspace, "change the logo"),
        &["I did not understand"],
    );
    has(&say(&workspace, "cancel"), &["Nothing is waiting"]);
    say(&workspace, "change button radius and title font");
    has(
        &say(&workspace, "full"),
        &["What should the title font be?"],
    );
    let updates = json!({"button_radius": "full", "title_font": "Lato"});
    let turn = say(&workspace, "Lato");
    assert_eq!(turn["pending"]["args"]["designUpdates"], updates);
}

#[test]
fn words_of_a_value_name_no_other_client() {
    let workspace = seeded();
    say(&workspace, "list components for client 6");
    for title in [
        "Your client #7 choice",
        "The \"best\" client 7 ever had",
        "Our best client is 6 years old",
    ] {
        let message = format!("update component 101 title to {title}");
        let turn = say(&workspace, &message);
        let args =
            json!({"clientId": "6", "componentId": "101", "updates": {"props.title": title}});
        assert_eq!(turn["pending"]["args"], args, "{turn:#}");
    }
    for title in ["Welcome to client 7", "Your client #7", "client 7"] {
        let message = format!("update component 101 title to {title}");
        let turn = say(&workspace, &message);
        has(&turn, &["which client you mean", "Nothing was changed"]);
    }
    let turn = say(&workspace, "add a card with title Your client #7 choice");
    assert_eq!(turn["pending"]["args"]["clientId"], "6");
    has(
        &say(&workspace, "list components"),
        &["Components of client 6"],
    );
}

#[test]
fn help_says_first_what_can_be_done() {
    let workspace = seeded();
    let turn = say(&workspace, "Help!");
    let begins = reply(&turn).starts_with("I can show and change");
    assert!(begins, "{turn:#}");
    has(&say(&workspace, "hmm"), &["I did not understand that."]);
}

#[test]
fn what_is_asked_about_a_component_is_shown() {
    let workspace = seeded();
    let turn = say(
        &workspace,
        "what is the order of component 102 for client 6",
    );
    has(&turn, &["Component 102 (cards)", "order 2"]);
    assert_eq!(turn["pending"], Value::Null);
    let turn = say(&workspace, "schedule component 102 for May");
    has(
        &turn,
        &["schedule_enabled to \"true\"", "not understand \"May\""],
    );
    let turn = say(&workspace, "unblur component 102");
    assert_eq!(
        turn["pending"]["args"]["updates"],
        json!({"is_blur": false})
    );
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
fn what_became_of_what_waited_is_told() {
    let workspace = seeded();
    let change = "change button radius to full for client 6";
    let search = "find the component called zebra for client 6";
    let choice = "update title of my card component for client 6 to X";
    let rows = [
        (change, "yess", None),
        (change, "no", Some("cancelled")),
        (change, "yes", Some("confirmed")),
        (search, "ok", Some("confirmed")),
        (search, "list the components of client 7", Some("dropped")),
        (
            search,
            "show me all banner components for client 6",
            Some("dropped"),
        ),
        (choice, "9", None),
        (choice, "2", Some("chosen")),
        (choice, "about", Some("chosen")),
        (choice, "delete component 102", Some("dropped")),
        (choice, "update component 101 title to Y", Some("dropped")),
    ];
    for (at, (asked, answer, settled)) in rows.into_iter().enumerate() {
        let conversation = format!("c{at}");
        let first = say_in(&workspace, &conversation, asked);
        assert_ne!(first["pending"], Value::Null, "{first:#}");
        assert_eq!(first["settled"], Value::Null);
        let turn = say_in(&workspace, &conversation, answer);
        assert_eq!(turn["settled"], json!(settled), "{answer}: {turn:#}");
    }
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
fn what_is_gone_at_the_yes_is_said_and_nothing_is_written() {
    let workspace = seeded();
    say_in(
        &workspace,
        "one",
        "update component 103 caption to X for client 6",
    );
    say_in(&workspace, "two", "delete component 103 for client 6");
    say_in(&workspace, "two", "yes");
    let before = data(&workspace);
    has(
        &say_in(&workspace, "one", "yes"),
        &["not found for client 6", "Nothing was changed"],
    );
    assert_eq!(data(&workspace), before);
}

#[test]
fn a_yes_reaches_no_other_component_that_came_in_the_place_of_a_removed_one() {
    let workspace = seeded();
    say_in(
        &workspace,
        "a",
        "update component 103 title to Mine for client 6",
    );
    for message in ["delete component 103 for client 6", "yes"] {
        say_in(&workspace, "b", message);
    }
    for message in ["add a card titled Other for client 6", "yes"] {
        say_in(&workspace, "b", message);
    }
    let late = say_in(&workspace, "a", "yes");
    has(&late, &["Component with ID 103 not found for client 6"]);
    assert_eq!(component(&workspace, "6", "104")["props"]["title"], "Other");
}

#[test]
fn a_number_that_is_none_of_the_list_keeps_what_waits() {
    let workspace = seeded();
    say(
        &workspace,
        "update title of my card component for client 6 to X",
    );
    for number in ["-1", "1.5", "+7", "9"] {
        let turn = say(&workspace, number);
        has(&turn, &["Invalid selection"]);
        assert_eq!(turn["pending"]["kind"], "select", "{number}");
    }
    has(
        &say(&workspace, "2"),
        &["component 102", "should I proceed"],
    );
}

#[test]
fn a_colour_is_one_that_there_is() {
    let workspace = seeded();
    for (message, label) in [
        (
            "change link text color to banana for client 6",
            "link text color",
        ),
        (
            "update component 101 background to gradient for client 6",
            "backgroundColor",
        ),
    ] {
        let turn = say(&workspace, message);
        has(&turn, &[label, "a color such as #336699 or navy"]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
    }
    let turn = say(&workspace, "change link text color to navy for client 6");
    assert_eq!(turn["pending"]["kind"], "confirm");
}

#[test]
fn everything_that_is_set_of_a_component_is_shown() {
    let workspace = seeded();
    for message in [
        "update component 101 radius to full for client 6",
        "update component 101 layout to grid for client 6",
    ] {
        say(&workspace, message);
        say(&workspace, "yes");
    }
    has(
        &say(&workspace, "show component 101 for client 6"),
        &[
            "Component 101 (cards): ",
            "layout \"grid\"",
            "radius \"full\"",
            "title \"Home\"",
        ],
    );
}

#[test]
fn what_can_never_be_changed_is_refused_in_any_words() {
    let workspace = seeded();
    for (message, word) in [
        ("increase the padding of my page for client 6", "padding"),
        ("more hover effects, client 6", "hover"),
        ("bigger margins in my design for client 6", "margins"),
    ] {
        let turn = say(&workspace, message);
        assert_eq!(turn["agent"], "design", "{message}");
        has(
            &turn,
            &[&format!("I cannot change {word}. You can change:")],
        );
    }
}

#[test]
fn a_change_that_names_two_clients_is_for_none_of_them() {
    let workspace = seeded();
    for message in [
        "delete component 101 of client 7 for client 6",
        "secure component 101 for client 6 and client 7",
        "add premium security group to component 101 of client 6 for client 7",
        "add a banner with title Hello for clients 6, 7",
        "update component 101 title to Welcome for clients 6 and 7",
        "update component 101 title to Welcome for client 6 and client 7",
    ] {
        let turn = say(&workspace, message);
        has(&turn, &["one client at a time"]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
    }
    for (message, title) in [
        (
            "title to Welcome to client 7 for client 6",
            "Welcome to client 7",
        ),
        ("title to 'Hi client 7' for client 6", "Hi client 7"),
        ("title to Hi of client 6 for client 6", "Hi of client 6"),
    ] {
        let turn = say(&workspace, &format!("update component 101 {message}"));
        assert_eq!(turn["pending"]["args"]["updates"]["props.title"], title);
    }
}

#[test]
fn a_link_leads_to_an_address_without_blanks() {
    let workspace = seeded();
    for message in [
        "add a link with url https://example.org titled X for client 6",
        "update component 101 url to Contact page for client 6",
    ] {
        let turn = say(&workspace, message);
        has(&turn, &["url cannot be", "an address without blanks"]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
    }
    let turn = say(
        &workspace,
        "update component 101 url to /contact for client 6",
    );
    assert_eq!(
        turn["pending"]["args"]["updates"]["link_props.url"],
        "/contact"
    );
}

#[test]
fn a_description_in_quotes_ends_where_the_quotes_do() {
    let workspace = seeded();
    let message = "update my card component titled 'Home' set description to Hi for client 6";
    let turn = say(&workspace, message);
    has(&turn, &["component 101", "description to \"Hi\""]);
    assert_eq!(turn["pending"]["kind"], "confirm", "{turn}");
}

#[test]
fn a_pipe_without_a_message_is_an_error() {
    let workspace = seeded();
    for empty in ["", "\n  \n"] {
        let reply = workspace.json_with(&["chat"], empty);
        assert_eq!(reply["error"]["code"], "E_INPUT_INVALID", "{reply}");
        assert_eq!(
            reply["error"]["alternatives"][0]["command"],
            "cleo chat --help"
        );
    }
    assert_eq!(workspace.text("chat", "/quit\n").exit, 0);
}

#[test]
fn a_pipe_may_end_the_talk_as_a_person_does() {
    let workspace = seeded();
    let lines = "list components for client 6\n /quit\nlist components for client 7\n";
    let said = workspace.finish(workspace.command(&["chat"]), lines);
    assert_eq!((said.exit, said.stdout.lines().count()), (0, 1), "{said}");
}

#[test]
fn many_processes_that_say_yes_at_once_write_once() {
    let workspace = seeded();
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
fn lines_of_a_pipe_are_messages_and_a_faulty_one_stops_nothing() {
    let workspace = seeded();
    let input = "change button radius to full for client 6\n\nbad \u{7} line\nyes\n";
    let reply = workspace.text("chat", input);
    assert_eq!(reply.exit, 6, "{reply}");
    assert!(reply.stderr.contains("E_TEXT_CONTROL"), "{reply}");
    assert!(
        reply.stdout.contains("Design updated successfully"),
        "{reply}"
    );
    let lines = workspace.finish(
        workspace.command(&["chat"]),
        "list components for client 6\nhello\n",
    );
    let documents: Vec<Value> = lines
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[1]["result"]["agent"], "clarifier");
}

#[test]
fn faulty_messages_and_conversations_are_refused() {
    let workspace = seeded();
    workspace.refused(&["chat", "--message", "a\u{1b}[31m"], "E_TEXT_CONTROL");
    for name in ["", "a b", "../x", "ä", &"x".repeat(101)] {
        let words = ["chat", "--message", "hello", "--conversation", name];
        let error = workspace.refused(&words, "E_INPUT_INVALID");
        assert_eq!(error["alternatives"][0]["command"], "cleo chat --help");
    }
    let long = "x ".repeat((1 << 19) + 1);
    let reply = workspace.json_with(&["chat"], &long);
    assert_eq!(reply["error"]["code"], "E_INPUT_INVALID", "{reply}");
    let bare = TestWorkspace::bare();
    let reply = bare.json(&["chat", "--message", "hello"]);
    assert_eq!(reply["error"]["code"], "E_WORKSPACE_NOT_FOUND");
    let reply = bare.json(&["chat"]);
    assert_eq!(reply["error"]["code"], "E_WORKSPACE_NOT_FOUND");
}

#[test]
fn a_faulty_seed_is_refused_with_its_place_and_loads_nothing() {
    let workspace = seeded();
    let client = r#"{"client_id": 9, "client_type": "x"}"#;
    for (seed, said) in [
        ("{\"clients\": [\n  {\"client_id\": 9}\n]}", "line 2 column"),
        ("{\"clients\": [\n nonsense]}", "line 2 column"),
        (
            "{\"clients\": [\n {\"client_id\": 9",
            "cut off: the JSON ends in the middle, at line 2 column 16",
        ),
        (
            "{\"clients\": [\n {\"client_id\": \"9",
            "cut off: the JSON ends in the middle, at line 2 column",
        ),
        ("{\"tables\": []}", "unknown field `tables`"),
        ("[]", "line 1"),
        (
            "{\"clients\": [{\"client_id\": \"x\", \"client_type\": \"y\"}]}",
            "an id is 1 to 15 digits",
        ),
        (
            &format!("{{\"clients\": [{client}, {client}]}}"),
            "client 9 is there twice",
        ),
        (
            &format!(
                "{{\"clients\": [{client}], \"components\": [{{\"client_id\": 8, \"component_id\": 1, \"component_type\": \"cards\"}}]}}"
            ),
            "belongs to client 8, who is not there",
        ),
        (
            "{\"components\": [{\"client_id\": 6, \"component_id\": 1, \"component_type\": \"spaceship\"}]}",
            "unknown component_type `spaceship`",
        ),
        (
            "{\"components\": [{\"client_id\": 6, \"component_id\": 1, \"component_type\": \"cards\", \"is_blur\": 7}]}",
            "line 1 column",
        ),
        (
            "{\"security_groups\": [{\"client_id\": 6, \"security_group_id\": 9, \"security_group_title\": \"Premium\"}]}",
            "has the title of another",
        ),
        (
            "{\"component_security_groups\": [{\"client_id\": 6, \"component_id\": 101, \"security_group_id\": 9}]}",
            "no such security group",
        ),
        (
            "{\"answers\": [{\"client_id\": 6, \"question_id\": 1, \"chosen_options\": [\"loud\"]}]}",
            "`loud`, which cannot be chosen",
        ),
        (
            "{\"designs\": [{\"client_id\": 6, \"button_design\": {\"radius\": \"12px\"}}]}",
            "button radius cannot be `12px`; allowed: no-radius, small, medium, full",
        ),
        (
            "{\"components\": [{\"client_id\": 6, \"component_id\": 1, \"component_type\": \"cards\", \"manual_edits\": {\"properties\": {\"style\": \"odd\"}}}]}",
            "style cannot be `odd`",
        ),
        (
            "{\"questions\": [{\"question_id\": 9, \"question_text\": \"q\", \"options\": [], \"client_type\": \"other\"}], \"answers\": [{\"client_id\": 6, \"question_id\": 9, \"chosen_options\": [\"x\"]}]}",
            "clients of another type than `other` are not asked it",
        ),
        (
            "{\"designs\": [{\"client_id\": 6, \"banner_library_id\": 5}]}",
            "names media 5, which is not there",
        ),
        (
            "{\"components\": [{\"client_id\": 6, \"component_id\": 1, \"component_type\": \"cards\", \"props\": {\"title\": \"\\u001b[2J\"}}]}",
            "components[0].props.title",
        ),
        (
            "{\"clients\": [{\"client_id\": 9, \"client_type\": \"\\u009bx\"}]}",
            "control character",
        ),
        (
            "{\"components\": [{\"client_id\": 6, \"component_id\": 1, \"component_type\": \"cards\", \"props\": {\"title\": \"a\",\n\"title\": \"b\"}}]}",
            "`title` is there twice at line 2",
        ),
    ] {
        workspace.write("bad.json", seed);
        let before = data(&workspace);
        let reply = workspace.json(&["chat", "seed", "bad.json"]);
        assert_eq!(reply["error"]["code"], "E_INPUT_INVALID", "{seed}: {reply}");
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains(said), "{seed}: {message}");
        assert!(message.starts_with("bad.json"), "{seed}: {message}");
        assert_eq!(data(&workspace), before, "{seed}");
    }
    let again = workspace.json(&["chat", "seed", "seed.json"]);
    assert_eq!(again["result"]["components"], 5);
}

/// What people may say, with clients and components put in.
const PHRASES: &[&str] = &[
    "show me my design",
    "change button radius to full",
    "set card style to solid",
    "change the background to gradient",
    "update component {id} title to Changed",
    "delete component {id}",
    "show component {id}",
    "list components",
    "add premium security group to component {id}",
    "add members security group to component {id}",
    "update title of my card component to X",
    "delete my button component",
    "add a banner with title New",
    "add a component",
    "update my footer component",
    "1",
    "2",
    "9",
    "{id}",
    "Home",
    "Storefront",
    "no",
    "title to Changed",
    "banner",
    "hello",
    "client",
    "full",
    "premium",
    "design recommendations",
];

/// Says something and returns the whole answer as text.
fn turn(workspace: &TestWorkspace, message: &str) -> String {
    workspace.json(&["chat", "--message", message]).to_string()
}

fn phrases() -> impl Strategy<Value = Vec<String>> {
    let phrase = prop_oneof![
        8 => (0..PHRASES.len(), prop::sample::select(vec!["101", "103", "201"]))
            .prop_map(|(at, id)| PHRASES[at].replace("{id}", id)),
        1 => "[ -~]{0,30}".prop_map(|text| format!("x{text}")),
        1 => "\\PC{1,20}".prop_map(|text| format!("x{text}")),
    ];
    prop::collection::vec(phrase, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn nothing_changes_without_a_yes(phrases in phrases()) {
        let workspace = seeded();
        let before = data(&workspace);
        for phrase in phrases {
            turn(&workspace, &format!("{phrase} for client 6"));
            turn(&workspace, &phrase);
        }
        prop_assert_eq!(data(&workspace), before);
    }

    #[test]
    fn talk_about_one_client_neither_changes_nor_shows_another(phrases in phrases()) {
        let workspace = seeded();
        let others = |rows: Vec<String>| -> Vec<String> {
            rows.into_iter().filter(|row| row.contains("Text(\"7\")")).collect()
        };
        let before = others(data(&workspace));
        prop_assert!(!before.is_empty());
        for phrase in phrases {
            for message in [format!("{phrase} for client 6"), "yes".to_string()] {
                let answer = turn(&workspace, &message);
                // What the message says itself comes back, and is no secret.
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
