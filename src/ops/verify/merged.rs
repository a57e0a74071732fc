//! Whether the work on a task is in the workspace, where an agent did it in a worktree of its own.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::Violation;
use crate::clock::timestamp;
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::store::SpawnRecord;
use crate::tree;
use crate::workspace::Workspace;

/// Work on a task that stands on a branch which is not merged.
pub(in crate::ops) struct Unmerged {
    task: TaskId,
    branch: String,
}

impl Unmerged {
    /// Finds what is not merged of the work of a spawn. An agent that works in the worktree has it before
    /// itself.
    pub(in crate::ops) fn of(
        workspace: &Workspace,
        record: &SpawnRecord,
    ) -> Result<Option<Unmerged>> {
        if workspace.home_of_run().is_some() {
            return Ok(None);
        }
        // Without a worktree since the spawn, git is not asked.
        let main = workspace.home().unwrap_or_else(|| workspace.clone());
        let Some(branch) = branch(&main, record) else {
            return Ok(None);
        };
        let is_ahead = tree::is_ahead(&workspace.root, &branch)?;
        let task = record.task;
        Ok(is_ahead.then_some(Unmerged { task, branch }))
    }

    /// Returns the error that it is.
    pub(in crate::ops) fn error(&self) -> Error {
        let (task, branch) = (self.task, quote(&self.branch));
        let merge = format!("git merge {branch}");
        let message = format!(
            "the work on {task} stands on the branch {branch}, which is not merged (`{merge}`)"
        );
        let drop = format!("git branch -D {branch}");
        Error::new(Code::NotVerified, message)
            .fix(merge)
            .or("throw that work away", drop)
    }

    /// Returns what is violated by it.
    pub(in crate::ops) fn violation(&self) -> Violation {
        Violation::of(&self.error(), "MERGED")
    }
}

/// Names the branch of the last worktree in which a task was worked on since it was spawned. Each has a note
/// with the files of its run, which is written again whenever something of it comes home.
fn branch(workspace: &Workspace, record: &SpawnRecord) -> Option<String> {
    let runs = fs::read_dir(workspace.root.join(".cleo/runs")).into_iter();
    let runs = runs.flatten().flatten().map(|run| run.path());
    let notes = runs.flat_map(|run| notes(&run, &record.task.to_string()));
    let (written, branch) = notes.max()?;
    (timestamp(written.into()) >= record.at).then_some(branch)
}

/// Returns when the worktrees of a task in a run were last noted, with their branches.
fn notes(run: &Path, task: &str) -> Vec<(SystemTime, String)> {
    let files = fs::read_dir(run.join("outputs")).into_iter();
    let noted = files.flatten().flatten().filter_map(|file| {
        let name = file.file_name().into_string().ok()?;
        let name = name.strip_suffix(".json")?;
        let number = name.strip_prefix(task)?.strip_prefix('-')?;
        number.parse::<u32>().ok()?;
        let run = run.file_name()?.to_str()?;
        let written = file.metadata().ok()?.modified().ok()?;
        Some((written, format!("cleo/{run}/{name}")))
    });
    noted.collect()
}
