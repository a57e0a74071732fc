//! Completing a task, which it must earn: a spawned task by what its agent left, every task by the
//! gates and criteria that it uses.

use super::claims::{self, Caller, check_holder};
use super::gates::{self, Seen, directory, lacks, standing};
use super::tasks::{Moved, finish};
use super::verify::{OutputVerdict, Violation, check_output, required_sections, verification};
use super::{Context, require};
use crate::error::{Code, Error, Result};
use crate::gate::Forced;
use crate::id::TaskId;
use crate::manifest::entry::Status;
use crate::store::{SpawnRecord, Transaction, Verification};
use crate::task::{Status as TaskStatus, Task};
use crate::workspace::Workspace;

/// Marks a task done and ends its claim. A task that was spawned must verify first; one that uses
/// gates, or has criteria with a command, needs them passed on the files as they are; one that
/// somebody else holds is left to them. Force completes it all the same; that is recorded.
pub fn complete(
    context: &mut Context,
    id: TaskId,
    epoch: Option<u32>,
    force: bool,
) -> Result<Moved> {
    let check = Check::of(context, id, epoch, force)?;
    let mut verified = None;
    let done = context.write(|transaction| {
        let task = require(transaction, id)?;
        let taken = check_holder(transaction, &task, &check.caller, force, "complete")?;
        let mut warnings = Vec::from_iter(taken);
        if task.status != TaskStatus::Done {
            let found = check.found(transaction, &task)?;
            verified = found.spawn.as_ref().map(|(_, verified)| verified.clone());
            warnings.extend(check.settle(transaction, id, found)?);
        }
        let mut moved = finish(transaction, task, force, &check.caller.now)?;
        claims::end(transaction, id, &check.caller)?;
        moved.warnings.extend(warnings);
        Ok(moved)
    });
    // What a refused completion has found is kept as well.
    if let (Err(_), Some(verified)) = (&done, &verified) {
        context.write(|transaction| transaction.put_verification(verified))?;
    }
    done
}

/// What a completion is checked with. Files are looked at before the transaction, which holds up
/// other writers.
struct Check {
    workspace: Workspace,
    required: Vec<String>,
    seen: Option<Seen>,
    here: String,
    caller: Caller,
    force: bool,
}

/// What a check found.
struct Found {
    /// Everything that speaks against it; first what an agent left.
    faults: Vec<Error>,
    /// What cannot be told.
    warnings: Vec<String>,
    /// Of a task that was spawned: the spawn as it is to be recorded, and the check.
    spawn: Option<(SpawnRecord, Verification)>,
}

impl Check {
    fn of(context: &mut Context, id: TaskId, epoch: Option<u32>, force: bool) -> Result<Check> {
        let caller = Caller::of(context, id, epoch);
        let (task, gates, spawned) = context.read(|transaction| {
            let spawned = transaction.latest_spawn(id)?.is_some();
            Ok((require(transaction, id)?, transaction.gates(id)?, spawned))
        })?;
        let required = match spawned {
            true => required_sections(context)?,
            false => Vec::new(),
        };
        Ok(Check {
            required,
            seen: gates::seen(&context.workspace, &task, &gates)?,
            workspace: context.workspace.clone(),
            here: directory(context),
            caller,
            force,
        })
    }

    fn found(&self, transaction: &dyn Transaction, task: &Task) -> Result<Found> {
        let gates = transaction.gates(task.id)?;
        let standing = standing(&self.workspace, task, gates.clone(), self.seen.clone());
        let warnings = Vec::from_iter(standing.unknown());
        let lacks = lacks(&gates, &standing, &self.here);
        let broken = lacks.iter().map(|(rule, error)| Violation::of(error, rule));
        let broken: Vec<Violation> = broken.collect();
        let lacks = lacks.into_iter().map(|(_, error)| error);
        let Some(record) = transaction.latest_spawn(task.id)? else {
            return Ok(Found {
                faults: lacks.collect(),
                warnings,
                spawn: None,
            });
        };
        let verdict = check_output(&self.workspace, &record, &self.required)?;
        let refusal = refusal(&verdict);
        let mut violations = verdict.verdict.violations.clone();
        if let Some(error) = refusal.as_ref().filter(|_| violations.is_empty()) {
            violations.push(Violation::of(error, "STATUS"));
        }
        violations.extend(broken);
        let verified = verification(transaction, &record, &verdict, &violations, &self.caller)?;
        let faults: Vec<Error> = refusal.into_iter().chain(lacks).collect();
        let record = self.recorded(record, verdict, faults.is_empty());
        Ok(Found {
            faults,
            warnings,
            spawn: Some((record, verified)),
        })
    }

    /// Says what becomes of a spawn whose task is completed.
    fn recorded(&self, record: SpawnRecord, verdict: OutputVerdict, earned: bool) -> SpawnRecord {
        match earned {
            true => SpawnRecord {
                verified_at: Some(self.caller.now.clone()),
                output_digest: verdict.output_digest,
                forced: None,
                ..record
            },
            false => SpawnRecord {
                forced: Some(format!("{} {}", self.caller.now, self.caller.name)),
                ..record
            },
        }
    }

    /// Records that a task was earned, or that somebody completed it all the same.
    fn settle(
        &self,
        transaction: &mut dyn Transaction,
        task: TaskId,
        found: Found,
    ) -> Result<Vec<String>> {
        let reasons: Vec<String> = found.faults.iter().map(|it| it.message.clone()).collect();
        if let Some(first) = found.faults.into_iter().next().filter(|_| !self.force) {
            return Err(first);
        }
        if let Some((record, verified)) = &found.spawn {
            transaction.put_spawn(record)?;
            transaction.put_verification(verified)?;
        }
        let mut gates = transaction.gates(task)?;
        let forced = (!reasons.is_empty()).then(|| Forced {
            at: self.caller.now.clone(),
            by: self.caller.name.clone(),
            reasons: reasons.clone(),
        });
        // One that was earned takes the place of an earlier one by force, which the log keeps.
        if gates.forced != forced {
            gates.forced = forced;
            transaction.put_gates(task, &gates)?;
        }
        let forced = reasons
            .iter()
            .map(|reason| format!("completed by force: {reason}"));
        Ok(found.warnings.into_iter().chain(forced).collect())
    }
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
