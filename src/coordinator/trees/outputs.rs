//! Finds the files in the outputs folder and below, which of them to copy, and what cannot be copied. Follows
//! no links.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::baseline::Baseline;
use super::copying::digest_file;
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
    /// What is new and no copy of a file can transfer.
    pub(super) others: Vec<Other>,
    beyond: Option<Error>,
}

/// A link, or a file whose name is not UTF-8.
pub(super) struct Other {
    place: PathBuf,
    /// Tells whether it is as it was.
    pub(super) mark: String,
}

impl Outputs {
    /// Finds the regular files among outputs, except the manifest. What is as it was in the baseline has no bounds;
    /// without a baseline nothing has.
    pub(super) fn find(root: &Path, baseline: Option<&Baseline>) -> Outputs {
        let mut found = Outputs::default();
        let Some(folder) = found.open(root) else {
            return found;
        };
        let (mut visits, mut bytes) = (0, 0);
        let mut walk = WalkDir::new(folder).min_depth(1).into_iter();
        while let Some(entry) = walk.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(root).to_path_buf();
                    found.note_unread(&path, error.into_io_error());
                    continue;
                }
            };
            if entry.file_name() == ".git" {
                let place = entry.path();
                found.beyond.get_or_insert_with(|| repository(place));
                if entry.file_type().is_dir() {
                    walk.skip_current_dir();
                }
                continue;
            }
            let entry_kind = Entry::read(root, &entry);
            let is_old = baseline.is_some_and(|baseline| baseline.has(root, &entry_kind));
            if baseline.is_some() && !is_old && entry.depth() > 1 {
                visits += 1;
                if entry.file_type().is_file() {
                    let size = entry.metadata().map_or(0, |about| about.len());
                    bytes = u64::saturating_add(bytes, size);
                }
                if entry.depth() > DEPTH_MAX + 1 || visits > VISITS_MAX || bytes > BYTES_MAX {
                    found.beyond.get_or_insert_with(|| too_much(root));
                    walk.skip_current_dir();
                    continue;
                }
            }
            match entry_kind {
                Entry::File(path) => {
                    found.changed.extend((!is_old).then(|| path.clone()));
                    found.paths.push(path);
                }
                Entry::Other(other) if !is_old => found.others.push(other),
                _ => {}
            }
        }
        found.paths.sort_unstable();
        found
    }

    pub(super) fn all(mut self) -> Result<Outputs> {
        self.beyond.take().map_or(Ok(self), Err)
    }

    /// Finds the folder of outputs. What a link leads to outside does not go with the worktree.
    fn open(&mut self, root: &Path) -> Option<PathBuf> {
        let workspace = Workspace::from(root.to_path_buf());
        let folder = workspace.confine(OUTPUT_DIR).ok();
        if folder.is_none() {
            let folder = root.join(OUTPUT_DIR);
            self.note_unread(&folder, folder.canonicalize().err());
        }
        folder
    }

    /// Notes what cannot be looked into; what is not there has nothing in it.
    fn note_unread(&mut self, path: &Path, cause: Option<io::Error>) {
        if let Some(cause) = cause.filter(|cause| cause.kind() != ErrorKind::NotFound) {
            self.beyond.get_or_insert_with(|| unreadable(path, cause));
        }
    }
}

enum Entry {
    Folder(String),
    File(String),
    Other(Other),
    /// The manifest, and what holds nothing.
    Nothing,
}

impl Entry {
    fn read(root: &Path, entry: &DirEntry) -> Entry {
        let kind = entry.file_type();
        let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let name = entry.file_name().as_bytes();
        let is_manifest = name.starts_with(b"MANIFEST") && name.ends_with(b".jsonl");
        match path.to_str() {
            _ if entry.depth() == 1 && is_manifest => Entry::Nothing,
            Some(path) if kind.is_file() => Entry::File(path.to_string()),
            Some(path) if kind.is_dir() => Entry::Folder(path.to_string()),
            _ if kind.is_file() || kind.is_symlink() => Entry::Other(Other {
                place: entry.path().to_path_buf(),
                mark: mark(path, entry),
            }),
            _ => Entry::Nothing,
        }
    }
}

impl Baseline {
    fn has(&self, root: &Path, entry_kind: &Entry) -> bool {
        match entry_kind {
            Entry::Folder(path) => {
                let path = format!("{path}/");
                let next = self.tree.range(path.clone()..).next();
                next.is_some_and(|(file, _)| file.starts_with(&path))
            }
            Entry::File(path) => {
                let before = self.tree.get(path);
                before.is_some()
                    && before == digest_file(root, &root.join(path)).ok().flatten().as_ref()
            }
            Entry::Other(other) => self.others.contains(&other.mark),
            Entry::Nothing => false,
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
