//! Keeping what was done in a worktree on its branch, and saying what cannot be kept so.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::git::{IGNORED, pathspec};
use super::{Tree, Trees};
use crate::error::{Code, Error, Result, quote};
use crate::workspace::OUTPUT_DIR;

impl Trees {
    /// Commits everything in a worktree but reports and cleo's own files. What its agent has committed by
    /// itself counts too, also on a branch of its own that goes on from the one it was given. A worktree
    /// that holds more than its branch can is refused: it must not be removed.
    pub(in crate::coordinator) fn commit(&self, tree: &Tree, message: &str) -> Result<()> {
        self.require_own(tree)?;
        self.require_settled(tree)?;
        self.require_finished(tree)?;
        self.stage(tree)?;
        let staged = ["diff", "--cached", "--quiet"];
        if self.git(&tree.top, staged)?.is_err() {
            let commit = ["commit", "--quiet", "--no-verify", "--message", message];
            self.done(&tree.top, commit)?;
        }
        self.gather(tree)?;
        self.require_whole(tree)
    }

    /// Stages everything in a worktree but reports and cleo's own files: these are put back to where the
    /// branch began, also where its agent has committed them, so that they are in nobody's way when it is
    /// merged. Git refuses to leave out by name what it ignores already; nothing new of it is staged.
    fn stage(&self, tree: &Tree) -> Result<()> {
        let mut add = ["add", "--all", "--", ":(top)"]
            .map(OsString::from)
            .to_vec();
        let places = [".cleo", OUTPUT_DIR].map(|folder| self.inside.join(folder));
        for place in &places {
            if !self.is_ignored(tree, place)? {
                add.push(pathspec("top,exclude,literal", place));
            }
        }
        self.done(&tree.top, add)?;
        let mut reset = ["reset", "--quiet"].map(OsString::from).to_vec();
        reset.extend([self.fork(tree)?.into(), "--".into()]);
        reset.extend(places.iter().map(|place| pathspec("top,literal", place)));
        self.done(&tree.top, reset).map(drop)
    }

    /// Finds the last commit that a worktree shares with the workspace; its own last one where there is none.
    fn fork(&self, tree: &Tree) -> Result<String> {
        let head = self.done(&self.top, ["rev-parse", "--verify", "HEAD"])?;
        let fork = self.git(&tree.top, ["merge-base", "HEAD", head.trim()])?;
        Ok(fork.map_or_else(|_| "HEAD".to_string(), |fork| fork.trim().to_string()))
    }

    /// Says whether git ignores a folder of a worktree, or would if nothing in it was tracked.
    fn is_ignored(&self, tree: &Tree, place: &Path) -> Result<bool> {
        let words = ["check-ignore", "--quiet", "--no-index", "--"].map(OsStr::new);
        let words = words.into_iter().chain([place.as_os_str()]);
        Ok(self.git(&tree.top, words)?.is_ok())
    }

    /// Refuses a worktree that its agent has made into something else: git would be asked about another
    /// repository.
    fn require_own(&self, tree: &Tree) -> Result<()> {
        let words = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        if !tree.is_there() {
            return Err(self.gone(tree));
        }
        let (own, theirs) = (self.done(&self.top, words)?, self.git(&tree.top, words)?);
        if theirs.is_ok_and(|theirs| theirs == own) {
            return Ok(());
        }
        let place = tree.top.display();
        let message = format!("{place} is no worktree of the repository any more");
        let [top, place] = [&self.top, &tree.top].map(|path| quote(&path.to_string_lossy()));
        let repair = format!("git -C {top} worktree repair {place}");
        Err(Error::new(Code::FileUnreadable, message).fix(repair))
    }

    /// Has the branch of a worktree hold what is checked out in it.
    fn gather(&self, tree: &Tree) -> Result<()> {
        let branch = format!("refs/heads/{}", tree.branch);
        let head = self.done(&tree.top, ["rev-parse", "--verify", "HEAD"])?;
        let own = self.git(&self.top, ["rev-parse", "--verify", "--quiet", &branch])?;
        if own.as_ref().is_ok_and(|own| *own == head) {
            return Ok(());
        }
        let head = head.trim();
        let goes_on = ["merge-base", "--is-ancestor", &branch, head];
        if own.is_ok() && self.git(&self.top, goes_on)?.is_err() {
            let message = format!(
                "its agent left the branch {} for the commit {head}, which does not go on from it",
                tree.branch
            );
            let look = format!("git log {head}");
            return Err(Error::new(Code::InputInvalid, message).fix(look));
        }
        self.done(&self.top, ["update-ref", &branch, head])
            .map(drop)
    }

    /// Refuses a worktree in which there are other repositories that hold something of their own: a branch
    /// names their commits and has none of them.
    fn require_whole(&self, tree: &Tree) -> Result<()> {
        let ignored = self.ignored_repositories(tree)?.into_iter();
        let others = self.repositories(tree)?.into_iter();
        let all = others.map(|path| (path, false));
        for (path, is_ignored) in all.chain(ignored.map(|path| (path, true))) {
            if let Some((why, look)) = self.only_there(tree, &path, is_ignored)? {
                let folder = tree.top.join(&path);
                let message = format!(
                    "the repository {} {why}, which no branch of the workspace can hold",
                    folder.display()
                );
                let fix = format!("git -C {} {look}", quote(&folder.to_string_lossy()));
                return Err(Error::new(Code::InputInvalid, message).fix(fix));
            }
        }
        Ok(())
    }

    /// Lists the repositories within a worktree: submodules that are there, and others.
    fn repositories(&self, tree: &Tree) -> Result<Vec<String>> {
        let staged = self.listed(&tree.top, ["ls-files", "--stage", "-z"])?;
        let linked = |line: &str| {
            let (_, path) = line.strip_prefix("160000 ")?.split_once('\t')?;
            Some(path.to_string())
        };
        let paths = staged.split('\0').filter_map(linked);
        let is_there = |path: &String| tree.top.join(path).join(".git").symlink_metadata().is_ok();
        Ok(paths.filter(is_there).collect())
    }

    /// Lists the repositories within a worktree that git ignores: of everything else that it ignores it
    /// names files, and of these the folder.
    fn ignored_repositories(&self, tree: &Tree) -> Result<Vec<String>> {
        let ignored = self.listed(&tree.top, IGNORED)?;
        let folders = ignored.split('\0').filter(|path| path.ends_with('/'));
        Ok(folders.map(str::to_string).collect())
    }

    /// Says what a repository within a worktree holds that is nowhere else, and the words of git that show
    /// it. One that is ignored may be a copy that a build has made of what a remote has.
    fn only_there(
        &self,
        tree: &Tree,
        path: &str,
        is_ignored: bool,
    ) -> Result<Option<(&'static str, &'static str)>> {
        let folder = tree.top.join(path);
        let status = ["status", "--porcelain", "--ignore-submodules=none"];
        match self.git(&folder, status)? {
            Err(_) => return Ok(Some(("cannot be read", "status"))),
            Ok(changed) if !changed.is_empty() => {
                return Ok(Some(("has changes that are not committed", "status")));
            }
            Ok(_) => {}
        }
        let place = format!("HEAD:{path}");
        let before = self.git(&self.top, ["rev-parse", "--verify", "--quiet", &place])?;
        if before.is_err() && !is_ignored && !self.is_submodule(tree, path)? {
            return Ok(Some(("is no submodule", "log --oneline")));
        }
        let mut words = vec!["rev-list", "--ignore-missing", "--max-count=1", "HEAD"];
        words.extend(["--branches", "--not", "--remotes"]);
        words.extend(before.as_deref().ok().map(str::trim));
        let is_elsewhere = self
            .git(&folder, words)?
            .is_ok_and(|commits| commits.is_empty());
        let own = ("has commits that no remote has", "log --oneline");
        Ok((!is_elsewhere).then_some(own))
    }

    /// Says whether the file of submodules of a worktree names a path.
    fn is_submodule(&self, tree: &Tree, path: &str) -> Result<bool> {
        let key = r"^submodule\..*\.path$";
        let words = ["config", "--file", ".gitmodules", "--get-regexp", key];
        let named = self.git(&tree.top, words)?.unwrap_or_default();
        let is_it = |line: &str| line.split_once(' ').is_some_and(|(_, named)| named == path);
        Ok(named.lines().any(is_it))
    }
}
