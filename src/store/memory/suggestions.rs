//! Words that complete a half-typed one, in memory.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::MemoryTransaction;
use crate::error::Result;
use crate::id::TaskId;
use crate::score::normalize;
use crate::store::Suggestions;

impl Suggestions for MemoryTransaction<'_> {
    fn titles(&self, ids: RangeInclusive<u32>, limit: u32) -> Result<Vec<(TaskId, String)>> {
        let tasks = self.state.tasks.values().rev();
        let named = tasks.filter(|task| ids.contains(&task.id.0));
        let titles = named.map(|task| (task.id, task.title.clone()));
        Ok(titles.take(limit as usize).collect())
    }

    fn label_words(&self, from: &str, limit: u32) -> Result<Vec<String>> {
        let labels = self.state.tasks.values().flat_map(|task| &task.labels);
        Ok(from_on(labels.map(|label| normalize(label)), from, limit))
    }

    fn phase_words(&self, from: &str, limit: u32) -> Result<Vec<String>> {
        let phases = self
            .state
            .tasks
            .values()
            .filter_map(|task| task.phase.clone());
        Ok(from_on(phases, from, limit))
    }
}

fn from_on(words: impl Iterator<Item = String>, from: &str, limit: u32) -> Vec<String> {
    let words: BTreeSet<String> = words.filter(|word| word.as_str() >= from).collect();
    words.into_iter().take(limit as usize).collect()
}
