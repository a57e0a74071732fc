//! Cleaning the manifest of lines that do not count.

use serde::Serialize;

use crate::error::Result;
use crate::manifest::{Faulty, log};
use crate::ops::Context;
use crate::workspace::OUTPUT_DIR;

/// Where lines are moved to, beside the manifest.
const REJECTED: &str = "MANIFEST.rejected.jsonl";

/// What a compaction did.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Compaction {
    /// How many lines stay.
    pub(crate) kept: usize,
    /// What was moved, by line of the manifest before.
    pub(crate) rejected: Vec<Faulty>,
    /// How many lines were moved.
    pub(crate) total: usize,
    /// Where they are now, relative to the workspace root.
    pub(crate) file: String,
    /// True when nothing was moved.
    pub(crate) dry_run: bool,
}

/// Moves torn, foreign, overlong and repeated lines out of the manifest.
pub(crate) fn compact(context: &Context, dry_run: bool) -> Result<Compaction> {
    let file = format!("{OUTPUT_DIR}/{REJECTED}");
    let path = context.workspace.manifest()?;
    let rejected = context.workspace.confine(&file)?;
    let target = (!dry_run).then_some(rejected.as_path());
    let found = log::compact(&path, target, &context.now())?;
    Ok(Compaction {
        kept: found.kept,
        total: found.rejected.len(),
        rejected: found.rejected,
        file,
        dry_run,
    })
}
