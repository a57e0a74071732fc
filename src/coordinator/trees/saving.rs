//! Commits the work of a worktree to its branch, and reports what a branch cannot hold.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::git::{IGNORED, STATUS, pathspec};
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::file::unreadable;
use crate::tree::is_linked_worktree;
use crate::workspace::OUTPUT_DIR;

const REPOSITORIES_MAX: usize = 500;

const NAMES_AT_ONCE: usize = 500;

struct Nested {
    folder: PathBuf,
    /// Its place in the repository around it.
    path: String,
    is_ignored: bool,
    is_first: bool,
}

impl Trees {
    /// Commits everything in a worktree except reports and cleo's own files, also commits of the agent on a
    /// branch that continues the given one. A worktree with more than its branch can hold is refused, because
    /// it must not be removed.
    pub(in crate::coordinator) fn commit(&self, tree: &Tree, message: &str) -> Result<()> {
        self.require_own(tree)?;
        self.require_settled(tree)?;
        self.require_finished(tree)?;
        self.require_conversion(&tree.top)?;
        require_no_pipes(tree)?;
        let tip = self.tip(tree)?;
        self.stage(tree, &tip)?;
        // Made aside: wherever its agent has led HEAD, nothing but the branch of the worktree moves.
        let files = self.change(&tree.top, ["write-tree"])?;
        let is_new = self.done(&self.top, ["rev-parse", &format!("{tip}^{{tree}}")])? != files;
        let commit = match is_new {
            true => self.done(
                &self.top,
                ["commit-tree", files.trim(), "-p", &tip, "-m", message],
            )?,
            false => tip,
        };
        let branch = format!("refs/heads/{}", tree.branch);
        let update = ["update-ref", "--no-deref", &branch, commit.trim()];
        self.change(&self.top, update)?;
        self.require_whole(tree)?;
        self.require_committed(tree)
    }

    /// Returns the commit that the work of a worktree continues: what is checked out there, unless it leaves commits
    /// of the branch behind.
    fn tip(&self, tree: &Tree) -> Result<String> {
        let commit = |folder: &Path, name: &str| -> Result<Option<String>> {
            let name = format!("{name}^{{commit}}");
            let found = self.git(folder, ["rev-parse", "--verify", "--quiet", &name])?;
            Ok(found.ok().map(|found| found.trim().to_string()))
        };
        let head = commit(&tree.top, "HEAD")?;
        let own = commit(&self.top, &format!("refs/heads/{}", tree.branch))?;
        match (own, head) {
            (Some(own), Some(head)) if self.is_ancestor(&own, &head)? => Ok(head),
            (Some(commit), _) | (None, Some(commit)) => Ok(commit),
            (None, None) => self.require_base(),
        }
    }

    /// Stages everything except reports and cleo's own files, which are reset to the start of the branch even
    /// if the agent has committed them, so that they never conflict. An ignored path cannot be excluded by
    /// name; nothing new of it is staged.
    fn stage(&self, tree: &Tree, tip: &str) -> Result<()> {
        self.unmark(tree)?;
        // Files outside of a sparse checkout are work, too.
        let mut add = ["add", "--all", "--sparse", "--", ":(top)"]
            .map(OsString::from)
            .to_vec();
        let outputs = self.inside.join(OUTPUT_DIR);
        if !self.is_ignored(tree, &outputs)? {
            add.push(pathspec("top,exclude,literal", &outputs));
        }
        self.change(&tree.top, add)?;
        let mut reset = ["reset", "--quiet"].map(OsString::from).to_vec();
        reset.extend([self.fork(tip)?.into(), "--".into()]);
        let places = self.own_places();
        reset.extend(places.iter().map(|place| pathspec("top,literal", place)));
        self.change(&tree.top, reset).map(drop)
    }

    /// Makes git check all files, also those that the agent has marked as unchanged. Paths outside a sparse
    /// checkout stay so.
    fn unmark(&self, tree: &Tree) -> Result<()> {
        let is_sparse = ["config", "--type=bool", "core.sparseCheckout"];
        let is_sparse = self.git(&tree.top, is_sparse)?;
        let is_sparse = is_sparse.is_ok_and(|said| said.trim() == "true");
        let listed = self.listed(&tree.top, ["ls-files", "-v", "-z"])?;
        let files = listed.split('\0').filter_map(|line| line.split_once(' '));
        let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
        for (mark, name) in files {
            if mark.chars().all(char::is_lowercase) {
                assumed.push(name);
            }
            if mark.eq_ignore_ascii_case("s") && !is_sparse {
                skipped.push(name);
            }
        }
        let marked = [
            ("--no-assume-unchanged", assumed),
            ("--no-skip-worktree", skipped),
        ];
        for (option, names) in &marked {
            for names in names.chunks(NAMES_AT_ONCE) {
                let words = ["update-index", option, "--"];
                self.change(&tree.top, words.iter().chain(names))?;
            }
        }
        Ok(())
    }

    /// Names outputs and what the `.gitignore` of `.cleo` keeps out of version control. Everything else below
    /// `.cleo` is work like any other.
    pub(super) fn own_places(&self) -> Vec<PathBuf> {
        let files = |name| ["", "-journal", "-shm", "-wal"].map(|end| format!(".cleo/{name}{end}"));
        let places = files("cleo.db")
            .into_iter()
            .chain([".cleo/runs", OUTPUT_DIR].map(String::from));
        places.map(|place| self.inside.join(place)).collect()
    }

    /// Refuses a worktree with something that the commit did not take: it must not be removed.
    fn require_committed(&self, tree: &Tree) -> Result<()> {
        let mut words = STATUS.map(OsString::from).to_vec();
        words.extend(["--".into(), ":(top)".into()]);
        let places = self.own_places();
        words.extend(
            places
                .iter()
                .map(|place| pathspec("top,exclude,literal", place)),
        );
        let left = self.listed(&tree.top, words)?;
        // What differs from HEAD alone is committed: the second sign compares the files (git-status, "Short Format").
        let mut lines = left
            .split('\0')
            .filter(|line| line.as_bytes().get(1) != Some(&b' '));
        let Some(first) = lines.find_map(|line| line.get(3..)) else {
            return Ok(());
        };
        let message = format!("{first} in {} could not be committed", tree.place());
        let look = format!("git -C {} status", quote(&tree.place()));
        Err(Error::new(Code::InputInvalid, message).fix(look))
    }

    /// Returns a file of a worktree that git ignores, so that no branch holds it. Reports and cleo's own files
    /// do not count.
    pub(in crate::coordinator) fn ignored_file(&self, tree: &Tree) -> Result<Option<String>> {
        let listed = self.listed(&tree.top, IGNORED)?;
        let places = self.own_places();
        let is_work = |name: &&str| {
            !places
                .iter()
                .any(|place| Path::new(name).starts_with(place))
        };
        let mut names = listed.split('\0').filter(|name| !name.is_empty());
        Ok(names.find(is_work).map(str::to_string))
    }

    fn fork(&self, tip: &str) -> Result<String> {
        let fork = self.git(&self.top, ["merge-base", tip, &self.target()?])?;
        Ok(fork.map_or_else(|_| tip.to_string(), |fork| fork.trim().to_string()))
    }

    fn is_ignored(&self, tree: &Tree, place: &Path) -> Result<bool> {
        let words = ["check-ignore", "--quiet", "--no-index", "--"].map(OsStr::new);
        let words = words.into_iter().chain([place.as_os_str()]);
        Ok(self.git(&tree.top, words)?.is_ok())
    }

    /// Refuses a worktree that its agent has replaced by another repository.
    fn require_own(&self, tree: &Tree) -> Result<()> {
        let common = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        if !tree.is_there() {
            return Err(self.gone(tree));
        }
        // A setting may lead git to other files than those of the worktree.
        let words = common.into_iter().chain(["--show-toplevel"]);
        let (own, theirs) = (self.done(&self.top, common)?, self.git(&tree.top, words)?);
        let real = fs::canonicalize(&tree.top).unwrap_or_else(|_| tree.top.clone());
        let expected = format!("{own}{}\n", real.display());
        if theirs.is_ok_and(|theirs| theirs == expected) && is_linked_worktree(&tree.top) {
            return self.require_plain(tree);
        }
        let place = tree.top.display();
        let message = format!("{place} is no worktree of the repository any more");
        let [top, place] = [&self.top, &tree.top].map(|path| quote(&path.to_string_lossy()));
        let repair = format!("git -C {top} worktree repair {place}");
        Err(Error::new(Code::FileUnreadable, message).fix(repair))
    }

    /// Refuses a worktree with nested repositories that hold commits or changes of their own: a branch holds
    /// none of them. Each is asked separately, because git would ask nested ones with their own settings.
    fn require_whole(&self, tree: &Tree) -> Result<()> {
        let mut left = self.repositories(&tree.top, true)?;
        let mut looked = HashSet::from([tree.top.clone()]);
        while let Some(nested) = left.pop() {
            if looked.len() > REPOSITORIES_MAX {
                return Err(too_many(tree));
            }
            looked.insert(nested.folder.clone());
            if let Some(why) = self.only_there(tree, &nested)? {
                let message = format!(
                    "the repository {} {why}, which no branch of the workspace can hold",
                    nested.folder.display()
                );
                // Its settings are its agent's, so no command of git is suggested there.
                let fix = format!("ls -la {}", quote(&nested.folder.to_string_lossy()));
                return Err(Error::new(Code::InputInvalid, message).fix(fix));
            }
            left.extend(self.repositories(&nested.folder, false)?);
        }
        self.require_known(tree, &looked)
    }

    /// Refuses a worktree with something named `.git` that is of none of its repositories: git commits nothing
    /// of that name, and does not tell of it.
    fn require_known(&self, tree: &Tree, repositories: &HashSet<PathBuf>) -> Result<()> {
        let is_git = |entry: &DirEntry| entry.file_name().eq_ignore_ascii_case(".git");
        let is_of_one = |entry: &DirEntry| {
            let folder = entry.path().parent();
            is_git(entry) && folder.is_some_and(|folder| repositories.contains(folder))
        };
        let entries = WalkDir::new(&tree.top).into_iter();
        let entries = entries.filter_entry(|entry| !is_of_one(entry));
        let is_told = |entry: &walkdir::Result<DirEntry>| entry.as_ref().map_or(true, is_git);
        for (number, entry) in entries.filter(is_told).enumerate() {
            if number >= REPOSITORIES_MAX {
                return Err(too_many(tree));
            }
            let place = match &entry {
                Ok(entry) => entry.path(),
                Err(error) => error.path().unwrap_or(&tree.top),
            };
            // What git ignores goes with the worktree.
            if self.is_ignored(tree, place)? {
                continue;
            }
            let place = place.to_path_buf();
            return Err(match entry {
                // Git commits nothing of a folder that cannot be listed, and does not fail.
                Err(error) => unreadable(&place, error.into()),
                Ok(_) => {
                    let message = format!(
                        "{} is of no repository, and git commits nothing with that name",
                        place.display()
                    );
                    let look = format!("ls -la {}", quote(&place.to_string_lossy()));
                    Error::new(Code::InputInvalid, message).fix(look)
                }
            });
        }
        Ok(())
    }

    /// Lists nested repositories: checked-out submodules, other gitlinks, and ignored ones. Files in the
    /// folder of a submodule that is not checked out are an error, because git does not look there.
    fn repositories(&self, top: &Path, is_first: bool) -> Result<Vec<Nested>> {
        let staged = self.listed(top, ["ls-files", "--stage", "-z"])?;
        let linked = |line: &str| {
            let (_, path) = line.strip_prefix("160000 ")?.split_once('\t')?;
            Some(path.to_string())
        };
        let nested = |path: String, is_ignored: bool| Nested {
            folder: top.join(&path),
            path,
            is_ignored,
            is_first,
        };
        let mut found = Vec::new();
        for path in staged.split('\0').filter_map(linked) {
            let nested = nested(path, false);
            match nested.folder.join(".git").symlink_metadata() {
                Ok(_) => found.push(nested),
                Err(_) => require_empty(&nested.folder)?,
            }
        }
        // Of everything else that it ignores git names files, and of repositories the folder.
        let ignored = self.listed(top, IGNORED)?;
        let ignored = ignored.split('\0').filter(|path| path.ends_with('/'));
        found.extend(ignored.map(|path| nested(path.to_string(), true)));
        Ok(found)
    }

    /// Returns what a nested repository holds that exists nowhere else.
    /// Ignored repositories may be build copies of a remote, and so may those within another.
    fn only_there(&self, tree: &Tree, nested: &Nested) -> Result<Option<&'static str>> {
        let (folder, path) = (&nested.folder, &nested.path);
        // A setting of its own may lead git to other files.
        let mut status = vec!["--work-tree".into(), folder.clone().into_os_string()];
        status.extend(STATUS.map(OsString::from));
        match self.git(folder, status)? {
            Err(_) => return Ok(Some("cannot be read")),
            Ok(changed) if !changed.is_empty() => {
                return Ok(Some("has changes that are not committed"));
            }
            Ok(_) => {}
        }
        let before = match nested.is_first {
            true => {
                let place = format!("HEAD:{path}");
                let before = self.git(&self.top, ["rev-parse", "--verify", "--quiet", &place])?;
                before.ok()
            }
            false => None,
        };
        let may_be_new = nested.is_ignored || !nested.is_first;
        if before.is_none() && !may_be_new && !self.is_submodule(tree, path)? {
            return Ok(Some("is no submodule"));
        }
        let mut words = vec!["rev-list", "--ignore-missing", "--max-count=1", "HEAD"];
        words.extend(["--branches", "--not", "--remotes"]);
        words.extend(before.as_deref().map(str::trim));
        let is_elsewhere = self
            .git(folder, words)?
            .is_ok_and(|commits| commits.is_empty());
        Ok((!is_elsewhere).then_some("has commits that no remote has"))
    }

    fn is_submodule(&self, tree: &Tree, path: &str) -> Result<bool> {
        let key = r"^submodule\..*\.path$";
        let words = ["config", "--file", ".gitmodules", "--get-regexp", key];
        let named = self.git(&tree.top, words)?.unwrap_or_default();
        let is_it = |line: &str| line.split_once(' ').is_some_and(|(_, named)| named == path);
        Ok(named.lines().any(is_it))
    }
}

/// Refuses a worktree with a pipe or the like in the place of a file that git reads: it would wait there.
fn require_no_pipes(tree: &Tree) -> Result<()> {
    let is_pipe = |entry: &DirEntry| {
        let (kind, above) = (entry.file_type(), entry.path().parent());
        let is_of_git = entry.file_name().to_string_lossy().starts_with(".git")
            || above.is_some_and(|above| above.ends_with(".git"));
        is_of_git && !kind.is_file() && !kind.is_dir() && !kind.is_symlink()
    };
    let mut entries = WalkDir::new(&tree.top).into_iter().flatten();
    match entries.find(is_pipe) {
        Some(entry) => Err(unreadable(entry.path(), ErrorKind::InvalidInput.into())),
        None => Ok(()),
    }
}

fn too_many(tree: &Tree) -> Error {
    let message = format!(
        "{} holds more than {REPOSITORIES_MAX} repositories, which are not looked into",
        tree.place()
    );
    Error::new(Code::InputInvalid, message)
}

fn require_empty(folder: &Path) -> Result<()> {
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    if is_empty {
        return Ok(());
    }
    let message = format!(
        "{} holds files, and its submodule is not checked out, so no branch can hold them",
        folder.display()
    );
    let look = format!("ls -la {}", quote(&folder.to_string_lossy()));
    Err(Error::new(Code::InputInvalid, message).fix(look))
}
