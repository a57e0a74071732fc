//! Rules of the graph: what waits for what.

use super::*;

pub(super) fn nodes_go_to_any_depth(store: &mut dyn Store) {
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

pub(super) fn what_is_ready_comes_in_order(store: &mut dyn Store) {
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
        let tasks = page.tasks.iter().map(|one| (one.task.id.0, one.below));
        (tasks.collect::<Vec<_>>(), page.total)
    };
    // The chain below T5 is T6, T7, T9, whatever became of these.
    assert_eq!(ready(None, None), (vec![(8, 0), (5, 3), (3, 1)], 3));
    assert_eq!(ready(None, Some(1)), (vec![(8, 0)], 3));
    assert_eq!(ready(Some(1), None), (vec![(8, 0), (3, 1)], 2));
    assert_eq!(ready(Some(2), Some(0)), (vec![], 1));
    assert!(read.is_ready(TaskId(5)).unwrap() && !read.is_ready(TaskId(6)).unwrap());
    assert_eq!(read.list_unblocked_by(TaskId(5)).unwrap(), ids(&[6]));
    assert_eq!(
        read.list_unblocked_by(TaskId(3)).unwrap(),
        ids(&[2]),
        "the whole after its part"
    );
    drop(read);
    let mut write = store.write(&stamp()).unwrap();
    tasks[4].status = Status::Done;
    write.put(&tasks[4]).unwrap();
    assert_eq!(
        write.list_unblocked_by(TaskId(5)).unwrap(),
        ids(&[6]),
        "also when it is done"
    );
    write.delete(TaskId(7)).unwrap();
    let found = write.ready(None, None).unwrap().tasks;
    let found: Vec<_> = found.iter().map(|one| (one.task.id.0, one.below)).collect();
    assert_eq!(found, [(8, 0), (3, 1), (6, 0)]);
}

pub(super) fn what_is_in_the_way_is_found(store: &mut dyn Store) {
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
    assert_eq!(write.list_hindered(None, 9).unwrap(), ids(&[2, 4, 5]));
    assert_eq!(write.list_hindered(None, 2).unwrap(), ids(&[2, 4]));
    assert_eq!(write.list_hindered(Some(TaskId(2)), 9).unwrap(), ids(&[4]));
    let node = write.node(TaskId(5)).unwrap().unwrap();
    let told: Vec<String> = node.missing.iter().map(|need| need.describe()).collect();
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
