//! The loop of a run: what happened goes to the machine, what it decides is told and kept, and then
//! done, until nothing is left to do.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::crew::{Crew, halt};
use super::deeds::is_loss;
use super::machine::{Deed, Fact, Machine, Stop};
use super::options::{DEPTH_MAX, Options};
use super::report::{self, Report};
use super::selection::Team;
use super::staff::Worker;
use super::trees::{Tree, Trees};
use super::{Ambience, Listener, selection};
use crate::catalogue::Catalogue;
use crate::error::{Code, Error, Result};
use crate::id::{self, TaskId};
use crate::ops::complete::Required;
use crate::ops::runs::alive::Alive;
use crate::ops::runs::journal::Journal;
use crate::ops::spawn::Spawned;
use crate::ops::{Context, Surroundings, claims};
use crate::run::board::{Board, Planned, Told, kind};
use crate::run::{RUN_FINISHED, Run, RunKind};
use crate::runner::signals::Guard;
use crate::store::agency::{Agency, AgencyTransaction};
use crate::store::sqlite::SqliteAgency;

/// Who coordinates runs over tasks, as their records name it.
const COORDINATOR: &str = "cleo";
/// Longest sleep of the loop: how soon it sees that cleo is asked to end.
const PULSE: Duration = Duration::from_millis(100);
/// How often it looks whether somebody asks for the end of the run, and whether others got out of the
/// way.
const LOOK: Duration = Duration::from_millis(500);

/// What is known of a step beside what its events tell.
#[derive(Default)]
pub(super) struct Slot {
    /// The prompt, from when it is ready until its agent is started.
    pub(super) spawned: Option<Box<Spawned>>,
    /// What the next try is told instead of the prompt.
    pub(super) instead: Option<String>,
    /// The conversation that the next try goes on with.
    pub(super) resume: Option<String>,
    pub(super) epoch: Option<u32>,
    pub(super) attempt: u32,
    /// Ends the try that is under way.
    pub(super) stop: Option<Arc<AtomicBool>>,
    /// The worktree that it is worked on in.
    pub(super) tree: Option<Tree>,
    /// What a try said of itself, until it is judged.
    pub(super) said: Option<crate::runner::agent::Ended>,
    /// When it was last told what the agent does.
    pub(super) told: Option<Instant>,
}

/// A run under way.
pub(super) struct Engine<'a> {
    pub(super) context: Context,
    pub(super) agency: SqliteAgency,
    pub(super) journal: Journal,
    pub(super) board: Board,
    pub(super) machine: Machine,
    pub(super) crew: Crew,
    /// Where each task gets a worktree of its own, if it does.
    pub(super) trees: Option<Trees>,
    pub(super) workers: Vec<Worker>,
    /// The worker of each step, by its place.
    employed: Vec<usize>,
    pub(super) options: Options,
    pub(super) ambience: Ambience,
    pub(super) run: Run,
    pub(super) tasks: Vec<TaskId>,
    pub(super) places: HashMap<TaskId, usize>,
    pub(super) slots: Vec<Slot>,
    pub(super) required: Required,
    /// The skills and protocols, read once: all tasks of a run get them as they are when it begins.
    pub(super) catalogue: Option<Catalogue>,
    pub(super) facts: Vec<Fact>,
    told: Vec<(&'static str, Told)>,
    listener: &'a mut dyn Listener,
    guard: Option<Guard>,
    begun: Instant,
    looked: Instant,
    renewed: Instant,
    _alive: Alive,
}

/// Carries out the tasks of a selection, and returns what became of them.
pub fn run(
    surroundings: Surroundings,
    options: Options,
    ambience: Ambience,
    listener: &mut dyn Listener,
) -> Result<Report> {
    check_depth(&ambience)?;
    let mut engine = Engine::begin(surroundings, options, ambience, listener)?;
    engine.go()?;
    engine.finish()
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

/// What a run is carried out with.
pub(super) struct Outset {
    pub(super) context: Context,
    pub(super) team: Team,
    pub(super) options: Options,
    pub(super) ambience: Ambience,
    pub(super) run: Run,
    pub(super) planned: Vec<Planned>,
    pub(super) alive: Alive,
}

impl<'a> Engine<'a> {
    fn begin(
        surroundings: Surroundings,
        options: Options,
        ambience: Ambience,
        listener: &'a mut dyn Listener,
    ) -> Result<Engine<'a>> {
        let clock = surroundings.clock;
        let user = surroundings.actor.clone();
        let mut context = Context::open(surroundings)?;
        let planned = selection::plan(&mut context, &options.selection)?;
        let team = selection::team(&mut context, &planned, &options, &ambience)?;
        let workspace = context.workspace.clone();
        if options.isolate {
            // What makes worktrees impossible is told before anything is done.
            Trees::open(&workspace, &workspace.root, "")?;
        }
        let mut agency = SqliteAgency::open_or_create(&workspace.agency())?;
        let number = agency.read()?.last_event()? + 1;
        let alive = Alive::begin(&workspace)?;
        let run = Run {
            user,
            started_at: clock.timestamp(),
            owner: alive.name.clone(),
            agent: options.runner.clone(),
            ..Run::new(
                id::minted("run", &clock, number),
                kind_of(&options),
                COORDINATOR,
                report::told_of(&planned, &options),
            )
        };
        let started = Told {
            options: serde_json::to_value(&options).ok(),
            tasks: planned.clone(),
            ..Told::default()
        };
        let outset = Outset {
            context,
            team,
            options,
            ambience,
            run,
            planned,
            alive,
        };
        let mut engine = Engine::open(outset, agency, listener)?;
        engine.tell(kind::RUN_STARTED, started);
        engine.keep_run()?;
        Ok(engine)
    }

    /// Gets everything ready that a run needs, and does nothing of it yet.
    pub(super) fn open(
        outset: Outset,
        mut agency: SqliteAgency,
        listener: &'a mut dyn Listener,
    ) -> Result<Engine<'a>> {
        let Outset {
            mut context,
            team,
            run,
            planned,
            ..
        } = outset;
        // Who holds the tasks of a run: nobody else has this name.
        context.surroundings.actor.clone_from(&run.id);
        let clock = context.surroundings.clock;
        let Team {
            steps,
            workers,
            rules,
            ..
        } = team;
        let journal = Journal::begin(&context.workspace, &run.id, clock, &mut agency)?;
        let trees = match outset.options.isolate {
            true => Some(Trees::open(&context.workspace, journal.folder(), &run.id)?),
            false => None,
        };
        let tasks: Vec<TaskId> = planned.iter().map(|task| task.task_id).collect();
        let places = tasks.iter().enumerate();
        Ok(Engine {
            employed: steps.iter().map(|step| step.runner).collect(),
            machine: Machine::new(steps, rules),
            places: places.map(|(place, id)| (*id, place)).collect(),
            slots: tasks.iter().map(|_| Slot::default()).collect(),
            tasks,
            board: Board::default(),
            guard: Some(Guard::begin()?),
            context,
            agency,
            journal,
            crew: Crew::new(),
            trees,
            workers,
            options: outset.options,
            ambience: outset.ambience,
            run,
            required: None,
            catalogue: None,
            facts: Vec::new(),
            told: Vec::new(),
            listener,
            begun: Instant::now(),
            looked: Instant::now(),
            renewed: Instant::now(),
            _alive: outset.alive,
        })
    }

    /// Works until nothing is left to do.
    pub(super) fn go(&mut self) -> Result<()> {
        loop {
            self.turn()?;
            if self.machine.is_over() {
                return Ok(());
            }
            self.wait()?;
        }
    }

    /// Lets the machine decide on what happened, keeps both, and does what it says, until that leads
    /// to nothing new.
    fn turn(&mut self) -> Result<()> {
        loop {
            let facts = std::mem::take(&mut self.facts);
            let deeds = self.machine.turn(self.begun.elapsed(), facts);
            for deed in &deeds {
                self.announce(deed);
            }
            self.keep()?;
            if deeds.is_empty() && self.facts.is_empty() {
                return Ok(());
            }
            let is_end = |deed: &Deed| matches!(deed, Deed::Complete(_));
            let (ends, others): (Vec<Deed>, Vec<Deed>) = deeds.into_iter().partition(is_end);
            self.complete(&ends)?;
            for deed in others {
                self.perform(deed)?;
            }
        }
    }

    /// Tells what the machine decided, before it is done.
    fn announce(&mut self, deed: &Deed) {
        match deed {
            Deed::Start(step) => self.announce_start(*step),
            Deed::Wait(step, wait) => {
                let told = Told {
                    wait_ms: u64::try_from(wait.as_millis()).ok(),
                    ..self.of(*step)
                };
                self.tell(kind::TASK_WAITING, told);
            }
            Deed::Fail(step, outcome, why) => {
                let told = Told {
                    outcome: Some(*outcome),
                    reason: Some(why.clone()),
                    ..self.of(*step)
                };
                self.tell(kind::TASK_FAILED, told);
            }
            Deed::Skip(step, because, why) => {
                let told = Told {
                    because: because.map(|step| self.tasks[step]),
                    reason: Some(why.clone()),
                    ..Told::of(self.tasks[*step])
                };
                self.tell(kind::TASK_SKIPPED, told);
            }
            Deed::Halt(stop) => {
                let told = Told {
                    reason: Some(why(*stop).to_string()),
                    ..Told::default()
                };
                self.tell(kind::RUN_STOPPING, told);
            }
            Deed::Claim(_) | Deed::Check(_) | Deed::Complete(_) | Deed::Repair(_) => {}
        }
    }

    /// Begins what is told of a step and its try.
    pub(super) fn of(&self, step: usize) -> Told {
        Told {
            attempt: Some(self.slots[step].attempt).filter(|attempt| *attempt > 0),
            ..Told::of(self.tasks[step])
        }
    }

    pub(super) fn tell(&mut self, kind: &'static str, told: Told) {
        self.told.push((kind, told));
    }

    /// Keeps what was told, and lets whoever listens know.
    fn keep(&mut self) -> Result<()> {
        match self.told.is_empty() {
            true => Ok(()),
            false => self.keep_with(|_| Ok(())),
        }
    }

    /// Keeps the record of the run together with what was told.
    pub(super) fn keep_run(&mut self) -> Result<()> {
        let run = self.run.clone();
        self.keep_with(|transaction| transaction.put_run(&run))
    }

    fn keep_with(
        &mut self,
        more: impl FnOnce(&mut dyn AgencyTransaction) -> Result<()>,
    ) -> Result<()> {
        let told = std::mem::take(&mut self.told);
        let record = |journal: &mut Journal, transaction: &mut dyn AgencyTransaction| {
            more(transaction)?;
            let mut all = told.iter();
            all.try_for_each(|(kind, told)| journal.tell(transaction, kind, told.detail()))
        };
        let events = self.journal.record(&mut self.agency, record)?;
        for (event, (kind, told)) in events.iter().zip(&told) {
            self.board.take(kind, &event.at, told);
        }
        self.listener.tell(&events, &self.board);
        Ok(())
    }

    /// Waits until something happens or something is due.
    fn wait(&mut self) -> Result<()> {
        let now = self.begun.elapsed();
        let due = self.machine.wakes().map(|at| at.saturating_sub(now));
        for (step, attempt, heard) in self.crew.hear(due.unwrap_or(PULSE).min(PULSE)) {
            self.hear(step, attempt, heard);
        }
        self.listener.show(&self.board);
        self.heed()?;
        self.renew()
    }

    /// Looks whether the run is to end.
    fn heed(&mut self) -> Result<()> {
        if self
            .guard
            .as_ref()
            .is_some_and(|guard| guard.caught().is_some())
        {
            self.facts.push(Fact::Stop(Stop::Interrupted));
        }
        let limit = self.options.time_limit.map(Duration::from_secs);
        if limit.is_some_and(|limit| self.begun.elapsed() >= limit) {
            self.facts.push(Fact::Stop(Stop::TimeLimit));
        }
        if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            self.machine.stir();
            self.look()?;
        }
        Ok(())
    }

    /// Looks whether another process asks for the end of the run.
    fn look(&mut self) -> Result<()> {
        if self.journal.is_cancelled(&mut self.agency)? {
            self.facts.push(Fact::Stop(Stop::Cancelled));
        }
        Ok(())
    }

    /// Renews the leases of the tasks under way, well before they are over.
    fn renew(&mut self) -> Result<()> {
        if self.renewed.elapsed() < Duration::from_secs(self.options.lease) / 3 {
            return Ok(());
        }
        self.renewed = Instant::now();
        for step in self.machine.held() {
            let (task, epoch) = (self.tasks[step], self.slots[step].epoch);
            let beat =
                claims::heartbeat(&mut self.context, task, self.options.lease(), epoch, false);
            self.lost_by(step, beat.err())?;
        }
        Ok(())
    }

    /// Takes a refusal for what it is: the loss of a claim ends the try, and anything else the run.
    pub(super) fn lost_by(&mut self, step: usize, error: Option<Error>) -> Result<()> {
        let Some(error) = error else { return Ok(()) };
        if !is_loss(&error) {
            return Err(error);
        }
        if let Some(stop) = &self.slots[step].stop {
            halt(stop);
        }
        self.facts.push(Fact::Lost(step, error.message));
        Ok(())
    }

    /// Returns who works on a step; nobody works on an epic.
    pub(super) fn worker(&self, step: usize) -> Option<&Worker> {
        self.workers.get(self.employed[step])
    }

    /// Returns where the files of a try lie, without their ends.
    pub(super) fn raw(&self, step: usize) -> PathBuf {
        let name = format!("{}-{}", self.tasks[step], self.slots[step].attempt);
        self.journal.folder().join(name)
    }

    /// Keeps how the run ended, and returns what became of it.
    pub(super) fn finish(mut self) -> Result<Report> {
        let caught = self.guard.take().and_then(Guard::end);
        let stop = self.machine.stop();
        for step in self.machine.stuck().into_iter().filter(|_| stop.is_none()) {
            let told = Told {
                reason: Some("it waits for tasks that wait for it".to_string()),
                ..Told::of(self.tasks[step])
            };
            self.tell(kind::TASK_SKIPPED, told);
        }
        self.keep()?;
        self.run.status = report::status(&self.board, stop);
        self.run.completed_at = Some(self.context.now());
        report::total(&mut self.run, &self.board, self.begun.elapsed());
        let told = Told {
            reason: Some(self.run.status.to_string()),
            duration_ms: self.run.execution_time_ms,
            usage: self.run.usage,
            cost: self.run.cost,
            ..Told::default()
        };
        self.tell(RUN_FINISHED, told);
        self.keep_run()?;
        Ok(Report::new(self.run, &self.board, stop, caught))
    }
}

fn kind_of(options: &Options) -> RunKind {
    use super::Selection;
    match options.selection {
        Selection::Epic(_) | Selection::Wave(..) => RunKind::Epic,
        Selection::Tasks(_) | Selection::AllReady => RunKind::Tasks,
    }
}

fn why(stop: Stop) -> &'static str {
    match stop {
        Stop::Cancelled => "it was given up",
        Stop::Interrupted => "cleo was asked to end",
        Stop::TimeLimit => "it took too long",
    }
}
