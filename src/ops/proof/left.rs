//! The entry and the output file that the agent of a task left, and their violations.

use serde::Serialize;

use super::{OutputVerdict, check_task_output};
use crate::error::Result;
use crate::file;
use crate::manifest::Entry;
use crate::ops::Context;
use crate::ops::manifest::{self, EntryId};
use crate::ops::tasks::One;

/// Most bytes of an output file that are shown.
const TEXT_MAX: u64 = 1 << 20;

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Left {
    #[serde(flatten)]
    pub(crate) found: OutputVerdict,
    pub(crate) entry: Option<Entry>,
    /// Number of its line in the manifest.
    pub(crate) line: Option<usize>,
    /// The text of the file; of a long one the beginning.
    pub(crate) text: Option<String>,
    /// How many bytes the file has.
    pub(crate) text_bytes: Option<u64>,
}

/// Looks at what the agent of a task left, and records nothing.
pub(crate) fn read_left(context: &mut Context, which: One) -> Result<Left> {
    let found = check_task_output(context, which.task)?;
    let id = found.manifest_id.clone();
    let shown = id.and_then(|id| manifest::show(context, EntryId { id }).ok());
    let (entry, line) = shown.map(|shown| (shown.entry, shown.line)).unzip();
    let (text, text_bytes) = read_beginning(context, found.output_file.as_deref()).unzip();
    Ok(Left {
        found,
        entry,
        line,
        text,
        text_bytes,
    })
}

/// Reads the beginning of a file of the workspace; none when it is not there, or no file of it.
fn read_beginning(context: &Context, file: Option<&str>) -> Option<(String, u64)> {
    let path = context.workspace.confine(file?).ok()?;
    let bytes = path.metadata().ok()?.len();
    let start = file::read_start(&path, TEXT_MAX).ok()?;
    Some((String::from_utf8_lossy(&start).into_owned(), bytes))
}
