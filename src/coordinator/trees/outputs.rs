//! The files that agents write into the folder of outputs and into folders below it: which of them are
//! brought over, and what is more than that. No link is followed.

use std::io::ErrorKind;
use std::path::Path;

use walkdir::{DirEntry, WalkDir};

use super::reports::DRAFT;
use crate::error::{Code, Error, Result, quote};
use crate::file::unreadable;
use crate::tree::BYTES_MAX;
use crate::workspace::{OUTPUT_DIR, Workspace};

/// How many folders deep files are brought over.
const DEPTH_MAX: usize = 16;
/// Most files and folders below the folder of outputs that are looked at; what lies in it itself does not
/// count.
const VISITS_MAX: usize = 10_000;

/// Outputs below a root.
#[derive(Default)]
pub(super) struct Outputs {
    /// Their places, relative to the root.
    pub(super) paths: Vec<String>,
    /// Why there is more that is not brought over.
    beyond: Option<Error>,
    visited: usize,
    bytes: u64,
}

impl Outputs {
    /// Looks for the regular files among outputs, without the manifest.
    pub(super) fn below(root: &Path) -> Outputs {
        let mut found = Outputs::default();
        let workspace = Workspace {
            root: root.to_path_buf(),
        };
        // What a link leads to outside does not go with the worktree.
        let Ok(folder) = workspace.confine(OUTPUT_DIR) else {
            return found;
        };
        let mut walk = WalkDir::new(folder).min_depth(1).into_iter();
        loop {
            match walk.next() {
                None => break,
                Some(Ok(entry)) if found.take(root, &entry) => {}
                Some(Ok(_)) => walk.skip_current_dir(),
                Some(Err(error)) => found.unread(root, error),
            }
        }
        found.paths.sort();
        found
    }

    /// Returns the places of all, or says why there is more.
    pub(super) fn all(self) -> Result<Vec<String>> {
        match self.beyond {
            Some(error) => Err(error),
            None => Ok(self.paths),
        }
    }

    /// Takes a file or a folder, and says whether to go on in the folder.
    fn take(&mut self, root: &Path, entry: &DirEntry) -> bool {
        if entry.file_name() == ".git" {
            self.beyond.get_or_insert(repository(entry.path()));
            return !entry.file_type().is_dir();
        }
        if entry.depth() > 1 && !self.has_room(entry) {
            self.beyond.get_or_insert(too_much(root));
            return false;
        }
        self.paths.extend(output(root, entry));
        true
    }

    fn has_room(&mut self, entry: &DirEntry) -> bool {
        let size = match entry.file_type().is_file() {
            true => entry.metadata().map_or(0, |about| about.len()),
            false => 0,
        };
        self.visited += 1;
        self.bytes = self.bytes.saturating_add(size);
        let is_near = entry.depth() <= DEPTH_MAX + 1;
        is_near && self.visited <= VISITS_MAX && self.bytes <= BYTES_MAX
    }

    /// Notes what cannot be looked into; what is not there has nothing in it.
    fn unread(&mut self, root: &Path, error: walkdir::Error) {
        let path = error.path().unwrap_or(root).to_path_buf();
        let cause = error.into_io_error();
        if let Some(cause) = cause.filter(|cause| cause.kind() != ErrorKind::NotFound) {
            self.beyond.get_or_insert(unreadable(&path, cause));
        }
    }
}

/// Returns the place of a file that is an output.
fn output(root: &Path, entry: &DirEntry) -> Option<String> {
    let name = entry.file_name().to_str()?;
    let is_manifest = entry.depth() == 1 && name.starts_with("MANIFEST");
    let is_output = entry.file_type().is_file() && !is_manifest && !name.starts_with(DRAFT);
    let path = entry.path().strip_prefix(root).ok()?.to_str()?;
    is_output.then(|| path.to_string())
}

/// Refuses an output when there is something else in the workspace where its folder is to be, such as a
/// link, behind which nobody expects it.
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
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A root with an output in a folder.
    fn world() -> (tempfile::TempDir, std::path::PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let outputs = root.path().join(OUTPUT_DIR);
        fs::create_dir_all(outputs.join("a/b")).unwrap();
        fs::write(outputs.join("a/b/c.csv"), "1").unwrap();
        (root, outputs)
    }

    fn paths(root: &Path) -> Vec<String> {
        let paths = Outputs::below(root).all().unwrap().into_iter();
        let short = |path: String| path.replace(&format!("{OUTPUT_DIR}/"), "");
        paths.map(short).collect()
    }

    #[test]
    fn outputs_are_files_in_all_folders_and_no_links() {
        let (root, outputs) = world();
        for name in ["x.md", "MANIFEST.jsonl", ".new-1", "a/MANIFEST.md"] {
            fs::write(outputs.join(name), "1").unwrap();
        }
        fs::write(root.path().join("secret"), "1").unwrap();
        symlink(root.path().join("secret"), outputs.join("a/link")).unwrap();
        symlink(root.path(), outputs.join("around")).unwrap();
        assert_eq!(paths(root.path()), ["a/MANIFEST.md", "a/b/c.csv", "x.md"]);
    }

    #[test]
    fn there_may_be_none() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(paths(root.path()), [] as [&str; 0]);
        let (other, _) = world();
        fs::create_dir(root.path().join("claudedocs")).unwrap();
        symlink(other.path(), root.path().join(OUTPUT_DIR)).unwrap();
        assert_eq!(paths(root.path()), [] as [&str; 0], "it leads out");
    }

    #[test]
    fn what_is_more_than_comes_home_is_said() {
        let (root, outputs) = world();
        fs::create_dir_all(outputs.join("a/.git/objects")).unwrap();
        fs::write(outputs.join("a/.git/objects/x"), "1").unwrap();
        let found = Outputs::below(root.path());
        assert_eq!(found.paths.len(), 1, "{:?}", found.paths);
        let why = found.all().unwrap_err().message;
        assert!(why.contains("/a lies among"), "{why}");

        let (root, outputs) = world();
        let deep = outputs.join(["d"; DEPTH_MAX].join("/"));
        fs::create_dir_all(deep.join("e")).unwrap();
        fs::write(deep.join("file"), "1").unwrap();
        assert_eq!(paths(root.path()).len(), 2);
        fs::write(deep.join("e/file"), "1").unwrap();
        let why = Outputs::below(root.path()).all().unwrap_err().message;
        assert!(why.contains("hold more"), "{why}");

        let (root, outputs) = world();
        let large = fs::File::create(outputs.join("a/large")).unwrap();
        large.set_len(BYTES_MAX + 1).unwrap();
        fs::write(outputs.join("z.md"), "1").unwrap();
        let found = Outputs::below(root.path());
        let is_there = found.paths.iter().any(|path| path.ends_with("/z.md"));
        assert!(is_there && found.all().is_err());
    }

    #[test]
    fn an_output_goes_through_folders_only() {
        let (root, outputs) = world();
        let way = |path: &str| require_way(root.path(), &format!("{OUTPUT_DIR}/{path}"));
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
