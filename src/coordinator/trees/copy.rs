//! Copies files between worktrees and the workspace. A leftover process may replace a file at any time, so
//! only the content that was checked is copied.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::Result;
use crate::file::{open_below, unreadable, unwritable};
use crate::tree::digest_content;

/// Digests a regular file below a folder, however large it is; none when it is missing.
pub(super) fn digest_file(top: &Path, path: &Path) -> io::Result<Option<String>> {
    match open_below(top, path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(None),
        file => digest(&file?).map(Some),
    }
}

/// Digests a file up to the length that it has now: a file that grows has no end.
fn digest(file: &File) -> io::Result<String> {
    let length = file.metadata()?.len();
    Ok(digest_content(file.take(length))?.0)
}

/// Copies a file with its modification time, which dates the agent's work. The file must be below `top` and,
/// if a digest is given, still match it.
pub(super) fn copy(top: &Path, from: &Path, digested: Option<&str>, to: &Path) -> Result<()> {
    let file = open_below(top, from).map_err(|cause| unreadable(from, cause))?;
    let draft = write_draft(&file, to).map_err(|cause| unwritable(to, cause))?;
    let written = File::open(draft.path()).and_then(|draft| digest(&draft));
    let written = written.map_err(|cause| unreadable(draft.path(), cause))?;
    if digested.is_some_and(|digested| digested != written) {
        let cause = io::Error::other("it was changed meanwhile");
        return Err(unreadable(from, cause));
    }
    // A link in its place is replaced and its target stays: the agent may not have been allowed to write there.
    let put = draft.persist(to).map(drop);
    put.map_err(|failed| unwritable(to, failed.error))
}

/// Copies a file to one beside the place that it is for.
fn write_draft(file: &File, path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let there = file.metadata()?;
    // The system removes the permissions that the umask forbids.
    let mode = 0o666 | (there.permissions().mode() & 0o111);
    let mut draft = tempfile::Builder::new()
        .prefix(".new-")
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(folder)?;
    io::copy(&mut file.take(there.len()), &mut draft)?;
    draft.as_file().set_modified(there.modified()?)?;
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;
    use crate::error::Code;

    #[test]
    fn only_digested_content_is_copied() {
        let folder = tempfile::tempdir().unwrap();
        let [top, to] = ["top", "home/to"].map(|name| folder.path().join(name));
        let from = top.join("data/y.csv");
        fs::create_dir_all(top.join("data")).unwrap();
        fs::write(folder.path().join("secret"), "secret").unwrap();
        fs::write(&from, "1").unwrap();
        let digested = digest_file(&top, &from).unwrap();
        copy(&top, &from, digested.as_deref(), &to).unwrap();
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
            let refused = copy(&top, &from, digested.as_deref(), &to).unwrap_err();
            assert_eq!(refused.code, Code::FileUnreadable, "{swap}");
            assert_eq!(fs::read_to_string(&to).unwrap(), "1", "{swap}");
        }
        let left = fs::read_dir(folder.path().join("home")).unwrap();
        assert_eq!(left.count(), 1, "no draft is left");
    }

    #[test]
    fn missing_file_has_no_digest() {
        let top = tempfile::tempdir().unwrap();
        let place = |name: &str| top.path().join(name);
        symlink("none", place("link")).unwrap();
        let held = |name: &str| digest_file(top.path(), &place(name)).map_err(|_| ());
        assert_eq!(held("none"), Ok(None));
        assert_eq!(held("none/x"), Ok(None));
        assert_eq!(held("link"), Err(()));
    }
}
