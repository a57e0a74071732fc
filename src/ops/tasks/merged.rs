//! Whether the work on a task is merged, where an agent did it in a worktree of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use crate::clock::timestamp;
use crate::error::{Code, Error, Result, quote};
use crate::file::read;
use crate::store::SpawnRecord;
use crate::tree;
use crate::workspace::Workspace;

/// Largest note that is read, in bytes.
const NOTE_MAX: u64 = 64 << 20;

/// Finds the branch of the worktree in which an agent worked since a spawn, and the note about it; none without one, or
/// where the agent itself asks, which has the work before itself.
fn find_branch(workspace: &Workspace, record: &SpawnRecord) -> Option<(PathBuf, String)> {
    if workspace.home_of_run().is_some() {
        return None;
    }
    let main = workspace.home().unwrap_or_else(|| workspace.clone());
    let task = record.task.to_string();
    let runs = fs::read_dir(main.root.join(".cleo/runs")).into_iter();
    let notes = runs
        .flatten()
        .flatten()
        .flat_map(|run| list_notes(&run.path(), &task));
    let (at, note, branch) = notes.max()?;
    (timestamp(at.into()) >= record.at).then_some((note, branch))
}

/// Returns whether the branch of a spawn is still there, or there was none: without it, nothing shows that its work is
/// merged.
pub(in crate::ops) fn has_branch(workspace: &Workspace, record: &SpawnRecord) -> bool {
    find_branch(workspace, record)
        .is_none_or(|(_, branch)| tree::commit(&workspace.root, &branch).is_ok())
}

/// Returns the error for work of a spawn that is not merged.
pub(in crate::ops) fn find_unmerged(
    workspace: &Workspace,
    record: &SpawnRecord,
) -> Result<Option<Error>> {
    let Some((note, branch)) = find_branch(workspace, record) else {
        return Ok(None);
    };
    if !tree::is_ahead(&workspace.root, &branch)? {
        return Ok(None);
    }
    let task = record.task;
    let note: Value =
        serde_json::from_slice(&read(&note, NOTE_MAX).unwrap_or_default()).unwrap_or_default();
    let run = branch.split('/').nth(1).map(quote).unwrap_or_default();
    let branch = quote(&branch);
    let merge = match note["onto"].as_str() {
        Some(onto) => format!("git switch {} && git merge {branch}", quote(onto)),
        None => format!("git merge {branch}"),
    };
    let message =
        format!("the work on {task} is on the branch {branch}, which is not merged (`{merge}`)");
    let error = Error::new(Code::NotVerified, message).fix(merge);
    Ok(Some(error.or(
        "see what the run said",
        format!("cleo runs show {run}"),
    )))
}

/// Lists the notes of a run about worktrees for a task, with the time and the branch of each. A note is written again
/// whenever work of the worktree is merged.
fn list_notes(run: &Path, task: &str) -> Vec<(SystemTime, PathBuf, String)> {
    let files = fs::read_dir(run.join("outputs")).into_iter();
    let notes = files.flatten().flatten().filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        let name = name.strip_suffix(".json")?;
        let number = name.strip_prefix(task)?.strip_prefix('-')?;
        number.parse::<u32>().ok()?;
        let run = run.file_name()?.to_str()?;
        let written = file.metadata().ok()?.modified().ok()?;
        Some((written, file.path(), format!("cleo/{run}/{name}")))
    });
    notes.collect()
}
