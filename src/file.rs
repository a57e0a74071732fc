//! Reads and writes files within limits, locks them, and describes errors.

mod lines;
mod queue;
mod regular;

pub(crate) use lines::{Line, Lines, stdin_unreadable};
pub(crate) use queue::lock_in_turn;
pub(crate) use regular::{not_regular, open_below, open_now, open_regular, open_to_write};

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs};

use tempfile::NamedTempFile;

use crate::error::{Code, Error, Result, quote};

/// Prefix of a file or folder that gets its name once it is whole; `doctor` finds by it those that a killed process left.
pub(crate) const DRAFT: &str = ".cleo-new-";
/// Permissions of a file that only its owner may read.
pub(crate) const PRIVATE_FILE: u32 = 0o600;
/// Permissions of a folder that only its owner may enter.
pub(crate) const PRIVATE_FOLDER: u32 = 0o700;

/// Creates a folder that only its owner may enter, with the folders that are missing above it.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(PRIVATE_FOLDER).create(path)
}

pub(crate) fn remove_group_access(path: &Path, there: &fs::Metadata) -> io::Result<()> {
    let mode = there.permissions().mode() & 0o7777;
    match mode & 0o077 {
        0 => Ok(()),
        _ => fs::set_permissions(path, fs::Permissions::from_mode(mode & !0o077)),
    }
}

pub(crate) fn read(path: &Path, max: u64) -> Result<Vec<u8>> {
    read_within(path, max)?.ok_or_else(|| too_large(path, max))
}

pub(crate) fn read_within(path: &Path, max: u64) -> Result<Option<Vec<u8>>> {
    let bytes = read_start(path, max + 1)?;
    Ok((bytes.len() as u64 <= max).then_some(bytes))
}

/// Reads a file that [`write_private`] wrote, up to `max` bytes; `None` when others may have planted it: a
/// link, another account's file, or one open to others.
pub(crate) fn read_private(path: &Path, max: u64) -> Option<Vec<u8>> {
    let file = open_regular(path).ok()?;
    let there = file.metadata().ok()?;
    let is_private = there.permissions().mode() & 0o077 == 0 && is_own(&there);
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes).ok()?;
    (is_private && bytes.len() as u64 <= max).then_some(bytes)
}

pub(crate) fn is_own(there: &fs::Metadata) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let called_sudo = || env::var("SUDO_UID").ok().and_then(|id| id.parse().ok());
    there.uid() == own || (own == 0 && called_sudo() == Some(there.uid()))
}

/// Reads the first `max` bytes of a file, as far as [`open`] opens it.
pub(crate) fn read_start(path: &Path, max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = open(path)?.take(max).read_to_end(&mut bytes);
    read.map_err(|cause| unreadable(path, cause))?;
    Ok(bytes)
}

/// Opens a file to read it. Only a regular file is opened: a named pipe would wait for a writer that
/// never comes.
pub(crate) fn open(path: &Path) -> Result<fs::File> {
    // Reading a folder says that it is one.
    let is_read = |there: &fs::Metadata| there.is_file() || there.is_dir();
    let opened = || {
        // A pipe is not opened: its writer would stop waiting for its reader.
        let there = fs::metadata(path)?;
        let file = is_read(&there).then(|| regular::open_at_once(path));
        let file = file.unwrap_or_else(|| Err(not_regular()))?;
        match is_read(&file.metadata()?) {
            true => Ok(file),
            false => Err(not_regular()),
        }
    };
    opened().map_err(|cause| unreadable(path, cause))
}

/// Opens a file as [`open`] does, but no folder; none when there is none.
pub(crate) fn open_if_there(path: &Path) -> Result<Option<fs::File>> {
    match open_now(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some).map_err(|cause| unreadable(path, cause)),
    }
}

/// Reads an input of at most `max` bytes that the user named: a file, `-` for standard input, or
/// whatever a shell puts there for `<(…)`.
pub(crate) fn read_input(path: &Path, max: u64) -> Result<Vec<u8>> {
    if path.as_os_str() == "-" {
        return read_stdin(max);
    }
    let file = fs::File::open(path).map_err(|cause| unreadable(path, cause))?;
    let mut bytes = Vec::new();
    let read = file.take(max + 1).read_to_end(&mut bytes);
    read.map_err(|cause| unreadable(path, cause))?;
    if bytes.len() as u64 > max {
        return Err(too_large(path, max));
    }
    Ok(bytes)
}

fn too_large(path: &Path, max: u64) -> Error {
    let message = format!("{} has more than {max} bytes", path.display());
    let look = format!("ls -l {}", quote(&path.to_string_lossy()));
    Error::new(Code::InputInvalid, message).fix(look)
}

/// Reads standard input of at most `max` bytes.
pub(crate) fn read_stdin(max: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(max + 1).read_to_end(&mut bytes);
    read.map_err(stdin_unreadable)?;
    if bytes.len() as u64 > max {
        let message = format!("standard input has more than {max} bytes");
        return Err(Error::new(Code::InputInvalid, message));
    }
    Ok(bytes)
}

/// Writes a text that begins with `mark`, as [`write_whole`] does, over an earlier one (`kind`) but no other file.
pub(crate) fn write_over_own(path: &Path, mark: &str, kind: &str, text: &str) -> Result<()> {
    refuse_other_file(path, mark, kind)?;
    write_whole(path, text)
}

/// Refuses a file that is there and does not begin with `mark`.
pub(crate) fn refuse_other_file(path: &Path, mark: &str, kind: &str) -> Result<()> {
    if path.is_file() {
        let start = read_start(path, mark.len() as u64)?;
        if !start.is_empty() && start != mark.as_bytes() {
            let path = path.display();
            let message = format!("{path} exists and is not {kind}; it was not changed");
            return Err(Error::new(Code::Exists, message));
        }
    }
    Ok(())
}

/// Writes a file atomically, through a temporary file. A link stays, and its target is written. Pipes and
/// devices are refused, because the file would replace them, and so are dangling links.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<()> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink());
    if is_link {
        let target = fs::canonicalize(path).map_err(|cause| unwritable(path, cause))?;
        return write_there(&target, text);
    }
    write_there(path, text)
}

/// Writes a file that is not a link.
fn write_there(path: &Path, text: &str) -> Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return Err(unwritable(path, not_regular()));
    }
    replace_file(path, text, true).map_err(|cause| unwritable(path, cause))
}

/// Writes a file as [`write_whole`] does, in a folder of cleo's own, so that only its owner may read it.
/// A link in its place is replaced.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<()> {
    replace_private(path, text, true).map_err(|cause| unwritable(path, cause))
}

/// Writes a file as [`write_private`] does, unless one is there, which stays.
pub(crate) fn create_private(path: &Path, text: &str) -> Result<()> {
    match replace_private(path, text, false) {
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Ok(()),
        written => written.map_err(|cause| unwritable(path, cause)),
    }
}

fn replace_private(path: &Path, text: &str, replace: bool) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_private_folder(folder)?;
    remove_group_access(folder, &fs::metadata(folder)?)?;
    let mut draft = tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder)?;
    draft.write_all(text.as_bytes())?;
    keep_draft(draft, path, replace)
}

/// Writes a file that is not there yet, whole as [`write_whole`] does; false when it is there, also
/// when somebody else has just made it.
pub(crate) fn write_new(path: &Path, text: &str) -> Result<bool> {
    match replace_file(path, text, false) {
        Ok(()) => Ok(true),
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(cause) => Err(unwritable(path, cause)),
    }
}

/// Creates an empty private file in place of an existing one. A link is replaced and its target stays: its
/// author may not have been allowed to write there. Opened for appending, so that truncation by others leaves
/// no hole.
pub(crate) fn create_anew(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create_new(true).mode(PRIVATE_FILE);
    match options.open(path) {
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path).and_then(|()| options.open(path))
        }
        made => made,
    }
}

fn replace_file(path: &Path, text: &str, replace: bool) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // The system takes away what the umask forbids.
    let mut draft = tempfile::Builder::new()
        .prefix(DRAFT)
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    draft.write_all(text.as_bytes())?;
    if let Ok(there) = fs::metadata(path) {
        draft.as_file().set_permissions(there.permissions())?;
    }
    keep_draft(draft, path, replace)
}

/// Gives a draft its name, safe on the disk.
fn keep_draft(draft: NamedTempFile, path: &Path, replace: bool) -> io::Result<()> {
    draft.as_file().sync_all()?;
    match replace {
        true => draft.persist(path)?,
        false => draft.persist_noclobber(path)?,
    };
    fs::File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

pub(crate) fn unwritable(path: &Path, cause: std::io::Error) -> Error {
    let message = format!("{} cannot be written: {cause}", path.display());
    let no_room = matches!(
        cause.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge
    );
    let (code, look) = match no_room {
        true => (Code::DiskFull, "df -h"),
        false => (Code::FileUnwritable, "ls -ld"),
    };
    Error::new(code, message)
        .fix(format!(
            "{look} {}",
            nearest_existing(path.parent().unwrap_or(path))
        ))
        .because(cause)
}

pub(crate) fn unreadable(path: &Path, cause: std::io::Error) -> Error {
    error!(FileUnreadable, "{} cannot be read: {cause}", path.display())
        .fix(format!("ls -ld {}", nearest_existing(path)))
        .because(cause)
}

/// Writes the command that shows lines of a file. Each is cut: one can be as long as the file.
pub(crate) fn show_lines_command(path: &Path, lines: &[usize]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}p")).collect();
    let file = quote(&path.to_string_lossy());
    format!("sed -n {} {file} | cut -c1-200", quote(&lines.join(";")))
}

pub(crate) fn nearest_existing(path: &Path) -> String {
    let there = path.ancestors().find(|path| path.exists());
    quote(&there.unwrap_or(Path::new(".")).to_string_lossy())
}

/// Names the time at which a folder of a workspace was made. Where the file system keeps none, the file counts that
/// `init` writes first and nothing changes.
pub(crate) fn name_birth(folder: &Path, created: Option<SystemTime>) -> String {
    let since = created.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let since = since.filter(|since| !since.is_zero());
    if let Some(since) = since {
        return since.as_nanos().to_string();
    }
    let first = folder.join(".gitignore").symlink_metadata();
    let first = first.map(|first| format!("{}.{}", first.mtime(), first.mtime_nsec()));
    first.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn birth_is_another_one_when_folder_is_made_again() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        let ignore = folder.join(".gitignore");
        fs::write(&ignore, "*").unwrap();
        let first = name_birth(folder, None);
        assert_eq!(name_birth(folder, Some(UNIX_EPOCH)), first);
        // The clock of a file system ticks in milliseconds.
        while name_birth(folder, None) == first {
            fs::remove_file(&ignore).unwrap();
            fs::write(&ignore, "*").unwrap();
        }
        let at = UNIX_EPOCH + std::time::Duration::from_nanos(7);
        assert_eq!(name_birth(folder, Some(at)), "7");
    }

    #[test]
    fn what_is_no_regular_file_is_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let _open = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let refused = write_whole(&socket, "1234").unwrap_err();
        assert_eq!(refused.code, Code::FileUnwritable);
        assert!(!fs::symlink_metadata(&socket).unwrap().is_file());
    }

    #[test]
    fn link_stays_and_its_target_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "1").unwrap();
        for (target, link) in [
            ("file", "link"),
            ("link", "link-to-link"),
            ("none", "dangling"),
        ] {
            std::os::unix::fs::symlink(target, path(link)).unwrap();
        }
        write_whole(&path("link-to-link"), "2").unwrap();
        assert_eq!(fs::read(path("file")).unwrap(), b"2");
        let refused = write_whole(&path("dangling"), "3").unwrap_err();
        assert_eq!(refused.code, Code::FileUnwritable);
        for link in ["link", "link-to-link", "dangling"] {
            assert!(
                fs::symlink_metadata(path(link)).unwrap().is_symlink(),
                "{link}"
            );
        }
    }

    #[test]
    fn file_is_read_within_bounds_and_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/file");
        write_whole(&path, "1234").unwrap();
        write_whole(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert!(!write_new(&path, "new").unwrap());
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        assert!(write_new(&folder.path().join("other/file"), "new").unwrap());
        assert_eq!(read(&path, 4).unwrap_err().code, Code::InputInvalid);
        assert_eq!(
            read(&folder.path().join("none"), 4).unwrap_err().code,
            Code::FileUnreadable
        );
        assert_eq!(fs::read_dir(folder.path().join("new")).unwrap().count(), 1);
    }
}
