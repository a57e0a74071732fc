//! The changes of an attempt: in the merge, in its worktree or on its branch, or among the files of its task.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::pages::OneAttempt;
use crate::error::{Code, Error, Result, quote};
use crate::file;
use crate::id::TaskId;
use crate::ops::runs::{journal, open, require_run};
use crate::ops::work::tracks::lock;
use crate::ops::{Context, require};
use crate::run::{Event, RunEvent, TaskEvent};
use crate::store::Store;
use crate::task::Task;
use crate::tree::changes::{self, Changes, describe_new};
use crate::tree::{self, Globs};
use crate::words::closed;

/// Most bytes of an output file that are shown without a repository.
const OUTPUT_MAX: u64 = 128 << 10;

#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Diff {
    pub(crate) task: TaskId,
    pub(crate) attempt: u32,
    pub(crate) place: Place,
    /// The commit that it is compared with.
    pub(crate) base: Option<String>,
    /// The merge, or the commit of the branch.
    pub(crate) commit: Option<String>,
    pub(crate) branch: Option<String>,
    #[serde(flatten)]
    pub(crate) changes: Changes,
}

closed! {
    #[derive(Default)]
    Place, "place of work":
    /// It was merged.
    Merged = "merged",
    /// It is in its worktree, with what later attempts did there.
    Worktree = "worktree",
    /// It is on its branch, with what later attempts did there.
    Branch = "branch",
    /// It is in the workspace, where others may have changed the same files.
    #[default]
    Workspace = "workspace",
}

/// Reads what an attempt changed. Without a worktree that is what differs now among the files of the task, its
/// deliverables and its output.
pub(crate) fn diff(context: &mut Context, wanted: OneAttempt) -> Result<Diff> {
    let OneAttempt { id, task, attempt } = wanted;
    let user = context.surroundings.rights.user.clone();
    let (workspace, cache) = (context.workspace.clone(), Arc::clone(&context.cache));
    let transaction = open(context)?.read()?;
    require_run(&*transaction, &id, user.as_deref())?;
    let events = journal::events(&*transaction, &id)?;
    let of_run = lock(&cache.tracks)
        .update(&*transaction, &id, &events)?
        .task(task)
        .filter(|one| one.attempt(Some(attempt)).is_some())
        .cloned();
    let of_run = of_run.ok_or_else(|| {
        let message = format!("the run {id} has no attempt {attempt} at {task}");
        Error::new(Code::RunNotFound, message).fix(format!("cleo runs show {}", quote(&id)))
    })?;
    let told = require(&*transaction, task)?;
    drop(transaction);
    let mut reply = Diff {
        task,
        attempt,
        place: Place::default(),
        base: None,
        commit: None,
        branch: None,
        changes: Changes::default(),
    };
    let is_last = of_run.history.last().map(|last| last.attempt) == Some(attempt);
    let merge = find_merge(&events, task).filter(|_| is_last);
    let folder = journal::run_folder(&workspace, &id)?.join("trees");
    let is_found = match merge {
        Some(merge) => compare_merge(&workspace.root, &merge, &mut reply)?,
        None => false,
    };
    if !is_found && !compare_tree(&workspace.root, &folder, &id, &mut reply)? {
        compare_workspace(context, &told, of_run.setup.output_file, &mut reply)?;
    }
    Ok(reply)
}

fn find_merge(events: &[Event], task: TaskId) -> Option<String> {
    let events = events.iter().rev().filter_map(RunEvent::read);
    let mut merges = events.filter_map(|event| match event {
        RunEvent::Task {
            task_id,
            event: TaskEvent::Merged { commit },
            ..
        } if task_id == task => commit,
        _ => None,
    });
    merges.next()
}

/// Compares a merge with the commit that it was merged into; false if it is not there any more.
fn compare_merge(root: &Path, merge: &str, reply: &mut Diff) -> Result<bool> {
    let Ok(commit) = tree::commit(root, merge) else {
        return Ok(false);
    };
    let Ok(base) = tree::commit(root, &format!("{commit}^1")) else {
        return Ok(false);
    };
    reply.changes = changes::between(root, &base, &commit)?;
    (reply.place, reply.base, reply.commit) = (Place::Merged, Some(base), Some(commit));
    Ok(true)
}

/// Compares the worktree of an attempt, or its branch, with the commit on which it began; false without both.
fn compare_tree(root: &Path, folder: &Path, run: &str, reply: &mut Diff) -> Result<bool> {
    for name in list_trees(folder, reply.task, reply.attempt) {
        let branch = format!("cleo/{run}/{name}");
        let Some(base) = tree::find_fork(root, &branch)? else {
            continue;
        };
        let checkout = folder.join(&name);
        if checkout
            .symlink_metadata()
            .is_ok_and(|there| there.is_dir())
        {
            reply.changes = changes::in_folder(root, &checkout, &base)?;
            reply.place = Place::Worktree;
        } else {
            let tip = tree::commit(root, &format!("refs/heads/{branch}"))?;
            reply.changes = changes::between(root, &base, &tip)?;
            (reply.place, reply.commit) = (Place::Branch, Some(tip));
        }
        (reply.base, reply.branch) = (Some(base), Some(branch));
        return Ok(true);
    }
    Ok(false)
}

/// Lists the names of worktrees that an attempt may have worked in, the most likely first: a later attempt continues in
/// the worktree of an earlier one.
fn list_trees(folder: &Path, task: TaskId, attempt: u32) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let numbers = names.filter_map(|name| {
        let (of, number) = name.rsplit_once('-')?;
        (of.parse::<TaskId>().ok()? == task).then(|| number.parse::<u32>().ok())?
    });
    let mut numbers: Vec<u32> = numbers.chain(1..=attempt).collect();
    numbers.sort_by_key(|number| (*number > attempt, number.abs_diff(attempt)));
    numbers.dedup();
    numbers
        .iter()
        .map(|number| format!("{task}-{number}"))
        .collect()
}

/// Compares the files of a task, or all files where it names none, with the commit that is checked out; without one,
/// its output file is shown.
fn compare_workspace(
    context: &Context,
    task: &Task,
    output: Option<String>,
    reply: &mut Diff,
) -> Result<()> {
    let root = context.workspace.root.canonicalize();
    let root = root.unwrap_or_else(|_| context.workspace.root.clone());
    let declared = [task.files.as_slice(), task.deliverables.as_slice()].concat();
    let globs = Globs::new(&declared).ok();
    let top = root.ancestors().find(|path| path.join(".git").exists());
    if let (Some(top), Some(base)) = (top, tree::head(&root)?) {
        let inside = root
            .strip_prefix(top)
            .unwrap_or(Path::new(""))
            .to_path_buf();
        let mut found = changes::in_folder(&root, top, &base)?;
        found.files.retain(|file| {
            let path = PathBuf::from(&file.path);
            let Ok(path) = path.strip_prefix(&inside) else {
                return false;
            };
            let is_declared = globs.as_ref().is_some_and(|globs| globs.has(path));
            declared.is_empty()
                || is_declared
                || output
                    .as_ref()
                    .is_some_and(|output| path == Path::new(output))
        });
        found.total = found.files.len();
        (reply.base, reply.changes) = (Some(base), found);
    }
    let Some(output) = output.filter(|output| {
        !reply
            .changes
            .files
            .iter()
            .any(|file| file.path.ends_with(output.as_str()))
    }) else {
        return Ok(());
    };
    let path = context.workspace.confine(&output);
    if let Ok(path) = path
        && let Ok(text) = file::read_start(&path, OUTPUT_MAX)
    {
        let is_cut = text.len() as u64 == OUTPUT_MAX;
        let text = String::from_utf8_lossy(&text);
        reply
            .changes
            .files
            .push(describe_new(output, &text, is_cut));
        reply.changes.total += 1;
    }
    Ok(())
}
