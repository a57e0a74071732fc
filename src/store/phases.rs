//! Phases, and how many tasks stand where.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::phase::{Counts, Phase};

/// Phases that somebody added, and counts of tasks.
pub(crate) trait Phases {
    /// Reads the phases, by position, then by slug.
    fn phases(&self) -> Result<Vec<Phase>>;

    /// Writes a phase, new or changed, whole.
    fn put_phase(&mut self, phase: &Phase) -> Result<()>;

    /// Counts the tasks of each phase that a task names, by status.
    fn phase_counts(&self) -> Result<BTreeMap<String, Counts>>;
}
