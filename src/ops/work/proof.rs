//! What an agent left for a task: its entry in the manifest, its file, and what is wrong with them.

use serde::Serialize;

use crate::error::Result;
use crate::file;
use crate::id::TaskId;
use crate::manifest::Entry;
use crate::ops::Context;
use crate::ops::manifest::{self, EntryId};
use crate::ops::tasks::One;
use crate::ops::verify::{Violation, found};

/// Most bytes of an output file that are shown.
const TEXT_MAX: u64 = 1 << 20;

/// What an agent left.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Left {
    pub(crate) task_id: TaskId,
    /// Id of the entry that is due.
    pub(crate) manifest_id: Option<String>,
    /// The file that is due, relative to the workspace root.
    pub(crate) output_file: Option<String>,
    pub(crate) entry: Option<Entry>,
    /// Number of its line in the manifest.
    pub(crate) line: Option<usize>,
    /// `pass` or `fail`.
    pub(crate) verdict: &'static str,
    /// Everything that is wrong.
    pub(crate) violations: Vec<Violation>,
    /// Digest of the file.
    pub(crate) output_digest: Option<String>,
    /// The text of the file; of a long one the beginning.
    pub(crate) text: Option<String>,
    /// How many bytes the file has.
    pub(crate) text_bytes: Option<u64>,
    /// When the prompt was prepared.
    pub(crate) spawned_at: Option<String>,
}

/// Looks at what the agent of a task left, and records nothing.
pub(crate) fn left(context: &mut Context, which: One) -> Result<Left> {
    let task = which.task;
    let verdict = found(context, task)?;
    let shown = verdict
        .manifest_id
        .as_deref()
        .and_then(|id| manifest::show(context, EntryId { id: id.to_string() }).ok());
    let (entry, line) = shown.map(|shown| (shown.entry, shown.line)).unzip();
    let (text, text_bytes) = text(context, verdict.output_file.as_deref()).unzip();
    Ok(Left {
        task_id: task,
        manifest_id: verdict.manifest_id,
        output_file: verdict.output_file,
        entry,
        line,
        verdict: verdict.verdict.verdict,
        violations: verdict.verdict.violations,
        output_digest: verdict.output_digest,
        text,
        text_bytes,
        spawned_at: verdict.spawned_at,
    })
}

/// Reads the beginning of a file of the workspace; none when it is not there, or no file of it.
fn text(context: &Context, file: Option<&str>) -> Option<(String, u64)> {
    let path = context.workspace.confine(file?).ok()?;
    let bytes = path.metadata().ok()?.len();
    let start = file::read_start(&path, TEXT_MAX).ok()?;
    Some((String::from_utf8_lossy(&start).into_owned(), bytes))
}
