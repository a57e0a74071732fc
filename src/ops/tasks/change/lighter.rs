//! What agents may not take away from tasks.

use std::collections::BTreeSet;

use super::{ListField, Patch};
use crate::error::{Code, Error, Result};
use crate::gate::{Criterion, Gate};
use crate::task::Task;

/// Refuses an agent of a run that takes away what tasks have to pass: that is not for those to say who are
/// judged by it.
pub(super) fn refuse_lighter(task: &Task, required: &BTreeSet<Gate>, patch: &Patch) -> Result<()> {
    let clears = |field| patch.clear.contains(&field);
    let proofs = task.acceptance.iter().filter(|line| {
        let is_proven = Criterion::read(line).command.is_some();
        is_proven && clears(ListField::Acceptance) && !patch.add_acceptance.contains(line)
    });
    let gates = required
        .iter()
        .filter(|gate| clears(ListField::RequiredGates) && !patch.require_gates.contains(gate));
    let mut lost = proofs.cloned().chain(gates.map(Gate::to_string));
    let Some(first) = lost.next() else {
        return Ok(());
    };
    let id = task.id;
    let message = format!("an agent of a run does not take `{first}` away, which {id} has to pass");
    Err(Error::new(Code::NotVerified, message).fix(format!("cleo verify {id} --run-all")))
}
