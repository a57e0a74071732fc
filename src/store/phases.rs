//! Phases, and how many tasks stand where.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::phase::{Counts, Phase};

pub(crate) trait Phases {
    fn phases(&self) -> Result<Vec<Phase>>;

    fn put_phase(&mut self, phase: &Phase) -> Result<()>;

    /// Removes a phase, if it is there; tasks that name it still do.
    fn remove_phase(&mut self, slug: &str) -> Result<()>;

    fn phase_counts(&self) -> Result<BTreeMap<String, Counts>>;
}
