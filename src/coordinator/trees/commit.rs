//! Commits the work of a worktree to its branch, and reports what a branch cannot hold.

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::base::operation_in;
use super::checkout::GITLINK;
use super::git::{DIFF, IGNORED, STATUS, Words, pathspec};
use super::merge::list_names;
use super::{Tree, Trees, refuse};
use crate::error::{Code, Error, Result, quote};
use crate::file::unreadable;
use crate::tree::is_linked_worktree;
use crate::workspace::OUTPUT_DIR;

impl Trees {
    /// Commits everything in a worktree except reports and cleo's own files, also commits of the agent on a
    /// branch that continues the given one. A worktree with more than its branch can hold is refused, because
    /// it must not be removed.
    pub(in crate::coordinator) fn commit(&self, tree: &Tree, message: &str) -> Result<()> {
        tree.require_baseline()?;
        self.unlock(tree)?;
        self.require_finished(tree)?;
        self.require_conversion(&tree.top)?;
        let tip = self.tip(tree)?;
        self.stage(tree, &tip)?;
        // Made aside: wherever its agent has led HEAD, no branch moves but that of the worktree.
        let git = self.git_in(&tree.top);
        let files = git.run("write-tree").or_else(|_| {
            // The index may name objects that the agent put elsewhere.
            git.run("add --renormalize -- :(top)")?;
            git.run("write-tree")
        })?;
        let is_new = self.run(format!("rev-parse {tip}^{{tree}}"))? != files;
        let commit = match is_new {
            true => self.run(Words::with(
                &format!("commit-tree {files} -p {tip} -m"),
                [message],
            ))?,
            false => tip,
        };
        let branch = format!("refs/heads/{}", tree.branch);
        if git.ask("symbolic-ref --quiet HEAD")?.ok().as_ref() != Some(&branch) {
            git.run(format!("update-ref --no-deref HEAD {commit}"))?;
        }
        self.run(format!("update-ref --no-deref {branch} {commit}"))?;
        self.require_no_nested_work(tree)?;
        self.require_committed(tree)
    }

    /// Returns the commit that the work of a worktree continues: what is checked out there. Files of a commit that the
    /// branch is ahead of, or that lies beside it, would undo what is committed.
    fn tip(&self, tree: &Tree) -> Result<String> {
        let commit = |name: &str| format!("rev-parse --verify --quiet {name}^{{commit}}");
        let git = self.git_in(&tree.top);
        let branch = format!("refs/heads/{}", tree.branch);
        let head = match git.ask("symbolic-ref --quiet HEAD")? {
            // Others may have moved another branch since it was checked out here.
            Ok(other) if other != branch => {
                let list = "log --walk-reflogs --max-count=100 --format=%H%x09%gs HEAD --";
                let noted = git.ask(list)?.unwrap_or_default();
                // `git symbolic-ref` leaves the files as they are, and is noted without words.
                let mut noted = noted.lines().filter_map(|line| line.split_once('\t'));
                let last = noted.find(|(_, said)| !said.is_empty());
                last.map(|(commit, _)| commit.to_string())
            }
            _ => git.ask(commit("HEAD"))?.ok(),
        };
        let own = self.ask(commit(&branch))?.ok();
        match (own, head) {
            (Some(own), Some(head)) if !self.is_ancestor(&own, &head)? => {
                let (branch, place) = (quote(&tree.branch), quote(&tree.display_path()));
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
        self.clear_index_flags(tree)?;
        // Files outside of a sparse checkout are work, too.
        let outputs = self.inside.join(OUTPUT_DIR);
        let but = match self.is_ignored(tree, &outputs)? {
            true => None,
            false => Some(pathspec("top,exclude,literal", &outputs)),
        };
        let git = self.git_in(&tree.top);
        git.run(Words::with("add --all --sparse -- :(top)", but))?;
        let fork = self.ask(format!("merge-base {tip} {}", self.merge_target()?))?;
        let reset = format!("reset --quiet {} --", fork.as_deref().unwrap_or(tip));
        let places = self.list_own_places();
        let places = places.iter().map(|place| pathspec("top,literal", place));
        git.run(Words::with(&reset, places)).map(drop)
    }

    /// Makes git check all files, also those that the agent has marked as unchanged. Paths outside a sparse
    /// checkout stay so.
    fn clear_index_flags(&self, tree: &Tree) -> Result<()> {
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
            let update = format!("update-index --no-{option} -z --stdin");
            git.run(Words::with_names(&update, &names, "\0"))?;
        }
        Ok(())
    }

    /// Names outputs and what the `.gitignore` of `.cleo` keeps out of version control. Everything else below
    /// `.cleo` is work like any other.
    pub(super) fn list_own_places(&self) -> Vec<PathBuf> {
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
        let places = self.list_own_places();
        let places = places
            .iter()
            .map(|place| pathspec("top,exclude,literal", place));
        let status = Words::with(&format!("{STATUS} -- :(top)"), places);
        let left = self.git_in(&tree.top).list(status)?;
        // A file that differs from HEAD alone is committed: the second sign compares the files (git-status, "Short Format").
        let mut lines = left
            .iter()
            .filter(|line| line.as_bytes().get(1) != Some(&b' '));
        let Some(first) = lines.find_map(|line| line.get(3..)) else {
            return Ok(());
        };
        let message = format!("{first} in {} could not be committed", tree.display_path());
        let look = format!("git -C {} status", quote(&tree.display_path()));
        Err(Error::new(Code::InputInvalid, message).fix(look))
    }

    fn is_ignored(&self, tree: &Tree, place: &Path) -> Result<bool> {
        let check = Words::with("check-ignore --quiet --no-index --", [place]);
        Ok(self.git_in(&tree.top).ask(check)?.is_ok())
    }

    /// Refuses a worktree that its agent has replaced by another repository.
    pub(super) fn require_own(&self, tree: &Tree) -> Result<()> {
        if !tree.is_there() {
            return Err(self.explain_removal(tree));
        }
        let common = "rev-parse --path-format=absolute --git-common-dir";
        // A setting may lead git to other files than those of the worktree.
        let both = format!("{common} --show-toplevel");
        let (own, theirs) = (self.run(common)?, self.git_in(&tree.top).ask(both)?);
        let real = fs::canonicalize(&tree.top).unwrap_or_else(|_| tree.top.clone());
        let expected = format!("{own}\n{}", real.display());
        if theirs.is_ok_and(|theirs| theirs == expected) && is_linked_worktree(&tree.top) {
            return Ok(());
        }
        let place = tree.top.display();
        let message = format!("{place} is not a worktree of the repository any more");
        let [top, place] = [&self.top, &tree.top].map(|path| quote(&path.to_string_lossy()));
        let repair = format!("git -C {top} worktree repair {place}");
        Err(Error::new(Code::FileUnreadable, message).fix(repair))
    }

    /// Refuses a worktree in which git has stopped: its conflicts would pass for work, and nothing else knows of the commits
    /// that are still to come.
    pub(in crate::coordinator) fn require_finished(&self, tree: &Tree) -> Result<()> {
        let git = self.git_in(&tree.top);
        let folder = git.run("rev-parse --absolute-git-dir")?;
        let unmerged = git.list(format!("{DIFF} --diff-filter=U"))?;
        let operation = operation_in(Path::new(&folder));
        if operation.is_none() && unmerged.is_empty() {
            return Ok(());
        }
        let (place, what) = (tree.display_path(), operation.unwrap_or("conflict"));
        let mut message = format!("{place} has an unfinished {what}; finish it there and commit");
        if !unmerged.is_empty() {
            message += &format!(": {} has conflicts", list_names(unmerged));
        }
        let look = format!("git -C {} status", quote(&place));
        Err(Error::new(Code::NotVerified, message).fix(look))
    }

    /// Refuses a worktree with nested repositories that hold commits or changes of their own, which no branch can hold,
    /// and with other things that git leaves out of a commit silently.
    fn require_no_nested_work(&self, tree: &Tree) -> Result<()> {
        // The settings of a nested repository are its agent's, so no command of git is suggested there.
        let refuse = |place: &Path, why: &str| {
            let message = format!("{} {why}, which no branch can hold", place.display());
            Err(refuse(message, "ls -la", place))
        };
        let staged = self.git_in(&tree.top).list("ls-files --stage -z")?;
        let links = staged
            .iter()
            .filter_map(|line| line.strip_prefix(GITLINK)?.split_once('\t'));
        for folder in links.map(|(_, path)| tree.top.join(path)) {
            let is_checked_out = folder.join(".git").symlink_metadata().is_ok();
            let mut files = fs::read_dir(&folder).into_iter().flatten();
            if !is_checked_out && files.next().is_some() {
                return refuse(&folder, "holds files, and its submodule is not checked out");
            }
        }
        let mut walk = WalkDir::new(&tree.top).min_depth(1).into_iter();
        while let Some(entry) = walk.next() {
            let mark = match entry {
                Ok(entry) if entry.file_name().eq_ignore_ascii_case(".git") => entry.into_path(),
                Ok(_) => continue,
                // Git commits nothing of a folder that cannot be listed, and does not fail.
                Err(error) => {
                    let place = error.path().unwrap_or(&tree.top).to_path_buf();
                    if self.is_ignored(tree, &place)? {
                        continue;
                    }
                    return Err(unreadable(&place, error.into()));
                }
            };
            if mark.is_dir() {
                walk.skip_current_dir();
            }
            let is_repository = !mark.is_dir() || mark.join("HEAD").exists();
            if !is_repository && self.is_ignored(tree, &mark)? {
                continue;
            }
            let folder = mark.parent().unwrap_or(&mark);
            if folder != tree.top && self.has_own_work(tree, folder)? {
                return refuse(
                    folder,
                    "is a repository with changes or ignored files, or commits that no remote has",
                );
            }
        }
        Ok(())
    }

    /// Returns whether a nested repository holds what exists nowhere else, or cannot be read.
    fn has_own_work(&self, tree: &Tree, folder: &Path) -> Result<bool> {
        let git = self.git_in(folder);
        // A setting of its own may lead git to other files, and a broken one to the repository around it.
        let own = "--git-dir .git --work-tree .";
        let changed = git.ask(format!("{own} {STATUS}"))?;
        let path = folder.strip_prefix(&tree.top).unwrap_or(folder);
        let linked = format!("HEAD:{}", path.display());
        let linked = self.ask(Words::with("rev-parse --verify --quiet", [linked]))?;
        let list =
            "rev-list --ignore-missing --max-count=1 HEAD --branches refs/stash --not --remotes";
        // Folders that a submodule ignores count as built.
        let ignored = match linked {
            Ok(_) => git.ask(format!("{own} {IGNORED} --directory"))?,
            Err(_) => Ok(String::new()),
        };
        let is_lost = |name: &str| !name.is_empty() && !name.ends_with('/');
        let has_ignored = ignored.map_or(true, |names| names.split('\0').any(is_lost));
        let commits = git.ask(Words::with(&format!("{own} {list}"), linked.ok()))?;
        Ok(has_ignored || changed.as_deref() != Ok("") || commits.as_deref() != Ok(""))
    }
}
