//! Phases, and how many tasks stand where.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::id::TaskId;
use crate::phase::{Counts, Phase};

/// Phases that somebody added, and counts of tasks.
pub trait Phases {
    /// Reads the phases, by position, then by slug.
    fn phases(&self) -> Result<Vec<Phase>>;

    /// Writes a phase, new or changed, whole.
    fn put_phase(&mut self, phase: &Phase) -> Result<()>;

    /// Counts the tasks of each phase that a task names, by status.
    fn phase_counts(&self) -> Result<BTreeMap<String, Counts>>;

    /// Counts the tasks below `scope` to any depth, or all, by status; only those that are there.
    fn counts(&self, scope: Option<TaskId>) -> Result<Counts>;
}
