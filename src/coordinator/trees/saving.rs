//! Commits the work of a worktree to its branch, and reports what a branch cannot hold.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::baseline::Baseline;
use super::git::{IGNORED, STATUS, Words, pathspec};
use super::merging::list_names;
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
        // Made aside: wherever its agent has led HEAD, no branch moves but that of the worktree.
        let git = self.git_in(&tree.top);
        let files = git.run("write-tree")?;
        // A merge that its agent has settled and not committed keeps both parents.
        let merged = git
            .ask("rev-parse --verify --quiet MERGE_HEAD^{commit}")?
            .ok();
        let merged = match merged {
            Some(other) if !self.is_ancestor(&other, &tip)? => format!(" -p {other}"),
            _ => String::new(),
        };
        let is_new = self.run(format!("rev-parse {tip}^{{tree}}"))? != files;
        let commit = match is_new || !merged.is_empty() {
            true => {
                let make = format!("commit-tree {files} -p {tip}{merged} -m");
                self.run(Words::with(&make, [message]))?
            }
            false => tip,
        };
        let branch = format!("refs/heads/{}", tree.branch);
        if git.ask("symbolic-ref --quiet HEAD")?.ok().as_ref() != Some(&branch) {
            git.run(format!("update-ref --no-deref HEAD {commit}"))?;
        }
        self.run(format!("update-ref --no-deref {branch} {commit}"))?;
        self.require_whole(tree)?;
        self.require_committed(tree)
    }

    /// Returns the commit that the work of a worktree continues: what is checked out there. Files of a commit that the
    /// branch is ahead of, or that lies beside it, would undo what is committed.
    fn tip(&self, tree: &Tree) -> Result<String> {
        let commit = |name: &str| format!("rev-parse --verify --quiet {name}^{{commit}}");
        let head = self.git_in(&tree.top).ask(commit("HEAD"))?.ok();
        let own = commit(&format!("refs/heads/{}", tree.branch));
        let own = self.ask(own)?.ok();
        match (own, head) {
            (Some(own), Some(head)) if !self.is_ancestor(&own, &head)? => {
                let (branch, place) = (quote(&tree.branch), quote(&tree.place()));
                let message =
                    format!("what is checked out in {place} leaves commits of {branch} behind");
                let switch = format!("git -C {place} switch {branch}");
                Err(Error::new(Code::InputInvalid, message).fix(switch))
            }
            (_, Some(head)) => Ok(head),
            (Some(own), None) => Ok(own),
            (None, None) => self.require_base(),
        }
    }

    /// Stages everything except reports and cleo's own files, which are reset to the start of the branch even
    /// if the agent has committed them, so that they never conflict. An ignored path cannot be excluded by
    /// name; nothing new of it is staged.
    fn stage(&self, tree: &Tree, tip: &str) -> Result<()> {
        self.unmark(tree)?;
        // Files outside of a sparse checkout are work, too.
        let outputs = self.inside.join(OUTPUT_DIR);
        let but = match self.is_ignored(tree, &outputs)? {
            true => None,
            false => Some(pathspec("top,exclude,literal", &outputs)),
        };
        let git = self.git_in(&tree.top);
        git.run(Words::with("add --all --sparse -- :(top)", but))?;
        let fork = self.ask(format!("merge-base {tip} {}", self.target()?))?;
        let reset = format!("reset --quiet {} --", fork.as_deref().unwrap_or(tip));
        let places = self.own_places();
        let places = places.iter().map(|place| pathspec("top,literal", place));
        git.run(Words::with(&reset, places)).map(drop)
    }

    /// Makes git check all files, also those that the agent has marked as unchanged. Paths outside a sparse
    /// checkout stay so.
    fn unmark(&self, tree: &Tree) -> Result<()> {
        let git = self.git_in(&tree.top);
        let is_sparse = git.ask("config --type=bool core.sparseCheckout")?;
        let is_sparse = is_sparse.is_ok_and(|said| said == "true");
        let listed = git.list("ls-files -v -z")?;
        let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
        for (mark, name) in listed.iter().filter_map(|line| line.split_once(' ')) {
            if mark.chars().all(char::is_lowercase) {
                assumed.push(name);
            }
            if mark.eq_ignore_ascii_case("s") && !is_sparse {
                skipped.push(name);
            }
        }
        for (option, names) in [("assume-unchanged", assumed), ("skip-worktree", skipped)] {
            for names in names.chunks(NAMES_AT_ONCE) {
                let update = format!("update-index --no-{option} --");
                git.run(Words::with(&update, names))?;
            }
        }
        Ok(())
    }

    /// Names outputs and what the `.gitignore` of `.cleo` keeps out of version control. Everything else below
    /// `.cleo` is work like any other.
    pub(super) fn own_places(&self) -> Vec<PathBuf> {
        let files = |name| {
            ["", "-journal", "-last", "-shm", "-wal"].map(|end| format!(".cleo/{name}{end}"))
        };
        let places = files("cleo.db")
            .into_iter()
            .chain([".cleo/runs", OUTPUT_DIR].map(String::from));
        places.map(|place| self.inside.join(place)).collect()
    }

    /// Refuses a worktree with something that the commit did not take: it must not be removed.
    fn require_committed(&self, tree: &Tree) -> Result<()> {
        let places = self.own_places();
        let places = places
            .iter()
            .map(|place| pathspec("top,exclude,literal", place));
        let status = Words::with(&format!("{STATUS} -- :(top)"), places);
        let left = self.git_in(&tree.top).list(status)?;
        // What differs from HEAD alone is committed: the second sign compares the files (git-status, "Short Format").
        let mut lines = left
            .iter()
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
        let places = self.own_places();
        let is_own = |name: &String| {
            places
                .iter()
                .any(|place| Path::new(name).starts_with(place))
        };
        let names = self.git_in(&tree.top).list(IGNORED)?;
        Ok(names.into_iter().find(|name| !is_own(name)))
    }

    /// Warns of files that go with a worktree because git ignores them. Files in ignored folders are mostly built or
    /// installed, and what a task declares is in the workspace.
    pub(in crate::coordinator) fn warn_of_ignored(&self, tree: &Tree) {
        let listed = self
            .git_in(&tree.top)
            .list(format!("{STATUS} --ignored=matching"));
        let declared = Baseline::load(&tree.baseline).declared;
        let brought = self.list_ignored(&tree.root, &declared);
        let mut kept = self.own_places();
        kept.extend(brought.iter().map(|path| self.inside.join(path)));
        let is_kept = |name: &str| kept.iter().any(|place| Path::new(name).starts_with(place));
        let listed = listed.unwrap_or_default();
        let names = listed.iter().filter_map(|line| line.strip_prefix("!! "));
        let names = names.filter(|name| !name.ends_with('/') && !is_kept(name));
        let names: Vec<String> = names.map(str::to_string).collect();
        if let Some(task) = tree.task().filter(|_| !names.is_empty()) {
            let names = list_names(names);
            self.warn(format!(
                "the worktree of {task} was removed with what git ignores in it: {names}"
            ));
        }
    }

    fn is_ignored(&self, tree: &Tree, place: &Path) -> Result<bool> {
        let check = Words::with("check-ignore --quiet --no-index --", [place]);
        Ok(self.git_in(&tree.top).ask(check)?.is_ok())
    }

    /// Refuses a worktree that its agent has replaced by another repository.
    fn require_own(&self, tree: &Tree) -> Result<()> {
        if !tree.is_there() {
            return Err(self.gone_error(tree));
        }
        let common = "rev-parse --path-format=absolute --git-common-dir";
        // A setting may lead git to other files than those of the worktree.
        let both = format!("{common} --show-toplevel");
        let (own, theirs) = (self.run(common)?, self.git_in(&tree.top).ask(both)?);
        let real = fs::canonicalize(&tree.top).unwrap_or_else(|_| tree.top.clone());
        let expected = format!("{own}\n{}", real.display());
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
        let git = self.git_in(top);
        let linked = |line: &String| {
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
        for path in git.list("ls-files --stage -z")?.iter().filter_map(linked) {
            let nested = nested(path, false);
            match nested.folder.join(".git").symlink_metadata() {
                Ok(_) => found.push(nested),
                Err(_) => require_empty(&nested.folder)?,
            }
        }
        // Of everything else that it ignores git names files, and of repositories the folder.
        let ignored = git
            .list(IGNORED)?
            .into_iter()
            .filter(|path| path.ends_with('/'));
        found.extend(ignored.map(|path| nested(path, true)));
        Ok(found)
    }

    /// Returns what a nested repository holds that exists nowhere else.
    /// Ignored repositories may be build copies of a remote, and so may those within another.
    fn only_there(&self, tree: &Tree, nested: &Nested) -> Result<Option<&'static str>> {
        let (folder, path) = (&nested.folder, &nested.path);
        let git = self.git_in(folder);
        // A setting of its own may lead git to other files.
        let mut status = vec!["--work-tree".as_ref(), folder.as_os_str()];
        status.extend(STATUS.split(' ').map(OsStr::new));
        match git.ask(Words::with("", status))? {
            Err(_) => return Ok(Some("cannot be read")),
            Ok(changed) if !changed.is_empty() => {
                return Ok(Some("has changes that are not committed"));
            }
            Ok(_) => {}
        }
        let mut before = None;
        if nested.is_first {
            let place = [format!("HEAD:{path}")];
            let parse = Words::with("rev-parse --verify --quiet", place);
            before = self.ask(parse)?.ok();
        }
        let may_be_new = nested.is_ignored || !nested.is_first;
        if before.is_none() && !may_be_new && !self.is_submodule(tree, path)? {
            return Ok(Some("is no submodule"));
        }
        let list = "rev-list --ignore-missing --max-count=1 HEAD --branches --not --remotes";
        let commits = git.ask(Words::with(list, before))?;
        let is_elsewhere = commits.is_ok_and(|commits| commits.is_empty());
        Ok((!is_elsewhere).then_some("has commits that no remote has"))
    }

    fn is_submodule(&self, tree: &Tree, path: &str) -> Result<bool> {
        let list = r"config --file .gitmodules --get-regexp ^submodule\..*\.path$";
        let named = self.git_in(&tree.top).ask(list)?.unwrap_or_default();
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
