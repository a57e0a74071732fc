//! What every store must do. `suite!` runs all of it against one backend.

mod work;

use super::{
    Archived, Filter, Link, OperationFilter, Recorded, Removed, SpawnRecord, Stamp, Store,
    TaskTally, Transaction, Verification,
};
use crate::claim::{Claim, Lease};
use crate::gate::Gates;
use crate::id::TaskId;
use crate::task::{Note, Priority, Size, Status, Task};

/// Makes a module of tests for the store that `$make` opens in an empty folder.
macro_rules! suite {
    ($make:expr) => {
        mod conformance {
            use super::*;
            use crate::store::conformance as rules;

            #[test]
            fn conforms() {
                for rule in rules::RULES {
                    let folder = tempfile::tempdir().unwrap();
                    let make: fn(&std::path::Path) -> _ = $make;
                    rule(&mut make(folder.path()));
                }
            }
        }
    };
}
pub(super) use suite;

type Rule = fn(&mut dyn Store);

pub(super) const RULES: &[Rule] = &[
    a_task_is_read_as_it_was_written,
    a_dropped_transaction_changes_nothing,
    ids_are_never_handed_out_twice,
    edges_are_read_from_both_ends,
    a_delete_takes_its_edges_along,
    filters_combine_and_count,
    due_tasks_are_found_and_tallied,
    words_are_found,
    words_are_found_by_who_writes_them,
    nodes_go_to_any_depth,
    what_is_ready_comes_in_order,
    what_is_in_the_way_is_found,
    a_spawn_is_kept_once,
    a_link_is_new_once,
    gates_are_kept_whole,
    every_change_is_in_the_log,
    checks_are_kept_in_order,
    work::a_claim_is_kept_and_its_epoch_outlives_it,
    work::a_deleted_task_takes_its_claim_along,
    work::running_claims_are_told_from_those_that_are_over,
    work::an_active_task_is_ready_again_unless_something_comes_before_it,
    work::a_session_is_read_as_it_was_written,
    work::phases_have_an_order_and_counts,
    a_half_typed_word_is_completed_in_order,
    many_are_counted,
    what_happens_around_a_task_is_in_the_log,
    operations_are_read_newest_first,
    an_undo_holds_until_it_is_undone,
    a_deleted_task_comes_back_whole,
    archived_tasks_are_left_out,
    origins_are_found,
    reserved_ids_are_not_handed_out,
    tasks_are_read_in_pieces,
    bases_are_kept_apart,
];

const NOW: &str = "2026-01-26T09:00:00.000Z";

fn stamp() -> Stamp {
    Stamp {
        command: "test",
        at: NOW.to_string(),
        by: "tester".to_string(),
    }
}

pub(super) fn task(id: u32, title: &str) -> Task {
    Task::new(TaskId(id), title, NOW)
}

fn put(store: &mut dyn Store, tasks: &[Task]) {
    let mut transaction = store.write(&stamp()).unwrap();
    for task in tasks {
        let id = transaction.next_id().unwrap();
        assert_eq!(id, task.id, "the suite adds tasks in order");
        transaction.put(task).unwrap();
    }
    transaction.commit().unwrap();
}

fn ids(numbers: &[u32]) -> Vec<TaskId> {
    numbers.iter().map(|number| TaskId(*number)).collect()
}

fn a_task_is_read_as_it_was_written(store: &mut dyn Store) {
    let note = Note {
        at: NOW.into(),
        by: "me".into(),
        text: "a\tb\r\n\u{1b}".into(),
    };
    let mut full = task(2, "Ünïcode \"quoted\" {{TASK_ID}} & \\");
    full.description = "line\nline\u{0}nul".into();
    full.kind = "research".parse().unwrap();
    full.status = Status::Review;
    full.parent = Some(TaskId(1));
    full.depends = ids(&[1]);
    full.labels = vec!["Zeta".into(), "alpha".into()];
    full.priority = Priority::Critical;
    full.phase = Some("build".into());
    full.size = Some(Size::Large);
    full.files = vec!["src/*.rs".into()];
    full.acceptance = vec!["it works".into()];
    full.deliverables = vec!["a report".into()];
    full.notes = vec![note];
    full.assigned_agent = Some("toby".into());
    full.due = Some(NOW.into());
    full.estimate = Some(2.5);
    full.feature = Some("login".into());
    full.key = Some("k1".into());
    full.extra = serde_json::from_str(r#"{"origin":{"id":"bd-1"}}"#).unwrap();
    full.started_at = Some(NOW.into());
    put(store, &[task(1, "first"), full.clone()]);
    let transaction = store.read().unwrap();
    assert_eq!(transaction.task(TaskId(2)).unwrap(), Some(full));
    assert_eq!(transaction.task(TaskId(3)).unwrap(), None);
    assert_eq!(transaction.status(TaskId(2)).unwrap(), Some(Status::Review));
    assert_eq!(transaction.task_by_key("k1").unwrap(), Some(TaskId(2)));
    assert_eq!(transaction.task_by_key("k2").unwrap(), None);
}

fn a_dropped_transaction_changes_nothing(store: &mut dyn Store) {
    put(store, &[task(1, "kept")]);
    {
        let mut transaction = store.write(&stamp()).unwrap();
        transaction.delete(TaskId(1)).unwrap();
        transaction.put(&task(9, "lost")).unwrap();
    }
    let transaction = store.read().unwrap();
    assert!(transaction.task(TaskId(1)).unwrap().is_some());
    assert!(transaction.task(TaskId(9)).unwrap().is_none());
}

fn ids_are_never_handed_out_twice(store: &mut dyn Store) {
    put(store, &[task(1, "a"), task(2, "b")]);
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.delete(TaskId(2)).unwrap();
    transaction.commit().unwrap();
    assert_eq!(store.write(&stamp()).unwrap().next_id().unwrap(), TaskId(3));
}

fn edges_are_read_from_both_ends(store: &mut dyn Store) {
    let mut third = task(3, "c");
    third.depends = ids(&[2, 1]);
    third.parent = Some(TaskId(1));
    put(store, &[task(1, "a"), task(2, "b"), third]);
    let transaction = store.read().unwrap();
    assert_eq!(transaction.depends(TaskId(3)).unwrap(), ids(&[2, 1]));
    assert_eq!(transaction.dependents(TaskId(1)).unwrap(), ids(&[3]));
    assert_eq!(transaction.children(TaskId(1)).unwrap(), ids(&[3]));
    assert_eq!(transaction.parent(TaskId(3)).unwrap(), Some(TaskId(1)));
    assert_eq!(transaction.parent(TaskId(1)).unwrap(), None);
}

fn a_delete_takes_its_edges_along(store: &mut dyn Store) {
    let mut second = task(2, "b");
    second.depends = ids(&[1]);
    put(store, &[task(1, "a"), second]);
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.delete(TaskId(1)).unwrap();
    transaction.commit().unwrap();
    let transaction = store.read().unwrap();
    assert_eq!(transaction.depends(TaskId(2)).unwrap(), ids(&[]));
    assert_eq!(
        transaction
            .list(&Filter {
                limit: Some(9),
                ..Filter::default()
            })
            .unwrap()
            .total,
        1
    );
}

fn due_tasks_are_found_and_tallied(store: &mut dyn Store) {
    let mut tasks: Vec<Task> = (1..=5).map(|id| task(id, "x")).collect();
    for (at, day) in [(0, 1), (1, 2), (2, 3), (3, 1)] {
        tasks[at].due = Some(format!("2026-01-0{day}T00:00:00.000Z"));
        tasks[at].assigned_agent = Some("a".into());
    }
    tasks[1].feature = Some("login".into());
    tasks[1].priority = Priority::Critical;
    tasks[3].status = Status::Done;
    put(store, &tasks);
    let transaction = store.read().unwrap();
    let moment = |day: u8| Some(format!("2026-01-0{day}T00:00:00.000Z"));
    let found = |filter: Filter| -> Vec<u32> {
        let page = transaction.list(&filter).unwrap();
        page.tasks.iter().map(|task| task.id.0).collect()
    };
    let all = Filter::default;
    assert_eq!(
        found(Filter {
            due_before: moment(2),
            ..all()
        }),
        [1, 4]
    );
    assert_eq!(
        found(Filter {
            due_after: moment(2),
            ..all()
        }),
        [2, 3]
    );
    let agent = Some("a".to_string());
    let both = Filter {
        due_before: moment(3),
        due_after: moment(2),
        agent: agent.clone(),
        ..all()
    };
    assert_eq!(found(both), [2]);
    assert_eq!(
        found(Filter {
            feature: Some("login".into()),
            ..all()
        }),
        [2]
    );
    let tally = |filter: Filter| -> Vec<_> {
        let tallies = transaction.tally(&filter, &moment(3).unwrap()).unwrap();
        let counts = |one: TaskTally| (one.status, one.priority, one.tasks, one.overdue);
        tallies.into_iter().map(counts).collect()
    };
    let (open, done) = (Status::Pending, Status::Done);
    let (high, medium) = (Priority::Critical, Priority::Medium);
    let expected = [
        (open, high, 1, 1),
        (open, medium, 3, 1),
        (done, medium, 1, 0),
    ];
    assert_eq!(tally(all()), expected);
    let expected = [
        (open, high, 1, 1),
        (open, medium, 2, 1),
        (done, medium, 1, 0),
    ];
    assert_eq!(tally(Filter { agent, ..all() }), expected);
}

fn filters_combine_and_count(store: &mut dyn Store) {
    let mut tasks: Vec<Task> = (1..=6).map(|id| task(id, "x")).collect();
    tasks[1].labels = vec!["Résearch".into(), "web".into()];
    tasks[2].labels = vec!["research".into()];
    tasks[2].status = Status::Done;
    tasks[3].kind = "epic".parse().unwrap();
    tasks[4].parent = Some(TaskId(4));
    tasks[5].priority = Priority::Critical;
    tasks[5].phase = Some("build".into());
    put(store, &tasks);
    let transaction = store.read().unwrap();
    let found = |filter: Filter| {
        let page = transaction.list(&filter).unwrap();
        (
            page.tasks.iter().map(|task| task.id.0).collect::<Vec<_>>(),
            page.total,
        )
    };
    let all = Filter::default;
    assert_eq!(found(all()), (vec![1, 2, 3, 4, 5, 6], 6));
    assert_eq!(
        found(Filter {
            limit: Some(2),
            offset: 1,
            ..all()
        }),
        (vec![2, 3], 6)
    );
    let labels = vec![" RESEARCH".to_string()];
    assert_eq!(
        found(Filter {
            labels: labels.clone(),
            ..all()
        }),
        (vec![2, 3], 2)
    );
    let statuses = vec![Status::Done];
    assert_eq!(
        found(Filter {
            labels,
            statuses: statuses.clone(),
            ..all()
        }),
        (vec![3], 1)
    );
    assert_eq!(
        found(Filter {
            statuses,
            limit: Some(5),
            ..all()
        }),
        (vec![3], 1)
    );
    assert_eq!(
        found(Filter {
            kinds: vec!["epic".parse().unwrap()],
            ..all()
        }),
        (vec![4], 1)
    );
    assert_eq!(
        found(Filter {
            parent: Some(TaskId(4)),
            ..all()
        }),
        (vec![5], 1)
    );
    assert_eq!(
        found(Filter {
            priorities: vec![Priority::Critical],
            ..all()
        }),
        (vec![6], 1)
    );
    assert_eq!(
        found(Filter {
            phase: Some("build".into()),
            ..all()
        }),
        (vec![6], 1)
    );
}

fn words_are_found(store: &mut dyn Store) {
    let mut second = task(2, "Other");
    second.description = "Überprüfe the LOGIN page".into();
    put(store, &[task(1, "Login form"), second, task(3, "Logout")]);
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.put(&task(3, "Renamed")).unwrap();
    transaction.commit().unwrap();
    let transaction = store.read().unwrap();
    let found = |words: &str| {
        let page = transaction.find(words, Archived::Hidden, 10).unwrap();
        page.tasks.iter().map(|task| task.id.0).collect::<Vec<_>>()
    };
    assert_eq!(found("log"), [1, 2]);
    assert_eq!(found("uberprufe login"), [2]);
    assert_eq!(found("login OR form*"), [] as [u32; 0]);
    assert_eq!(found("  \" "), [] as [u32; 0]);
}

fn words_are_found_by_who_writes_them(store: &mut dyn Store) {
    put(store, &[task(1, "old")]);
    let mut transaction = store.write(&stamp()).unwrap();
    let found = |transaction: &dyn Transaction, words: &str| {
        let page = transaction.find(words, Archived::Hidden, 10).unwrap();
        page.tasks.iter().map(|task| task.id.0).collect::<Vec<_>>()
    };
    transaction.insert(&task(2, "new")).unwrap();
    transaction.put(&task(2, "newer")).unwrap();
    transaction.put(&task(1, "aged")).unwrap();
    assert_eq!(found(&*transaction, "new"), [2]);
    assert_eq!(found(&*transaction, "old"), [] as [u32; 0]);
    transaction.put(&task(1, "old")).unwrap();
    transaction.put(&task(1, "older")).unwrap();
    transaction.insert(&task(3, "newest")).unwrap();
    transaction.delete(TaskId(2)).unwrap();
    transaction.delete(TaskId(3)).unwrap();
    transaction.insert(&task(3, "latest")).unwrap();
    assert_eq!(found(&*transaction, "new"), [] as [u32; 0]);
    assert_eq!(found(&*transaction, "old"), [1]);
    transaction.commit().unwrap();
    let read = store.read().unwrap();
    assert_eq!(found(&*read, "new"), [] as [u32; 0]);
    assert_eq!(found(&*read, "aged"), [] as [u32; 0]);
    assert_eq!(found(&*read, "older"), [1]);
    assert_eq!(found(&*read, "latest"), [3]);
}

fn nodes_go_to_any_depth(store: &mut dyn Store) {
    let mut tasks: Vec<Task> = (1..=4).map(|id| task(id, "x")).collect();
    tasks[1].parent = Some(TaskId(1));
    tasks[2].parent = Some(TaskId(2));
    tasks[2].depends = ids(&[4]);
    put(store, &tasks);
    let transaction = store.read().unwrap();
    let below = transaction.nodes(Some(TaskId(1))).unwrap();
    assert_eq!(
        below.iter().map(|node| node.id.0).collect::<Vec<_>>(),
        [2, 3]
    );
    assert_eq!(below[1].depends, ids(&[4]));
    assert_eq!(transaction.nodes(None).unwrap().len(), 4);
}

fn what_is_ready_comes_in_order(store: &mut dyn Store) {
    let mut tasks: Vec<Task> = (1..=9).map(|id| task(id, "x")).collect();
    tasks[0].kind = "epic".parse().unwrap();
    tasks[1].parent = Some(TaskId(1));
    tasks[2].parent = Some(TaskId(2));
    tasks[3].depends = ids(&[3, 5]);
    tasks[5].depends = ids(&[5]);
    tasks[6].depends = ids(&[6]);
    tasks[7].priority = Priority::Critical;
    tasks[7].parent = Some(TaskId(1));
    tasks[8].depends = ids(&[7]);
    tasks[8].status = Status::Cancelled;
    put(store, &tasks);
    let read = store.read().unwrap();
    let ready = |root: Option<u32>, limit| {
        let page = read.ready(root.map(TaskId), limit).unwrap();
        let tasks = page.tasks.iter().map(|task| (task.id.0, task.below));
        (tasks.collect::<Vec<_>>(), page.total)
    };
    // What is cancelled does not wait: the chain below T5 is T6, T7.
    assert_eq!(ready(None, None), (vec![(8, 0), (5, 2), (3, 1)], 3));
    assert_eq!(ready(None, Some(1)), (vec![(8, 0)], 3));
    assert_eq!(ready(Some(1), None), (vec![(8, 0), (3, 1)], 2));
    assert_eq!(ready(Some(2), Some(0)), (vec![], 1));
    assert!(read.is_ready(TaskId(5)).unwrap() && !read.is_ready(TaskId(6)).unwrap());
    assert_eq!(read.unblocked_by(TaskId(5)).unwrap(), ids(&[6]));
    assert_eq!(
        read.unblocked_by(TaskId(3)).unwrap(),
        ids(&[2]),
        "the whole after its part"
    );
    drop(read);
    let mut write = store.write(&stamp()).unwrap();
    tasks[4].status = Status::Done;
    write.put(&tasks[4]).unwrap();
    assert_eq!(
        write.unblocked_by(TaskId(5)).unwrap(),
        ids(&[6]),
        "also when it is done"
    );
    write.delete(TaskId(7)).unwrap();
    let found = write.ready(None, None).unwrap().tasks;
    let found: Vec<_> = found.iter().map(|task| (task.id.0, task.below)).collect();
    assert_eq!(found, [(8, 0), (3, 1), (6, 0)]);
}

fn what_is_in_the_way_is_found(store: &mut dyn Store) {
    let mut tasks: Vec<Task> = (1..=7).map(|id| task(id, "x")).collect();
    tasks[0].kind = "epic".parse().unwrap();
    tasks[1].depends = ids(&[1]);
    tasks[2].status = Status::Cancelled;
    tasks[3].depends = ids(&[3]);
    tasks[3].parent = Some(TaskId(2));
    let names = serde_json::json!({
        "danglingDepends": ["bd-1", "bd-2"], "circularDepends": ["bd-2"],
    });
    tasks[4].extra = names.as_object().unwrap().clone();
    tasks[5].depends = ids(&[3]);
    tasks[5].status = Status::Done;
    tasks[6].depends = ids(&[5]);
    put(store, &tasks);
    let mut write = store.write(&stamp()).unwrap();
    assert_eq!(write.hindered(None, 9).unwrap(), ids(&[2, 4, 5]));
    assert_eq!(write.hindered(None, 2).unwrap(), ids(&[2, 4]));
    assert_eq!(write.hindered(Some(TaskId(2)), 9).unwrap(), ids(&[4]));
    let node = write.node(TaskId(5)).unwrap().unwrap();
    let told: Vec<String> = node.missing.iter().map(|need| need.told()).collect();
    let circle = "bd-2, which was left out because it closed a circle";
    assert_eq!(told, ["bd-1, which is not here", circle]);
    assert_eq!(write.ready(None, None).unwrap().total, 0);
    tasks[4].extra.clear();
    write.put(&tasks[4]).unwrap();
    assert!(write.is_ready(TaskId(5)).unwrap());
    let outlines = write.outlines(&ids(&[1, 2, 7, 99])).unwrap();
    let titles = [1, 2, 7, 99].map(|id| outlines.get(TaskId(id)).map(|one| one.title.as_str()));
    assert_eq!(titles, [Some("x"), Some("x"), Some("x"), None]);
}

fn spawn() -> SpawnRecord {
    SpawnRecord {
        task: TaskId(1),
        manifest_id: "a-2026-01-26".into(),
        output_file: "claudedocs/agent-outputs/2026-01-26_a.md".into(),
        at: NOW.into(),
        receipt: serde_json::json!({"skill": "x"}),
        verified_at: None,
        output_digest: None,
        forced: None,
    }
}

fn link() -> Link {
    Link {
        task: TaskId(1),
        entry: "e".into(),
        at: NOW.into(),
    }
}

fn gates() -> Gates {
    let json = r#"{"gates":{"testsPassed":{"passed":true,"at":"x","by":"y","agent":null,
        "forced":true,"evidence":{"kind":"claim"}}},"round":2,"failures":[]}"#;
    serde_json::from_str(json).unwrap()
}

fn a_spawn_is_kept_once(store: &mut dyn Store) {
    put(store, &[task(1, "a")]);
    let mut spawn = spawn();
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.put_spawn(&spawn).unwrap();
    spawn.verified_at = Some(NOW.into());
    transaction.put_spawn(&spawn).unwrap();
    let second = SpawnRecord {
        manifest_id: "a-2026-01-26-2".into(),
        ..spawn.clone()
    };
    transaction.put_spawn(&second).unwrap();
    transaction.commit().unwrap();
    let transaction = store.read().unwrap();
    assert_eq!(
        transaction.spawns(TaskId(1)).unwrap(),
        [spawn.clone(), second.clone()]
    );
    assert_eq!(transaction.latest_spawn(TaskId(1)).unwrap(), Some(second));
    assert_eq!(
        transaction.owner_of_output(&spawn.output_file).unwrap(),
        Some(TaskId(1))
    );
    assert_eq!(transaction.owner_of_output("other").unwrap(), None);
    let others = |task: u32| transaction.entries_of_others(TaskId(task)).unwrap();
    assert_eq!((others(1).len(), others(2).len()), (0, 2));
    drop(transaction);
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.put_spawn(&spawn).unwrap();
    assert_eq!(transaction.latest_spawn(TaskId(1)).unwrap(), Some(spawn));
}

fn gates_are_kept_whole(store: &mut dyn Store) {
    put(store, &[task(1, "a")]);
    let gates = gates();
    let mut transaction = store.write(&stamp()).unwrap();
    assert_eq!(
        transaction.gates(TaskId(1)).unwrap(),
        crate::gate::Gates::default()
    );
    transaction.put_gates(TaskId(1), &gates).unwrap();
    transaction.put_gates(TaskId(1), &gates).unwrap();
    assert_eq!(transaction.gates(TaskId(1)).unwrap(), gates);
    let needs = r#"{"gates":{},"round":0,"failures":[],"required":["qaPassed"],
        "forced":{"at":"x","by":"y","reasons":["z"]}}"#;
    transaction
        .put_gates(TaskId(1), &serde_json::from_str(needs).unwrap())
        .unwrap();
    transaction.commit().unwrap();
    let mut transaction = store.write(&stamp()).unwrap();
    let told = transaction.changes(1, None, 10).unwrap();
    let told: Vec<&str> = told.iter().map(|each| each.change.kind.as_str()).collect();
    assert_eq!(
        told,
        ["gate", "requiredGates", "forced"],
        "what is the same is not told"
    );
    transaction.delete(TaskId(1)).unwrap();
    assert_eq!(
        transaction.gates(TaskId(1)).unwrap(),
        crate::gate::Gates::default()
    );
}

fn check(task: u32, violations: &[&str]) -> Verification {
    Verification {
        task: TaskId(task),
        manifest_id: "a-2026-01-26".into(),
        at: NOW.into(),
        by: "tester".into(),
        skill: "ct-task-executor".into(),
        agent: "coder".into(),
        passed: violations.is_empty(),
        violations: violations.iter().map(|rule| rule.to_string()).collect(),
    }
}

fn checks_are_kept_in_order(store: &mut dyn Store) {
    put(store, &[task(1, "a"), task(2, "b")]);
    let checks = [
        check(2, &["OUT-001", "GATES"]),
        check(1, &[]),
        check(2, &[]),
    ];
    let mut transaction = store.write(&stamp()).unwrap();
    for check in &checks {
        transaction.put_verification(check).unwrap();
    }
    assert_eq!(transaction.verifications().unwrap(), checks);
    transaction.delete(TaskId(2)).unwrap();
    transaction.commit().unwrap();
    let read = store.read().unwrap();
    assert_eq!(read.verifications().unwrap(), checks[1..2]);
    assert_eq!(read.verifications_of(TaskId(1)).unwrap(), checks[1..2]);
    assert_eq!(read.verifications_of(TaskId(2)).unwrap(), []);
}

fn a_link_is_new_once(store: &mut dyn Store) {
    put(store, &[task(1, "a")]);
    let link = link();
    let mut transaction = store.write(&stamp()).unwrap();
    assert!(transaction.link(&link).unwrap());
    assert!(!transaction.link(&link).unwrap());
    assert_eq!(transaction.links(TaskId(1)).unwrap()[0], link);
    assert_eq!(transaction.linked_to("e").unwrap()[0], link);
    assert_eq!(transaction.linked_to("other").unwrap(), []);
    assert!(transaction.unlink(&link).unwrap());
    assert!(!transaction.unlink(&link).unwrap());
    assert_eq!(transaction.links(TaskId(1)).unwrap(), []);
}

fn every_change_is_in_the_log(store: &mut dyn Store) {
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.put(&task(1, "one")).unwrap();
    transaction.put(&task(2, "two")).unwrap();
    transaction.put(&task(1, "one")).unwrap();
    transaction.commit().unwrap();
    let mut transaction = store.write(&stamp()).unwrap();
    let mut second = task(2, "second");
    second.depends = vec![TaskId(1)];
    transaction.put(&second).unwrap();
    transaction.delete(TaskId(1)).unwrap();
    transaction.commit().unwrap();
    let read = store.read().unwrap();
    let all = read.changes(0, None, 10).unwrap();
    let told: Vec<_> = all
        .iter()
        .map(|each| {
            let task = each.change.task.unwrap();
            (each.cursor, each.operation, each.change.kind.as_str(), task)
        })
        .collect();
    assert_eq!(
        told,
        [
            (1, 1, "added", TaskId(1)),
            (2, 1, "added", TaskId(2)),
            (3, 2, "changed", TaskId(2)),
            (4, 2, "changed", TaskId(2)),
            (5, 2, "deleted", TaskId(1)),
        ]
    );
    let changed = serde_json::json!({
        "depends": {"from": [], "to": ["T1"]},
        "title": {"from": "two", "to": "second"},
    });
    assert_eq!(all[2].change.detail, changed);
    assert_eq!(all[4].change.detail["task"]["title"], "one");
    assert_eq!(
        (all[0].command.as_str(), all[0].by.as_str()),
        ("test", "tester")
    );
    assert_eq!(read.changes(4, None, 10).unwrap().len(), 1);
    assert_eq!(read.changes(0, None, 2).unwrap().len(), 2);
}

fn a_half_typed_word_is_completed_in_order(store: &mut dyn Store) {
    let mut tasks: Vec<Task> = (1..=30)
        .map(|id| task(id, &format!("title {id}")))
        .collect();
    for (id, labels, phase) in [(3, ["Auth", "ui"], "build"), (20, ["Ui", "zoo"], "alpha")] {
        tasks[id - 1].labels = labels.map(String::from).to_vec();
        tasks[id - 1].phase = Some(phase.to_string());
    }
    put(store, &tasks);
    let transaction = store.read().unwrap();
    let ids = |range, limit| -> Vec<u32> {
        let titles = transaction.titles(range, limit).unwrap();
        assert!(
            titles
                .iter()
                .all(|(id, title)| *title == format!("title {}", id.0))
        );
        titles.into_iter().map(|(id, _)| id.0).collect()
    };
    assert_eq!(ids(10..=12, 9), [12, 11, 10]);
    assert_eq!(ids(1..=u32::MAX, 2), [30, 29]);
    assert_eq!(ids(31..=99, 2), [] as [u32; 0]);
    assert_eq!(
        transaction.label_words("", 9).unwrap(),
        ["auth", "ui", "zoo"]
    );
    assert_eq!(transaction.label_words("b", 1).unwrap(), ["ui"]);
    assert_eq!(transaction.phase_words("", 9).unwrap(), ["alpha", "build"]);
    assert_eq!(transaction.phase_words("alphb", 9).unwrap(), ["build"]);
}

fn many_are_counted(store: &mut dyn Store) {
    let mut tasks: Vec<Task> = (1..=700).map(|id| task(id, "one of many")).collect();
    tasks[0].kind = "epic".parse().unwrap();
    tasks[699].kind = "epic".parse().unwrap();
    tasks[699].status = Status::Done;
    for (child, parent) in [(2, 1), (3, 2), (4, 3)] {
        tasks[child - 1].parent = Some(TaskId(parent));
    }
    for (id, at) in [
        (3_usize, "2026-01-27"),
        (4, "2026-01-28"),
        (5, "2026-01-29"),
    ] {
        tasks[id - 1].status = Status::Done;
        tasks[id - 1].updated_at = at.to_string();
    }
    put(store, &tasks);
    let read = store.read().unwrap();
    let below: Vec<_> = read.counts(Some(TaskId(1))).unwrap().into_iter().collect();
    assert_eq!(below, [(Status::Pending, 1), (Status::Done, 2)]);
    let all: Vec<_> = read.counts(None).unwrap().into_iter().collect();
    assert_eq!(all, [(Status::Pending, 696), (Status::Done, 4)]);
    let recent = |root, limit| read.recent(root, Status::Done, limit).unwrap();
    assert_eq!(recent(Some(TaskId(1)), 9), ids(&[4, 3]));
    assert_eq!(recent(None, 2), ids(&[5, 4]));
    assert_eq!(read.open_epics(9).unwrap(), (ids(&[1]), 1));
    assert_eq!(read.open_epics(0).unwrap(), (ids(&[]), 1));
    // Few ids are looked up one by one, many in one go.
    for up_to in [702, 1_000] {
        let asked = (up_to - 12..=up_to).map(TaskId);
        let asked: std::collections::BTreeSet<TaskId> = asked.chain((1..600).map(TaskId)).collect();
        let missing: Vec<u32> = read
            .missing(&asked)
            .unwrap()
            .iter()
            .map(|id| id.0)
            .collect();
        let expected: Vec<u32> = (up_to - 12..=up_to).filter(|id| *id > 700).collect();
        assert_eq!(missing, expected);
    }
    let few = [1, 701].map(TaskId).into();
    assert_eq!(read.missing(&few).unwrap(), [TaskId(701)].into());
}

/// Says kind, operation and detail of changes.
fn told(changes: &[Recorded]) -> Vec<String> {
    let told = changes.iter().map(|each| {
        let change = &each.change;
        format!("{} {} {}", each.operation, change.kind, change.detail)
    });
    told.collect()
}

fn what_happens_around_a_task_is_in_the_log(store: &mut dyn Store) {
    put(store, &[task(1, "a")]);
    let (mut spawn, link, gates) = (spawn(), link(), gates());
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.put_spawn(&spawn).unwrap();
    transaction.put_spawn(&spawn).unwrap();
    spawn.verified_at = Some(NOW.into());
    spawn.output_digest = Some("sha256:1".into());
    transaction.put_spawn(&spawn).unwrap();
    spawn.forced = Some("me".into());
    transaction.put_spawn(&spawn).unwrap();
    transaction.link(&link).unwrap();
    transaction.link(&link).unwrap();
    transaction.unlink(&link).unwrap();
    transaction.put_gates(TaskId(1), &gates).unwrap();
    transaction.put_gates(TaskId(1), &gates).unwrap();
    transaction.commit().unwrap();
    let read = store.read().unwrap();
    let all = read.changes(1, Some(TaskId(1)), 99).unwrap();
    assert_eq!(
        told(&all),
        [
            r#"2 spawned {"manifestId":"a-2026-01-26","outputFile":"claudedocs/agent-outputs/2026-01-26_a.md","skill":"x"}"#,
            r#"2 verified {"manifestId":"a-2026-01-26","outputDigest":"sha256:1"}"#,
            r#"2 linked {"at":"2026-01-26T09:00:00.000Z","entry":"e"}"#,
            r#"2 unlinked {"at":"2026-01-26T09:00:00.000Z","entry":"e"}"#,
            r#"2 gate {"byCommand":false,"forced":true,"gate":"testsPassed","passed":true}"#,
        ]
    );
}

fn operations_are_read_newest_first(store: &mut dyn Store) {
    put(store, &[task(1, "one"), task(2, "two")]);
    for (id, title, at) in [(1, "first", "2026-01-27"), (2, "second", "2026-01-28")] {
        let stamp = Stamp {
            command: "update",
            at: at.into(),
            by: "other".into(),
        };
        let mut transaction = store.write(&stamp).unwrap();
        transaction.put(&task(id, title)).unwrap();
        transaction.commit().unwrap();
    }
    let read = store.read().unwrap();
    let numbers = |filter: &OperationFilter| {
        let (operations, total) = read.operations(filter).unwrap();
        let numbers: Vec<u64> = operations.iter().map(|each| each.number).collect();
        (numbers, total)
    };
    let all = OperationFilter::default;
    assert_eq!(numbers(&all()), (vec![3, 2, 1], 3));
    let task = Some(TaskId(2));
    assert_eq!(numbers(&OperationFilter { task, ..all() }), (vec![3, 1], 2));
    let limit = Some(1);
    assert_eq!(numbers(&OperationFilter { limit, ..all() }), (vec![3], 3));
    let before = Some(3);
    assert_eq!(
        numbers(&OperationFilter { before, ..all() }),
        (vec![2, 1], 2)
    );
    let since = Some("2026-01-27".to_string());
    assert_eq!(
        numbers(&OperationFilter { since, ..all() }),
        (vec![3, 2], 2)
    );
    let first = read.operation(1).unwrap().unwrap();
    assert_eq!((first.changes, first.command.as_str()), (2, "test"));
    let third = read.operation(3).unwrap().unwrap();
    assert_eq!((third.changes, third.by.as_str()), (1, "other"));
    assert_eq!(read.operation(4).unwrap(), None);
    let changes = read.changes_of(1, 9).unwrap();
    assert_eq!(
        told(&changes),
        [r#"1 added {"title":"one"}"#, r#"1 added {"title":"two"}"#]
    );
    assert_eq!(read.changes_of(1, 1).unwrap().len(), 1);
    assert_eq!(read.last_cursor().unwrap(), 4);
}

fn an_undo_holds_until_it_is_undone(store: &mut dyn Store) {
    assert_eq!(store.read().unwrap().last_cursor().unwrap(), 0);
    put(store, &[task(1, "one")]);
    let mut undo = |of: u64, title: &str| {
        let mut transaction = store.write(&stamp()).unwrap();
        let own = transaction.undoing(of).unwrap();
        transaction.put(&task(1, title)).unwrap();
        transaction.commit().unwrap();
        let read = store.read().unwrap();
        let undone = (1..=own).map(|number| read.operation(number).unwrap().unwrap().undone_by);
        assert_eq!(read.operation(own).unwrap().unwrap().undoes, Some(of));
        undone.collect::<Vec<_>>()
    };
    assert_eq!(undo(1, "a"), [Some(2), None]);
    assert_eq!(undo(2, "b"), [None, Some(3), None]);
    assert_eq!(undo(1, "c"), [Some(4), Some(3), None, None]);
}

fn a_deleted_task_comes_back_whole(store: &mut dyn Store) {
    let mut child = task(3, "child");
    (child.parent, child.depends) = (Some(TaskId(2)), ids(&[1]));
    child.key = Some("k".into());
    child.labels = vec!["x".into()];
    put(store, &[task(1, "one"), task(2, "parent"), child.clone()]);
    let spawn = SpawnRecord {
        task: TaskId(3),
        ..spawn()
    };
    let link = Link {
        task: TaskId(3),
        ..link()
    };
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.put_spawn(&spawn).unwrap();
    transaction.link(&link).unwrap();
    transaction.put_gates(TaskId(3), &gates()).unwrap();
    let checks = [check(3, &["OUT-001"]), check(3, &[])];
    for check in &checks {
        transaction.put_verification(check).unwrap();
    }
    let claim = Claim::after(
        None,
        TaskId(3),
        "ada",
        NOW.parse().unwrap(),
        Lease::default(),
    );
    transaction.put_claim(&claim).unwrap();
    transaction.delete(TaskId(3)).unwrap();
    transaction.commit().unwrap();
    let last = store.read().unwrap().changes(6, None, 9).unwrap();
    let removed: Removed = serde_json::from_value(last[0].change.detail.clone()).unwrap();
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.restore(&removed).unwrap();
    transaction.commit().unwrap();
    let read = store.read().unwrap();
    assert_eq!(read.task(TaskId(3)).unwrap(), Some(child));
    assert_eq!(read.children(TaskId(2)).unwrap(), ids(&[3]));
    assert_eq!(read.spawns(TaskId(3)).unwrap(), [spawn]);
    assert_eq!(read.links(TaskId(3)).unwrap(), [link]);
    assert_eq!(read.gates(TaskId(3)).unwrap(), gates());
    assert_eq!(read.verifications_of(TaskId(3)).unwrap(), checks);
    assert_eq!(read.claim(TaskId(3)).unwrap(), Some(claim));
    assert_eq!(read.find("child", Archived::Hidden, 9).unwrap().total, 1);
    let last = read.changes(7, None, 9).unwrap();
    assert_eq!(
        told(&last),
        [r#"3 restored {"title":"child"}"#],
        "one change tells it all"
    );
}

fn archived_tasks_are_left_out(store: &mut dyn Store) {
    let mut tasks: Vec<Task> = (1..=4).map(|id| task(id, "x")).collect();
    tasks[1].status = Status::Done;
    tasks[2].status = Status::Cancelled;
    tasks[1].completed_at = Some("2026-01-02".into());
    tasks[2].cancelled_at = Some("2026-01-03".into());
    put(store, &tasks);
    for task in &mut tasks[1..3] {
        task.archived_at = Some(NOW.into());
    }
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.put(&tasks[1]).unwrap();
    transaction.put(&tasks[2]).unwrap();
    transaction.commit().unwrap();
    let read = store.read().unwrap();
    let found = |archived: Archived, statuses: &[Status], limit: Option<u32>| {
        let filter = Filter {
            archived,
            statuses: statuses.to_vec(),
            limit,
            ..Filter::default()
        };
        let page = read.list(&filter).unwrap();
        let ids: Vec<u32> = page.tasks.iter().map(|task| task.id.0).collect();
        (ids, page.total)
    };
    assert_eq!(found(Archived::Hidden, &[], None), (vec![1, 4], 2));
    assert_eq!(found(Archived::Hidden, &[], Some(1)), (vec![1], 2));
    assert_eq!(found(Archived::Only, &[], Some(1)), (vec![2], 2));
    assert_eq!(found(Archived::Shown, &[], Some(9)), (vec![1, 2, 3, 4], 4));
    let done = [Status::Done];
    assert_eq!(found(Archived::Hidden, &done, Some(9)), (vec![], 0));
    assert_eq!(found(Archived::Only, &done, Some(9)), (vec![2], 1));
    assert_eq!(found(Archived::Shown, &done, Some(9)), (vec![2], 1));
    let words = |archived| read.find("x", archived, 9).unwrap().total;
    let all = [Archived::Hidden, Archived::Only, Archived::Shown].map(words);
    assert_eq!(all, [2, 2, 4]);
    let closed_before = Some("2026-01-03".to_string());
    let archived = Archived::Shown;
    let filter = Filter {
        closed_before,
        archived,
        ..Filter::default()
    };
    assert_eq!(read.list(&filter).unwrap().total, 1);
    drop(read);
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.delete(TaskId(2)).unwrap();
    transaction.put(&task(3, "open again")).unwrap();
    transaction.commit().unwrap();
    let read = store.read().unwrap();
    let count = |archived| {
        let filter = Filter {
            archived,
            limit: Some(0),
            ..Filter::default()
        };
        read.list(&filter).unwrap().total
    };
    assert_eq!([Archived::Hidden, Archived::Only].map(count), [3, 0]);
}

fn from(id: u32, origin: &str) -> Task {
    let mut task = task(id, "from elsewhere");
    let origin = serde_json::json!({"format": "beads", "id": origin});
    task.extra.insert("origin".to_string(), origin);
    task
}

fn origins_are_found(store: &mut dyn Store) {
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.insert(&from(1, "bd-1")).unwrap();
    transaction.put(&from(2, "bd-2")).unwrap();
    transaction.commit().unwrap();
    let mut transaction = store.write(&stamp()).unwrap();
    let found = |id| transaction.task_by_origin("beads", id).unwrap();
    assert_eq!(
        (found("bd-1"), found("bd-2")),
        (Some(TaskId(1)), Some(TaskId(2)))
    );
    assert_eq!(transaction.task_by_origin("todo", "bd-1").unwrap(), None);
    assert_eq!(transaction.tasks_by_origin("bd-2").unwrap(), ids(&[2]));
    transaction.put(&from(2, "bd-3")).unwrap();
    transaction.delete(TaskId(1)).unwrap();
    let found = |id| transaction.task_by_origin("beads", id).unwrap();
    assert_eq!(
        (found("bd-1"), found("bd-2"), found("bd-3")),
        (None, None, Some(TaskId(2)))
    );
    assert_eq!(transaction.changes(0, None, 10).unwrap().len(), 4);
}

fn reserved_ids_are_not_handed_out(store: &mut dyn Store) {
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.reserve_id(TaskId(7)).unwrap();
    transaction.reserve_id(TaskId(3)).unwrap();
    assert_eq!(transaction.next_id().unwrap(), TaskId(8));
}

fn tasks_are_read_in_pieces(store: &mut dyn Store) {
    put(store, &[task(1, "a"), task(2, "b"), task(3, "c")]);
    let transaction = store.read().unwrap();
    let read = |after, limit| -> Vec<TaskId> {
        let tasks = transaction.tasks_after(TaskId(after), limit).unwrap();
        tasks.iter().map(|task| task.id).collect()
    };
    assert_eq!(
        (read(0, 2), read(2, 2), read(3, 2)),
        (ids(&[1, 2]), ids(&[3]), ids(&[]))
    );
}

fn bases_are_kept_apart(store: &mut dyn Store) {
    let mut transaction = store.write(&stamp()).unwrap();
    for (file, task, base) in [("a", 2, "x"), ("a", 1, "y"), ("b", 1, "z"), ("a", 2, "w")] {
        transaction
            .put_base(file, TaskId(task), Some(base))
            .unwrap();
    }
    transaction.put_base("b", TaskId(1), None).unwrap();
    assert_eq!(transaction.base_ids("a").unwrap(), ids(&[1, 2]));
    assert_eq!(
        transaction.base("a", TaskId(2)).unwrap().as_deref(),
        Some("w")
    );
    assert_eq!(transaction.base("b", TaskId(1)).unwrap(), None);
}
