//! Which task each record becomes. A first reading of the file gives the [`Outline`]: ids and
//! references, no texts. With what the store knows it becomes a [`Plan`], and a second reading of
//! the file gives the tasks. So a file of any size needs little memory.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::{Value, json};

use super::circles::groups;
use super::report::{Circle, LeftOut, Loose, Renamed, Repeated, Report};
use super::{Fault, Format, Item, Place, Record, Reference};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::task::{Status, Task};

/// Largest number that a task may keep: one near the end of the range would use up all ids.
const NUMBER_MAX: u32 = 99_999_999;
/// No name.
const NONE: u32 = u32::MAX;

/// What the store knows, and how it hands out ids.
pub trait Known {
    /// Finds the task that came from another file's task.
    fn by_origin(&self, format: &str, id: &str) -> Result<Option<TaskId>>;
    /// Reads when a task was created; none when there is no such task.
    fn created(&self, id: TaskId) -> Result<Option<String>>;
    /// Reads what a task waits for: what it depends on, and its parts.
    fn waits_for(&self, id: TaskId) -> Result<Vec<TaskId>>;
    /// Reads the task above.
    fn parent(&self, id: TaskId) -> Result<Option<TaskId>>;
    /// Hands out an id.
    fn next_id(&mut self) -> Result<TaskId>;
    /// Sees to it that ids up to this one are not handed out.
    fn reserve(&mut self, id: TaskId) -> Result<()>;
}

/// What the user wants of an import.
#[derive(Clone, Copy, Debug)]
pub struct Wishes {
    /// Leave out what is over.
    pub open_only: bool,
    /// Go on without what cannot be taken over.
    pub drop_faults: bool,
    /// How deep tasks may be nested.
    pub depth_max: usize,
}

/// Each name once.
#[derive(Default)]
struct Names {
    numbers: HashMap<Rc<str>, u32>,
    names: Vec<Rc<str>>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(NONE);
        let name: Rc<str> = name.into();
        self.names.push(Rc::clone(&name));
        self.numbers.insert(name, number);
        number
    }

    fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", |name| name)
    }
}

#[derive(Clone, Copy)]
struct Edge {
    given: u32,
    readings: [u32; 2],
}

struct Entry {
    key: u32,
    id: u32,
    /// The id under which a second import finds it.
    origin: u32,
    file: u32,
    line: u32,
    dropped: bool,
    status: Status,
    /// Times of creation and change, where a line can repeat another.
    times: Option<Box<(String, String)>>,
    created: Option<Box<str>>,
    /// Where a task of our own came from, when it is a copy of one.
    came_from: Option<Box<(String, String)>>,
    parents: Box<[Edge]>,
    depends: Box<[Edge]>,
    target: TaskId,
    is_known: bool,
    parent: Option<TaskId>,
    needs: Vec<TaskId>,
    dangling: Vec<u32>,
    /// What became a relation, and of which kind.
    related: Vec<(&'static str, u32)>,
}

/// Ids and references of a file, and what was noticed while it was read.
pub struct Outline {
    format: Format,
    wishes: Wishes,
    names: Names,
    entries: Vec<Entry>,
    owners: HashMap<u32, usize>,
    aliases: HashMap<u32, usize>,
    /// What was left out, and whether it is done.
    left: HashMap<u32, bool>,
    report: Report,
}

/// Where a reference leads.
enum Target {
    Task(TaskId),
    Satisfied,
    Deleted,
    Missing,
}

impl Outline {
    /// Begins an outline.
    pub fn new(format: Format, wishes: Wishes, dry_run: bool) -> Outline {
        Outline {
            format,
            wishes,
            names: Names::default(),
            entries: Vec::new(),
            owners: HashMap::new(),
            aliases: HashMap::new(),
            left: HashMap::new(),
            report: Report::new(format, dry_run),
        }
    }

    /// Takes what a reader found.
    pub fn take(&mut self, item: Item) {
        match item {
            Item::Fault(fault) => {
                self.report.faults.add(|| fault);
            }
            Item::LeftOut { id, reason } => self.leave_out(&id, &id, reason, false),
            Item::Record(record) => self.record(*record),
        }
    }

    fn leave_out(&mut self, id: &str, key: &str, reason: &str, is_done: bool) {
        let key = self.names.number(key);
        self.left.insert(key, is_done);
        self.report.left_out.add(|| LeftOut {
            id: id.to_string(),
            reason: reason.to_string(),
        });
    }

    fn record(&mut self, record: Record) {
        self.report.read += 1;
        if self.wishes.open_only && record.task.is_closed() {
            let is_done = record.task.status == Status::Done;
            let reason = if is_done { "done" } else { "cancelled" };
            return self.leave_out(&record.id, &record.key, reason, is_done);
        }
        let key = self.names.number(&record.key);
        let at = self.entries.len();
        let mut origin = self.names.number(&record.id);
        let mut dropped = false;
        if let Some(owner) = self.owners.get(&key).copied() {
            match self.repeat(owner, &record) {
                Some(loser) if loser == at => dropped = true,
                Some(loser) => {
                    self.entries[loser].dropped = true;
                    self.owners.insert(key, at);
                }
                None => origin = self.again(&record),
            }
        } else {
            self.owners.insert(key, at);
        }
        if let Some(alias) = &record.alias {
            let alias = self.names.number(alias);
            self.aliases.entry(alias).or_insert(at);
        }
        if !dropped {
            self.count(&record);
        }
        let entry = self.entry(record, key, origin, dropped);
        self.entries.push(entry);
    }

    /// Decides which of two lines about the same task counts; none when they are two tasks.
    fn repeat(&mut self, owner: usize, record: &Record) -> Option<usize> {
        let times = self.entries[owner].times.as_ref()?;
        if !record.repeats || times.0 != record.task.created_at {
            return None;
        }
        let loser = if times.1 < record.task.updated_at {
            owner
        } else {
            self.entries.len()
        };
        self.report.repeated_ids.add(|| Repeated {
            id: record.id.clone(),
            place: record.place.clone(),
            outcome: "the same task once more; the one that was changed last counts".to_string(),
        });
        Some(loser)
    }

    /// Names a second task with the same id for a later import.
    fn again(&mut self, record: &Record) -> u32 {
        self.report.repeated_ids.add(|| Repeated {
            id: record.id.clone(),
            place: record.place.clone(),
            outcome: "another task with the same id; it gets a new one".to_string(),
        });
        let nth = (2..).find(|nth| {
            let name = format!("{}#{nth}", record.id);
            !self.names.numbers.contains_key(name.as_str())
        });
        self.names
            .number(&format!("{}#{}", record.id, nth.unwrap_or(2)))
    }

    fn count(&mut self, record: &Record) {
        if record.task.created_at.is_empty() {
            self.report.without_created += 1;
        }
        if let Some(Value::Object(kept)) = record.task.extra.get(self.format.word()) {
            for name in kept.keys() {
                // A hostile file could have a new name on each line.
                let counts = &mut self.report.extra_fields;
                if counts.len() < 200 || counts.contains_key(name) {
                    *counts.entry(name.clone()).or_insert(0) += 1;
                }
            }
        }
    }

    fn entry(&mut self, record: Record, key: u32, origin: u32, dropped: bool) -> Entry {
        let id = self.names.number(&record.id);
        let file = record
            .place
            .file
            .as_deref()
            .map_or(NONE, |file| self.names.number(file));
        let is_own = self.format == Format::Cleo;
        Entry {
            key,
            id,
            origin,
            file,
            line: u32::try_from(record.place.line).unwrap_or(NONE),
            dropped,
            status: record.task.status,
            times: record.repeats.then(|| {
                Box::new((
                    record.task.created_at.clone(),
                    record.task.updated_at.clone(),
                ))
            }),
            created: is_own.then(|| record.task.created_at.as_str().into()),
            came_from: came_from(&record.task).filter(|_| is_own),
            parents: self.edges(&record.parents),
            depends: self.edges(&record.depends),
            target: TaskId(0),
            is_known: false,
            parent: None,
            needs: Vec::new(),
            dangling: Vec::new(),
            related: Vec::new(),
        }
    }

    fn edges(&mut self, references: &[Reference]) -> Box<[Edge]> {
        let edge = |reference: &Reference| Edge {
            given: self.names.number(&reference.given),
            readings: [0, 1].map(|at| match reference.readings.get(at) {
                Some(reading) => self.names.number(reading),
                None => NONE,
            }),
        };
        references.iter().map(edge).collect()
    }

    /// Decides what becomes of each record.
    pub fn plan(mut self, known: &mut dyn Known) -> Result<Plan> {
        self.hand_out(known)?;
        for at in 0..self.entries.len() {
            if !self.entries[at].dropped {
                let word = self.entries[at].status.word();
                *self.report.by_status.entry(word).or_insert(0) += 1;
                self.resolve(at, known)?;
            }
        }
        self.refuse_parents(known)?;
        self.refuse_circles(known)?;
        self.part_from_whole(known)?;
        Ok(Plan {
            format: self.format,
            names: self.names,
            entries: self.entries,
            next: 0,
            open_only: self.wishes.open_only,
            report: self.report,
        })
    }

    /// Gives each record its id: the one of an earlier import, its own if it is free, else the next.
    fn hand_out(&mut self, known: &mut dyn Known) -> Result<()> {
        let mut taken: HashSet<TaskId> = HashSet::new();
        for at in 0..self.entries.len() {
            let entry = &self.entries[at];
            if entry.dropped {
                continue;
            }
            let origin = self.names.name(entry.origin);
            let before = match &entry.came_from {
                Some(from) => known.by_origin(&from.0, &from.1)?,
                None => known.by_origin(self.format.word(), origin)?,
            };
            let number = origin
                .parse::<TaskId>()
                .ok()
                .filter(|id| id.0 <= NUMBER_MAX);
            let (target, is_known) = match (before, number) {
                (Some(before), _) => (before, true),
                (None, Some(number)) if taken.contains(&number) => continue,
                (None, Some(number)) => match known.created(number)? {
                    None => (number, false),
                    Some(created) if entry.created.as_deref() == Some(&created) => (number, true),
                    Some(_) => continue,
                },
                (None, None) => continue,
            };
            if taken.insert(target) {
                let entry = &mut self.entries[at];
                (entry.target, entry.is_known) = (target, is_known);
            }
        }
        if let Some(last) = taken.iter().max() {
            known.reserve(*last)?;
        }
        for entry in self.entries.iter_mut().filter(|entry| !entry.dropped) {
            let spelled = self.names.name(entry.id).parse::<TaskId>().ok();
            if entry.target.0 == 0 {
                entry.target = known.next_id()?;
            }
            if spelled != Some(entry.target) {
                self.report.renamed.add(|| Renamed {
                    from: self.names.name(entry.id).to_string(),
                    to: entry.target,
                });
            }
        }
        Ok(())
    }

    fn find(&self, edge: Edge, from: usize, known: &dyn Known) -> Result<Target> {
        for reading in edge.readings.into_iter().filter(|reading| *reading != NONE) {
            let owner = self
                .owners
                .get(&reading)
                .or_else(|| self.aliases.get(&reading));
            if let Some(owner) = owner {
                return Ok(Target::Task(self.entries[*owner].target));
            }
            if let Some(is_done) = self.left.get(&reading) {
                return Ok(if *is_done {
                    Target::Satisfied
                } else {
                    Target::Deleted
                });
            }
        }
        for name in edge
            .readings
            .into_iter()
            .chain([edge.given])
            .filter(|name| *name != NONE)
        {
            if let Some(id) = known.by_origin(self.format.word(), self.names.name(name))? {
                return Ok(Target::Task(id));
            }
        }
        // A part of a copy of these very tasks: what it leaves out is still here.
        let number = self.names.name(edge.given).parse::<TaskId>();
        match number {
            Ok(id) if self.format == Format::Cleo && self.entries[from].is_known => {
                let is_here = known.created(id)?.is_some();
                Ok(if is_here {
                    Target::Task(id)
                } else {
                    Target::Missing
                })
            }
            _ => Ok(Target::Missing),
        }
    }

    fn loose(&self, at: usize, edge: Edge) -> Loose {
        Loose {
            id: self.names.name(self.entries[at].id).to_string(),
            on: self.names.name(edge.given).to_string(),
        }
    }

    fn fault(&mut self, at: usize, message: String) {
        let entry = &self.entries[at];
        let file = (entry.file != NONE).then(|| self.names.name(entry.file).to_string());
        let fault = Fault {
            place: Place {
                file,
                line: entry.line as usize,
            },
            id: Some(self.names.name(entry.id).to_string()),
            message,
        };
        self.report.faults.add(|| fault);
    }

    fn resolve(&mut self, at: usize, known: &dyn Known) -> Result<()> {
        self.resolve_parent(at, known)?;
        let own = self.entries[at].target;
        let (mut needs, mut dangling) = (Vec::new(), Vec::new());
        let mut said: HashSet<u32> = HashSet::new();
        for edge in std::mem::take(&mut self.entries[at].depends) {
            if !said.insert(edge.readings[0]) {
                self.report.edges.repeated += 1;
                continue;
            }
            match self.find(edge, at, known)? {
                Target::Task(id) if id == own => {
                    self.fault(at, "it depends on itself".to_string());
                }
                Target::Task(id) if needs.iter().any(|(other, _)| *other == id) => {
                    self.report.edges.repeated += 1;
                }
                Target::Task(id) => needs.push((id, edge)),
                Target::Satisfied => self.report.edges.satisfied += 1,
                Target::Deleted => {
                    let loose = self.loose(at, edge);
                    self.report.edges.on_deleted.add(|| loose);
                    dangling.push(edge.given);
                }
                Target::Missing => {
                    let loose = self.loose(at, edge);
                    self.report.edges.dangling.add(|| loose);
                    dangling.push(edge.given);
                }
            }
        }
        self.report.edges.kept += needs.len();
        let entry = &mut self.entries[at];
        entry.needs = needs.iter().map(|(id, _)| *id).collect();
        entry.depends = needs.into_iter().map(|(_, edge)| edge).collect();
        entry.dangling = dangling;
        Ok(())
    }

    fn resolve_parent(&mut self, at: usize, known: &dyn Known) -> Result<()> {
        let own = self.entries[at].target;
        let mut parent = None;
        for edge in std::mem::take(&mut self.entries[at].parents) {
            let loose = self.loose(at, edge);
            match self.find(edge, at, known)? {
                Target::Task(id) if id == own => self.report.parents.itself.add(|| loose.id),
                Target::Task(id) if parent == Some(id) => {}
                Target::Task(_) if parent.is_some() => {
                    self.report.parents.second.add(|| loose);
                    self.entries[at].related.push(("parent-child", edge.given));
                }
                Target::Task(id) => parent = Some(id),
                _ => self.report.parents.dangling.add(|| loose),
            }
        }
        self.report.parents.kept += usize::from(parent.is_some());
        self.entries[at].parent = parent;
        Ok(())
    }

    /// Looks for parents that are parts of their own parts, and for what is nested too deep.
    fn refuse_parents(&mut self, known: &dyn Known) -> Result<()> {
        let above: HashMap<TaskId, Option<TaskId>> = self
            .entries
            .iter()
            .filter(|entry| !entry.dropped)
            .map(|entry| (entry.target, entry.parent))
            .collect();
        let mut cut = Vec::new();
        for at in 0..self.entries.len() {
            let mut levels = 1;
            let mut next = self.entries[at]
                .parent
                .filter(|_| !self.entries[at].dropped);
            while let Some(id) = next.filter(|_| levels <= self.wishes.depth_max) {
                levels += 1;
                next = match above.get(&id) {
                    Some(parent) => *parent,
                    None => known.parent(id)?,
                };
            }
            if levels > self.wishes.depth_max {
                cut.push(at);
            }
        }
        for at in cut {
            let max = self.wishes.depth_max;
            self.fault(
                at,
                format!("it is nested deeper than {max} levels, or a part of itself"),
            );
            self.entries[at].parent = None;
            self.report.parents.kept -= 1;
        }
        Ok(())
    }

    /// Returns where the record of each task stands.
    fn places(&self) -> HashMap<TaskId, usize> {
        let entries = self.entries.iter().enumerate();
        let used = entries.filter(|(_, entry)| !entry.dropped);
        used.map(|(at, entry)| (entry.target, at)).collect()
    }

    /// Looks for tasks that depend on each other. What holds them together is cut, and kept as
    /// dangling, so that none of them is ready by accident; whether to go on is decided later.
    fn refuse_circles(&mut self, known: &dyn Known) -> Result<()> {
        let places = self.places();
        let next = |id: TaskId| match places.get(&id) {
            Some(at) => Ok(self.entries[*at].needs.clone()),
            None => known.waits_for(id),
        };
        let mut found = groups(places.keys().copied(), next)?;
        found.sort();
        for group in &found {
            let mut readings = self.readings(group, &places);
            readings.truncate(20);
            let members = self.named(group, &places);
            let inside: HashSet<TaskId> = group.iter().copied().collect();
            for at in group.iter().filter_map(|id| places.get(id)) {
                let cut = self.cut(*at, |need| inside.contains(&need));
                self.entries[*at]
                    .dangling
                    .extend(cut.iter().map(|edge| edge.given));
            }
            self.report.cycles.add(|| Circle { members, readings });
        }
        Ok(())
    }

    /// Cuts what makes a part wait for its whole, straight or by way of others.
    fn part_from_whole(&mut self, known: &dyn Known) -> Result<()> {
        let places = self.places();
        for at in 0..self.entries.len() {
            if self.entries[at].dropped || self.entries[at].needs.is_empty() {
                continue;
            }
            let above = self.above(at, &places, known)?;
            self.relate(at, |need| above.contains(&need));
        }
        let mut parts: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
        for entry in self.entries.iter().filter(|entry| !entry.dropped) {
            if let Some(parent) = entry.parent {
                parts.entry(parent).or_default().push(entry.target);
            }
        }
        let next = |id: TaskId| {
            let mut waits: Vec<TaskId> = parts.get(&id).cloned().unwrap_or_default();
            let entry = places.get(&id).map(|at| &self.entries[*at]);
            if entry.is_none_or(|entry| entry.is_known) {
                let stored = known.waits_for(id)?;
                waits.extend(stored.into_iter().filter(|id| !places.contains_key(id)));
            }
            waits.extend(entry.into_iter().flat_map(|entry| &entry.needs));
            Ok(waits)
        };
        for group in groups(places.keys().copied(), next)? {
            let inside: HashSet<TaskId> = group.iter().copied().collect();
            for at in group.iter().filter_map(|id| places.get(id)) {
                self.relate(*at, |need| inside.contains(&need));
            }
        }
        Ok(())
    }

    /// Returns everything that a task is a part of.
    fn above(
        &self,
        at: usize,
        places: &HashMap<TaskId, usize>,
        known: &dyn Known,
    ) -> Result<Vec<TaskId>> {
        let mut above = Vec::new();
        let mut next = self.entries[at].parent;
        while let Some(id) = next.filter(|_| above.len() <= self.wishes.depth_max) {
            above.push(id);
            next = match places.get(&id) {
                Some(at) => self.entries[*at].parent,
                None => known.parent(id)?,
            };
        }
        Ok(above)
    }

    /// Turns dependencies into relations. An open task stays held up until somebody looks at it.
    fn relate(&mut self, at: usize, which: impl Fn(TaskId) -> bool) {
        for edge in self.cut(at, which) {
            let loose = self.loose(at, edge);
            self.report.edges.on_whole.add(|| loose);
            let entry = &mut self.entries[at];
            entry.related.push(("depends", edge.given));
            if !matches!(entry.status, Status::Done | Status::Cancelled) {
                entry.dangling.push(edge.given);
            }
        }
    }

    /// Takes dependencies away and returns them.
    fn cut(&mut self, at: usize, which: impl Fn(TaskId) -> bool) -> Vec<Edge> {
        let entry = &mut self.entries[at];
        let needs = std::mem::take(&mut entry.needs);
        let edges = std::mem::take(&mut entry.depends);
        let pairs = needs.into_iter().zip(edges);
        let (cut, kept): (Vec<_>, Vec<_>) = pairs.partition(|(need, _)| which(*need));
        entry.needs = kept.iter().map(|(need, _)| *need).collect();
        entry.depends = kept.into_iter().map(|(_, edge)| edge).collect();
        self.report.edges.kept -= cut.len();
        cut.into_iter().map(|(_, edge)| edge).collect()
    }

    fn named(&self, group: &[TaskId], places: &HashMap<TaskId, usize>) -> Vec<String> {
        let name = |id: &TaskId| match places.get(id) {
            Some(at) => self.names.name(self.entries[*at].id).to_string(),
            None => id.to_string(),
        };
        group.iter().map(name).collect()
    }

    /// Names the edges of a circle that could mean another task.
    fn readings(&self, group: &[TaskId], places: &HashMap<TaskId, usize>) -> Vec<String> {
        let mut readings = Vec::new();
        for entry in group
            .iter()
            .filter_map(|id| places.get(id))
            .map(|at| &self.entries[*at])
        {
            for (need, edge) in entry.needs.iter().zip(entry.depends.iter()) {
                let other = edge.readings[1];
                if group.binary_search(need).is_ok() && self.owners.contains_key(&other) {
                    readings.push(format!(
                        "{} depends on `{}`, read as {}; it could mean {}",
                        self.names.name(entry.id),
                        self.names.name(edge.given),
                        self.names.name(edge.readings[0]),
                        self.names.name(other)
                    ));
                }
            }
        }
        readings
    }
}

/// What becomes of each record, in the order of the file.
pub struct Plan {
    format: Format,
    names: Names,
    entries: Vec<Entry>,
    next: usize,
    open_only: bool,
    /// What was noticed.
    pub report: Report,
}

/// A task that is to be written.
#[derive(Debug)]
pub struct Planned {
    /// The task.
    pub task: Task,
    /// Whether it is here already.
    pub is_known: bool,
}

impl Plan {
    /// Makes the task of the next record of the second reading; none when another line counts.
    pub fn complete(&mut self, record: Record, now: &str) -> Result<Option<Planned>> {
        if self.open_only && record.task.is_closed() {
            return Ok(None);
        }
        let at = self.next;
        self.next += 1;
        let entry = self
            .entries
            .get(at)
            .filter(|entry| self.names.name(entry.key) == record.key);
        let Some(entry) = entry else {
            let message = "the file was changed while it was read";
            return Err(Error::new(Code::FileChanged, message));
        };
        if entry.dropped {
            return Ok(None);
        }
        let mut task = record.task;
        task.id = entry.target;
        task.parent = entry.parent;
        task.depends.clone_from(&entry.needs);
        self.extend(&mut task, entry);
        if task.created_at.is_empty() {
            task.created_at = now.to_string();
        }
        if task.updated_at.is_empty() {
            task.updated_at.clone_from(&task.created_at);
        }
        for note in task.notes.iter_mut().filter(|note| note.at.is_empty()) {
            note.at.clone_from(&task.updated_at);
        }
        Ok(Some(Planned {
            task,
            is_known: entry.is_known,
        }))
    }

    /// Says whether a second reading found every record of the first.
    pub fn is_whole(&self) -> bool {
        self.next == self.entries.len()
    }

    fn extend(&self, task: &mut Task, entry: &Entry) {
        let origin = self.names.name(entry.origin);
        let is_own = self.format == Format::Cleo && origin.parse() == Ok(entry.target);
        let is_copy = entry.came_from.is_some();
        if !is_own && !is_copy {
            let origin = json!({"format": self.format.word(), "id": origin});
            task.extra.insert("origin".to_string(), origin);
        }
        if !entry.dangling.is_empty() {
            let names = entry
                .dangling
                .iter()
                .map(|name| self.names.name(*name).into());
            add(task, "danglingDepends", names.collect());
        }
        let relation =
            |(kind, name): &(&str, u32)| json!({"type": kind, "id": self.names.name(*name)});
        add(
            task,
            "relations",
            entry.related.iter().map(relation).collect(),
        );
    }
}

/// Returns the format and the id that an earlier import noted in a task.
fn came_from(task: &Task) -> Option<Box<(String, String)>> {
    let origin = task.extra.get("origin")?;
    let text = |name: &str| origin.get(name)?.as_str().map(str::to_string);
    Some(Box::new((text("format")?, text("id")?)))
}

/// Adds values to a list in `extra` that lacks them.
fn add(task: &mut Task, name: &str, values: Vec<Value>) {
    if values.is_empty() {
        return;
    }
    let list = task
        .extra
        .entry(name)
        .or_insert_with(|| Value::Array(Vec::new()));
    if !list.is_array() {
        *list = Value::Array(Vec::new());
    }
    if let Value::Array(list) = list {
        for value in values {
            if !list.contains(&value) {
                list.push(value);
            }
        }
    }
}
