//! Taking over the phases of a project.

use serde_json::json;

use crate::error::Result;
use crate::phase::{Phase, PhaseStatus};
use crate::store::{Change, Transaction};
use crate::transfer::report::Report;

/// Adds a phase at the place that it asks for, or the next free one. One that is here stays as it is
/// here, and the project stays in the phase that it is in.
pub(super) fn put(
    transaction: &mut dyn Transaction,
    mut phase: Phase,
    report: &mut Report,
) -> Result<()> {
    let here = transaction.phases()?;
    if here.iter().any(|other| other.slug == phase.slug) {
        report.phases.unchanged.push(phase.slug);
        return Ok(());
    }
    let is_taken = |place: u32| here.iter().any(|other| other.position == place);
    let free = (phase.position..u32::MAX).find(|place| !is_taken(*place));
    phase.position = free.unwrap_or(phase.position);
    let is_in_another = here.iter().any(|other| other.status == PhaseStatus::Active);
    if phase.status == PhaseStatus::Active && is_in_another {
        phase.status = PhaseStatus::Pending;
        report.phases.not_begun.push(phase.slug.clone());
    }
    transaction.put_phase(&phase)?;
    transaction.record(&Change {
        kind: "phase-added".to_string(),
        task: None,
        detail: json!({"phase": phase.slug}),
    })?;
    report.phases.added.push(phase.slug);
    Ok(())
}
