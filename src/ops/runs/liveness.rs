//! Liveness of the processes that execute runs: each keeps a file locked. The lock ends with the process, however
//! that ends, so runs of dead processes are found without clocks, process numbers or messages. Where the database is on a
//! server, processes of other machines are known by their [`Presence`].

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::journal::{self, Journal};
use super::{is_own, no_run};
use crate::clock::Clock;
use crate::error::{Code, Error, Result, quote};
use crate::file::{create_anew, create_private_folder, read_start, unwritable};
use crate::id;
use crate::ops::Surroundings;
use crate::ops::trust::{Item, Trust};
use crate::run::event::{AgentEnd, RUN_INTERRUPTED};
use crate::run::log::LOG_MAX;
use crate::run::{
    Event, Outcome, Run, RunEvent, RunKind, RunProjection, RunStatus, Spent, TaskEvent, TaskRun,
};
use crate::runner::{agent, orphans};
use crate::store::postgres::Presence;
use crate::store::{Database, Store, Transaction};
use crate::workspace::Workspace;

/// How long the lock of a killed process may still be held.
const LOCK_PATIENCE: Duration = Duration::from_millis(500);
const PAUSE: Duration = Duration::from_millis(10);
/// Error of a run whose process is dead.
const INTERRUPTED: &str = "interrupted: the process that executed it has ended";

/// The lock of this process, held until it is dropped.
pub(crate) struct RunLock {
    /// Its name, which is noted in each run.
    pub(crate) name: String,
    path: PathBuf,
    _lock: File,
    _presence: Option<Presence>,
}

impl RunLock {
    pub(crate) fn acquire(workspace: &Workspace) -> Result<RunLock> {
        let name = id::random();
        let path = lock_path(workspace, &name)?;
        let begin = || {
            create_private_folder(path.parent().unwrap_or(&path))?;
            let file = create_anew(&path)?;
            file.lock().map(|()| file)
        };
        let lock = begin().map_err(|cause| unwritable(&path, cause))?;
        let address = workspace.address()?;
        let presence = address.map(|address| Presence::begin(address, &name));
        Ok(RunLock {
            name,
            path,
            _lock: lock,
            _presence: presence.transpose()?,
        })
    }

    pub(crate) fn take_over_to_resume(
        &self,
        store: &mut dyn Store,
        workspace: &Workspace,
        clock: Clock,
        id: &str,
        kinds: &[RunKind],
    ) -> Result<TakenRun> {
        let may_take = |run: &Run| refuse_resume(run, kinds).map(|()| true);
        let taken = self.take_over(store, workspace, clock, id, true, &may_take)?;
        taken.ok_or_else(|| no_run(id))
    }

    /// Takes over a run that no process executes, if `may_take` still accepts it, ends its processes if this user began
    /// it, and records the usage of agents that were cut off. Of two processes that want it, one gets it.
    pub(crate) fn take_over(
        &self,
        store: &mut dyn Store,
        workspace: &Workspace,
        clock: Clock,
        id: &str,
        is_own: bool,
        may_take: &dyn Fn(&Run) -> Result<bool>,
    ) -> Result<Option<TakenRun>> {
        let before = journal::events(&*store.read()?, id)?;
        let mut transaction = store.write_records()?;
        let run = transaction.run(id)?.ok_or_else(|| no_run(id))?;
        if !may_take(&run)? {
            return Ok(None);
        }
        let mut taken = run.clone();
        self.own(&mut taken);
        transaction.put_run(&taken)?;
        transaction.commit()?;
        let mut events = journal::events(&*store.read()?, id)?;
        let mut track = RunProjection::read(&events);
        let groups = track.tasks().iter().filter_map(|task| task.group.clone());
        let groups = Vec::from_iter(groups);
        let orphans = match is_own {
            true => orphans::end_agents_of_run(id, &workspace.root, &groups),
            false => 0,
        };
        let folder = journal::run_folder(workspace, id)?;
        let end = |task| read_unrecorded_end(&folder, task);
        let ends = Vec::from_iter(track.tasks().iter().filter_map(end));
        if !ends.is_empty() {
            let mut journal = Journal::begin(workspace, &taken, clock, store)?;
            let new = journal.commit_events(store, |journal, transaction| {
                let mut ends = ends.iter();
                ends.try_for_each(|end| journal.add_event(transaction, end))
            })?;
            track.apply_new(&new);
            events.extend(new);
        }
        Ok(Some(TakenRun {
            run,
            seen: before.last().map_or(0, |event| event.cursor),
            orphans,
            events,
            track,
        }))
    }

    pub(crate) fn own(&self, run: &mut Run) {
        run.status = RunStatus::Running;
        run.owner = self.name.clone();
        (run.completed_at, run.error) = (None, None);
    }
}

/// A run that was taken over from a dead process.
pub(crate) struct TakenRun {
    pub(crate) run: Run,
    pub(crate) events: Vec<Event>,
    /// Cursor of the last event before: a later request to cancel is for the new process.
    pub(crate) seen: u64,
    pub(crate) track: RunProjection,
    /// How many of its processes were ended.
    pub(crate) orphans: usize,
}

/// Reads the usage of an agent that was cut off, whose end no event records.
fn read_unrecorded_end(folder: &Path, task: &TaskRun) -> Option<RunEvent> {
    // The group is known from when an agent begins until its end was told.
    task.group.as_ref()?;
    let name = format!("{}-{}.log", task.planned.task_id, task.attempts);
    let log = read_start(&folder.join(name), LOG_MAX).unwrap_or_default();
    let runner = task.setup.runner.as_deref().unwrap_or_default();
    let Spent { usage, cost } = agent::read_spent(runner, &log, task.conversed);
    let ended = TaskEvent::AgentEnded(AgentEnd {
        outcome: Some(Outcome::Cancelled),
        usage,
        cost,
        ..AgentEnd::default()
    });
    let event = RunEvent::Task(task.planned.task_id, Some(task.attempts), ended);
    (usage.is_some() || cost.is_some()).then_some(event)
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A file that remains is harmless, because no process holds it locked.
        let _ = fs::remove_file(&self.path);
    }
}

fn lock_path(workspace: &Workspace, name: &str) -> Result<PathBuf> {
    workspace.confine(&format!(".cleo/runs/{name}.alive"))
}

/// Returns whether a process is alive, also true when that is unknown.
fn is_alive(transaction: &dyn Transaction, workspace: &Workspace, name: &str) -> bool {
    // No process of cleo has such a name, or keeps its file there.
    if !id::is_plain(name) {
        return false;
    }
    let Ok(path) = lock_path(workspace, name) else {
        return false;
    };
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            return transaction.is_present(name).unwrap_or(true);
        }
        Err(_) => return true,
    };
    if file.try_lock().is_err() {
        return true;
    }
    let _ = fs::remove_file(&path);
    false
}

/// A run that no process executes and that can be resumed or cancelled.
#[derive(Clone, Debug)]
pub(crate) struct AbandonedRun {
    pub(crate) run: String,
    /// Whether this user started it on this machine.
    pub(crate) is_own: bool,
}

impl AbandonedRun {
    /// Returns the next command: `resume` for a run of this user, `show` for one of somebody else.
    pub(crate) fn resume_command(&self) -> String {
        let run = quote(&self.run);
        match self.is_own {
            true => format!("cleo runs resume {run}"),
            false => format!("cleo runs show {run}"),
        }
    }
}

/// Finds the holders of tasks that are abandoned runs. Only reads, so they are not marked.
pub(crate) fn find_abandoned_runs<'a>(
    surroundings: &Surroundings,
    workspace: &Workspace,
    holders: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<AbandonedRun>> {
    let holders = holders.into_iter();
    let runs: BTreeSet<&str> = holders.filter(|who| who.starts_with("run_")).collect();
    // Most of the time no run holds anything, and then nothing of runs is read.
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let Some(mut store) = workspace.store_if_there()? else {
        return Ok(Vec::new());
    };
    let transaction = store.read()?;
    let mut left = Vec::new();
    for id in runs {
        let run = match transaction.run(id) {
            // A damaged run is named where runs are listed, and cannot be resumed.
            Err(error) if error.code == Code::RowDamaged => None,
            run => run?,
        };
        if let Some(run) = run.filter(|run| is_abandoned(&*transaction, workspace, run)) {
            let events = journal::events(&*transaction, &run.id)?;
            let is_own = is_own(surroundings, workspace, &run, &events);
            left.push(AbandonedRun {
                run: run.id,
                is_own,
            });
        }
    }
    Ok(left)
}

/// Adds to an error how to resume an abandoned run, if one is among the holders of tasks.
pub(crate) fn add_resume_hint<'a>(
    surroundings: &Surroundings,
    workspace: &Workspace,
    holders: impl IntoIterator<Item = &'a str>,
    error: Error,
) -> Result<Error> {
    let left = find_abandoned_runs(surroundings, workspace, holders)?;
    let Some(first) = left.first() else {
        return Ok(error);
    };
    let run = quote(&first.run);
    let message = format!(
        "{}; {run} holds tasks, and its process is gone",
        error.message
    );
    Ok(Error::new(error.code, message)
        .fix(first.resume_command())
        .or("give that run up", format!("cleo runs cancel {run}")))
}

fn is_abandoned(transaction: &dyn Transaction, workspace: &Workspace, run: &Run) -> bool {
    let is_over = match run.status {
        RunStatus::Pending | RunStatus::Running => !is_alive(transaction, workspace, &run.owner),
        status => matches!(status, RunStatus::Interrupted | RunStatus::Failed),
    };
    is_over && run.kind.resumes()
}

/// Refuses to resume a run of another kind, and one that is in progress or completed.
fn refuse_resume(run: &Run, kinds: &[RunKind]) -> Result<()> {
    let id = quote(&run.id);
    let refuse = |what: &str| {
        let message = format!("the run {} {what}", run.id);
        Error::new(Code::StatusRefused, message).fix(format!("cleo runs show {id}"))
    };
    match run.status {
        _ if !kinds.contains(&run.kind) => Err(refuse(&format!(
            "is of the kind {}, which is not resumed here",
            run.kind
        ))),
        RunStatus::Running | RunStatus::Pending => Err(refuse("is in progress in another process")
            .or("cancel it", format!("cleo runs cancel {id}"))),
        RunStatus::Completed | RunStatus::Unanswered => Err(refuse("is completed already")),
        RunStatus::Failed | RunStatus::Cancelled | RunStatus::Interrupted => Ok(()),
    }
}

/// Reads a run of one of these kinds that its user resumes, after runs of dead processes were marked. A command that a
/// killed process was just starting holds its lock for a moment more, which is waited for.
pub(crate) fn read_to_resume(
    surroundings: &Surroundings,
    workspace: &Workspace,
    store: &mut Database,
    id: &str,
    kinds: &[RunKind],
) -> Result<Run> {
    let since = Instant::now();
    loop {
        mark_interrupted_runs(store, workspace, &surroundings.clock)?;
        let run = store.read()?.run(id)?.ok_or_else(|| no_run(id))?;
        if run.is_over() || since.elapsed() >= LOCK_PATIENCE {
            refuse_resume(&run, kinds)?;
            let events = journal::events(&*store.read()?, id)?;
            let item = Item::from_run(&run, &events);
            Trust::new(surroundings, workspace).require(&[item])?;
            return Ok(run);
        }
        thread::sleep(PAUSE);
    }
}

/// Marks runs of dead processes as failed, or as interrupted if they can be resumed, those of all users. On a disk that
/// cannot be written they stay as they are, and can be read.
pub(crate) fn mark_interrupted_runs(
    store: &mut Database,
    workspace: &Workspace,
    clock: &Clock,
) -> Result<()> {
    match store.for_all(|store| mark_all_interrupted(store, workspace, clock)) {
        Err(error) if error.code == Code::StoreReadOnly => Ok(()),
        marked => marked,
    }
}

fn mark_all_interrupted(store: &mut Database, workspace: &Workspace, clock: &Clock) -> Result<()> {
    let transaction = store.read()?;
    let mut dead = transaction.owners()?;
    dead.retain(|owner| !is_alive(&*transaction, workspace, owner));
    drop(transaction);
    if dead.is_empty() {
        return Ok(());
    }
    let mut transaction = store.write_records()?;
    let mut ended = Vec::new();
    for owner in dead {
        for run in transaction.list_unfinished(&owner)? {
            ended.extend(Some(run.id.clone()).filter(|_| !run.kind.resumes()));
            mark_interrupted(&mut *transaction, run, clock)?;
        }
    }
    transaction.commit()?;
    // These are neither resumed nor cancelled.
    for run in ended {
        orphans::end_agents_of_run(&run, &workspace.root, &[]);
    }
    Ok(())
}

fn mark_interrupted(transaction: &mut dyn Transaction, mut run: Run, clock: &Clock) -> Result<()> {
    let now = clock.timestamp();
    let (status, kind) = match run.kind.resumes() {
        true => (RunStatus::Interrupted, RUN_INTERRUPTED),
        false => (RunStatus::Failed, "error"),
    };
    if run.kind.resumes() {
        let track = RunProjection::read(&journal::events(transaction, &run.id)?);
        let took = track.count_open_time().filter(|took| *took > 0);
        took.into_iter().for_each(|took| run.add_time(took));
    }
    run.status = status;
    run.error = Some(INTERRUPTED.to_string());
    run.completed_at = Some(now.clone());
    transaction.put_run(&run)?;
    let detail = crate::build_map([("error".to_string(), INTERRUPTED.into())]);
    transaction.add_event(&run.id, &now, kind, detail).map(drop)
}

#[cfg(test)]
mod tests;
