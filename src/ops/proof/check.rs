//! The check of a task: what speaks against it being done. Files are looked at before the transaction, which holds up
//! other writers.

use super::merged::find_unmerged;
use super::output::{OutputVerdict, check_named, check_output, look_at_outputs};
use super::standing::{CriterionStanding, CriterionState, TaskGates, look_at_files};
use crate::error::{Code, Error, Result};
use crate::gate::{Forced, Gate};
use crate::id::TaskId;
use crate::manifest::Status as EntryStatus;
use crate::ops::tasks::Caller;
use crate::ops::trust::Trust;
use crate::ops::{Context, require};
use crate::store::{SpawnRecord, Transaction};
use crate::task::{Status, Task};
use crate::tree::Tree;
use crate::workspace::Workspace;

/// Whether a task has earned to be done.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Everything that speaks against it; first what its agent left.
    pub(crate) faults: Vec<Error>,
    /// What cannot be told.
    pub(super) warnings: Vec<String>,
    /// The latest spawn, and what its agent left.
    pub(super) left: Option<Box<(SpawnRecord, OutputVerdict)>>,
    /// Who completed it by force, where it is done anyway.
    pub(crate) forced: Option<Box<Forced>>,
}

impl Verdict {
    /// Returns what the entry of its agent says of the work.
    pub(crate) fn entry(&self) -> Option<EntryStatus> {
        self.left.as_ref().and_then(|left| left.1.entry_status)
    }

    /// Returns whether the commands that were to show it were ended because the run stops.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.faults.iter().any(is_cut_short)
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
        ..Subject::look(context, id, epoch)?
    };
    context.read(|transaction| subject.judge(transaction, &require(transaction, id)?))
}

/// Tasks that have been looked at, to be completed.
pub(crate) type Subjects = Vec<(TaskId, Result<Subject>)>;

/// Looks at everything on disk that completing tasks depends on, each under the epoch of a claim.
pub(crate) fn look(context: &mut Context, tasks: &[(TaskId, Option<u32>)]) -> Subjects {
    let look = |(id, epoch): &(TaskId, Option<u32>)| (*id, Subject::new(context, *id, *epoch));
    let mut subjects: Subjects = tasks.iter().map(look).collect();
    let looked = subjects.iter_mut().flat_map(|(_, subject)| subject);
    look_at_left(&context.workspace, looked);
    subjects
}

/// Looks at what agents left; the manifest is read once for all of them. What cannot be read is left to
/// the check to tell.
fn look_at_left<'a>(workspace: &Workspace, subjects: impl Iterator<Item = &'a mut Subject>) {
    let spawned = subjects.filter(|subject| subject.spawn.is_some());
    let spawned: Vec<&mut Subject> = spawned.collect();
    let records = spawned.iter().filter_map(|subject| subject.spawn.clone());
    let records: Vec<SpawnRecord> = records.collect();
    let required = spawned.first().map(|first| first.required.clone());
    let Ok(found) = look_at_outputs(workspace, &records, &required.unwrap_or_default()) else {
        return;
    };
    for ((subject, record), found) in spawned.into_iter().zip(records).zip(found) {
        subject.left = found.ok().map(|found| (record, found));
    }
}

/// A task whose files have been looked at.
pub(crate) struct Subject {
    pub(super) id: TaskId,
    pub(super) workspace: Workspace,
    pub(super) caller: Caller,
    /// The sections that outputs must have.
    required: Vec<String>,
    /// Its files, where evidence has to be compared with them.
    files: Option<Tree>,
    spawn: Option<SpawnRecord>,
    /// What the agent of a spawn left.
    left: Option<(SpawnRecord, OutputVerdict)>,
    /// The error for work that is not merged. A run completes what it has merged itself.
    unmerged: Option<Error>,
    /// Whether what only the agent chose to show its work by counts, although files changed since.
    pub(super) counts_words: bool,
    trust: Trust,
    /// The criteria that count, where a run claimed the task.
    pub(super) criteria: Option<Vec<String>>,
}

impl Subject {
    pub(super) fn look(context: &mut Context, id: TaskId, epoch: Option<u32>) -> Result<Subject> {
        let mut subject = Subject::new(context, id, epoch)?;
        let workspace = subject.workspace.clone();
        look_at_left(&workspace, std::iter::once(&mut subject));
        Ok(subject)
    }

    fn new(context: &mut Context, id: TaskId, epoch: Option<u32>) -> Result<Subject> {
        let caller = Caller::for_task(context, id, epoch);
        let (task, gates, spawn) = context.read(|transaction| {
            let spawn = transaction.latest_spawn(id)?;
            Ok((require(transaction, id)?, transaction.gates(id)?, spawn))
        })?;
        let workspace = context.find_judged_workspace(id)?;
        Ok(Subject {
            id,
            required: match spawn {
                Some(_) => context.load_sections()?.to_vec(),
                None => Vec::new(),
            },
            spawn,
            left: None,
            unmerged: None,
            files: look_at_files(&workspace, &task, &gates)?,
            workspace,
            caller,
            counts_words: false,
            trust: Trust::new(&context.surroundings, &context.workspace),
            criteria: context.surroundings.assignment.criteria.get(&id).cloned(),
        })
    }

    /// Looks whether the work is merged, too.
    pub(super) fn look_at_merge(&mut self) -> Result<()> {
        if let Some(record) = &self.spawn {
            self.unmerged = find_unmerged(&self.workspace, record)?;
        }
        Ok(())
    }

    pub(super) fn judge(&self, transaction: &dyn Transaction, task: &Task) -> Result<Verdict> {
        let gates = transaction.gates(task.id)?;
        let forced = gates.forced.clone();
        let mut judged = task.clone();
        if let Some(claimed) = &self.criteria {
            judged.acceptance.clone_from(claimed);
        }
        let (files, is_run) = (self.files.clone(), self.criteria.is_some());
        let standing = TaskGates::new(&self.workspace, &judged, gates, files, is_run);
        let mut lacking = standing.faults(&task.acceptance, &self.trust);
        if self.counts_words && !self.has_open_commands(&standing) {
            lacking.retain(|fault| fault.code != Code::EvidenceStale);
        }
        let mut verdict = Verdict {
            faults: Vec::new(),
            warnings: Vec::from_iter(standing.warn_unknown()),
            left: None,
            forced: forced.filter(|_| task.status == Status::Done).map(Box::new),
        };
        if let Some(record) = transaction.latest_spawn(task.id)? {
            let left = match &self.left {
                Some((known, left)) if *known == record => check_named(transaction, left.clone())?,
                _ => check_output(&self.workspace, transaction, &record, &self.required)?,
            };
            let refused = refusal(&left).into_iter();
            verdict.faults.extend(refused.chain(self.unmerged.clone()));
            verdict.left = Some(Box::new((record, left)));
        }
        verdict.faults.extend(lacking);
        Ok(verdict)
    }

    /// Returns whether something does not hold that a trusted command of a gate, the command of a criterion, or
    /// somebody other than the caller has to show.
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

/// Returns the error for an output that does not verify, or that says itself that the work is not complete.
pub(super) fn refusal(left: &OutputVerdict) -> Option<Error> {
    let id = left.task_id;
    let is_broken = !left.report.has_passed();
    let why = match left.entry_status {
        _ if is_broken => left.report.join_messages(),
        Some(EntryStatus::Complete) => return None,
        Some(status) => format!("its entry says {status}, not complete"),
        None => "it has no entry".to_string(),
    };
    let check = ("see what is wrong", format!("cleo verify output {id}"));
    let again = (
        "give the prompt to an agent again",
        format!("cleo spawn {id} --format text"),
    );
    // What an agent left unfinished verifies as such: only more work completes the task.
    let (fix, other) = match is_broken {
        true => (check, again),
        false => (again, check),
    };
    let message = format!("{id} was spawned and does not verify: {why}");
    let error = Error::new(Code::NotVerified, message).fix(fix.1);
    let force = "complete it anyway, which is recorded";
    Some(
        error
            .or(other.0, other.1)
            .or(force, format!("cleo complete {id} --force")),
    )
}
