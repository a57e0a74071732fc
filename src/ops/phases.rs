//! Phases: their order, the one that the project is in, and how many tasks of each stand where.

use serde::Serialize;
use serde_json::json;

use super::Context;
use super::operation::Nothing;
use crate::error::{Code, Error, Result, nearest, quote};
use crate::phase::{CompletePhase, Counts, Phase, PhaseStatus, StartPhase};
use crate::store::{Change, Transaction};
use crate::task::rules::is_slug;

/// A phase with its tasks counted.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Counted {
    #[serde(flatten)]
    pub(crate) phase: Phase,
    /// Number of its tasks by status.
    pub(crate) counts: Counts,
    pub(crate) total: u64,
}

/// The phases in order.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Phases {
    pub(crate) phases: Vec<Counted>,
    pub(crate) total: usize,
    /// The one that the project is in.
    pub(crate) current: Option<String>,
}

/// A phase after a command.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Moved {
    pub(crate) phase: Counted,
    /// False when nothing had to be done.
    pub(crate) changed: bool,
}

/// Reads all phases: those that have begun or were imported, and those that tasks name.
pub(crate) fn list(context: &mut Context, _: Nothing) -> Result<Phases> {
    let phases = context.read(read_all)?;
    let mut slugs = phases.iter().map(|counted| &counted.phase);
    let current = slugs.find(|phase| phase.status == PhaseStatus::Active);
    Ok(Phases {
        current: current.map(|phase| phase.slug.clone()),
        total: phases.len(),
        phases,
    })
}

/// A phase that only tasks name has the first free place, so that it stays before those that begin
/// after it.
fn read_all(transaction: &dyn Transaction) -> Result<Vec<Counted>> {
    let mut counts = transaction.phase_counts()?;
    let mut phases = transaction.phases()?;
    for slug in counts.keys() {
        if !phases.iter().any(|phase| phase.slug == *slug) {
            let is_free = |place: &u32| phases.iter().all(|phase| phase.position != *place);
            let place = (1..).find(is_free).unwrap_or(u32::MAX);
            phases.push(Phase::new(slug, place));
        }
    }
    phases.sort_by_key(|phase| phase.position);
    let counted = phases.into_iter().map(|phase| {
        let counts = counts.remove(&phase.slug).unwrap_or_default();
        let total = counts.values().sum();
        Counted {
            phase,
            counts,
            total,
        }
    });
    Ok(counted.collect())
}

/// Finds a phase, or the one that the project is in.
fn find(transaction: &dyn Transaction, slug: Option<&str>) -> Result<Counted> {
    let phases = read_all(transaction)?;
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
    let message = match is_slug(slug) {
        true => format!("there is no phase {slug}"),
        false => "there is no phase of this name".to_string(),
    };
    let error = Error::new(Code::PhaseNotFound, message).fix("cleo phase list");
    let names = phases.iter().map(|phase| phase.phase.slug.as_str());
    Err(match nearest(slug, names) {
        Some(name) => error.did_you_mean(name),
        None => error,
    })
}

/// Makes a phase the one that the project is in; the one before is pending again.
pub(crate) fn set(context: &mut Context, which: StartPhase) -> Result<Moved> {
    start_phase(context, &which.phase, true)
}

/// Begins a phase, which must not be completed, while the project is in none.
pub(crate) fn start(context: &mut Context, which: StartPhase) -> Result<Moved> {
    start_phase(context, &which.phase, false)
}

fn start_phase(context: &mut Context, slug: &str, leaves: bool) -> Result<Moved> {
    let now = context.now();
    context.write(|transaction| {
        let mut phase = match find(transaction, Some(slug))? {
            found if found.phase.status == PhaseStatus::Active => return Ok(no_move(found)),
            found => found.phase,
        };
        if phase.status == PhaseStatus::Completed && !leaves {
            let error = Error::new(Code::StatusRefused, format!("{slug} is completed"));
            return Err(error.fix(format!("cleo phase set -- {}", quote(slug))));
        }
        for mut other in transaction.phases()? {
            if other.status == PhaseStatus::Active {
                if !leaves {
                    let message = format!("the project is in phase {}", other.slug);
                    let complete = format!("cleo phase complete -- {}", quote(&other.slug));
                    let set = format!("cleo phase set -- {}", quote(slug));
                    let error = Error::new(Code::StatusRefused, message).fix(complete);
                    return Err(error.or("leave it as it is", set));
                }
                other.move_to(PhaseStatus::Pending, &now);
                put_phase(transaction, &other, "phase-left")?;
            }
        }
        phase.move_to(PhaseStatus::Active, &now);
        put_phase(transaction, &phase, "phase-started")
    })
}

/// Completes a phase. One with open tasks only by `force`.
pub(crate) fn complete(context: &mut Context, which: CompletePhase) -> Result<Moved> {
    let now = context.now();
    if which.force {
        let assignment = &context.surroundings.assignment;
        assignment.refuse_agent("completes no phase by force")?;
    }
    let (moved, warning) = context.write(|transaction| {
        let found = find(transaction, which.phase.as_deref())?;
        if found.phase.status == PhaseStatus::Completed {
            return Ok((no_move(found), None));
        }
        let open = found
            .counts
            .iter()
            .filter(|(status, _)| !status.is_closed());
        let open: u64 = open.map(|(_, count)| count).sum();
        let mut phase = found.phase;
        let warning = format!("{} has open tasks: {open}", phase.slug);
        if open > 0 && !which.force {
            let list = format!("cleo list --phase={}", quote(&phase.slug));
            return Err(Error::new(Code::StatusRefused, warning).fix(list));
        }
        phase.move_to(PhaseStatus::Completed, &now);
        let moved = put_phase(transaction, &phase, "phase-completed")?;
        Ok((moved, (open > 0).then_some(warning)))
    })?;
    context.notes.warn(warning);
    Ok(moved)
}

fn no_move(phase: Counted) -> Moved {
    Moved {
        phase,
        changed: false,
    }
}

fn put_phase(transaction: &mut dyn Transaction, phase: &Phase, kind: &str) -> Result<Moved> {
    transaction.put_phase(phase)?;
    transaction.record(&Change {
        kind: kind.to_string(),
        task: None,
        detail: json!({"phase": phase.slug}),
    })?;
    Ok(Moved {
        phase: find(transaction, Some(&phase.slug))?,
        changed: true,
    })
}
