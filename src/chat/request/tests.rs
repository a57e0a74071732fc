use super::*;
use serde_json::json;

#[test]
fn fields_and_values_are_found_in_many_ways_of_saying_it() {
    for (message, updates) in [
        (
            "update component 101 title to Welcome",
            json!({"props.title": "Welcome"}),
        ),
        (
            "set the caption of component 103 to Sign in",
            json!({"props.caption": "Sign in"}),
        ),
        (
            "update component 101: title = A, caption: B",
            json!({"props.title": "A", "props.caption": "B"}),
        ),
        (
            "change component 101 title from Home to Welcome",
            json!({"props.title": "Welcome"}),
        ),
        (
            "change component 101 title to A and the url to https://a.b/c?d=1",
            json!({"props.title": "A", "link_props.url": "https://a.b/c?d=1"}),
        ),
        (
            "update component 101 title to Read the description to learn",
            json!({"props.title": "Read the description to learn"}),
        ),
        (
            "update component 101 title to 'a, caption to b'",
            json!({"props.title": "a, caption to b"}),
        ),
        (
            "update component 101 title to \"\"",
            json!({"props.title": ""}),
        ),
        (
            "rename component 101 to Welcome",
            json!({"props.title": "Welcome"}),
        ),
        (
            "update component 101 props.title=Welcome",
            json!({"props.title": "Welcome"}),
        ),
        (
            "update component 101 with title Welcome",
            json!({"props.title": "Welcome"}),
        ),
        (
            "update component_id=101 heading to Welcome",
            json!({"props.title": "Welcome"}),
        ),
        ("update component 101 body to x", json!({"props.text": "x"})),
        (
            "update component 101 subheading to x",
            json!({"props.caption": "x"}),
        ),
        (
            "update component 101 content to x",
            json!({"props.description": "x"}),
        ),
        (
            "update component 101 website to x",
            json!({"link_props.url": "x"}),
        ),
        (
            "update component 101 aspect ratio to 16:9",
            json!({"layout_props.aspectRatio": "16:9"}),
        ),
        (
            "update component 101 card type to wide",
            json!({"layout_props.cardType": "wide"}),
        ),
        (
            "update component 101 template to grid",
            json!({"layout": "grid"}),
        ),
        (
            "update component 101 position to 3",
            json!({"display_order": "3"}),
        ),
        (
            "update component 101 radius to full",
            json!({"manual_edits.properties.radius": "full"}),
        ),
        (
            "update component 101 text color to red",
            json!({"manual_edits.properties.textcolor": "red"}),
        ),
        ("mark component 101 as secured", json!({"is_secured": true})),
        ("make component 101 blurred", json!({"is_blur": true})),
        ("make component 101 not blurred", json!({"is_blur": false})),
        ("blur component 101", json!({"is_blur": true})),
        (
            "set blur of component 101 to false",
            json!({"is_blur": "false"}),
        ),
        (
            "set component 101 to scheduled",
            json!({"schedule_enabled": true}),
        ),
        (
            "add a banner with title Hello and url https://a.b",
            json!({"props.title": "Hello", "link_props.url": "https://a.b"}),
        ),
        (
            "add a banner titled Hello to",
            json!({"props.title": "Hello to"}),
        ),
        (
            "create a new text with caption: Hi",
            json!({"props.caption": "Hi"}),
        ),
        (
            "update title of my card component\u{2} to X",
            json!({"props.title": "X"}),
        ),
        (
            "update component 101 title\u{2} Welcome",
            json!({"props.title": "Welcome"}),
        ),
        (
            "add a card titled \"Big news\" with url https://a.b",
            json!({"props.title": "Big news", "link_props.url": "https://a.b"}),
        ),
        (
            "update component 101 title to 'A' caption to 'B'",
            json!({"props.title": "A", "props.caption": "B"}),
        ),
        (
            "add a card titled Play with text",
            json!({"props.title": "Play with text"}),
        ),
        (
            "component 101 title to Delete me",
            json!({"props.title": "Delete me"}),
        ),
        (
            "component 101 title = Show more",
            json!({"props.title": "Show more"}),
        ),
        (
            "remove title from component 101",
            json!({"props.title": ""}),
        ),
        (
            "delete the caption and the link of component 103",
            json!({"props.caption": "", "link_props.url": ""}),
        ),
        ("remove blur from component 101", json!({"is_blur": false})),
        (
            "remove the title from my card component",
            json!({"props.title": ""}),
        ),
        ("unblur component 102", json!({"is_blur": false})),
        ("schedule component 102", json!({"schedule_enabled": true})),
        (
            "schedule component 102 for May, please",
            json!({"schedule_enabled": true}),
        ),
        ("make component 101 unsecured", json!({"is_secured": false})),
        ("what is the schedule of component 102", json!({})),
        (
            "add title Foo to component 101",
            json!({"props.title": "Foo"}),
        ),
        ("add title to component 101", json!({})),
        (
            "set title to Welcome on component 101",
            json!({"props.title": "Welcome"}),
        ),
        (
            "update the caption to Enter of component 103",
            json!({"props.caption": "Enter"}),
        ),
        (
            "update component 101 title to We love client 7",
            json!({"props.title": "We love"}),
        ),
        (
            "add title \"Foo\" to component 101",
            json!({"props.title": "Foo"}),
        ),
        (
            "add description \"Nice, and good\" to component 101",
            json!({"props.description": "Nice, and good"}),
        ),
        (
            "update component 103 caption for client 6\u{2} Order",
            json!({"props.caption": "Order"}),
        ),
        (
            "delete the word Welcome from the title of component 101",
            json!({}),
        ),
        ("update component 101\u{2} title", json!({})),
        ("update component 101 title to ", json!({})),
        ("don't change component 101 title to X", json!({})),
        ("delete component 101", json!({})),
        ("show component 101 title to me", json!({})),
    ] {
        let request = Request::read(message, None);
        assert_eq!(Value::from(request.updates), updates, "{message}");
    }
}

#[test]
fn what_is_taken_from_a_component_does_not_delete_it() {
    for (message, verb) in [
        ("delete component 101", Verb::Delete),
        ("delete card 101", Verb::Delete),
        ("delete my card component from the page", Verb::Delete),
        ("delete all of my cards", Verb::Delete),
        ("remove title from component 101", Verb::Update),
        ("remove everything from component 101", Verb::Delete),
        ("remove all from component 101", Verb::Update),
        ("remove the link from my card", Verb::Update),
        ("add title Foo to component 101", Verb::Update),
        ("add a banner to component 101", Verb::Create),
    ] {
        let request = Request::read(message, None);
        assert_eq!(request.verb, Some(verb), "{message}");
    }
    let request = Request::read("remove everything from component 101", None);
    assert!(request.is_security, "{request:?}");
}

#[test]
fn a_piece_of_a_field_is_not_taken_away() {
    for (message, is_piece) in [
        (
            "delete the word Welcome from the title of component 101",
            true,
        ),
        ("remove 's' from the title of component 101", true),
        ("remove spaces in the title of component 101", true),
        ("remove the title of component 101", false),
        ("remove both title and logo from component 101", false),
        ("remove logo and title from component 101", false),
        ("remove the old title from component 101", false),
        ("remove the value of the title from component 101", false),
        (
            "remove the last letter of the title from component 101",
            true,
        ),
        ("remove Home of the title from component 101", true),
        ("remove the word title from component 101", true),
    ] {
        let fault = Request::read(message, None).fault;
        let begins = |fault: &String| fault.starts_with("I can only empty a whole field");
        assert_eq!(fault.as_ref().is_some_and(begins), is_piece, "{message}");
    }
}

#[test]
fn a_component_is_found_on_either_side_of_the_value() {
    for (message, component) in [
        ("set title to Welcome on component 101", Some("101")),
        ("set title = Welcome on component 101", Some("101")),
        (
            "update component 101 title to Hi on component 102",
            Some("101"),
        ),
        ("change the title of my card to component 101", None),
    ] {
        let request = Request::read(message, None);
        assert_eq!(request.component.as_deref(), component, "{message}");
    }
    let both = Request::read("set title to Hi on components 101 and 102", None);
    assert_eq!(both.others, ["102"]);
    let fault = Request::read("set title to Hi on component -101", None).fault;
    assert!(fault.is_some_and(|fault| fault.starts_with("\"-101\"")));
}

#[test]
fn a_field_has_one_value() {
    let request = Request::read("update component 101 caption to B, subtitle to C", None);
    let fault = request.fault.unwrap();
    assert!(fault.starts_with("\"B\" and \"C\" are both to be the caption"));
}

#[test]
fn what_is_unread_beside_a_type_is_what_a_component_is_called() {
    for (message, called) in [
        ("delete the Logout button component", Some("Logout")),
        ("delete my buttons component Buy now", Some("Buy")),
        ("delete my buttons component 'Buy now'", Some("Buy now")),
        ("change caption of the Logout button to Bye", Some("Logout")),
        (
            "add premium security group to the Signup button component",
            Some("Signup"),
        ),
        ("change title of the About card to Us", Some("About")),
        ("delete the Logout component", Some("Logout")),
        ("delete my card and button", Some("button")),
        ("show my Logout button", Some("Logout")),
        ("show me the blue cards", None),
        ("please list all my components", None),
        ("update title of my card component to X", None),
        ("update my card component's title and caption to X", None),
        ("change my button component with caption Login", None),
        ("make my card component not blurred, please", None),
        ("add premium security group to my card component", None),
        ("add my card component to the premium security group", None),
        ("add a big card", None),
        ("add my Welcome card to premium", Some("Welcome")),
        ("change title of my first card to X", Some("first")),
        ("delete my old card", Some("old")),
        ("update my card, the title should be X", None),
        ("update my card component title: Welcome to us", None),
        ("change my card title and set the text to X", None),
        (
            "change the button caption Logout to Sign in",
            Some("Logout"),
        ),
        ("change my card title from Home to Welcome", Some("Home")),
        ("update my card because it is wrong", None),
        ("delete the Logout button component 103", None),
    ] {
        let request = Request::read(message, None);
        assert_eq!(request.called.as_deref(), called, "{message}");
    }
}

#[test]
fn components_are_described_by_type_and_fields() {
    for (message, criteria) in [
        (
            "update title of my card component to X",
            json!({"component_type": "cards"}),
        ),
        (
            "change my button component with caption Login",
            json!({"component_type": "buttons", "props.caption": "Login"}),
        ),
        (
            "change the title of my card with title Home to Welcome",
            json!({"component_type": "cards", "props.title": "Home"}),
        ),
        (
            "delete my image titled 'a to b'",
            json!({"component_type": "images", "props.title": "a to b"}),
        ),
        (
            "change the text of my image to X",
            json!({"component_type": "images"}),
        ),
        (
            "update my header component",
            json!({"component_type": "headers"}),
        ),
        (
            "add premium security group to my card component",
            json!({"component_type": "cards"}),
        ),
        ("list components", json!({})),
        ("update a component", json!({})),
    ] {
        let request = Request::read(message, None);
        assert_eq!(Value::from(request.criteria), criteria, "{message}");
    }
}

#[test]
fn a_security_group_is_named_before_or_after() {
    for (message, group) in [
        (
            "add premium security group to component 101",
            Some("premium"),
        ),
        (
            "add the 'gold plus' security group to component 101",
            Some("gold plus"),
        ),
        (
            "add security group premium to component 101",
            Some("premium"),
        ),
        (
            "add component 101 to security group premium",
            Some("premium"),
        ),
        (
            "remove the premium security-group from my card component",
            Some("premium"),
        ),
        (
            "add component 101 to the premium security group",
            Some("premium"),
        ),
        ("add premium to component 101", Some("premium")),
        ("add the premium group to my card", Some("premium")),
        ("remove premium from component 101", Some("premium")),
        ("add my Welcome card to premium", Some("premium")),
        ("add my Welcome card to premium please", Some("premium")),
        (
            "add my Welcome card to the premium group, thanks",
            Some("premium"),
        ),
        (
            "add component 101 to security group premium please",
            Some("premium"),
        ),
        ("add my Welcome card to \"Gold group\"", Some("Gold group")),
        ("add my Welcome card to the group", None),
        (
            "add my Welcome card to the group\u{2} premium",
            Some("premium"),
        ),
        ("add a security group to component 101", None),
    ] {
        let request = Request::read(message, None);
        assert!(request.is_security, "{message}");
        assert_eq!(request.group.as_deref(), group, "{message}");
    }
}

#[test]
fn a_long_message_is_read_in_one_go() {
    for part in [
        "title to a, ",
        "my card component ",
        "security group ",
        "= : to with ",
        "\"' ",
        "a;",
    ] {
        let message = format!(
            "update component 101 {}",
            part.repeat((1 << 17) / part.len())
        );
        let _ = Request::read(&message, None);
    }
}
