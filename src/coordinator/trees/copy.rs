//! Copies files between worktrees and the workspace. A leftover process may replace a file at any time, so
//! only the content that was checked is copied.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{Tree, refuse};
use crate::error::{Result, quote};
use crate::file::{DRAFT, open_below, unreadable, unwritable};
use crate::id;
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

/// Copies a link as it is.
pub(super) fn copy_link(target: &Path, to: &Path) -> Result<()> {
    let make = || {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        if to.is_symlink() {
            fs::remove_file(to)?;
        }
        symlink(target, to)
    };
    make().map_err(|cause| unwritable(to, cause))
}

impl Tree {
    pub(super) fn run_folder(&self) -> &Path {
        self.baseline.ancestors().nth(2).unwrap_or(&self.baseline)
    }

    /// Returns where the copy of a file of the worktree is kept.
    pub(super) fn place_copy(&self, extension: &str, name: &str) -> Result<PathBuf> {
        let place = self.baseline.with_extension(extension).join(name);
        require_no_link(self.run_folder(), &place).map(|()| place)
    }

    /// Refuses to remove a worktree whose baseline is gone: what is new in it is unknown.
    pub(super) fn require_baseline(&self) -> Result<()> {
        require_no_link(self.run_folder(), &self.baseline)?;
        if self.baseline.exists() {
            return Ok(());
        }
        let (baseline, top) = (self.baseline.display(), &self.top);
        let message = format!(
            "{baseline} is gone, by which cleo knows what is new in the worktree: save what you need from there, and \
             remove it with `git worktree remove --force --force {}`",
            quote(&top.to_string_lossy())
        );
        Err(refuse(message, "ls -lA", top))
    }
}

/// Refuses a place in the folder of a run when a folder on the way is a link, with which an agent has files written over
/// elsewhere.
pub(super) fn require_no_link(run: &Path, place: &Path) -> Result<()> {
    let mut way = place.ancestors().skip(1).take_while(|above| *above != run);
    match way.find(|folder| folder.is_symlink()) {
        None => Ok(()),
        Some(link) => {
            let message = format!("{} is a link", link.display());
            Err(unwritable(place, io::Error::other(message)))
        }
    }
}

/// Copies a file to one beside the place that it is for. Its name is always the same, so that the next copy to this place
/// removes what a killed process left.
fn write_draft(file: &File, path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let there = file.metadata()?;
    let digest = id::digest(path.as_os_str().as_bytes());
    let name = digest.replace("sha256:", DRAFT);
    if folder.join(&name).symlink_metadata().is_ok() {
        fs::remove_file(folder.join(&name))?;
    }
    // The system removes the permissions that the umask forbids.
    let mode = there.permissions().mode() & 0o777;
    let mut draft = tempfile::Builder::new()
        .prefix(&name)
        .rand_bytes(0)
        .permissions(fs::Permissions::from_mode(mode))
        .tempfile_in(folder)?;
    io::copy(&mut file.take(there.len()), &mut draft)?;
    draft.as_file().set_modified(there.modified()?)?;
    Ok(draft)
}

#[cfg(test)]
mod tests {
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
