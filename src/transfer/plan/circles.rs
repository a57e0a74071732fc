//! What could never be done as it stands: circles, parts that wait for their whole, and nesting
//! without end.

use std::collections::{HashMap, HashSet};

use super::{Edge, Entry, Known, Outline};
use crate::error::Result;
use crate::id::TaskId;
use crate::task::Status;
use crate::transfer::circles::groups;
use crate::transfer::report::Circle;

impl Outline {
    /// Looks for parents that are parts of their own parts, and for what is nested too deep.
    pub(super) fn refuse_parents(&mut self, known: &dyn Known) -> Result<()> {
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
    pub(super) fn refuse_circles(&mut self, known: &dyn Known) -> Result<()> {
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
                self.entries[*at].leave_out(cut.iter().map(|edge| edge.given));
            }
            self.report.cycles.add(|| Circle { members, readings });
        }
        Ok(())
    }

    /// Cuts what makes a part wait for its whole, straight or by way of others.
    pub(super) fn part_from_whole(&mut self, known: &dyn Known) -> Result<()> {
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
                entry.leave_out([edge.given]);
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

impl Entry {
    /// Keeps dependencies that closed a circle as dangling.
    fn leave_out(&mut self, names: impl IntoIterator<Item = u32>) {
        for name in names {
            self.dangling.push(name);
            self.circular.push(name);
        }
    }
}
