//! Finds the files in the outputs folder and below, which of them to copy, and what cannot be copied. Follows
//! no links.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::baseline::Baseline;
use super::copy::digest_file;
use super::refuse;
use crate::error::{Code, Error, Result};
use crate::file::unreadable;
use crate::tree::{BYTES_MAX, file_digest};
use crate::workspace::{OUTPUT_DIR, Workspace};

/// Maximum number of new files and folders below the outputs folder, its direct entries not counted.
const VISITS_MAX: usize = 10_000;

#[derive(Default)]
pub(super) struct Outputs {
    pub(super) paths: Vec<String>,
    /// The paths that are new, or whose content is.
    pub(super) changed: Vec<String>,
    /// New links and files whose names are not UTF-8, which are not copied, with marks by which a baseline knows them.
    pub(super) others: Vec<(PathBuf, String)>,
    beyond: Option<Error>,
}

impl Outputs {
    /// Finds the regular files among outputs, except the manifest. Entries of the baseline have no bounds; without a
    /// baseline nothing has.
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
            let (place, kind, name) = (entry.path(), entry.file_type(), entry.file_name());
            if name == ".git" {
                found.beyond.get_or_insert_with(|| refuse_repository(place));
                if kind.is_dir() {
                    walk.skip_current_dir();
                }
                continue;
            }
            let (start, end) = (b"MANIFEST", b".jsonl");
            let is_manifest = name.as_bytes().starts_with(start) && name.as_bytes().ends_with(end);
            if entry.depth() == 1 && is_manifest {
                continue;
            }
            let path = place.strip_prefix(root).unwrap_or(place);
            let plain = path.to_str().filter(|_| !kind.is_symlink());
            let is_file = kind.is_file() || kind.is_symlink();
            let mark = || describe_content(path, place);
            let is_old = baseline.is_some_and(|baseline| match plain {
                Some(path) if kind.is_dir() => baseline.has_below(path),
                Some(path) => baseline.has(root, path),
                None => is_file && baseline.others.contains(&mark()),
            });
            if baseline.is_some() && !is_old && entry.depth() > 1 {
                visits += 1;
                if kind.is_file() {
                    let size = entry.metadata().map_or(0, |there| there.len());
                    bytes = u64::saturating_add(bytes, size);
                }
                if visits > VISITS_MAX || bytes > BYTES_MAX {
                    found.beyond.get_or_insert_with(|| refuse_size(root));
                    walk.skip_current_dir();
                    continue;
                }
            }
            match plain {
                Some(path) if kind.is_file() => {
                    found.changed.extend((!is_old).then(|| path.to_string()));
                    found.paths.push(path.to_string());
                }
                None if is_file && !is_old => found.others.push((place.to_path_buf(), mark())),
                _ => {}
            }
        }
        found.paths.sort_unstable();
        found
    }

    pub(super) fn all(mut self) -> Result<Outputs> {
        self.beyond.take().map_or(Ok(self), Err)
    }

    /// Finds the folder of outputs. A folder outside of the worktree, to which a link leads, stays when it is removed.
    fn open(&mut self, root: &Path) -> Option<PathBuf> {
        let workspace = Workspace::from(root.to_path_buf());
        let folder = workspace.confine(OUTPUT_DIR).ok();
        if folder.is_none() {
            let folder = root.join(OUTPUT_DIR);
            self.note_unread(&folder, folder.canonicalize().err());
        }
        folder
    }

    /// Notes a folder that cannot be listed, unless it is missing.
    fn note_unread(&mut self, path: &Path, cause: Option<io::Error>) {
        if let Some(cause) = cause.filter(|cause| cause.kind() != ErrorKind::NotFound) {
            self.beyond.get_or_insert_with(|| unreadable(path, cause));
        }
    }
}

impl Baseline {
    fn has(&self, root: &Path, path: &str) -> bool {
        let now = || digest_file(root, &root.join(path)).ok().flatten();
        self.tree
            .get(path)
            .is_some_and(|before| now().as_ref() == Some(before))
    }

    fn has_below(&self, folder: &str) -> bool {
        let folder = format!("{folder}/");
        let next = self.tree.range(folder.clone()..).next();
        next.is_some_and(|(file, _)| file.starts_with(&folder))
    }
}

/// Describes a link or a file by its path and content.
fn describe_content(path: &Path, place: &Path) -> String {
    match fs::read_link(place) {
        Ok(target) => format!("{path:?} {target:?}"),
        Err(_) => format!("{path:?} {}", file_digest(place).unwrap_or_default()),
    }
}

/// Refuses to remove a worktree with an output that is not copied.
pub(super) fn refuse_other(place: &Path) -> Error {
    let what = match place.is_symlink() {
        true => "is a link",
        false => "has a name that is not UTF-8",
    };
    let message = format!(
        "{} {what}, and only files with plain names are copied to the workspace",
        place.display()
    );
    refuse(message, "ls -la", place.parent().unwrap_or(place))
}

/// Refuses an output when something else, such as a link, is in the place of its folder in the workspace.
pub(super) fn require_folders(home: &Path, path: &str) -> Result<()> {
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
            let place = other.display();
            let message =
                format!("{path} cannot be copied to the workspace: {place} is not a folder");
            let error = refuse(message, "ls -ld", other);
            Err(Error {
                code: Code::FileUnwritable,
                ..error
            })
        }
    }
}

fn refuse_repository(mark: &Path) -> Error {
    let folder = mark.parent().unwrap_or(mark);
    let message = format!(
        "the repository {} is among the outputs, of which only files are copied to the workspace",
        folder.display()
    );
    refuse(message, "ls -la", folder)
}

fn refuse_size(root: &Path) -> Error {
    let folder = root.join(OUTPUT_DIR);
    let megabytes = BYTES_MAX >> 20;
    let message = format!(
        "the folders in {} hold more than is copied to the workspace: {VISITS_MAX} files, {megabytes} MB",
        folder.display()
    );
    refuse(message, "du -a", &folder)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::fs::symlink;

    use super::super::baseline::digests;
    use super::*;

    /// A root with an output in a folder.
    fn world() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let outputs = root.path().join(OUTPUT_DIR);
        fs::create_dir_all(outputs.join("a/b")).unwrap();
        fs::write(outputs.join("a/b/c.csv"), "1").unwrap();
        (root, outputs)
    }

    fn find(root: &Path) -> Outputs {
        Outputs::find(root, Some(&Baseline::default()))
    }

    // Elsewhere no file can have such a name.
    #[cfg(target_os = "linux")]
    #[test]
    fn new_links_and_names_without_utf8_are_reported() {
        let (root, outputs) = world();
        symlink("c.csv", outputs.join("a/b/last.csv")).unwrap();
        fs::write(outputs.join(OsStr::from_bytes(b"caf\xe9.csv")), "1").unwrap();
        let folder = outputs.join(OsStr::from_bytes(b"d\xe9"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("x.csv"), "1").unwrap();
        let told = find(root.path()).all().unwrap().others;
        let mut told: Vec<String> = told
            .iter()
            .map(|(place, _)| refuse_other(place).message)
            .collect();
        told.sort();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].contains("/a/b/last.csv is a link"), "{told:?}");
        assert!(told[1].contains("is not UTF-8"), "{told:?}");
        let found = Outputs::find(root.path(), None);
        let others = found.others.into_iter().map(|(_, mark)| mark);
        let baseline = Baseline {
            tree: digests(root.path(), root.path(), found.paths),
            others: others.collect(),
            ..Baseline::default()
        };
        let again = Outputs::find(root.path(), Some(&baseline));
        assert!(again.others.is_empty() && again.changed.is_empty());
        assert_eq!(again.paths.len(), 1);
    }

    #[test]
    fn unreadable_folder_is_not_empty() {
        let root = tempfile::tempdir().unwrap();
        symlink("claudedocs", root.path().join("claudedocs")).unwrap();
        let why = find(root.path()).all().err().unwrap().message;
        assert!(why.contains("agent-outputs cannot be read"), "{why}");
    }

    #[test]
    fn repos_and_too_many_outputs_are_refused() {
        let (root, outputs) = world();
        fs::create_dir_all(outputs.join("a/.git/objects")).unwrap();
        fs::write(outputs.join("a/.git/objects/x"), "1").unwrap();
        let found = find(root.path());
        assert_eq!(found.paths.len(), 1, "{:?}", found.paths);
        let why = found.all().err().unwrap().message;
        assert!(why.contains("/a is among"), "{why}");

        let (root, outputs) = world();
        let large = fs::File::create(outputs.join("a/large")).unwrap();
        large.set_len(BYTES_MAX + 1).unwrap();
        fs::write(outputs.join("z.md"), "1").unwrap();
        let found = find(root.path());
        let is_there = found.paths.iter().any(|path| path.ends_with("/z.md"));
        let why = found.all().err().unwrap().message;
        assert!(is_there && why.contains("hold more"), "{why}");
    }

    #[test]
    fn output_goes_through_folders_only() {
        let (root, outputs) = world();
        let way = |path: &str| require_folders(root.path(), &format!("{OUTPUT_DIR}/{path}"));
        fs::write(outputs.join("file"), "1").unwrap();
        symlink(root.path(), outputs.join("link")).unwrap();
        for (path, is_free) in [
            ("x.md", true),
            ("a/b/c.csv", true),
            ("new/b/c.csv", true),
            ("file/c.csv", false),
            ("link/c.csv", false),
            ("link/b/c.csv", false),
        ] {
            assert_eq!(way(path).is_ok(), is_free, "{path}");
        }
    }
}
