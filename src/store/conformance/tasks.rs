//! Rules of tasks: written, read, deleted, counted.

use super::*;

pub(super) fn a_task_is_read_as_it_was_written(store: &mut dyn Store) {
    let note = Note {
        at: NOW.into(),
        by: "me".into(),
        text: "a\tb\r\n\u{1b}".into(),
    };
    let mut full = task(2, "Ünïcode \"quoted\" {{TASK_ID}} & \\");
    full.description = "line\nline".into();
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

pub(super) fn a_dropped_transaction_changes_nothing(store: &mut dyn Store) {
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

pub(super) fn ids_are_never_handed_out_twice(store: &mut dyn Store) {
    put(store, &[task(1, "a"), task(2, "b")]);
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.delete(TaskId(2)).unwrap();
    transaction.commit().unwrap();
    assert_eq!(store.write(&stamp()).unwrap().next_id().unwrap(), TaskId(3));
}

pub(super) fn edges_are_read_from_both_ends(store: &mut dyn Store) {
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

pub(super) fn a_delete_takes_its_edges_along(store: &mut dyn Store) {
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

pub(super) fn many_are_counted(store: &mut dyn Store) {
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

pub(super) fn lists_leave_archived_tasks_out(store: &mut dyn Store) {
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
    let closed_after = filter.closed_before.clone();
    let filter = Filter {
        closed_before: None,
        closed_after,
        ..filter
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

pub(super) fn origins_are_found(store: &mut dyn Store) {
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

pub(super) fn ids_are_reserved(store: &mut dyn Store) {
    let mut transaction = store.write(&stamp()).unwrap();
    transaction.reserve_id(TaskId(7)).unwrap();
    transaction.reserve_id(TaskId(3)).unwrap();
    assert_eq!(transaction.first_unused_id().unwrap(), TaskId(8));
    assert_eq!(transaction.next_id().unwrap(), TaskId(8));
}

pub(super) fn tasks_are_read_in_pieces(store: &mut dyn Store) {
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
