//! What holds for any tasks: written out and read back they are the same, and two copies that went
//! apart come together again without losing anything.

use std::path::Path;

use cleo::claim::Lease;
use cleo::clock::Clock;
use cleo::error::Code;
use cleo::id::TaskId;
use cleo::ops::Context;
use cleo::ops::tasks::{self, Patch};
use cleo::ops::transfer::{self, Request, Target};
use cleo::store::Filter;
use cleo::task::draft::{Draft, Reference};
use cleo::task::{Note, Priority, Status, Task};
use proptest::prelude::*;
use serde_json::{Map, json};

fn open(folder: &Path, second: u32) -> Context {
    std::fs::create_dir_all(folder).unwrap();
    let mut context = crate::world::open(folder);
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

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
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
            title,
            description,
            kind: "research".parse().unwrap(),
            status: Status::ALL[status],
            // Filled in by `graph`.
            parent: above.map(TaskId),
            depends: ahead.into_iter().map(TaskId).collect(),
            labels: list(),
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

/// Gives tasks ids with gaps, and edges that only lead to later ones, so that none is a circle.
fn graph(tasks: Vec<Task>) -> Vec<Task> {
    let number = |place: usize| TaskId(place as u32 * 3 + 1);
    let count = tasks.len();
    let mut done = Vec::new();
    for (place, mut task) in tasks.into_iter().enumerate() {
        task.id = number(place);
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

fn exported(context: &mut Context) -> String {
    transfer::export(context, Target::Jsonl, None)
        .unwrap()
        .text
        .unwrap()
}

/// One thing that somebody does in one of two copies.
#[derive(Clone, Debug)]
enum Step {
    Title(usize, String),
    Priority(usize, usize),
    Label(usize, String),
    Note(usize, String),
    Depend(usize, usize),
    Start(usize),
    Add(Option<usize>),
    Delete(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let task = || 0..8usize;
    prop_oneof![
        (task(), "[a-z]{1,8}").prop_map(|(task, title)| Step::Title(task, title)),
        (task(), 0..4usize).prop_map(|(task, priority)| Step::Priority(task, priority)),
        (task(), "[a-c]").prop_map(|(task, label)| Step::Label(task, label)),
        (task(), "[a-z]{8}").prop_map(|(task, note)| Step::Note(task, note)),
        (task(), task()).prop_map(|(task, needs)| Step::Depend(task, needs)),
        task().prop_map(Step::Start),
        prop::option::of(task()).prop_map(Step::Add),
        task().prop_map(Step::Delete),
    ]
}

/// Takes a step if it is allowed.
fn take(context: &mut Context, step: &Step) {
    let all = tasks::list(context, &Filter::default()).unwrap().tasks;
    let pick = |number: usize| all.get(number % all.len().max(1)).map(|task| task.id);
    let mut patch = Patch::default();
    let task = match step {
        Step::Add(needs) => {
            let draft = Draft {
                title: format!("added {}", context.now()),
                depends: needs
                    .and_then(pick)
                    .into_iter()
                    .map(Reference::Id)
                    .collect(),
                ..Draft::default()
            };
            tasks::add(context, vec![draft]).unwrap();
            return;
        }
        Step::Delete(task) => {
            if let Some(id) = pick(*task) {
                let _ = tasks::delete(context, id, false, false, false);
            }
            return;
        }
        Step::Start(task) => {
            if let Some(id) = pick(*task) {
                let _ = tasks::start(context, id, Lease::default(), None);
            }
            return;
        }
        Step::Title(task, title) => {
            patch.title = Some(title.clone());
            task
        }
        Step::Priority(task, priority) => {
            patch.priority = Some(Priority::ALL[*priority]);
            task
        }
        Step::Label(task, label) => {
            patch.add_labels = vec![label.clone()];
            task
        }
        Step::Note(task, note) => {
            patch.notes = vec![note.clone()];
            task
        }
        Step::Depend(task, needs) => {
            patch.add_depends = pick(*needs).into_iter().collect();
            task
        }
    };
    if let Some(id) = pick(*task) {
        let _ = tasks::update(context, id, patch);
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn what_is_written_out_is_read_back_as_it_was(tasks in prop::collection::vec(a_task(), 1..12)) {
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
        let text = exported(&mut from);
        prop_assert_eq!(text.lines().count(), tasks.len() + 1);
        let file = folder.path().join("tasks.jsonl");
        std::fs::write(&file, &text).unwrap();
        let mut to = open(&folder.path().join("to"), 60);
        let imported = transfer::import(&mut to, &file, Request::default()).unwrap();
        prop_assert!(imported.error.is_none(), "{:?}", imported.report);
        prop_assert_eq!(exported(&mut to), text);
        let stored = tasks::list(&mut to, &Filter::default()).unwrap().tasks;
        prop_assert_eq!(stored, tasks);
        let again = transfer::import(&mut to, &file, Request::default()).unwrap();
        prop_assert_eq!(again.report.unchanged, again.report.read);
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn two_copies_that_went_apart_come_together_again(
        start in prop::collection::vec(step(), 0..6),
        rounds in prop::collection::vec(
            (prop::collection::vec(step(), 0..6), prop::collection::vec(step(), 0..6)), 1..3),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tasks.jsonl");
        let mut one = open(&folder.path().join("one"), 0);
        let mut other = open(&folder.path().join("other"), 0);
        let mut second = 0;
        for _ in 0..3 {
            second += 1;
            set(&mut one, second);
            take(&mut one, &Step::Add(None));
        }
        for step in &start {
            second += 1;
            set(&mut one, second);
            take(&mut one, step);
        }
        let mut conflicts = Vec::new();
        transfer::sync(&mut one, &file, false).unwrap();
        transfer::sync(&mut other, &file, false).unwrap();
        for (mine, theirs) in &rounds {
            let base = tasks::list(&mut one, &Filter::default()).unwrap().tasks;
            for (context, steps) in [(&mut one, mine), (&mut other, theirs)] {
                for step in steps {
                    second += 1;
                    set(context, second);
                    take(context, step);
                }
            }
            let before = [&mut one, &mut other]
                .map(|context| tasks::list(context, &Filter::default()).unwrap().tasks);
            for turn in 0..3 {
                let context = if turn == 1 { &mut other } else { &mut one };
                let merged = match transfer::sync(context, &file, false) {
                    // A task that somebody works on is not given another id, so here it ends.
                    Err(refused) if refused.code == Code::Claimed => return Ok(()),
                    merged => merged.unwrap(),
                };
                conflicts.extend(merged.conflicts);
            }
            let text = exported(&mut one);
            prop_assert_eq!(&text, &exported(&mut other));
            prop_assert_eq!(&text, &std::fs::read_to_string(&file).unwrap());
            let after = tasks::list(&mut one, &Filter::default()).unwrap().tasks;
            for task in before.iter().flatten() {
                let was = base.iter().find(|was| was.id == task.id);
                let still = after.iter().find(|now| now.created_at == task.created_at);
                let Some(still) = still else {
                    prop_assert_eq!(was.map(|was| &was.title), Some(&task.title), "lost {}", task.id);
                    continue;
                };
                for note in &task.notes {
                    prop_assert!(still.notes.contains(note), "a note of {} is lost", task.id);
                }
                let changed = was.is_none_or(|was| was.title != task.title);
                let listed = conflicts.iter().any(|conflict| {
                    conflict.id == still.id && (conflict.here == json!(task.title) || conflict.file == json!(task.title))
                });
                prop_assert!(!changed || still.title == task.title || listed, "a title of {} is lost", task.id);
            }
            for context in [&mut one, &mut other] {
                let idle = transfer::sync(context, &file, false).unwrap();
                prop_assert_eq!((idle.here, idle.in_file), Default::default());
                prop_assert!(idle.conflicts.is_empty());
            }
        }
    }
}
