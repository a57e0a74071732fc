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

/// Returns the error for work of a spawn that is not merged. An agent that works in the worktree has it before itself.
pub(super) fn find_unmerged(workspace: &Workspace, record: &SpawnRecord) -> Result<Option<Error>> {
    if workspace.home_of_run().is_some() {
        return Ok(None);
    }
    // Without a worktree since the spawn, git is not asked.
    let main = workspace.home().unwrap_or_else(|| workspace.clone());
    let task = record.task.to_string();
    let runs = fs::read_dir(main.root.join(".cleo/runs")).into_iter();
    let notes = runs
        .flatten()
        .flatten()
        .flat_map(|run| list_notes(&run.path(), &task));
    let Some((_, note, branch)) = notes
        .max()
        .filter(|(at, ..)| timestamp((*at).into()) >= record.at)
    else {
        return Ok(None);
    };
    if !tree::is_ahead(&workspace.root, &branch)? {
        return Ok(None);
    }
    let note: Value =
        serde_json::from_slice(&read(&note, NOTE_MAX).unwrap_or_default()).unwrap_or_default();
    let branch = quote(&branch);
    let merge = match note["onto"].as_str() {
        Some(onto) => format!("git switch {} && git merge {branch}", quote(onto)),
        None => format!("git merge {branch}"),
    };
    let message =
        format!("the work on {task} is on the branch {branch}, which is not merged (`{merge}`)");
    Ok(Some(Error::new(Code::NotVerified, message).fix(merge)))
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
