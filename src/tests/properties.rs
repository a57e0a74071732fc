//! For any changes of tasks: the graph has no cycle, and the ready tasks equal those of a simple
//! model.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Code, Result};
use crate::id::TaskId;
use crate::ops::proof::Complete;
use crate::ops::tasks::{self, Cancel, DEPTH_MAX, Delete, Patch, Start};
use crate::ops::{Context, proof};
use crate::store::{Filter, ReadyTask};
use crate::task::draft::Reference;
use crate::task::fields::Draft;
use crate::task::{Status, Task};
use proptest::prelude::*;

use super::open;

/// One thing that somebody does. Tasks are named by a number that is taken round the known ids.
#[derive(Clone, Debug)]
enum Step {
    Add {
        depends: Vec<usize>,
        parent: Option<usize>,
    },
    Depend {
        task: usize,
        needs: usize,
    },
    Release {
        task: usize,
        needs: usize,
    },
    Nest {
        task: usize,
        parent: Option<usize>,
    },
    Start(usize),
    Complete(usize),
    Cancel(usize),
    Reopen(usize),
    Delete {
        task: usize,
        cascade: bool,
        force: bool,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let task = || 0..12usize;
    prop_oneof![
        5 => (prop::collection::vec(task(), 0..3), prop::option::weighted(0.3, task()))
            .prop_map(|(depends, parent)| Step::Add { depends, parent }),
        5 => (task(), task()).prop_map(|(task, needs)| Step::Depend { task, needs }),
        1 => (task(), task()).prop_map(|(task, needs)| Step::Release { task, needs }),
        2 => (task(), prop::option::weighted(0.8, task()))
            .prop_map(|(task, parent)| Step::Nest { task, parent }),
        1 => task().prop_map(Step::Start),
        4 => task().prop_map(Step::Complete),
        1 => task().prop_map(Step::Cancel),
        1 => task().prop_map(Step::Reopen),
        1 => (task(), any::<bool>(), any::<bool>())
            .prop_map(|(task, cascade, force)| Step::Delete { task, cascade, force }),
    ]
}

/// A task in the model.
#[derive(Clone, Debug)]
struct Known {
    status: Status,
    parent: Option<TaskId>,
    depends: BTreeSet<TaskId>,
}

/// The model: plain maps, no cleverness.
#[derive(Clone, Debug, Default)]
struct Model {
    tasks: BTreeMap<TaskId, Known>,
    handed_out: u32,
}

impl Model {
    fn pick(&self, number: usize) -> TaskId {
        let known: Vec<TaskId> = self.tasks.keys().copied().collect();
        match known.len() {
            0 => TaskId(1),
            n_known => known[number % n_known],
        }
    }

    fn is_open(&self, id: TaskId) -> bool {
        !matches!(self.tasks[&id].status, Status::Done | Status::Cancelled)
    }

    fn children(&self, id: TaskId) -> Vec<TaskId> {
        let is_child = |known: &Known| known.parent == Some(id);
        self.tasks
            .iter()
            .filter(|(_, known)| is_child(known))
            .map(|(id, _)| *id)
            .collect()
    }

    fn below(&self, id: TaskId) -> Vec<TaskId> {
        let children = self.children(id);
        let deeper = children.iter().flat_map(|child| self.below(*child));
        children.iter().copied().chain(deeper).collect()
    }

    fn depth(&self, id: TaskId) -> usize {
        1 + self.tasks[&id]
            .parent
            .map_or(0, |parent| self.depth(parent))
    }

    fn height(&self, id: TaskId) -> usize {
        1 + self
            .children(id)
            .iter()
            .map(|child| self.height(*child))
            .max()
            .unwrap_or(0)
    }

    /// Returns whether `from` waits for `target`, over however many tasks: what a task depends on must
    /// be done before it, and so must its parts.
    fn waits(&self, from: TaskId, target: TaskId) -> bool {
        let children = self.children(from);
        let mut next = self.tasks[&from].depends.iter().chain(&children);
        from == target || next.any(|next| self.waits(*next, target))
    }

    fn ready(&self) -> BTreeSet<TaskId> {
        let done = |id: &TaskId| {
            self.tasks
                .get(id)
                .is_some_and(|one| one.status == Status::Done)
        };
        let is_ready = |id: TaskId, known: &Known| {
            known.status == Status::Pending
                && known.depends.iter().all(done)
                && !self.children(id).iter().any(|child| self.is_open(*child))
        };
        let ready = self
            .tasks
            .iter()
            .filter(|(id, known)| is_ready(**id, known));
        ready.map(|(id, _)| *id).collect()
    }

    /// Counts the longest chain of tasks that depend on `id`.
    fn chain(&self, id: TaskId) -> u32 {
        let depends = |(_, known): &(&TaskId, &Known)| known.depends.contains(&id);
        let dependents = self.tasks.iter().filter(depends);
        dependents
            .map(|(other, _)| self.chain(*other) + 1)
            .max()
            .unwrap_or(0)
    }

    /// Does the step and returns the code of the refusal, if it must be refused.
    fn take(&mut self, step: &Step) -> Option<Code> {
        if self.tasks.is_empty() && !matches!(step, Step::Add { .. }) {
            return Some(Code::TaskNotFound);
        }
        match step {
            Step::Add { depends, parent } => return self.add(depends, *parent),
            Step::Depend { task, needs } => {
                let (task, needs) = (self.pick(*task), self.pick(*needs));
                if self.waits(needs, task) {
                    return Some(Code::Cycle);
                }
                self.tasks.get_mut(&task).unwrap().depends.insert(needs);
            }
            Step::Release { task, needs } => {
                let (task, needs) = (self.pick(*task), self.pick(*needs));
                self.tasks.get_mut(&task).unwrap().depends.remove(&needs);
            }
            Step::Nest { task, parent } => {
                let (task, parent) = (self.pick(*task), parent.map(|parent| self.pick(parent)));
                if let Some(parent) = parent {
                    if parent == task || self.below(task).contains(&parent) {
                        return Some(Code::Cycle);
                    }
                    if self.waits(task, parent) {
                        return Some(Code::Cycle);
                    }
                    if self.depth(parent) + self.height(task) > DEPTH_MAX {
                        return Some(Code::TooDeep);
                    }
                }
                self.tasks.get_mut(&task).unwrap().parent = parent;
            }
            Step::Start(task) => {
                let task = self.pick(*task);
                if !self.is_open(task) {
                    return Some(Code::StatusRefused);
                }
                self.tasks.get_mut(&task).unwrap().status = Status::Active;
            }
            Step::Complete(task) => {
                let task = self.pick(*task);
                if self.tasks[&task].status == Status::Cancelled {
                    return Some(Code::StatusRefused);
                }
                // However deep: a part that is open under one that is closed counts too.
                if self.below(task).iter().any(|part| self.is_open(*part)) {
                    return Some(Code::HasChildren);
                }
                self.tasks.get_mut(&task).unwrap().status = Status::Done;
            }
            Step::Cancel(task) => {
                let task = self.pick(*task);
                if self.tasks[&task].status == Status::Done {
                    return Some(Code::StatusRefused);
                }
                self.tasks.get_mut(&task).unwrap().status = Status::Cancelled;
            }
            Step::Reopen(task) => {
                let task = self.pick(*task);
                if !self.is_open(task) {
                    self.tasks.get_mut(&task).unwrap().status = Status::Pending;
                }
            }
            Step::Delete {
                task,
                cascade,
                force,
            } => return self.delete(self.pick(*task), *cascade, *force),
        }
        None
    }

    fn add(&mut self, depends: &[usize], parent: Option<usize>) -> Option<Code> {
        let (depends, parent) = self.references(depends, parent);
        if !self.tasks.is_empty() && parent.is_some_and(|parent| self.depth(parent) >= DEPTH_MAX) {
            return Some(Code::TooDeep);
        }
        // The new task is a part of its parent, so what it waits for must not wait for that.
        if parent.is_some_and(|parent| depends.iter().any(|need| self.waits(*need, parent))) {
            return Some(Code::Cycle);
        }
        self.handed_out += 1;
        let (status, depends) = (Status::Pending, depends.into_iter().collect());
        self.tasks.insert(
            TaskId(self.handed_out),
            Known {
                status,
                parent,
                depends,
            },
        );
        None
    }

    /// Possible references of a new task; none in an empty workspace.
    fn references(
        &self,
        depends: &[usize],
        parent: Option<usize>,
    ) -> (Vec<TaskId>, Option<TaskId>) {
        if self.tasks.is_empty() {
            return (Vec::new(), None);
        }
        let depends = depends.iter().map(|number| self.pick(*number)).collect();
        (depends, parent.map(|number| self.pick(number)))
    }

    fn delete(&mut self, task: TaskId, cascade: bool, force: bool) -> Option<Code> {
        let mut going = self.below(task);
        going.push(task);
        let is_held = self.tasks.iter().any(|(id, known)| {
            !going.contains(id) && going.iter().any(|gone| known.depends.contains(gone))
        });
        if (going.len() > 1 && !cascade) || (is_held && !force) {
            return Some(Code::HasChildren);
        }
        self.tasks.retain(|id, _| !going.contains(id));
        for known in self.tasks.values_mut() {
            known.depends.retain(|need| !going.contains(need));
        }
        None
    }
}

/// Does the step for real, with the ids that the model gives.
fn do_step(context: &mut Context, model: &Model, step: &Step) -> Result<()> {
    let depend = |task: usize, add: Vec<TaskId>, remove: Vec<TaskId>| {
        let patch = Patch {
            depends: add,
            remove_depends: remove.iter().map(TaskId::to_string).collect(),
            ..Patch::default()
        };
        (model.pick(task), patch)
    };
    match step {
        Step::Add { depends, parent } => {
            let (depends, parent) = model.references(depends, *parent);
            let draft = Draft {
                title: "x".to_string(),
                depends: depends.into_iter().map(Reference::Id).collect(),
                parent: parent.map(Reference::Id),
                ..Draft::default()
            };
            tasks::add::add(context, vec![draft]).map(drop)
        }
        Step::Depend { task, needs } => {
            let (task, patch) = depend(*task, vec![model.pick(*needs)], Vec::new());
            tasks::update(context, Patch { task, ..patch }).map(drop)
        }
        Step::Release { task, needs } => {
            let (task, patch) = depend(*task, Vec::new(), vec![model.pick(*needs)]);
            tasks::update(context, Patch { task, ..patch }).map(drop)
        }
        Step::Nest { task, parent } => {
            let parent = Some(parent.map(|parent| model.pick(parent)));
            let patch = Patch {
                task: model.pick(*task),
                parent,
                ..Patch::default()
            };
            tasks::update(context, patch).map(drop)
        }
        Step::Start(task) => tasks::start(context, Start::from(model.pick(*task))).map(drop),
        Step::Complete(task) => {
            proof::complete(context, Complete::from(model.pick(*task))).map(drop)
        }
        Step::Cancel(task) => tasks::cancel(context, Cancel::from(model.pick(*task))).map(drop),
        Step::Reopen(task) => tasks::reopen(context, model.pick(*task)).map(drop),
        Step::Delete {
            task,
            cascade,
            force,
        } => {
            let request = Delete {
                task: model.pick(*task),
                cascade: *cascade,
                force: *force,
                dry_run: false,
            };
            tasks::delete(context, request).map(drop)
        }
    }
}

fn assert_no_circle(tasks: &[Task]) {
    let mut left: BTreeMap<TaskId, &Task> = tasks.iter().map(|task| (task.id, task)).collect();
    while !left.is_empty() {
        let free: Vec<TaskId> = left
            .values()
            .filter(|task| !task.depends.iter().any(|need| left.contains_key(need)))
            .map(|task| task.id)
            .collect();
        assert!(!free.is_empty(), "a circle in {:?}", left.keys());
        left.retain(|id, _| !free.contains(id));
    }
}

proptest! {
    // Few cases, each long: what goes wrong does so after many steps.
    #![proptest_config(super::cases(10))]

    #[test]
    fn any_sequence_of_steps_keeps_graph_as_model_says(
        steps in prop::collection::vec(step(), 1..60)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut context = open(folder.path());
        let mut model = Model::default();
        for step in &steps {
            let done = do_step(&mut context, &model, step);
            let refused = model.take(step);
            prop_assert_eq!(done.err().map(|error| error.code), refused, "{:?}", step);
        }
        let kept = tasks::list(&mut context, &Filter::default()).unwrap().tasks;
        assert_no_circle(&kept);
        prop_assert_eq!(kept.len(), model.tasks.len());
        for task in &kept {
            let known = &model.tasks[&task.id];
            prop_assert_eq!((task.status, task.parent), (known.status, known.parent));
            let depends: BTreeSet<TaskId> = task.depends.iter().copied().collect();
            prop_assert_eq!(&depends, &known.depends);
        }
        let ready = tasks::find_ready(&mut context, None, None).unwrap();
        prop_assert_eq!(ready.total, ready.tasks.len() as u64);
        let ready = ready.tasks;
        let ids: BTreeSet<TaskId> = ready.iter().map(|one| one.task.id).collect();
        for one in &ready {
            prop_assert_eq!(one.below, model.chain(one.task.id), "below {:?}", one.task.id);
        }
        let order = |one: &ReadyTask| (one.task.priority, Reverse(one.below), one.task.id);
        prop_assert!(ready.is_sorted_by_key(order));
        prop_assert_eq!(&ids, &model.ready());
        prop_assert_eq!(ids.len(), ready.len());
        // The ready tasks are exactly the first wave of pending tasks.
        let waves = tasks::find_waves(&mut context, None, None).unwrap();
        let first: BTreeSet<TaskId> = waves.waves.iter().take(1).flatten()
            .filter(|task| task.status == Status::Pending).map(|task| task.id).collect();
        prop_assert_eq!(first, ids);
    }
}
