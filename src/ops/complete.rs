//! Completing a task, which a spawned task must earn.

use super::claims::{self, Caller, check_holder};
use super::tasks::{Moved, finish};
use super::verify::{OutputVerdict, check_output, required_sections};
use super::{Context, require};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::manifest::entry::Status;
use crate::store::{SpawnRecord, Transaction};
use crate::task::Status as TaskStatus;

/// Marks a task done and ends its claim. A task that was spawned must verify first, and one that
/// somebody else holds is left to them, unless forced; that is recorded.
pub fn complete(
    context: &mut Context,
    id: TaskId,
    epoch: Option<u32>,
    force: bool,
) -> Result<Moved> {
    let caller = Caller::of(context, id, epoch);
    let (workspace, now) = (context.workspace.clone(), context.now());
    let by = context.surroundings.actor.clone();
    let spawned = context
        .read(|transaction| transaction.latest_spawn(id))?
        .is_some();
    let required = if spawned {
        required_sections(context)?
    } else {
        Vec::new()
    };
    context.write(|transaction| {
        let task = require(transaction, id)?;
        let taken = check_holder(transaction, &task, &caller, force, "complete")?;
        let mut warnings = Vec::from_iter(taken);
        if let Some(record) = transaction
            .latest_spawn(id)?
            .filter(|_| task.status != TaskStatus::Done)
        {
            let verdict = check_output(&workspace, &record, &required)?;
            warnings.extend(earned(transaction, record, &verdict, force, &now, &by)?);
        }
        let mut moved = finish(transaction, task, force, &now)?;
        claims::end(transaction, id, &caller)?;
        moved.warnings.extend(warnings);
        Ok(moved)
    })
}

/// Records that the output verified, or that somebody completed the task all the same.
fn earned(
    transaction: &mut dyn Transaction,
    record: SpawnRecord,
    verdict: &OutputVerdict,
    force: bool,
    now: &str,
    by: &str,
) -> Result<Option<String>> {
    let Some(fault) = refusal(verdict) else {
        let output_digest = verdict.output_digest.clone();
        let record = SpawnRecord {
            verified_at: Some(now.to_string()),
            output_digest,
            ..record
        };
        transaction.put_spawn(&record)?;
        return Ok(None);
    };
    if !force {
        return Err(fault);
    }
    let record = SpawnRecord {
        forced: Some(format!("{now} {by}")),
        ..record
    };
    transaction.put_spawn(&record)?;
    Ok(Some(format!("completed by force: {}", fault.message)))
}

fn refusal(verdict: &OutputVerdict) -> Option<Error> {
    let id = verdict.task_id;
    let faults: Vec<&str> = verdict
        .verdict
        .violations
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    let why = match verdict.entry_status {
        _ if !faults.is_empty() => faults.join("; "),
        Some(Status::Complete) => return None,
        Some(status) => format!("its entry says {status}, not complete"),
        None => "it has no entry".to_string(),
    };
    let message = format!("{id} was spawned and does not verify: {why}");
    let (check, again) = (
        ("see what is wrong", format!("cleo verify output {id}")),
        (
            "give the prompt to an agent again",
            format!("cleo spawn {id} --format text"),
        ),
    );
    // What an agent left unfinished verifies as such: only more work completes the task.
    let (fix, other) = match faults.is_empty() {
        true => (again, check),
        false => (check, again),
    };
    let force = "complete it all the same, which is recorded";
    Some(
        Error::new(Code::NotVerified, message)
            .fix(fix.1)
            .or(other.0, other.1)
            .or(force, format!("cleo complete {id} --force")),
    )
}
