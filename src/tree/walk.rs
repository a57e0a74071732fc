//! Listing files without git.

use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::glob::Globs;
use super::{FILES_MAX, Listed, counts, too_much};

/// Most files and folders that are looked at.
const VISITS_MAX: usize = 4 * FILES_MAX;

/// Lists the files that the patterns stand for, and only looks into folders where some can be.
pub(super) fn files(root: &Path, globs: &Globs) -> Listed {
    let mut files = Vec::new();
    for folder in globs.folders() {
        files.extend(below(root, &folder)?);
    }
    Ok(files)
}

/// Lists the files in a folder, to any depth; links are not followed. What cannot be looked into
/// is left out.
pub(super) fn below(root: &Path, folder: &Path) -> Listed {
    let start = root.join(folder);
    let mut files: Vec<PathBuf> = Vec::new();
    let walk = WalkDir::new(&start).into_iter();
    let relative = |path: &Path| {
        path.strip_prefix(root)
            .map(Path::to_path_buf)
            .unwrap_or_default()
    };
    let walk = walk.filter_entry(|entry| counts(&relative(entry.path())));
    for (visited, entry) in walk.enumerate() {
        if visited >= VISITS_MAX {
            return Err(too_much());
        }
        let entry = entry.ok().filter(|entry| !entry.file_type().is_dir());
        files.extend(entry.map(|entry| relative(entry.path())));
    }
    Ok(files)
}
