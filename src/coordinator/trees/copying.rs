//! Copies files between worktrees and the workspace. A leftover process may replace a file at any time, so
//! only the content that was checked is copied.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::error::Result;
use crate::file::{open_below, unreadable, unwritable};
use crate::id::hex;

const DRAFT: &str = ".new-";

struct Hashed<R> {
    text: R,
    hash: Sha256,
}

impl<R: Read> Hashed<R> {
    fn new(text: R) -> Hashed<R> {
        Hashed {
            text,
            hash: Sha256::new(),
        }
    }

    fn digest(self) -> String {
        hex(&self.hash.finalize())
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(buffer)?;
        self.hash.update(&buffer[..read]);
        Ok(read)
    }
}

/// Digests a regular file below a folder, however large it is; none when it is not there.
pub(super) fn digest_file(top: &Path, path: &Path) -> io::Result<Option<String>> {
    let (file, there) = match open_file(top, path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut text = Hashed::new(file.take(there.len()));
    io::copy(&mut text, &mut io::sink())?;
    Ok(Some(text.digest()))
}

/// Opens a regular file below a folder, and says how long it is: one that grows comes to no end.
fn open_file(top: &Path, path: &Path) -> io::Result<(File, Metadata)> {
    let file = open_below(top, path)?;
    let there = file.metadata()?;
    Ok((file, there))
}

/// Copies a file with its modification time, which dates the agent's work. The file must lie below `top` and,
/// if a digest is given, still match it.
pub(super) fn copy(top: &Path, from: &Path, held: Option<&str>, to: &Path) -> Result<()> {
    let (file, there) = open_file(top, from).map_err(|cause| unreadable(from, cause))?;
    let mut text = Hashed::new(file.take(there.len()));
    let draft = write_draft(to, &mut text, Some(&there)).map_err(|cause| unwritable(to, cause))?;
    if held.is_some_and(|held| held != text.digest()) {
        let cause = io::Error::other("it was changed meanwhile");
        return Err(unreadable(from, cause));
    }
    let put = draft.persist(to).map(drop);
    put.map_err(|failed| unwritable(to, failed.error))
}

/// Writes a file atomically. A link is replaced and its target stays: its author may not have been allowed to
/// write there.
pub(super) fn put(path: &Path, mut text: &[u8]) -> io::Result<()> {
    write_draft(path, &mut text, None)?.persist(path)?;
    Ok(())
}

/// Writes a file beside the place that it is for.
fn write_draft(
    path: &Path,
    text: &mut dyn Read,
    like: Option<&Metadata>,
) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let runs = like.map_or(0, |like| like.permissions().mode() & 0o111);
    // The system takes away what the umask forbids.
    let mut draft = tempfile::Builder::new()
        .prefix(DRAFT)
        .permissions(fs::Permissions::from_mode(0o666 | runs))
        .tempfile_in(folder)?;
    io::copy(text, &mut draft)?;
    if let Some(written) = like.and_then(|like| like.modified().ok()) {
        draft.as_file().set_modified(written)?;
    }
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;
    use crate::error::Code;

    #[test]
    fn only_what_was_looked_at_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let [top, to] = ["top", "home/to"].map(|name| folder.path().join(name));
        let from = top.join("data/y.csv");
        fs::create_dir_all(top.join("data")).unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        fs::write(&from, "1").unwrap();
        let held = digest_file(&top, &from).unwrap();
        copy(&top, &from, held.as_deref(), &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "1");
        for swap in [
            "echo 2 >data/y.csv",
            "ln -sf ../../secret data/y.csv",
            "rm data/y.csv && mkfifo data/y.csv",
            "rm -r data && mkdir ../data && echo 1 >../data/y.csv && ln -s ../data data",
            "rm data",
        ] {
            let mut shell = Command::new("sh");
            let done = shell.args(["-c", swap]).current_dir(&top).status();
            assert!(done.unwrap().success());
            let refused = copy(&top, &from, held.as_deref(), &to).unwrap_err();
            assert_eq!(refused.code, Code::FileUnreadable, "{swap}");
            assert_eq!(fs::read_to_string(&to).unwrap(), "1", "{swap}");
        }
        let left = fs::read_dir(folder.path().join("home")).unwrap();
        assert_eq!(left.count(), 1, "no draft is left");
    }

    #[test]
    fn missing_file_has_no_digest_and_a_link_is_an_error() {
        let top = tempfile::tempdir().unwrap();
        let place = |name: &str| top.path().join(name);
        symlink("none", place("link")).unwrap();
        let held = |name: &str| digest_file(top.path(), &place(name)).map_err(|_| ());
        assert_eq!(held("none"), Ok(None));
        assert_eq!(held("none/x"), Ok(None));
        assert_eq!(held("link"), Err(()));
    }
}
