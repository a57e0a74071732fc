//! Rules of agents, runs, messages and conversations.

use super::Store;
use crate::agent::{Agent, AgentStatus, Kind, Role};
use crate::run::{
    AnsweredBy, Conversation, ConversationKind, ConversationStatus, DELEGATION, Detail, Message,
    RoutedBy, Run, RunKind, RunStatus, Speaker, Usage,
};
use crate::store::records::{ConversationFilter, Dir, Order, RunFilter, RunPage, Tally};

fn put(store: &mut dyn Store, agents: &[&Agent]) {
    let mut transaction = store.write_records().unwrap();
    for agent in agents {
        transaction.put_agent(agent).unwrap();
    }
    transaction.commit().unwrap();
}

fn ids(store: &mut dyn Store) -> Vec<String> {
    let agents = store.read().unwrap().agents().unwrap();
    agents.into_iter().map(|agent| agent.id).collect()
}

fn full() -> Agent {
    Agent {
        user_id: Some("u".into()),
        description: "d".into(),
        role: Role::Specialist,
        objective: "o".into(),
        prompt: "p\n\"q\"".into(),
        model: "m".into(),
        temperature: 1.25,
        max_tokens: 9,
        color: "#010203".into(),
        icon: "star".into(),
        tags: vec!["second war".into(), "ä".into()],
        tools: vec!["t".into()],
        intents: vec!["a.b".into()],
        capability: Some("c".into()),
        skills: vec!["s".into()],
        endpoint: Some("http://127.0.0.1:1/".into()),
        command: vec!["run".into(), "a b".into()],
        healthcheck: Some("http://127.0.0.1:1/h".into()),
        timeout_ms: 7,
        status: AgentStatus::Paused,
        is_runtime: true,
        created_at: Some("2026-01-26T09:00:00.000Z".into()),
        updated_at: Some("2026-01-26T09:00:01.000Z".into()),
        last_used_at: Some("2026-01-26T09:00:02.000Z".into()),
        ..Agent::new("full", Kind::Http, "Full")
    }
}

pub(super) fn an_agent_is_read_as_it_was_written(store: &mut dyn Store) {
    let plain = Agent::new("plain", Kind::Persistent, "Plain");
    put(store, &[&full(), &plain]);
    let transaction = store.read().unwrap();
    assert_eq!(transaction.agent("full").unwrap(), Some(full()));
    assert_eq!(transaction.agent("plain").unwrap(), Some(plain));
    assert_eq!(transaction.agent("FULL").unwrap(), None);
}

pub(super) fn agents_come_in_the_order_of_their_first_writing(store: &mut dyn Store) {
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

pub(super) fn what_is_not_committed_is_not_there(store: &mut dyn Store) {
    let mut transaction = store.write_records().unwrap();
    transaction.put_agent(&full()).unwrap();
    assert!(transaction.agent("full").unwrap().is_some());
    drop(transaction);
    assert_eq!(ids(store), [] as [String; 0]);
}

pub(super) fn each_change_of_an_agent_is_a_revision(store: &mut dyn Store) {
    let revision = |store: &mut dyn Store| store.read().unwrap().agents_revision().unwrap();
    assert_eq!(revision(store), 0);
    put(store, &[&full()]);
    let first = revision(store);
    put(store, &[&full()]);
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

pub(super) fn runtime_agents_are_counted(store: &mut dyn Store) {
    let plain = Agent::new("plain", Kind::Persistent, "Plain");
    put(store, &[&full(), &plain]);
    assert_eq!(store.read().unwrap().runtime_agents().unwrap(), 1);
}

pub(super) fn uses_of_agents_are_kept(store: &mut dyn Store) {
    let mut transaction = store.write_records().unwrap();
    transaction
        .use_agent("b", "2026-01-26T09:00:00.000Z")
        .unwrap();
    transaction
        .use_agent("a", "2026-01-26T09:00:01.000Z")
        .unwrap();
    transaction
        .use_agent("b", "2026-01-26T09:00:02.000Z")
        .unwrap();
    let uses = transaction.agent_uses().unwrap();
    let uses: Vec<_> = uses.iter().map(|(id, at)| (&id[..], &at[17..])).collect();
    assert_eq!(uses, [("a", "01.000Z"), ("b", "02.000Z")]);
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

fn put_runs(store: &mut dyn Store, runs: &[Run]) {
    let mut transaction = store.write_records().unwrap();
    for run in runs {
        transaction.put_run(run).unwrap();
    }
    transaction.commit().unwrap();
}

pub(super) fn a_run_is_read_as_it_was_written(store: &mut dyn Store) {
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

pub(super) fn every_kind_and_status_can_be_kept(store: &mut dyn Store) {
    for (number, status) in RunStatus::ALL.iter().enumerate() {
        let one = run(&number.to_string(), None, *status);
        let kinds = RunKind::ALL.iter().map(|kind| Run {
            id: format!("{number}-{kind}"),
            kind: *kind,
            ..one.clone()
        });
        let all: Vec<Run> = kinds.collect();
        put_runs(store, &all);
        let transaction = store.read().unwrap();
        let kept = all.iter().map(|one| transaction.run(&one.id).unwrap());
        assert!(kept.zip(&all).all(|(kept, one)| kept.as_ref() == Some(one)));
    }
    let open = store.read().unwrap().list_unfinished("o").unwrap();
    let goes_on = |run: &Run| matches!(run.status, RunStatus::Pending | RunStatus::Running);
    assert_eq!(open.len(), 2 * RunKind::ALL.len());
    assert!(open.iter().all(goes_on));
}

pub(super) fn runs_come_newest_first_and_filters_count(store: &mut dyn Store) {
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

pub(super) fn tallies_follow_every_change_of_a_run(store: &mut dyn Store) {
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

pub(super) fn what_was_answered_in_the_place_of_an_agent_is_counted(store: &mut dyn Store) {
    let failed = |id: &str, agent, status| Run {
        error: Some("agent_invoke_failed: x".into()),
        ..run(id, agent, status)
    };
    let done = RunStatus::Completed;
    let query = Run {
        kind: RunKind::Query,
        ..failed("q", Some("a"), done)
    };
    put_runs(
        store,
        &[
            failed("1", Some("a"), done),
            run("2", Some("a"), done),
            failed("3", None, done),
            failed("4", Some("a"), RunStatus::Failed),
            query,
        ],
    );
    let transaction = store.read().unwrap();
    let counted = transaction.tallies(None).unwrap().into_iter();
    let counted = counted.filter(|tally| tally.answered_by_fallback > 0);
    let counted: Vec<_> = counted
        .map(|one| (one.agent, one.answered_by_fallback))
        .collect();
    assert_eq!(counted, [(Some("a".to_string()), 1)]);
}

pub(super) fn events_grow_and_are_read_from_any_cursor(store: &mut dyn Store) {
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

pub(super) fn delegations_come_newest_first(store: &mut dyn Store) {
    let mut transaction = store.write_records().unwrap();
    let other = Run {
        user: "v".into(),
        ..run("y", None, RunStatus::Running)
    };
    transaction
        .put_run(&run("x", None, RunStatus::Running))
        .unwrap();
    transaction.put_run(&other).unwrap();
    for (kind, run) in [
        ("k", "x"),
        (DELEGATION, "x"),
        (DELEGATION, "y"),
        (DELEGATION, "x"),
    ] {
        transaction
            .add_event(run, "t", kind, Detail::new())
            .unwrap();
    }
    let cursors = |user, before, limit| -> Vec<u64> {
        let events = transaction.delegations(user, before, limit).unwrap();
        events.iter().map(|event| event.cursor).collect()
    };
    assert_eq!(cursors(None, None, 9), [4, 3, 2]);
    assert_eq!(cursors(None, Some(4), 1), [3]);
    assert_eq!(cursors(Some("u"), None, 9), [4, 2]);
    assert_eq!(cursors(Some("w"), None, 9), [0; 0]);
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

pub(super) fn the_last_messages_come_in_the_order_in_which_they_were_said(store: &mut dyn Store) {
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

pub(super) fn conversations_come_by_what_was_said_last(store: &mut dyn Store) {
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
