//! The check of a task: everything that speaks against it being done. Files are read before the transaction, which
//! holds up other writers.

use std::slice;

use super::complete::{has_command, is_unearned, needs_proof};
use super::output::{OutputVerdict, check_named, check_output, check_outputs};
use super::standing::{CriterionStanding, CriterionState, TaskGates};
use crate::error::{Code, Error, Result};
use crate::gate::{Forced, Gate};
use crate::id::TaskId;
use crate::manifest::Status as EntryStatus;
use crate::ops::tasks::{Caller, find_unmerged};
use crate::ops::trust::{Trust, digest_files};
use crate::ops::{Context, require};
use crate::store::{SpawnRecord, Transaction};
use crate::task::{Status, Task};
use crate::tree::Tree;
use crate::workspace::Workspace;

/// The result of checking whether a task may be done.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Everything that speaks against it, in the order of importance.
    pub(crate) faults: Vec<Error>,
    pub(super) warnings: Vec<String>,
    /// The latest spawn, and what its agent left.
    pub(super) left: Option<Box<(SpawnRecord, OutputVerdict)>>,
    /// The completion by force of a task that is done.
    pub(crate) forced: Option<Box<Forced>>,
    /// Whether a criterion failed on other files than those that are there.
    has_failed_before: bool,
    /// Whether, of what is missing, commands that are trusted come first.
    needs_commands: bool,
}

impl Verdict {
    /// Returns the status in the entry of its agent.
    pub(crate) fn entry(&self) -> Option<EntryStatus> {
        self.left.as_ref().and_then(|left| left.1.entry_status)
    }

    /// Returns whether commands were stopped because the run stops.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.faults.iter().any(Error::is_cut_short)
    }

    /// Returns whether nothing is missing but commands that have to run again.
    pub(crate) fn lacks_only_proof(&self) -> bool {
        self.faults.iter().all(is_about_proof)
    }

    /// Returns whether a run runs the commands before an agent. Other runs may be merging beside one with worktrees,
    /// which does so only where they failed on other files: that would start an agent.
    pub(crate) fn can_prove_by_commands(&self, is_isolated: bool) -> bool {
        self.needs_commands && self.lacks_only_proof() && (!is_isolated || self.has_failed_before)
    }

    /// Returns whether nothing speaks against it but stale evidence.
    pub(super) fn is_stale(&self) -> bool {
        self.faults.iter().all(|it| it.code == Code::EvidenceStale)
    }

    /// Returns why earlier work waits for a person; none where the run completes it, or an agent has to work.
    pub(crate) fn explain_wait(&self) -> Option<String> {
        // The end of a command that failed is told on lines of its own: an agent has to work.
        let has_failed = self.faults.iter().any(|it| it.message.contains('\n'));
        let waits = !has_failed || self.is_cut_short() || !self.lacks_only_proof();
        let fault = self.faults.first().filter(|_| waits)?;
        let fix = fault.fix.as_deref().unwrap_or_default();
        Some(match fault.message.contains(fix) {
            true => fault.message.clone(),
            false => format!("{}: run `{fix}`", fault.message),
        })
    }

    /// Returns whether nothing is missing but proof, also of gates whose command failed: its end is told on lines of
    /// its own.
    pub(crate) fn is_failed_check(&self) -> bool {
        let is_gate = |fault: &Error| fault.code == Code::GateOpen && fault.message.contains('\n');
        (self.faults.iter()).all(|fault| is_about_proof(fault) || is_gate(fault))
    }
}

fn is_about_proof(fault: &Error) -> bool {
    matches!(fault.code, Code::EvidenceStale | Code::CriterionOpen)
}

impl From<Vec<Error>> for Verdict {
    fn from(faults: Vec<Error>) -> Verdict {
        Verdict {
            faults,
            ..Verdict::default()
        }
    }
}

impl From<Error> for Verdict {
    fn from(error: Error) -> Verdict {
        Verdict::from(vec![error])
    }
}

/// Checks a task under the epoch of a claim. `counts_words` is that of [`super::complete_with_parts`].
pub(crate) fn check(
    context: &mut Context,
    id: TaskId,
    epoch: Option<u32>,
    counts_words: bool,
) -> Result<Verdict> {
    let subject = Subject {
        counts_words,
        ..Subject::examine(context, id, epoch)?
    };
    context.read(|transaction| subject.evaluate(transaction, &require(transaction, id)?))
}

/// A task whose files have been read.
pub(crate) struct Subject {
    pub(super) id: TaskId,
    pub(super) workspace: Workspace,
    pub(super) caller: Caller,
    /// The sections that outputs must have.
    required: Vec<String>,
    /// Its files, where evidence has to be compared with them.
    files: Option<Tree>,
    spawn: Option<SpawnRecord>,
    /// The output of the agent of the spawn.
    left: Option<OutputVerdict>,
    /// The error for work that is not merged. A run completes what it has merged itself.
    unmerged: Option<Error>,
    /// Whether stale evidence counts that only the agent chose.
    pub(super) counts_words: bool,
    pub(super) trust: Trust,
    /// Whether a task that nothing verifies is refused: `verify.required: always`.
    requires_proof: bool,
    /// The criteria that count, where a run claimed the task.
    pub(super) criteria: Option<Vec<String>>,
}

impl Subject {
    /// Reads everything on disk that completing a task depends on, under the epoch of a claim.
    pub(super) fn examine(
        context: &mut Context,
        id: TaskId,
        epoch: Option<u32>,
    ) -> Result<Subject> {
        let caller = Caller::for_task(context, id, epoch);
        let (task, gates, spawn) = context.read(|transaction| {
            let spawn = transaction.latest_spawn(id)?;
            Ok((require(transaction, id)?, transaction.gates(id)?, spawn))
        })?;
        let workspace = context.find_judged_workspace(id)?;
        let required = match spawn {
            Some(_) => context.load_sections()?.to_vec(),
            None => Vec::new(),
        };
        // The check reports what could not be read.
        let left = spawn.as_ref().and_then(|record| {
            let mut left = check_outputs(&workspace, slice::from_ref(record), &required).ok()?;
            left.pop()?.ok()
        });
        Ok(Subject {
            id,
            required,
            spawn,
            left,
            unmerged: None,
            files: digest_files(&workspace, &task, &gates)?,
            workspace,
            caller,
            counts_words: false,
            requires_proof: context.surroundings.defaults.requires_proof,
            trust: Trust::new(&context.surroundings, &context.workspace),
            criteria: context.surroundings.assignment.criteria.get(&id).cloned(),
        })
    }

    pub(super) fn examine_merge(&mut self) -> Result<()> {
        if let Some(record) = &self.spawn {
            self.unmerged = find_unmerged(&self.workspace, record)?;
        }
        Ok(())
    }

    pub(super) fn evaluate(&self, transaction: &dyn Transaction, task: &Task) -> Result<Verdict> {
        let gates = transaction.gates(task.id)?;
        let (forced, has_proof) = (gates.forced.clone(), gates.has_proof());
        let mut judged = task.clone();
        if let Some(claimed) = &self.criteria {
            judged.acceptance.clone_from(claimed);
        }
        let (files, is_run) = (self.files.clone(), self.criteria.is_some());
        let standing = TaskGates::new(
            (&self.workspace, &self.trust),
            &judged,
            gates,
            files,
            is_run,
        );
        let mut unproven = standing.list_faults(&task.acceptance, &self.trust);
        if self.counts_words && !self.has_open_commands(&standing) {
            unproven.retain(|lack| lack.error.code != Code::EvidenceStale);
        }
        let mut verdict = Verdict {
            has_failed_before: standing.criteria.iter().any(|it| it.has_failed_before),
            warnings: standing
                .warn_unknown()
                .into_iter()
                .chain(standing.warn_missing())
                .collect(),
            forced: forced.filter(|_| task.status == Status::Done).map(Box::new),
            ..Verdict::default()
        };
        if let Some(record) = transaction.latest_spawn(task.id)? {
            let left = match &self.left {
                Some(left) if self.spawn.as_ref() == Some(&record) => {
                    check_named(transaction, left.clone())?
                }
                _ => check_output(&self.workspace, transaction, &record, &self.required)?,
            };
            verdict.faults.extend(find_fault(&left));
            verdict.faults.extend(self.unmerged.clone());
            verdict.left = Some(Box::new((record, left)));
        }
        verdict.needs_commands =
            verdict.faults.is_empty() && unproven.first().is_some_and(|lack| lack.needs_commands);
        let unproven = unproven.into_iter().map(|lack| lack.error);
        verdict.faults.extend(unproven);
        let has_command = task.acceptance.iter().any(|line| has_command(line));
        let is_proven = verdict.left.is_some() || has_command || has_proof;
        if self.requires_proof && !is_proven && !self.has_proven_part(transaction, task.id)? {
            let id = task.id;
            let message =
                format!("nothing verifies {id}, and the setting verify.required is `always`");
            let error = Error::new(Code::NotVerified, message).fix(format!("cleo spawn {id}"));
            let error = error.or("add a criterion with a command", "cleo update --help");
            verdict.faults.push(error);
        }
        Ok(verdict)
    }

    /// Returns whether a part of a task was proven, at any depth.
    fn has_proven_part(&self, transaction: &dyn Transaction, id: TaskId) -> Result<bool> {
        for part in transaction.readable(&transaction.children(id)?)? {
            let is_proven = part.status == Status::Done
                && needs_proof(transaction, &part)?
                && !is_unearned(transaction, &self.trust, part.id)?;
            if is_proven || self.has_proven_part(transaction, part.id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether something is unproven that a trusted command of a gate, the command of a criterion, or somebody
    /// other than the caller has to show.
    fn has_open_commands(&self, standing: &TaskGates) -> bool {
        let is_open = |one: &CriterionStanding| match (&one.command, &one.record) {
            (Some(_), _) => one.state != CriterionState::Proven,
            (None, Some(record)) => {
                one.state == CriterionState::Stale && record.by != self.caller.name
            }
            (None, None) => false,
        };
        let has_trusted = |gate: &Gate| {
            let commands = standing.commands(*gate);
            commands.iter().any(|item| self.trust.is_trusted(item))
        };
        standing.criteria.iter().any(is_open) || standing.stale.iter().any(has_trusted)
    }
}

/// Returns the error for an output that does not verify, or whose entry says that the work is not complete.
fn find_fault(left: &OutputVerdict) -> Option<Error> {
    let id = left.task_id;
    let is_broken = !left.report.has_passed();
    let why = match left.entry_status {
        _ if is_broken => left.report.join_messages(),
        Some(EntryStatus::Complete) => return None,
        Some(status) => format!("its entry says {status}, not complete"),
        None => "it has no entry".to_string(),
    };
    let message = format!("{id} was spawned and does not verify: {why}");
    let error = Error::new(Code::NotVerified, message);
    let (check, again) = (
        format!("cleo verify output {id}"),
        format!("cleo spawn {id} --format text"),
    );
    let again_action = "give the prompt to an agent again";
    // Work that an agent left unfinished verifies as such: only more work completes the task.
    Some(match is_broken {
        true => error.fix(check).or(again_action, again),
        false => error.fix(again).or("see what is wrong", check),
    })
}

/// How a task that was done is no longer done.
#[derive(Debug)]
pub(crate) enum Undone {
    /// Its output is missing or does not verify any more.
    Broken(Box<Error>),
    /// Somebody reopened it.
    Open(Status),
}

/// Finds tasks that were done and no longer are, among these with the epochs of their claims. Only entries and files
/// are checked again: evidence may be stale by now, and the task may have more criteria. Tasks that are archived or
/// damaged, or that somebody else took over, are skipped.
pub(crate) fn find_undone(
    context: &mut Context,
    done: &[(TaskId, Option<u32>)],
) -> Result<Vec<(TaskId, Undone)>> {
    let (mut undone, mut records) = (Vec::new(), Vec::new());
    context.read(|transaction| {
        for (id, epoch) in done {
            let task = transaction.task(*id)?;
            let Some(task) = task.filter(|task| task.archived_at.is_none()) else {
                continue;
            };
            if task.status != Status::Done {
                undone.push((*id, Undone::Open(task.status)));
                continue;
            }
            let claim = transaction.claim(*id)?;
            let is_last = claim.is_some_and(|claim| Some(claim.epoch) == *epoch);
            let record = transaction.latest_spawn(*id)?;
            records.extend(record.filter(|it| is_last && it.verified_at.is_some()));
        }
        Ok(())
    })?;
    if records.is_empty() {
        return Ok(undone);
    }
    let required = context.load_sections()?.to_vec();
    let left = check_outputs(&context.workspace, &records, &required).unwrap_or_default();
    let left = left.into_iter().flatten();
    undone.extend(left.filter_map(|left| {
        let fault = find_fault(&left)?;
        Some((left.task_id, Undone::Broken(Box::new(fault))))
    }));
    Ok(undone)
}
