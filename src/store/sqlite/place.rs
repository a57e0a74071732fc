//! Checks location and owner of a database. A folder that came with a copied project, or that another account
//! has planted, may hold anything.

use std::env;
use std::fs::{self, File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Code, Error, Result, quote};
use crate::file::{PRIVATE_FILE, is_own, remove_group_access, unwritable};
use crate::store::sql::faults::corrupt;

/// Endings of the files beside a database: those that SQLite keeps, and the note of the last commit.
const BESIDE: [&str; 4] = ["-wal", "-shm", "-journal", "-last"];
const SAFE_DIRECTORY: &str = "CLEO_SAFE_DIRECTORY";

/// Refuses a database of another account, or behind a link that leads out of the workspace. Removes
/// permissions of other accounts.
pub(crate) fn check_place(database: &Path) -> Result<()> {
    let Some(folder) = database.parent() else {
        return Ok(());
    };
    let root = folder.parent().unwrap_or(folder);
    for place in [folder, database] {
        let Ok(mut there) = fs::symlink_metadata(place) else {
            return Ok(());
        };
        if there.is_symlink() {
            there = behind_link(place, root)?;
        }
        check_owner(place, &there, root)?;
        // Where this fails, `doctor` tells it.
        let _ = remove_group_access(place, &there);
        let is_open = there.mode() & 0o077 != 0;
        for path in companion_files(database)
            .iter()
            .filter(|_| place == database)
        {
            match fs::symlink_metadata(path) {
                // Opening a pipe would wait for ever.
                Ok(there) if !there.is_file() => {
                    return Err(corrupt(path, "it is not a regular file"));
                }
                Ok(there) if is_open => _ = remove_group_access(path, &there),
                _ => {}
            }
        }
    }
    Ok(())
}

/// A database and its log, by device and inode: what is written to files that were removed meanwhile is lost.
#[derive(Default)]
pub(super) struct DatabaseFiles([Option<(u64, u64)>; 2]);

impl DatabaseFiles {
    pub(super) fn new(database: &Path) -> DatabaseFiles {
        let [log, ..] = companion_files(database);
        DatabaseFiles([database, &log].map(|path| {
            let there = fs::metadata(path).ok()?;
            Some((there.dev(), there.ino()))
        }))
    }

    pub(super) fn require_unchanged(&self, database: &Path) -> Result<()> {
        if DatabaseFiles::new(database).0 == self.0 {
            return Ok(());
        }
        let message = format!(
            "{} or its log was removed or replaced while it was in use; nothing was written",
            database.display()
        );
        Err(Error::new(Code::StoreCorrupt, message))
    }
}

pub(super) fn companion_files(database: &Path) -> [PathBuf; 4] {
    BESIDE.map(|ending| {
        let mut name = database.as_os_str().to_os_string();
        name.push(ending);
        PathBuf::from(name)
    })
}

/// Creates the database file privately, so that SQLite never makes one that others can read. An existing file
/// stays.
pub(super) fn create_private(database: &Path) -> Result<()> {
    let mut options = File::options();
    options.write(true).create_new(true).mode(PRIVATE_FILE);
    match options.open(database) {
        Err(cause) if cause.kind() != ErrorKind::AlreadyExists => Err(unwritable(database, cause)),
        _ => Ok(()),
    }
}

fn behind_link(place: &Path, root: &Path) -> Result<Metadata> {
    let (target, root) = (fs::canonicalize(place), fs::canonicalize(root));
    let is_inside = matches!((target, root), (Ok(target), Ok(root)) if target.starts_with(&root));
    let there = fs::metadata(place).ok().filter(|_| is_inside);
    there.ok_or_else(|| {
        let message = format!(
            "{} is a link that leads out of the workspace or to nothing; cleo does not follow it",
            place.display()
        );
        let look = format!("ls -ld {}", quote(&place.to_string_lossy()));
        Error::new(Code::PathOutside, message).fix(look)
    })
}

fn check_owner(place: &Path, there: &Metadata, root: &Path) -> Result<()> {
    if is_own(there) || is_declared_safe(root) {
        return Ok(());
    }
    let message = format!(
        "{} belongs to another account (user id {}), which may have put anything into it; if you trust that \
         account, name the workspace in {SAFE_DIRECTORY}",
        place.display(),
        there.uid()
    );
    let error = foreign_store(message).fix(format!("ls -ld {}", quote(&place.to_string_lossy())));
    let root = fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let declare = format!("export {SAFE_DIRECTORY}={}", quote(&root.to_string_lossy()));
    Err(error.or("use it, if you trust that account", declare))
}

/// Returns true for a workspace whose foreign owner the user trusts, like `safe.directory` of git: nothing in
/// the workspace can set it.
fn is_declared_safe(root: &Path) -> bool {
    let Some(declared) = env::var_os(SAFE_DIRECTORY) else {
        return false;
    };
    let root = fs::canonicalize(root).ok();
    env::split_paths(&declared)
        .any(|path| path.is_absolute() && fs::canonicalize(path).ok() == root && root.is_some())
}

/// The error for a store that holds, or is, what cleo did not make.
pub(super) fn foreign_store(message: String) -> Error {
    Error::new(Code::StoreForeign, message)
}
