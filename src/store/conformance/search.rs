//! Rules of what is looked for among tasks.

use super::*;

pub(super) fn due_tasks_are_found_and_tallied(store: &mut dyn Store) {
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
        let mut counted: Vec<_> = tallies.into_iter().map(counts).collect();
        counted.sort_unstable();
        counted
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

pub(super) fn filters_combine_and_count(store: &mut dyn Store) {
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

pub(super) fn words_are_found(store: &mut dyn Store) {
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

pub(super) fn words_are_found_by_who_writes_them(store: &mut dyn Store) {
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

pub(super) fn a_half_typed_word_is_completed_in_order(store: &mut dyn Store) {
    let mut tasks: Vec<Task> = (1..=30)
        .map(|id| task(id, &format!("title {id}")))
        .collect();
    for (id, labels) in [(3, ["Auth", "ui"]), (20, ["Ui", "zoo"])] {
        tasks[id - 1].labels = labels.map(String::from).to_vec();
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
}
