//! What was done, and is not any more.

use super::Required;
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::manifest::entry::Status as EntryStatus;
use crate::manifest::log;
use crate::ops::Context;
use crate::ops::verify::{OutputVerdict, check_found, required_sections};
use crate::store::{SpawnRecord, Transaction};
use crate::task::Status;

/// How a task that was done is not any more.
#[derive(Debug)]
pub(crate) enum Undone {
    /// What its agent left is not there any more or does not verify.
    Broken(Box<Error>),
    /// Somebody has opened it again.
    Open(Status),
}

/// Finds the tasks among these that are done, each under the epoch of a claim, and that something has undone
/// since. Of what is left only entries and files are looked at: evidence may have to be taken again by now, and
/// more may be asked of the task. What is archived, was taken on by somebody else or cannot be read is left alone.
pub(crate) fn undone(
    context: &mut Context,
    done: &[(TaskId, Option<u32>)],
    required: &mut Required,
) -> Result<Vec<(TaskId, Undone)>> {
    let (mut undone, mut records) = (Vec::new(), Vec::new());
    context.read(|transaction| {
        for (id, epoch) in done {
            let task = transaction.task(*id)?;
            match task.filter(|task| task.archived_at.is_none()) {
                Some(task) if task.status != Status::Done => {
                    undone.push((*id, Undone::Open(task.status)));
                }
                Some(_) => records.extend(proven(transaction, *id, *epoch)?),
                None => {}
            }
        }
        Ok(())
    })?;
    let broken = broken(context, &records, required)?;
    undone.extend(
        broken
            .into_iter()
            .map(|(id, fault)| (id, Undone::Broken(Box::new(fault)))),
    );
    Ok(undone)
}

fn proven(
    transaction: &dyn Transaction,
    id: TaskId,
    epoch: Option<u32>,
) -> Result<Option<SpawnRecord>> {
    let claim = transaction.claim(id)?;
    let is_last = claim.is_some_and(|claim| Some(claim.epoch) == epoch);
    let record = transaction.latest_spawn(id)?.filter(|_| is_last);
    Ok(record.filter(|record| record.verified_at.is_some()))
}

fn broken(
    context: &mut Context,
    records: &[SpawnRecord],
    required: &mut Required,
) -> Result<Vec<(TaskId, Error)>> {
    let verdicts = verdicts(context, records, required)?;
    let broken = records
        .iter()
        .zip(&verdicts)
        .filter_map(|(record, verdict)| {
            let verdict = verdict.as_ref()?;
            // All is well but that the entry was put away.
            if verdict.verdict.violations.is_empty()
                && verdict.entry_status == Some(EntryStatus::Archived)
            {
                return None;
            }
            Some((record.task, refusal(verdict)?))
        });
    Ok(broken.collect())
}

/// Looks at what is left of each spawn; none where that cannot be read. The manifest is read once.
fn verdicts(
    context: &mut Context,
    records: &[SpawnRecord],
    required: &mut Required,
) -> Result<Vec<Option<OutputVerdict>>> {
    if records.is_empty() {
        return Ok(Vec::new());
    }
    if required.is_none() {
        *required = Some(required_sections(context)?);
    }
    let sections = required.clone().unwrap_or_default();
    let ids = records.iter().map(|record| record.manifest_id.as_str());
    let workspace = &context.workspace;
    let found = workspace.manifest();
    let Ok(mut found) = found.and_then(|path| log::find_all(&path, &ids.collect())) else {
        return Ok(Vec::new());
    };
    let look = |record: &SpawnRecord| {
        let found = found.remove(&record.manifest_id).unwrap_or_default();
        check_found(workspace, record, found, &sections).ok()
    };
    Ok(records.iter().map(look).collect())
}

pub(super) fn refusal(verdict: &OutputVerdict) -> Option<Error> {
    let id = verdict.task_id;
    let faults: Vec<&str> = verdict
        .verdict
        .violations
        .iter()
        .map(|found| found.message.as_str())
        .collect();
    let why = match verdict.entry_status {
        _ if !faults.is_empty() => faults.join("; "),
        Some(EntryStatus::Complete) => return None,
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
    let force = "complete it anyway, which is recorded";
    Some(
        Error::new(Code::NotVerified, message)
            .fix(fix.1)
            .or(other.0, other.1)
            .or(force, format!("cleo complete {id} --force")),
    )
}
