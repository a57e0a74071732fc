//! Copies of the tasks that went apart in any way come together again, and what somebody did in any of
//! them is there, or is listed as a conflict. The copies take turns with one file, as with one branch, or
//! each has a file of its own, and git joins them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cleo::claim::Lease;
use cleo::clock::Clock;
use cleo::error::Code;
use cleo::id::TaskId;
use cleo::ops::tasks::{self, Patch};
use cleo::ops::transfer;
use cleo::ops::{Context, claims, complete};
use cleo::store::Filter;
use cleo::task::draft::{Draft, Reference};
use cleo::task::{Priority, Task};
use cleo::transfer::merge::Conflict;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Most passes over all copies until nothing changes any more.
const PASSES: usize = 5;

/// One thing that somebody does in a copy. Tasks are meant by their place in the list.
#[derive(Clone, Debug)]
enum Step {
    Add(Option<usize>, Option<usize>),
    Delete(usize),
    Title(usize, String),
    Priority(usize, usize),
    Label(usize, String),
    Unlabel(usize, String),
    Note(usize, String),
    Depend(usize, usize),
    Undepend(usize, usize),
    Parent(usize, Option<usize>),
    Start(usize),
    Release(usize),
    Complete(usize),
    Cancel(usize),
    Reopen(usize),
    /// From now on the clock of the copy is so many minutes ahead of the others, or behind them.
    Clock(i32),
}

fn step() -> impl Strategy<Value = Step> {
    let task = || 0..8usize;
    let other = || prop::option::of(task());
    prop_oneof![
        2 => (other(), other()).prop_map(|(needs, parent)| Step::Add(needs, parent)),
        2 => task().prop_map(Step::Delete),
        1 => (task(), "[a-z]{1,3}").prop_map(|(task, title)| Step::Title(task, title)),
        1 => (task(), 0..4usize).prop_map(|(task, priority)| Step::Priority(task, priority)),
        1 => (task(), "[a-c]").prop_map(|(task, label)| Step::Label(task, label)),
        1 => (task(), "[a-c]").prop_map(|(task, label)| Step::Unlabel(task, label)),
        1 => (task(), "[a-z]{8}").prop_map(|(task, note)| Step::Note(task, note)),
        1 => (task(), task()).prop_map(|(task, needs)| Step::Depend(task, needs)),
        1 => (task(), task()).prop_map(|(task, needs)| Step::Undepend(task, needs)),
        1 => (task(), other()).prop_map(|(task, parent)| Step::Parent(task, parent)),
        2 => task().prop_map(Step::Start),
        1 => task().prop_map(Step::Release),
        1 => task().prop_map(Step::Complete),
        1 => task().prop_map(Step::Cancel),
        1 => task().prop_map(Step::Reopen),
        1 => prop::sample::select(vec![-90, -1, 0, 0, 1, 90]).prop_map(Step::Clock),
    ]
}

/// What a number of people do between two times that they come together.
type Round = Vec<Vec<Step>>;

fn rounds(copies: usize) -> impl Strategy<Value = Vec<Round>> {
    let steps = prop::collection::vec(step(), 0..6);
    prop::collection::vec(prop::collection::vec(steps, copies), 1..4)
}

/// The copies, and the time that passes in all of them.
struct World {
    copies: Vec<Context>,
    /// How many minutes the clock of each is ahead.
    ahead: Vec<i32>,
    second: i32,
    made: usize,
    /// True when a task was given back so that it can have another id.
    has_released: bool,
    conflicts: Vec<Conflict>,
}

impl World {
    fn new(folder: &Path, copies: usize) -> World {
        let open = |number| crate::world::open(&made(folder.join(format!("copy-{number}"))));
        World {
            copies: (0..copies).map(open).collect(),
            ahead: vec![0; copies],
            second: 0,
            made: 0,
            has_released: false,
            conflicts: Vec::new(),
        }
    }

    /// Lets a second pass, and sets the clock of a copy.
    fn tick(&mut self, copy: usize) {
        self.second += 1;
        let minutes = 12 * 60 + self.ahead[copy] + self.second / 60;
        let (hours, minutes, seconds) = (minutes / 60, minutes % 60, self.second % 60);
        // No two copies do anything at the same moment.
        let now = format!("2026-01-26T{hours:02}:{minutes:02}:{seconds:02}.{copy:03}Z");
        self.copies[copy].surroundings.clock = Clock::from_setting(Some(&now)).unwrap();
    }

    fn tasks(&mut self, copy: usize) -> Vec<Task> {
        tasks::list(&mut self.copies[copy], &Filter::default())
            .unwrap()
            .tasks
    }

    fn exported(&mut self, copy: usize) -> String {
        let exported =
            transfer::export(&mut self.copies[copy], transfer::Target::Jsonl, None).unwrap();
        exported.text.unwrap()
    }

    /// Takes a step if it is allowed.
    fn take(&mut self, copy: usize, step: &Step) {
        self.tick(copy);
        let all = self.tasks(copy);
        let pick = |number: &usize| all.get(number % all.len().max(1)).map(|task| task.id);
        let context = &mut self.copies[copy];
        let lease = Lease::default();
        let _ = match step {
            Step::Clock(minutes) => {
                self.ahead[copy] = *minutes;
                return;
            }
            Step::Add(needs, parent) => {
                self.made += 1;
                let draft = Draft {
                    title: format!("added {}", self.made),
                    // What it is known by, whatever becomes of it.
                    description: format!("number {}", self.made),
                    depends: needs.iter().filter_map(pick).map(Reference::Id).collect(),
                    parent: parent.iter().find_map(pick).map(Reference::Id),
                    ..Draft::default()
                };
                tasks::add(context, vec![draft]).map(drop)
            }
            Step::Delete(task) => {
                let Some(id) = pick(task) else { return };
                tasks::delete(context, id, false, false, false).map(drop)
            }
            Step::Start(task) => {
                let Some(id) = pick(task) else { return };
                tasks::start(context, id, lease, None).map(drop)
            }
            Step::Release(task) => {
                let Some(id) = pick(task) else { return };
                claims::release(context, id, None, false).map(drop)
            }
            Step::Complete(task) => {
                let Some(id) = pick(task) else { return };
                complete::complete(context, id, None, false).map(drop)
            }
            Step::Cancel(task) => {
                let Some(id) = pick(task) else { return };
                tasks::cancel(context, id, None, false).map(drop)
            }
            Step::Reopen(task) => {
                let Some(id) = pick(task) else { return };
                tasks::reopen(context, id).map(drop)
            }
            Step::Title(task, _)
            | Step::Priority(task, _)
            | Step::Label(task, _)
            | Step::Unlabel(task, _)
            | Step::Note(task, _)
            | Step::Depend(task, _)
            | Step::Undepend(task, _)
            | Step::Parent(task, _) => {
                let Some(id) = pick(task) else { return };
                tasks::update(context, id, patch(step, &pick)).map(drop)
            }
        };
    }

    /// Merges all copies with the file, again and again, until nothing changes any more.
    fn come_together(&mut self, file: &Path) {
        for _ in 0..PASSES {
            let mut is_idle = true;
            for copy in 0..self.copies.len() {
                is_idle &= self.merge(copy, file);
            }
            if is_idle {
                return;
            }
        }
        panic!("they never come to rest");
    }

    /// Merges each of two copies with a file of its own, joins the files as git does, has one copy merge
    /// what came out, and then has both take turns with it.
    fn join_branches(&mut self, file: &Path) {
        let base = std::fs::read_to_string(file).unwrap();
        let branches = [0, 1].map(|copy| {
            std::fs::write(file, &base).unwrap();
            self.merge(copy, file);
            std::fs::read_to_string(file).unwrap()
        });
        std::fs::write(file, joined_by_git(&base, &branches)).unwrap();
        // Either of them may have joined the files.
        self.merge(self.made % 2, file);
        self.come_together(file);
    }

    /// Merges a copy with the file; says whether nothing changed. Who holds a task that is to have
    /// another id gives it back.
    fn merge(&mut self, copy: usize, file: &Path) -> bool {
        loop {
            self.tick(copy);
            match transfer::sync(&mut self.copies[copy], file, false) {
                Err(refused) if refused.code == Code::Claimed => {
                    self.has_released = true;
                    for task in self.tasks(copy) {
                        self.tick(copy);
                        claims::release(&mut self.copies[copy], task.id, None, true).unwrap();
                    }
                }
                merged => {
                    let merged = merged.unwrap();
                    let is_idle = merged.here == Default::default()
                        && merged.in_file == Default::default()
                        && merged.renumbered.is_empty();
                    assert!(!is_idle || merged.conflicts.is_empty(), "{merged:?}");
                    self.conflicts.extend(merged.conflicts);
                    return is_idle;
                }
            }
        }
    }

    /// Says whether a value of a field, or the task of a name, is among the conflicts.
    fn is_listed(&self, field: &str, value: &Value) -> bool {
        let has =
            |side: &Value| side == value || &side[field] == value || &side["description"] == value;
        self.conflicts
            .iter()
            .any(|one| one.field == field && (has(&one.here) || has(&one.file)))
    }
}

/// Joins two versions of a file line by line, as git does where both lines of a conflict are kept.
fn joined_by_git(base: &str, branches: &[String; 2]) -> String {
    let lines = |text: &str| -> BTreeMap<TaskId, String> {
        let mut lines = BTreeMap::new();
        for line in text.lines().skip(1) {
            let task: Value = serde_json::from_str(line).unwrap();
            let id = task["id"].as_str().unwrap().parse().unwrap();
            lines.insert(id, line.to_string());
        }
        lines
    };
    let (was, one, other) = (lines(base), lines(&branches[0]), lines(&branches[1]));
    let mut text = format!("{}\n", base.lines().next().unwrap());
    for id in was
        .keys()
        .chain(one.keys())
        .chain(other.keys())
        .collect::<BTreeSet<_>>()
    {
        let (was, one, other) = (was.get(id), one.get(id), other.get(id));
        let kept = match (one, other) {
            _ if one == other || other == was => vec![one],
            _ if one == was => vec![other],
            _ => vec![one, other],
        };
        for line in kept.into_iter().flatten() {
            text += &format!("{line}\n");
        }
    }
    text
}

fn made(folder: std::path::PathBuf) -> std::path::PathBuf {
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn patch(step: &Step, pick: &impl Fn(&usize) -> Option<TaskId>) -> Patch {
    let mut patch = Patch::default();
    match step {
        Step::Title(_, title) => patch.title = Some(title.clone()),
        Step::Priority(_, priority) => patch.priority = Some(Priority::ALL[*priority]),
        Step::Label(_, label) => patch.add_labels = vec![label.clone()],
        Step::Unlabel(_, label) => patch.remove_labels = vec![label.clone()],
        Step::Note(_, note) => patch.notes = vec![note.clone()],
        Step::Depend(_, needs) => patch.add_depends = pick(needs).into_iter().collect(),
        Step::Undepend(_, needs) => patch.remove_depends = pick(needs).into_iter().collect(),
        Step::Parent(_, parent) => patch.parent = Some(parent.as_ref().and_then(pick)),
        _ => {}
    }
    patch
}

/// Tasks by what they are known by, with references told in the same way.
type Known = BTreeMap<String, (Task, Option<String>, Vec<String>)>;

fn known(tasks: &[Task]) -> Known {
    let name = |id: TaskId| {
        let task = tasks.iter().find(|task| task.id == id);
        task.map_or_else(|| id.to_string(), |task| task.description.clone())
    };
    let one = |task: &Task| {
        let depends = task.depends.iter().map(|id| name(*id)).collect();
        let known = (task.clone(), task.parent.map(name), depends);
        (task.description.clone(), known)
    };
    tasks.iter().map(one).collect()
}

/// Says what was done to one field: the values that somebody changed it to.
fn changes(base: Option<&Value>, versions: &[Value]) -> Vec<Value> {
    let mut changes: Vec<Value> = Vec::new();
    for value in versions {
        if base != Some(value) && !changes.contains(value) {
            changes.push(value.clone());
        }
    }
    changes
}

/// Returns where the work on a task stands and since when, which goes together.
fn stand(task: &Task) -> Value {
    let mut fields = json!(task);
    let all = fields.as_object_mut().unwrap();
    all.retain(|name, _| ["status", "startedAt", "completedAt", "cancelledAt"].contains(&&**name));
    fields
}

/// Checks that everything that was done to one task is there or told.
fn check(world: &World, name: &str, base: &Known, before: &[Known], after: &Known) {
    let was = base.get(name);
    let there: Vec<_> = before.iter().filter_map(|copy| copy.get(name)).collect();
    let is_touched = there.iter().any(|now| Some(*now) != was);
    let Some(now) = after.get(name) else {
        assert!(there.len() < before.len(), "{name} is lost");
        assert!(!is_touched, "{name} was changed and is lost");
        return;
    };
    let was_deleted = was.is_some() && there.len() < before.len();
    assert!(
        !was_deleted || is_touched || world.has_released,
        "{name} was deleted"
    );
    let value = |(task, parent, _): &(Task, Option<String>, Vec<String>), field: &str| match field {
        "title" => json!(task.title),
        "priority" => json!(task.priority),
        "status" => stand(task),
        _ => json!(parent),
    };
    for field in ["title", "priority", "status", "parent"] {
        if field == "status" && world.has_released {
            continue;
        }
        let was = was.map(|was| value(was, field));
        let versions: Vec<Value> = there.iter().map(|version| value(version, field)).collect();
        let changes = changes(was.as_ref(), &versions);
        let now = value(now, field);
        if field == "parent" {
            // A circle may have been cut.
            let is_cut = world.conflicts.iter().any(|one| one.field == "parent");
            assert!(
                is_cut || changes.len() != 1 || changes[0] == now,
                "the parent of {name}"
            );
            continue;
        }
        match changes.as_slice() {
            [] => assert_eq!(Some(&now), was.as_ref(), "{field} of {name}"),
            [only] => assert_eq!(&now, only, "{field} of {name}"),
            many => {
                assert!(many.contains(&now), "{field} of {name}: {now} {many:?}");
                for other in many.iter().filter(|other| **other != now) {
                    assert!(world.is_listed(field, other), "{field} of {name}: {other}");
                }
            }
        }
    }
    for note in there.iter().flat_map(|version| &version.0.notes) {
        assert!(now.0.notes.contains(note), "a note of {name} is lost");
    }
    let labels: Vec<&[String]> = there.iter().map(|version| &*version.0.labels).collect();
    let expected = joined(was.map(|was| &*was.0.labels), &labels);
    let mut labels = now.0.labels.clone();
    labels.sort();
    assert_eq!(labels, expected, "labels of {name}");
    let depends: Vec<&[String]> = there.iter().map(|version| &*version.2).collect();
    let expected = joined(was.map(|was| &*was.2), &depends);
    for needed in &now.2 {
        assert!(expected.contains(needed), "{name} waits for {needed}");
    }
    for needed in expected.iter().filter(|needed| !now.2.contains(needed)) {
        // A circle may have been cut, and what is gone is not waited for.
        let is_cut = world.conflicts.iter().any(|one| one.field == "depends");
        assert!(
            is_cut || !after.contains_key(needed),
            "{name} waits for {needed}"
        );
    }
}

/// Joins sets: what the base had and all still have, and what anybody added.
fn joined(base: Option<&[String]>, versions: &[&[String]]) -> Vec<String> {
    let base = base.unwrap_or_default();
    let stays = |word: &String| {
        !base.contains(word) || versions.iter().all(|version| version.contains(word))
    };
    let words = versions.iter().flat_map(|version| version.iter());
    let mut words: Vec<String> = words.filter(|word| stays(word)).cloned().collect();
    words.sort();
    words.dedup();
    words
}

/// Has copies go apart and come together in some way, round after round.
fn go_apart(start: &[Step], rounds: &[Round], come_together: fn(&mut World, &Path)) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tasks.jsonl");
    let mut world = World::new(folder.path(), rounds[0].len());
    for step in [
        Step::Add(None, None),
        Step::Add(None, None),
        Step::Add(None, None),
    ] {
        world.take(0, &step);
    }
    for step in start {
        world.take(0, step);
    }
    world.come_together(&file);
    for round in rounds {
        world.conflicts.clear();
        world.has_released = false;
        let base = known(&world.tasks(0));
        for (copy, steps) in round.iter().enumerate() {
            for step in steps {
                world.take(copy, step);
            }
        }
        let copies = world.copies.len();
        let before: Vec<Known> = (0..copies).map(|copy| known(&world.tasks(copy))).collect();
        come_together(&mut world, &file);
        let text = std::fs::read_to_string(&file).unwrap();
        for copy in 0..copies {
            assert_eq!(
                world.exported(copy),
                crate::sync::plain(&text),
                "copy {copy}"
            );
        }
        let after = known(&world.tasks(0));
        let names = before.iter().flat_map(BTreeMap::keys);
        for name in names.collect::<BTreeSet<_>>() {
            check(&world, name, &base, &before, &after);
        }
        for name in after.keys() {
            assert!(before.iter().any(|copy| copy.contains_key(name)), "{name}");
        }
    }
}

/// What somebody does in a copy while others do nothing: a step, or a merge with the file.
fn turn(copies: usize) -> impl Strategy<Value = (usize, Option<Step>)> {
    let task = || 0..8usize;
    let step = prop_oneof![
        3 => prop::option::of(task()).prop_map(|needs| Some(Step::Add(needs, None))),
        1 => (task(), "[a-z]{1,3}").prop_map(|(task, title)| Some(Step::Title(task, title))),
        1 => task().prop_map(|task| Some(Step::Delete(task))),
        4 => Just(None),
    ];
    (0..copies, step)
}

/// Returns the names of tasks, each as often as it is there.
fn names(tasks: &[Task]) -> Vec<String> {
    let mut names: Vec<String> = tasks.iter().map(|task| task.description.clone()).collect();
    names.sort();
    names
}

/// Has copies take turns with one file, and counts what is there at the end: each task once, and none that
/// was deleted, unless a conflict says that it came back.
fn take_turns(copies: usize, turns: &[(usize, Option<Step>)]) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tasks.jsonl");
    let mut world = World::new(folder.path(), copies);
    let (mut added, mut deleted) = (BTreeSet::new(), BTreeSet::new());
    for (copy, step) in turns {
        let Some(step) = step else {
            world.merge(*copy, &file);
            continue;
        };
        let before: BTreeSet<String> = names(&world.tasks(*copy)).into_iter().collect();
        world.take(*copy, step);
        let after: BTreeSet<String> = names(&world.tasks(*copy)).into_iter().collect();
        added.extend(after.difference(&before).cloned());
        deleted.extend(before.difference(&after).cloned());
    }
    world.come_together(&file);
    let text = std::fs::read_to_string(&file).unwrap();
    for copy in 0..copies {
        let exported = world.exported(copy);
        assert_eq!(exported, crate::sync::plain(&text), "copy {copy}");
        world.merge(copy, &file);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "copy {copy}");
    }
    let there = names(&world.tasks(0));
    let is_back = |name: &String| world.is_listed("task", &json!(name));
    let is_due = |name: &&String| !deleted.contains(*name) || there.contains(*name);
    let expected: Vec<String> = added.iter().filter(is_due).cloned().collect();
    assert_eq!(there, expected);
    for name in there.iter().filter(|name| deleted.contains(*name)) {
        assert!(is_back(name), "{name} came back");
    }
}

/// So many cases, or as many as `PROPTEST_CASES` says.
fn config(cases: u32) -> ProptestConfig {
    let said = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: said.and_then(|said| said.parse().ok()).unwrap_or(cases),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn two_copies_that_went_apart_come_together_again(
        start in prop::collection::vec(step(), 0..6),
        rounds in rounds(2),
    ) {
        go_apart(&start, &rounds, World::come_together);
    }

    #[test]
    fn three_copies_that_went_apart_come_together_again(
        start in prop::collection::vec(step(), 0..4),
        rounds in rounds(3),
    ) {
        go_apart(&start, &rounds, World::come_together);
    }

    #[test]
    fn two_branches_that_git_joined_line_by_line_come_together(
        start in prop::collection::vec(step(), 0..6),
        rounds in rounds(2),
    ) {
        go_apart(&start, &rounds, World::join_branches);
    }

    #[test]
    fn copies_that_take_turns_have_each_task_once(
        turns in prop::collection::vec(turn(2), 0..40),
    ) {
        take_turns(2, &turns);
    }

    #[test]
    fn three_copies_that_take_turns_have_each_task_once(
        turns in prop::collection::vec(turn(3), 0..40),
    ) {
        take_turns(3, &turns);
    }
}
