//! The loop of a run: events go to the state machine, its decisions are committed and then carried out, until
//! nothing is left to do.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde_json::Value;

use super::machine::{Action, Event, Machine};
use super::options::{DEPTH_MAX, Options, Selection};
use super::queue::Queue;
use super::report::{self, Ending, Report};
use super::selection::{Team, Worker};
use super::threads::{Threads, request_stop};
use super::trees::{Base, Tree, Trees};
use super::{Ambience, Listener, selection};
use crate::error::{Code, Error, Result, quote};
use crate::id::{self, TaskId};
use crate::ops::proof::is_cut_short;
use crate::ops::runs::journal::{self, Journal};
use crate::ops::runs::liveness::{self, RunLock};
use crate::ops::spawn::{Preparation, Spawned};
use crate::ops::tasks::claim;
use crate::ops::trust::{Item, Registrant, Trust};
use crate::ops::{Context, Surroundings};
use crate::run::Planned;
use crate::run::{Run, RunEvent, RunKind, TaskEvent};
use crate::run::{RunProjection, StepState};
use crate::runner::signals::{self, Guard};

const COORDINATOR: &str = "cleo";

/// The part of a step that its events do not tell.
#[derive(Default)]
pub(super) struct Slot {
    /// The prompt, until its agent is started.
    pub(super) spawned: Option<Box<Spawned>>,
    /// The prompt of its last agent.
    pub(super) given: Option<Box<Spawned>>,
    /// What the next try is told instead of the prompt.
    pub(super) instead: Option<String>,
    pub(super) resume: Option<String>,
    pub(super) epoch: Option<u32>,
    pub(super) attempt: u32,
    /// Ends the attempt under way.
    pub(super) stop: Option<Arc<AtomicBool>>,
    pub(super) tree: Option<Tree>,
    /// The result of an attempt, until it is judged.
    pub(super) said: Option<crate::run::event::AgentEnd>,
    /// The last message of an agent that came to its end, as far as it can be known.
    pub(super) last_words: Option<String>,
    /// Why its commands have not been run to their end since its agent ended.
    pub(super) unproven: Option<Error>,
    /// The run that holds its task and that nobody carries out any more.
    pub(super) left_by: Option<String>,
    /// Whether an event told that another run works on it.
    pub(super) is_awaited: bool,
    /// When an event told last what its agent does.
    pub(super) progress_at: Option<Instant>,
}

pub(super) struct Engine<'a> {
    pub(super) context: Context,
    pub(super) journal: Journal,
    pub(super) track: RunProjection,
    pub(super) machine: Machine,
    pub(super) threads: Threads,
    pub(super) trees: Option<Trees>,
    pub(super) queue: Queue,
    pub(super) workers: Vec<Worker>,
    /// The worker of each step, by its place.
    employed: Vec<usize>,
    pub(super) options: Options,
    pub(super) ambience: Ambience,
    pub(super) run: Run,
    pub(super) tasks: Vec<TaskId>,
    pub(super) places: HashMap<TaskId, usize>,
    pub(super) slots: Vec<Slot>,
    /// The skills and protocols, read once: all tasks of a run get them as they are when it begins.
    pub(super) preparation: Option<Preparation>,
    pub(super) inbox: Vec<Event>,
    /// Events that are not committed yet.
    pub(super) pending: Vec<RunEvent>,
    pub(super) listener: &'a mut dyn Listener,
    pub(super) guard: Option<Guard>,
    pub(super) begun: Instant,
    pub(super) looked: Instant,
    pub(super) renewed: Instant,
    _lock: RunLock,
}

pub(crate) fn run(
    surroundings: Surroundings,
    options: Options,
    ambience: Ambience,
    listener: &mut dyn Listener,
) -> Result<Report> {
    check_depth(&ambience)?;
    let engine = Engine::begin(surroundings, options, ambience, listener)?;
    signals::shield(|| engine.carry_out())
}

pub(super) fn check_depth(ambience: &Ambience) -> Result<()> {
    if ambience.depth < DEPTH_MAX {
        return Ok(());
    }
    let message = format!(
        "this cleo was called by an agent {} runs deep; no more than {DEPTH_MAX} may be nested",
        ambience.depth
    );
    Err(Error::new(Code::RunNested, message).fix("cleo runs list --status running"))
}

/// Notes the criteria that each task has now: they count in the run, also after it is resumed.
fn pin_criteria(context: &mut Context, planned: &mut [Planned]) -> Result<()> {
    context.read(|transaction| {
        for one in planned {
            let task = transaction.task(one.task_id)?;
            one.acceptance = task.map(|task| task.acceptance).unwrap_or_default();
        }
        Ok(())
    })
}

pub(super) struct Setup {
    pub(super) context: Context,
    pub(super) team: Team,
    pub(super) options: Options,
    pub(super) ambience: Ambience,
    pub(super) run: Run,
    pub(super) planned: Vec<Planned>,
    pub(super) lock: RunLock,
    pub(super) base: Option<Base>,
}

impl<'a> Engine<'a> {
    fn begin(
        surroundings: Surroundings,
        mut options: Options,
        ambience: Ambience,
        listener: &'a mut dyn Listener,
    ) -> Result<Engine<'a>> {
        let clock = surroundings.clock;
        let user = surroundings.actor.clone();
        let mut context = Context::open(surroundings)?;
        let mut planned = selection::plan(&mut context, &options.selection)?;
        pin_criteria(&mut context, &mut planned)?;
        options
            .rules
            .share_out(planned.iter().filter(|task| !task.is_epic).count());
        let team = selection::team(&mut context, &planned, &options, &ambience)?;
        let workspace = context.workspace.clone();
        let trust = Trust::new(&context.surroundings, &workspace);
        trust.require(&team.items)?;
        let base = match options.isolate {
            // What makes worktrees impossible is told before anything is done.
            true => Some(Trees::require_startable(&workspace)?),
            false => None,
        };
        if let Some(base) = &base {
            Trees::probe(&workspace, base)?;
        }
        let number = context.read(|transaction| transaction.last_event())? + 1;
        let lock = RunLock::acquire(&workspace)?;
        let run = Run {
            user,
            started_at: clock.timestamp(),
            owner: lock.name.clone(),
            agent: options.runner.clone(),
            ..Run::new(
                id::mint("run", &clock, number),
                match options.selection {
                    Selection::Epic(_) | Selection::Wave(..) => RunKind::Epic,
                    Selection::Tasks(_) | Selection::AllReady => RunKind::Tasks,
                },
                COORDINATOR,
                report::describe_request(&planned, &options),
            )
        };
        if base.is_some() {
            let folder = journal::place(&workspace, &run.id)?;
            Trees::open(&workspace, &folder, &run.id)?.require_unused()?;
        }
        let stored = serde_json::to_value(&options).ok();
        record_owner(&context.surroundings, &trust, &run.id, stored.as_ref());
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
            lock,
            base,
        };
        let mut engine = Engine::open(setup, listener)?;
        engine.tell(started);
        engine.keep_run()?;
        Ok(engine)
    }

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
        // Who holds the tasks of a run: nobody else has this name.
        context.surroundings.actor.clone_from(&run.id);
        context.surroundings.judges_workspace = true;
        let clock = context.surroundings.clock;
        let (steps, rules) = (team.steps, setup.options.rules.clone());
        let journal = Journal::begin(&context.workspace, &run.id, clock, &mut context.store)?;
        let trees = match setup.base {
            Some(base) => {
                let trees = Trees::open(&context.workspace, journal.folder(), &run.id)?;
                Some(trees.with_base(Some(base)))
            }
            None => None,
        };
        let tasks: Vec<TaskId> = planned.iter().map(|task| task.task_id).collect();
        let places = tasks.iter().enumerate();
        Ok(Engine {
            employed: steps.iter().map(|step| step.runner).collect(),
            machine: Machine::new(steps, rules, team.runner_jobs),
            places: places.map(|(place, id)| (*id, place)).collect(),
            slots: tasks.iter().map(|_| Slot::default()).collect(),
            tasks,
            track: RunProjection::default(),
            guard: Some(Guard::begin()?),
            context,
            journal,
            threads: Threads::new(),
            trees,
            queue: Queue::default(),
            workers: team.workers,
            options: setup.options,
            ambience: setup.ambience,
            run,
            preparation: None,
            inbox: Vec::new(),
            pending: Vec::new(),
            listener,
            begun: Instant::now(),
            looked: Instant::now(),
            renewed: Instant::now(),
            _lock: setup.lock,
        })
    }

    /// Runs until nothing is left to do and returns the report. An error of cleo itself stops everything.
    pub(super) fn carry_out(mut self) -> Result<Report> {
        match self.go() {
            Ok(()) => self.finish(),
            Err(error) => Err(self.abandon(error)),
        }
    }

    fn abandon(mut self, error: Error) -> Error {
        let stops = self.slots.iter().filter_map(|slot| slot.stop.as_deref());
        stops.for_each(request_stop);
        self.threads.settle();
        // Where it is cut short by Ctrl-C once more, all stays as after a kill.
        let is_cut_short = is_cut_short(&error);
        for step in (0..self.tasks.len()).filter(|_| !is_cut_short) {
            let epoch = self.slots[step].epoch.take();
            if epoch.is_some() && !self.track.tasks()[step].is_done() {
                // One that stays is known by its holder when the run is gone on with.
                let _ = claim::release(&mut self.context, self.tasks[step], epoch, false);
            }
        }
        if !is_cut_short {
            let _ = self.give_back_left();
        }
        let resume = format!("cleo runs resume {}", quote(&self.run.id));
        error.or("resume the run", resume)
    }

    /// Runs until nothing is left to do. Each turn lets the machine decide on the new events, commits both in
    /// one transaction, and carries the decisions out; later events are for the next turn.
    fn go(&mut self) -> Result<()> {
        let mut decided = Vec::new();
        loop {
            let inbox = std::mem::take(&mut self.inbox);
            decided.extend(self.machine.turn(self.begun.elapsed(), inbox));
            for action in &decided {
                self.announce(action);
            }
            self.keep()?;
            let is_idle = decided.is_empty();
            decided = self.act(decided)?;
            self.run_queue()?;
            let is_idle = is_idle && decided.is_empty() && self.inbox.is_empty();
            if is_idle && !self.is_due() && self.machine.is_over() {
                return Ok(());
            }
            self.wait(is_idle)?;
        }
    }

    /// Carries actions out, and returns those for the next turn: what fails when it is completed is given back before
    /// more is claimed, because others may wait for its files.
    fn act(&mut self, mut actions: Vec<Action>) -> Result<Vec<Action>> {
        let is_claim = |action: &mut Action| matches!(action, Action::Claim(_));
        let is_complete = |action: &mut Action| matches!(action, Action::Complete(_));
        let claims: Vec<Action> = actions.extract_if(.., is_claim).collect();
        let completions: Vec<Action> = actions.extract_if(.., is_complete).collect();
        for action in actions {
            self.perform_or_queue(action)?;
        }
        if self.trees.is_none() && !completions.is_empty() {
            self.complete_all(&completions)?;
            return Ok(claims);
        }
        // Work is brought home by commands, which nobody else is to be kept waiting for.
        for action in completions.into_iter().chain(claims) {
            self.perform_or_queue(action)?;
        }
        Ok(Vec::new())
    }

    /// Returns the dead run that holds what was therefore not begun.
    fn left_by(&self) -> Option<String> {
        let slots = self.track.tasks().iter().zip(&self.slots);
        let mut left = slots.filter(|(task, _)| task.state == StepState::Skipped);
        left.find_map(|(_, slot)| slot.left_by.clone())
    }

    pub(super) fn worker(&self, step: usize) -> Option<&Worker> {
        self.workers.get(self.employed[step])
    }

    pub(super) fn raw(&self, step: usize) -> PathBuf {
        let name = format!("{}-{}", self.tasks[step], self.slots[step].attempt);
        self.journal.folder().join(name)
    }

    pub(super) fn finish(mut self) -> Result<Report> {
        // In this order, so that no signal comes between.
        drop(self.guard.take());
        let caught = signals::pending_signal();
        let stop = self.machine.stop();
        for step in self.machine.stuck().into_iter().filter(|_| stop.is_none()) {
            let skipped = TaskEvent::Skipped {
                reason: Some("it waits for tasks that wait for it".to_string()),
                caused_by: None,
            };
            self.tell(skipped.for_task(self.tasks[step]));
        }
        let looked = self.look_again().and_then(|()| self.give_back_left());
        self.keep()?;
        self.run.status = report::status(&self.track, stop);
        self.run.completed_at = Some(self.context.now());
        report::total(&mut self.run, &self.track, self.begun.elapsed());
        self.tell(report::finish_event(&self.run));
        self.keep_run()?;
        let mut warnings = looked?;
        let surroundings = &self.context.surroundings;
        let left_by = self.left_by();
        let left = liveness::find_abandoned_runs(
            surroundings,
            &self.context.workspace,
            left_by.as_deref(),
        )?;
        let holder = left.into_iter().next();
        let ending = Ending {
            stop,
            caught,
            spent: self.options.budget().filter(|_| self.machine.is_spent()),
            holder,
        };
        let mut report = Report::new(self.run, &self.track, &ending);
        warnings.extend(self.trees.into_iter().flat_map(|it| it.warnings.take()));
        report.warnings = warnings;
        Ok(report)
    }
}

/// Records that this user began the run, so that it can be resumed. Without a place for the record the run
/// goes ahead, and resuming it is refused later.
fn record_owner(surroundings: &Surroundings, trust: &Trust, id: &str, options: Option<&Value>) {
    if let Some(options) = options.filter(|_| !surroundings.assignment.is_agent()) {
        let item = Item::run(id, options);
        let _ = trust.give(&item, Registrant::User, &surroundings.clock);
    }
}
