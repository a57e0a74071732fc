//! Which task each record becomes, and where its references lead.

use std::collections::HashSet;

use super::{Edge, Known, NONE, NUMBER_MAX, Outline, Target};
use crate::error::Result;
use crate::id::TaskId;
use crate::transfer::report::{Loose, Renamed};
use crate::transfer::{Fault, Format, Place};

impl Outline {
    /// Gives each record its id: the one of an earlier import, its own if it is free, else the next.
    pub(super) fn hand_out(&mut self, known: &mut dyn Known) -> Result<()> {
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

    pub(super) fn loose(&self, at: usize, edge: Edge) -> Loose {
        Loose {
            id: self.names.name(self.entries[at].id).to_string(),
            on: self.names.name(edge.given).to_string(),
        }
    }

    pub(super) fn fault(&mut self, at: usize, message: String) {
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

    pub(super) fn resolve(&mut self, at: usize, known: &dyn Known) -> Result<()> {
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
}
