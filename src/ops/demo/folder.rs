//! The folder that the demo gets: a new one, or an empty one that the user names.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Code, Error, Result, quote};
use crate::file::{unreadable, unwritable};

const NAME: &str = "cleo-demo";
/// Most folders of earlier demos that are counted past.
const MANY: u32 = 1_000;

/// Makes the folder and returns it as the user would type it, and in full.
pub(super) fn make(directory: &Path, named: Option<&Path>) -> Result<(String, PathBuf)> {
    let chosen = match named {
        Some(folder) => {
            take(directory, folder)?;
            folder.to_path_buf()
        }
        None => next_free(directory)?,
    };
    let full = directory.join(&chosen);
    let full = fs::canonicalize(&full).map_err(|cause| unreadable(&full, cause))?;
    Ok((chosen.to_string_lossy().into_owned(), full))
}

fn next_free(directory: &Path) -> Result<PathBuf> {
    let numbered = (2..=MANY).map(|number| format!("{NAME}-{number}"));
    for name in std::iter::once(NAME.to_string()).chain(numbered) {
        let path = directory.join(&name);
        match fs::create_dir(&path) {
            Ok(()) => return Ok(PathBuf::from(name)),
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
            Err(cause) => return Err(unwritable(&path, cause)),
        }
    }
    let message = format!("{} demos are here already", MANY);
    Err(Error::new(Code::Exists, message).fix("rm -r cleo-demo*"))
}

/// Takes a folder that is new or empty; what is in a folder is never mixed with a demo.
fn take(directory: &Path, folder: &Path) -> Result<()> {
    let path = directory.join(folder);
    fs::create_dir_all(&path).or_else(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => Ok(()),
        _ => Err(unwritable(&path, cause)),
    })?;
    let is_empty = fs::read_dir(&path).map(|mut entries| entries.next().is_none());
    if is_empty.unwrap_or(false) {
        return Ok(());
    }
    let message = format!("{} is there and not empty", path.display());
    let other = format!("{}-demo", folder.display());
    Err(Error::new(Code::Exists, message).fix(format!("cleo demo --dir {}", quote(&other))))
}
