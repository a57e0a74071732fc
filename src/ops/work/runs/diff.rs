//! The changes of an attempt: in the merge, in its worktree or on its branch, or among the files of its task.

use std::fs;
use std::path::Path;
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
use crate::tree::{self, Globs, is_counted};
use crate::words::closed;
use crate::workspace::Workspace;

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
    /// The changed files that the task does not declare. In the workspace they are not among `files`.
    pub(crate) outside: Vec<String>,
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
    let user = context.visible_user();
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
        outside: Vec::new(),
        changes: Changes::default(),
    };
    let is_last = of_run.history.last().map(|last| last.attempt) == Some(attempt);
    let began = find_commit(events.iter(), task, |event| match event {
        TaskEvent::Started(start) => start.commit,
        _ => None,
    });
    let merge = find_commit(events.iter().rev(), task, |event| match event {
        TaskEvent::Merged { commit } => commit,
        _ => None,
    });
    let folder = journal::run_folder(&workspace, &id)?.join("trees");
    let is_found = match merge.filter(|_| is_last) {
        Some(merge) => compare_merge(&workspace.root, &merge, &mut reply)?,
        None => false,
    };
    let root = workspace
        .root
        .canonicalize()
        .unwrap_or(workspace.root.clone());
    let output = of_run.setup.output_file;
    if !is_found && !compare_tree(&root, &folder, &id, &mut reply)? {
        compare_workspace(&root, began, &mut reply)?;
    }
    set_outside(&root, &told, output.as_deref(), &mut reply);
    if reply.place == Place::Workspace {
        show_output(&workspace, output, &mut reply);
    }
    Ok(reply)
}

/// Finds the commit in the first event of a task that has one.
fn find_commit<'a>(
    events: impl Iterator<Item = &'a Event>,
    task: TaskId,
    pick: fn(TaskEvent) -> Option<String>,
) -> Option<String> {
    let mut events = events.filter_map(RunEvent::read);
    events.find_map(|event| match event {
        RunEvent::Task(of, _, event) if of == task => pick(event),
        _ => None,
    })
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

/// Compares the files of the workspace with the commit that was checked out when the first attempt of the run began,
/// else with the one that is now.
fn compare_workspace(root: &Path, began: Option<String>, reply: &mut Diff) -> Result<()> {
    let began = began.and_then(|commit| tree::commit(root, &commit).ok());
    let base = began.map_or_else(|| tree::head(root), |began| Ok(Some(began)))?;
    if let (Some(top), Some(base)) = (tree::find_top(root), base) {
        reply.changes = changes::in_folder(root, top, &base)?;
        reply.base = Some(base);
    }
    Ok(())
}

/// Names the changed files that a task does not declare. In the workspace they may be of others, and are not shown.
fn set_outside(root: &Path, task: &Task, output: Option<&str>, reply: &mut Diff) {
    let declared = [task.files.as_slice(), task.deliverables.as_slice()].concat();
    let globs = Globs::new(&declared).ok();
    let inside = tree::find_top(root).and_then(|top| root.strip_prefix(top).ok());
    let inside = inside.unwrap_or(Path::new(""));
    reply.changes.files.retain(|file| {
        let path = Path::new(&file.path).strip_prefix(inside).ok();
        let is_output = path.is_some() && path == output.map(Path::new);
        let has = |path| globs.as_ref().is_some_and(|globs| globs.has(path));
        if is_output || path.is_some_and(|path| declared.is_empty() || has(path)) {
            return true;
        }
        if !declared.is_empty() && path.is_none_or(is_counted) {
            reply.outside.push(file.path.clone());
        }
        reply.place != Place::Workspace
    });
    if reply.place == Place::Workspace {
        reply.changes.total = reply.changes.files.len();
    }
}

/// Shows the output file of a task where git does not name it.
fn show_output(workspace: &Workspace, output: Option<String>, reply: &mut Diff) {
    let Changes { files, total } = &mut reply.changes;
    let is_new = |output: &String| {
        !files
            .iter()
            .any(|file| file.path.ends_with(output.as_str()))
    };
    if let Some(output) = output.filter(is_new)
        && let Ok(path) = workspace.confine(&output)
        && let Ok(text) = file::read_start(&path, OUTPUT_MAX)
    {
        let is_cut = text.len() as u64 == OUTPUT_MAX;
        let text = String::from_utf8_lossy(&text);
        files.push(describe_new(output, &text, is_cut));
        *total += 1;
    }
}
