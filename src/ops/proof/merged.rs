//! Whether the work on a task is in the workspace, where an agent did it in a worktree of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;

use crate::clock::timestamp;
use crate::error::{Code, Error, Result, quote};
use crate::file::read;
use crate::store::SpawnRecord;
use crate::tree;
use crate::workspace::Workspace;

/// Most bytes of a note that are read.
const NOTE_MAX: u64 = 64 << 20;

/// What a run notes of a worktree, as far as it counts here.
#[derive(Default, Deserialize)]
struct Note {
    /// The branch into which it is to be merged.
    onto: Option<String>,
}

/// Returns the error for work of a spawn that is not merged. An agent that works in the worktree has it before itself.
pub(super) fn find_unmerged(workspace: &Workspace, record: &SpawnRecord) -> Result<Option<Error>> {
    if workspace.home_of_run().is_some() {
        return Ok(None);
    }
    // Without a worktree since the spawn, git is not asked.
    let main = workspace.home().unwrap_or_else(|| workspace.clone());
    let Some((note, branch)) = find_note(&main, record) else {
        return Ok(None);
    };
    if !tree::is_ahead(&workspace.root, &branch)? {
        return Ok(None);
    }
    let note = read(&note, NOTE_MAX).unwrap_or_default();
    let note: Note = serde_json::from_slice(&note).unwrap_or_default();
    let branch = quote(&branch);
    let merge = match &note.onto {
        Some(onto) => format!("git switch {} && git merge {branch}", quote(onto)),
        None => format!("git merge {branch}"),
    };
    let message = format!(
        "the work on {} is on the branch {branch}, which is not merged (`{merge}`)",
        record.task
    );
    Ok(Some(Error::new(Code::NotVerified, message).fix(merge)))
}

/// Finds the note of the last worktree in which a task was worked on since it was spawned, with its branch. It
/// is with the files of its run, and written again whenever something of the worktree comes home.
fn find_note(workspace: &Workspace, record: &SpawnRecord) -> Option<(PathBuf, String)> {
    let runs = fs::read_dir(workspace.root.join(".cleo/runs")).into_iter();
    let runs = runs.flatten().flatten().map(|run| run.path());
    let notes = runs.flat_map(|run| notes(&run, &record.task.to_string()));
    let (written, note, branch) = notes.max()?;
    (timestamp(written.into()) >= record.at).then_some((note, branch))
}

fn notes(run: &Path, task: &str) -> Vec<(SystemTime, PathBuf, String)> {
    let files = fs::read_dir(run.join("outputs")).into_iter();
    let noted = files.flatten().flatten().filter_map(|file| {
        let path = file.path();
        let name = file.file_name().into_string().ok()?;
        let name = name.strip_suffix(".json")?;
        let number = name.strip_prefix(task)?.strip_prefix('-')?;
        number.parse::<u32>().ok()?;
        let run = run.file_name()?.to_str()?;
        let written = file.metadata().ok()?.modified().ok()?;
        Some((written, path, format!("cleo/{run}/{name}")))
    });
    noted.collect()
}
