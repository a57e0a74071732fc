//! Going on with a run whose process ended, and giving one up.

use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::engine::{Engine, Outset, check_depth};
use super::options::Options;
use super::prompt;
use super::report::Report;
use super::trees::Trees;
use super::{Ambience, Listener, selection};
use crate::error::{Code, Error, Result};
use crate::id::TaskId;
use crate::ops::runs::alive::{self, Alive};
use crate::ops::runs::{journal, no_run};
use crate::ops::{Context, Surroundings, claims};
use crate::run::board::Board;
use crate::run::told::{Planned, Told, kind};
use crate::run::{Event, RUN_FINISHED, Run, RunKind, RunStatus};
use crate::runner::orphans;
use crate::store::agency::Agency;
use crate::store::sqlite::SqliteAgency;
use crate::workspace::Workspace;

/// How long to wait until a run that is to end has ended.
const PATIENCE: Duration = Duration::from_secs(15);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// What was asked of a run that is to be given up.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancelled {
    /// The run as it stands.
    pub run: Run,
    /// How many processes of agents were ended that nobody looked after.
    pub orphans: usize,
    /// Tasks that were given back.
    pub released: Vec<TaskId>,
}

/// Goes on with a run that was interrupted, failed or was cancelled: what is done stays done, what its
/// agents left is verified, and what nobody looks after any more is ended.
pub fn resume(
    surroundings: Surroundings,
    id: &str,
    ambience: Ambience,
    listener: &mut dyn Listener,
) -> Result<Report> {
    check_depth(&ambience)?;
    let workspace = surroundings.workspace()?;
    let mut agency = opened(&workspace, &surroundings, id)?;
    mended(&workspace, &surroundings, &mut agency, id)?;
    let alive = Alive::begin(&workspace)?;
    let (run, was) = taken(&mut agency, id, &alive)?;
    let events = journal::events(&*agency.read()?, id)?;
    let (options, planned) = begun(&run, &events)?;
    let mut context = Context::open(surroundings)?;
    let outset = Outset {
        team: selection::team(&mut context, &planned, &options, &ambience)?,
        context,
        options,
        ambience,
        run,
        planned,
        alive,
    };
    let before = Board::of(&events);
    orphans::end(id, &workspace.root, &groups(&before));
    let mut engine = Engine::open(outset, agency, listener)?;
    engine.go_on(&events, was)?;
    engine.carry_out()
}

/// Opens the store of agents, in which there must be the run.
fn opened(workspace: &Workspace, surroundings: &Surroundings, id: &str) -> Result<SqliteAgency> {
    let mut agency = SqliteAgency::open(&workspace.agency())?.ok_or_else(|| no_run(id))?;
    alive::settle(&mut agency, workspace, &surroundings.clock)?;
    Ok(agency)
}

/// Mends the file of a run that nobody writes any more: its process may have ended between its last words
/// in the store and in the file.
fn mended(
    workspace: &Workspace,
    surroundings: &Surroundings,
    agency: &mut SqliteAgency,
    id: &str,
) -> Result<()> {
    let run = agency.read()?.run(id)?.ok_or_else(|| no_run(id))?;
    if run.is_over() && run.kind.resumes() {
        journal::Journal::begin(workspace, id, surroundings.clock, agency)?;
    }
    Ok(())
}

/// Takes over a run that nobody carries out. Of two that want it, one gets it.
fn taken(agency: &mut SqliteAgency, id: &str, alive: &Alive) -> Result<(Run, RunStatus)> {
    let mut transaction = agency.write()?;
    let mut run = transaction.run(id)?.ok_or_else(|| no_run(id))?;
    let was = run.status;
    let show = format!("cleo runs show {id}");
    let refuse = |message: String| Error::new(Code::StatusRefused, message).fix(show.clone());
    if !matches!(run.kind, RunKind::Epic | RunKind::Tasks) {
        return Err(refuse(format!(
            "{id} is a run of kind {}, which has no tasks to go on with",
            run.kind
        )));
    }
    match was {
        RunStatus::Running | RunStatus::Pending => {
            let cancel = format!("cleo runs cancel {id}");
            let error = refuse(format!("{id} is under way in another process"));
            return Err(error.or("have it end", cancel));
        }
        RunStatus::Completed => return Err(refuse(format!("{id} is completed already"))),
        RunStatus::Failed | RunStatus::Cancelled | RunStatus::Interrupted => {}
    }
    run.status = RunStatus::Running;
    run.owner = alive.name.clone();
    (run.completed_at, run.error) = (None, None);
    transaction.put_run(&run)?;
    transaction.commit()?;
    Ok((run, was))
}

/// Reads how a run was begun.
fn begun(run: &Run, events: &[Event]) -> Result<(Options, Vec<Planned>)> {
    let started = events.iter().find(|event| event.kind == kind::RUN_STARTED);
    let told = started
        .map(|event| Told::read(&event.detail))
        .unwrap_or_default();
    let options = told
        .options
        .and_then(|options| serde_json::from_value(options).ok());
    let options = options.ok_or_else(|| {
        let message = format!("nothing says how {} was to be carried out", run.id);
        Error::new(Code::InputInvalid, message).fix(format!("cleo runs show {}", run.id))
    })?;
    Ok((options, told.tasks))
}

fn groups(board: &Board) -> Vec<(u32, String)> {
    let groups = board.tasks().iter().filter_map(|task| task.group.clone());
    groups.collect()
}

impl Engine<'_> {
    /// Goes on where the events end.
    fn go_on(&mut self, events: &[Event], was: RunStatus) -> Result<()> {
        self.board = Board::of(events);
        let resumed = Told {
            again: Some(was != RunStatus::Interrupted),
            reason: Some(was.to_string()),
            ..Told::default()
        };
        self.tell(kind::RUN_RESUMED, resumed);
        self.keep_run()?;
        let _turn = match &self.trees {
            Some(trees) => Some(trees.turn()?),
            None => None,
        };
        for step in 0..self.tasks.len() {
            let task = self.board.tasks()[step].clone();
            self.machine.spent_before(task.cost.unwrap_or(0.0));
            self.slots[step].attempt = task.attempts;
            // What was wrong with them stays wrong until an agent ends with others.
            let words = self.last_words(step, task.ended, task.message.as_deref());
            self.slots[step].last_words = words;
            self.take_up(step, &task)?;
        }
        let told = match &self.trees {
            Some(trees) => swept(&mut self.context, trees, &self.tasks)?,
            None => Vec::new(),
        };
        for told in told {
            self.tell(kind::TASK_KEPT, told);
        }
        Ok(())
    }
}

/// Gives a run up. One that is under way is asked to end, and waited for a while; one that nobody
/// carries out is ended here.
pub fn cancel(surroundings: &Surroundings, id: &str) -> Result<Cancelled> {
    let workspace = surroundings.workspace()?;
    let mut agency = opened(&workspace, surroundings, id)?;
    let run = asked(&mut agency, surroundings, id)?;
    let begun = Instant::now();
    let mut run = run;
    while run.status == RunStatus::Running && begun.elapsed() < PATIENCE {
        thread::sleep(PAUSE);
        alive::settle(&mut agency, &workspace, &surroundings.clock)?;
        run = agency.read()?.run(id)?.ok_or_else(|| no_run(id))?;
    }
    match run.status {
        RunStatus::Interrupted | RunStatus::Failed => {
            settled(surroundings.clone(), &workspace, &mut agency, run)
        }
        _ => Ok(Cancelled {
            run,
            orphans: 0,
            released: Vec::new(),
        }),
    }
}

/// Writes the request down, for whoever carries the run out.
fn asked(agency: &mut SqliteAgency, surroundings: &Surroundings, id: &str) -> Result<Run> {
    let mut transaction = agency.write()?;
    let run = transaction.run(id)?.ok_or_else(|| no_run(id))?;
    let goes_on = matches!(
        run.status,
        RunStatus::Running | RunStatus::Pending | RunStatus::Interrupted | RunStatus::Failed
    );
    if !goes_on || !run.kind.resumes() {
        let message = match goes_on {
            true => format!(
                "{id} is a run of kind {}, which cannot be given up",
                run.kind
            ),
            false => format!("{id} is {} already", run.status),
        };
        let show = format!("cleo runs show {id}");
        return Err(Error::new(Code::StatusRefused, message).fix(show));
    }
    let told = Told {
        by: Some(surroundings.actor.clone()),
        ..Told::default()
    };
    let at = surroundings.clock.timestamp();
    transaction.add_event(id, &at, kind::RUN_CANCEL, &told.detail())?;
    transaction.commit()?;
    Ok(run)
}

/// Ends what a dead process left of a run.
fn settled(
    surroundings: Surroundings,
    workspace: &Workspace,
    agency: &mut SqliteAgency,
    mut run: Run,
) -> Result<Cancelled> {
    let events = journal::events(&*agency.read()?, &run.id)?;
    let groups = groups(&Board::of(&events));
    let orphans = orphans::end(&run.id, &workspace.root, &groups);
    let clock = surroundings.clock;
    let mut context = Context::open(Surroundings {
        actor: run.id.clone(),
        ..surroundings
    })?;
    let released = released(&mut context, &run.id)?;
    let kept = match begun(&run, &events) {
        Ok((Options { isolate: true, .. }, planned)) => ended(&mut context, &run.id, &planned)?,
        _ => Vec::new(),
    };
    run.status = RunStatus::Cancelled;
    run.completed_at = Some(clock.timestamp());
    run.error = Some("it was given up".to_string());
    let mut journal = journal::Journal::begin(workspace, &run.id, clock, agency)?;
    journal.record(agency, |journal, transaction| {
        transaction.put_run(&run)?;
        let mut kept = kept.iter();
        kept.try_for_each(|told| journal.tell(transaction, kind::TASK_KEPT, told.detail()))?;
        let told = Told {
            reason: Some(run.status.to_string()),
            ..Told::default()
        };
        journal.tell(transaction, RUN_FINISHED, told.detail())
    })?;
    Ok(Cancelled {
        run,
        orphans,
        released,
    })
}

/// Ends the worktrees of a run that is given up.
fn ended(context: &mut Context, run: &str, planned: &[Planned]) -> Result<Vec<Told>> {
    let folder = journal::place(&context.workspace, run)?;
    let trees = Trees::open(&context.workspace, &folder, run)?;
    let _turn = trees.turn()?;
    let tasks: Vec<TaskId> = planned.iter().map(|task| task.task_id).collect();
    swept(context, &trees, &tasks)
}

/// Ends the worktrees that a process left. What agents reported in them comes home where nobody has the task
/// by now, and everything else stays on branches. Returns what is to be told: of outputs that somebody else
/// has changed meanwhile, and of worktrees that have to be kept.
fn swept(context: &mut Context, trees: &Trees, tasks: &[TaskId]) -> Result<Vec<Told>> {
    let mut told = Vec::new();
    for task in tasks {
        let Some(tree) = trees.left(&task.to_string()) else {
            continue;
        };
        let claim = context.read(|transaction| transaction.claim(*task))?;
        if claim.is_none_or(|claim| claim.holder.is_none()) {
            told.extend(trees.report(&tree)?.iter().map(|clash| Told {
                reason: Some(prompt::told(clash)),
                ..Told::of(*task)
            }));
        }
    }
    told.extend(trees.sweep()?.into_iter().map(|(tree, error)| Told {
        task_id: tree.task(),
        worktree: Some(tree.place()),
        reason: Some(prompt::told(&error)),
        ..Told::default()
    }));
    Ok(told)
}

/// Gives back the tasks that a run holds.
fn released(context: &mut Context, holder: &str) -> Result<Vec<TaskId>> {
    let held = context.read(|transaction| transaction.claims_of(holder))?;
    for claim in &held {
        claims::release(context, claim.task, Some(claim.epoch), false)?;
    }
    Ok(held.into_iter().map(|claim| claim.task).collect())
}
