//! The first reading: ids and references of each record, and which of two lines counts.

use std::collections::HashMap;

use super::{Edge, Entry, NONE, Names, Outline, Wishes};
use crate::id::TaskId;
use crate::task::{Status, Task};
use crate::transfer::report::{Changed, LeftOut, Repeated, Report};
use crate::transfer::silent::Part;
use crate::transfer::{Format, Item, Record, Reference};

impl Outline {
    /// Begins an outline.
    pub(crate) fn new(format: Format, wishes: Wishes, dry_run: bool) -> Outline {
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
    pub(crate) fn take(&mut self, item: &Item) {
        match item {
            Item::Fault(fault) => {
                self.report.faults.add(|| fault.clone());
            }
            Item::LeftOut { id, reason } => self.leave_out(id, id, reason, false),
            Item::Changed { id, reason } => self.report.changed.add(|| Changed {
                id: id.clone(),
                reason: reason.clone(),
            }),
            // They are read with the tasks.
            Item::Phase(_) | Item::Turn => {}
            Item::Record(record) => self.record(record),
        }
    }

    fn leave_out(&mut self, id: &str, key: &str, reason: &str, is_done: bool) {
        let key = self.names.number(key);
        self.left.insert(key, is_done);
        let id_number = self.names.number(id);
        self.left.insert(id_number, is_done);
        self.report.left_out.add(|| LeftOut {
            id: id.to_string(),
            reason: reason.to_string(),
        });
    }

    fn record(&mut self, record: &Record) {
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
            match self.repeat(owner, record) {
                Some(loser) if loser == at => dropped = true,
                Some(loser) => {
                    self.entries[loser].dropped = true;
                    self.owners.insert(key, at);
                }
                None => origin = self.again(record),
            }
        } else {
            self.owners.insert(key, at);
        }
        if let Some(alias) = &record.alias {
            let alias = self.names.number(alias);
            self.aliases.entry(alias).or_insert(at);
        }
        if !dropped {
            self.report.count(&record.task);
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

    fn entry(&mut self, record: &Record, key: u32, origin: u32, dropped: bool) -> Entry {
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
            came_from: came_from(&record.task).filter(|_| is_own).map(Box::new),
            parents: self.edges(&record.parents),
            is_parent_untold: record.silent.on(Part::Parent),
            depends: self.edges(&record.depends),
            target: TaskId(0),
            is_known: false,
            parent: None,
            needs: Vec::new(),
            dangling: Vec::new(),
            circular: Vec::new(),
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
}

/// Returns the format and the id that an earlier import noted in a task.
pub(crate) fn came_from(task: &Task) -> Option<(String, String)> {
    let origin = task.extra.get("origin")?;
    let text = |name: &str| origin.get(name)?.as_str().map(str::to_string);
    Some((text("format")?, text("id")?))
}
