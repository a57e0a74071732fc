//! Phases and counts in memory.

use std::collections::BTreeMap;

use super::MemoryTransaction;
use crate::error::Result;
use crate::phase::{Counts, Phase};
use crate::store::Phases;

impl Phases for MemoryTransaction<'_> {
    fn phases(&self) -> Result<Vec<Phase>> {
        let mut phases: Vec<Phase> = self.state.phases.values().cloned().collect();
        phases.sort_by(|a, b| (a.position, &a.slug).cmp(&(b.position, &b.slug)));
        Ok(phases)
    }

    fn put_phase(&mut self, phase: &Phase) -> Result<()> {
        self.state.phases.insert(phase.slug.clone(), phase.clone());
        Ok(())
    }

    fn remove_phase(&mut self, slug: &str) -> Result<()> {
        self.state.phases.remove(slug);
        Ok(())
    }

    fn phase_counts(&self) -> Result<BTreeMap<String, Counts>> {
        let mut phases: BTreeMap<String, Counts> = BTreeMap::new();
        for task in self.state.tasks.values() {
            if let Some(phase) = &task.phase {
                let counts = phases.entry(phase.clone()).or_default();
                *counts.entry(task.status).or_default() += 1;
            }
        }
        Ok(phases)
    }
}
