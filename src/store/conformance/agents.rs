//! Rules of agents, runs, messages and conversations.

use super::Store;
use crate::agent::{Agent, Kind};
use crate::run::{
    AnsweredBy, Conversation, ConversationKind, ConversationStatus, Detail, Message, RoutedBy, Run,
    RunKind, RunStatus, Speaker, Usage,
};
use crate::store::records::{ConversationFilter, Dir, Order, RunFilter, RunPage, Tally};

fn put(store: &mut Store, agents: &[&Agent]) {
    let mut transaction = store.write_records().unwrap();
    for agent in agents {
        transaction.put_agent(agent).unwrap();
    }
    transaction.commit().unwrap();
}

fn ids(store: &mut Store) -> Vec<String> {
    let agents = store.read().unwrap().agents().unwrap();
    agents.into_iter().map(|agent| agent.id).collect()
}

pub(super) fn agents_come_in_the_order_of_their_first_writing(store: &mut Store) {
    let agent = |id| Agent::new(id, Kind::Persistent, id);
    put(store, &[&agent("b"), &agent("a"), &agent("c")]);
    put(store, &[&agent("b")]);
    assert_eq!(ids(store), ["b", "a", "c"]);
    let mut transaction = store.write_records().unwrap();
    assert!(transaction.remove_agent("a").unwrap());
    assert!(!transaction.remove_agent("a").unwrap());
    transaction.commit().unwrap();
    assert_eq!(ids(store), ["b", "c"]);
}

pub(super) fn each_change_of_an_agent_is_a_revision(store: &mut Store) {
    let revision = |store: &mut Store| store.read().unwrap().agents_revision().unwrap();
    assert_eq!(revision(store), 0);
    put(store, &[&Agent::new("full", Kind::Persistent, "Full")]);
    let first = revision(store);
    put(store, &[&Agent::new("full", Kind::Persistent, "Full")]);
    let second = revision(store);
    assert!(0 < first && first < second);
    let mut transaction = store.write_records().unwrap();
    transaction.remove_agent("nobody").unwrap();
    transaction
        .use_agent("full", "2026-01-26T09:00:00.000Z")
        .unwrap();
    transaction.commit().unwrap();
    assert_eq!(revision(store), second);
    let mut transaction = store.write_records().unwrap();
    transaction.remove_agent("full").unwrap();
    transaction.commit().unwrap();
    assert!(revision(store) > second);
}

fn run(id: &str, agent: Option<&str>, status: RunStatus) -> Run {
    Run {
        status,
        user: "u".into(),
        agent: agent.map(str::to_string),
        routed_by: RoutedBy::Rule,
        routing_reason: "r".into(),
        started_at: "2026-01-26T09:00:00.000Z".into(),
        owner: "o".into(),
        ..Run::new(id.into(), RunKind::Execution, "s", "i".into())
    }
}

fn finish(id: &str, agent: &str, time: u64) -> Run {
    Run {
        kind: RunKind::Query,
        requested_agent: Some("a".into()),
        output: Some("o".into()),
        routed_by: RoutedBy::Requested,
        routing_score: 9,
        answered_by: Some(AnsweredBy::Model),
        model: Some("m".into()),
        usage: Some(Usage {
            input_tokens: Some(1),
            output_tokens: None,
            total_tokens: Some(3),
        }),
        cost: Some(0.25),
        execution_time_ms: Some(time),
        error: Some("e".into()),
        conversation: Some("c".into()),
        started_at: "2026-01-26T09:00:01.000Z".into(),
        completed_at: Some("2026-01-26T09:00:02.000Z".into()),
        ..run(id, Some(agent), RunStatus::Completed)
    }
}

fn put_runs(store: &mut Store, runs: &[Run]) {
    let mut transaction = store.write_records().unwrap();
    for run in runs {
        transaction.put_run(run).unwrap();
    }
    transaction.commit().unwrap();
}

pub(super) fn a_run_is_read_as_it_was_written(store: &mut Store) {
    let (plain, full) = (run("1", None, RunStatus::Pending), finish("2", "a", 7));
    put_runs(store, &[plain.clone(), full.clone()]);
    let transaction = store.read().unwrap();
    assert_eq!(transaction.run("1").unwrap(), Some(plain.clone()));
    assert_eq!(transaction.run("2").unwrap(), Some(full));
    assert_eq!(transaction.run("3").unwrap(), None);
    assert_eq!(transaction.owners().unwrap(), ["o"]);
    assert_eq!(transaction.list_unfinished("o").unwrap(), [plain]);
    assert_eq!(transaction.list_unfinished("other").unwrap(), []);
}

pub(super) fn runs_come_newest_first_and_filters_count(store: &mut Store) {
    let open = run("2", Some("b"), RunStatus::Running);
    put_runs(store, &[finish("1", "a", 1), open, finish("3", "a", 1)]);
    put_runs(store, &[run("2", Some("b"), RunStatus::Failed)]);
    let transaction = store.read().unwrap();
    let all = RunFilter {
        limit: 9,
        ..RunFilter::default()
    };
    let found = |filter: RunFilter| {
        let page = transaction.runs(None, &filter).unwrap();
        let ids: Vec<_> = page.runs.into_iter().map(|run| run.id).collect();
        (ids.join(" "), page.total)
    };
    assert_eq!(found(all.clone()), ("3 2 1".into(), 3));
    let one = RunFilter {
        limit: 1,
        ..all.clone()
    };
    assert_eq!(found(one.clone()), ("3".into(), 3));
    let second = RunFilter { offset: 1, ..one };
    assert_eq!(found(second), ("2".into(), 3));
    let agent = RunFilter {
        agent: Some("a".into()),
        ..all.clone()
    };
    assert_eq!(found(agent), ("3 1".into(), 2));
    let status = RunFilter {
        status: Some(RunStatus::Failed),
        ..all.clone()
    };
    assert_eq!(found(status), ("2".into(), 1));
    let kind = RunFilter {
        kind: Some(RunKind::Plan),
        ..all.clone()
    };
    assert_eq!(found(kind), ("".into(), 0));
    assert_eq!(transaction.runs(Some("u"), &all).unwrap().total, 3);
    let none = transaction.runs(Some("other"), &all).unwrap();
    assert_eq!(none, RunPage::default());
    drop(transaction);
    let named = Run {
        input: "Über Ärger".into(),
        ..run("4", Some("c"), RunStatus::Running)
    };
    put_runs(store, &[named]);
    let transaction = store.read().unwrap();
    let found = |words: &str, order, dir| {
        let filter = RunFilter {
            words: words.into(),
            order,
            dir,
            ..all.clone()
        };
        let page = transaction.runs(None, &filter).unwrap();
        let ids: Vec<_> = page.runs.into_iter().map(|run| run.id).collect();
        (ids.join(" "), page.total)
    };
    assert_eq!(found(" uber ÄRG", Order::Started, None), ("4".into(), 1));
    assert_eq!(found("3", Order::Started, None), ("3".into(), 1));
    let shortest = found("", Order::Duration, Some(Dir::Asc));
    assert_eq!(shortest, ("3 1 4 2".into(), 4), "what is unknown is last");
}

pub(super) fn tallies_follow_every_change_of_a_run(store: &mut Store) {
    put_runs(
        store,
        &[run("1", None, RunStatus::Running), finish("2", "a", 7)],
    );
    put_runs(store, &[finish("3", "a", 2), finish("2", "a", 9)]);
    let of = |agent: Option<&str>, status, runs, timed, time_ms, last: &str| Tally {
        agent: agent.map(str::to_string),
        kind: if agent.is_some() {
            RunKind::Query
        } else {
            RunKind::Execution
        },
        status,
        runs,
        timed,
        time_ms,
        last_started: format!("2026-01-26T09:00:{last}.000Z"),
        answered_by_fallback: 0,
    };
    let open = of(None, RunStatus::Running, 1, 0, 0, "00");
    let done = of(Some("a"), RunStatus::Completed, 2, 2, 11, "01");
    let transaction = store.read().unwrap();
    assert_eq!(transaction.tallies(Some("u")).unwrap(), [open, done]);
    assert_eq!(transaction.tallies(Some("other")).unwrap(), []);
    drop(transaction);
    put_runs(store, &[run("1", None, RunStatus::Failed)]);
    let tallies = store.read().unwrap().tallies(None).unwrap();
    let statuses: Vec<_> = tallies.iter().map(|tally| tally.status).collect();
    assert_eq!(statuses, [RunStatus::Failed, RunStatus::Completed]);
}

pub(super) fn events_grow_and_are_read_from_any_cursor(store: &mut Store) {
    let mut transaction = store.write_records().unwrap();
    assert_eq!(transaction.last_event().unwrap(), 0);
    let detail: Detail = serde_json::from_str(r#"{"a":[1,"ä"]}"#).unwrap();
    for (at, run) in ["x", "y", "x"].into_iter().enumerate() {
        let event = transaction.add_event(run, "t", "k", detail.clone());
        assert_eq!(event.unwrap().cursor, at as u64 + 1);
    }
    let cursors = |run, since, limit| -> Vec<u64> {
        let events = transaction.events(run, since, limit).unwrap();
        assert!(
            events
                .iter()
                .all(|event| event.detail == detail && event.kind == "k")
        );
        events.iter().map(|event| event.cursor).collect()
    };
    assert_eq!(cursors(None, 0, 9), [1, 2, 3]);
    assert_eq!(cursors(None, 1, 1), [2]);
    assert_eq!(cursors(Some("x"), 1, 9), [3]);
    assert_eq!(transaction.last_event().unwrap(), 3);
}

fn message(number: usize, conversation: Option<&str>, run: Option<&str>) -> Message {
    Message {
        id: format!("m{number}"),
        conversation: conversation.map(str::to_string),
        run: run.map(str::to_string),
        speaker: Speaker::Agent,
        content: format!("text {number}"),
        metadata: Detail::from_iter([("sender".to_string(), "a".into())]),
        created_at: "2026-01-26T09:00:00.000Z".into(),
    }
}

pub(super) fn the_last_messages_come_in_the_order_in_which_they_were_said(store: &mut Store) {
    let mut transaction = store.write_records().unwrap();
    let said = [
        message(1, Some("c"), None),
        message(2, Some("c"), Some("r")),
        message(3, None, Some("r")),
        message(4, Some("c"), Some("q")),
    ];
    for one in &said {
        transaction.add_message(one).unwrap();
    }
    let latest = [said[1].clone(), said[3].clone()];
    let last = |id| transaction.messages(id, None, 2).unwrap();
    assert_eq!(last("c").unwrap(), latest);
    assert_eq!(last("none"), Some(vec![]));
    assert_eq!(transaction.message_count("c").unwrap(), 3);
    assert_eq!(transaction.message_count("none").unwrap(), 0);
    assert_eq!(transaction.run_messages("r").unwrap(), said[1..3]);
    let before = |id, limit| transaction.messages("c", Some(id), limit).unwrap();
    assert_eq!(before("m4", 9).unwrap(), said[0..2]);
    assert_eq!(before("m4", 1).unwrap(), said[1..2]);
    assert_eq!(before("m1", 9), Some(vec![]));
    // A missing message, and a message of another conversation.
    assert_eq!((before("none", 9), before("m3", 1)), (None, None));
    let after = |cursor, limit| -> Vec<u64> {
        let said = transaction.messages_after(cursor, limit).unwrap();
        said.into_iter().map(|(cursor, _)| cursor).collect()
    };
    assert_eq!((after(0, 9), after(0, 1)), (vec![1, 2, 4], vec![1]));
    assert_eq!((after(2, 9), after(4, 9)), (vec![4], vec![]));
    assert_eq!(transaction.messages_after(3, 1).unwrap()[0].1, said[3]);
    assert_eq!(transaction.last_said().unwrap(), 4);
}

pub(super) fn conversations_come_by_what_was_said_last(store: &mut Store) {
    let conversation = |id: &str, user: &str, second| Conversation {
        id: id.into(),
        user_id: user.into(),
        agent_id: "a".into(),
        title: Some("t".into()),
        kind: ConversationKind::Agent,
        status: ConversationStatus::Active,
        created_at: "2026-01-26T09:00:00.000Z".into(),
        updated_at: "2026-01-26T09:00:00.000Z".into(),
        last_message_at: format!("2026-01-26T09:00:0{second}.000Z"),
    };
    let mut transaction = store.write_records().unwrap();
    for one in [
        conversation("1", "u", 1),
        conversation("2", "v", 2),
        conversation("3", "u", 2),
    ] {
        transaction.put_conversation(&one).unwrap();
    }
    let filter = |status, limit| ConversationFilter {
        agent: Some("a".into()),
        status,
        limit,
        ..ConversationFilter::default()
    };
    let ids = |user: Option<&str>, filter: ConversationFilter| {
        let page = transaction.conversations(user, &filter).unwrap();
        let ids: Vec<_> = page.conversations.into_iter().map(|one| one.id).collect();
        (ids.join(" "), page.total)
    };
    assert_eq!(ids(None, filter(None, 2)), ("3 2".into(), 3));
    let active = Some(ConversationStatus::Active);
    assert_eq!(ids(Some("u"), filter(active, 9)), ("3 1".into(), 2));
    let archived = Some(ConversationStatus::Archived);
    assert_eq!(ids(None, filter(archived, 9)), ("".into(), 0));
    let named = |words: &str| ConversationFilter {
        words: words.into(),
        ..filter(None, 9)
    };
    assert_eq!(ids(None, named(" T")), ("3 2 1".into(), 3));
    assert_eq!(ids(None, named("other")), ("".into(), 0));
    let changed = conversation("1", "u", 3);
    transaction.put_conversation(&changed).unwrap();
    assert_eq!(transaction.conversation("1").unwrap(), Some(changed));
    assert_eq!(transaction.conversation("4").unwrap(), None);
}
