//! Going on with a run whose process ended.

use super::engine::{Engine, Outset, check_depth};
use super::leaving::swept;
use super::options::{Options, Rest};
use super::report::{Report, resuming};
use super::taking_up::cut_off;
use super::trees::{Base, Trees};
use super::{Ambience, Listener, selection};
use crate::error::{Code, Error, Result, quote};
use crate::ops::runs::alive::{self, Alive};
use crate::ops::runs::{is_own, journal, no_run, require_own};
use crate::ops::trust::Trust;
use crate::ops::{Context, Surroundings};
use crate::run::spent::dollars;
use crate::run::told::{Planned, Told, kind};
use crate::run::track::{TaskRun, Track};
use crate::run::view::RunView;
use crate::run::{Event, Outcome, Run, RunKind, RunStatus};
use crate::runner::{orphans, signals};
use crate::store::agency::Agency;
use crate::store::sqlite::SqliteAgency;
use crate::workspace::Workspace;

/// Resumes a run that was interrupted, failed or cancelled: done steps stay done, left work is verified, and
/// leftover processes are ended. `rest` bounds the remaining work.
pub(crate) fn resume(
    surroundings: Surroundings,
    id: &str,
    rest: Rest,
    ambience: Ambience,
    listener: &mut dyn Listener,
) -> Result<Report> {
    check_depth(&ambience)?;
    if surroundings.assignment.run.as_deref() == Some(id) {
        let message = format!("an agent of {id} does not resume it");
        return Err(
            Error::new(Code::StatusRefused, message).fix(format!("cleo runs show {}", quote(id)))
        );
    }
    let workspace = surroundings.workspace()?;
    let mut agency = opened(&workspace, &surroundings, id)?;
    let run = agency.read()?.run(id)?.ok_or_else(|| no_run(id))?;
    if let Err(refused) = refuse_status(&run) {
        finish_journal(&workspace, &mut agency, &run)?;
        return Err(refused);
    }
    require_own(&surroundings, &workspace, &mut agency, &run)?;
    let mut context = Context::open(surroundings.clone())?;
    context.refuse_other_checkout()?;
    require_trust(&mut context, &mut agency, &run, &ambience)?;
    finish_journal(&workspace, &mut agency, &run)?;
    require_base(&workspace, &mut agency, id)?;
    let alive = Alive::begin(&workspace)?;
    // Of two that want the run, one gets it.
    let mut transaction = agency.write_records()?;
    let mut run = transaction.run(id)?.ok_or_else(|| no_run(id))?;
    let was = run.status;
    refuse_status(&run)?;
    alive.take(&mut run);
    transaction.put_run(&run)?;
    transaction.commit()?;
    let events = journal::events(&*agency.read()?, id)?;
    let (first, planned) = begun(&run, &events)?;
    let before = Track::read(&events);
    orphans::end(id, &workspace.root, &groups(&before));
    let mut ended = before.clone();
    let folder = journal::place(&workspace, id)?;
    let cut = cut_off(&folder, &mut ended, &surroundings.clock.timestamp());
    let options = rest.extend(first.clone(), spent(ended.tasks()));
    let is_new = options != first;
    let base = match options.isolate {
        true => {
            Some(recorded_base(&events).map_or_else(|| Trees::require_startable(&workspace), Ok)?)
        }
        false => None,
    };
    let outset = Outset {
        team: selection::team(&mut context, &planned, &options, &ambience)?,
        context,
        options,
        ambience,
        run,
        planned,
        alive,
        base,
    };
    let mut engine = Engine::open(outset, agency, listener)?;
    engine.track = before;
    for (kind, told) in cut {
        engine.tell(kind, told);
    }
    engine.keep()?;
    signals::shield(|| {
        engine.go_on(was, is_new, &events)?;
        engine.carry_out()
    })
}

pub(super) fn opened(
    workspace: &Workspace,
    surroundings: &Surroundings,
    id: &str,
) -> Result<SqliteAgency> {
    let mut agency = workspace.store_if_there()?.ok_or_else(|| no_run(id))?;
    alive::settle(&mut agency, workspace, &surroundings.clock)?;
    Ok(agency)
}

/// Finishes `events.jsonl` of a run that is over: the process may have died after the commit but before the
/// file write.
fn finish_journal(workspace: &Workspace, agency: &mut SqliteAgency, run: &Run) -> Result<()> {
    match run.is_over() && run.kind.resumes() {
        true => journal::catch_up(workspace, &run.id, agency),
        false => Ok(()),
    }
}

/// Refuses to resume a run with worktrees, before it is taken over, when the checkout is not on the branch on
/// which the run began, or git commits by other settings.
fn require_base(workspace: &Workspace, agency: &mut SqliteAgency, id: &str) -> Result<()> {
    let transaction = agency.read()?;
    let run = transaction
        .run(id)?
        .filter(|run| run.is_over() && run.kind.resumes());
    let Some(run) = run.filter(|run| run.status != RunStatus::Completed) else {
        return Ok(());
    };
    let events = journal::events(&*transaction, id)?;
    let Ok((Options { isolate: true, .. }, _)) = begun(&run, &events) else {
        return Ok(());
    };
    Trees::require_startable(workspace)?;
    let trees = Trees::open(workspace, &journal::place(workspace, id)?, id)?;
    let trees = trees.with_base(recorded_base(&events));
    trees.require_base()?;
    // No work could be merged, and its agents would be paid.
    trees.require_conversion(&workspace.root)
}

pub(super) fn recorded_base(events: &[Event]) -> Option<Base> {
    let told_of = |kind: &'static str| {
        let events = events.iter().filter(move |event| event.kind == kind);
        events.map(|event| Told::read(&event.detail))
    };
    let started = told_of(kind::RUN_STARTED).next()?;
    let mut made = told_of(kind::TASK_MERGED).filter_map(|told| told.commit);
    Some(Base {
        branch: started.branch,
        commit: made.next_back().or(started.commit)?,
        conversion: started.conversion,
    })
}

/// Refuses a run whose tasks would run what is not trusted, before it is taken over.
fn require_trust(
    context: &mut Context,
    agency: &mut SqliteAgency,
    run: &Run,
    ambience: &Ambience,
) -> Result<()> {
    let events = journal::events(&*agency.read()?, &run.id)?;
    let (options, planned) = begun(run, &events)?;
    let team = selection::team(context, &planned, &options, ambience)?;
    Trust::new(&context.surroundings, &context.workspace).require(&team.items)
}

/// Refuses a run that has no tasks to go on with, or with which nobody has to go on.
fn refuse_status(run: &Run) -> Result<()> {
    let id = &run.id;
    let show = format!("cleo runs show {}", quote(id));
    let refuse = |message: String| Error::new(Code::StatusRefused, message).fix(show.clone());
    if !matches!(run.kind, RunKind::Epic | RunKind::Tasks) {
        return Err(refuse(format!(
            "{id} is a run of kind {}, which has no tasks to resume",
            run.kind
        )));
    }
    match run.status {
        RunStatus::Running | RunStatus::Pending => {
            let cancel = format!("cleo runs cancel {}", quote(id));
            let error = refuse(format!("{id} is under way in another process"));
            Err(error.or("have it end", cancel))
        }
        RunStatus::Completed => Err(refuse(format!("{id} is completed already"))),
        RunStatus::Failed | RunStatus::Cancelled | RunStatus::Interrupted => Ok(()),
    }
}

pub(super) fn begun(run: &Run, events: &[Event]) -> Result<(Options, Vec<Planned>)> {
    let is_begin = |kind: &str| matches!(kind, kind::RUN_STARTED | kind::RUN_RESUMED);
    let begins = events.iter().filter(|event| is_begin(&event.kind));
    let mut told: Vec<Told> = begins.map(|event| Told::read(&event.detail)).collect();
    let options = told.iter_mut().rev().find_map(|told| told.options.take());
    let options = options.and_then(|options| serde_json::from_value(options).ok());
    let options = options.ok_or_else(|| {
        let message = format!("nothing says how {} was to be carried out", run.id);
        Error::new(Code::InputInvalid, message).fix(format!("cleo runs show {}", quote(&run.id)))
    })?;
    let first = told.into_iter().next().unwrap_or_default();
    Ok((options, first.tasks))
}

/// Returns the command that resumes a finished run, with a higher budget when it is spent. For a run of
/// another user it is the command that shows it.
pub(crate) fn way_on(surroundings: &Surroundings, shown: &RunView) -> String {
    let events = shown.events.as_deref().unwrap_or_default();
    let is_own = surroundings
        .workspace()
        .is_ok_and(|workspace| is_own(surroundings, &workspace, &shown.run.record, events));
    if !is_own {
        return "cleo trust".to_string();
    }
    let options = begun(&shown.run.record, events)
        .ok()
        .map(|(options, _)| options);
    let spent = spent(&shown.tasks);
    let is_spent = |options: &Options| options.rules.max_cost.is_some_and(|most| spent >= most);
    let spent_all = options.filter(is_spent);
    resuming(
        &shown.run.record,
        spent_all.and_then(|options| options.budget()),
    )
}

fn spent(tasks: &[TaskRun]) -> f64 {
    let costs = tasks.iter().filter_map(|task| task.spent.cost);
    costs.fold(0.0, |all, cost| dollars(all + cost.max(0.0)))
}

fn tried(task: &TaskRun) -> Option<Outcome> {
    // What was cut off, or not looked at any more, came to no end of its own.
    let last = task.outcome.filter(|outcome| *outcome != Outcome::Ok);
    (task.attempts > 0).then(|| last.unwrap_or(Outcome::Cancelled))
}

pub(super) fn groups(track: &Track) -> Vec<(u32, String)> {
    let groups = track.tasks().iter().filter_map(|task| task.group.clone());
    groups.collect()
}

impl Engine<'_> {
    /// Goes on from where the tasks stand. `is_new` says that the run gets new bounds.
    fn go_on(&mut self, was: RunStatus, is_new: bool, events: &[Event]) -> Result<()> {
        let tried: Vec<Option<Outcome>> = self.track.tasks().iter().map(tried).collect();
        let options = is_new.then(|| serde_json::to_value(&self.options).ok());
        let resumed = Told {
            again: Some(was != RunStatus::Interrupted),
            reason: Some(was.to_string()),
            options: options.flatten(),
            ..Told::default()
        };
        self.tell(kind::RUN_RESUMED, resumed);
        self.keep_run()?;
        let _turn = match &self.trees {
            Some(trees) => Some(trees.turn()?),
            None => None,
        };
        for (step, tried) in tried.into_iter().enumerate() {
            let task = self.track.tasks()[step].clone();
            self.machine.spent_before(task.spent.cost.unwrap_or(0.0));
            if let Some(outcome) = tried {
                self.machine.tried_before(step, outcome);
            }
            self.slots[step].attempt = task.attempts;
            // What was wrong with them stays wrong until an agent ends with others.
            let words = self.last_words(step, task.ended, task.message.as_deref());
            self.slots[step].last_words = words;
            self.take_up(step, &task)?;
        }
        let told = match &self.trees {
            // What is not proven yet stays where it is.
            Some(trees) if signals::asked_to_end().is_none() => {
                swept(&mut self.context, trees, &self.track, events)?
            }
            _ => Vec::new(),
        };
        for told in told {
            self.tell(kind::TASK_KEPT, told);
        }
        Ok(())
    }
}
