//! The loop of a run: events go to the scheduler, its decisions are committed and then carried out, until
//! nothing is left to do.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::options::{DEPTH_MAX, Options};
use super::parts::release_all;
use super::queue::Queue;
use super::recorder::Recorder;
use super::report::{self, Report};
use super::scheduler::{Event, Scheduler};
use super::selection::Team;
use super::slot::Slot;
use super::threads::Threads;
use super::trees::Trees;
use super::{Listener, RunEnvironment, selection};
use crate::error::{Code, Error, Result, quote};
use crate::id;
use crate::ops::proof::has_earlier_work;
use crate::ops::runs::journal::Journal;
use crate::ops::runs::liveness::{RunLock, add_resume_hint};
use crate::ops::spawn::Preparation;
use crate::ops::trust::{Item, Registrant, Trust};
use crate::ops::{Context, Surroundings};
use crate::run::event::Base;
use crate::run::{Run, RunEvent, RunKind, RunProjection, StepState, TaskRun};
use crate::runner::signals::{self, Guard};

const COORDINATOR: &str = "cleo";

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
    mut options: Options,
    ambience: RunEnvironment,
    listener: &mut dyn Listener,
) -> Result<Report> {
    check_depth(&ambience)?;
    let user = surroundings.actor.clone();
    let mut context = Context::open(surroundings)?;
    let planned = selection::select_tasks(&mut context, &options.request)?;
    options.share_out(&planned);
    let mut team = selection::team(&mut context, planned, &options, &ambience)?;
    let criteria = std::mem::take(&mut team.acceptance).into_iter();
    for (task, acceptance) in team.planned.iter_mut().zip(criteria) {
        task.acceptance = acceptance;
    }
    let (workspace, clock) = (context.workspace.clone(), context.surroundings.clock);
    let trust = Trust::new(&context.surroundings, &workspace);
    trust.require(&team.items)?;
    // A repository without worktrees is refused before anything is done.
    let is_isolated = options.is_isolated();
    let base = is_isolated.then(|| Trees::require_startable(&workspace));
    let base = base.transpose()?;
    let number = context.read(|transaction| transaction.last_event())? + 1;
    let lock = RunLock::acquire(&workspace)?;
    let kind = match options.request.epic {
        Some(_) => RunKind::Epic,
        None => RunKind::Tasks,
    };
    let what = report::describe_request(&team.planned, &options.request);
    let run = Run {
        user,
        started_at: clock.timestamp(),
        owner: lock.name.clone(),
        agent: options.request.runner.clone(),
        ..Run::new(id::make_id("run", &clock, number), kind, COORDINATOR, what)
    };
    let stored = json!(options);
    let item = Item::run(&run.id, &stored, &team.planned);
    record_owner(&context.surroundings, &trust, &item);
    let started = RunEvent::Started {
        base: base.clone(),
        tasks: team.planned.clone(),
        options: Some(stored),
    };
    let guard = Guard::begin()?;
    let mut engine = Engine::open(context, team, options, ambience, run, base, listener)?;
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

impl<'a> Engine<'a> {
    pub(super) fn open(
        mut context: Context,
        team: Team,
        options: Options,
        ambience: RunEnvironment,
        run: Run,
        base: Option<Base>,
        listener: &'a mut dyn Listener,
    ) -> Result<Engine<'a>> {
        let Team { planned, steps, .. } = team;
        let criteria = planned
            .iter()
            .map(|task| (task.task_id, task.acceptance.clone()));
        context.surroundings.assignment.criteria = Arc::new(crate::build_map(criteria));
        // The run holds its tasks under its own id, which is unique.
        context.surroundings.actor.clone_from(&run.id);
        context.surroundings.judges_workspace = true;
        let clock = context.surroundings.clock;
        let journal = Journal::begin(&context.workspace, &run, clock, &mut context.store)?;
        let open = |base| Trees::open(&context.workspace, journal.folder(), &run.id, base);
        let trees = base.map(open).transpose()?;
        let workers = Vec::from_iter(team.workers.into_iter().map(Arc::new));
        let slots = planned.iter().zip(&steps).map(|(task, step)| {
            Ok(Slot {
                task: task.task_id,
                worker: workers.get(step.runner).cloned(),
                has_earlier_work: has_earlier_work(&mut context, task.task_id)?,
                ..Slot::default()
            })
        });
        let slots = slots.collect::<Result<Vec<Slot>>>()?;
        let now = Instant::now();
        let tasks = planned.iter().map(|task| task.task_id).collect();
        let threads = Threads::begin(context.surroundings.clone(), tasks, options.lease())?;
        Ok(Engine {
            slots,
            scheduler: Scheduler::new(steps, options.rules(), team.runner_jobs),
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
            options,
            ambience,
            preparation: None,
            inbox: Vec::new(),
            begun: now,
        })
    }

    /// Runs until nothing is left to do and returns the report. An error of cleo itself stops everything.
    pub(super) fn run(mut self, guard: Guard) -> Result<Report> {
        match self.turn_until_over() {
            Ok(()) => {
                drop(guard);
                self.finish()
            }
            Err(error) => Err(self.stop_on_error(error)),
        }
    }

    fn stop_on_error(mut self, error: Error) -> Error {
        self.slots.iter().for_each(Slot::request_stop);
        self.threads.wait_until_idle();
        let _ = self.recorder.commit(&mut self.context.store);
        // Where it is cut short by Ctrl-C once more, or another process continues it, all stays as after a kill.
        let is_cut_short = error.is_cut_short() || error.code == Code::ClaimLost;
        if !is_cut_short {
            // A claim that stays is recognized by its holder when the run resumes.
            let _ = release_all(&mut self.context, &self.recorder.run.id, |_| true);
        }
        let resume = format!("cleo runs resume {}", quote(&self.recorder.run.id));
        error.or("resume the run", resume)
    }

    /// Lets the scheduler decide on the new events turn by turn, commits both in one transaction, and acts; later
    /// events are for the next turn.
    fn turn_until_over(&mut self) -> Result<()> {
        loop {
            let inbox = std::mem::take(&mut self.inbox);
            let decided = self.scheduler.handle_events(self.begun.elapsed(), inbox);
            for action in &decided {
                self.announce(action);
            }
            self.recorder.commit(&mut self.context.store)?;
            let has_decided = !decided.is_empty();
            for action in decided {
                self.perform_or_queue(action)?;
            }
            self.run_queue()?;
            let is_idle = !has_decided && self.inbox.is_empty();
            if is_idle && !self.is_due() && self.scheduler.is_over() {
                return Ok(());
            }
            self.wait(is_idle)?;
        }
    }

    fn finish(mut self) -> Result<Report> {
        let stop = self.scheduler.stop();
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
        let spent = self.options.budget().filter(|_| self.scheduler.is_spent());
        let (context, track) = (&mut self.context, &self.recorder.track);
        let claims = context.read(|transaction| {
            let claim = |task: &TaskRun| transaction.claim(task.planned.task_id).ok()?;
            let tasks = track.tasks().iter();
            let skipped = tasks.filter(|task| task.state == StepState::Skipped);
            Ok(Vec::from_iter(skipped.filter_map(claim)))
        })?;
        let mut report = Report::new(self.recorder.run, &self.recorder.track, stop, spent);
        warnings.extend(self.trees.into_iter().flat_map(|it| it.warnings.take()));
        report.warnings = warnings;
        if let Some(error) = report.error.take_if(|_| stop.is_none()) {
            let holders = claims.iter().filter_map(|claim| claim.holder.as_deref());
            let holders = holders.filter(|holder| *holder != report.run.id);
            let (around, place) = (&self.context.surroundings, &self.context.workspace);
            report.error = Some(add_resume_hint(around, place, holders, error)?);
        }
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
