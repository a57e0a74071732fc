//! Rules for the records of the chat.

use serde_json::json;

use crate::chat::Chat;
use crate::chat::record::{
    Answer, Client, Component, Design, Guard, Media, Question, SecurityGroup,
};
use crate::store::{Store, Transaction};

fn write(store: &mut dyn Store, work: impl FnOnce(&mut dyn Transaction)) {
    let mut transaction = store.write_records().unwrap();
    work(&mut *transaction);
    transaction.commit().unwrap();
}

fn client(id: &str, kind: &str) -> Client {
    Client {
        client_id: id.into(),
        client_type: kind.into(),
    }
}

fn component(client: &str, id: &str, order: i64) -> Component {
    Component {
        component_id: id.into(),
        client_id: client.into(),
        component_type: "cards".into(),
        display_order: order,
        ..Component::default()
    }
}

fn full() -> Component {
    Component {
        props: json!({"title": "ä \"q\"", "n": 1})
            .as_object()
            .cloned()
            .unwrap(),
        manual_edits: json!({"properties": {"radius": "full"}})
            .as_object()
            .cloned()
            .unwrap(),
        sawall: true,
        sawall_content: Some("s".into()),
        layout: Some("l".into()),
        schedule_enabled: true,
        schedule_start: Some("2026-01-26T00:00:00.000Z".into()),
        is_blur: true,
        library_id: Some("4".into()),
        ..component("6", "101", 3)
    }
}

fn guard(client: &str, component: &str, group: &str) -> Guard {
    Guard {
        client_id: client.into(),
        component_id: component.into(),
        security_group_id: group.into(),
    }
}

pub(super) fn nothing_of_the_chat_is_there_at_first(store: &mut dyn Store) {
    let transaction = store.read().unwrap();
    assert_eq!(transaction.client("6").unwrap(), None);
    assert_eq!(transaction.design("6").unwrap(), None);
    assert_eq!(transaction.components("6").unwrap(), []);
    assert_eq!(transaction.component("6", "1").unwrap(), None);
    assert_eq!(transaction.security_groups("6").unwrap(), []);
    assert_eq!(
        transaction.security_groups_of("6", "1").unwrap(),
        [] as [&str; 0]
    );
    assert_eq!(transaction.list_answered("6").unwrap(), []);
    assert_eq!(transaction.media("6", "1").unwrap(), None);
    assert_eq!(transaction.chat("c").unwrap(), Chat::default());
}

pub(super) fn what_is_written_is_read_under_its_client_only(store: &mut dyn Store) {
    let design = Design {
        client_id: "6".into(),
        banner_library_id: Some("4".into()),
        button_design: json!({"radius": "full"}).as_object().cloned().unwrap(),
        ..Design::default()
    };
    let group = SecurityGroup {
        security_group_id: "1".into(),
        client_id: "6".into(),
        security_group_title: "premium".into(),
    };
    let media = Media {
        library_id: "4".into(),
        client_id: "6".into(),
        s3_key: "k".into(),
    };
    for _ in 0..2 {
        write(store, |transaction| {
            transaction.put_client(&client("6", "creator")).unwrap();
            transaction.put_client(&client("7", "shop")).unwrap();
            transaction.put_design(&design).unwrap();
            transaction.put_component(&full()).unwrap();
            transaction
                .put_component(&component("7", "101", 1))
                .unwrap();
            transaction.put_security_group(&group).unwrap();
            transaction.put_media(&media).unwrap();
        });
    }
    let transaction = store.read().unwrap();
    assert_eq!(
        transaction.client("6").unwrap(),
        Some(client("6", "creator"))
    );
    assert_eq!(transaction.design("6").unwrap(), Some(design));
    assert_eq!(transaction.design("7").unwrap(), None);
    assert_eq!(transaction.component("6", "101").unwrap(), Some(full()));
    assert_eq!(
        transaction.components("7").unwrap(),
        [component("7", "101", 1)]
    );
    assert_eq!(transaction.security_groups("6").unwrap(), [group]);
    assert_eq!(transaction.security_groups("7").unwrap(), []);
    assert_eq!(transaction.media("6", "4").unwrap(), Some(media));
    assert_eq!(transaction.media("7", "4").unwrap(), None);
}

pub(super) fn components_come_in_their_order(store: &mut dyn Store) {
    write(store, |transaction| {
        for (id, order) in [("10", 1), ("9", 1), ("1", 2), ("5", 0)] {
            transaction
                .put_component(&component("6", id, order))
                .unwrap();
        }
    });
    let components = store.read().unwrap().components("6").unwrap();
    let ids: Vec<_> = components.into_iter().map(|one| one.component_id).collect();
    assert_eq!(ids, ["5", "9", "10", "1"]);
}

pub(super) fn a_component_goes_with_what_guards_it(store: &mut dyn Store) {
    write(store, |transaction| {
        for one in ["6", "7"] {
            transaction
                .put_component(&component(one, "101", 1))
                .unwrap();
            for group in ["10", "9", "9"] {
                transaction.put_guard(&guard(one, "101", group)).unwrap();
            }
        }
    });
    assert_eq!(
        store
            .read()
            .unwrap()
            .security_groups_of("6", "101")
            .unwrap(),
        ["9", "10"]
    );
    write(store, |transaction| {
        assert!(transaction.remove_guard(&guard("7", "101", "9")).unwrap());
        assert!(!transaction.remove_guard(&guard("7", "101", "9")).unwrap());
        assert_eq!(transaction.last_removed("6").unwrap(), None);
        assert!(transaction.remove_component("6", "101").unwrap());
        assert!(!transaction.remove_component("6", "101").unwrap());
        assert!(!transaction.remove_component("6", "999").unwrap());
        transaction.put_component(&component("6", "9", 1)).unwrap();
        assert!(transaction.remove_component("6", "9").unwrap());
        assert_eq!(transaction.last_removed("6").unwrap(), Some(101));
        assert_eq!(transaction.last_removed("7").unwrap(), None);
    });
    let transaction = store.read().unwrap();
    assert_eq!(
        transaction.security_groups_of("6", "101").unwrap(),
        [] as [&str; 0]
    );
    assert_eq!(transaction.security_groups_of("7", "101").unwrap(), ["10"]);
    assert!(transaction.component("7", "101").unwrap().is_some());
}

pub(super) fn answers_are_those_to_questions_of_the_type(store: &mut dyn Store) {
    let question = |id: &str, kind: &str| Question {
        question_id: id.into(),
        question_text: format!("q{id}"),
        options: vec!["a".into()],
        client_type: kind.into(),
    };
    let answer = |client: &str, id: &str| Answer {
        client_id: client.into(),
        question_id: id.into(),
        chosen_options: vec![format!("{client} to {id}")],
    };
    write(store, |transaction| {
        transaction.put_client(&client("6", "creator")).unwrap();
        transaction.put_client(&client("7", "shop")).unwrap();
        for (id, kind) in [
            ("10", "creator"),
            ("2", "creator"),
            ("3", "shop"),
            ("4", "creator"),
        ] {
            transaction.put_question(&question(id, kind)).unwrap();
        }
        for (client, id) in [("6", "10"), ("6", "2"), ("6", "3"), ("7", "2")] {
            transaction.put_answer(&answer(client, id)).unwrap();
        }
    });
    let transaction = store.read().unwrap();
    let answers = transaction.list_answered("6").unwrap();
    let answers: Vec<_> = answers
        .into_iter()
        .map(|one| (one.question, one.chosen_options))
        .collect();
    let row = |question: &str, chosen: &str| (question.to_string(), vec![chosen.to_string()]);
    assert_eq!(answers, [row("q2", "6 to 2"), row("q10", "6 to 10")]);
    assert_eq!(transaction.list_answered("7").unwrap(), []);
}

pub(super) fn a_chat_is_remembered_under_its_conversation(store: &mut dyn Store) {
    let chat = Chat {
        client: Some("6".into()),
        shown: Some("a\u{2} b".into()),
        ..Chat::default()
    };
    write(store, |transaction| {
        transaction.put_chat("c", &Chat::default()).unwrap();
        transaction.put_chat("c", &chat).unwrap();
    });
    let transaction = store.read().unwrap();
    assert_eq!(transaction.chat("c").unwrap(), chat);
    assert_eq!(transaction.chat("C").unwrap(), Chat::default());
}
