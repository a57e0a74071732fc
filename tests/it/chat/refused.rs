//! Refusals: invalid values, unknown components and clients, invalid seeds.

use serde_json::{Value, json};

use super::{component, data, has, rows, say, seed, talk};

/// Sentences that must not be misread: a word is left over, a value is impossible, a text has no clear end. Each
/// with a part of its reply, and the tool that waits for a yes if one does: only to show all components.
#[test]
fn sentences_of_table_are_refused_or_asked_about() {
    let workspace = seed();
    let before = data(&workspace);
    let rows = rows(include_str!("refused.jsonl"));
    let said = rows.iter().map(|row| row["say"].as_str().unwrap());
    let said: Vec<&str> = said.flat_map(|say| ["client 6", say, "yes"]).collect();
    let turns = talk(&workspace, "default", &said);
    for (row, turn) in rows.iter().zip(turns.iter().skip(1).step_by(3)) {
        has(turn, &[row["reply"].as_str().unwrap()]);
        // A question for what is missing waits for no yes.
        let pending = Some(&turn["pending"]).filter(|it| it["kind"] == "confirm");
        let waits = pending.map_or(&Value::Null, |it| &it["tool"]);
        assert_eq!(waits, &row["waits"], "{row}: {turn:#}");
    }
    assert_eq!(data(&workspace), before);
    let turn = say(
        &workspace,
        "change button radius to full and card style to stroked for client 6",
    );
    has(
        &turn,
        &["the Button Radius to full and the Card Style to stroked"],
    );
}

/// Titles of cards and names of groups that are words of a request as well.
const UNUSUAL: &str = "Last|Other|New|No|Both|Second|All|The|My|Current|Secured|Inc|Inc.|Welcome|Welcome...|Ann|Ann's|2";

const AMBIGUOUS: &str = "\
delete the last card
delete the other cards
delete my new card
delete no card
delete the both cards
delete the second card
delete the 2 card
delete the secured card
delete the card called Inc.
delete the card called Welcome...
delete the card called Ann's
delete the Last card called Second
change the title of the current card to Welcome
change our current card's title to Welcome
blur the last card
add my security group to component 1
add no security group to component 1
add the new group to component 1
put component 1 in the other group
remove both from component 1
change the title from Last to \"Second\" and delete the Other card
change the title of the card called New from Last to Welcome";

#[test]
fn words_that_count_are_no_titles_and_no_groups() {
    let workspace = seed();
    let all = UNUSUAL.split('|').zip(1..);
    let card = |(title, id): (&str, u32)| json!({"component_id": id, "client_id": "8", "component_type": "cards", "props": {"title": title}});
    let group = |(title, id): (&str, u32)| json!({"security_group_id": id, "client_id": "8", "security_group_title": title});
    let seed = json!({
        "clients": [{"client_id": "8", "client_type": "creator"}],
        "components": all.clone().map(card).collect::<Vec<_>>(),
        "security_groups": all.map(group).collect::<Vec<_>>(),
    });
    workspace.write("unusual.json", seed.to_string());
    workspace.ok("chat seed unusual.json");
    say(&workspace, "client 8");
    let messages: Vec<&str> = AMBIGUOUS.lines().collect();
    for turn in talk(&workspace, "default", &messages) {
        let pending = &turn["pending"]["tool"];
        let waits = pending.as_str().unwrap_or("searchComponent");
        assert_eq!(waits, "searchComponent", "{turn:#}");
    }
    let turn = say(&workspace, "delete the card called Last");
    assert_eq!(turn["pending"]["args"]["componentId"], "1");
    say(&workspace, "change the title of my card to \"First\"");
    let unclear = "the last one|the second one|the other card|no card|both|2";
    let answers: Vec<&str> = unclear.split('|').collect();
    for turn in talk(&workspace, "default", &answers) {
        has(&turn, &["Invalid selection"]);
        assert_eq!(turn["pending"]["kind"], "select", "{turn:#}");
    }
    let turn = say(&workspace, "the card called Last");
    assert_eq!(turn["pending"]["args"]["componentId"], "1");
}

#[test]
fn what_is_not_there_is_not_found() {
    let workspace = seed();
    for message in [
        "list components for client 99",
        "delete my card component for client 99",
        "add a banner with title Hello for client 99",
    ] {
        let turn = say(&workspace, message);
        has(&turn, &["Client 99 not found"]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
    }
    for message in [
        "delete the Logout button for client 6",
        "delete my card with title Imprint for client 6",
        "update my footer component for client 6",
    ] {
        let turn = say(&workspace, message);
        has(&turn, &["No components found matching", "show all"]);
        assert_eq!(turn["pending"]["tool"], "searchComponent", "{message}");
    }
    let turn = say(&workspace, "delete the login button for client 6");
    assert_eq!(turn["pending"]["args"]["componentId"], "103");
    has(&turn, &["I found one: Component 103"]);
}

#[test]
fn everything_that_is_set_of_component_is_shown() {
    let workspace = seed();
    let turns = talk(
        &workspace,
        "default",
        &[
            "update component 101 radius to full and layout to compact for client 6",
            "yes",
            "what is the order of component 101",
            "blur component 102",
            "yes",
            "list blurred components",
        ],
    );
    let shown = ["Component 101 (cards): ", "layout \"compact\"", "order 1"];
    has(&turns[2], &shown);
    has(&turns[2], &["radius \"full\""]);
    assert_eq!(component(&workspace, "6", "102")["is_blur"], json!(true));
    has(&turns[5], &["I found one: Component 102"]);
}

#[test]
fn faulty_seed_is_refused_with_its_place_and_loads_nothing() {
    let workspace = seed();
    for row in rows(include_str!("seeds.jsonl")) {
        let (seed, said) = (row["seed"].as_str().unwrap(), row["said"].as_str().unwrap());
        workspace.write("bad.json", seed);
        let before = data(&workspace);
        let reply = workspace.fails("chat seed bad.json", "E_INPUT_INVALID");
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains(said), "{seed}: {message}");
        assert!(message.starts_with("bad.json"), "{seed}: {message}");
        assert_eq!(data(&workspace), before, "{seed}");
    }
    let again = workspace.ask("chat seed seed.json");
    assert_eq!(again["result"]["components"], 5);
}
