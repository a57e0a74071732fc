//! The files of a task as one digest, so that a change of any of them shows.
//!
//! These are the files that match what the task declares ([`glob`]); without declared files all
//! that git tracks and all that it does not ignore, and where there is no git everything below the
//! root. Files in `.cleo/`, `claudedocs/` and `.git` never count. A file that git ignores only
//! counts when it is declared by its very path.
//!
//! Content is hashed by cleo itself, never compared by git: marks in its index cannot hide a
//! change, and no filter of a repository is run. So the digest stays the same when what is there
//! is committed, and with and without git.

pub(crate) mod changes;
mod checkout;
mod git;
mod glob;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

use crate::error::Result;
use crate::file::open_regular;
use crate::id::hex;
pub(crate) use checkout::{is_linked_worktree, main_checkout, root_in_worktree};
pub(crate) use git::{
    RESERVED_BRANCH, commit, find_fork, find_top, head, is_ahead, is_commit_id, refuse_branch,
    require_git_version,
};
pub(crate) use glob::Globs;

/// Most files that are digested.
pub(crate) const FILES_MAX: usize = 50_000;
/// Most bytes that are digested.
pub(crate) const BYTES_MAX: u64 = 512 << 20;
const CHUNK: usize = 64 * 1024;
/// Folders of the root that belong to cleo and never count.
const OURS: [&str; 2] = [".cleo", "claudedocs"];

/// The files of a task when they were looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub(crate) struct Tree {
    /// SHA-256 over paths, kinds and contents; none when they cannot be read.
    pub(crate) digest: Option<String>,
    /// How many files there are.
    pub(crate) files: usize,
    /// Why there is no digest.
    pub(crate) problem: Option<String>,
    /// The patterns that match them.
    #[serde(skip)]
    pub(crate) patterns: Vec<String>,
}

pub(crate) fn digest(root: &Path, patterns: &[String]) -> Result<Tree> {
    let globs = match patterns.is_empty() {
        true => Ok(Globs::everything()),
        false => Globs::new(patterns).map_err(|error| error.message),
    };
    let paths = match globs {
        Ok(globs) => collect_files(root, &globs)?,
        Err(problem) => Err(problem),
    };
    let read = paths.and_then(|paths| {
        let digest = hash_files(root, &paths).ok_or_else(too_much)?;
        Ok((digest, paths.len()))
    });
    let (digest, files, problem) = match read {
        Ok((digest, files)) => (Some(digest), files, None),
        Err(problem) => (None, 0, Some(problem)),
    };
    Ok(Tree {
        digest,
        files,
        problem,
        patterns: patterns.to_vec(),
    })
}

/// Finds which of some sets of patterns match the same file, with one such file. Only files
/// that are there count, and paths that several declare as they are.
pub(crate) fn find_overlaps(
    root: &Path,
    sets: &[&[String]],
) -> Result<Vec<(usize, usize, PathBuf)>> {
    let mut found = BTreeMap::new();
    if sets.len() < 2 {
        return Ok(Vec::new());
    }
    // Patterns that cannot be used match nothing.
    let globs: Vec<Option<Globs>> = sets.iter().map(|set| Globs::new(set).ok()).collect();
    let mut paths = collect_files(root, &Globs::everything())?.unwrap_or_default();
    let plain = globs.iter().flatten().flat_map(Globs::without_signs);
    paths.extend(plain.map(PathBuf::from));
    for path in paths {
        let has = |at: &usize| globs[*at].as_ref().is_some_and(|globs| globs.has(&path));
        let has: Vec<usize> = (0..sets.len()).filter(has).collect();
        for (at, first) in has.iter().enumerate() {
            for second in &has[at + 1..] {
                found
                    .entry((*first, *second))
                    .or_insert_with(|| path.clone());
            }
        }
    }
    let found = found.into_iter();
    Ok(found
        .map(|((first, second), path)| (first, second, path))
        .collect())
}

fn too_much() -> String {
    let megabytes = BYTES_MAX >> 20;
    format!("more than {FILES_MAX} files or {megabytes} MB; declare which ones the task is about")
}

/// Paths relative to the root, sorted and each once, or why there are none.
type Listed = std::result::Result<Vec<PathBuf>, String>;

fn collect_files(root: &Path, globs: &Globs) -> Result<Listed> {
    let listed = match git::files(root)? {
        // A repository that ignores all of the workspace knows nothing of it.
        git::Files::Known(paths) if !paths.is_empty() => expand_folders(root, paths),
        git::Files::Known(_) | git::Files::NoRepository => list_files(root, globs),
        git::Files::Unknown(problem) => Err(problem),
    };
    let is_file = |path: &PathBuf| {
        let kind = fs::symlink_metadata(root.join(path));
        kind.is_ok_and(|kind| !kind.is_dir())
    };
    Ok(listed.map(|mut paths| {
        paths.retain(|path| globs.has(path));
        paths.extend(globs.without_signs().map(PathBuf::from).filter(is_file));
        paths.retain(|path| is_counted(path));
        paths.sort_unstable();
        paths.dedup();
        paths
    }))
}

/// Leaves out what is gone, and puts the files of a folder in its place: of a repository within
/// this one, git only names that.
fn expand_folders(root: &Path, paths: Vec<PathBuf>) -> Listed {
    let mut files = Vec::with_capacity(paths.len());
    for path in paths.into_iter().filter(|path| is_counted(path)) {
        match fs::symlink_metadata(root.join(&path)) {
            Ok(kind) if kind.is_dir() => files.extend(list_below(root, &path)?),
            Ok(_) => files.push(path),
            Err(_) => {}
        }
    }
    Ok(files)
}

/// Returns whether a file belongs neither to cleo nor to git.
pub(crate) fn is_counted(path: &Path) -> bool {
    let mut parts = path.components().map(|part| part.as_os_str());
    let is_ours = path
        .components()
        .next()
        .is_some_and(|first| OURS.iter().any(|name| first.as_os_str() == *name));
    !is_ours && !parts.any(|part| part == ".git")
}

/// Digests files one after the other; none when they are too many or too large.
fn hash_files(root: &Path, paths: &[PathBuf]) -> Option<String> {
    let mut hash = Sha256::new();
    let mut left = BYTES_MAX;
    if paths.len() > FILES_MAX {
        return None;
    }
    let mut inside = Inside::new(root);
    for path in paths {
        let full = root.join(path);
        let (kind, content) = match inside.has(&full) {
            true => digest_file_content(&full, &mut left)?,
            false => (b'?', String::new()),
        };
        // Neither a path nor a digest can hold what stands between them.
        hash.update(path.as_os_str().as_bytes());
        hash.update([0, kind]);
        hash.update(content.as_bytes());
        hash.update([0]);
    }
    Some(hex(&hash.finalize()))
}

/// Returns which files are really below the root, and not behind a link that leads out.
struct Inside {
    root: Option<PathBuf>,
    last: Option<(PathBuf, bool)>,
}

impl Inside {
    fn new(root: &Path) -> Inside {
        Inside {
            root: root.canonicalize().ok(),
            last: None,
        }
    }

    /// Files come folder by folder, so that of each folder is asked once.
    fn has(&mut self, file: &Path) -> bool {
        let folder = file.parent().unwrap_or(file);
        if let Some((_, known)) = self.last.as_ref().filter(|(last, _)| last == folder) {
            return *known;
        }
        let real = folder.canonicalize().ok();
        let is_inside = real
            .zip(self.root.as_ref())
            .is_some_and(|(real, root)| real.starts_with(root));
        self.last = Some((folder.to_path_buf(), is_inside));
        is_inside
    }
}

/// Returns the kind of a file and the digest of what is in it. Of a link that is where it leads; of
/// what cannot be read, nothing. None when it has more bytes than are left.
fn digest_file_content(path: &Path, left: &mut u64) -> Option<(u8, String)> {
    if let Ok(target) = fs::read_link(path) {
        return Some((b'l', crate::id::digest(target.as_os_str().as_bytes())));
    }
    let Ok((mut file, is_program)) = open_file(path) else {
        return Some((b'?', String::new()));
    };
    let digest = read_all(&mut file, left)?;
    let kind = if is_program { b'x' } else { b'f' };
    Some(digest.map_or((b'?', String::new()), |digest| (kind, digest)))
}

fn open_file(path: &Path) -> std::io::Result<(File, bool)> {
    let file = open_regular(path)?;
    let is_program = file.metadata()?.permissions().mode() & 0o100 != 0;
    Ok((file, is_program))
}

/// Digests a file; the outer none means that it is too large, the inner that it cannot be read.
fn read_all(file: &mut File, left: &mut u64) -> Option<Option<String>> {
    let Ok((digest, read)) = digest_content(file.take(*left + 1)) else {
        return Some(None);
    };
    *left = left.checked_sub(read)?;
    Some(Some(digest))
}

/// Digests content, and counts its bytes.
pub(crate) fn digest_content(mut content: impl Read) -> std::io::Result<(String, u64)> {
    let (mut hash, mut length) = (Sha256::new(), 0);
    let mut chunk = vec![0; CHUNK];
    loop {
        match content.read(&mut chunk) {
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(0) => return Ok((hex(&hash.finalize()), length)),
            read => {
                let read = read?;
                hash.update(&chunk[..read]);
                length += read as u64;
            }
        }
    }
}

/// Digests one regular file of the workspace; none when it is not there, is none or is too large.
pub(crate) fn file_digest(path: &Path) -> Option<String> {
    let (mut file, _) = open_file(path).ok()?;
    let mut left = BYTES_MAX;
    read_all(&mut file, &mut left)?
}

#[cfg(test)]
mod tests;

/// Most files and folders that are looked at.
const VISITS_MAX: usize = 4 * FILES_MAX;

/// Lists the files that the patterns match, and only looks into folders where some can be.
fn list_files(root: &Path, globs: &Globs) -> Listed {
    let mut files = Vec::new();
    for folder in globs.folders() {
        files.extend(list_below(root, &folder)?);
    }
    Ok(files)
}

/// Lists the files in a folder, to any depth; links are not followed. A folder that
/// cannot be read is left out.
fn list_below(root: &Path, folder: &Path) -> Listed {
    let start = root.join(folder);
    let mut files: Vec<PathBuf> = Vec::new();
    let walk = WalkDir::new(&start).into_iter();
    let relative = |path: &Path| {
        path.strip_prefix(root)
            .map(Path::to_path_buf)
            .unwrap_or_default()
    };
    let walk = walk.filter_entry(|entry| is_counted(&relative(entry.path())));
    for (visited, entry) in walk.enumerate() {
        if visited >= VISITS_MAX {
            return Err(too_much());
        }
        let entry = entry.ok().filter(|entry| !entry.file_type().is_dir());
        files.extend(entry.map(|entry| relative(entry.path())));
    }
    Ok(files)
}
