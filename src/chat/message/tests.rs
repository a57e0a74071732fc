use super::*;

#[test]
fn a_client_is_found_in_every_spelling() {
    for (text, expected) in [
        ("client 6", Some("6")),
        ("client6", Some("6")),
        ("Client 6", Some("6")),
        ("CLIENTID 6", Some("6")),
        ("clientId: 6", Some("6")),
        ("clientId=6", Some("6")),
        ("client_id=6", Some("6")),
        ("client_id = 6", Some("6")),
        ("client-id 6", Some("6")),
        ("client #6", Some("6")),
        ("client: #6", Some("6")),
        ("my clientId is 6", Some("6")),
        ("client Id is 6", Some("6")),
        ("client id is: 6", Some("6")),
        ("my client's id is 6", Some("6")),
        ("client number 6", Some("6")),
        ("client is 6.", Some("6")),
        ("show me my design for client 6, please", Some("6")),
        ("client 006", Some("6")),
        ("client 0", Some("0")),
        ("client 6 and then client 7", Some("7")),
        ("set it to 'client 7' for client 6", Some("6")),
        ("set it to \"client 7\"", None),
        ("client", None),
        ("client six", None),
        ("clients are 6px wide", None),
        ("clientele 6", None),
        ("myclient 6", None),
        ("component 6", None),
        ("client 6a", None),
        ("client-6", Some("6")),
        ("client_id-6", Some("6")),
        ("client 6...", Some("6")),
        ("client 999999999999999", Some("999999999999999")),
        ("client 0000000000000000006", Some("6")),
        ("client 9999999999999999", None),
        ("client 99999999999999999999999", None),
        ("client -6", None),
        ("client=-6", None),
        ("client 6.1", None),
        ("client 6-7", None),
        ("client -6 and then client 7", Some("7")),
        ("update component 101 title to We love client 7", Some("7")),
        ("update component 101 title: client 7", None),
        ("update component 101 title to A client 7 is here", None),
        ("change link text color to #00ff00 client 6", Some("6")),
        ("set title font to Lato client 6, please", Some("6")),
        (
            "update component 102 title to Welcome clientId 6",
            Some("6"),
        ),
        ("change component 102 title to \"Hi\" client 6", Some("6")),
        ("find component with title Home client 6", Some("6")),
        ("show component with caption Login clientId=6", Some("6")),
        (
            "add a banner with title Hello clientId: 6 and url x",
            Some("6"),
        ),
        ("add a banner with title Hello to client 6", Some("6")),
        ("rename component 101 to Hi client 6\u{2} x", Some("6")),
        (
            "client 6: update component 101 title to We love client 7",
            Some("6"),
        ),
        ("add a card titled Made for client 7 with love", None),
        ("add a card titled Fans of client 7's shop", None),
        (
            "change the caption to Hi for client 6 and the title to X",
            Some("6"),
        ),
        ("set title to Hi for client 6 on component 101", Some("6")),
        ("change component 101 title to Hi, client 6", Some("6")),
        ("add title Hi to component 101 client 6", Some("6")),
        ("change button radius to full client 6", Some("6")),
        ("rename component 101 to Hi\u{2} client 6", Some("6")),
        (
            "update component 101 title for client 6\u{2} We love client 7",
            Some("6"),
        ),
        ("update component 101 title to Your client #7 choice", None),
        ("add a card with title Your client #7 choice", None),
        ("set description to The \"best\" client 7 ever had", None),
        ("set title to Our best client is 6 years old", None),
        ("set title to Your clientId 7 \"best\" choice", None),
        ("set title to client 7 fans", None),
        (
            "update component 101 title for client 6\u{2} Your client #7 choice",
            Some("6"),
        ),
        ("client 6: set title to Welcome to client 7", Some("6")),
        (
            "update component 101 title to client 7 for client 6",
            Some("6"),
        ),
        (
            "add a banner with title Hello clientId: 6 with the url x",
            Some("6"),
        ),
        ("add a link to client 6", Some("6")),
    ] {
        assert_eq!(client_id(text).as_deref(), expected, "{text}");
    }
}

#[test]
fn a_component_is_found_by_its_number() {
    for (text, expected) in [
        ("update component 101 title", Some("101")),
        ("componentId 101", Some("101")),
        ("component_id=101", Some("101")),
        ("component with id 101", Some("101")),
        ("Component #101", Some("101")),
        ("delete card 101", Some("101")),
        ("delete component 101.", Some("101")),
        ("component-101", Some("101")),
        ("component 101.title", Some("101")),
        ("component -101", None),
        ("component 101.5", None),
        ("my card component", None),
        ("'component 5'", None),
        ("radius 12", None),
    ] {
        let message = Message::read(text);
        let found = message
            .component(0..message.plain.len())
            .map(|found| found.1);
        assert_eq!(found.as_deref(), expected, "{text}");
    }
}

#[test]
fn components_are_named_behind_a_value_at_its_end_only() {
    for (text, expected) in [
        ("set title to Hi on component 101", Some("on component 101")),
        (
            "set title to Hi on component design in component_id=101",
            Some("in component_id=101"),
        ),
        (
            "set title to Hi on components 101 and 102",
            Some("on components 101 and 102"),
        ),
        (
            "set title to Hi on component 101\u{2} x",
            Some("on component 101\u{2}"),
        ),
        ("set title to component 101", None),
        ("set title to Hi on component 101 of mine", None),
        ("set title to Hi on component", None),
    ] {
        let message = Message::read(text);
        let tail = message.tail(0).map(|place| &message.plain[place]);
        assert_eq!(tail, expected, "{text}");
    }
}

#[test]
fn parts_are_told_apart_outside_of_quotes() {
    for (text, expected) in [
        ("a to b", &["a to b"] as &[&str]),
        ("a, b and c, and d", &["a", "b", "c", "d"]),
        ("a to 'b and c', d", &["a to 'b and c'", "d"]),
        ("band, ", &["band", ""]),
        ("a to rgb(1, 2, 3), b", &["a to rgb(1, 2, 3)", "b"]),
        ("a (b, c", &["a (b", "c"]),
    ] {
        let parts: Vec<&str> = parts(text).into_iter().map(|place| &text[place]).collect();
        assert_eq!(parts, expected, "{text}");
    }
}

#[test]
fn what_is_no_number_of_anything_is_said() {
    for (text, expected) in [
        (
            "delete component -101 for client 6",
            Some("\"-101\" is no number of a component"),
        ),
        (
            "show component 101.5",
            Some("\"101.5\" is no number of a component"),
        ),
        (
            "delete components 101-105",
            Some("\"101-105\" is no number of a component"),
        ),
        (
            "component 9999999999999999",
            Some("\"9999999999999999\" is no number"),
        ),
        (
            "show my design for client -6",
            Some("\"-6\" is no number of a client"),
        ),
        ("client: 6.1.", Some("\"6.1\" is no number of a client")),
        ("client -6, client 6", None),
        ("update component 101 title", None),
        ("'component -5' of client 6", None),
    ] {
        let message = Message::read(text);
        let fault = message.fault(0..message.plain.len());
        let begins = |expected: &str| {
            fault
                .as_ref()
                .is_some_and(|fault| fault.starts_with(expected))
        };
        assert_eq!(fault.is_some(), expected.is_some(), "{text}");
        assert!(expected.is_none_or(begins), "{text}: {fault:?}");
    }
    let long = Message::read(&format!("client {}", "9".repeat(1 << 16)));
    assert!(long.fault(0..0).unwrap().len() < 300);
}

#[test]
fn other_components_are_found_before_the_value() {
    for (text, expected) in [
        ("delete component 101", &[] as &[&str]),
        ("delete component 101 and 102", &["102"]),
        ("delete components 101, 102, and 103", &["102", "103"]),
        ("delete component 101 and component #102", &["102"]),
        ("delete component 101 or button 101", &[]),
        ("delete component 101 and 2 more words 7", &["2"]),
        ("set 'component 5' of component 101", &[]),
        ("delete component 101 and -102, 103.5", &["-102", "103.5"]),
    ] {
        let message = Message::read(text);
        assert_eq!(message.others(0..message.plain.len()), expected, "{text}");
    }
}

#[test]
fn the_client_is_taken_out_of_the_text_and_quotes_hide_the_rest() {
    let message = Message::read("Update component 101 title to 'It''s for client 9' for client 6");
    assert_eq!(message.client.as_deref(), Some("6"));
    assert!(
        message.body.trim_end().ends_with("client 9'"),
        "{message:?}"
    );
    assert_eq!(message.body.len(), message.plain.len());
    let message = Message::read("don't 'open \"ä");
    assert_eq!(message.body.len(), message.plain.len());
}

#[test]
fn a_client_that_may_be_the_end_of_a_value_is_in_doubt_where_another_is_remembered() {
    for (text, remembered, expected) in [
        ("set title font to Lato client 7", Some("6"), true),
        ("set title font to Lato client 7", Some("7"), false),
        ("set title font to Lato client 7", None, false),
        ("set title font to Lato for client 7", Some("6"), false),
        ("set title to Welcome to client 7", Some("6"), true),
        ("set title to Fans of client 7", Some("6"), true),
        ("set title to Your client #7", Some("6"), true),
        ("set title to The \"best\" client 7", Some("6"), true),
        ("set title to client 7", Some("6"), true),
        ("set title to \"Hi\" client 7", Some("6"), false),
        ("set title to Hi clientId 7", Some("6"), false),
        (
            "set title to Hi on component 201 of client 7",
            Some("6"),
            false,
        ),
        ("set button radius to full client 7", Some("6"), false),
    ] {
        let doubt = Message::read(text).doubt(remembered);
        assert_eq!(doubt.is_some(), expected, "{text}: {doubt:?}");
    }
}

#[test]
fn a_long_list_of_components_is_walked_once() {
    let text = format!("delete component 101{}", ", component 102".repeat(1 << 16));
    let message = Message::read(&text);
    assert_eq!(message.others(0..message.plain.len()), ["102"]);
}

#[test]
fn a_million_quotes_are_read_in_one_go() {
    let message = Message::read(&" 'a".repeat(300_000));
    assert_eq!(message.words().len(), 300_000);
}

#[test]
fn what_stands_around_a_client_at_the_end_belongs_to_no_value() {
    for (text, expected) in [
        ("title to Hi for client 6.", "title to Hi"),
        ("title to Hi for client 6?", "title to Hi"),
        ("title to Hi for client 6, please", "title to Hi"),
        ("title to Hi for client 6; thanks!", "title to Hi"),
        ("title to Hi (client 6)", "title to Hi"),
        ("title to Hi [for client 6].", "title to Hi"),
        ("title to Hi, please, for client 6!", "title to Hi"),
        ("title to \"Hi\" for client 6?", "title to \"Hi\""),
        ("title to Ready? for client 6", "title to Ready?"),
        ("title to Hi! for client 6.", "title to Hi!"),
        ("title to Say please for client 6", "title to Say please"),
        (
            "title to Come in, please for client 6",
            "title to Come in, please",
        ),
        ("for client 6, title to Hi.", ", title to Hi."),
        (
            "title to Hi for client 6 and url to x.",
            "title to Hi and url to x.",
        ),
        ("a title for client 6.\u{2} Hi.", "a title \u{2} Hi."),
    ] {
        let message = Message::read(text);
        assert_eq!(message.client.as_deref(), Some("6"), "{text}");
        assert_eq!(message.body.trim(), expected, "{text}");
        assert_eq!(message.body.len(), message.plain.len(), "{text}");
    }
}
