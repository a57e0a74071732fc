//! Prompts for many tasks at once. A task that fails does not affect the others.

use std::collections::HashSet;

use serde::{Serialize, Serializer};

use super::{Options, Preparation, Spawned, record};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::{Context, tasks};
use crate::reply::Failure;
use crate::store::Transaction;
use crate::task::Status;
use crate::task::graph::Conflict;

/// Claims a task, or does what else comes before its prompt, in the same transaction; false leaves it out.
pub(crate) type Accept<'a> = dyn FnMut(&mut dyn Transaction, TaskId) -> bool + 'a;

/// Number of prompts in one transaction: few enough that other writers get their turn.
const CHUNK: usize = 100;
/// Maximum number of prompts of one batch.
const BATCH_MAX: usize = 10_000;
/// Maximum number of failures in a message.
const FAILURES_SHOWN: usize = 3;
/// Maximum number of ids in a command to paste.
const IDS_PASTED: usize = 300;
/// Maximum number of warnings in an answer.
const WARNINGS_SHOWN: usize = 20;

#[derive(Clone, Debug)]
pub(crate) enum Selection {
    /// These tasks; a duplicate counts once.
    Tasks(Vec<TaskId>),
    /// A wave of an epic.
    Wave {
        epic: TaskId,
        /// Number of the wave as `orchestrator waves` shows it; without one, the ready tasks.
        number: Option<usize>,
        /// Maximum number of tasks, the most urgent first.
        limit: Option<usize>,
    },
}

/// The result of a batch. The prompts themselves were handed out one by one.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Batch {
    pub(crate) total: usize,
    /// The tasks without a prompt, with the reasons.
    pub(crate) failed: Vec<Failed>,
    #[serde(skip)]
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Failed {
    pub(crate) task_id: TaskId,
    #[serde(serialize_with = "serialize_failure")]
    #[schemars(with = "Failure<'static>")]
    pub(crate) error: Error,
}

fn serialize_failure<S: Serializer>(
    error: &Error,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    Failure::from_error(error).serialize(serializer)
}

pub(crate) fn select(
    context: &mut Context,
    selection: Selection,
) -> Result<(Vec<TaskId>, Vec<String>)> {
    let (mut ids, left_out) = match selection {
        Selection::Tasks(ids) => (ids, Vec::new()),
        Selection::Wave {
            epic,
            number,
            limit,
        } => wave(context, epic, number, limit.unwrap_or(usize::MAX))?,
    };
    let mut seen = HashSet::new();
    ids.retain(|id| seen.insert(*id));
    match ids.len() {
        0..=BATCH_MAX => Ok((ids, left_out)),
        n => {
            let message =
                format!("{n} prompts are too many for one batch; {BATCH_MAX} are allowed");
            Err(Error::new(Code::InputInvalid, message))
        }
    }
}

/// Finds at most `limit` pending tasks of a wave. Of the ready tasks, leaves out those that touch the files of an
/// active task or of one before them.
fn wave(
    context: &mut Context,
    epic: TaskId,
    number: Option<usize>,
    limit: usize,
) -> Result<(Vec<TaskId>, Vec<String>)> {
    let Some(number) = number.filter(|number| *number > 0) else {
        let ready = tasks::find_ready(context, Some(epic), None)?;
        let ready: Vec<TaskId> = ready.tasks.iter().map(|one| one.task.id).collect();
        let now = context.now();
        let chosen = context
            .read(|transaction| tasks::select_independent(transaction, &ready, limit, &now))?;
        return Ok((chosen.tasks, describe_left_out(&chosen.conflicts)));
    };
    let waves = tasks::find_waves(context, Some(epic), None)?.waves;
    let Some(wave) = waves.get(number) else {
        let message = match waves.len() {
            0 => format!("{epic} has no waves"),
            n => format!("{epic} has no wave {number}; its last is {}", n - 1),
        };
        let fix = format!("cleo orchestrator waves --epic {epic}");
        return Err(Error::new(Code::InputInvalid, message).fix(fix));
    };
    let pending = wave.iter().filter(|task| task.status == Status::Pending);
    let ids = pending.map(|task| task.id).take(limit).collect();
    Ok((ids, Vec::new()))
}

fn describe_left_out(conflicts: &[Conflict]) -> Vec<String> {
    let shown = conflicts.iter().take(WARNINGS_SHOWN).map(|conflict| {
        let files = conflict.files.join(", ");
        let (task, other) = (conflict.task, conflict.conflicts_with);
        format!("{task} was left out: {other} touches its files too: {files}")
    });
    let more = conflicts.len().saturating_sub(WARNINGS_SHOWN);
    let more = (more > 0).then(|| format!("{more} more were left out because of their files"));
    shown.chain(more).collect()
}

/// Prepares the prompts for a selection of tasks and hands out each as soon as it is durable; `take`
/// returns whether more are wanted. Fails as a whole only when nothing could be kept at all.
pub(crate) fn spawn_many(
    context: &mut Context,
    selection: Selection,
    options: &Options,
    take: &mut dyn FnMut(Spawned) -> bool,
) -> Result<Batch> {
    let (ids, left_out) = select(context, selection)?;
    let ids = ids.as_slice();
    context.notes.warn(left_out);
    let words: Vec<String> = ids.iter().map(TaskId::to_string).collect();
    let catalogue = super::catalogue(context, options, &words.join(" "))?;
    if let Some(name) = &options.template {
        catalogue.skill(name)?;
    }
    let needs_known = options.strict || options.force_inject;
    let mut preparation = Preparation::new(context, catalogue, needs_known)?;
    let mut batch = preparation.spawn_all(context, ids, options, &mut |_, _| true, take)?;
    context.notes.warn(std::mem::take(&mut batch.warnings));
    context.notes.failure = batch.error(options);
    Ok(batch)
}

impl Preparation {
    /// Prepares prompts as [`spawn_many`] does.
    pub(crate) fn spawn_all(
        &mut self,
        context: &mut Context,
        ids: &[TaskId],
        options: &Options,
        accept: &mut Accept<'_>,
        take: &mut dyn FnMut(Spawned) -> bool,
    ) -> Result<Batch> {
        context.read(|transaction| self.read_manifest_for(transaction, options, ids))?;
        let mut batch = Batch::default();
        for (number, chunk) in ids.chunks(CHUNK).enumerate() {
            let spawned = self.prepare_chunk(context, chunk, options, accept, &mut batch.failed);
            let spawned = match spawned {
                Ok(spawned) => spawned,
                Err(error) if batch.total == 0 => return Err(error),
                Err(error) => {
                    // A failure of the store affects all further tasks.
                    let failed = ids[number * CHUNK..].iter().map(|id| Failed {
                        task_id: *id,
                        error: Error::new(error.code, &error.message),
                    });
                    batch.failed.extend(failed);
                    break;
                }
            };
            for spawned in spawned {
                batch.total += 1;
                for warning in &spawned.warnings {
                    if batch.warnings.len() < WARNINGS_SHOWN && !batch.warnings.contains(warning) {
                        batch.warnings.push(warning.clone());
                    }
                }
                if !take(spawned) {
                    return Ok(batch);
                }
            }
        }
        Ok(batch)
    }

    /// Prepares a part of a batch in one transaction. A task that fails writes nothing; an error of the store ends it.
    fn prepare_chunk(
        &mut self,
        context: &mut Context,
        ids: &[TaskId],
        options: &Options,
        accept: &mut Accept<'_>,
        failed: &mut Vec<Failed>,
    ) -> Result<Vec<Spawned>> {
        let caller = tasks::Caller::without_task(context);
        let (spawned, faults) = match options.dry_run {
            true => context.read(|transaction| Ok(self.prepare_all(transaction, ids, options))),
            false => context.write(|transaction| {
                let mut accepted = ids.to_vec();
                accepted.retain(|id| accept(transaction, *id));
                let (mut all, faults) = self.prepare_all(transaction, &accepted, options);
                for spawned in &mut all {
                    record(transaction, spawned, &caller)?;
                }
                Ok((all, faults))
            }),
        }?;
        failed.extend(faults);
        Ok(spawned)
    }

    fn prepare_all(
        &mut self,
        transaction: &dyn Transaction,
        ids: &[TaskId],
        options: &Options,
    ) -> (Vec<Spawned>, Vec<Failed>) {
        let (mut all, mut failed) = (Vec::with_capacity(ids.len()), Vec::new());
        for id in ids {
            match self.prepare(transaction, *id, options) {
                Ok(spawned) => all.push(spawned),
                Err(error) => failed.push(Failed {
                    task_id: *id,
                    error,
                }),
            }
        }
        (all, failed)
    }
}

impl Batch {
    /// Returns the error for failed tasks, with a fix.
    fn error(&self, options: &Options) -> Option<Error> {
        if self.failed.is_empty() {
            return None;
        }
        let n_asked = self.total + self.failed.len();
        let shown = self.failed.iter().take(FAILURES_SHOWN);
        let mut messages: Vec<String> = shown.map(|one| one.error.message.clone()).collect();
        if self.failed.len() > FAILURES_SHOWN {
            messages.push(format!("and {} more", self.failed.len() - FAILURES_SHOWN));
        }
        let message = format!(
            "{} of {n_asked} prompts could not be prepared: {}",
            self.failed.len(),
            messages.join("; ")
        );
        let fix = self.fix(&options.write_options());
        Some(Error::new(Code::StepsFailed, message).fix(fix))
    }

    /// Returns the fix: the first one of the failures, since the same command would fail again.
    fn fix(&self, options: &str) -> String {
        let failed = self.failed.iter().take(IDS_PASTED);
        let ids: String = failed.map(|one| format!(" {}", one.task_id)).collect();
        let again = format!("cleo orchestrator spawn{ids}{options}");
        let lacks_block = |one: &Failed| one.error.code == Code::ProtocolMissing;
        if self.failed.iter().all(lacks_block) {
            return format!("{again} --force-inject");
        }
        let first = self.failed.iter().find_map(|one| one.error.fix.clone());
        first.unwrap_or(again)
    }
}
