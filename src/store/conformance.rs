//! What every store must do. `suite!` runs all of it against one backend.

use super::{Filter, Link, SpawnRecord, Stamp, Store, Verification};
use crate::id::TaskId;
use crate::task::{Note, Priority, Size, Status, Task, TaskType};

/// Makes a module of tests for the store that `$make` opens in an empty folder.
macro_rules! suite {
    ($make:expr) => {
        mod conformance {
            use super::*;
            use crate::store::conformance as rules;

            #[test]
            fn conforms() {
                for (name, rule) in rules::RULES {
                    let folder = tempfile::tempdir().unwrap();
                    let make: fn(&std::path::Path) -> _ = $make;
                    eprintln!("rule: {name}");
                    rule(&mut make(folder.path()));
                }
            }
        }
    };
}
pub(super) use suite;

type Rule = fn(&mut dyn Store);

pub(super) const RULES: &[(&str, Rule)] = &[
    (
        "a task is read as it was written",
        a_task_is_read_as_it_was_written,
    ),
    (
        "a dropped transaction changes nothing",
        a_dropped_transaction_changes_nothing,
    ),
    (
        "ids are never handed out twice",
        ids_are_never_handed_out_twice,
    ),
    (
        "edges are read from both ends",
        edges_are_read_from_both_ends,
    ),
    (
        "a delete takes its edges along",
        a_delete_takes_its_edges_along,
    ),
    ("filters combine and count", filters_combine_and_count),
    (
        "words are found in any case, by their beginning",
        words_are_found,
    ),
    ("nodes go to any depth", nodes_go_to_any_depth),
    (
        "a spawn is kept once for each manifest id",
        a_spawn_is_kept_once,
    ),
    ("a link is new once", a_link_is_new_once),
    ("gates are kept whole", gates_are_kept_whole),
    ("every change is in the log", every_change_is_in_the_log),
    ("checks are kept in order", checks_are_kept_in_order),
];

const NOW: &str = "2026-01-26T09:00:00.000Z";

fn stamp() -> Stamp {
    Stamp {
        command: "test",
        at: NOW.to_string(),
        by: "tester".to_string(),
    }
}

fn task(id: u32, title: &str) -> Task {
    Task {
        id: TaskId(id),
        title: title.to_string(),
        description: String::new(),
        kind: TaskType::default(),
        status: Status::Pending,
        parent: None,
        depends: Vec::new(),
        labels: Vec::new(),
        priority: Priority::Medium,
        phase: None,
        size: None,
        files: Vec::new(),
        acceptance: Vec::new(),
        deliverables: Vec::new(),
        notes: Vec::new(),
        assigned_agent: None,
        due: None,
        estimate: None,
        feature: None,
        key: None,
        extra: serde_json::Map::new(),
        created_at: NOW.to_string(),
        updated_at: NOW.to_string(),
        started_at: None,
        completed_at: None,
        cancelled_at: None,
        archived_at: None,
    }
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
        let page = transaction.find(words, 10).unwrap();
        page.tasks.iter().map(|task| task.id.0).collect::<Vec<_>>()
    };
    assert_eq!(found("log"), [1, 2]);
    assert_eq!(found("uberprufe login"), [2]);
    assert_eq!(found("login OR form*"), [] as [u32; 0]);
    assert_eq!(found("  \" "), [] as [u32; 0]);
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

fn a_spawn_is_kept_once(store: &mut dyn Store) {
    put(store, &[task(1, "a")]);
    let mut spawn = SpawnRecord {
        task: TaskId(1),
        manifest_id: "a-2026-01-26".into(),
        output_file: "claudedocs/agent-outputs/2026-01-26_a.md".into(),
        at: NOW.into(),
        receipt: serde_json::json!({"skill": "x"}),
        verified_at: None,
        output_digest: None,
        forced: None,
    };
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
    let json = r#"{"gates":{"testsPassed":{"passed":true,"at":"x","by":"y","agent":null,
        "forced":true,"evidence":{"kind":"claim"}}},"round":2,"failures":[]}"#;
    let gates: crate::gate::Gates = serde_json::from_str(json).unwrap();
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
    let told = transaction.changes(1, 10).unwrap();
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

fn checks_are_kept_in_order(store: &mut dyn Store) {
    put(store, &[task(1, "a"), task(2, "b")]);
    let check = |number: u32, violations: &[&str]| Verification {
        task: TaskId(number),
        manifest_id: "a-2026-01-26".into(),
        at: NOW.into(),
        by: "tester".into(),
        skill: "ct-task-executor".into(),
        agent: "coder".into(),
        passed: violations.is_empty(),
        violations: violations.iter().map(|rule| rule.to_string()).collect(),
    };
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
    let left = store.read().unwrap().verifications().unwrap();
    assert_eq!(left, checks[1..2]);
}

fn a_link_is_new_once(store: &mut dyn Store) {
    put(store, &[task(1, "a")]);
    let link = Link {
        task: TaskId(1),
        entry: "e".into(),
        at: NOW.into(),
    };
    let mut transaction = store.write(&stamp()).unwrap();
    assert!(transaction.link(&link).unwrap());
    assert!(!transaction.link(&link).unwrap());
    assert_eq!(transaction.links(TaskId(1)).unwrap()[0], link);
    assert_eq!(transaction.linked_to("e").unwrap(), [link]);
    assert_eq!(transaction.linked_to("other").unwrap(), []);
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
    let all = read.changes(0, 10).unwrap();
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
    assert_eq!(read.changes(4, 10).unwrap().len(), 1);
    assert_eq!(read.changes(0, 2).unwrap().len(), 2);
}
