//! The differences between a commit and another, or the files of a folder, by file. Git compares contents as they are: no
//! filter, no driver and no setting of the repository takes part, because they may be an attacker's.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::git::{ask_if_there, ask_with, refuse};
use crate::error::Result;
use crate::file;

/// Most files that are named.
const FILES_MAX: usize = 500;
/// Most bytes of text of all files, and of one.
const PATCH_MAX: usize = 2 << 20;
const TEXT_MAX: usize = 128 << 10;
/// Largest index that is copied.
const INDEX_MAX: u64 = 64 << 20;
/// Longest `.git` file of a worktree.
const MARK_MAX: u64 = 4 << 10;
/// Options of every comparison.
const PLAIN: &str =
    "--no-color --no-ext-diff --no-textconv --no-renames --no-relative --full-index";

/// The files that differ, by path.
#[derive(Debug, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Changes {
    pub(crate) files: Vec<FileChange>,
    /// How many there are in all.
    pub(crate) total: usize,
}

/// A file that differs.
#[derive(Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileChange {
    pub(crate) path: String,
    /// `added`, `deleted` or `changed`.
    pub(crate) change: String,
    /// Number of lines.
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// Its hunks in the unified format; none of a binary file, and of one beyond the limits.
    pub(crate) text: Option<String>,
    /// Whether there is more text.
    pub(crate) cut: bool,
}

/// Compares two commits.
pub(crate) fn between(root: &Path, from: &str, to: &str) -> Result<Changes> {
    let ask = |shape: &str| {
        let words = format!("diff {PLAIN} {shape} {from} {to} --");
        let answer = ask_if_there(root, words.split(' '))?;
        answer
            .unwrap_or_else(|| Err("there is no repository".to_string()))
            .map_err(refuse)
    };
    let (names, patch) = (ask("--raw -z")?, ask("--patch")?);
    Ok(read(&names, &patch))
}

/// Compares a commit with the files of a folder, also with those that git does not track and does not ignore. The
/// folder is a checkout of the repository at `root`. The index and new objects are kept apart from the repository.
pub(crate) fn in_folder(root: &Path, folder: &Path, from: &str) -> Result<Changes> {
    let common = ask_if_there(
        root,
        ["rev-parse", "--path-format=absolute", "--git-common-dir"],
    )?;
    let common = common.unwrap_or_else(|| Err("there is no repository".to_string()));
    let common = String::from_utf8_lossy(&common.map_err(refuse)?)
        .trim_end()
        .to_string();
    let common = PathBuf::from(common);
    let own =
        tempfile::tempdir().map_err(|cause| file::unwritable(&std::env::temp_dir(), cause))?;
    let write = |name: &str, text: &str| {
        let path = own.path().join(name);
        fs::write(&path, text).map_err(|cause| file::unwritable(&path, cause))
    };
    for name in ["refs", "objects"] {
        let path = own.path().join(name);
        fs::create_dir(&path).map_err(|cause| file::unwritable(&path, cause))?;
    }
    write("HEAD", "ref: refs/heads/none\n")?;
    write(
        "config",
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
    )?;
    let variables = [
        ("GIT_DIR", own.path().as_os_str().to_os_string()),
        ("GIT_WORK_TREE", folder.as_os_str().to_os_string()),
        (
            "GIT_ALTERNATE_OBJECT_DIRECTORIES",
            common.join("objects").into_os_string(),
        ),
        ("GIT_CONFIG_GLOBAL", OsString::from("/dev/null")),
        ("GIT_CONFIG_NOSYSTEM", OsString::from("1")),
    ];
    let run =
        |words: &[&OsStr]| ask_with(folder, &variables, words.iter().copied())?.map_err(refuse);
    let ask = |words: &str| run(&words.split(' ').map(OsStr::new).collect::<Vec<_>>());
    // The index of the checkout spares reading what did not change.
    let has_index = find_index(&common, folder).is_some_and(|index| {
        let index = file::read(&index, INDEX_MAX).ok();
        index.is_some_and(|index| fs::write(own.path().join("index"), index).is_ok())
    });
    if !has_index || add_all(&run).is_err() {
        let _ = fs::remove_file(own.path().join("index"));
        ask(&format!("read-tree {from}"))?;
        add_all(&run)?;
    }
    let diff = format!("diff --cached {PLAIN}");
    let names = ask(&format!("{diff} --raw -z {from} --"))?;
    let patch = ask(&format!("{diff} --patch {from} --"))?;
    Ok(read(&names, &patch))
}

/// Adds all files to the index. Repositories in the folder are added anew, because git looks into those that are in
/// the index already, with their filters.
fn add_all(run: &dyn Fn(&[&OsStr]) -> Result<Vec<u8>>) -> Result<()> {
    let listed = run(&["ls-files", "--stage", "-z"].map(OsStr::new))?;
    let lines = listed.split(|byte| *byte == 0);
    let lines = lines.filter(|line| line.starts_with(b"160000 "));
    let paths = lines.filter_map(|line| {
        let at = line.iter().position(|byte| *byte == b'\t')?;
        Some(OsStr::from_bytes(&line[at + 1..]))
    });
    let remove = ["update-index", "--force-remove", "--"].map(OsStr::new);
    let words: Vec<&OsStr> = remove.into_iter().chain(paths).collect();
    if words.len() > remove.len() {
        run(&words)?;
    }
    run(&["add", "--all"].map(OsStr::new)).map(drop)
}

/// Finds the index of a checkout: that of a linked worktree is in the repository, below `worktrees`.
fn find_index(common: &Path, folder: &Path) -> Option<PathBuf> {
    let mark = folder.join(".git");
    if mark.symlink_metadata().ok()?.is_dir() {
        return Some(mark.join("index"));
    }
    let text = file::read(&mark, MARK_MAX).ok()?;
    let text = String::from_utf8(text).ok()?;
    let place = fs::canonicalize(text.strip_prefix("gitdir: ")?.trim_end()).ok()?;
    let all = fs::canonicalize(common.join("worktrees")).ok()?;
    (place.parent()? == all).then(|| place.join("index"))
}

/// Reads names as `--raw -z` lists them, and their patches, which come in the same order.
fn read(names: &[u8], patch: &[u8]) -> Changes {
    let patch = String::from_utf8_lossy(patch);
    let mut patches = split_patch(&patch).into_iter();
    let names = String::from_utf8_lossy(names);
    let names: Vec<&str> = names.split('\0').filter(|part| !part.is_empty()).collect();
    let (mut changes, mut left) = (Changes::default(), PATCH_MAX);
    for pair in names.chunks_exact(2) {
        let letter = pair[0].rsplit(' ').next().unwrap_or_default();
        // A file that becomes a link has two patches.
        let n_patches = if letter.starts_with('T') { 2 } else { 1 };
        let hunks: Vec<&str> = patches.by_ref().take(n_patches).map(strip_header).collect();
        changes.total += 1;
        if changes.files.len() >= FILES_MAX {
            continue;
        }
        let change = match letter.chars().next() {
            Some('A') => "added",
            Some('D') => "deleted",
            _ => "changed",
        };
        let change = FileChange {
            path: pair[1].to_string(),
            change: change.to_string(),
            ..FileChange::default()
        };
        changes
            .files
            .push(with_text(change, &hunks.concat(), &mut left));
    }
    changes
}

fn split_patch(patch: &str) -> Vec<&str> {
    let begins = patch.match_indices("diff --git ").map(|(at, _)| at);
    let is_line = |at: &usize| *at == 0 || patch.as_bytes()[at - 1] == b'\n';
    let begins: Vec<usize> = begins.filter(is_line).collect();
    let ends = begins.iter().skip(1).copied().chain([patch.len()]);
    begins
        .iter()
        .zip(ends)
        .map(|(from, to)| &patch[*from..to])
        .collect()
}

/// Returns the hunks of a patch; nothing of a binary file.
fn strip_header(patch: &str) -> &str {
    patch.find("\n@@ ").map_or("", |at| &patch[at + 1..])
}

fn with_text(mut change: FileChange, hunks: &str, left: &mut usize) -> FileChange {
    let lines = |sign: char| hunks.lines().filter(|line| line.starts_with(sign)).count();
    (change.added, change.removed) = (lines('+'), lines('-'));
    let room = TEXT_MAX.min(*left);
    let end = hunks.floor_char_boundary(room);
    let end = match end < hunks.len() {
        true => hunks[..end].rfind('\n').map_or(0, |at| at + 1),
        false => end,
    };
    change.cut = end < hunks.len();
    *left -= end;
    change.text = (end > 0).then(|| hunks[..end].to_string());
    change
}

/// Makes the change of a new file that begins with `text`.
pub(crate) fn describe_new(path: String, text: &str, is_cut: bool) -> FileChange {
    let lines = text.lines().count();
    let hunk = text.lines().map(|line| format!("+{line}\n"));
    let hunk = format!("@@ -0,0 +1,{lines} @@\n") + &hunk.collect::<String>();
    let change = FileChange {
        path,
        change: "added".to_string(),
        ..FileChange::default()
    };
    let mut change = with_text(change, &hunk, &mut PATCH_MAX.clone());
    change.cut |= is_cut;
    change
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &str = ":000000 100644 0 1 A\0a b.rs\0:100644 000000 1 0 D\0logo.png\0:100644 100644 1 2 M\0c.rs\0";
    const PATCH: &str = "diff --git a/a b.rs b/a b.rs\nnew file mode 100644\n--- /dev/null\n+++ b/a b.rs\n\
        @@ -0,0 +1,2 @@\n+diff --git a/x b/x\n+two\n\
        diff --git a/logo.png b/logo.png\ndeleted file mode 100644\nBinary files a/logo.png and /dev/null differ\n\
        diff --git a/c.rs b/c.rs\n--- a/c.rs\n+++ b/c.rs\n@@ -1 +1 @@\n-old\n+new\n";

    #[test]
    fn files_have_their_own_hunks() {
        let changes = read(RAW.as_bytes(), PATCH.as_bytes());
        let told = changes.files.iter().map(|file| {
            let text = file.text.as_deref().unwrap_or("none");
            format!(
                "{} {} +{} -{}: {text:?}",
                file.change, file.path, file.added, file.removed
            )
        });
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                "added a b.rs +2 -0: \"@@ -0,0 +1,2 @@\\n+diff --git a/x b/x\\n+two\\n\"",
                "deleted logo.png +0 -0: \"none\"",
                "changed c.rs +1 -1: \"@@ -1 +1 @@\\n-old\\n+new\\n\"",
            ]
        );
    }

    #[test]
    fn text_ends_with_a_line_at_the_limit() {
        let change = describe_new("big".into(), &"0123456789\n".repeat(20_000), false);
        let text = change.text.unwrap();
        assert!(
            change.cut && text.len() <= TEXT_MAX && text.ends_with("9\n"),
            "{}",
            text.len()
        );
        assert_eq!(change.added, 20_000);
    }
}
