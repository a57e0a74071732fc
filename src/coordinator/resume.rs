//! Resumes a run whose process ended.

use serde_json::json;

use super::budget::Budget;
use super::engine::{Engine, check_depth};
use super::options::{Options, ResumeChanges};
use super::removal::sweep_trees;
use super::report::{Report, resume_command};
use super::trees::Trees;
use super::{Listener, RunEnvironment, selection};
use crate::error::{Code, Error, Result, quote};
use crate::ops::runs::liveness::{self, RunLock, TakenRun};
use crate::ops::runs::{is_own, journal};
use crate::ops::trust::Trust;
use crate::ops::{Context, Surroundings};
use crate::run::event::Base;
use crate::run::view::RunView;
use crate::run::{Event, Outcome, Planned, Run, RunEvent, RunKind, RunStatus, TaskEvent, TaskRun};
use crate::runner::signals::{self, Guard};
use crate::workspace::Workspace;

/// Runs over tasks.
const KINDS: [RunKind; 2] = [RunKind::Epic, RunKind::Tasks];

/// Resumes a run that was interrupted, failed or cancelled: done steps stay done, left work is verified, and
/// leftover processes are ended. `rest` bounds the remaining work.
pub(crate) fn resume(
    surroundings: Surroundings,
    id: &str,
    rest: ResumeChanges,
    ambience: RunEnvironment,
    listener: &mut dyn Listener,
) -> Result<Report> {
    check_depth(&ambience)?;
    if surroundings.assignment.run.as_deref() == Some(id) {
        let message = format!("an agent of {id} does not resume it");
        return Err(
            Error::new(Code::StatusRefused, message).fix(format!("cleo runs show {}", quote(id)))
        );
    }
    let mut context = Context::open(surroundings.clone())?;
    let workspace = context.workspace.clone();
    let store = &mut context.store;
    let run = liveness::read_to_resume(&surroundings, &workspace, store, id, &KINDS)?;
    context.refuse_other_checkout()?;
    let events = context.read(|transaction| journal::events(transaction, id))?;
    let (first, planned) = read_start(&run, &events)?;
    let team = selection::team(&mut context, planned, &first, &ambience)?;
    Trust::new(&surroundings, &workspace).require(&team.items)?;
    if let Some(trees) = open_trees(&workspace, &run, &events)? {
        // A killed move of the checkout is finished or undone once the run is taken over.
        trees.require_base_at(Trees::require_startable(&workspace)?)?;
        // No work could be merged, and its agents would be paid.
        trees.require_conversion(&workspace.root)?;
    }
    let lock = RunLock::acquire(&workspace)?;
    let (store, clock) = (&mut context.store, surroundings.clock);
    let TakenRun {
        mut run,
        events,
        seen,
        track,
        ..
    } = lock.take_over_to_resume(store, &workspace, clock, id, &KINDS)?;
    let was = run.status;
    lock.own(&mut run);
    let before = Budget::read(&first.rules(), track.tasks());
    let mut options = rest.extend_options(first.clone(), before.total());
    options.share_out(&team.planned);
    let is_new = options != first;
    let (base, guard) = (find_base(&events), Guard::begin()?);
    let mut engine = Engine::open(context, team, options, ambience, run, base, listener)?;
    engine.recorder.journal.set_cancel_cursor(seen);
    engine.recorder.track = track;
    engine.scheduler.resume_budget(before);
    let done = signals::run_shielded(|| {
        engine.take_up_all(was, is_new, &events)?;
        engine.run(guard)
    });
    drop(lock);
    done
}

/// Opens the worktrees of a run that has some.
pub(super) fn open_trees(
    workspace: &Workspace,
    run: &Run,
    events: &[Event],
) -> Result<Option<Trees>> {
    let Some(base) = find_base(events) else {
        return Ok(None);
    };
    let folder = journal::run_folder(workspace, &run.id)?;
    Trees::open(workspace, &folder, &run.id, base).map(Some)
}

/// Finds the checkout on which a run with worktrees began, with the last commit that it made there.
fn find_base(events: &[Event]) -> Option<Base> {
    let mut events = events.iter().filter_map(RunEvent::read);
    let base = events.find_map(|event| match event {
        RunEvent::Started { base, .. } => Some(base),
        _ => None,
    })??;
    let mut made = events.filter_map(|event| match event {
        RunEvent::Task(_, _, TaskEvent::Merged { commit }) => commit,
        _ => None,
    });
    let commit = made.next_back().unwrap_or(base.commit);
    Some(Base { commit, ..base })
}

fn read_start(run: &Run, events: &[Event]) -> Result<(Options, Vec<Planned>)> {
    let (planned, options) = RunEvent::read_start(events);
    let options = options.and_then(|options| serde_json::from_value(options).ok());
    let options = options.ok_or_else(|| {
        let message = format!("nothing says how {} was to be carried out", run.id);
        Error::new(Code::InputInvalid, message).fix(format!("cleo runs show {}", quote(&run.id)))
    })?;
    Ok((options, planned))
}

/// Returns the command that resumes a finished run, with a higher budget when it is spent. For a run of
/// another user it is the command that shows it.
pub(crate) fn suggest_continuation(surroundings: &Surroundings, shown: &RunView) -> String {
    let events = shown.events.as_deref().unwrap_or_default();
    let is_own = surroundings
        .workspace()
        .is_ok_and(|workspace| is_own(surroundings, &workspace, &shown.run.record, events));
    if !is_own {
        return "cleo trust".to_string();
    }
    let options = read_start(&shown.run.record, events)
        .ok()
        .map(|(options, _)| options);
    let is_spent = |options: &Options| Budget::read(&options.rules(), &shown.tasks).is_spent();
    let spent_all = options.filter(is_spent);
    resume_command(
        &shown.run.record,
        spent_all.and_then(|options| options.budget()),
    )
}

fn last_outcome(task: &TaskRun) -> Option<Outcome> {
    // An attempt that was cut off, or not verified any more, has no outcome of its own.
    let last = task.outcome.filter(|outcome| *outcome != Outcome::Ok);
    (task.attempts > 0).then(|| last.unwrap_or(Outcome::Cancelled))
}

impl Engine<'_> {
    /// Resumes from the current state of the tasks. `is_new` says that the run gets new bounds.
    fn take_up_all(&mut self, was: RunStatus, is_new: bool, events: &[Event]) -> Result<()> {
        let tasks = self.recorder.track.tasks().iter();
        let tried: Vec<Option<Outcome>> = tasks.map(last_outcome).collect();
        let options = is_new.then(|| json!(self.options));
        self.recorder.push(RunEvent::Resumed {
            reason: Some(was.to_string()),
            options,
            again: was != RunStatus::Interrupted,
        });
        self.recorder.commit_run(&mut self.context.store)?;
        let _lock = match &self.trees {
            Some(trees) => Some(trees.lock()?),
            None => None,
        };
        for (step, tried) in tried.into_iter().enumerate() {
            let task = self.recorder.track.tasks()[step].clone();
            if let Some(outcome) = tried {
                self.scheduler.note_tried(step, outcome);
            }
            self.slots[step].attempt = task.attempts;
            self.take_up(step, &task)?;
        }
        let retained = match &self.trees {
            // Unproven work stays in its worktree.
            Some(trees) if signals::pending_signal().is_none() => {
                sweep_trees(&mut self.context, trees, &self.recorder.track, events)?
            }
            _ => Vec::new(),
        };
        retained
            .into_iter()
            .for_each(|event| self.recorder.push(event));
        Ok(())
    }
}
