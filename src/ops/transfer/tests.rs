//! Two copies of a workspace that change separately and exchange their tasks become equal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::{Request, export, import_text};
use crate::claim::Lease;
use crate::clock::Clock;
use crate::gate::Gate;
use crate::id::TaskId;
use crate::ops::tasks::{self, Patch};
use crate::ops::{Context, Surroundings, require};
use crate::task::fields::Draft;
use crate::task::{Note, Status};
use crate::workspace::Workspace;

#[derive(Clone, Debug)]
enum Edit {
    Add,
    Title,
    Note,
    Move(Status),
    Depend(usize),
    Free,
    Part(usize),
    Claim,
    RequireGate,
    Criterion,
}

/// Which copy, what, on which task, how many seconds after the edit before it.
type Step = (bool, Edit, usize, u32);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let statuses = [
        Status::Pending,
        Status::Done,
        Status::Cancelled,
        Status::Blocked,
    ];
    let edit = prop_oneof![
        Just(Edit::Add),
        Just(Edit::Title),
        Just(Edit::Note),
        prop::sample::select(statuses.to_vec()).prop_map(Edit::Move),
        (0..9usize).prop_map(Edit::Depend),
        Just(Edit::Free),
        (0..9usize).prop_map(Edit::Part),
        Just(Edit::Claim),
        Just(Edit::RequireGate),
        Just(Edit::Criterion),
    ];
    prop::collection::vec((any::<bool>(), edit, 0..9usize, 1..3u32), 0..24)
}

fn open(folder: &Path, actor: &str) -> Context {
    std::fs::create_dir_all(folder).unwrap();
    Workspace::create(folder).unwrap();
    Context::open(Surroundings {
        assignment: Default::default(),
        judges_workspace: false,
        command: "test",
        directory: folder.to_path_buf(),
        root: None,
        clock: clock(0),
        actor: actor.to_string(),
        skills_dirs: Vec::new(),
        home: None,
        data_home: None,
        rights: Default::default(),
        defaults: Default::default(),
        settings: std::sync::Arc::new(Ok(Default::default())),
    })
    .unwrap()
}

fn clock(second: u32) -> Clock {
    let now = format!("2026-01-26T09:{:02}:{:02}Z", second / 60, second % 60);
    Clock::from_setting(Some(&now)).unwrap()
}

fn text(context: &mut Context) -> String {
    export(context, None, false).unwrap().text.unwrap()
}

/// Carries an edit out; one that the rules refuse changes nothing.
fn edit(context: &mut Context, step: usize, edit: &Edit, at: usize) {
    let mut ids: Vec<TaskId> = Vec::new();
    let collect = |task: crate::task::Task| {
        ids.push(task.id);
        Ok(())
    };
    context
        .read(|tasks| super::each_task(tasks, collect))
        .unwrap();
    let (id, other) = (ids[at % ids.len()], |at: &usize| ids[at % ids.len()]);
    let patch = Patch::default();
    let (now, by) = (context.now(), context.surroundings.actor.clone());
    let patch = match edit {
        Edit::Add => {
            let title = format!("task of step {step}");
            tasks::add::add(
                context,
                vec![Draft {
                    title,
                    key: Some(format!("key {}", at % 3)),
                    ..Draft::default()
                }],
            )
            .unwrap();
            return;
        }
        Edit::Claim => {
            let _ = tasks::claim::claim(context, id, Lease::default(), true);
            return;
        }
        Edit::Note | Edit::Move(_) => {
            context
                .write(|transaction| {
                    let mut task = require(transaction, id)?;
                    match edit {
                        Edit::Move(status) => task.move_to(*status, &now),
                        _ => task.notes.push(Note {
                            at: now.clone(),
                            by: by.clone(),
                            text: format!("note of step {step}"),
                        }),
                    }
                    task.updated_at.clone_from(&now);
                    transaction.put(&task)
                })
                .unwrap();
            return;
        }
        Edit::Title => Patch {
            title: Some(format!("title of step {step}")),
            ..patch
        },
        Edit::Depend(at) => Patch {
            depends: vec![other(at)],
            ..patch
        },
        Edit::Free => {
            let depends = context.read(|transaction| transaction.depends(id)).unwrap();
            Patch {
                remove_depends: depends.iter().map(TaskId::to_string).collect(),
                ..patch
            }
        }
        Edit::RequireGate => Patch {
            require_gates: vec![Gate::TestsPassed.to_string()],
            ..patch
        },
        Edit::Criterion => Patch {
            acceptance: vec![format!("criterion of step {step}")],
            ..patch
        },
        Edit::Part(at) => Patch {
            parent: Some(Some(other(at)).filter(|other| *other != id)),
            ..patch
        },
    };
    let _ = tasks::change(context, id, patch, true);
}

/// Imports a file twice; the second time changes nothing. Returns the tasks before and after, nothing if the changes of
/// both copies together are a circle.
fn import_twice(context: &mut Context, file: &str) -> Option<[String; 2]> {
    let before = text(context);
    let request = Request {
        text: file.to_string(),
        ..Request::default()
    };
    let first = import_text(context, request.clone()).unwrap();
    if context.notes.failure.is_some() {
        let is_circle = first.cycles.total > 0 || format!("{first:?}").contains("a part of itself");
        assert!(is_circle, "{first:?}");
        return None;
    }
    let after = text(context);
    let cursor = context.read(|tasks| tasks.last_cursor()).unwrap();
    let again = import_text(context, request.clone()).unwrap();
    let counts = (again.added, again.updated);
    assert_eq!(counts, (0, 0), "{again:?}");
    assert_eq!(text(context), after, "twice is once");
    assert_eq!(context.read(|tasks| tasks.last_cursor()).unwrap(), cursor);
    Some([before, after])
}

/// Removes claims, proof and keys, which each copy has for itself.
const LOCAL: [&str; 7] = [
    "key",
    "status",
    "acceptance",
    "startedAt",
    "completedAt",
    "cancelledAt",
    "archivedAt",
];

/// Returns the uids of tasks that are claimed, have to pass gates or have parts.
fn list_protected(context: &mut Context) -> BTreeSet<String> {
    let mut uids = BTreeSet::new();
    let now = context.now();
    context
        .read(|transaction| {
            let mut all = Vec::new();
            super::each_task(transaction, |task| {
                all.push(task);
                Ok(())
            })?;
            for task in all {
                let claim = transaction.claim(task.id)?;
                let is_claimed = claim.is_some_and(|claim| claim.live_holder(&now).is_some());
                let has_parts = !transaction.children(task.id)?.is_empty();
                if is_claimed || has_parts || transaction.gates(task.id)?.has_gates() {
                    uids.insert(task.uid);
                }
            }
            Ok(())
        })
        .unwrap();
    uids
}

fn keys(file: &str) -> BTreeMap<String, String> {
    let rows = file
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap());
    let keys = rows.filter_map(|row: Value| {
        let text = |name: &str| row[name].as_str().map(str::to_string);
        Some((text("uid")?, text("key")?))
    });
    keys.collect()
}

/// Tasks by uid, with references by uid, and without what the copies do not share.
fn common(file: &str, protected: &BTreeSet<String>) -> BTreeMap<String, Value> {
    let rows: Vec<Value> = file
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let uids: BTreeMap<String, Value> = rows
        .iter()
        .map(|row| (row["id"].as_str().unwrap().to_string(), row["uid"].clone()))
        .collect();
    let common = rows.into_iter().map(|mut row| {
        row["id"] = Value::Null;
        let is_protected = protected.contains(row["uid"].as_str().unwrap());
        for name in &LOCAL[..if is_protected { LOCAL.len() } else { 1 }] {
            row.as_object_mut().unwrap().remove(*name);
        }
        if let Some(parent) = row.get_mut("parent") {
            *parent = uids[parent.as_str().unwrap()].clone();
        }
        let needs = row.get_mut("depends").and_then(Value::as_array_mut);
        for need in needs.into_iter().flatten() {
            *need = uids[need.as_str().unwrap()].clone();
        }
        (row["uid"].as_str().unwrap().to_string(), row)
    });
    common.collect()
}

fn notes(file: &str) -> BTreeSet<String> {
    let rows = common(file, &BTreeSet::new()).into_values();
    let notes = rows.flat_map(|row| row["notes"].as_array().cloned().unwrap_or_default());
    notes.map(|note| note["text"].to_string()).collect()
}

proptest! {
    #![proptest_config(crate::tests::cases(10))]

    #[test]
    fn diverged_copies_become_equal(steps in steps(), is_at_once in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let mut copies = [("ana", "a"), ("ben", "b")].map(|(actor, name)| open(&folder.path().join(name), actor));
        let drafts = (0..4).map(|at| Draft { title: format!("task {at}"), ..Draft::default() });
        tasks::add::add(&mut copies[0], drafts.collect()).unwrap();
        let file = text(&mut copies[0]);
        import_twice(&mut copies[1], &file);
        prop_assert_eq!(&text(&mut copies[1]), &file);
        let mut second = 1;
        for (number, (is_second, what, at, later)) in steps.iter().enumerate() {
            second += later;
            let context = &mut copies[usize::from(*is_second)];
            context.surroundings.clock = clock(second);
            edit(context, number, what, *at);
        }
        for context in &mut copies {
            context.surroundings.clock = clock(second + 1);
        }
        let [ana, ben] = &mut copies;
        let files = [text(ana), text(ben)];
        for round in 0.. {
            let of_ana = text(ana);
            let of_ben = text(ben);
            let Some([ben_before, ben_after]) = import_twice(ben, &of_ana) else {
                return Ok(());
            };
            let of_ben = if is_at_once { of_ben } else { text(ben) };
            let Some([ana_before, ana_after]) = import_twice(ana, &of_ben) else {
                return Ok(());
            };
            if (ana_before, ben_before) == (ana_after, ben_after) {
                break;
            }
            prop_assert!(round < 6, "no end");
        }
        let (of_ana, of_ben) = (text(ana), text(ben));
        let mut apart = list_protected(ana);
        apart.append(&mut list_protected(ben));
        prop_assert_eq!(common(&of_ana, &apart), common(&of_ben, &apart));
        for (file, now) in files.iter().zip([&of_ana, &of_ben]) {
            let (before, after) = (keys(file), keys(now));
            prop_assert!(before.iter().all(|(uid, key)| after.get(uid) == Some(key)));
            let tasks = common(&of_ana, &apart);
            prop_assert!(common(file, &apart).keys().all(|uid| tasks.contains_key(uid)));
            prop_assert!(notes(file).is_subset(&notes(&of_ana)));
        }
    }
}
