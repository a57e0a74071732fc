//! What entries of the manifest say has to follow and is not done yet.

use std::path::Path;

use serde::Serialize;

use super::few::{Few, cut};
use super::scope::Scope;
use crate::error::Result;
use crate::manifest::{Draft, Status, log};

/// Most entries that are kept.
const KEPT: usize = 12;
/// Most follow-ups of one entry that are shown.
const NEEDS_SHOWN: usize = 3;

/// An entry that something has to follow.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct Followup {
    pub(crate) entry: String,
    /// What has to follow: tasks, or `BLOCKED:` and the reason.
    pub(crate) needs: Vec<String>,
}

cut! { Followup: entry needs; }

/// Reads the open follow-ups of a scope, the newest first.
pub(super) fn open(manifest: &Path, scope: &Scope<'_>) -> Result<Few<Followup>> {
    let newest = log::newest(manifest, KEPT, |draft| is_open(scope, draft))?;
    let followups = newest.entries.into_iter().rev().map(|entry| {
        let needs = entry.needs_followup.iter().take(NEEDS_SHOWN);
        Followup {
            needs: needs.map(ToString::to_string).collect(),
            entry: entry.id,
        }
    });
    Ok(Few::new(followups.collect(), newest.total))
}

/// A follow-up is open while its task is; a reason while a task that the entry is linked to is.
fn is_open(scope: &Scope<'_>, draft: &Draft<'_>) -> Result<bool> {
    let has_any = draft.texts("needs_followup").next().is_some();
    if !has_any || draft.has_status(Status::Archived) || !scope.holds_entry(draft)? {
        return Ok(false);
    }
    let is_blocked = draft
        .texts("needs_followup")
        .any(|need| need.starts_with("BLOCKED:"));
    let asked = if is_blocked {
        "linked_tasks"
    } else {
        "needs_followup"
    };
    for (field, task) in draft.tasks() {
        if (field == "needs_followup" || field == asked) && scope.is_open(task)? {
            return Ok(true);
        }
    }
    Ok(false)
}
