use super::*;

const NOW: &str = "2026-01-26T09:00:00.000Z";
const LATER: &str = "2026-01-26T09:15:00.000Z";

/// A conversation in which the removal of a component waits, or which component is meant.
fn waiting_for(kind: PendingKind, expires: &str) -> Chat {
    let mut args = args([("clientId", "6".into())]);
    let tool = Tool::DeleteComponent;
    if kind == PendingKind::Confirm {
        args.insert("componentId".to_string(), "101".into());
    }
    let mut pending = Pending::new(kind, ChatAgent::Editor, Call { tool, args });
    if kind == PendingKind::Select {
        pending.candidates = vec!["101".to_string(), "102".to_string()];
    }
    pending.expires = expires.to_string();
    Chat {
        pending: Some(pending),
        ..Chat::default()
    }
}

/// Works on a message until the reply is there. Every tool returns the same.
fn said(chat: &Chat, message: &str) -> Saying {
    let talk = Talk::begin(chat, message, NOW, None);
    let component = json!({"componentId": "102", "type": "cards", "props": {"title": "About"}});
    let returned = json!({"success": true, "components": [component]});
    let mut results: Vec<Value> = Vec::new();
    loop {
        match talk.next(&results) {
            Step::Say(saying) => return saying,
            Step::Call(_) | Step::Rehearse(_) => results.push(returned.clone()),
        }
    }
}

#[test]
fn a_reply_says_what_became_of_what_waited() {
    use PendingKind::{Confirm, Select};
    use Settled::{Cancelled, Chosen, Confirmed, Dropped, Expired};
    let request = "delete component 101 for client 6";
    for (kind, expires, message, settled) in [
        (Confirm, LATER, "yes", Some(Confirmed)),
        (Confirm, LATER, "no", Some(Cancelled)),
        (Confirm, LATER, request, Some(Dropped)),
        (Confirm, LATER, "delete component -1", Some(Dropped)),
        (Confirm, LATER, "yess", None),
        (Confirm, LATER, "help", None),
        (Confirm, NOW, "yes", Some(Expired)),
        (Confirm, NOW, "no", Some(Expired)),
        (Confirm, NOW, request, Some(Expired)),
        (Select, LATER, "2", Some(Chosen)),
        (Select, LATER, "about", Some(Chosen)),
        (Select, LATER, "never mind", Some(Cancelled)),
        (Select, LATER, request, Some(Dropped)),
        (Select, LATER, "9", None),
        (Select, LATER, "what?", None),
        (Select, NOW, "2", Some(Expired)),
    ] {
        let saying = said(&waiting_for(kind, expires), message);
        assert_eq!(saying.settled, settled, "{message}: {saying:?}");
        let is_kept = matches!(saying.wait, Wait::Kept);
        assert_eq!(is_kept, settled.is_none(), "{message}: {saying:?}");
    }
    assert_eq!(said(&Chat::default(), "yes").settled, None);
}

const WRITES: &[&str] = &[
    "change title of component 101 to Welcome",
    "for client 6, please change the title of component 101 to \"Welcome\"",
    "update component 101: title: Welcome, caption: Hi",
    "set the title and the caption of component 101 to Welcome",
    "rename component 101 to Welcome",
    "make component 101 blurred",
    "blur and secure component 101",
    "set component 101 blurred = false",
    "delete component 103",
    "delete my About card",
    "remove the title of component 101",
    "delete the title from my About card",
    "add premium security group to component 101",
    "add component 101 to the premium security group",
    "remove the premium security group from component 102",
    "add a banner with title Hello",
    "create a new blurred card titled \"Hello\"",
    "add title Foo to component 101",
    "update the title of my About card to Go",
    "change button radius to full",
    "change button radius to full and card style to stroked",
    "set card background color to #112233",
    "social icon style = solid",
    "set title font to \"Lato\"",
    "change component 101 url to https://a.b/c, set its title to Y",
];

/// A conversation about client 6.
fn about_client() -> Chat {
    Chat {
        client: Some("6".to_string()),
        ..Chat::default()
    }
}

#[test]
fn no_word_of_a_write_is_passed_over_in_silence() {
    let mut offered = 0;
    for message in WRITES {
        let is_asked = |saying: &Saying| matches!(saying.wait, Wait::Pending(_));
        assert!(is_asked(&said(&about_client(), message)), "{message}");
        let ends = message.match_indices(' ').map(|(at, _)| at + 1);
        for place in ends.chain([0, message.len()]) {
            for word in ["zorkle", "\"zorkle\""] {
                let (before, behind) = message.split_at(place);
                let longer = format!("{before} {word} {behind}");
                let saying = said(&about_client(), &longer);
                offered += usize::from(is_asked(&saying));
                let is_told = saying.text.contains("zorkle");
                assert!(!is_asked(&saying) || is_told, "{longer}: {}", saying.text);
            }
        }
    }
    assert!(offered > 200, "only {offered} were offered at all");
}

#[test]
fn what_is_understood_is_not_told_of() {
    let more = [
        "I would like to change the title of component 101 to Hello, please",
        "could you kindly delete component 101 because it is old?",
        "let's make the About card blurred",
        "make component 101 not blurred",
        "change component 101's heading to \"A & B\"",
        "set component 101 schedule_start to 2026-12-24T18:00:00Z",
        "set display_order of component 101 to 05",
        "can we have the card corners small",
        "make the buttons' style soft shadow",
        "delete card 102",
        "secure component 101 and blur it",
        "please add another card with title Foo",
        "Set text alignment of component 101 to left",
        "Change title of component 101 from \"Home\" to \"Welcome\"",
        "go ahead and delete component 102",
        "is it possible to change the title of component 101 to Welcome?",
        "when you have time, delete component 102",
        "change title of component 101 from Home to Welcome",
        "use full button radius instead of small",
        "because it looks better, change button radius to full",
        "what about changing the button radius to full?",
        "let's go with full for the button radius",
        "Can You Delete Component 102",
        "good morning, please secure component 101",
        "delete component 101 because the group asked for it",
        "set title of component 101 to \"Welcome\" because the old one is boring",
        "update component 102 description to Learn to cook and create meals",
        "I need to change the title of component 101 to X",
        "show component 102 again",
        "is component 102 blurred?",
        "how many cards are there?",
        "list components",
    ];
    for message in WRITES.iter().chain(&more) {
        let saying = said(&about_client(), message);
        let text = &saying.text;
        assert!(!text.contains("did not understand"), "{message}: {text}");
        let is_refused = text.contains("Please say it again") || text.contains("question");
        assert!(!is_refused, "{message}: {text}");
    }
}

#[test]
fn what_is_not_understood_is_told_of() {
    for (message, told) in [
        (
            "list my blue cards",
            "\"blue\", so nothing is chosen by it.",
        ),
        ("add a button login", "\"login\", so it is left out."),
        (
            "delete component 102 (Home)",
            "\"Home\", so it is left out.",
        ),
        (
            "delete the Hello component 101",
            "\"Hello\", so it is left out.",
        ),
        (
            "secure component 101 since Monday",
            "\"since Monday\", so it is left out.",
        ),
        (
            "add a card because we need one and a button",
            "\"button\", so it is left out.",
        ),
        ("add a Hello card", "\"Hello\", so it is left out."),
        ("make component 101 blurred on both cards", "\"both"),
        ("make component 101 blurred for all clients", "\"all\""),
        (
            "schedule component 101 from Monday to Friday",
            "\"Monday\", \"Friday\", so it is left out.",
        ),
        (
            "change secured button radius to full",
            "\"secured\", so it is left out.",
        ),
        ("delete the one next to component 102", "\"next\""),
        (
            "delete component 102 and every component like it",
            "\"every\"",
        ),
        (
            "show me the cards and buttons",
            "\"buttons\", so nothing is chosen by it.",
        ),
        (
            "make the About card secure and blurred",
            "\"secure\", so it is left out.",
        ),
        ("delete banner 102", "\"banner\", so it is left out."),
        ("delete component 102 103", "\"103\", so it is left out."),
        (
            "tomorrow change title of my own component 101 to X",
            "\"tomorrow\", \"own\", so it is left out.",
        ),
        (
            "change the fancy title of component 101",
            "\"fancy\", so it is left out.",
        ),
    ] {
        let text = said(&about_client(), message).text;
        assert!(text.contains(told), "{message}: {text}");
    }
}
