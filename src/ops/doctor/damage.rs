//! Damaged rows and pages of the database.

use std::fs;
use std::path::Path;

use super::Finding;
use crate::error::{Code, Result};
use crate::file::{DRAFT, unwritable};
use crate::id::TaskId;
use crate::ops::transfer::write_copy;
use crate::store::Database;
use crate::store::left_out::{self, Damage};
use crate::store::sqlite::SqliteStore;
use crate::tree::file_digest;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    left_out::take();
    let read = workspace
        .open_store()
        .and_then(|mut store| store.read_every_row());
    let damaged = left_out::take();
    let mut findings = Vec::new();
    // An error of the whole database is a finding of `database::check`.
    if read.is_ok() && damaged.is_empty() {
        findings.push(Finding::ok("database.rows", "every row can be read"));
    }
    findings.extend(damaged.into_iter().map(describe_row));
    findings
}

/// Removes the damaged rows that no other command removes.
pub(super) fn remove(workspace: &Workspace) -> Result<Vec<Finding>> {
    let Some(mut store) = workspace.store_if_there()? else {
        return Ok(Vec::new());
    };
    let removed = store.remove_damaged()?.into_iter();
    let findings = removed.map(|Damage { row, what }| {
        Finding::ok("database.removed", format!("{row} was removed ({what})"))
    });
    Ok(findings.collect())
}

/// Makes indexes and counts anew beside a copy of the database as it was, or saves the readable rows into a new file
/// beside the database, which stays as it is where pages are broken.
pub(super) fn repair(workspace: &Workspace, now: &str) -> Result<Vec<Finding>> {
    let check = "database.repair";
    let folder = workspace.root.join(".cleo");
    let store = match workspace.open_store() {
        Ok(Database::Sqlite(store)) => store,
        Ok(Database::Postgres(_)) => {
            let message = "the database is on a server, whose administrator repairs it";
            return Ok(vec![Finding::ok(check, message)]);
        }
        Err(error) if error.code == Code::StoreCorrupt => {
            let database = folder.join("cleo.db");
            let open = |draft: &Path| SqliteStore::open_damaged(&database, &draft.join("old.db"));
            return save_readable(&folder, open).map_err(|_| error);
        }
        Err(error) => return Err(error),
    };
    if store.broken_pages()?.is_empty() && store.disagreements()?.is_empty() {
        return Ok(vec![Finding::ok(check, "nothing needs it")]);
    }
    let moment = now.replace(['-', ':'], "");
    let kept = folder.join(format!("cleo.db-{moment}"));
    // A copy needs all tables and no index.
    if write_copy(&kept, |draft| store.copy_to(draft, &kept)).is_ok() {
        if let Ok(Some(lost)) = store.rebuild_derived() {
            let message = format!(
                "indexes, references, counts, graph and words were made anew; {} is the database as it was",
                kept.display()
            );
            return Ok(describe_repair(message, lost));
        }
        let _ = fs::remove_file(&kept);
    }
    save_readable(&folder, |_| Ok(store))
}

fn save_readable(
    folder: &Path,
    open: impl FnOnce(&Path) -> Result<SqliteStore>,
) -> Result<Vec<Finding>> {
    let draft = tempfile::Builder::new().prefix(DRAFT).tempdir_in(folder);
    let draft = draft.map_err(|cause| unwritable(folder, cause))?;
    let file = draft.path().join("cleo.db");
    let lost = open(draft.path())?.save_readable(&file)?;
    // Another repair of the same database writes the same file.
    let digest = file_digest(&file)
        .unwrap_or_default()
        .replace("sha256:", "");
    let saved = folder.join(format!("cleo.db-saved-{digest:.16}"));
    fs::rename(&file, &saved).map_err(|cause| unwritable(&saved, cause))?;
    let saved = saved.display();
    let message = format!("what can be read was saved into {saved}; see `cleo backup --help`");
    Ok(describe_repair(message, lost))
}

fn describe_repair(message: String, lost: Vec<String>) -> Vec<Finding> {
    let has_lost_proof = lost
        .iter()
        .any(|part| part.starts_with("gates: ") || part.starts_with("spawns: "));
    let mut findings = vec![Finding::ok("database.repair", message)];
    let lost = lost.into_iter();
    findings.extend(lost.map(|part| Finding::warn("database.lost", part, "cleo backup --help")));
    findings.extend(has_lost_proof.then(|| {
        let message = "which tasks need proof is lost with these rows; with the setting verify.required `always`, every task does";
        Finding::warn("database.lost", message, "cleo config set verify.required always")
    }));
    findings
}

fn describe_row(damage: Damage) -> Finding {
    let Damage { row, what } = &damage;
    if damage.is_altered() {
        let message = format!(
            "{row} was damaged or changed outside of cleo ({what}); the next change accepts it, such as `cleo update {row} --note checked`"
        );
        return Finding::fail("database.rows", message, format!("cleo show {row}"));
    }
    let way = match damage.suggest_removal() {
        Some(way) => format!("and {way}"),
        None => "it is left out of every answer and can stay where it is".to_string(),
    };
    let message = format!("{row} is damaged ({what}); everything else can be used, {way}");
    let fix = match row.parse::<TaskId>() {
        Ok(task) => format!("cleo delete {task} --dry-run"),
        Err(_) => "cleo explain E_ROW_DAMAGED".to_string(),
    };
    Finding::fail("database.rows", message, fix)
}
