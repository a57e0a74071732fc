//! Exports tasks.

use std::fs::{File, Permissions};
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use serde::{Deserialize, Serialize};
use tempfile::TempPath;

use crate::error::{Code, Error, Result};
use crate::file::{DRAFT, PRIVATE_FOLDER, unreadable, unwritable, write_over_own, write_whole};
use crate::id::TaskId;
use crate::ops::Context;
use crate::ops::surroundings::parse_address;
use crate::store::postgres::PostgresStore;
use crate::store::sqlite::SqliteStore;
use crate::store::{self, Archived, Database, Filter, Transaction};
use crate::task::Task;
use crate::transfer::formats::cleo;

/// Number of tasks to read at a time.
const PIECE: u32 = 1_000;

#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Exported {
    /// The text, unless it is in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    /// Number of exported tasks.
    pub(crate) total: usize,
    /// Number of tasks that are missing because their rows are damaged.
    pub(crate) left_out: usize,
}

/// Returns the error for an export that lacks tasks.
fn missing(left_out: usize) -> Option<Error> {
    let message = match left_out {
        0 => return None,
        1 => "a task is missing: it is damaged in the database".to_string(),
        n => format!("{n} tasks are missing: they are damaged in the database"),
    };
    Some(Error::new(Code::RowDamaged, message).fix("cleo doctor"))
}

/// Writes all tasks into a file, or returns them as a text. Another file than an earlier export of this workspace is only
/// overwritten if that is allowed.
pub(crate) fn export(
    context: &mut Context,
    output: Option<&Path>,
    may_overwrite: bool,
) -> Result<Exported> {
    let file = output.map(|output| context.surroundings.directory.join(output));
    if let Some(file) = &file {
        context.workspace.refuse_own(file)?;
    }
    let (text, total, left_out) = context.read(|tasks| {
        if let Some(file) = file.as_deref().filter(|_| !may_overwrite) {
            refuse_other_workspace(tasks, file)?;
        }
        let (text, total) = write_lines(tasks)?;
        let all = tasks.list(&Filter {
            limit: Some(0),
            archived: Archived::Shown,
            ..Filter::default()
        })?;
        let left_out = usize::try_from(all.total)
            .unwrap_or(total)
            .saturating_sub(total);
        Ok((text, total, left_out))
    })?;
    match &file {
        Some(file) if may_overwrite => write_whole(file, &text)?,
        Some(file) => {
            let kind = "an export of tasks, and --overwrite is not given";
            write_over_own(file, cleo::HEADER, kind, &text)?;
        }
        None => {}
    }
    context.notes.failure = missing(left_out);
    Ok(Exported {
        text: file.is_none().then_some(text),
        file: output.map(|output| output.to_string_lossy().into_owned()),
        total,
        left_out,
    })
}

/// Refuses an earlier export that has tasks, none of which is here.
fn refuse_other_workspace(tasks: &dyn Transaction, file: &Path) -> Result<()> {
    #[derive(Deserialize)]
    struct Line {
        uid: String,
    }
    // To open a pipe would wait for its writer.
    let earlier = match file.is_file() {
        true => File::open(file).map_err(|cause| unreadable(file, cause))?,
        false => return Ok(()),
    };
    let mut has_tasks = false;
    for line in BufReader::new(earlier)
        .lines()
        .map_while(std::result::Result::ok)
    {
        if let Ok(line) = serde_json::from_str::<Line>(&line) {
            if tasks.task_by_uid(&line.uid)?.is_some() {
                return Ok(());
            }
            has_tasks = true;
        }
    }
    if !has_tasks {
        return Ok(());
    }
    let file = file.display();
    let message = format!(
        "{file} exports another workspace, and --overwrite is not given; it was not changed"
    );
    Err(Error::new(Code::Exists, message))
}

/// A copy of the database.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Copied {
    pub(crate) file: String,
    pub(crate) bytes: u64,
}

/// Copies the whole database into a new file, as it is at one moment, while others write to it.
pub(crate) fn backup(context: &mut Context, output: Option<&Path>) -> Result<Copied> {
    let moment = context.now().replace(['-', ':'], "");
    let own = context
        .workspace
        .root
        .join(format!(".cleo/cleo.db-{moment}"));
    let file = match output {
        Some(output) => context.surroundings.directory.join(output),
        None => own.clone(),
    };
    if file != own {
        context.workspace.refuse_own(&file)?;
    }
    let bytes = match context.workspace.open_store()? {
        Database::Sqlite(store) => write_copy(&file, |draft| store.copy_to(draft, &file)),
        server => write_copy(&file, |draft| {
            let new = Database::Sqlite(SqliteStore::create(draft)?);
            store::copy(server, &new)?;
            match new {
                Database::Sqlite(new) => new.checkpoint(),
                Database::Postgres(_) => Ok(()),
            }
        }),
    }?;
    Ok(Copied {
        file: file.to_string_lossy().into_owned(),
        bytes,
    })
}

/// Rows that are now in another database.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct CopiedRows {
    /// The address without a password.
    pub(crate) to: String,
    /// How many rows, of all tables.
    pub(crate) rows: usize,
}

/// Copies everything in the database into an empty one of a PostgreSQL server.
pub(crate) fn copy_store(context: &mut Context, url: &str) -> Result<CopiedRows> {
    let address = parse_address(context.surroundings.settings()?, url)?;
    let to = address.place().to_string();
    let from = context.workspace.open_store()?;
    PostgresStore::create(&address)?;
    let new = PostgresStore::open_if_there(&address)?
        .ok_or_else(|| error!(StoreSchema, "{to} has no tables of cleo"))?;
    let rows = store::copy(from, &Database::Postgres(Box::new(new)))?;
    Ok(CopiedRows { to, rows })
}

/// Has a copy of a database made as a draft and moved to its place, and returns its size.
pub(in crate::ops) fn write_copy(
    file: &Path,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<u64> {
    let folder = file.parent().unwrap_or(file);
    // SQLite makes a journal beside the draft.
    let mut drafts = tempfile::Builder::new();
    drafts.permissions(Permissions::from_mode(PRIVATE_FOLDER));
    let drafts = drafts.prefix(DRAFT).tempdir_in(folder);
    let drafts = drafts.map_err(|cause| unwritable(file, cause))?;
    let draft = drafts.path().join("cleo.db");
    make(&draft)?;
    let written = File::open(&draft).and_then(|written| {
        written.sync_all()?;
        let bytes = written.metadata()?.len();
        TempPath::try_from_path(draft)?.persist_noclobber(file)?;
        Ok(bytes)
    });
    written.map_err(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => {
            error!(Exists, "{} exists; it was not changed", file.display())
        }
        _ => unwritable(file, cause),
    })
}

/// Visits every task, by id.
pub(crate) fn each(
    tasks: &dyn Transaction,
    mut take: impl FnMut(Task) -> Result<()>,
) -> Result<usize> {
    let (mut last, mut total) = (TaskId(0), 0);
    loop {
        let piece = tasks.tasks_after(last, PIECE)?;
        // A piece may have fewer tasks, or none, if some are damaged.
        let Some(end) = tasks.last_of_piece(last, PIECE)? else {
            return Ok(total);
        };
        last = end;
        total += piece.len();
        piece.into_iter().try_for_each(&mut take)?;
    }
}

/// Writes all tasks as lines, in one thread while another reads them. Returns as well how many there are.
fn write_lines(tasks: &dyn Transaction) -> Result<(String, usize)> {
    let (sender, read) = mpsc::sync_channel::<Task>(PIECE as usize);
    let write = move || {
        let mut text = format!("{}\n", cleo::HEADER);
        let mut tasks = read.into_iter();
        let written = tasks.try_for_each(|task| cleo::write_line(task, &mut text));
        written.map(|()| text)
    };
    thread::scope(|scope| {
        let writer = scope.spawn(write);
        // A writer that failed takes no more.
        let total = each(tasks, |task| {
            let _ = sender.send(task);
            Ok(())
        })?;
        drop(sender);
        let written = writer.join().unwrap_or_else(|panic| resume_unwind(panic));
        let failed = |cause| Error::new(Code::Internal, "a task cannot be written").because(cause);
        written.map(|text| (text, total)).map_err(failed)
    })
}
