//! Checking the manifest, or one entry of it.

use serde::Serialize;

use super::{Verdict, violation};
use crate::error::{Code, Error, Result};
use crate::file;
use crate::id;
use crate::manifest::log::{self, Found};
use crate::manifest::{Entry, Faulty};
use crate::ops::{Context, manifest};
use crate::store::Transaction;

/// What a check of the manifest found.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ManifestVerdict {
    /// Verdict and violations.
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
    /// The entry that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<Entry>,
    /// Lines that do not count.
    pub(crate) faults: Vec<Faulty>,
    /// The verdict as an error, when it failed.
    #[serde(skip)]
    pub(crate) error: Option<Error>,
}

/// Checks every line of the manifest.
pub(crate) fn manifest(context: &mut Context) -> Result<ManifestVerdict> {
    let found = manifest::validate(context)?;
    let told = found.faults.iter();
    let told = told.map(|fault| violation(fault.code, "OUT-002", fault.to_string()));
    Ok(ManifestVerdict {
        verdict: Verdict::of(told.collect()),
        entry: None,
        faults: found.faults,
        error: found.error,
    })
}

/// Checks one entry: it is there (else exit 62), it is valid, and its tasks exist (else exit 6).
pub(crate) fn entry(context: &mut Context, id: &str) -> Result<ManifestVerdict> {
    let path = context.workspace.manifest()?;
    let Found { entry, faulty } = log::find(&path, id)?;
    let entry = entry.map(|(_, entry)| entry);
    let verdict = match (&entry, faulty.is_empty()) {
        (Some(entry), _) => {
            let unknown = context.read(|transaction| unknown_tasks(transaction, entry))?;
            let told = unknown.map(|it| violation(Code::EntryInvalid, "OUT-002", it));
            Verdict::of(Vec::from_iter(told))
        }
        (None, true) => {
            let message = format!("the manifest has no entry {id}");
            Verdict::of(vec![violation(Code::EntryMissing, "OUT-002", message)])
        }
        (None, false) => {
            let told = faulty.iter();
            let told = told.map(|one| violation(Code::EntryInvalid, "OUT-002", one.to_string()));
            Verdict::of(told.collect())
        }
    };
    let error = verdict.error(&format!("entry {id}"));
    let look = faulty.first().map(|first| file::look(&path, &[first.line]));
    let fix = look.unwrap_or("cleo manifest list".to_string());
    let error = error.map(|error| error.fix(fix));
    Ok(ManifestVerdict {
        verdict,
        entry,
        faults: faulty,
        error,
    })
}

/// Says that an entry names tasks that do not exist, when it does.
pub(super) fn unknown_tasks(
    transaction: &dyn Transaction,
    entry: &Entry,
) -> Result<Option<String>> {
    let unknown = Vec::from_iter(transaction.missing(&entry.tasks().collect())?);
    let named = || {
        let list = id::list(&unknown);
        format!("{} names tasks that do not exist: {list}", entry.id)
    };
    Ok((!unknown.is_empty()).then(named))
}
