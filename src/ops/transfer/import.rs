//! Taking over tasks: all of them or none.

use std::path::Path;

use super::again::joined;
use super::known::Stored;
use super::merge::Merge;
use super::phases;
use super::source::{Extent, Source};
use crate::error::{Code, Error, Result, quote};
use crate::id;
use crate::ops::claims::{self, Caller};
use crate::ops::tasks::DEPTH_MAX;
use crate::ops::trust::{self, warn_of};
use crate::ops::{Context, require};
use crate::store::Transaction;
use crate::task::Task;
use crate::transfer::plan::{Outline, Plan, Planned, Wishes};
use crate::transfer::report::Report;
use crate::transfer::{Format, Item};

/// What is to be imported, and how.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Request {
    /// What kind of file it is; none finds out.
    pub(crate) from: Option<Format>,
    /// Report and write nothing.
    pub(crate) dry_run: bool,
    /// Leave out what is done or cancelled.
    pub(crate) open_only: bool,
    /// Leave out the archive beside a CLEO todo.json.
    pub(crate) no_archive: bool,
    /// Take the archive of a Backlog.md folder along.
    pub(crate) archive: bool,
    /// Go on without what cannot be taken over.
    pub(crate) drop_faults: bool,
}

/// What an import did, and why it did not when it was refused.
#[derive(Debug)]
pub(crate) struct Imported {
    /// What was read and what became of it.
    pub(crate) report: Report,
    /// The refusal.
    pub(crate) error: Option<Error>,
    /// What the caller should know.
    pub(crate) warnings: Vec<String>,
}

/// Imports the tasks of a file or folder. With a fault in it nothing is written, unless the faults
/// are to be dropped; the report names each of them either way.
pub(crate) fn import(context: &mut Context, path: &Path, request: Request) -> Result<Imported> {
    let shown = path;
    let path = context.surroundings.directory.join(path);
    let path = if shown.as_os_str() == "-" {
        shown
    } else {
        &path
    };
    let extent = Extent {
        archive_beside: !request.no_archive,
        archive_folder: request.archive,
    };
    let source = Source::open(path, request.from, extent)?;
    take_over(context, &source, shown, request)
}

/// Imports the tasks of a text that was sent, as [`import`] does; nothing on this machine is read for it.
pub(crate) fn import_text(
    context: &mut Context,
    text: String,
    request: Request,
) -> Result<Imported> {
    let shown = Path::new("-");
    let extent = Extent::default();
    let source = Source::of_bytes(shown, text.into_bytes(), request.from, extent)?;
    take_over(context, &source, shown, request)
}

fn take_over(
    context: &mut Context,
    source: &Source,
    shown: &Path,
    request: Request,
) -> Result<Imported> {
    let caller = Caller::unbound(context);
    if source.format == Format::Cleo {
        return take_merged(context, source, shown, request, &caller);
    }
    let outline = outline(source, request, &caller.now)?;
    let mut commands = Vec::new();
    let imported = context.write_if(|transaction| {
        let plan = outline.plan(&mut Stored::of(transaction)?)?;
        if let Some(error) = refusal(&plan.report, shown).filter(|_| !request.drop_faults) {
            let report = plan.report;
            return Ok((
                Imported {
                    report,
                    error: Some(error),
                    warnings: Vec::new(),
                },
                false,
            ));
        }
        let report = write(transaction, source, plan, &caller, &mut commands)?;
        Ok((
            Imported {
                report,
                error: None,
                warnings: Vec::new(),
            },
            !request.dry_run,
        ))
    })?;
    Ok(Imported {
        warnings: warn_of(&context.surroundings, &context.workspace, &commands),
        ..imported
    })
}

/// Takes over an export of cleo.
fn take_merged(
    context: &mut Context,
    source: &Source,
    shown: &Path,
    request: Request,
    caller: &Caller,
) -> Result<Imported> {
    let mut merge = Merge::read(source, request, &caller.now)?;
    let (error, commands) = context.write_if(|transaction| {
        merge.plan(transaction, &caller.now)?;
        let error = refusal(&merge.report, shown).filter(|_| !request.drop_faults);
        if error.is_some() {
            return Ok(((error, Vec::new()), false));
        }
        let commands = merge.write(transaction, caller)?;
        Ok(((None, commands), !request.dry_run))
    })?;
    Ok(Imported {
        report: merge.report,
        error,
        warnings: warn_of(&context.surroundings, &context.workspace, &commands),
    })
}

fn outline(source: &Source, request: Request, now: &str) -> Result<Outline> {
    let wishes = Wishes {
        open_only: request.open_only,
        drop_faults: request.drop_faults,
        depth_max: DEPTH_MAX,
    };
    let mut outline = Outline::new(source.format, wishes, request.dry_run);
    source.read(now, &mut |item| {
        outline.take(item);
        Ok(())
    })?;
    Ok(outline)
}

/// Reads the file again and writes its tasks. `commands` gets the commands of their criteria.
fn write(
    transaction: &mut dyn Transaction,
    source: &Source,
    mut plan: Plan,
    caller: &Caller,
    commands: &mut Vec<trust::Item>,
) -> Result<Report> {
    source.read(&caller.now, &mut |item| {
        let record = match item {
            Item::Record(record) => record,
            Item::Phase(phase) => {
                return phases::put(transaction, (**phase).clone(), &mut plan.report);
            }
            _ => return Ok(()),
        };
        match plan.complete(record, &caller.now)? {
            None => Ok(()),
            Some(planned) => {
                let task = &planned.task;
                commands.extend(trust::Item::criteria(task.id, &task.acceptance));
                put(
                    transaction,
                    planned,
                    source.format,
                    caller,
                    &mut plan.report,
                )
            }
        }
    })?;
    if plan.is_whole() {
        return Ok(plan.report);
    }
    let message = "the file was changed while it was read";
    Err(Error::new(Code::FileChanged, message))
}

fn put(
    transaction: &mut dyn Transaction,
    planned: Planned<'_>,
    format: Format,
    caller: &Caller,
    report: &mut Report,
) -> Result<()> {
    let task = planned.task;
    if !planned.is_known {
        report.added += 1;
        if transaction.task_by_uid(&task.uid)?.is_some() {
            task.uid = id::derive_uid(&caller.now, &[format.word(), &task.id.to_string()]);
        }
        return insert(transaction, task);
    }
    let before = require(transaction, task.id)?;
    if before.updated_at > task.updated_at {
        report.newer_here.add(|| task.id.to_string());
        return Ok(());
    }
    let mut after = joined(&before, task.clone(), format, planned.silent);
    let changed = std::mem::replace(&mut after.updated_at, before.updated_at.clone());
    if after == before {
        report.unchanged += 1;
        return Ok(());
    }
    report.updated += 1;
    let is_later = changed > before.updated_at;
    after.updated_at = match is_later {
        true => changed,
        false => caller.now.clone(),
    };
    refuse_key(transaction, &after)?;
    if after.is_closed() && !before.is_closed() {
        // Nobody holds what is over; else it could not be taken up again.
        claims::end(transaction, after.id, caller)?;
    }
    transaction.put(&after)
}

/// Adds a task. The database refuses a key that another task has; only then that one is looked for.
fn insert(transaction: &mut dyn Transaction, task: &Task) -> Result<()> {
    let inserted = transaction.insert(task);
    if inserted.is_err() {
        refuse_key(transaction, task)?;
    }
    inserted
}

/// A key finds one task. Two tasks with one key would end the import in the database.
fn refuse_key(transaction: &dyn Transaction, task: &Task) -> Result<()> {
    let Some(key) = &task.key else { return Ok(()) };
    match transaction.task_by_key(key)? {
        Some(other) if other != task.id => {
            let message = format!("{}: the key `{key}` is that of {other}", task.id);
            Err(Error::new(Code::Exists, message).fix(format!("cleo show {other}")))
        }
        _ => Ok(()),
    }
}

/// Returns the error for what cannot be taken over.
fn refusal(report: &Report, path: &Path) -> Option<Error> {
    let path = quote(&path.to_string_lossy());
    let go_on = format!(
        "cleo import {path} --from {} --drop-faults",
        report.format.word()
    );
    let error = match (report.faults.shown.first(), report.cycles.shown.first()) {
        (Some(fault), _) => {
            let place = match (&fault.place.file, fault.place.line) {
                (Some(file), 0) => file.clone(),
                (Some(file), line) => format!("{file} line {line}"),
                (None, line) => format!("line {line}"),
            };
            let id = fault
                .id
                .as_ref()
                .map_or(String::new(), |id| format!(" ({id})"));
            let many = match report.faults.total {
                1 => "1 fault".to_string(),
                total => format!("{total} faults"),
            };
            let message = format!(
                "nothing was imported: {many}; {place}{id}: {}",
                fault.message
            );
            Error::new(Code::ImportInvalid, message)
        }
        (None, Some(circle)) => {
            let message = format!(
                "nothing was imported: {} wait for each other",
                circle.members.join(", ")
            );
            Error::new(Code::Cycle, message)
        }
        (None, None) => return None,
    };
    let look = format!("{go_on} --dry-run");
    Some(
        error
            .fix(look)
            .or("import everything else and report what was dropped", go_on),
    )
}
