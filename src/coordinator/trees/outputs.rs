//! Finds the files in the outputs folder and below, which of them to copy, and what cannot be copied. Follows
//! no links.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::copying::held;
use crate::error::{Code, Error, Result, quote};
use crate::file::unreadable;
use crate::id::digest;
use crate::tree::BYTES_MAX;
use crate::workspace::{OUTPUT_DIR, Workspace};

const DEPTH_MAX: usize = 16;
/// Maximum number of files and folders to visit below the outputs folder, its direct entries not counted.
const VISITS_MAX: usize = 10_000;

#[derive(Default)]
pub(super) struct Outputs {
    pub(super) paths: Vec<String>,
    /// Those among them that were not there before, or held something else.
    pub(super) changed: Vec<String>,
    pub(super) others: Vec<Other>,
    beyond: Option<Error>,
}

/// What was there before: as long as it stays as it was, no bounds are set to it.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// Files by their places, with their digests.
    pub(super) files: &'a BTreeMap<String, String>,
    /// The marks of what else there was.
    pub(super) others: &'a BTreeSet<String>,
}

/// An output that copying a file cannot transfer: a link, or a file whose name is not UTF-8.
pub(super) struct Other {
    place: PathBuf,
    /// Tells whether it is as it was.
    pub(super) mark: String,
}

impl Outputs {
    /// Finds the regular files among outputs, except the manifest. Without a baseline no limits apply.
    pub(super) fn below(root: &Path, known: Option<Known<'_>>) -> Outputs {
        let mut look = Look {
            root,
            known,
            visited: 0,
            bytes: 0,
            found: Outputs::default(),
        };
        look.walk();
        look.found.paths.sort_unstable();
        look.found
    }

    pub(super) fn all(mut self) -> Result<Outputs> {
        match self.beyond.take() {
            Some(error) => Err(error),
            None => Ok(self),
        }
    }
}

enum Ware {
    Folder(String),
    File(String),
    Other(Other),
    /// The manifest, and what holds nothing.
    Nothing,
}

impl Ware {
    fn of(root: &Path, entry: &DirEntry) -> Ware {
        let kind = entry.file_type();
        let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let name = entry.file_name().as_bytes();
        let is_manifest = name.starts_with(b"MANIFEST") && name.ends_with(b".jsonl");
        if entry.depth() == 1 && is_manifest {
            return Ware::Nothing;
        }
        match path.to_str() {
            Some(path) if kind.is_file() => Ware::File(path.to_string()),
            Some(path) if kind.is_dir() => Ware::Folder(path.to_string()),
            _ if kind.is_file() || kind.is_symlink() => Ware::Other(Other {
                place: entry.path().to_path_buf(),
                mark: mark(path, entry),
            }),
            _ => Ware::Nothing,
        }
    }
}

struct Look<'a> {
    root: &'a Path,
    known: Option<Known<'a>>,
    visited: usize,
    bytes: u64,
    found: Outputs,
}

impl Look<'_> {
    fn walk(&mut self) {
        let Some(folder) = self.folder() else { return };
        let mut walk = WalkDir::new(folder).min_depth(1).into_iter();
        loop {
            match walk.next() {
                None => return,
                Some(Ok(entry)) if self.take(&entry) => {}
                Some(Ok(_)) => walk.skip_current_dir(),
                Some(Err(error)) => self.unread(error),
            }
        }
    }

    /// Finds the folder of outputs. What a link leads to outside does not go with the worktree.
    fn folder(&mut self) -> Option<PathBuf> {
        let workspace = Workspace::from(self.root.to_path_buf());
        if let Ok(folder) = workspace.confine(OUTPUT_DIR) {
            return Some(folder);
        }
        let folder = self.root.join(OUTPUT_DIR);
        let cause = folder.canonicalize().err();
        if let Some(cause) = cause.filter(|cause| cause.kind() != ErrorKind::NotFound) {
            self.found.beyond = Some(unreadable(&folder, cause));
        }
        None
    }

    fn take(&mut self, entry: &DirEntry) -> bool {
        let beyond = &mut self.found.beyond;
        if entry.file_name() == ".git" {
            beyond.get_or_insert_with(|| repository(entry.path()));
            return !entry.file_type().is_dir();
        }
        let ware = Ware::of(self.root, entry);
        let is_old = self.is_old(entry, &ware);
        let is_bounded = self.known.is_some() && !is_old && entry.depth() > 1;
        if is_bounded {
            self.visited += 1;
            if entry.file_type().is_file() {
                let size = entry.metadata().map_or(0, |about| about.len());
                self.bytes = self.bytes.saturating_add(size);
            }
            let is_near = entry.depth() <= DEPTH_MAX + 1;
            if !is_near || self.visited > VISITS_MAX || self.bytes > BYTES_MAX {
                let root = self.root;
                self.found.beyond.get_or_insert_with(|| too_much(root));
                return false;
            }
        }
        self.keep(ware, is_old);
        true
    }

    fn keep(&mut self, ware: Ware, is_old: bool) {
        match ware {
            Ware::File(path) => {
                if !is_old {
                    self.found.changed.push(path.clone());
                }
                self.found.paths.push(path);
            }
            Ware::Other(other) if !is_old => self.found.others.push(other),
            _ => {}
        }
    }

    fn is_old(&self, entry: &DirEntry, ware: &Ware) -> bool {
        let Some(Known { files, others }) = self.known else {
            return false;
        };
        match ware {
            Ware::Folder(path) => {
                let path = format!("{path}/");
                let next = files.range(path.clone()..).next();
                next.is_some_and(|(file, _)| file.starts_with(&path))
            }
            Ware::File(path) => files.get(path).is_some_and(|before| {
                let now = held(self.root, entry.path()).ok().flatten();
                now.as_ref() == Some(before)
            }),
            Ware::Other(other) => others.contains(&other.mark),
            Ware::Nothing => false,
        }
    }

    /// Notes what cannot be looked into; what is not there has nothing in it.
    fn unread(&mut self, error: walkdir::Error) {
        let path = error.path().unwrap_or(self.root).to_path_buf();
        let cause = error.into_io_error();
        if let Some(cause) = cause.filter(|cause| cause.kind() != ErrorKind::NotFound) {
            let beyond = &mut self.found.beyond;
            beyond.get_or_insert_with(|| unreadable(&path, cause));
        }
    }
}

fn mark(path: &Path, entry: &DirEntry) -> String {
    let mut text = path.as_os_str().as_bytes().to_vec();
    text.push(0);
    match fs::read_link(entry.path()) {
        Ok(target) => text.extend(target.as_os_str().as_bytes()),
        Err(_) => {
            let about = entry.metadata().ok();
            let about = about.map(|about| (about.len(), about.modified().ok()));
            text.extend(format!("{about:?}").into_bytes());
        }
    }
    digest(&text)
}

impl Other {
    pub(super) fn stays(&self) -> Error {
        let what = match self.place.is_symlink() {
            true => "is a link",
            false => "has a name that is not UTF-8",
        };
        let place = self.place.display();
        let message = format!("{place} {what}, and only files with plain names are brought home");
        let folder = self.place.parent().unwrap_or(&self.place);
        let look = format!("ls -la {}", quote(&folder.to_string_lossy()));
        Error::new(Code::InputInvalid, message).fix(look)
    }
}

/// Refuses an output when something else, such as a link, lies in the place of its folder in the workspace.
pub(super) fn require_way(home: &Path, path: &str) -> Result<()> {
    let top = home.join(OUTPUT_DIR);
    let file = home.join(path);
    let is_in_the_way = |folder: &Path| {
        let there = folder.symlink_metadata();
        there.is_ok_and(|there| !there.is_dir())
    };
    let mut way = file.ancestors().skip(1).take_while(|above| *above != top);
    match way.find(|folder| is_in_the_way(folder)) {
        None => Ok(()),
        Some(other) => {
            let message = format!(
                "{path} cannot be brought home: {} is no folder",
                other.display()
            );
            let fix = format!("ls -ld {}", quote(&other.to_string_lossy()));
            Err(Error::new(Code::FileUnwritable, message).fix(fix))
        }
    }
}

fn repository(place: &Path) -> Error {
    let folder = place.parent().unwrap_or(place);
    let message = format!(
        "the repository {} lies among the outputs, of which only files are brought home",
        folder.display()
    );
    let place = quote(&folder.to_string_lossy());
    Error::new(Code::InputInvalid, message).fix(format!("git -C {place} status"))
}

fn too_much(root: &Path) -> Error {
    let folder = root.join(OUTPUT_DIR);
    let megabytes = BYTES_MAX >> 20;
    let message = format!(
        "the folders in {} hold more than is brought home: {VISITS_MAX} files, {megabytes} MB, \
         {DEPTH_MAX} folders deep",
        folder.display()
    );
    let place = quote(&folder.to_string_lossy());
    Error::new(Code::InputInvalid, message).fix(format!("du -a {place} | sort -n | tail"))
}

#[cfg(test)]
mod tests;
