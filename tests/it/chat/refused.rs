//! What is refused: values that are none, components and clients that are not there, faulty seeds.

use serde_json::{Value, json};

use super::{component, data, has, say, seeded};

const NEVER_MISREAD: &str = "\
do not delete component 103
delete component 103 and 104
rename the Login button to Sign in
the Home card should say Welcome instead
make the buttons rounder
set the title of component 101 to 'Yes' and then show my design
what would happen if I deleted component 101?
set title of component 101 to Hello for client 6 or client 7
set title of component 101 to Hello delete 103
update component 101 title to Welcome for client 6 and notify Bob
add a card with title News below Home
set the title of component 101 to Hello no wait Welcome
set the title of component 101 to Hello making it bold
set the title of component 101 to Hello maybe
set the title of component 101 to Hello 102
add a button with caption Save beneath Login
set button and card radius to medium
set the title and subtitle font to Lato
delete my cards
update title of my cards to Hello
add premium security group to my cards
set title font to \"x; background:url(https://e.example)\"
delete from component 103";

#[test]
fn what_is_never_to_be_misread_is_refused_or_asked() {
    let workspace = seeded();
    let before = data(&workspace);
    say(&workspace, "client 6");
    for message in NEVER_MISREAD.lines() {
        let turn = say(&workspace, message);
        assert_eq!(turn["pending"], Value::Null, "{message}: {turn:#}");
        say(&workspace, "yes");
        say(&workspace, "cancel");
    }
    assert_eq!(data(&workspace), before);
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
    let workspace = seeded();
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
    for message in AMBIGUOUS.lines() {
        let turn = say(&workspace, message);
        let tool = turn["pending"]["tool"]
            .as_str()
            .unwrap_or("searchComponent");
        assert_eq!(tool, "searchComponent", "{message}: {turn:#}");
    }
    let turn = say(&workspace, "delete the card called Last");
    assert_eq!(turn["pending"]["args"]["componentId"], "1");
    say(&workspace, "change the title of my card to \"First\"");
    for answer in [
        "the last one",
        "the second one",
        "the other card",
        "no card",
        "both",
        "2",
    ] {
        let turn = say(&workspace, answer);
        has(&turn, &["Invalid selection"]);
        assert_eq!(turn["pending"]["kind"], "select", "{answer}");
    }
    let turn = say(&workspace, "the card called Last");
    assert_eq!(turn["pending"]["args"]["componentId"], "1");
}

#[test]
fn quotes_without_an_end_are_refused() {
    let workspace = seeded();
    say(&workspace, "client 6");
    for message in [
        "set the title of component 101 to 'Ann's and the description to 'Bob's'",
        "set the title of component 101 to \"Welcome",
        "set the title of component 101 to ‘Welcome",
    ] {
        let turn = say(&workspace, message);
        has(&turn, &["Put texts in double quotes"]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
    }
}

/// A change, and what the refusal says.
const WRONG_VALUES: &str = "\
set button style to hard-shadow > solid, stroked, soft-shadow
change layout to grid > classic, compact, banner, imaged
change link text color to #12 > a color such as #336699 or navy
change link text color to banana > a color such as #336699 or navy
update component 101 background to gradient > a color such as #336699 or navy
update component 101 url to Contact page > one address
update component 101 url to “javascript:alert(1)” > http, https, mailto, tel, www.
update component 101 title to “\u{202e}evil” > a line of text
update component 101 title to “\u{200b}” > a line of text
update component 101 title to Welcome, notify Bob > Put texts in double quotes
update component 101 title to Welcome caption to Bye > update component 101 title to
update component 101 title to Hello no wait Welcome > update component 101 title to \"Hello no wait Welcome\" for client 6
add a card with title News below Home > Please specify the title. Texts are in quotes
put component 103 first > I did not understand that
remove the border from component 101 > not found for client 6
update component 101 component_type to banner > protected
update component 101 component_type to banner and title to New > protected
update component 101 clientId to 7 > protected
change hover to blue > I did not understand that
change page filter to grayscale > I did not understand that
change button radius to 12px and card style to solid > no-radius, small, medium, full";

#[test]
fn an_impossible_value_is_refused_with_the_allowed_ones() {
    let workspace = seeded();
    let before = data(&workspace);
    say(&workspace, "client 6");
    for line in WRONG_VALUES.lines() {
        let (message, said) = line.split_once(" > ").unwrap();
        let turn = say(&workspace, message);
        has(&turn, &[said]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
        say(&workspace, "yes");
    }
    assert_eq!(data(&workspace), before);
    let turn = say(
        &workspace,
        "change button radius to full and card style to stroked",
    );
    has(
        &turn,
        &["the Button Radius to full and the Card Style to stroked"],
    );
}

#[test]
fn what_is_not_there_is_not_found() {
    let workspace = seeded();
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
fn everything_that_is_set_of_a_component_is_shown() {
    let workspace = seeded();
    for message in [
        "update component 101 radius to full and layout to compact for client 6",
        "yes",
    ] {
        say(&workspace, message);
    }
    let turn = say(
        &workspace,
        "what is the order of component 101 for client 6",
    );
    has(
        &turn,
        &[
            "Component 101 (cards): ",
            "layout \"compact\"",
            "radius \"full\"",
            "order 1",
        ],
    );
    say(&workspace, "blur component 102");
    say(&workspace, "yes");
    assert_eq!(component(&workspace, "6", "102")["is_blur"], json!(true));
    let turn = say(&workspace, "list blurred components");
    has(&turn, &["I found one: Component 102"]);
}

#[test]
fn a_faulty_seed_is_refused_with_its_place_and_loads_nothing() {
    let workspace = seeded();
    for line in include_str!("seeds.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (seed, said) = (row["seed"].as_str().unwrap(), row["said"].as_str().unwrap());
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
