//! Phases: their order, the one that the project is in, and how many tasks of each stand where.

use serde::Serialize;
use serde_json::json;

use super::Context;
use crate::error::{Code, Error, Result, nearest, quote};
use crate::phase::{Counts, Phase, PhaseStatus};
use crate::store::{Change, Filter, Transaction};
use crate::task::rules::{check_phase, check_text, check_word};
use crate::task::{Status, Task};

/// A phase with its tasks counted.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub struct Counted {
    /// The phase.
    #[serde(flatten)]
    pub phase: Phase,
    /// How many of its tasks stand where.
    pub counts: Counts,
    /// How many tasks it has.
    pub total: u64,
}

/// The phases in order.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Phases {
    /// The phases.
    pub phases: Vec<Counted>,
    /// How many there are.
    pub total: usize,
    /// The one that the project is in.
    pub current: Option<String>,
}

/// A phase with its tasks.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Shown {
    /// The phase.
    pub phase: Counted,
    /// Its tasks, by id.
    pub tasks: Vec<Task>,
}

/// A phase after a command.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub struct Kept {
    /// The phase.
    pub phase: Counted,
    /// False when nothing had to be done.
    pub changed: bool,
    /// What the caller should know.
    #[serde(skip)]
    pub warnings: Vec<String>,
}

/// What a phase is made of.
#[derive(Clone, Debug, Default)]
pub struct New {
    /// Its name in tasks.
    pub slug: String,
    /// Its name for people; the slug unless told.
    pub name: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// Its place; the last unless told.
    pub position: Option<u32>,
}

/// Reads all phases: those that were added, then those that only tasks name.
pub fn list(context: &mut Context) -> Result<Phases> {
    let phases = context.read(|transaction| all(transaction))?;
    let is_current = |phase: &&Counted| phase.phase.status == PhaseStatus::Active;
    let current = phases.iter().find(is_current);
    Ok(Phases {
        current: current.map(|phase| phase.phase.slug.clone()),
        total: phases.len(),
        phases,
    })
}

fn all(transaction: &dyn Transaction) -> Result<Vec<Counted>> {
    let mut counts = transaction.phase_counts()?;
    let mut phases = transaction.phases()?;
    for slug in counts.keys() {
        if !phases.iter().any(|phase| phase.slug == *slug) {
            phases.push(Phase::new(slug, free(&phases)));
        }
    }
    phases.sort_by_key(|phase| phase.position);
    let counted = phases.into_iter().map(|phase| {
        let counts = counts.remove(&phase.slug).unwrap_or_default();
        Counted {
            total: counts.values().sum(),
            counts,
            phase,
        }
    });
    Ok(counted.collect())
}

/// Returns the first place that no phase has. One that only tasks name has it, so that it stays before those that
/// began after it.
fn free(phases: &[Phase]) -> u32 {
    let is_free = |place: &u32| phases.iter().all(|phase| phase.position != *place);
    (1..).find(is_free).unwrap_or(u32::MAX)
}

fn after(phases: &[Phase]) -> u32 {
    let last = phases.iter().map(|phase| phase.position).max();
    last.unwrap_or(0).saturating_add(1)
}

/// Reads a phase, or the one that the project is in, with its tasks.
pub fn show(context: &mut Context, slug: Option<&str>) -> Result<Shown> {
    context.read(|transaction| {
        let phase = find(transaction, slug)?;
        let filter = Filter {
            phase: Some(phase.phase.slug.clone()),
            ..Filter::default()
        };
        let tasks = transaction.list(&filter)?.tasks;
        Ok(Shown { phase, tasks })
    })
}

fn find(transaction: &dyn Transaction, slug: Option<&str>) -> Result<Counted> {
    let phases = all(transaction)?;
    let found = phases.iter().find(|phase| match slug {
        Some(slug) => phase.phase.slug == slug,
        None => phase.phase.status == PhaseStatus::Active,
    });
    if let Some(found) = found {
        return Ok(found.clone());
    }
    let Some(slug) = slug else {
        let message = "the project is in no phase";
        return Err(Error::new(Code::PhaseNotFound, message).fix("cleo phase list"));
    };
    let error = Error::new(Code::PhaseNotFound, format!("there is no phase {slug}"));
    let names = phases.iter().map(|phase| phase.phase.slug.as_str());
    Err(match nearest(slug, names) {
        Some(name) => error.did_you_mean(name).fix("cleo phase list"),
        None => error
            .fix("cleo phase list")
            .or("add it", format!("cleo phase add -- {}", quote(slug))),
    })
}

/// Adds a phase, or describes one that only tasks name so far.
pub fn add(context: &mut Context, new: &New) -> Result<Kept> {
    check_phase(Some(&new.slug))?;
    check_word("name", new.name.as_deref())?;
    check_text(
        "description",
        new.description.as_deref().unwrap_or_default(),
    )?;
    context.write(|transaction| {
        let phases = transaction.phases()?;
        if phases.iter().any(|phase| phase.slug == new.slug) {
            let message = format!("there is a phase {} already", new.slug);
            let fix = format!("cleo phase show -- {}", quote(&new.slug));
            return Err(Error::new(Code::Exists, message).fix(fix));
        }
        let position = new.position.unwrap_or_else(|| after(&phases));
        make_room(transaction, phases, position)?;
        let mut phase = Phase::new(&new.slug, position);
        phase.name = new.name.clone().unwrap_or(phase.name);
        phase.description = new.description.clone().unwrap_or_default();
        keep(transaction, &phase, "phase-added")
    })
}

/// Moves phases on by one place, from a place that somebody else is to have.
fn make_room(transaction: &mut dyn Transaction, phases: Vec<Phase>, place: u32) -> Result<()> {
    if !phases.iter().any(|phase| phase.position == place) {
        return Ok(());
    }
    for mut phase in phases.into_iter().filter(|phase| phase.position >= place) {
        phase.position = phase.position.saturating_add(1);
        transaction.put_phase(&phase)?;
    }
    Ok(())
}

/// Makes a phase the one that the project is in; the one before is pending again.
pub fn set(context: &mut Context, slug: &str) -> Result<Kept> {
    let now = context.now();
    context.write(|transaction| {
        let phase = find(transaction, Some(slug))?;
        if phase.phase.status == PhaseStatus::Active {
            return Ok(unchanged(phase));
        }
        for mut other in transaction.phases()? {
            if other.status == PhaseStatus::Active {
                other.move_to(PhaseStatus::Pending, &now);
                keep(transaction, &other, "phase-left")?;
            }
        }
        begin(transaction, phase.phase, &now)
    })
}

/// Begins a phase, when the project is in no other.
pub fn start(context: &mut Context, slug: &str) -> Result<Kept> {
    let now = context.now();
    context.write(|transaction| {
        let phase = find(transaction, Some(slug))?;
        match phase.phase.status {
            PhaseStatus::Active => return Ok(unchanged(phase)),
            PhaseStatus::Completed => {
                let fix = format!("cleo phase set -- {}", quote(slug));
                return Err(refused(format!("{slug} is completed"), fix));
            }
            PhaseStatus::Pending => {}
        }
        let phases = transaction.phases()?;
        let active = phases
            .iter()
            .find(|phase| phase.status == PhaseStatus::Active);
        if let Some(other) = active {
            let message = format!("the project is in phase {}", other.slug);
            let leave = format!("cleo phase set -- {}", quote(slug));
            return Err(refused(
                message,
                format!("cleo phase complete -- {}", quote(&other.slug)),
            )
            .or("leave it as it is", leave));
        }
        begin(transaction, phase.phase, &now)
    })
}

fn begin(transaction: &mut dyn Transaction, mut phase: Phase, now: &str) -> Result<Kept> {
    phase.move_to(PhaseStatus::Active, now);
    keep(transaction, &phase, "phase-started")
}

/// Completes a phase. One with open tasks only by `force`.
pub fn complete(context: &mut Context, slug: Option<&str>, force: bool) -> Result<Kept> {
    let now = context.now();
    context.write(|transaction| {
        let counted = find(transaction, slug)?;
        if counted.phase.status == PhaseStatus::Completed {
            return Ok(unchanged(counted));
        }
        let closed = |status: &Status| matches!(status, Status::Done | Status::Cancelled);
        let open: u64 = counted
            .counts
            .iter()
            .filter(|(status, _)| !closed(status))
            .map(|(_, n)| n)
            .sum();
        let slug = counted.phase.slug.clone();
        let told = format!("{slug} has open tasks: {open}");
        if open > 0 && !force {
            let all_the_same = format!("cleo phase complete --force -- {}", quote(&slug));
            return Err(
                refused(told, format!("cleo phase show -- {}", quote(&slug)))
                    .or("complete it all the same", all_the_same),
            );
        }
        let mut phase = counted.phase;
        phase.move_to(PhaseStatus::Completed, &now);
        let mut kept = keep(transaction, &phase, "phase-completed")?;
        kept.warnings.extend((open > 0).then_some(told));
        Ok(kept)
    })
}

fn refused(message: String, fix: String) -> Error {
    Error::new(Code::StatusRefused, message).fix(fix)
}

fn unchanged(phase: Counted) -> Kept {
    Kept {
        phase,
        changed: false,
        warnings: Vec::new(),
    }
}

fn keep(transaction: &mut dyn Transaction, phase: &Phase, kind: &str) -> Result<Kept> {
    transaction.put_phase(phase)?;
    transaction.record(&Change {
        kind: kind.to_string(),
        task: None,
        detail: json!({"phase": phase.slug}),
    })?;
    Ok(Kept {
        phase: find(transaction, Some(&phase.slug))?,
        changed: true,
        warnings: Vec::new(),
    })
}
