//! For any changes: all of them can be undone step by step and redone, and undoing an undo restores
//! exactly the state before it.

use crate::error::{Code, Result};
use crate::id::TaskId;
use crate::ops::proof::Complete;
use crate::ops::tasks::{self, Cancel, Delete, Patch, Selection, Start};
use crate::ops::undo::{self, Undone};
use crate::ops::{Context, proof};
use crate::store::{Archived, Filter};
use crate::task::Task;
use crate::task::draft::Reference;
use crate::task::fields::Draft;
use proptest::prelude::*;

use super::open;

/// One thing that somebody does; much of it is refused.
#[derive(Clone, Debug)]
enum Step {
    Add(Vec<u32>, Option<u32>),
    Title(u32, u8),
    Label(u32, u8),
    Unlabel(u32, u8),
    Depend(u32, u32),
    Release(u32, u32),
    Nest(u32, Option<u32>),
    Start(u32),
    Complete(u32),
    Cancel(u32),
    Reopen(u32),
    Archive(u32),
    Delete(u32),
    Undo(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let task = || 1..9u32;
    let word = || 0..3u8;
    prop_oneof![
        6 => (prop::collection::vec(task(), 0..2), prop::option::weighted(0.4, task()))
            .prop_map(|(depends, parent)| Step::Add(depends, parent)),
        2 => (task(), word()).prop_map(|(task, word)| Step::Title(task, word)),
        3 => (task(), word()).prop_map(|(task, word)| Step::Label(task, word)),
        1 => (task(), word()).prop_map(|(task, word)| Step::Unlabel(task, word)),
        3 => (task(), task()).prop_map(|(task, needs)| Step::Depend(task, needs)),
        1 => (task(), task()).prop_map(|(task, needs)| Step::Release(task, needs)),
        2 => (task(), prop::option::weighted(0.7, task()))
            .prop_map(|(task, parent)| Step::Nest(task, parent)),
        1 => task().prop_map(Step::Start),
        2 => task().prop_map(Step::Complete),
        1 => task().prop_map(Step::Cancel),
        1 => task().prop_map(Step::Reopen),
        1 => task().prop_map(Step::Archive),
        2 => task().prop_map(Step::Delete),
        4 => (1..40u64).prop_map(Step::Undo),
    ]
}

fn undo(context: &mut Context, operation: Option<u64>) -> Result<Undone> {
    let dry_run = false;
    undo::undo(context, undo::Request { operation, dry_run })
}

fn patch(task: u32, context: &mut Context, patch: Patch) -> Result<()> {
    let task = TaskId(task);
    tasks::update(context, Patch { task, ..patch }).map(drop)
}

fn do_step(context: &mut Context, step: &Step) -> Result<()> {
    let all = Patch::default;
    match step.clone() {
        Step::Add(depends, parent) => {
            let reference = |id: u32| Reference::Id(TaskId(id));
            let draft = Draft {
                title: "a task".to_string(),
                depends: depends.into_iter().map(reference).collect(),
                parent: parent.map(reference),
                ..Draft::default()
            };
            tasks::add::add(context, vec![draft]).map(drop)
        }
        Step::Title(task, word) => {
            let title = Some(format!("title {word}"));
            patch(task, context, Patch { title, ..all() })
        }
        Step::Label(task, word) => {
            let labels = vec![format!("label{word}")];
            patch(task, context, Patch { labels, ..all() })
        }
        Step::Unlabel(task, word) => {
            let remove_labels = vec![format!("label{word}")];
            patch(
                task,
                context,
                Patch {
                    remove_labels,
                    ..all()
                },
            )
        }
        Step::Depend(task, needs) => {
            let depends = vec![TaskId(needs)];
            patch(task, context, Patch { depends, ..all() })
        }
        Step::Release(task, needs) => {
            let remove_depends = vec![TaskId(needs).to_string()];
            patch(
                task,
                context,
                Patch {
                    remove_depends,
                    ..all()
                },
            )
        }
        Step::Nest(task, parent) => {
            let parent = Some(parent.map(TaskId));
            patch(task, context, Patch { parent, ..all() })
        }
        Step::Start(task) => tasks::start(context, Start::from(TaskId(task))).map(drop),
        Step::Complete(task) => proof::complete(context, Complete::from(TaskId(task))).map(drop),
        Step::Cancel(task) => tasks::cancel(context, Cancel::from(TaskId(task))).map(drop),
        Step::Reopen(task) => tasks::reopen(context, TaskId(task)).map(drop),
        Step::Archive(task) => tasks::archive(context, Selection::from(TaskId(task))).map(drop),
        Step::Delete(task) => {
            let (task, dry_run) = (TaskId(task), false);
            let (cascade, force) = (true, true);
            tasks::delete(
                context,
                Delete {
                    task,
                    cascade,
                    force,
                    dry_run,
                },
            )
            .map(drop)
        }
        Step::Undo(number) => undo(context, Some(number)).map(drop),
    }
}

/// Returns everything that there is; the clock stands still, so equal is equal.
fn all(context: &mut Context) -> Vec<Task> {
    let filter = Filter {
        archived: Archived::Shown,
        ..Filter::default()
    };
    tasks::list(context, &filter).unwrap().tasks
}

proptest! {
    #![proptest_config(super::cases(10))]

    #[test]
    fn operations_can_be_undone_and_redone(
        steps in prop::collection::vec(step(), 1..40)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut context = open(folder.path());
        let mut states = vec![all(&mut context)];
        // Starts take claims, which are not undone; what was reopened is done again only without open parts.
        let is_undoable =
            |step: &&Step| !matches!(step, Step::Undo(_) | Step::Start(_) | Step::Reopen(_));
        for step in steps.iter().filter(is_undoable) {
            let _ = do_step(&mut context, step);
            let now = all(&mut context);
            if states.last() != Some(&now) {
                states.push(now);
            }
        }
        let mut undos = Vec::new();
        for wanted in states.iter().rev().skip(1) {
            undos.extend(undo(&mut context, None).unwrap().undo);
            prop_assert_eq!(&all(&mut context), wanted);
        }
        let over = undo(&mut context, None).unwrap_err();
        prop_assert_eq!(over.code, Code::NothingToUndo);
        for (wanted, redo) in states.iter().skip(1).zip(undos.into_iter().rev()) {
            undo(&mut context, Some(redo)).unwrap();
            prop_assert_eq!(&all(&mut context), wanted);
        }
    }

    #[test]
    fn undo_anywhere_is_refused_or_can_be_reverted(
        steps in prop::collection::vec(step(), 1..60)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut context = open(folder.path());
        for step in &steps {
            let before = all(&mut context);
            let done = do_step(&mut context, step);
            if let (Step::Undo(number), Err(error)) = (step, &done) {
                let codes = [Code::UndoConflict, Code::NothingToUndo, Code::OperationNotFound];
                prop_assert!(codes.contains(&error.code), "{} {:?}", number, error);
                prop_assert!(error.fix.is_some());
            }
            if done.is_err() {
                prop_assert_eq!(&all(&mut context), &before);
            } else if let Step::Undo(number) = step {
                let after = all(&mut context);
                let operation = crate::ops::log::operation(&mut context, *number, 1).unwrap();
                let redo = operation.operation.operation.undone_by;
                if let Err(refused) = undo(&mut context, redo) {
                    // A task that was done before its child was reopened or added is not done again.
                    let opens = |one: &Step| matches!(one, Step::Reopen(_) | Step::Add(_, Some(_)));
                    prop_assert!(steps.iter().any(opens));
                    prop_assert!(refused.message.contains("not done"), "{}", refused.message);
                    prop_assert_eq!(&all(&mut context), &after);
                    continue;
                }
                prop_assert_eq!(&all(&mut context), &before);
                undo(&mut context, Some(*number)).unwrap();
                prop_assert_eq!(&all(&mut context), &after);
            }
        }
        // The graph can still be walked, so there is no circle and nothing that leads nowhere.
        let kept = all(&mut context);
        let waves = tasks::find_waves(&mut context, None, None).unwrap();
        let is_there = |id: &TaskId| kept.iter().any(|task| task.id == *id);
        for task in &kept {
            prop_assert!(task.depends.iter().chain(&task.parent).all(is_there));
        }
        prop_assert!(waves.waves.iter().flatten().all(|task| is_there(&task.id)));
    }
}
