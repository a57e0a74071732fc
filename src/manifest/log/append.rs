//! Appends an entry as one durable line while other processes append too, with cleo or with `>>`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::find;
use crate::error::{Code, Error, Result, quote};
use crate::file::{lock_in_turn, not_regular, unreadable, unwritable};
use crate::manifest::entry::Entry;

pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Appends an entry and returns warnings. The line is on disk when this returns. A duplicate id is an error (exit
/// 101).
pub(crate) fn append(path: &Path, entry: &Entry) -> Result<Vec<String>> {
    append_within(path, entry, PATIENCE)
}

pub(super) fn append_within(path: &Path, entry: &Entry, patience: Duration) -> Result<Vec<String>> {
    let line = entry
        .line()
        .map_err(|fault| Error::new(Code::EntryInvalid, format!("the {fault}")))?;
    let mut file = open_locked(path, patience)?;
    let warnings = refuse_duplicate(path, &entry.id)?;
    write(&mut file, path, &line, warnings).map_err(|cause| unwritable(path, cause))
}

/// Writes the line at the end of the file. A last line without an end (a kill, a full disk, `printf … >>`) gets one
/// first.
fn write(
    file: &mut File,
    path: &Path,
    line: &str,
    mut warnings: Vec<String>,
) -> io::Result<Vec<String>> {
    let length = file.metadata()?.len();
    let torn = is_torn(file)?;
    let start = if torn { "\n" } else { "" };
    put(file, format!("{start}{line}\n").as_bytes())?;
    file.sync_data()?;
    if length == 0 {
        // The names of a new file and of the folders around it are durable, too.
        for folder in path
            .ancestors()
            .skip(1)
            .take(3)
            .filter(|path| path.is_dir())
        {
            File::open(folder)?.sync_all()?;
        }
    }
    if torn {
        warnings.push("the last line of the manifest had no end and got one; `cleo manifest validate` says what is torn".to_string());
    }
    Ok(warnings)
}

/// Appends bytes in one call, which the kernel does not mix with those of other writers. On a full disk none of them
/// remain.
pub(super) fn put(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let (mut begin, mut written) = (0, 0);
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(more) => {
                if written == 0 {
                    begin = file.stream_position()? - more as u64;
                }
                written += more;
            }
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) => {
                // Not if others have appended meanwhile: a torn line is better than a lost one.
                if written > 0 && file.metadata()?.len() == begin + written as u64 {
                    file.set_len(begin)?;
                }
                return Err(cause);
            }
        }
    }
    Ok(())
}

/// Returns true if the last line has no end. Another writer may be about to write it; then there is an empty line
/// between the two, which does no harm.
pub(super) fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Returns an error if an entry has this id, and a warning for each faulty line that has it.
pub(crate) fn refuse_duplicate(path: &Path, id: &str) -> Result<Vec<String>> {
    let found = find(path, id)?;
    if let Some((line, _)) = found.entry {
        let message = format!("the manifest has {id} already, in line {line}");
        return Err(
            Error::new(Code::Exists, message).fix(format!("cleo manifest show {}", quote(id)))
        );
    }
    Ok(found
        .faulty
        .iter()
        .map(|faulty| format!("{faulty}; it does not count"))
        .collect())
}

/// Opens or creates the file and locks it against other processes of cleo, until it is closed.
pub(super) fn open_locked(path: &Path, patience: Duration) -> Result<File> {
    let deadline = Instant::now() + patience;
    loop {
        let file = lock(open(path)?, path, deadline)?;
        // Another process may have replaced it meanwhile.
        if is_current(&file, path) {
            return Ok(file);
        }
    }
}

fn open(path: &Path) -> Result<File> {
    let refused = || Err(unreadable(path, not_regular()));
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => return refused(),
        Ok(_) => {}
        Err(_) => {
            let folder = path.parent().unwrap_or(path);
            fs::create_dir_all(folder).map_err(|cause| unwritable(folder, cause))?;
        }
    }
    let mut options = OpenOptions::new();
    let opened = options.read(true).append(true).create(true).open(path);
    let file = opened.map_err(|cause| unwritable(path, cause))?;
    // Another process may have put a pipe there meanwhile; opened for reading and writing, it does not block.
    match file.metadata().is_ok_and(|there| there.is_file()) {
        true => Ok(file),
        false => refused(),
    }
}

fn lock(file: File, path: &Path, deadline: Instant) -> Result<File> {
    let patience = deadline.saturating_duration_since(Instant::now());
    let locked = lock_in_turn(file, patience).map_err(|cause| unwritable(path, cause))?;
    locked.ok_or_else(|| {
        let place = path.display();
        let message = format!("another process has held the lock on {place} for too long");
        Error::new(Code::LockTimeout, message)
    })
}

fn is_current(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}
