//! Any tasks are the same after export and import.

use std::path::Path;

use crate::clock::Clock;
use crate::id::TaskId;
use crate::ops::transfer::{self, Request};
use crate::ops::{Context, tasks};
use crate::store::Filter;
use crate::task::{Note, Priority, Status, Task};
use proptest::prelude::*;
use serde_json::{Map, json};

fn open(folder: &Path, second: u32) -> Context {
    std::fs::create_dir_all(folder).unwrap();
    let mut context = super::open(folder);
    set(&mut context, second);
    context
}

/// Sets the clock.
fn set(context: &mut Context, second: u32) {
    let now = format!(
        "2026-01-26T{:02}:{:02}:{:02}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    context.surroundings.clock = Clock::from_setting(Some(&now)).unwrap();
}

/// Any text that a file can bring: also control characters, other scripts, nothing.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-z {}&\"\\\\]{0,20}", 1 => "\\PC{0,20}", 1 => any::<String>()]
}

fn line() -> impl Strategy<Value = String> {
    text().prop_map(|text| format!("x{text}"))
}

fn a_task() -> impl Strategy<Value = Task> {
    let lists = prop::collection::vec(prop::collection::hash_set(line(), 0..4), 4);
    let words = (line(), text(), 0..7usize, 0..4usize, lists);
    let rest = (
        prop::collection::vec(line(), 0..3),
        prop::option::of(0..999u32),
        prop::option::of("[a-z]{1,9}"),
        prop::collection::btree_map("[a-z]{1,6}", text(), 0..3),
        prop::collection::vec(1..40u32, 0..4),
        prop::option::of(1..40u32),
    );
    (words, rest).prop_map(|((title, description, status, priority, lists), rest)| {
        let (notes, estimate, phase, extra, ahead, above) = rest;
        let mut lists = lists
            .into_iter()
            .map(|list| list.into_iter().collect::<Vec<String>>());
        let mut list = || lists.next().unwrap();
        let at = "2026-01-01T00:00:00.000Z".to_string();
        let note = |text| Note {
            at: at.clone(),
            by: "somebody".to_string(),
            text,
        };
        Task {
            id: TaskId(0),
            uid: String::new(),
            title,
            description,
            kind: "research".parse().unwrap(),
            status: Status::ALL[status],
            // Filled in by `graph`.
            parent: above.map(TaskId),
            depends: ahead.into_iter().map(TaskId).collect(),
            labels: such_as_options_name(list()),
            priority: Priority::ALL[priority],
            phase,
            size: None,
            files: list(),
            acceptance: list(),
            deliverables: list(),
            notes: notes.into_iter().map(note).collect(),
            assigned_agent: None,
            due: None,
            estimate: estimate.map(|tenths| f64::from(tenths) / 10.0),
            feature: None,
            key: None,
            extra: Map::from_iter(
                extra
                    .into_iter()
                    .map(|(name, text)| (format!("x{name}"), json!(text))),
            ),
            created_at: at.clone(),
            updated_at: at,
            started_at: None,
            completed_at: None,
            cancelled_at: None,
            archived_at: None,
        }
    })
}

/// Makes labels of lines: no other has a comma, or spaces around it.
fn such_as_options_name(lines: Vec<String>) -> Vec<String> {
    let labels = lines
        .iter()
        .map(|line| line.replace(',', ";").trim().to_string());
    let labels: indexmap::IndexSet<String> = labels.collect();
    labels.into_iter().collect()
}

/// Gives tasks ids with gaps, and edges that only lead to later ones, so that none is a circle.
fn graph(tasks: Vec<Task>) -> Vec<Task> {
    let number = |place: usize| TaskId(place as u32 * 3 + 1);
    let count = tasks.len();
    let mut done = Vec::new();
    for (place, mut task) in tasks.into_iter().enumerate() {
        task.id = number(place);
        task.uid = format!("{place:026}");
        task.notes.sort_by(|a, b| a.text.cmp(&b.text));
        task.notes.dedup();
        let ahead = |id: &TaskId| (place + id.0 as usize) % count;
        let mut depends: Vec<TaskId> = task
            .depends
            .iter()
            .map(ahead)
            .filter(|to| *to > place)
            .map(number)
            .collect();
        depends.sort_unstable();
        depends.dedup();
        task.depends = depends;
        task.parent = task.parent.filter(|_| place > 0).map(|_| number(place / 2));
        done.push(task);
    }
    done
}

fn export(context: &mut Context) -> String {
    transfer::export(context, None, false)
        .unwrap()
        .text
        .unwrap()
}

proptest! {
    #![proptest_config(super::cases(16))]

    #[test]
    fn written_text_is_read_back_unchanged(tasks in prop::collection::vec(a_task(), 1..12)) {
        let folder = tempfile::tempdir().unwrap();
        let mut from = open(&folder.path().join("from"), 0);
        let tasks = graph(tasks);
        from.write(|transaction| {
            for task in &tasks {
                transaction.reserve_id(task.id)?;
                transaction.insert(task)?;
            }
            Ok(())
        }).unwrap();
        let text = export(&mut from);
        prop_assert_eq!(text.lines().count(), tasks.len() + 1);
        let file = folder.path().join("tasks.jsonl");
        std::fs::write(&file, &text).unwrap();
        let mut to = open(&folder.path().join("to"), 60);
        let imported = transfer::import(&mut to, &file, &Request::default()).unwrap();
        prop_assert!(to.notes.failure.is_none(), "{:?}", imported);
        prop_assert_eq!(export(&mut to), text);
        let stored = tasks::list(&mut to, &Filter::default()).unwrap().tasks;
        prop_assert_eq!(stored, tasks);
        let again = transfer::import(&mut to, &file, &Request::default()).unwrap();
        prop_assert_eq!(again.unchanged, again.read);
    }
}
