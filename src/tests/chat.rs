//! The grammar of the chat: sentences with the calls that they mean, and any text at all.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::chat::answer::hear;
use crate::chat::value::check_changes;
use crate::chat::{Chat, Heard};

const SENTENCES: &str = include_str!("../../tests/it/chat/sentences.jsonl");

const NOW: &str = "2026-01-26T09:00:00.000Z";

/// Reads a message in a conversation in which nothing waits.
fn read(message: &str) -> Value {
    match hear(&Chat::default(), message, NOW) {
        Heard::Request(call) => {
            json!({"tool": call.tool.name(), "args": call.args})
        }
        _ => Value::Null,
    }
}

#[test]
fn sentences_mean_their_calls() {
    let rows = SENTENCES
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut wrong = Vec::new();
    for row in rows {
        let message = row["say"].as_str().unwrap();
        let found = read(message);
        if found["tool"] != row["tool"] || found["args"] != row["args"] {
            wrong.push(format!("{message}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sentences_with_words_left_over_mean_nothing_or_are_asked_about() {
    for message in [
        "do not delete component 103",
        "don't delete component 103 for client 6",
        "never remove component 102 for client 6",
        "delete component 103 and 104",
        "delete component 103?",
        "delete component -103",
        "delete component 103 for client -6",
        "delete component 103 for client 6 or client 7",
        "delete component 103 for clients 6 and 7",
        "delete component 101 of client 7 for client 6",
        "delete all components for client 6",
        "delete component 101's description",
        "the Home card should say Welcome instead",
        "make the buttons rounder",
        "set the title of component 101 to 'Yes' and then show my design",
        "set the title of component 101 to Yes, delete component 102",
        "add a card with title News below Home",
        "set the title of component 101 to Hello no wait Welcome",
        "set the title of component 101 to Hello please and thanks",
        "set the title of component 101 to Hello, please",
        "set the title of component 101 to Hello making it bold",
        "set the title of component 101 to Hello in French",
        "set the title of component 101 to Hello tomorrow",
        "set the title of component 101 to Hello maybe",
        "set the title of component 101 to Hello centered",
        "set the title of component 101 to Hello larger",
        "set the title of component 101 to Hello 102",
        "set the title of component 101 to Hello und Welcome",
        "add a button with caption Save beneath Login",
        "add a card with title News on top",
        "set the title of component 101 to Hello et supprime 103",
        "set the title of component 101 to the same",
        "set the title of component 101 to nothing",
        "set the title of component 101 to Welcome?",
        "the title of component 101 should be longer",
        "delete from component 103",
        "delete the cards of component 103",
        "can I delete component 103?",
        "did you delete component 103?",
        "add a shadow to the cards",
        "give component 101 the text color",
        "change the button radius back to what it was",
        "set title of component 101 to Hello delete 103",
        "update component 101 title to Hello Remove it for client 6",
        "add a card with title Hello delete #103",
        "what would happen if I deleted component 101?",
        "set title of component 101 to Hello for client 6 or client 7",
        "update component 101 title to Welcome for client 6 and notify Bob",
        "update component 101 title to Welcome and notify Bob for client 6",
        "update component 101 title to Fans of client 7",
        "swap the titles of component 101 and component 102",
        "set button radius to huge, not full and card style to stroked for client 6 now or never",
        "change everything but the button radius to full",
        "change the logo",
        "change hover to blue",
        "change the title to Hello for client 6",
        "remove the title from component 101",
        "component 101 should not be blurred",
        "add premium or gold security group to component 101",
        "update component 101 props.title'; DROP TABLE components;-- to X for client 6",
        "change button_radius'; DROP TABLE designs;-- to full for client 6",
        "change button radius from small unless Bob objects to full",
        "update component 101 title to Welcome, notify Bob for client 6",
        "update component 101 title to Welcome - delete the other card",
        "update component 101 title to Welcome not Hello",
        "update component 101 title to Welcome caption to Bye for client 6",
        "update component 101 title to \"Welcome for client 6",
        "for client 6 update component 101 title to Come in, please",
        "add a card with the title of my other card",
        "add a card with title X and component_type banner",
        "set title font to Roboto on mobile",
        "make the title of component 101 shorter",
        "change the font of component 101 to larger",
        "set title font to Lato 18px",
        "give component 101 a text shadow",
        "component 102 should have a caption too",
        "make the alignment of component 101 better",
        "set the alignment of component 101 to better",
        "update component 101 title to Welcome and text Bob",
        "change the page background image",
        "page background image",
        "change the banner layout",
        "change component 101's blur",
        "secured buttons",
        "make text 14",
        "add image 12",
        "add cards",
        "set the link of component 103 to nothing",
        "component 103 link: broken",
        "SET THE TITLE OF COMPONENT 101 TO HELLO IN FRENCH",
        "Set The Title Of Component 101 To Hello In French",
        "set the title of component 101 to Welcome ASAP",
        "set the title of component 101 to Hello all caps",
        "update component 101 title:Welcome subline:Hi",
        "set the title of component 101 to Welcome!",
        "add a button with url https://x.org/client7 and text Bob",
        "delete component 103 for client 6-7",
        "set the title of component 101 to Welcome notify bob",
        "change the layout as well",
        "change button radius to full as discussed by client 7",
        "set the title of component 101 to Hello, client 7",
        "set the title of component 101 to be Ready or to wait",
        "set the title of component 101 to Be Happy",
        "Set The Title Of Component 101 To Be Happy",
        "set the title of component 101 to Hello, the content King",
        "add a card with title News and a text Area",
        "add a card with title News Small",
        "update component 101 title Missing",
        "set the title of component 101 to Hello pls",
        "set the title of component 101 to Hello Thanks",
        "set the title of component 101 to \"A\" \"B\"",
        "set the title of component 101 to \"A\"\"B\"",
        "set the title of component 101 to \"A\"B",
        "i want a button secured",
        "set style of component 101 to corporate",
        "set the url of component 103 to example.org",
        "set the url of component 103 to https://a.org,https://b.org",
        "set the title of component 101 to 'Ann's and the description to 'Bob's'",
        "set the title of component 101 to 'Welcome",
        "set the title of component 101 to ‘Welcome",
        "set the title of component 101 to 'Bakers' corner'",
        "set the title of component 101 to the '90s",
        "set the title of component 101 to \" \"",
        "set the title of component 101 to Welcome!",
        "set the title of component 101 to Acme Inc.",
        "set title font to Inc.",
        "set title font to \" Lato \"",
        "set the url of component 103 to https://example.org/a!",
        "set the url of component 103 to https://example.org/a...",
        "set the url of component 103 to \" https://example.org/\"",
        "change the radius of the button to full",
        "change the button's radius to full",
        "change this button radius to full",
        "change button radius from small or medium to full",
        "set button and everything radius to full",
        "add a card with title News and text Bob",
        "delete the Home card called About",
        "delete the card called Welcome...",
        "delete the card called Inc.",
        "delete the card called Ann's",
        "hello",
        "",
    ] {
        let is_sure = match hear(&Chat::default(), message, NOW) {
            Heard::Request(call) => call.missing().is_none() && check_changes(&call).is_ok(),
            heard => heard != Heard::Unknown,
        };
        assert!(!is_sure, "{message}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(
        parts in prop::collection::vec(
            prop_oneof![
                4 => prop::sample::select(vec![
                    "update", "add", "change", "component", "101", "component_id=", "client", "6", "title",
                    "to", "=", ":", "with", "titled", "security group", "'", "\"", "“", "”", ",", "and",
                    "the", "card", "props.title", "header", "from", "rename", "ä", "ß", "please", "can you",
                ]),
                1 => Just("\u{130}"),
            ],
            0..14,
        ),
        gap in "[ ]?",
        other in "\\PC{0,5}",
    ) {
        let message = parts.join(&gap) + &other;
        let answer = json!({"tool": "updateComponent", "ask": null, "args": {
            "componentId": "101", "updates": [{"field": "title", "value": other}],
        }});
        read(&message);
        let _ = crate::chat::model::read(&answer.to_string(), &message, Some("6"));
    }
}
