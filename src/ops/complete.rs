//! Completing a task, which it must earn: a spawned task by what its agent left, every task by the
//! gates and criteria that it uses.

mod agent;
mod undone;

pub(crate) use undone::{Undone, undone};

use clap::Args;
use serde::Deserialize;

use super::claims::{self, Caller, check_clock, check_holder};
use super::gates::{self, Seen, lacks, standing};
use super::tasks::{Moved, finish, open_parts, refuse_cancelled};
use super::trust::Trust;
use super::verify::{
    OutputVerdict, Unmerged, check_found, check_named, check_output, required_sections,
};
use super::{Context, require};
use crate::error::{Code, Error, Result};
use crate::gate::{Criterion, Forced};
use crate::id::TaskId;
use crate::manifest::entry::Status;
use crate::manifest::log;
use crate::store::{SpawnRecord, Transaction};
use crate::task::{Status as TaskStatus, Task};
use crate::workspace::Workspace;
use agent::leave_to_run;
use undone::refusal;

// A doc comment would become the help of the command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Args, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(after_help = "\
Examples:
  cleo complete T3
  cleo complete T3 --force

What a task depends on need not be done: work that is finished is finished, so that is a warning.")]
pub(crate) struct Complete {
    /// The task
    #[serde(rename = "id")]
    pub(crate) task: TaskId,

    /// Complete it although it does not verify, has open children or is somebody else's; this is
    /// recorded
    #[arg(long)]
    pub(crate) force: bool,

    /// Epoch of the claim under which this is done (or CLEO_EPOCH); refused when that is lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) epoch: Option<u32>,
}

impl From<TaskId> for Complete {
    fn from(task: TaskId) -> Complete {
        Complete {
            task,
            ..Complete::default()
        }
    }
}

/// Marks a task done and ends its claim. A task that was spawned must verify first; one that uses
/// gates, or has criteria with a command, needs them passed on the files as they are; one that
/// somebody else holds is left to them. Force completes it anyway; that is recorded.
pub(crate) fn complete(context: &mut Context, request: Complete) -> Result<Moved> {
    let Complete {
        task: id,
        force,
        epoch,
    } = request;
    let mut check = Check::of(context, id, epoch, force, &mut None)?;
    if let Some(left) = leave_to_run(context, &check, id)? {
        return Ok(left);
    }
    if let Some(record) = &check.spawn {
        check.unmerged = Unmerged::of(&check.workspace, record)?;
    }
    let mut moved = context.write(|transaction| {
        let task = require(transaction, id)?;
        refuse_cancelled(&task)?;
        let taken = check_holder(transaction, &task, &check.caller, force, "complete")?;
        check_clock(transaction, id, &check.caller)?;
        let mut warnings = Vec::from_iter(taken);
        if task.status != TaskStatus::Done {
            let found = check.found(transaction, &task)?;
            warnings.extend(check.settle(transaction, id, found)?);
        }
        let mut moved = finish(transaction, task, force, &check.caller.now)?;
        moved.worktree = check.workspace.worktree();
        claims::end(transaction, id, &check.caller)?;
        moved.warnings.extend(warnings);
        Ok(moved)
    })?;
    context.warn(&mut moved.warnings);
    Ok(moved)
}

/// A task that has not earned to be done: everything that speaks against it, and what the entry of its
/// agent says of the work.
#[derive(Debug, Default)]
pub(crate) struct Lacking {
    pub(crate) faults: Vec<Error>,
    /// What the entry says; none when there is none.
    pub(crate) entry: Option<Status>,
    /// Who completed it by force, where it is done anyway.
    pub(crate) forced: Option<Box<Forced>>,
}

impl Lacking {
    /// Returns whether the commands that were to show it were ended because the run stops.
    pub(crate) fn is_cut_short(&self) -> bool {
        let mut faults = self.faults.iter();
        faults.any(is_cut_short)
    }

    /// Returns whether it lacks nothing, or nothing but commands that have to be run again.
    pub(crate) fn lacks_only_proof(&self) -> bool {
        let is_proof = |code| matches!(code, Code::EvidenceStale | Code::CriterionOpen);
        self.faults.iter().all(|fault| is_proof(fault.code))
    }
}

/// Returns whether something was ended because cleo is asked to end, or the run stops.
pub(crate) fn is_cut_short(error: &Error) -> bool {
    matches!(error.code, Code::Interrupted | Code::Terminated)
}

impl From<Error> for Lacking {
    fn from(error: Error) -> Lacking {
        Lacking {
            faults: vec![error],
            ..Lacking::default()
        }
    }
}

impl From<Found> for Lacking {
    fn from(found: Found) -> Lacking {
        Lacking {
            faults: found.faults,
            entry: found.entry,
            forced: found.forced.map(Box::new),
        }
    }
}

/// A task, and whether it was completed.
pub(crate) type Completion = (TaskId, std::result::Result<Moved, Lacking>);

/// What a completion is checked against and need not be read for each: the sections that outputs must
/// have. Read once when first needed.
pub(crate) type Required = Option<Vec<String>>;

/// What the completion of tasks is checked with.
pub(crate) struct Checks(Vec<(TaskId, Result<Check>)>);

impl Checks {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Looks at everything on disk that completing tasks depends on: before the transaction, which holds up
/// other writers.
pub(crate) fn check_all(
    context: &mut Context,
    tasks: &[(TaskId, Option<u32>)],
    required: &mut Required,
) -> Checks {
    let of = |(id, epoch): &(TaskId, Option<u32>)| {
        (*id, Check::of(context, *id, *epoch, false, required))
    };
    let mut checks: Vec<_> = tasks.iter().map(of).collect();
    look(
        &context.workspace,
        checks.iter_mut().flat_map(|(_, check)| check),
    );
    Checks(checks)
}

/// Completes tasks whose files have been looked at as [`complete`] does without force, all in one transaction.
/// One that is not completed holds up no other. One that is done already has to verify too where a claim was
/// given for it, or it was not earned.
pub(crate) fn complete_checked(context: &mut Context, checks: Checks) -> Result<Vec<Completion>> {
    context.write(|transaction| {
        let mut done = Vec::with_capacity(checks.0.len());
        for (id, check) in checks.0 {
            let one = match check {
                Ok(check) => check.complete(transaction, id),
                Err(error) => Err(error.into()),
            };
            done.push((id, one));
        }
        Ok(done)
    })
}

/// Completes a task, the last, and before it the parts that its agent left under review: all in one transaction, or
/// none. What the run cannot show itself of a part, or of a task that was verified in its worktree and is merged,
/// because only the agent chose by what, counts by its word.
pub(crate) fn complete_with_parts(
    context: &mut Context,
    checks: Checks,
    is_merged: bool,
) -> Result<Completion> {
    context.write_if(|transaction| {
        let mut checks = checks.0.into_iter().peekable();
        while let Some((id, check)) = checks.next() {
            let is_part = checks.peek().is_some();
            let counts_words = is_part || is_merged;
            let done = match check {
                Ok(check) => Check {
                    counts_words,
                    ..check
                }
                .complete(transaction, id),
                Err(error) => Err(error.into()),
            };
            if !is_part || done.is_err() {
                let keep = done.is_ok();
                return Ok(((id, done), keep));
            }
        }
        Err(Error::new(Code::Internal, "there is no task to complete"))
    })
}

/// Looks at what agents left; the manifest is read once for all of them. What cannot be read is left to
/// the completion to tell.
fn look<'a>(workspace: &Workspace, checks: impl Iterator<Item = &'a mut Check>) {
    let mut spawned: Vec<(&mut Check, SpawnRecord)> = checks
        .filter_map(|check| check.spawn.take().map(|record| (check, record)))
        .collect();
    let ids = spawned
        .iter()
        .map(|(_, record)| record.manifest_id.as_str());
    let found = workspace
        .manifest()
        .and_then(|path| log::find_all(&path, &ids.collect()));
    let Ok(mut found) = found else { return };
    for (check, record) in &mut spawned {
        let found = found.remove(&record.manifest_id).unwrap_or_default();
        let verdict = check_found(workspace, record, found, &check.required).ok();
        check.left = verdict.map(|verdict| (record.clone(), verdict));
    }
}

/// Looks at what a task lacks. `counts_words` is that of [`complete_with_parts`].
pub(crate) fn lacking(
    context: &mut Context,
    (id, epoch): (TaskId, Option<u32>),
    counts_words: bool,
    required: &mut Required,
) -> Result<Lacking> {
    let check = Check {
        counts_words,
        ..Check::of(context, id, epoch, false, required)?
    };
    context.read(|transaction| {
        let task = require(transaction, id)?;
        check.found(transaction, &task).map(Lacking::from)
    })
}

/// What a completion is checked with. Files are looked at before the transaction, which holds up
/// other writers.
struct Check {
    workspace: Workspace,
    required: Vec<String>,
    seen: Option<Seen>,
    spawn: Option<SpawnRecord>,
    /// What the agent of a spawn left.
    left: Option<(SpawnRecord, OutputVerdict)>,
    /// What of its work is not merged. A run completes what it has merged itself.
    unmerged: Option<Unmerged>,
    caller: Caller,
    force: bool,
    /// Whether what only the agent chose to show its work by counts, although files changed since.
    counts_words: bool,
    trust: Trust,
    /// The criteria that count, where a run claimed the task.
    criteria: Option<Vec<String>>,
}

/// What a check found.
struct Found {
    /// Everything that speaks against it; first what an agent left.
    faults: Vec<Error>,
    /// What cannot be told.
    warnings: Vec<String>,
    /// Of a task that was spawned: the spawn as it is to be recorded.
    spawn: Option<SpawnRecord>,
    /// What the entry of its agent says.
    entry: Option<Status>,
    /// Who completed it by force, where it is done.
    forced: Option<Forced>,
}

impl Check {
    fn of(
        context: &mut Context,
        id: TaskId,
        epoch: Option<u32>,
        force: bool,
        known: &mut Required,
    ) -> Result<Check> {
        let caller = Caller::of(context, id, epoch);
        let (task, gates, spawn) = context.read(|transaction| {
            let spawn = transaction.latest_spawn(id)?;
            Ok((require(transaction, id)?, transaction.gates(id)?, spawn))
        })?;
        let required = match (&spawn, &known) {
            (None, _) => Vec::new(),
            (Some(_), Some(known)) => known.clone(),
            (Some(_), None) => known.insert(required_sections(context)?).clone(),
        };
        let workspace = context.judged_in(id)?;
        Ok(Check {
            required,
            spawn,
            left: None,
            unmerged: None,
            seen: gates::seen(&workspace, &task, &gates)?,
            workspace,
            caller,
            force,
            counts_words: false,
            trust: Trust::new(&context.surroundings, &context.workspace),
            criteria: context.surroundings.assignment.criteria.get(&id).cloned(),
        })
    }

    fn complete(
        &self,
        transaction: &mut dyn Transaction,
        id: TaskId,
    ) -> std::result::Result<Moved, Lacking> {
        let task = require(transaction, id)?;
        refuse_cancelled(&task)?;
        check_holder(transaction, &task, &self.caller, false, "complete")?;
        let mut found = None;
        let is_shown = task.status == TaskStatus::Done && !is_unearned(transaction, id)?;
        // Under the claim of a run the work is verified even if the task is done.
        if !is_shown || self.caller.epoch.is_some() {
            let there = self.found(transaction, &task)?;
            if !there.faults.is_empty() {
                return Err(there.into());
            }
            found = Some(there).filter(|_| !is_shown);
        }
        // It is moved first, which may be refused: then nothing of it was written.
        let mut moved = finish(transaction, task, false, &self.caller.now)?;
        if let Some(found) = found {
            moved.warnings.extend(self.settle(transaction, id, found)?);
        }
        claims::end(transaction, id, &self.caller)?;
        Ok(moved)
    }

    fn found(&self, transaction: &dyn Transaction, task: &Task) -> Result<Found> {
        let gates = transaction.gates(task.id)?;
        let claimed = self.criteria.as_ref().map(|criteria| Task {
            acceptance: criteria.clone(),
            ..task.clone()
        });
        let judged = claimed.as_ref().unwrap_or(task);
        let (seen, is_run) = (self.seen.clone(), self.criteria.is_some());
        let standing = standing(&self.workspace, judged, gates.clone(), seen, is_run);
        let warnings = Vec::from_iter(standing.unknown());
        let by_word =
            self.counts_words && !standing.has_open_commands(&self.caller.name, &self.trust);
        let mut lacks = lacks(&gates, &standing, &task.acceptance);
        lacks.retain(|(_, error)| !(by_word && error.code == Code::EvidenceStale));
        let lacks = lacks
            .into_iter()
            .map(|(_, error)| gates::through_trust(error, &standing, &self.trust));
        let forced = gates.forced.filter(|_| task.status == TaskStatus::Done);
        let Some(record) = transaction.latest_spawn(task.id)? else {
            return Ok(Found {
                faults: lacks.collect(),
                warnings,
                spawn: None,
                entry: None,
                forced,
            });
        };
        let verdict = match &self.left {
            Some((known, verdict)) if *known == record => {
                check_named(transaction, verdict.clone())?
            }
            _ => check_output(&self.workspace, transaction, &record, &self.required)?,
        };
        let refusal = refusal(&verdict);
        let unmerged = self.unmerged.iter().map(Unmerged::error);
        let faults: Vec<Error> = refusal.into_iter().chain(unmerged).chain(lacks).collect();
        let entry = verdict.entry_status;
        let record = self.recorded(record, verdict, faults.is_empty());
        Ok(Found {
            faults,
            warnings,
            spawn: Some(record),
            entry,
            forced,
        })
    }

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

    fn settle(
        &self,
        transaction: &mut dyn Transaction,
        task: TaskId,
        found: Found,
    ) -> Result<Vec<String>> {
        let mut reasons: Vec<String> = found.faults.iter().map(|it| it.message.clone()).collect();
        if let Some(first) = found.faults.into_iter().next().filter(|_| !self.force) {
            return Err(first);
        }
        if self.force {
            reasons.extend(open_parts(transaction, task)?);
        }
        if let Some(record) = &found.spawn {
            transaction.put_spawn(record)?;
        }
        let before = transaction.gates(task)?;
        let mut gates = before.clone();
        // One that was earned takes the place of an earlier one by force, which the log keeps.
        gates.forced = (!reasons.is_empty()).then(|| Forced {
            at: self.caller.now.clone(),
            by: self.caller.name.clone(),
            reasons: reasons.clone(),
        });
        // What a run saw in its worktrees is merged.
        if self.criteria.is_some() {
            gates.bring_home();
        }
        if gates != before {
            transaction.put_gates(task, &gates)?;
        }
        let forced = reasons
            .iter()
            .map(|reason| format!("completed by force: {reason}"));
        Ok(found.warnings.into_iter().chain(forced).collect())
    }
}

/// Returns true if a task is closed by [`complete`] alone, because it has to be shown first that it is done.
pub(crate) fn needs_proof(transaction: &dyn Transaction, task: &Task) -> Result<bool> {
    let has_command = |line: &String| Criterion::read(line).command.is_some();
    Ok(task.acceptance.iter().any(has_command)
        || transaction.latest_spawn(task.id)?.is_some()
        || transaction.gates(task.id)?.are_used())
}

/// Says whether a task that is done was never shown to be: it was completed by force, or what its agent
/// left was never found to hold.
pub(crate) fn is_unearned(transaction: &dyn Transaction, task: TaskId) -> Result<bool> {
    let spawn = transaction.latest_spawn(task)?;
    let is_unseen = spawn.is_some_and(|spawn| spawn.verified_at.is_none());
    Ok(is_unseen || transaction.gates(task)?.forced.is_some())
}
