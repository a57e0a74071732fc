//! A model in the chat: asked where no sentence fits, believed as far as the message goes.

use std::time::Instant;

use serde_json::{Value, json};

use super::{component, data, has, say, seeded};
use crate::server::{Answer, Server};
use crate::world::TestWorkspace;

const MESSAGE: &str = r#"change in component 101 the title to "Fresh start", client 6"#;

/// A model that says something, and a workspace that asks it.
fn with_model(text: &str) -> (Server, TestWorkspace) {
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]});
    let server = Server::start(&[Answer::Whole(200, "", body.to_string())]);
    let workspace = asking(&server);
    (server, workspace)
}

fn asking(server: &Server) -> TestWorkspace {
    seeded()
        .env("CLEO_LLM_PROVIDER", "openai-chat")
        .env("CLEO_LLM_BASE_URL", &server.url)
        .env("CLEO_LLM_RETRIES", "0")
        .env("CLEO_LLM_TIMEOUT", "1s")
        .env("OPENAI_API_KEY", "sk-test-0123456789abcdef")
}

#[test]
fn a_right_call_is_offered_and_written_after_a_yes() {
    let updates = json!([{"field": "title", "value": "Fresh start"}]);
    let args = json!({
        "clientId": "6", "componentId": "101", "criteria": null, "updates": updates,
    });
    let answer = json!({"tool": "updateComponent", "args": args, "ask": null});
    let (server, workspace) = with_model(&answer.to_string());
    let turn = say(&workspace, MESSAGE);
    assert_eq!(turn["reason"], "a model chose");
    let args =
        json!({"clientId": "6", "componentId": "101", "updates": {"props.title": "Fresh start"}});
    assert_eq!(turn["pending"]["args"], args);
    assert_eq!(component(&workspace, "6", "101")["props"]["title"], "Home");
    say(&workspace, "yes");
    assert_eq!(
        component(&workspace, "6", "101")["props"]["title"],
        "Fresh start"
    );
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    let format = &asked[0].body["response_format"]["json_schema"];
    assert_eq!(format["strict"], true);
    assert_eq!(format["schema"]["additionalProperties"], false);
}

#[test]
fn values_of_a_model_are_compared_as_their_fields_read_them() {
    for (message, field, value, key) in [
        (
            "set in component 101 the schedule start to 2026-12-01",
            "schedule start",
            "2026-12-01",
            "schedule_start",
        ),
        (
            "set in component 101 the blur to on",
            "blur",
            "on",
            "is_blur",
        ),
        (
            r#"make component 101 have the title "A""#,
            "title",
            "A",
            "props.title",
        ),
    ] {
        let updates = json!([{"field": field, "value": value}]);
        let args = json!({"componentId": "101", "updates": updates});
        let answer = json!({"tool": "updateComponent", "args": args, "ask": null});
        let (_server, workspace) = with_model(&answer.to_string());
        say(&workspace, "client 6");
        let turn = say(&workspace, message);
        assert!(
            turn["pending"]["args"]["updates"].get(key).is_some(),
            "{turn:#}"
        );
    }
}

/// A message, the call that a model makes of it, and why that is refused.
const REFUSED: &str = r#"change in component 101 the title to "Fresh start" > updateComponent {"componentId":"102","updates":{"title":"Fresh start"}} > not sure about "component 102"
change in component 101 the title to "Fresh start" > updateComponent {"componentId":"101","updates":{"title":"Stale start"}} > not sure about "Stale start"
change in component 101 the title to "Fresh start" > updateComponent {"componentId":"101","updates":{"title":"Fresh"}} > not sure about "Fresh"
change in component 101 the title to "Fresh start" > updateComponent {"componentId":"101","updates":{"caption":"Fresh start"}} > not sure about "Fresh start"
change in component 101 the title to "Fresh start" > updateComponent {"componentId":"101","updates":{"type":"Fresh start"}} > component_type is protected
change in component 101 the title to "Fresh start" > updateComponent {"componentId":"101","updates":{"record":"Fresh start"}} > record is no field of a component
change in component 101 the title to "Fresh start" > updateComponent {"clientId":"7","componentId":"101","updates":{"title":"Fresh start"}} > not sure about "client 7"
change in component 101 the title to "Fresh start" > dropTables {} > did not understand
change in component 101 the title to "Fresh start" > deleteComponent {"sql":"DROP"} > did not understand
change in component 101 the title to "Fresh start" > deleteComponent {"componentId":"101"} > not sure about "deleteComponent"
change in component 101 the title to "Fresh start" > updateComponent {"componentId":"101","updates":{"title":"Fresh start","caption":"start"}} > not sure about "start"
do not delete component 103 > deleteComponent {"componentId":"103"} > not sure about "deleteComponent"
delete component 103 and 104 > deleteComponent {"componentId":"103"} > not sure about "deleteComponent"
delete from component 103 > deleteComponent {"componentId":"103"} > not sure about "deleteComponent"
delete the cards of component 103 > deleteComponent {"componentId":"103"} > not sure about "deleteComponent"
remove the title from component 101 > deleteComponent {"componentId":"101"} > not sure about "deleteComponent"
what would happen if I deleted component 101? > deleteComponent {"componentId":"101"} > not sure about
component 101 needs the title "Fresh start" > updateComponent {"componentId":"101","updates":{"title":"Fresh start"}} > not sure about
change in component 101 the title to Fresh start > updateComponent {"componentId":"101","updates":{"title":"Fresh start"}} > not sure about "Fresh start"
change in component 101 the title to "Welcome" and the caption to "Bye" > updateComponent {"componentId":"101","updates":{"title":"Bye","caption":"Welcome"}} > not sure about
change in component 101 the title to "Blurred" > updateComponent {"componentId":"101","updates":{"is_blur":"true"}} > not sure about "true"
is component 101 blurred > updateComponent {"componentId":"101","updates":{"is_blur":"true"}} > not sure about
premium for component 101 please > addSecurityGroup {"componentId":"101","security_group_title":"premium"} > did not understand
no more premium for component 101 > removeSecurityGroup {"componentId":"101"} > not sure about "removeSecurityGroup"
add my card called "Home" in the header > addComponent {"updates":{"type":"cards","title":"Home"}} > not sure about
change title to Welcome 101 > updateComponent {"componentId":"101","updates":{"title":"Welcome"}} > not sure about "component 101"
the Home card should say Welcome instead > updateComponent {"criteria":{"called":"Home"},"updates":{"title":"Welcome"}} > not sure about
make the buttons rounder > updateDesign {"updates":{"button_radius":"full"}} > not sure about "full"
set title of component 101 to Hello for client 6 or client 7 > updateComponent {"clientId":"6","componentId":"101","updates":{"title":"Hello"}} > not sure about "client 6"
update component 101 title to "Welcome" for client 6 and notify Bob > updateComponent {"componentId":"101","updates":{"title":"Welcome"}} > not sure about "and"
change the card with title "Home", description "Who we are" > updateComponent {"criteria":{"description":"Who we are","type":"cards"},"updates":{"title":"Home"}} > not sure about "Who we are"
make the button with caption "Login" have title "Enter" > updateComponent {"criteria":{"type":"buttons"},"updates":{"caption":"Login","title":"Enter"}} > not sure about "Login"
make the card with title "Home" have caption "Start" > addComponent {"updates":{"type":"cards","title":"Home","caption":"Start"}} > not sure about "addComponent"
make a new card, title "Home", caption "Start" > updateComponent {"criteria":{"type":"cards"},"updates":{"title":"Home","caption":"Start"}} > not sure about "Start"
change component 101 from title "Hello" to text "Bye" > updateComponent {"componentId":"101","updates":{"title":"Hello","text":"Bye"}} > not sure about
change from button radius full > updateDesign {"updates":{"button_radius":"full"}} > not sure about "full"
change in card 103 the title to "X" > updateComponent {"componentId":"103","updates":{"title":"X"}} > not sure about "component 103"
change in button radius to "full" > updateComponent {"criteria":{"type":"buttons"},"updates":{"radius":"full"}} > not sure about
set in component 101 the title to "A" and > updateComponent {"componentId":"101","updates":{"title":"A"}} > not sure about "and""#;

#[test]
fn what_the_message_does_not_say_is_refused() {
    for line in REFUSED.lines() {
        let [message, call, why] = line.split(" > ").collect::<Vec<_>>()[..] else {
            panic!("{line}");
        };
        let (tool, args) = call.split_once(' ').unwrap();
        let mut args: Value = serde_json::from_str(args).unwrap();
        for part in ["updates", "criteria"] {
            let Some(fields) = args[part].as_object() else {
                continue;
            };
            let pair = |(field, value)| json!({"field": field, "value": value});
            args[part] = fields.iter().map(pair).collect();
        }
        let answer = json!({"tool": tool, "args": args, "ask": null});
        let (_server, workspace) = with_model(&answer.to_string());
        let before = data(&workspace);
        say(&workspace, "client 6");
        let turn = say(&workspace, message);
        has(&turn, &[why, "Say it like this", "called \"Home\""]);
        assert_eq!(turn["pending"], Value::Null, "{line}: {turn:#}");
        say(&workspace, "yes");
        assert_eq!(data(&workspace), before);
    }
}

#[test]
fn an_id_that_the_rest_contradicts_finds_nothing() {
    let criteria = json!([{"field": "type", "value": "button"}]);
    let updates = json!([{"field": "title", "value": "Start"}]);
    let args = json!({"componentId": "101", "criteria": criteria, "updates": updates});
    let answer = json!({"tool": "updateComponent", "args": args, "ask": null});
    let (_server, workspace) = with_model(&answer.to_string());
    say(&workspace, "client 6");
    let turn = say(
        &workspace,
        r#"set in the button component 101 the title to "Start""#,
    );
    assert_eq!(turn["reason"], "a model chose");
    has(&turn, &["No components found matching"]);
    assert_eq!(turn["pending"]["tool"], "searchComponent");
}

#[test]
fn a_model_may_ask_back() {
    let (_server, workspace) = with_model(
        &json!({"tool": null, "args": null, "ask": "Which field?\u{1b}[2J"}).to_string(),
    );
    let turn = say(&workspace, "rounder, please, client 6");
    has(
        &turn,
        &["The model asks: Which field?[2J", "Say it like this"],
    );
    assert_eq!(turn["reason"], "what a model says is no call");
}

#[test]
fn without_an_answer_that_can_be_used_the_forms_are_shown() {
    let slow = Server::start(&[Answer::Hang]);
    let (prose, prosaic) = with_model("Sure! I set the title.");
    let keyless = seeded().env("CLEO_LLM_PROVIDER", "openai-chat");
    let begun = Instant::now();
    for (workspace, why) in [
        (&prosaic, "no call in JSON"),
        (&keyless, "OPENAI_API_KEY"),
        (&asking(&slow), ""),
    ] {
        let before = data(workspace);
        let turn = say(workspace, MESSAGE);
        let useless = "I did not understand that: the model gave no answer that can be used";
        has(&turn, &[useless, why, "Say it like this"]);
        assert_eq!(data(workspace), before);
    }
    assert!(begun.elapsed().as_secs() < 30);
    assert_eq!(prose.asked().len(), 1);
}

#[test]
fn a_model_is_asked_for_no_sentence_and_no_answer() {
    let (server, workspace) = with_model("{}");
    for message in [
        "list components for client 6",
        "yes",
        "change button radius to full",
        "no",
        "update component 101 title",
        "update component 101 title to Hello no wait Welcome",
        "no",
        "9",
        "help",
    ] {
        say(&workspace, message);
    }
    assert_eq!(server.asked().len(), 0);
}
