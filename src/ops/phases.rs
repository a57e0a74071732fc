//! Phases: their order, the one that the project is in, and how many tasks of each stand where.

use serde::Serialize;
use serde_json::json;

use super::Context;
use crate::error::{Code, Error, Result, nearest, quote};
use crate::phase::{Counts, Phase, PhaseStatus};
use crate::store::{Change, Transaction};
use crate::task::Status;

/// A phase with its tasks counted.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Counted {
    /// The phase.
    #[serde(flatten)]
    pub(crate) phase: Phase,
    /// Number of its tasks by status.
    pub(crate) counts: Counts,
    /// Number of its tasks.
    pub(crate) total: u64,
}

/// The phases in order.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Phases {
    /// The phases.
    pub(crate) phases: Vec<Counted>,
    /// How many there are.
    pub(crate) total: usize,
    /// The one that the project is in.
    pub(crate) current: Option<String>,
}

/// A phase after a command.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Moved {
    /// The phase.
    pub(crate) phase: Counted,
    /// False when nothing had to be done.
    pub(crate) changed: bool,
    /// What the caller should know.
    #[serde(skip)]
    pub(crate) warnings: Vec<String>,
}

/// Reads all phases: those that have begun or were imported, and those that tasks name.
pub(crate) fn list(context: &mut Context) -> Result<Phases> {
    let phases = context.read(|transaction| read_all(transaction))?;
    let is_current = |phase: &&Counted| phase.phase.status == PhaseStatus::Active;
    let current = phases.iter().find(is_current);
    Ok(Phases {
        current: current.map(|phase| phase.phase.slug.clone()),
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
    let error = Error::new(Code::PhaseNotFound, format!("there is no phase {slug}"));
    let names = phases.iter().map(|phase| phase.phase.slug.as_str());
    let error = error.fix("cleo phase list");
    Err(match nearest(slug, names) {
        Some(name) => error.did_you_mean(name),
        None => error,
    })
}

/// Makes a phase the one that the project is in; the one before is pending again.
pub(crate) fn set(context: &mut Context, slug: &str) -> Result<Moved> {
    begin(context, slug, |transaction, _, now| {
        for mut other in transaction.phases()? {
            if other.status == PhaseStatus::Active {
                other.move_to(PhaseStatus::Pending, now);
                put(transaction, &other, "phase-left")?;
            }
        }
        Ok(())
    })
}

/// Begins a phase that is not completed, if the project is in no other.
pub(crate) fn start(context: &mut Context, slug: &str) -> Result<Moved> {
    begin(context, slug, |transaction, phase, _| {
        let set = format!("cleo phase set -- {}", quote(slug));
        if phase.status == PhaseStatus::Completed {
            let message = format!("{slug} is completed");
            return Err(Error::new(Code::StatusRefused, message).fix(set));
        }
        let mut others = transaction.phases()?.into_iter();
        let Some(other) = others.find(|phase| phase.status == PhaseStatus::Active) else {
            return Ok(());
        };
        let message = format!("the project is in phase {}", other.slug);
        let complete = format!("cleo phase complete -- {}", quote(&other.slug));
        let error = Error::new(Code::StatusRefused, message).fix(complete);
        Err(error.or("leave it as it is", set))
    })
}

fn begin(
    context: &mut Context,
    slug: &str,
    prepare: impl FnOnce(&mut dyn Transaction, &Phase, &str) -> Result<()>,
) -> Result<Moved> {
    let now = context.now();
    context.write(|transaction| {
        let found = find(transaction, Some(slug))?;
        if found.phase.status == PhaseStatus::Active {
            return Ok(unchanged(found));
        }
        prepare(transaction, &found.phase, &now)?;
        let mut phase = found.phase;
        phase.move_to(PhaseStatus::Active, &now);
        put(transaction, &phase, "phase-started")
    })
}

/// Completes a phase. One with open tasks only by `force`.
pub(crate) fn complete(context: &mut Context, slug: Option<&str>, force: bool) -> Result<Moved> {
    let now = context.now();
    context.write(|transaction| {
        let found = find(transaction, slug)?;
        if found.phase.status == PhaseStatus::Completed {
            return Ok(unchanged(found));
        }
        let is_closed = |status: &Status| matches!(status, Status::Done | Status::Cancelled);
        let counts = found.counts.iter();
        let open = counts
            .filter(|(status, _)| !is_closed(status))
            .map(|(_, n)| n);
        let open: u64 = open.sum();
        let mut phase = found.phase;
        let slug = quote(&phase.slug);
        let warning = format!("{} has open tasks: {open}", phase.slug);
        if open > 0 && !force {
            let error = Error::new(Code::StatusRefused, warning);
            let error = error.fix(format!("cleo list --phase={slug}"));
            let anyway = format!("cleo phase complete --force -- {slug}");
            return Err(error.or("complete it anyway", anyway));
        }
        phase.move_to(PhaseStatus::Completed, &now);
        let mut moved = put(transaction, &phase, "phase-completed")?;
        moved.warnings.extend((open > 0).then_some(warning));
        Ok(moved)
    })
}

fn unchanged(phase: Counted) -> Moved {
    Moved {
        phase,
        changed: false,
        warnings: Vec::new(),
    }
}

fn put(transaction: &mut dyn Transaction, phase: &Phase, kind: &str) -> Result<Moved> {
    transaction.put_phase(phase)?;
    transaction.record(&Change {
        kind: kind.to_string(),
        task: None,
        detail: json!({"phase": phase.slug}),
    })?;
    Ok(Moved {
        phase: find(transaction, Some(&phase.slug))?,
        changed: true,
        warnings: Vec::new(),
    })
}
