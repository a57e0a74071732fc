//! Criteria whose commands only a shell carries out, as they can come from another place: why nothing shows
//! them to hold, and what to type instead.

use super::standing::{CriterionStanding, TaskGates};
use crate::error::quote;
use crate::gate::{Criterion, for_shells, obeyed};

impl CriterionStanding {
    /// Says why its command would do half of what it asks for; none where it does all of it.
    pub(crate) fn half(&self) -> Option<String> {
        let sign = Criterion::read(&self.line).line.and_then(obeyed)?;
        Some(format!("it is run without a shell: {}", for_shells(sign)))
    }
}

impl TaskGates {
    /// Writes the command that gives the commands that ask for a shell to one; none where none does.
    pub(crate) fn mending(&self) -> Option<String> {
        let is_half = self.criteria.iter().any(|one| one.half().is_some());
        let lines = self.criteria.iter();
        let lines = lines.map(|one| given(&Criterion::mended(&one.line)));
        let all: String = lines.collect();
        is_half.then(|| format!("cleo update {} --clear acceptance{all}", self.task_id))
    }
}

/// Writes the option that gives a line.
fn given(line: &str) -> String {
    let mark = if line.starts_with('-') { '=' } else { ' ' };
    format!(" --acceptance{mark}{}", quote(line))
}
