//! Rules of the log of changes, and of undo.

use super::records::{gates, link, spawn};
use super::*;

pub(super) fn every_change_is_in_the_log(store: &mut dyn Store) {
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

/// Says kind, operation and detail of changes.
fn describe(changes: &[Recorded]) -> Vec<String> {
    let told = changes.iter().map(|each| {
        let change = &each.change;
        format!("{} {} {}", each.operation, change.kind, change.detail)
    });
    told.collect()
}

pub(super) fn what_happens_around_a_task_is_in_the_log(store: &mut dyn Store) {
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
        describe(&all),
        [
            r#"2 spawned {"manifestId":"a-2026-01-26","outputFile":"claudedocs/agent-outputs/2026-01-26_a.md","skill":"x"}"#,
            r#"2 verified {"manifestId":"a-2026-01-26","outputDigest":"sha256:1"}"#,
            r#"2 linked {"at":"2026-01-26T09:00:00.000Z","entry":"e","task":"T1"}"#,
            r#"2 unlinked {"at":"2026-01-26T09:00:00.000Z","entry":"e","task":"T1"}"#,
            r#"2 gate {"byCommand":false,"forced":true,"gate":"testsPassed","passed":true}"#,
        ]
    );
}

pub(super) fn operations_are_read_newest_first(store: &mut dyn Store) {
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
        describe(&changes),
        [r#"1 added {"title":"one"}"#, r#"1 added {"title":"two"}"#]
    );
    assert_eq!(read.changes_of(1, 1).unwrap().len(), 1);
    assert_eq!(read.last_cursor().unwrap(), 4);
}

pub(super) fn an_undo_holds_until_it_is_undone(store: &mut dyn Store) {
    assert_eq!(store.read().unwrap().last_cursor().unwrap(), 0);
    put(store, &[task(1, "one")]);
    let mut undo = |of: u64, title: &str| {
        let mut transaction = store.write(&stamp()).unwrap();
        let own = transaction.note_undone(of).unwrap();
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
    let read = store.read().unwrap();
    let latest = |task: u32, after: u64| {
        let found = read.latest_change(TaskId(task), after).unwrap();
        found.map(|operation| operation.number)
    };
    assert_eq!(latest(1, 1), None, "its own undo is not a change since");
    assert_eq!(latest(1, 2), Some(4));
    assert_eq!(latest(2, 2), None, "another task");
    assert_eq!(latest(1, 4), None);
}

pub(super) fn a_deleted_task_comes_back_whole(store: &mut dyn Store) {
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
    let claim = Claim::after(
        None,
        TaskId(3),
        "ada",
        NOW.parse().unwrap(),
        Lease::default(),
    )
    .unwrap();
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
    assert_eq!(read.claim(TaskId(3)).unwrap(), Some(claim));
    assert_eq!(read.find("child", Archived::Hidden, 9).unwrap().total, 1);
    let last = read.changes(7, None, 9).unwrap();
    assert_eq!(
        describe(&last),
        [r#"3 restored {"title":"child"}"#],
        "one change tells it all"
    );
}
