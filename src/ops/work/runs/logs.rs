//! The events of a run, and the output of its agents.

use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::error::Result;
use crate::file::read_start;
use crate::id::TaskId;
use crate::ops::Surroundings;
use crate::ops::runs::{journal, no_run, open_after_recovery};
use crate::run::Line;
use crate::run::log::{self, LOG_MAX, Stream};
use crate::store::Store;

/// Most bytes of one output that are shown: its end.
const OUTPUT_MAX: usize = 1 << 20;

/// The events of a run.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Logged {
    pub(crate) events: Vec<Line>,
    /// Output of agents, by task and attempt; left out unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outputs: Option<Vec<Output>>,
    /// How many events there are.
    pub(crate) total: usize,
}

/// Output of one attempt.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    pub(crate) task_id: TaskId,
    /// Its number, from 1.
    pub(crate) attempt: u32,
    /// Standard output, `out`, or standard error, `err`.
    pub(crate) stream: Stream,
    /// The log that holds it, a JSON line for each line, relative to the workspace root.
    pub(crate) file: String,
    pub(crate) bytes: usize,
    /// Its text; of a long one the end.
    pub(crate) text: String,
}

pub(crate) fn logs(
    surroundings: &Surroundings,
    id: &str,
    task: Option<TaskId>,
    raw: bool,
) -> Result<Logged> {
    let workspace = surroundings.workspace()?;
    let mut store =
        open_after_recovery(&workspace, &surroundings.clock)?.ok_or_else(|| no_run(id))?;
    let transaction = store.read()?;
    transaction.run(id)?.ok_or_else(|| no_run(id))?;
    let events = journal::events(&*transaction, id)?;
    let wanted = task.map(|task| task.to_string());
    let lines = events.iter().map(Line::from);
    let lines = lines.filter(|line| wanted.is_none() || line.task_id == wanted);
    let events: Vec<Line> = lines.collect();
    let folder = journal::run_folder(&workspace, id)?;
    let outputs = raw.then(|| outputs(&workspace.root, &folder, task));
    Ok(Logged {
        total: events.len(),
        events,
        outputs: outputs.transpose()?,
    })
}

fn outputs(root: &Path, folder: &Path, task: Option<TaskId>) -> Result<Vec<Output>> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let mut outputs = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some((id, attempt)) = name.to_str().and_then(parse_name) else {
            continue;
        };
        let is_wanted = task.is_none_or(|task| task == id);
        if !is_wanted || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let log = read_start(&path, LOG_MAX)?;
        let file = path.strip_prefix(root).unwrap_or(&path);
        for stream in Stream::ALL.iter().copied() {
            let mut text = log::join_stream(&log, stream);
            let bytes = text.len();
            text.drain(..text.ceil_char_boundary(bytes.saturating_sub(OUTPUT_MAX)));
            outputs.push(Output {
                task_id: id,
                attempt,
                stream,
                file: file.to_string_lossy().into_owned(),
                bytes,
                text,
            });
        }
    }
    // Of one attempt, standard output comes first.
    outputs.sort_unstable_by_key(|one| (one.task_id, one.attempt, one.stream));
    Ok(outputs)
}

/// Reads the task and the attempt in the name of a log.
pub(crate) fn parse_name(name: &str) -> Option<(TaskId, u32)> {
    let (task, attempt) = name.strip_suffix(".log")?.split_once('-')?;
    Some((task.parse().ok()?, attempt.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_logs_of_attempts_are_read() {
        assert_eq!(parse_name("T3-12.log"), Some((TaskId(3), 12)));
        for name in [
            "events.jsonl",
            "T3-1.prompt.md",
            "T3.log",
            "x-1.log",
            "T3-x.log",
        ] {
            assert_eq!(parse_name(name), None, "{name}");
        }
    }
}
