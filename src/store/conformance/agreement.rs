//! The graph that a store keeps up to date is the one of a new store that is given the same tasks.

use std::any::Any;

use proptest::prelude::*;

use crate::id::TaskId;
use crate::store::postgres::tests::Scratch;
use crate::store::sqlite::SqliteStore;
use crate::store::{DANGLING, Database, Stamp, Store, Transaction};
use crate::task::{Priority, Status, Task};

const N_TASKS: u32 = 9;
/// Tasks depend on tasks further left only, so that there are no circles. It is not the order of the ids.
const ORDER: [u32; N_TASKS as usize] = [4, 9, 1, 7, 3, 8, 2, 6, 5];

#[derive(Clone, Debug)]
enum Step {
    Put {
        id: u32,
        status: usize,
        depends: Vec<u32>,
        parent: Option<u32>,
        is_epic: bool,
        priority: usize,
        dangles: bool,
    },
    Delete(u32),
    Commit,
}

fn step() -> impl Strategy<Value = Step> {
    let id = || 1..=N_TASKS;
    let put = (
        id(),
        prop_oneof![4 => Just(0), 1 => Just(1), 2 => Just(5), 1 => Just(6)],
        prop::collection::vec(id(), 0..4),
        prop::option::weighted(0.3, id()),
        prop::bool::weighted(0.1),
        0..Priority::ALL.len(),
        prop::bool::weighted(0.1),
    )
        .prop_map(
            |(id, status, depends, parent, is_epic, priority, dangles)| Step::Put {
                id,
                status,
                depends,
                parent,
                is_epic,
                priority,
                dangles,
            },
        );
    prop_oneof![8 => put, 1 => id().prop_map(Step::Delete), 2 => Just(Step::Commit)]
}

fn make(step: &Step, fits: impl Fn(u32) -> bool) -> Option<Task> {
    let Step::Put {
        id,
        status,
        depends,
        parent,
        is_epic,
        priority,
        dangles,
    } = step
    else {
        return None;
    };
    let place = |id: u32| ORDER.iter().position(|one| *one == id);
    let fits = |other: &u32| place(*other) < place(*id) && fits(*other);
    let mut task: Task = super::task(*id, &format!("x {status}"));
    task.status = Status::ALL[*status];
    task.depends = depends.iter().copied().filter(fits).map(TaskId).collect();
    task.depends.sort_unstable();
    task.depends.dedup();
    task.parent = parent.filter(fits).map(TaskId);
    task.priority = Priority::ALL[*priority];
    if *is_epic {
        task.kind = "epic".parse().unwrap();
    }
    if *dangles {
        task.extra.insert(DANGLING.into(), vec!["bd-1"].into());
    }
    Some(task)
}

fn take(transaction: &mut dyn Transaction, step: &Step) {
    let is_there = |id: u32| transaction.status(TaskId(id)).unwrap().is_some();
    if let Some(task) = make(step, is_there) {
        transaction.put(&task).unwrap();
    }
    if let Step::Delete(id) = step
        && transaction.children(TaskId(*id)).unwrap().is_empty()
    {
        transaction.delete(TaskId(*id)).unwrap();
    }
}

fn look(store: &dyn Transaction, what: usize) {
    let id = TaskId(1);
    match what {
        0 => drop(store.is_ready(id).unwrap()),
        1 => drop(store.node(id).unwrap()),
        2 => drop(store.nodes(None).unwrap()),
        3 => drop(store.list_hindered(None, 9).unwrap()),
        4 => drop(store.counts(None).unwrap()),
        5 => drop(store.open_epics(9).unwrap()),
        6 => drop(store.ready(None, Some(1)).unwrap()),
        7 => drop(store.list_unblocked_by(id).unwrap()),
        _ => {}
    }
}

fn stamp() -> Stamp {
    Stamp {
        command: "test",
        at: String::new(),
        by: String::new(),
    }
}

/// Opens an empty store of each backend that there is, with what it is kept in.
fn open_stores() -> Vec<(Box<dyn Any>, Database)> {
    let folder = tempfile::tempdir().unwrap();
    let file = SqliteStore::create(&folder.path().join("cleo.db")).unwrap();
    let mut stores: Vec<(Box<dyn Any>, _)> = vec![(Box::new(folder), Database::Sqlite(file))];
    if let Some(scratch) = Scratch::create() {
        let store = Database::Postgres(Box::new(scratch.open()));
        stores.push((Box::new(scratch), store));
    }
    stores
}

fn compare_with_new(real: &mut Database) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let mut new = SqliteStore::create(&folder.path().join("new.db")).unwrap();
    let mut writing = new.write(&stamp()).unwrap();
    let reading = real.read().unwrap();
    for id in (1..=N_TASKS).map(TaskId) {
        if let Some(task) = reading.task(id).unwrap() {
            writing.insert(&task).unwrap();
        }
    }
    writing.commit().unwrap();
    compare(&*reading, &*new.read().unwrap())?;
    drop(reading);
    prop_assert_eq!(real.disagreements().unwrap(), [] as [String; 0]);
    Ok(())
}

fn compare(real: &dyn Transaction, new: &dyn Transaction) -> Result<(), TestCaseError> {
    let roots = std::iter::once(None).chain((1..=N_TASKS).map(|id| Some(TaskId(id))));
    for root in roots {
        for limit in [None, Some(2), Some(0)] {
            prop_assert_eq!(
                real.ready(root, limit).unwrap(),
                new.ready(root, limit).unwrap()
            );
        }
        prop_assert_eq!(
            real.list_hindered(root, 9).unwrap(),
            new.list_hindered(root, 9).unwrap()
        );
        prop_assert_eq!(real.nodes(root).unwrap(), new.nodes(root).unwrap());
        let ids: Vec<TaskId> = new
            .nodes(root)
            .unwrap()
            .iter()
            .map(|node| node.id)
            .collect();
        prop_assert_eq!(real.outlines(&ids).unwrap(), new.outlines(&ids).unwrap());
    }
    for id in (1..=N_TASKS).map(TaskId) {
        prop_assert_eq!(real.is_ready(id).unwrap(), new.is_ready(id).unwrap());
        let (real_active, new_active) = (real.active_ready(id), new.active_ready(id));
        prop_assert_eq!(real_active.unwrap(), new_active.unwrap());
        prop_assert_eq!(
            real.list_unblocked_by(id).unwrap(),
            new.list_unblocked_by(id).unwrap()
        );
        prop_assert_eq!(real.node(id).unwrap(), new.node(id).unwrap());
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::tests::cases(12))]

    #[test]
    fn kept_graph_is_that_of_new_store(
        steps in prop::collection::vec((step(), 0_usize..12), 1..60),
    ) {
        for (_folder, mut real) in open_stores() {
            for together in steps.split(|(step, _)| matches!(step, Step::Commit)) {
                let mut writing = real.write(&stamp()).unwrap();
                for (step, what) in together {
                    take(&mut *writing, step);
                    look(&*writing, *what);
                }
                writing.commit().unwrap();
                compare_with_new(&mut real)?;
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::tests::cases(12))]

    #[test]
    fn tasks_may_precede_their_references(
        steps in prop::collection::vec(step(), N_TASKS as usize),
        order in Just((1..=N_TASKS).collect::<Vec<_>>()).prop_shuffle(),
        looked_at in 0..N_TASKS,
    ) {
        for (_folder, mut real) in open_stores() {
            let mut writing = real.write(&stamp()).unwrap();
            for (step, number) in steps.iter().zip(&order) {
                let (mut step, number) = (step.clone(), *number);
                if let Step::Put { id, .. } = &mut step {
                    *id = number;
                }
                let plain = || super::task(number, "plain");
                let task = make(&step, |_| true).unwrap_or_else(plain);
                writing.insert(&task).unwrap();
                if number == looked_at {
                    writing.ready(None, None).unwrap();
                }
            }
            writing.commit().unwrap();
            compare_with_new(&mut real)?;
        }
    }
}

#[test]
fn chains_are_measured_alike_one_by_one_and_all_at_once() {
    // A chain beyond the bound that is made from either end, in one transaction and in several.
    let n_tasks = 1_500;
    let mut counts = Vec::new();
    let ways = [(false, true), (true, true), (false, false)];
    let stores = ways
        .into_iter()
        .flat_map(|way| open_stores().into_iter().map(move |store| (way, store)));
    for ((one_by_one, upward), (_folder, mut store)) in stores {
        let mut transaction = store.write(&stamp()).unwrap();
        for id in 1..=n_tasks {
            let need = if upward { id - 1 } else { id + 1 };
            let mut task = super::task(id, "x");
            task.depends = Some(need)
                .filter(|need| (1..=n_tasks).contains(need))
                .into_iter()
                .map(TaskId)
                .collect();
            transaction.put(&task).unwrap();
            if one_by_one && id % 500 == 0 {
                transaction.commit().unwrap();
                transaction = store.write(&stamp()).unwrap();
            }
        }
        transaction.commit().unwrap();
        let ready = store.read().unwrap().ready(None, None).unwrap();
        counts.push((ready.total, ready.tasks[0].below));
        assert_eq!(store.disagreements().unwrap(), [] as [String; 0]);
    }
    counts.dedup();
    assert_eq!(counts, [(1, 1_000)]);
}
