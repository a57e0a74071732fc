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
