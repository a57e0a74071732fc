//! What agents report: it lies in the workspace and not in the branches, so outputs (`outputs`) and lines of
//! the manifest are brought over file by file, and so are deliverables that git ignores. What lay on both sides
//! when a worktree was made tells whose a change is: what somebody else has changed meanwhile is never
//! written over.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::declared::Declared;
use super::outputs::{Outputs, require_way};
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::file::{read, unreadable, unwritable};
use crate::manifest::log::{self, Line};
use crate::tree::file_digest;
use crate::workspace::{MANIFEST, OUTPUT_DIR};

/// Most bytes of a note of outputs that are read.
const NOTE_MAX: u64 = 64 << 20;
/// How files begin that somebody has not finished writing.
pub(super) const DRAFT: &str = ".new-";

/// The files that lay in the workspace and in a worktree when both were last the same to this run, each by
/// its path with its digest, and what else is to be brought over.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Outset {
    declared: Declared,
    home: BTreeMap<String, String>,
    tree: BTreeMap<String, String>,
}

/// A file on one side: where it is, what it holds now, and what it held at the outset.
struct Side {
    path: PathBuf,
    now: Option<String>,
    before: Option<String>,
}

/// What becomes of a file that is to be brought to the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// There is nothing new in it.
    Stays,
    /// It is brought over.
    Comes,
    /// Both sides have changed it.
    Clashes,
}

impl Trees {
    /// Notes what there is of outputs and deliverables when a worktree is made.
    pub(super) fn note(&self, tree: &Tree, declared: Declared) -> Result<()> {
        let home = self.home();
        let there = |root: &Path| {
            let outputs = Outputs::below(root).paths.into_iter();
            digests(root, outputs.chain(self.ignored(root, &declared)))
        };
        let outset = Outset {
            home: there(&home),
            tree: there(&tree.root),
            declared,
        };
        outset.keep(&tree.outset)
    }

    /// Names the files of a worktree that are to be brought home: outputs, and deliverables that git ignores.
    /// It is an error when there are outputs that cannot be.
    fn wares(&self, tree: &Tree, declared: &Declared) -> Result<Vec<String>> {
        let home = self.home();
        let mut wares = Outputs::below(&tree.root).all()?;
        wares.iter().try_for_each(|path| require_way(&home, path))?;
        wares.extend(self.ignored(&tree.root, declared));
        Ok(wares)
    }

    /// Refuses a worktree with outputs that cannot be brought home: it must not be removed.
    pub(in crate::coordinator) fn require_bringable(&self, tree: &Tree) -> Result<()> {
        self.wares(tree, &Declared::default()).map(drop)
    }

    /// Brings a report that lies in the workspace into a worktree, so that both are checked together.
    pub(in crate::coordinator) fn show(
        &self,
        tree: &Tree,
        output: &str,
        entry: &str,
    ) -> Result<()> {
        if !tree.is_there() {
            return Ok(());
        }
        let home = self.home();
        let mut outset = Outset::read(&tree.outset);
        let (here, there) = outset.sides(tree, &home, output);
        if is_regular(&there.path) && way(&there, &here) == Way::Comes {
            outset.bring(output, &there, &here)?;
            outset.keep(&tree.outset)?;
        }
        lines(&home, &tree.root, Some(entry))
    }

    /// Brings what was reported in a worktree into the workspace: outputs that its agent wrote, ignored
    /// deliverables, and lines of the manifest with ids that are not there. What somebody else has changed
    /// meanwhile stays as it is; the one of the worktree is then put aside, and told.
    pub(in crate::coordinator) fn report(&self, tree: &Tree) -> Result<Vec<Error>> {
        let home = self.home();
        let mut outset = Outset::read(&tree.outset);
        let mut clashes = Vec::new();
        for path in self.wares(tree, &outset.declared)? {
            let (here, there) = outset.sides(tree, &home, &path);
            match way(&here, &there) {
                Way::Stays => renew(tree, &here, &there)?,
                Way::Comes => outset.bring(&path, &here, &there)?,
                Way::Clashes => clashes.push(put_aside(tree, &path, &here, &there)?),
            }
        }
        outset.keep(&tree.outset)?;
        lines(&tree.root, &home, None)?;
        Ok(clashes)
    }

    /// Refuses a worktree with files that somebody else has changed meanwhile in the workspace.
    pub(in crate::coordinator) fn require_reportable(&self, tree: &Tree) -> Result<()> {
        let home = self.home();
        let outset = Outset::read(&tree.outset);
        for path in self.wares(tree, &outset.declared)? {
            let (here, there) = outset.sides(tree, &home, &path);
            if way(&here, &there) == Way::Clashes {
                return Err(put_aside(tree, &path, &here, &there)?);
            }
        }
        Ok(())
    }

    pub(super) fn home(&self) -> PathBuf {
        self.top.join(&self.inside)
    }
}

/// Keeps a file of a worktree with those of the run, and says so.
fn put_aside(tree: &Tree, path: &str, here: &Side, there: &Side) -> Result<Error> {
    let name = path.strip_prefix(OUTPUT_DIR).unwrap_or(path);
    let folder = tree.outset.with_extension("");
    let aside = folder.join(name.trim_start_matches('/'));
    copy(&here.path, &aside)?;
    let message = format!(
        "{path} was changed in the workspace while an agent wrote it too; what the agent wrote is \
         kept in {}",
        aside.display()
    );
    let [there, aside] = [&there.path, &aside].map(|path| quote(&path.to_string_lossy()));
    Ok(Error::new(Code::FileChanged, message).fix(format!("diff {there} {aside}")))
}

/// Has a file that an agent wrote again, word for word, be as new in the workspace as it is: by its time it
/// is known for the work of this try. What was checked out with the worktree is nobody's work.
fn renew(tree: &Tree, here: &Side, there: &Side) -> Result<()> {
    let written = modified(&here.path);
    let is_new = here.before.is_none() || written > modified(&tree.outset);
    match is_new && here.now == there.now && written > modified(&there.path) {
        true => copy(&here.path, &there.path),
        false => Ok(()),
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().and_then(|there| there.modified()).ok()
}

impl Outset {
    /// Reads what was noted. What cannot be read tells nothing: then whatever differs clashes.
    fn read(path: &Path) -> Outset {
        let text = read(path, NOTE_MAX).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn keep(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_vec(self).unwrap_or_default();
        put(path, &mut text.as_slice(), None).map_err(|cause| unwritable(path, cause))
    }

    /// Looks at a file in a worktree and in the workspace.
    fn sides(&self, tree: &Tree, home: &Path, name: &str) -> (Side, Side) {
        let side = |root: &Path, before: &BTreeMap<String, String>| {
            let path = root.join(name);
            let is_there = path.symlink_metadata().is_ok();
            Side {
                now: is_there.then(|| file_digest(&path).unwrap_or_default()),
                before: before.get(name).cloned(),
                path,
            }
        };
        (side(&tree.root, &self.tree), side(home, &self.home))
    }

    fn bring(&mut self, name: &str, from: &Side, to: &Side) -> Result<()> {
        copy(&from.path, &to.path)?;
        if let Some(now) = &from.now {
            self.home.insert(name.to_string(), now.clone());
            self.tree.insert(name.to_string(), now.clone());
        }
        Ok(())
    }
}

/// Says what becomes of a file.
fn way(from: &Side, to: &Side) -> Way {
    match (&from.now, &to.now) {
        (None, _) => Way::Stays,
        (Some(_), None) => Way::Comes,
        (Some(from), Some(to)) if from == to => Way::Stays,
        _ if from.now == from.before => Way::Stays,
        _ if to.now == to.before => Way::Comes,
        _ => Way::Clashes,
    }
}

fn digests(root: &Path, paths: impl Iterator<Item = String>) -> BTreeMap<String, String> {
    let digest = |path: String| Some((file_digest(&root.join(&path))?, path));
    let digests = paths.filter_map(digest);
    digests.map(|(digest, path)| (path, digest)).collect()
}

/// Brings lines of the manifest from one workspace to another: the one that is named, else all with ids
/// that the other lacks.
fn lines(from: &Path, to: &Path, entry: Option<&str>) -> Result<()> {
    let (source, target) = (from.join(MANIFEST), to.join(MANIFEST));
    let mut known = HashSet::new();
    log::scan(&target, |line| {
        if let Line::Entry(_, fields) = line {
            known.extend(fields.id().map(str::to_string));
        }
    })?;
    let mut missing = Vec::new();
    log::scan(&source, |line| {
        let Line::Entry(_, fields) = line else { return };
        // A faulty one is told of where it lies.
        let Ok(one) = fields.entry() else { return };
        let is_wanted = entry.is_none_or(|id| id == one.id);
        if is_wanted && known.insert(one.id.clone()) {
            missing.push(one);
        }
    })?;
    for entry in &missing {
        log::append(&target, entry)?;
    }
    Ok(())
}

pub(super) fn is_regular(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|there| there.is_file())
}

/// Copies a file with its time: of a report it tells when an agent wrote it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    let mut text = File::open(from).map_err(|cause| unreadable(from, cause))?;
    let there = text.metadata().map_err(|cause| unreadable(from, cause))?;
    put(to, &mut text, Some(&there)).map_err(|cause| unwritable(to, cause))
}

/// Writes a file so that nobody ever sees half of it. A link is replaced, and what it leads to stays as it
/// is: who made the link may not have been allowed to write there.
fn put(path: &Path, text: &mut dyn Read, like: Option<&Metadata>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let mut draft = tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder)?;
    io::copy(text, &mut draft)?;
    let runs = like.map_or(0, |like| like.permissions().mode() & 0o111);
    let mode = fs::Permissions::from_mode(0o644 | runs);
    draft.as_file().set_permissions(mode)?;
    if let Some(written) = like.and_then(|like| like.modified().ok()) {
        draft.as_file().set_modified(written)?;
    }
    draft.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(now: &str, before: &str) -> Side {
        let some = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
        Side {
            path: PathBuf::new(),
            now: some(now),
            before: some(before),
        }
    }

    #[test]
    fn an_output_comes_where_nobody_else_has_changed_it() {
        for (from, to, expected) in [
            (("new", ""), ("", ""), Way::Comes),
            (("new", ""), ("old", "old"), Way::Comes),
            (("new", "old"), ("old", "old"), Way::Comes),
            (("new", ""), ("theirs", ""), Way::Clashes),
            (("new", "old"), ("theirs", "old"), Way::Clashes),
            (("new", ""), ("new", ""), Way::Stays),
            (("old", "old"), ("theirs", "old"), Way::Stays),
            (("", "old"), ("old", "old"), Way::Stays),
        ] {
            let found = way(&side(from.0, from.1), &side(to.0, to.1));
            assert_eq!(found, expected, "{from:?} {to:?}");
        }
    }
}
