//! Opening regular files where somebody else may put something else in their place at any time.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, retry_on_intr};

/// Opens a regular file. A link is not followed, and a pipe is not waited for.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    regular(open_at(CWD, path, OFlags::NOFOLLOW)?)
}

/// Opens a regular file as [`open_regular`] does, to write it too, and makes it if it is not there.
pub(crate) fn open_to_write(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::RDWR | OFlags::CREATE;
    regular(open_at(CWD, path, flags)?)
}

/// Opens a regular file, also through links. A pipe is not waited for.
pub(crate) fn open_now(path: &Path) -> io::Result<File> {
    regular(open_at_once(path)?)
}

/// Opens whatever is there, also through links, and waits for nothing: a named pipe has nothing to read then.
pub(super) fn open_at_once(path: &Path) -> io::Result<File> {
    open_at(CWD, path, OFlags::empty())
}

/// Opens a regular file as [`open_regular`] does, if it lies below a folder. Links on the way count as long as
/// they stay in there; one that is put there meanwhile is not followed.
pub(crate) fn open_below(top: &Path, path: &Path) -> io::Result<File> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(ErrorKind::InvalidInput.into());
    };
    let (top, folder) = (top.canonicalize()?, folder.canonicalize()?);
    let leads_out = |_| io::Error::other("a link on the way to it leads elsewhere");
    let way = folder.strip_prefix(&top).map_err(leads_out)?;
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = openat(CWD, top.as_path(), flags, Mode::empty())?;
    for step in way {
        at = openat(&at, step, flags, Mode::empty())?;
    }
    regular(open_at(at.as_fd(), Path::new(name), OFlags::NOFOLLOW)?)
}

fn open_at(folder: BorrowedFd<'_>, name: &Path, more: OFlags) -> io::Result<File> {
    // The system takes away what the umask forbids.
    let mode = Mode::from_raw_mode(0o666);
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
    match retry_on_intr(|| openat(folder, name, flags, mode)) {
        // So a link that is not to be followed and a socket are refused.
        Err(Errno::LOOP | Errno::NXIO) => Err(not_regular()),
        opened => Ok(File::from(opened?)),
    }
}

fn regular(file: File) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(not_regular()),
    }
}

/// Why something is not opened.
pub(crate) fn not_regular() -> io::Error {
    io::Error::other("it is not a regular file")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        fs::write(place("file"), "1").unwrap();
        symlink(place("file"), place("link")).unwrap();
        let made = Command::new("mkfifo").arg(place("pipe")).status();
        assert!(made.unwrap().success());
        let _socket = UnixListener::bind(place("socket")).unwrap();
        open_regular(&place("file")).unwrap();
        for name in ["link", "pipe", "socket", "."] {
            let why = open_regular(&place(name)).unwrap_err().to_string();
            assert_eq!(why, "it is not a regular file", "{name}");
        }
        let none = open_regular(&place("none")).unwrap_err();
        assert_eq!(none.kind(), ErrorKind::NotFound);
        // Opening waits for nothing, so that the kind of the file can be checked then.
        open_at_once(&place("link")).unwrap();
        open_at_once(&place("pipe")).unwrap();
        open_at_once(&place("socket")).unwrap_err();
        open_now(&place("link")).unwrap();
        open_now(&place("pipe")).unwrap_err();
    }

    #[test]
    fn no_link_leads_out_of_folder() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("top");
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::write(top.join("a/b/file"), "1").unwrap();
        fs::write(folder.path().join("secret"), "1").unwrap();
        symlink(folder.path(), top.join("out")).unwrap();
        symlink("a/b", top.join("in")).unwrap();
        symlink("a/b/file", top.join("link")).unwrap();
        for (path, is_opened) in [
            ("a/b/file", true),
            ("in/file", true),
            ("link", false),
            ("out/secret", false),
            ("../secret", false),
            ("a/none/file", false),
        ] {
            let found = open_below(&top, &top.join(path));
            assert_eq!(found.is_ok(), is_opened, "{path}: {found:?}");
        }
    }
}
