//! Commits the work of a worktree to its branch, and reports what a branch cannot hold.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::git::{STATUS, Words, pathspec};
use super::{Tree, Trees, refuse};
use crate::error::{Code, Error, Result, quote};
use crate::file::unreadable;
use crate::tree::is_linked_worktree;
use crate::workspace::OUTPUT_DIR;

const REPOSITORIES_MAX: usize = 500;

impl Trees {
    /// Commits everything in a worktree except reports and cleo's own files, also commits of the agent on a
    /// branch that continues the given one. A worktree with more than its branch can hold is refused, because
    /// it must not be removed.
    pub(in crate::coordinator) fn commit(&self, tree: &Tree, message: &str) -> Result<()> {
        self.unlock(tree)?;
        self.require_conflicts_resolved(tree)?;
        self.require_conversion(&tree.top)?;
        let nested = find_nested(tree)?;
        let tip = self.tip(tree)?;
        self.stage(tree, &tip)?;
        // Made aside: wherever its agent has led HEAD, no branch moves but that of the worktree.
        let git = self.git_in(&tree.top);
        let files = git.run("write-tree").or_else(|_| {
            // The index may name objects that the agent put elsewhere.
            git.run("add --renormalize -- :(top)")?;
            git.run("write-tree")
        })?;
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
        self.require_whole(tree, nested)?;
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
            return self.require_plain(tree);
        }
        let place = tree.top.display();
        let message = format!("{place} is not a worktree of the repository any more");
        let [top, place] = [&self.top, &tree.top].map(|path| quote(&path.to_string_lossy()));
        let repair = format!("git -C {top} worktree repair {place}");
        Err(Error::new(Code::FileUnreadable, message).fix(repair))
    }

    /// Refuses a worktree with nested repositories that hold commits or changes of their own, which no branch can hold,
    /// and with other things that git leaves out of a commit silently. `nested` is from before everything was staged.
    fn require_whole(&self, tree: &Tree, nested: Vec<walkdir::Result<PathBuf>>) -> Result<()> {
        // The settings of a nested repository are its agent's, so no command of git is suggested there.
        let refuse = |place: &Path, message| Err(refuse(message, "ls -la", place));
        let link = |line: &String| {
            let (_, path) = line.strip_prefix("160000 ")?.split_once('\t')?;
            Some(tree.top.join(path))
        };
        let staged = self.git_in(&tree.top).list("ls-files --stage -z")?;
        let links: Vec<PathBuf> = staged.iter().filter_map(link).collect();
        for folder in &links {
            let is_checked_out = folder.join(".git").symlink_metadata().is_ok();
            let mut files = fs::read_dir(folder).into_iter().flatten();
            if !is_checked_out && files.next().is_some() {
                let place = folder.display();
                let message = format!(
                    "{place} holds files, and its submodule is not checked out, so no branch can hold them"
                );
                return refuse(folder, message);
            }
        }
        for mark in nested {
            let mark = match mark {
                Ok(mark) => mark,
                // Git commits nothing of a folder that cannot be listed, and does not fail.
                Err(error) => {
                    let place = error.path().unwrap_or(&tree.top).to_path_buf();
                    if self.is_ignored(tree, &place)? {
                        continue;
                    }
                    return Err(unreadable(&place, error.into()));
                }
            };
            let folder = mark.parent().unwrap_or(&mark);
            let is_repository =
                mark.ends_with(".git") && (!mark.is_dir() || mark.join("HEAD").exists());
            if !is_repository && !self.is_ignored(tree, &mark)? {
                let place = mark.display();
                let message =
                    format!("{place} is of no repository, and git commits nothing with that name");
                return refuse(&mark, message);
            }
            let is_link = links.iter().any(|link| link == folder);
            if is_repository && let Some(why) = self.find_own_content(tree, folder, is_link)? {
                let place = folder.display();
                let message = format!(
                    "the repository {place} {why}, which no branch of the workspace can hold"
                );
                return refuse(folder, message);
            }
        }
        Ok(())
    }

    /// Returns what a nested repository holds that exists nowhere else. Repositories that the branch has no link to, as
    /// ignored ones, may be build copies of a remote.
    fn find_own_content(
        &self,
        tree: &Tree,
        folder: &Path,
        is_link: bool,
    ) -> Result<Option<&'static str>> {
        let git = self.git_in(folder);
        // A setting of its own may lead git to other files, and a broken one to the repository around it.
        let mut status = vec![
            "--git-dir".as_ref(),
            OsStr::new(".git"),
            "--work-tree".as_ref(),
        ];
        status.push(folder.as_os_str());
        status.extend(STATUS.split(' ').map(OsStr::new));
        match git.ask(Words::with("", status))? {
            Err(_) => return Ok(Some("cannot be read")),
            Ok(changed) if !changed.is_empty() => {
                return Ok(Some("has changes that are not committed"));
            }
            Ok(_) => {}
        }
        let path = folder
            .strip_prefix(&tree.top)
            .unwrap_or(folder)
            .to_string_lossy();
        let parse = Words::with("rev-parse --verify --quiet", [format!("HEAD:{path}")]);
        let before = match is_link {
            true => self.ask(parse)?.ok(),
            false => None,
        };
        if is_link && before.is_none() && !self.is_submodule(tree, &path)? {
            return Ok(Some("is not a submodule"));
        }
        let list = "--git-dir .git rev-list --ignore-missing --max-count=1 HEAD --branches refs/stash --not --remotes";
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

/// Finds everything named `.git` below a worktree, and what cannot be listed there. A pipe or the like in the place of a
/// file that git reads is an error, because git would wait there.
fn find_nested(tree: &Tree) -> Result<Vec<walkdir::Result<PathBuf>>> {
    let mut found = Vec::new();
    for entry in WalkDir::new(&tree.top).min_depth(1) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                found.push(Err(error));
                continue;
            }
        };
        let (kind, name) = (entry.file_type(), entry.file_name());
        let above = entry.path().parent().unwrap_or(&tree.top);
        let is_of_git = name.to_string_lossy().starts_with(".git") || above.ends_with(".git");
        if is_of_git && !kind.is_file() && !kind.is_dir() && !kind.is_symlink() {
            return Err(unreadable(entry.path(), ErrorKind::InvalidInput.into()));
        }
        let is_own = entry.depth() == 1 && name == ".git";
        let is_within = above
            .strip_prefix(&tree.top)
            .is_ok_and(|above| above.iter().any(|name| name == ".git"));
        if name.eq_ignore_ascii_case(".git") && !is_own && !is_within {
            found.push(Ok(entry.into_path()));
        }
        if found.len() > REPOSITORIES_MAX {
            let message = format!(
                "{} holds more than {REPOSITORIES_MAX} repositories, which are not looked into",
                tree.display_path()
            );
            return Err(Error::new(Code::InputInvalid, message));
        }
    }
    Ok(found)
}
