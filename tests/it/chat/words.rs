//! What words of a message mean beside the scenarios: answers as they stand, lists by status, effects,
//! and what of a message is left out.

use serde_json::{Value, json};

use super::{component, data, design, has, reply, say, say_in, seeded};

#[test]
fn politeness_behind_the_client_is_not_written() {
    let workspace = seeded();
    for (message, title) in [
        (
            "update component 101 title to Welcome for client 6.",
            "Welcome",
        ),
        (
            "update component 101 title to \"Hi\" for client 6, please",
            "Hi",
        ),
        (
            "update component 101 title to Ready? for client 6!",
            "Ready?",
        ),
    ] {
        say(&workspace, message);
        say(&workspace, "yes");
        assert_eq!(component(&workspace, "6", "101")["props"]["title"], title);
    }
    let turn = say(
        &workspace,
        "Can you change the button radius to full (client 6)?",
    );
    let updates = json!({"button_radius": "full"});
    assert_eq!(turn["pending"]["args"]["designUpdates"], updates);
    let turn = say(&workspace, "add a banner with title Hello for client 6.");
    assert_eq!(
        turn["pending"]["args"]["updates"]["props"]["title"],
        "Hello"
    );
    has(
        &say(
            &workspace,
            "change my button component with caption Login for client 6.",
        ),
        &["I found one: Component 103"],
    );
}

#[test]
fn the_answer_to_a_question_for_a_text_is_the_text() {
    let workspace = seeded();
    let title = "update component 102 title for client 6";
    for (answer, expected) in [
        ("Welcome to our shop", "Welcome to our shop"),
        ("Add to cart", "Add to cart"),
        ("Sign in = Log in", "Sign in = Log in"),
        ("Our new link", "Our new link"),
        ("New title", "New title"),
        ("Header", "Header"),
        ("Card 5 to go", "Card 5 to go"),
        ("\"Back to school\"", "Back to school"),
        ("the title is Back to school", "Back to school"),
        ("the new title is \"Hi there\"", "Hi there"),
        ("new title: Hi", "Hi"),
        ("set title to Back to school", "Back to school"),
        ("change the title to Back to school", "Back to school"),
        ("Please set it to Shop", "Shop"),
        ("to Back to school", "Back to school"),
        ("Hi for client 6", "Hi"),
        ("Fans of client 7", "Fans of client 7"),
    ] {
        has(
            &say(&workspace, title),
            &["What should the title of component 102 be?"],
        );
        let turn = say(&workspace, answer);
        let args = json!({
            "clientId": "6", "componentId": "102", "updates": {"props.title": expected},
        });
        assert_eq!(turn["pending"]["args"], args, "{answer}: {turn:#}");
        say(&workspace, "no");
    }
    say(&workspace, "change title font for client 6");
    let turn = say(&workspace, "Link to the Past");
    let updates = json!({"title_font": "Link to the Past"});
    assert_eq!(turn["pending"]["args"]["designUpdates"], updates);
    say(&workspace, "no");
    say(&workspace, "change title font for client 6");
    let turn = say(&workspace, "Arial for client 6");
    let updates = json!({"title_font": "Arial"});
    assert_eq!(turn["pending"]["args"]["designUpdates"], updates);
}

#[test]
fn an_empty_text_is_no_answer() {
    let workspace = seeded();
    for answer in ["title =", "\"\""] {
        say(&workspace, "update title of component 101 for client 6");
        has(
            &say(&workspace, answer),
            &["What should the title of component 101 be?"],
        );
    }
}

#[test]
fn a_request_instead_of_an_answer_becomes_no_text() {
    let workspace = seeded();
    for answer in [
        "caption to X",
        "set caption to X",
        "wait, change the caption to X",
        "delete the login button",
        "add a banner with title Hello",
        "add a banner",
        "show my cards",
        "list cards",
        "can you list my components?",
        "could you show me my design",
        "I want to delete component 103",
        "I meant component 101",
        "add premium security group to my card",
    ] {
        say(&workspace, "update component 102 title for client 6");
        let turn = say(&workspace, answer);
        let title = &turn["pending"]["args"]["updates"]["props.title"];
        assert_eq!(title, &Value::Null, "{answer}: {turn:#}");
        say(&workspace, "no");
    }
    for (asked, answer) in [
        ("title", "title to A and caption to B"),
        ("title and caption", "title to A and caption to B"),
    ] {
        say(
            &workspace,
            &format!("update component 102 {asked} for client 6"),
        );
        let turn = say(&workspace, answer);
        let updates = json!({"props.title": "A", "props.caption": "B"});
        assert_eq!(turn["pending"]["args"]["updates"], updates, "{turn:#}");
        say(&workspace, "no");
    }
}

#[test]
fn an_answer_that_may_be_a_title_or_another_field_is_asked_again() {
    let workspace = seeded();
    for answer in ["Link to the Past", "Text to speech", "Content is king"] {
        say(&workspace, "update component 102 title for client 6");
        let turn = say(&workspace, answer);
        assert_eq!(turn["pending"], Value::Null, "{answer}: {turn:#}");
        has(&turn, &["if it is, put it in quotes"]);
        let turn = say(&workspace, &format!("\"{answer}\""));
        assert_eq!(turn["pending"]["args"]["updates"]["props.title"], answer);
        say(&workspace, "no");
    }
}

#[test]
fn an_answer_that_goes_on_behind_its_quotes_is_asked_again() {
    let workspace = seeded();
    let asked = "update component 101 title for client 6";
    for answer in [
        "set it to \"About us\", and blur it",
        "\"About us\", blur it",
        "\"About us\" and \"them\"",
    ] {
        say(&workspace, asked);
        let turn = say(&workspace, answer);
        assert_eq!(turn["pending"], Value::Null, "{answer}: {turn:#}");
        has(&turn, &["if it is, put it in quotes"]);
    }
    let within = "'\"Home\" page'";
    let whole = format!("update component 101 title to {within} for client 6");
    for turns in [
        &[asked, within][..],
        &[&whole],
        &[asked, "\"About us\" please"],
    ] {
        let turn = turns.iter().map(|message| say(&workspace, message)).last();
        let title = &turn.unwrap()["pending"]["args"]["updates"]["props.title"];
        assert!(title == "\"Home\" page" || title == "About us", "{title}");
        say(&workspace, "no");
    }
}

#[test]
fn answers_are_taken_with_little_words_around_them() {
    let workspace = seeded();
    let component = |turns: &[&str]| {
        let mut turn = Value::Null;
        for message in turns {
            turn = say(&workspace, message);
        }
        let args = turn["pending"]["args"].clone();
        say(&workspace, "no");
        args
    };
    for answer in ["the About card", "the second card", "About please"] {
        let args = component(&["delete my card for client 6", answer]);
        assert_eq!(args["componentId"], "102", "{answer}");
    }
    let args = component(&["delete a component for client 6", "component 103"]);
    assert_eq!(args["componentId"], "103");
    let asked = "add a security group to component 101 for client 6";
    let args = component(&[asked, "the premium one, please"]);
    assert_eq!(args["security_group_title"], "premium");
    let turn = say(&workspace, "update component 101 for client 6");
    has(&turn, &["What should I change?"]);
    has(
        &say(&workspace, "only the title, please"),
        &["What should the title of component 101 be?"],
    );
    say(&workspace, "no");
    let both = "change button radius and card style for client 6";
    let args = component(&[both, "stroked", "full"]);
    let updates = json!({"button_radius": "full", "card_style": "stroked"});
    assert_eq!(args["designUpdates"], updates);
}

#[test]
fn the_color_of_one_card_is_no_color_of_all() {
    let workspace = seeded();
    for message in [
        "set background of the Home card to red for client 6",
        "set background of my card with title Home to red for client 6",
        "set background of the first card to red for client 6",
        "set background of my login card to red for client 6",
    ] {
        let turn = say(&workspace, message);
        assert_ne!(turn["agent"], "design", "{message}: {turn:#}");
        assert_ne!(turn["pending"]["tool"], "updateDesign", "{message}");
    }
}

#[test]
fn another_request_ends_a_question_and_says_so() {
    let workspace = seeded();
    for (request, said) in [
        ("delete component 101", "delete component 101"),
        ("list components", "Components of client 6"),
        ("show me my design", "The design of client 6"),
    ] {
        say(&workspace, "update component 102 title for client 6");
        has(
            &say(&workspace, request),
            &[
                "I no longer wait for an answer about \"update component 102 title",
                said,
            ],
        );
    }
    say(&workspace, "update component 102 title for client 6");
    has(
        &say(&workspace, "client 7"),
        &["What should the title of component 102 be?"],
    );
}

#[test]
fn fields_that_lack_their_values_are_asked_for_one_after_the_other() {
    let workspace = seeded();
    say(
        &workspace,
        "update component 101 title and caption for client 6",
    );
    has(
        &say(&workspace, "Back to A"),
        &["What should the title of component 101 be?"],
    );
    let turn = say(&workspace, "B");
    let updates = json!({"props.caption": "Back to A", "props.title": "B"});
    assert_eq!(turn["pending"]["args"]["updates"], updates, "{turn:#}");
}

#[test]
fn options_that_were_offered_are_taken_as_answers() {
    let workspace = seeded();
    say(&workspace, "change the background for client 6");
    say(&workspace, "1");
    has(
        &say(&workspace, "gradient"),
        &["the Desktop Background to gradient. Should I proceed?"],
    );
    say(&workspace, "yes");
    let desktop = json!({"type": "gradient"});
    assert_eq!(design(&workspace, "6")["desktop_background"], desktop);
    for answer in ["banner", "3", "the banner one, please"] {
        say(&workspace, "change layout");
        has(
            &say(&workspace, answer),
            &["the Layout to banner. Should I proceed?"],
        );
        say(&workspace, "no");
    }
    say(&workspace, "change layout");
    say(&workspace, "huge");
    has(&say(&workspace, "compact"), &["the Layout to compact"]);
}

#[test]
fn each_part_of_a_design_gets_its_own_option() {
    let workspace = seeded();
    for (message, updates) in [
        (
            "set button radius full card radius medium for client 6",
            json!({"button_radius": "full", "card_radius": "medium"}),
        ),
        (
            "card style solid button style soft-shadow for client 6",
            json!({"button_style": "soft-shadow", "card_style": "solid"}),
        ),
        (
            "set button style solid radius full for client 6",
            json!({"button_style": "solid", "button_radius": "full"}),
        ),
        (
            "set desktop background gradient to sunset for client 6",
            json!({"desktop_background_gradient": "sunset"}),
        ),
        (
            "set desktop_background.gradient_type to radial for client 6",
            json!({"desktop_background_gradient": "radial"}),
        ),
        (
            "change button style solid not stroked for client 6",
            json!({"button_style": "solid"}),
        ),
        (
            "change button radius full rather than medium for client 6",
            json!({"button_radius": "full"}),
        ),
    ] {
        let turn = say(&workspace, message);
        assert_eq!(
            turn["pending"]["args"]["designUpdates"], updates,
            "{turn:#}"
        );
    }
    for message in [
        "set full card button radius medium for client 6",
        "set button and card radius full medium for client 6",
    ] {
        let turn = say(&workspace, message);
        has(&turn, &["I cannot tell whether the", "full or medium"]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
    }
}

#[test]
fn lists_are_restricted_by_a_status() {
    let workspace = seeded();
    for message in [
        "secure component 101 for client 6",
        "yes",
        "blur component 102",
        "yes",
    ] {
        say(&workspace, message);
    }
    for (message, ids) in [
        ("list secured components", &["101"] as &[&str]),
        ("list components that are not secured", &["102", "103"]),
        ("which cards are blurred?", &["102"]),
        ("list unblurred components", &["101", "103"]),
    ] {
        let turn = say(&workspace, message);
        let found = turn["toolCalls"][0]["result"]["components"]
            .as_array()
            .unwrap();
        let found: Vec<&str> = found
            .iter()
            .map(|one| one["componentId"].as_str().unwrap())
            .collect();
        assert_eq!(found, ids, "{message}: {turn:#}");
    }
    has(
        &say(&workspace, "list components that are not secured"),
        &["Components of client 6 that are unsecured:"],
    );
    has(
        &say(&workspace, "list scheduled cards"),
        &["No components found matching 'scheduled cards'"],
    );
    has(
        &say(&workspace, "list secured or blurred components"),
        &["Component 103", "I did not understand \"secured blurred\""],
    );
}

#[test]
fn effects_and_broken_keys_become_no_other_write() {
    let workspace = seeded();
    let before = data(&workspace);
    for (message, said) in [
        (
            "add hover animation to buttons for client 6",
            "You can change:",
        ),
        ("add a shadow to my cards for client 6", "You can change:"),
        (
            "update component 101 title'; DROP TABLE components;-- to X for client 6",
            "is no field",
        ),
        (
            "change button_radius'; DROP TABLE designs;-- to full for client 6",
            "is no field",
        ),
    ] {
        let turn = say(&workspace, message);
        has(&turn, &[said]);
        assert_eq!(turn["pending"], Value::Null, "{message}");
        say(&workspace, "yes");
    }
    assert_eq!(data(&workspace), before);
}

#[test]
fn a_second_order_is_left_out_aloud() {
    let workspace = seeded();
    let turn = say(
        &workspace,
        "delete component 101 and change button radius to full for client 6",
    );
    assert_eq!(turn["pending"]["tool"], "deleteComponent");
    has(&turn, &["Left out: \"change button radius to full"]);
    has(
        &say(&workspace, "add two banners"),
        &["I add one component at a time."],
    );
}

#[test]
fn a_number_in_the_value_of_something_new_is_no_id() {
    let workspace = seeded();
    say(
        &workspace,
        "add a card with title See component 500 for client 6",
    );
    say(&workspace, "yes");
    let made = component(&workspace, "6", "104");
    assert_eq!(made["props"]["title"], "See component 500");
}

#[test]
fn what_waited_too_long_is_said_whatever_comes_then() {
    for (asked, answer, said) in [
        (
            "update title of my card component for client 6 to X",
            "2",
            "was dropped: change a component of client 6",
        ),
        (
            "change button radius to full",
            "client 6",
            "was dropped: \"change button radius to full\"",
        ),
        (
            "change button radius for client 6",
            "yes",
            "waited too long",
        ),
    ] {
        let workspace = seeded().env("CLEO_NOW", "2026-01-26T09:00:00Z");
        say(&workspace, asked);
        let later = workspace.env("CLEO_NOW", "2026-01-26T09:15:00Z");
        let turn = say(&later, answer);
        has(&turn, &[said]);
        let again = say(&later, answer);
        assert!(!reply(&again).contains("waited too long"), "{again:#}");
    }
}

#[test]
fn a_message_without_words_names_no_client() {
    let workspace = seeded();
    say(&workspace, "change button radius to full for client 6");
    for message in ["👍", "..."] {
        let turn = say(&workspace, message);
        has(&turn, &["I did not understand", "Still waiting"]);
        assert_eq!(turn["pending"]["kind"], "confirm", "{message}");
    }
    say(&workspace, "no");
    has(&say(&workspace, "..."), &["I did not understand that."]);
    has(
        &say_in(&workspace, "b", "client 7."),
        &["This is about client 7 now."],
    );
}
