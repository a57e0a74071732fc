//! The check of the manifest, or of one entry.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Report, violation};
use crate::error::{Code, Result};
use crate::file::show_lines_command;
use crate::id;
use crate::manifest::log::{self, Found};
use crate::manifest::{Entry, Faulty};
use crate::ops::operation::Nothing;
use crate::ops::{Context, manifest};
use crate::store::Transaction;

// A doc comment would become the help of the command.
#[derive(Args, Default, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WhichEntry {
    /// Id of an entry [default: all lines]
    #[arg(value_name = "ID")]
    pub(crate) entry: Option<String>,
}

/// The result of checking the manifest.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct ManifestVerdict {
    #[serde(flatten)]
    pub(crate) report: Report,
    /// The entry that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<Entry>,
    /// Lines that do not count.
    pub(crate) faults: Vec<Faulty>,
}

/// Checks the manifest, or one entry of it.
pub(crate) fn manifest(context: &mut Context, which: WhichEntry) -> Result<ManifestVerdict> {
    if let Some(id) = &which.entry {
        return check_entry(context, id);
    }
    let faults = manifest::validate(context, Nothing::default())?.faults;
    let violations = faults.iter();
    let violations = violations.map(|fault| violation(fault.code, "OUT-002", fault.to_string()));
    Ok(ManifestVerdict {
        report: Report::new(violations.collect()),
        entry: None,
        faults,
    })
}

/// Checks one entry: it is there (else exit 62), it is valid, and its tasks exist (else exit 6).
fn check_entry(context: &mut Context, id: &str) -> Result<ManifestVerdict> {
    let path = context.workspace.manifest()?;
    let Found { entry, faulty } = log::find(&path, id)?;
    let entry = entry.map(|(_, entry)| entry);
    let (code, messages) = match &entry {
        Some(entry) => {
            let unknown = context.read(|transaction| find_unknown_tasks(transaction, entry))?;
            (Code::EntryInvalid, Vec::from_iter(unknown))
        }
        None if faulty.is_empty() => {
            let message = format!("the manifest has no entry {id}");
            (Code::EntryMissing, vec![message])
        }
        None => {
            let messages = faulty.iter().map(ToString::to_string);
            (Code::EntryInvalid, messages.collect())
        }
    };
    let violations = messages.into_iter();
    let violations = violations.map(|message| violation(code, "OUT-002", message));
    let report = Report::new(violations.collect());
    let fix = match faulty.first() {
        Some(first) => show_lines_command(&path, &[first.line]),
        None => "cleo manifest list".to_string(),
    };
    let error = report.error(&format!("entry {id}"));
    context.notes.failure = error.map(|error| error.fix(fix));
    Ok(ManifestVerdict {
        report,
        entry,
        faults: faulty,
    })
}

/// Returns a message about tasks that an entry names and that do not exist.
pub(super) fn find_unknown_tasks(
    transaction: &dyn Transaction,
    entry: &Entry,
) -> Result<Option<String>> {
    let unknown = Vec::from_iter(transaction.missing(&entry.tasks().collect())?);
    let list = id::list(&unknown);
    let message = format!("{} names tasks that do not exist: {list}", entry.id);
    Ok((!unknown.is_empty()).then_some(message))
}
