//! Cancels runs: requests a stop, or cleans up here when the process of the run is gone.

use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::recovery::{KeptTree, list_kept_worktrees};
use super::removal::sweep_trees;
use super::resume::open_trees;
use super::{parts, report};
use crate::claim::Claim;
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::ops::runs::liveness::{self, RunLock, TakenRun};
use crate::ops::runs::{is_own, journal, no_run};
use crate::ops::{Context, Surroundings, executions};
use crate::run::{Outcome, Run, RunEvent, RunKind, RunProjection, RunStatus, TaskEvent, TaskRun};
use crate::store::Store;
use crate::task::Status;

/// How long to wait for the end of a cancelled run.
const PATIENCE: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(50);
const CANCELLED: &str = "the run was cancelled";

/// The request to cancel a run.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cancelled {
    /// The run as it stands.
    pub(crate) run: Run,
    /// Number of orphan processes of agents that were ended.
    pub(crate) orphans: usize,
    /// Tasks that were given back.
    pub(crate) released: Vec<TaskId>,
    /// Branches that hold what was done and is not merged, but for those of worktrees that are kept.
    pub(crate) branches: Vec<String>,
    /// Worktrees that are kept, because no branch could hold all that was done in them.
    pub(crate) worktrees: Vec<KeptTree>,
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// Cancels a run. If its process is alive, requests a stop and waits up to 15 s; otherwise cleans up here. An
/// execution ends at once: its caller still waits for the answer, and only the cost of it is kept.
pub(crate) fn cancel(surroundings: &Surroundings, id: &str) -> Result<Cancelled> {
    let mut context = Context::open(surroundings.clone())?;
    let workspace = context.workspace.clone();
    liveness::mark_interrupted_runs(&mut context.store, &workspace, &surroundings.clock)?;
    let run = context.read(|transaction| transaction.run(id))?;
    let run = run.ok_or_else(|| no_run(id))?;
    let own = surroundings.assignment.run.as_ref();
    if own.is_some_and(|own| run.id != *own && run.user != *own) {
        let assignment = &surroundings.assignment;
        assignment.refuse_agent("cancels only its own and what it began")?;
    }
    if run.kind == RunKind::Execution {
        let (clock, by) = (&surroundings.clock, &surroundings.actor);
        let run = executions::cancel(&mut context.store, clock, id, None, by)?;
        return Ok(Cancelled {
            run,
            ..Cancelled::default()
        });
    }
    let held = context.read(|transaction| transaction.claims_of(id))?;
    request_cancel(&mut context, id)?;
    let lock = RunLock::acquire(&workspace)?;
    let events = context.read(|transaction| journal::events(transaction, id))?;
    // Processes and worktrees that another user's row names are left alone.
    let is_own = is_own(surroundings, &workspace, &run, &events);
    let mut cancelled = match wait_until_stopped(&mut context, run, is_own, &lock)? {
        (_, Some(taken)) => clean_up(&mut context, taken, is_own, &lock)?,
        (run, None) if run.status == RunStatus::Running => {
            let error = error!(
                LockTimeout,
                "the process of {id} has the request, but has not stopped yet"
            );
            return Err(error
                .passing(true)
                .fix(format!("cleo runs show {}", quote(id))));
        }
        (run, None) => Cancelled {
            released: find_released(&mut context, id, &held)?,
            run,
            ..Cancelled::default()
        },
    };
    let events = context.read(|transaction| journal::events(transaction, id))?;
    let worktrees = list_kept_worktrees(&events);
    if is_own {
        if let Some(trees) = open_trees(&workspace, &cancelled.run, &events)? {
            cancelled.branches = trees.list_unmerged_branches()?;
        }
        let is_kept = |branch: &String| {
            let mut kept = worktrees.iter().filter_map(|tree| tree.branch.as_ref());
            kept.any(|kept| kept == branch)
        };
        cancelled.branches.retain(|branch| !is_kept(branch));
    }
    cancelled.worktrees = worktrees;
    Ok(cancelled)
}

fn find_released(context: &mut Context, holder: &str, held: &[Claim]) -> Result<Vec<TaskId>> {
    context.read(|transaction| {
        let mut given_back = Vec::new();
        for Claim { task, .. } in held {
            let claim = transaction.claim(*task)?;
            let is_held = claim.is_some_and(|claim| claim.holder.as_deref() == Some(holder));
            let status = transaction.status(*task)?;
            let is_open =
                status.is_some_and(|status| !matches!(status, Status::Done | Status::Cancelled));
            given_back.extend((is_open && !is_held).then_some(*task));
        }
        Ok(given_back)
    })
}

/// Waits until a run has stopped that was asked to, or for too long. A run without a process is taken over, and the
/// process of another cleo that did so since is asked again: it may not have looked for what came before.
fn wait_until_stopped(
    context: &mut Context,
    Run { id, mut owner, .. }: Run,
    is_own: bool,
    lock: &RunLock,
) -> Result<(Run, Option<TakenRun>)> {
    let (since, id) = (Instant::now(), id.as_str());
    let clock = context.surroundings.clock;
    loop {
        liveness::mark_interrupted_runs(&mut context.store, &context.workspace, &clock)?;
        let run = context.read(|transaction| transaction.run(id))?;
        let run = run.ok_or_else(|| no_run(id))?;
        if is_left(&run) {
            let may_take = |run: &Run| Ok(is_left(run));
            let (store, workspace) = (&mut context.store, &context.workspace);
            let taken = lock.take_over(store, workspace, clock, id, is_own, &may_take)?;
            if taken.is_some() {
                return Ok((run, taken));
            }
        } else if run.status != RunStatus::Running || since.elapsed() >= PATIENCE {
            return Ok((run, None));
        } else if run.owner != owner {
            request_cancel(context, id)?;
            owner = run.owner;
        }
        thread::sleep(PAUSE);
    }
}

fn is_left(run: &Run) -> bool {
    matches!(run.status, RunStatus::Interrupted | RunStatus::Failed)
}

fn request_cancel(context: &mut Context, id: &str) -> Result<()> {
    let surroundings = &context.surroundings;
    let mut transaction = context.store.write_records()?;
    let run = transaction.run(id)?.ok_or_else(|| no_run(id))?;
    let goes_on = matches!(
        run.status,
        RunStatus::Running | RunStatus::Pending | RunStatus::Interrupted | RunStatus::Failed
    );
    if !goes_on || !run.kind.resumes() {
        let message = match goes_on {
            true => format!(
                "{id} is a run of kind {}, which cannot be cancelled",
                run.kind
            ),
            false => format!("{id} is {} already", run.status),
        };
        let show = format!("cleo runs show {}", quote(id));
        return Err(Error::new(Code::StatusRefused, message).fix(show));
    }
    let by = Some(surroundings.actor.clone());
    let (kind, detail) = RunEvent::CancelRequested { by }.to_parts();
    let at = surroundings.clock.timestamp();
    transaction.add_event(id, &at, &kind, detail)?;
    transaction.commit().map(drop)
}

/// Cleans up after a dead process.
fn clean_up(
    context: &mut Context,
    taken: TakenRun,
    is_own: bool,
    lock: &RunLock,
) -> Result<Cancelled> {
    let (workspace, clock) = (context.workspace.clone(), context.surroundings.clock);
    let TakenRun {
        mut run,
        events,
        track,
        orphans,
        ..
    } = taken;
    context.surroundings.actor.clone_from(&run.id);
    let released = parts::release_all(context, &run.id, |_| true)?;
    let (mut new, mut warnings) = (list_closing_events(&track), Vec::new());
    if is_own && let Some(trees) = open_trees(&workspace, &run, &events)? {
        for task in track.tasks() {
            let status = context.read(|tasks| tasks.status(task.planned.task_id));
            if status.unwrap_or_default() == Some(Status::Done) {
                trees.keep_merge_of(task.planned.task_id, &run.started_at)?;
            }
        }
        let _lock = trees.lock()?;
        for task in track.tasks().iter().filter(|task| !task.is_done()) {
            if let Ok(Some(commit)) = trees.find_merge(task.planned.task_id, &run.started_at) {
                let id = task.planned.task_id;
                warnings.push(match trees.explain_revert(&commit).ok().flatten() {
                    Some(why) => format!("{id} is not done: {why}"),
                    None => format!("{id} is not done, but its work is merged: {commit}"),
                });
            }
        }
        let told = sweep_trees(context, &trees, &track, &events)?;
        warnings.extend(told.iter().filter_map(read_warning));
        new.extend(told);
        warnings.extend(trees.warnings.take());
    }
    let had_failed = run.status == RunStatus::Failed;
    let ended = run.completed_at.take().filter(|_| had_failed);
    let cause = run.error.take().filter(|_| had_failed);
    run.status = RunStatus::Cancelled;
    run.owner = lock.name.clone();
    run.completed_at = Some(ended.unwrap_or_else(|| clock.timestamp()));
    run.error = Some(match cause {
        Some(cause) => format!("it was cancelled; before: {cause}"),
        None => "it was cancelled".to_string(),
    });
    let spent = report::sum_spent(&track);
    (run.usage, run.cost) = (spent.usage.or(run.usage), spent.cost.or(run.cost));
    new.push(report::finish_event(&run));
    let store = &mut context.store;
    let mut journal = journal::Journal::begin(&workspace, &run, clock, store)?;
    journal.commit_events(store, |journal, transaction| {
        transaction.put_run(&run)?;
        let mut new = new.iter();
        new.try_for_each(|event| journal.add_event(transaction, event))
    })?;
    Ok(Cancelled {
        orphans,
        released,
        warnings,
        run,
        ..Cancelled::default()
    })
}

/// Returns what an event says of work that is neither on a branch nor in a worktree.
fn read_warning(event: &RunEvent) -> Option<String> {
    match event {
        RunEvent::Task(
            _,
            _,
            TaskEvent::Retained {
                reason,
                branch,
                worktree,
            },
        ) if branch.is_none() && worktree.is_none() => reason.clone(),
        _ => None,
    }
}

/// Returns the events that end unfinished tasks.
fn list_closing_events(track: &RunProjection) -> Vec<RunEvent> {
    let open = track.tasks().iter().filter(|task| task.state.is_open());
    let close = |task: &TaskRun| {
        let reason = Some(CANCELLED.to_string());
        if !task.is_held {
            let caused_by = None;
            return TaskEvent::Skipped { reason, caused_by }.for_task(task.planned.task_id);
        }
        let outcome = Some(Outcome::Cancelled);
        let attempt = Some(task.attempts).filter(|attempt| *attempt > 0);
        let failed = TaskEvent::Failed { outcome, reason };
        RunEvent::Task(task.planned.task_id, attempt, failed)
    };
    open.map(close).collect()
}
