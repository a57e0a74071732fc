//! Merging with a copy of the tasks in a file that others change, too. The file is written before
//! the store commits: whatever ends the process in between, the next merge finds in the file what
//! it would have made itself. Who merges with a file has it locked (`turn`) from reading it until the store has
//! committed. Which task is which is told by what a task keeps for good (`identity`), and from that comes
//! which id each has (`numbers`). What two versions of a task have in common is told by the lines themselves
//! (`versions`), also of tasks that have gone (`gone`).

mod ahead;
mod changes;
mod copy;
mod gone;
mod graph;
mod identity;
mod keys;
mod merged;
mod numbers;
mod relocate;
mod turn;
mod versions;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::ahead::Horizon;
pub use self::changes::{Changes, Touched};
use self::copy::Copy;
use self::merged::Merge;
use self::turn::Turn;
use crate::error::{Code, Error, Result, quote};
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::claims::Caller;
use crate::store::Transaction;
use crate::transfer::merge::{Conflict, Side};
use crate::transfer::{FILE_MAX, formats::cleo};

/// How often a merge begins anew, because somebody else wrote the file meanwhile.
const AGAIN: usize = 5;

/// A task that has another id now, because two tasks had the same.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Renumbered {
    /// Its id before.
    pub from: TaskId,
    /// Its id now.
    pub to: TaskId,
    /// On which side it had the other one.
    pub side: Side,
}

/// What a merge did, or would do.
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Synced {
    /// The file.
    pub file: String,
    /// How many tasks both have now.
    pub total: usize,
    /// What changed in the store.
    pub here: Changes,
    /// What changed in the file.
    pub in_file: Changes,
    /// What both sides had changed, with both values.
    pub conflicts: Vec<Conflict>,
    /// Tasks with another id.
    pub renumbered: Vec<Renumbered>,
    /// Tasks that said to have been changed minutes or more from now; they count as changed now.
    pub ahead: Vec<TaskId>,
    /// How many tasks that are new here had no time of creation; they have that of the merge now.
    pub without_created: usize,
    /// True when nothing was written.
    pub dry_run: bool,
}

/// Merges the tasks with their copy in a file, both ways. A file that is not there is made.
pub fn sync(context: &mut Context, path: &Path, dry_run: bool) -> Result<Synced> {
    merged_with(context, path, dry_run).map_err(|error| match dry_run {
        true => only_tried(error),
        false => error,
    })
}

/// Lets what to do about an error end with a trial, too, as that was asked for. What changes or makes files
/// first is no trial any more: half of it would leave them as they were never meant to stay.
fn only_tried(mut error: Error) -> Error {
    let others = error.alternatives.iter_mut();
    let others = others.map(|other| &mut other.command);
    let commands = error.fix.iter_mut().chain(others);
    for command in commands.filter(|command| command.starts_with("cleo sync ")) {
        command.push_str(" --dry-run");
    }
    error
}

fn merged_with(context: &mut Context, path: &Path, dry_run: bool) -> Result<Synced> {
    let full = context.surroundings.directory.join(path);
    let shown = path.to_string_lossy().into_owned();
    let instead = |error: Error| error.instead(&shown, "tasks.jsonl");
    refuse_place(path, &full)?;
    context.workspace.refuse_own(&full).map_err(instead)?;
    anew(|| once(context, path, &full, dry_run))
}

/// Merges until nobody else has written the file meanwhile, within bounds.
fn anew<T>(mut merge: impl FnMut() -> Result<T>) -> Result<T> {
    let mut left = AGAIN;
    loop {
        match merge() {
            Err(error) if error.passing && left > 0 => left -= 1,
            merged => return merged,
        }
    }
}

fn once(context: &mut Context, path: &Path, full: &Path, dry_run: bool) -> Result<Synced> {
    let name = name_of(full, &context.workspace.root);
    let shown = path.to_string_lossy().into_owned();
    let horizon = Horizon::of(context.surroundings.clock);
    let caller = Caller::unbound(context);
    let was_there = fs::metadata(full).is_ok();
    // Nobody waits to see what would be done.
    let turn = match dry_run {
        true => None,
        false => Turn::wait(full)?,
    };
    context.write_if(|transaction| {
        let bytes = read(full)?;
        let is_new = bytes.is_none();
        if !(is_new || was_there || dry_run || turn.is_some()) {
            // Who made it may be writing it once more, and it was not there to be locked.
            return Err(changed(full));
        }
        let copy = Copy::read(bytes.unwrap_or_default(), path)?;
        if is_new {
            gone::forget(transaction, &name)?;
        }
        refuse_empty(transaction, &copy, &name, path)?;
        let merge = Merge::run(transaction, copy, &name, horizon, &caller)?;
        let text = merge.text();
        if !dry_run && (is_new || text.as_bytes() != merge.copy.bytes()) {
            write(full, &text, merge.copy.bytes(), is_new)?;
        }
        Ok((merge.into_report(shown, dry_run), !dry_run))
    })
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
        _ => crate::file::read(path, FILE_MAX).map(Some),
    }
}

/// Names the file in the same way wherever the workspace lies.
fn name_of(path: &Path, root: &Path) -> String {
    let real = |path: &Path| -> PathBuf {
        let folder = path
            .parent()
            .and_then(|folder| fs::canonicalize(folder).ok());
        let name = path.file_name().unwrap_or_default();
        folder.map_or_else(|| path.to_path_buf(), |folder| folder.join(name))
    };
    let (path, root) = (
        real(path),
        fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf()),
    );
    let short = path.strip_prefix(&root).unwrap_or(&path);
    short.to_string_lossy().into_owned()
}

/// Refuses a pipe, which cannot be both read and written, and a place in a folder that is not there: a file
/// that is made anew would hide that its name was mistyped.
fn refuse_place(path: &Path, full: &Path) -> Result<()> {
    if path.as_os_str() == "-" {
        let message = "`-` is no file; a merge reads one and writes it again";
        return Err(Error::new(Code::InputInvalid, message)
            .fix("cleo sync tasks.jsonl")
            .or("take tasks over from a pipe", "cleo import -")
            .or("write them into one", "cleo export --format text"));
    }
    let folder = full.parent().unwrap_or(full);
    if folder.is_dir() {
        return Ok(());
    }
    let message = format!("there is no folder {} to make a file in", folder.display());
    let (folder, file) = (folder.to_string_lossy(), path.to_string_lossy());
    let make = format!("mkdir -p {} && cleo sync {}", quote(&folder), quote(&file));
    Err(Error::new(Code::FileUnwritable, message).fix(make))
}

/// An emptied file would delete all tasks. One with its header says so on purpose: so a copy looks of
/// which all tasks were deleted.
fn refuse_empty(transaction: &dyn Transaction, copy: &Copy, name: &str, path: &Path) -> Result<()> {
    let before = transaction.base_ids(name)?.len();
    let has_header = copy.bytes().starts_with(cleo::HEADER.as_bytes());
    if !copy.rows.is_empty() || before == 0 || has_header {
        return Ok(());
    }
    let message = format!(
        "{} holds no task, and held {before} when it was last merged; all of them would be deleted",
        path.display()
    );
    let file = quote(&path.to_string_lossy());
    let fix = format!("rm {file} && cleo sync {file}");
    Err(Error::new(Code::InputInvalid, message).fix(fix))
}

/// Writes the file, unless somebody else has written it while it was merged.
fn write(path: &Path, text: &str, before: &[u8], is_new: bool) -> Result<()> {
    // A link that leads nowhere is there, although what it leads to is not.
    if is_new && fs::symlink_metadata(path).is_err() {
        return match crate::file::write_new(path, text)? {
            true => Ok(()),
            false => Err(changed(path)),
        };
    }
    let now = read(path)?;
    let is_same = match &now {
        None => is_new,
        Some(now) => !is_new && now == before,
    };
    match is_same {
        true => crate::file::write_whole(path, text),
        false => Err(changed(path)),
    }
}

fn changed(path: &Path) -> Error {
    let message = format!("{} was changed while it was merged", path.display());
    let fix = format!("cleo sync {}", quote(&path.to_string_lossy()));
    Error::new(Code::FileChanged, message)
        .fix(fix)
        .passing(true)
}

impl Merge {
    /// Returns what the file holds now.
    fn text(&self) -> String {
        let mut text = format!("{}\n", cleo::HEADER);
        for line in self.lines.values() {
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    fn into_report(self, file: String, dry_run: bool) -> Synced {
        Synced {
            file,
            total: self.lines.len(),
            here: self.here.into(),
            in_file: self.in_file.into(),
            conflicts: self.conflicts,
            renumbered: self.renumbered,
            ahead: self.horizon.ahead.into_iter().collect(),
            without_created: self.without_created,
            dry_run,
        }
    }
}

/// Ids in order.
type Ids = BTreeSet<TaskId>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merge_begins_anew_while_others_write_the_file_and_not_for_ever() {
        let merged = |collisions: usize| {
            let mut begun = 0;
            let done = anew(|| {
                begun += 1;
                match begun > collisions {
                    true => Ok(()),
                    false => Err(changed(Path::new("tasks.jsonl"))),
                }
            });
            (done.map_err(|error| error.retryable()), begun)
        };
        assert_eq!(merged(0), (Ok(()), 1));
        assert_eq!(merged(AGAIN), (Ok(()), AGAIN + 1));
        assert_eq!(merged(AGAIN + 1), (Err(true), AGAIN + 1));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_at_once() {
        let mut begun = 0;
        let done: Result<()> = anew(|| {
            begun += 1;
            Err(Error::new(Code::ImportInvalid, "a fault"))
        });
        assert_eq!((done.unwrap_err().code, begun), (Code::ImportInvalid, 1));
    }
}
