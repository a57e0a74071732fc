//! The loop of a run: events go to the scheduler, its decisions are committed and then carried out, until
//! nothing is left to do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::options::{DEPTH_MAX, Options};
use super::queue::Queue;
use super::recorder::Recorder;
use super::report::{self, Ending, Report};
use super::scheduler::{Action, Event, Scheduler};
use super::selection::Team;
use super::slot::{Holder, Slot};
use super::threads::{Threads, request_stop};
use super::trees::{Base, Trees};
use super::{Listener, RunEnvironment, selection};
use crate::error::{Code, Error, Result, quote};
use crate::id;
use crate::ops::runs::journal::Journal;
use crate::ops::runs::liveness::{self, RunLock};
use crate::ops::spawn::Preparation;
use crate::ops::tasks::claim;
use crate::ops::trust::{Item, Registrant, Trust};
use crate::ops::{Context, Surroundings};
use crate::run::{Planned, Run, RunEvent, RunKind, RunProjection, StepState, TaskEvent};
use crate::runner::signals::{self, Guard};

const COORDINATOR: &str = "cleo";

/// How long events that need no decision wait for others to be committed with.
const SETTLING: Duration = Duration::from_millis(2);

pub(super) struct Engine<'a> {
    pub(super) context: Context,
    pub(super) recorder: Recorder<'a>,
    pub(super) scheduler: Scheduler,
    pub(super) slots: Vec<Slot>,
    pub(super) threads: Threads,
    pub(super) trees: Option<Trees>,
    pub(super) queue: Queue,
    pub(super) options: Options,
    pub(super) ambience: RunEnvironment,
    /// The skills and protocols, read once: all tasks of a run get them as they are when it begins.
    pub(super) preparation: Option<Preparation>,
    /// Events for the next turn of the scheduler.
    pub(super) inbox: Vec<Event>,
    pub(super) begun: Instant,
}

pub(crate) fn run(
    surroundings: Surroundings,
    options: Options,
    ambience: RunEnvironment,
    listener: &mut dyn Listener,
) -> Result<Report> {
    check_depth(&ambience)?;
    let (setup, lock, started) = prepare(surroundings, options, ambience)?;
    let guard = Guard::begin()?;
    let mut engine = Engine::open(setup, listener)?;
    engine.recorder.push(started);
    engine.recorder.commit_run(&mut engine.context.store)?;
    let done = signals::run_shielded(|| engine.run(guard));
    drop(lock);
    done
}

pub(super) fn check_depth(ambience: &RunEnvironment) -> Result<()> {
    if ambience.depth < DEPTH_MAX {
        return Ok(());
    }
    let message = format!(
        "this cleo was called by an agent {} runs deep; no more than {DEPTH_MAX} may be nested",
        ambience.depth
    );
    Err(Error::new(Code::RunNested, message).fix("cleo runs list --status running"))
}

pub(super) struct Setup {
    pub(super) context: Context,
    pub(super) team: Team,
    pub(super) options: Options,
    pub(super) ambience: RunEnvironment,
    pub(super) run: Run,
    pub(super) planned: Vec<Planned>,
    pub(super) base: Option<Base>,
}

/// Refuses what cannot run here, and makes the run, of which nothing is stored yet.
fn prepare(
    surroundings: Surroundings,
    mut options: Options,
    ambience: RunEnvironment,
) -> Result<(Setup, RunLock, RunEvent)> {
    let clock = surroundings.clock;
    let user = surroundings.actor.clone();
    let mut context = Context::open(surroundings)?;
    let mut planned = selection::select_tasks(&mut context, &options.request)?;
    options.share_out(&planned);
    let team = selection::team(&mut context, &planned, &options, &ambience)?;
    for (task, acceptance) in planned.iter_mut().zip(&team.acceptance) {
        task.acceptance.clone_from(acceptance);
    }
    let workspace = context.workspace.clone();
    let trust = Trust::new(&context.surroundings, &workspace);
    trust.require(&team.items)?;
    let base = match options.is_isolated() {
        // A repository without worktrees is refused before anything is done.
        true => Some(Trees::require_startable(&workspace)?),
        false => None,
    };
    let number = context.read(|transaction| transaction.last_event())? + 1;
    let lock = RunLock::acquire(&workspace)?;
    let run = Run {
        user,
        started_at: clock.timestamp(),
        owner: lock.name.clone(),
        agent: options.request.runner.clone(),
        ..Run::new(
            id::make_id("run", &clock, number),
            match options.request.epic {
                Some(_) => RunKind::Epic,
                None => RunKind::Tasks,
            },
            COORDINATOR,
            report::describe_request(&planned, &options.request),
        )
    };
    let stored = serde_json::to_value(&options).ok();
    if let Some(options) = &stored {
        let item = Item::run(&run.id, options, &planned);
        record_owner(&context.surroundings, &trust, &item);
    }
    let started = RunEvent::Started {
        branch: base.as_ref().and_then(|base| base.branch.clone()),
        commit: base.as_ref().map(|base| base.commit.clone()),
        conversion: base.as_ref().and_then(|base| base.conversion.clone()),
        tasks: planned.clone(),
        options: stored,
    };
    let setup = Setup {
        context,
        team,
        options,
        ambience,
        run,
        planned,
        base,
    };
    Ok((setup, lock, started))
}

impl<'a> Engine<'a> {
    pub(super) fn open(setup: Setup, listener: &'a mut dyn Listener) -> Result<Engine<'a>> {
        let Setup {
            mut context,
            team,
            run,
            planned,
            ..
        } = setup;
        let criteria = planned
            .iter()
            .map(|task| (task.task_id, task.acceptance.clone()));
        context.surroundings.assignment.criteria = Arc::new(crate::build_map(criteria));
        // The run holds its tasks under its own id, which is unique.
        context.surroundings.actor.clone_from(&run.id);
        context.surroundings.judges_workspace = true;
        let clock = context.surroundings.clock;
        let (steps, rules) = (team.steps, setup.options.rules());
        let journal = Journal::begin(&context.workspace, &run, clock, &mut context.store)?;
        let open = |base| Trees::open(&context.workspace, journal.folder(), &run.id, Some(base));
        let trees = setup.base.map(open).transpose()?;
        let workers = Vec::from_iter(team.workers.into_iter().map(Arc::new));
        let slots = planned.iter().zip(&steps).map(|(task, step)| Slot {
            worker: workers.get(step.runner).cloned(),
            ..Slot::new(task.task_id)
        });
        let now = Instant::now();
        let mut threads = Threads::new();
        let tasks = planned.iter().map(|task| task.task_id).collect();
        threads.renew_claims(context.surroundings.clone(), tasks, setup.options.lease())?;
        Ok(Engine {
            slots: slots.collect(),
            scheduler: Scheduler::new(steps, rules, team.runner_jobs),
            recorder: Recorder {
                run,
                track: RunProjection::default(),
                journal,
                pending: Vec::new(),
                listener,
                looked: now,
            },
            context,
            threads,
            trees,
            queue: Queue::default(),
            options: setup.options,
            ambience: setup.ambience,
            preparation: None,
            inbox: Vec::new(),
            begun: now,
        })
    }

    /// Runs until nothing is left to do and returns the report. An error of cleo itself stops everything.
    pub(super) fn run(mut self, guard: Guard) -> Result<Report> {
        match self.turn_until_over() {
            Ok(()) => {
                // In this order, so that no signal comes between.
                drop(guard);
                let caught = signals::pending_signal();
                self.finish(caught)
            }
            Err(error) => Err(self.stop_on_error(error)),
        }
    }

    fn stop_on_error(mut self, error: Error) -> Error {
        let stops = self.slots.iter().filter_map(|slot| slot.stop.as_deref());
        stops.for_each(request_stop);
        self.threads.wait_until_idle();
        let _ = self.recorder.commit(&mut self.context.store);
        // Where it is cut short by Ctrl-C once more, or another process continues it, all stays as after a kill.
        let is_cut_short = error.is_cut_short() || error.code == Code::ClaimLost;
        for step in (0..self.slots.len()).filter(|_| !is_cut_short) {
            let epoch = self.slots[step].epoch.take();
            if epoch.is_some() && !self.recorder.track.tasks()[step].is_done() {
                // A claim that stays is recognized by its holder when the run resumes.
                let _ = claim::release(&mut self.context, self.slots[step].task, epoch, false);
            }
        }
        if !is_cut_short {
            let _ = self.release_remaining();
        }
        let resume = format!("cleo runs resume {}", quote(&self.recorder.run.id));
        error.or("resume the run", resume)
    }

    /// Lets the scheduler decide on the new events turn by turn, commits both in one transaction, and acts; later
    /// events are for the next turn.
    fn turn_until_over(&mut self) -> Result<()> {
        let mut claims = Vec::new();
        loop {
            let inbox = std::mem::take(&mut self.inbox);
            let decided = self.scheduler.handle_events(self.begun.elapsed(), inbox);
            for action in &decided {
                self.announce(action);
            }
            let is_idle = decided.is_empty() && claims.is_empty();
            if !self.commits_later(&decided, is_idle) {
                self.recorder.commit(&mut self.context.store)?;
            }
            claims = self.perform_all(decided, claims)?;
            self.run_queue()?;
            let is_idle = is_idle && self.inbox.is_empty();
            if is_idle && !self.is_due() && self.scheduler.is_over() {
                return Ok(());
            }
            self.wait(is_idle)?;
        }
    }

    /// Returns whether the pending events are committed with the tasks that are completed next, or with the events
    /// that come within a moment.
    fn commits_later(&mut self, decided: &[Action], is_idle: bool) -> bool {
        if self.recorder.pending.is_empty() {
            return false;
        }
        if is_idle {
            self.handle_updates(SETTLING);
            return !self.inbox.is_empty();
        }
        let is_late = |action: &Action| matches!(action, Action::Complete(_) | Action::Claim(_));
        self.trees.is_none() && decided.iter().all(is_late)
    }

    /// Carries actions out with the claims of the turn before, and returns the claims for the next turn: a task that
    /// fails when it is completed is given back before more is claimed, because others may wait for its files.
    fn perform_all(
        &mut self,
        mut actions: Vec<Action>,
        before: Vec<Action>,
    ) -> Result<Vec<Action>> {
        let is_claim = |action: &mut Action| matches!(action, Action::Claim(_));
        let is_complete = |action: &mut Action| matches!(action, Action::Complete(_));
        let claims: Vec<Action> = actions.extract_if(.., is_claim).collect();
        let completions: Vec<Action> = actions.extract_if(.., is_complete).collect();
        for action in actions.into_iter().chain(before) {
            self.perform_or_queue(action)?;
        }
        if self.trees.is_none() && !completions.is_empty() {
            self.complete_all(&completions)?;
            return Ok(claims);
        }
        // Merging runs commands, which must not delay other steps.
        for action in completions.into_iter().chain(claims) {
            self.perform_or_queue(action)?;
        }
        Ok(Vec::new())
    }

    fn finish(mut self, caught: Option<Code>) -> Result<Report> {
        let stop = self.scheduler.stop();
        for step in self
            .scheduler
            .list_never_started()
            .into_iter()
            .filter(|_| stop.is_none())
        {
            let skipped = TaskEvent::Skipped {
                reason: Some("it waits for tasks that wait for it".to_string()),
                caused_by: None,
            };
            self.recorder.push(skipped.for_task(self.slots[step].task));
        }
        let looked = self
            .recheck_completed()
            .and_then(|()| self.release_remaining());
        self.recorder.commit(&mut self.context.store)?;
        let Recorder { run, track, .. } = &mut self.recorder;
        run.status = report::status(track, stop);
        run.completed_at = Some(self.context.now());
        report::set_totals(run, track, self.begun.elapsed());
        let finished = report::finish_event(run);
        self.recorder.push(finished);
        self.recorder.commit_run(&mut self.context.store)?;
        let mut warnings = looked?;
        let tasks = self.recorder.track.tasks().iter().zip(&self.slots);
        let mut skipped = tasks.filter(|(task, _)| task.state == StepState::Skipped);
        let holder = skipped.find_map(|(_, slot)| match &slot.holder {
            Some(Holder::Dead(run)) => Some(run.as_str()),
            _ => None,
        });
        let (around, place) = (&self.context.surroundings, &self.context.workspace);
        let left = liveness::find_abandoned_runs(around, place, holder)?;
        let ending = Ending {
            stop,
            caught,
            spent: self.options.budget().filter(|_| self.scheduler.is_spent()),
            holder: left.into_iter().next(),
        };
        let mut report = Report::new(self.recorder.run, &self.recorder.track, &ending);
        warnings.extend(self.trees.into_iter().flat_map(|it| it.warnings.take()));
        report.warnings = warnings;
        Ok(report)
    }
}

/// Records that this user began the run, so that it can be resumed. Without a place for the record the run
/// goes ahead, and resuming it is refused later.
pub(super) fn record_owner(surroundings: &Surroundings, trust: &Trust, item: &Item) {
    if !surroundings.assignment.is_agent() {
        let _ = trust.trust(item, Registrant::User, &surroundings.clock);
    }
}
