//! Git worktrees: each task works in one of its own, on a branch of its own, and what verifies is merged
//! into the branch that is checked out in the workspace.
//!
//! Git is called without a shell, asks nobody, and runs no hooks. The repository's own settings and
//! filters count, as they do for whoever works in it. What agents report lies in the workspace and not in
//! the branches: outputs and manifest are brought over file by file.

use std::collections::HashSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::error::{Code, Error, Result, quote};
use crate::file::{unreadable, unwritable};
use crate::manifest::log::{self, Line};
use crate::runner::process;
use crate::workspace::{MANIFEST, OUTPUT_DIR, Workspace};

/// How long one call of git may take.
const LIMIT: Duration = Duration::from_secs(300);
/// Most bytes of an answer of git that are read.
const ANSWER_MAX: usize = 1 << 20;
/// Most names of files that a conflict tells.
const NAMED_MAX: usize = 5;

/// The worktrees of a run.
pub(super) struct Trees {
    /// The files of the repository.
    top: PathBuf,
    /// The workspace, relative to that.
    inside: PathBuf,
    /// Where worktrees are made.
    folder: PathBuf,
    run: String,
}

/// The worktree of a task.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// Its files.
    top: PathBuf,
    /// The workspace in it.
    pub(super) root: PathBuf,
    pub(super) branch: String,
}

/// What became of a branch that was to be merged.
pub(super) enum Merge {
    /// The commit that holds it; none when there was nothing to merge.
    Done(Option<String>),
    /// It does not fit; why.
    Conflict(String),
}

impl Trees {
    /// Looks whether worktrees can be made: there is a repository, and something is committed in it.
    pub(super) fn open(workspace: &Workspace, folder: &Path, run: &str) -> Result<Trees> {
        let root = fs::canonicalize(&workspace.root)
            .map_err(|cause| unreadable(&workspace.root, cause))?;
        let mut above = root.ancestors();
        let top = above.find(|path| path.join(".git").symlink_metadata().is_ok());
        let refuse = |what: &str| {
            let message = format!("worktrees need a git repository with a commit: {what}");
            Error::new(Code::InputInvalid, message).fix("git init && git add -A && git commit")
        };
        let top = top.ok_or_else(|| refuse("there is none here"))?;
        let trees = Trees {
            inside: root
                .strip_prefix(top)
                .unwrap_or(Path::new(""))
                .to_path_buf(),
            top: top.to_path_buf(),
            folder: folder.join("trees"),
            run: run.to_string(),
        };
        match trees.git(&trees.top, ["rev-parse", "--verify", "--quiet", "HEAD"])? {
            Ok(_) => Ok(trees),
            Err(_) => Err(refuse("nothing is committed in it")),
        }
    }

    /// Makes the worktree of a try, from what is checked out in the workspace now.
    pub(super) fn begin(&self, name: &str) -> Result<Tree> {
        let tree = self.tree(name);
        fs::create_dir_all(&self.folder).map_err(|cause| unwritable(&self.folder, cause))?;
        let path = tree.top.as_os_str();
        let words = ["worktree", "add", "--quiet", "-B", &tree.branch].map(OsStr::new);
        let words = words.into_iter().chain([path, OsStr::new("HEAD")]);
        self.done(&self.top, words)?;
        let outputs = tree.root.join(OUTPUT_DIR);
        fs::create_dir_all(&outputs).map_err(|cause| unwritable(&outputs, cause))?;
        Ok(tree)
    }

    /// Finds the last worktree of a task that a process left.
    pub(super) fn left(&self, task: &str) -> Option<Tree> {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let number = |name: &String| name.strip_prefix(task)?.strip_prefix('-')?.parse().ok();
        let numbered = names.filter_map(|name| Some((number(&name)?, name)));
        let last = numbered.max_by_key(|(number, _): &(u32, String)| *number);
        last.map(|(_, name)| self.tree(&name))
    }

    fn tree(&self, name: &str) -> Tree {
        let top = self.folder.join(name);
        Tree {
            root: top.join(&self.inside),
            top,
            branch: format!("cleo/{}/{name}", self.run),
        }
    }

    /// Brings a report that lies in the workspace into a worktree, so that both are checked together.
    pub(super) fn show(&self, tree: &Tree, output: &str, entry: &str) -> Result<()> {
        bring(
            &self.top.join(&self.inside),
            &tree.root,
            Some(output),
            Some(entry),
        )
    }

    /// Brings what was reported in a worktree into the workspace: output files that are not there, and
    /// lines of the manifest with ids that it lacks.
    pub(super) fn report(&self, tree: &Tree) -> Result<()> {
        bring(&tree.root, &self.top.join(&self.inside), None, None)
    }

    /// Commits everything in a worktree but reports and cleo's own files. What its agent has committed by
    /// itself counts too, also on a branch of its own that goes on from the one it was given.
    pub(super) fn commit(&self, tree: &Tree, message: &str) -> Result<()> {
        self.require_own(tree)?;
        let own = [".cleo", OUTPUT_DIR].map(|folder| {
            let mut exclude = OsString::from(":(top,exclude,literal)");
            exclude.push(self.inside.join(folder));
            exclude
        });
        let words = ["add", "--all", "--", ":(top)"].map(OsString::from);
        self.done(&tree.top, words.into_iter().chain(own))?;
        let staged = ["diff", "--cached", "--quiet"];
        if self.git(&tree.top, staged)?.is_err() {
            let commit = ["commit", "--quiet", "--no-verify", "--message", message];
            self.done(&tree.top, commit)?;
        }
        self.gather(tree)
    }

    /// Refuses a worktree that its agent has made into something else: git would be asked about another
    /// repository.
    fn require_own(&self, tree: &Tree) -> Result<()> {
        let words = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
        let (own, theirs) = (self.done(&self.top, words)?, self.git(&tree.top, words)?);
        if theirs.is_ok_and(|theirs| theirs == own) {
            return Ok(());
        }
        let place = tree.top.display();
        let message = format!("{place} is no worktree of the repository any more");
        Err(Error::new(Code::FileUnreadable, message).fix("git worktree list"))
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

    /// Says whether a branch has anything that the workspace lacks.
    fn is_ahead(&self, tree: &Tree) -> Result<bool> {
        let range = format!("HEAD..refs/heads/{}", tree.branch);
        let count = self.done(&self.top, ["rev-list", "--count", &range])?;
        Ok(count.trim() != "0")
    }

    /// Merges a branch into what is checked out in the workspace, or leaves everything as it was.
    pub(super) fn merge(&self, tree: &Tree, message: &str) -> Result<Merge> {
        if !self.is_ahead(tree)? {
            return Ok(Merge::Done(None));
        }
        let begun = ["rev-parse", "--verify", "--quiet", "MERGE_HEAD"];
        if self.git(&self.top, begun)?.is_ok() {
            // Somebody else's merge is not ours to end.
            let why = "a merge that somebody else began is not finished in the workspace";
            return Ok(Merge::Conflict(why.to_string()));
        }
        let words = [
            "merge",
            "--no-ff",
            "--no-verify",
            "--quiet",
            "-m",
            message,
            &tree.branch,
        ];
        let merged = self.git(&self.top, words)?;
        if let Err(said) = merged {
            let names = ["diff", "--name-only", "--diff-filter=U", "-z"];
            let names = self.git(&self.top, names)?.unwrap_or_default();
            let names: Vec<&str> = names.split('\0').filter(|name| !name.is_empty()).collect();
            // There is nothing to abort where git refused to begin.
            let _ = self.git(&self.top, ["merge", "--abort"])?;
            let named = names
                .iter()
                .take(NAMED_MAX)
                .copied()
                .collect::<Vec<_>>()
                .join(", ");
            let why = if named.is_empty() { said } else { named };
            return Ok(Merge::Conflict(why));
        }
        let head = self.done(&self.top, ["rev-parse", "HEAD"])?;
        Ok(Merge::Done(Some(head.trim().to_string())))
    }

    /// Takes back a merge that was made, and says whether that could be done. What somebody changed or
    /// committed meanwhile stays.
    pub(super) fn unmerge(&self, commit: &str) -> Result<bool> {
        let head = self.done(&self.top, ["rev-parse", "HEAD"])?;
        let reset = ["reset", "--quiet", "--keep", "HEAD^1"];
        Ok(head.trim() == commit && self.git(&self.top, reset)?.is_ok())
    }

    /// Removes a worktree. Its branch stays when it has something that the workspace lacks, and is then
    /// returned.
    pub(super) fn end(&self, tree: &Tree) -> Result<Option<String>> {
        let path = tree.top.as_os_str();
        let words = ["worktree", "remove", "--force", "--force"].map(OsStr::new);
        if self
            .git(&self.top, words.into_iter().chain([path]))?
            .is_err()
        {
            let _ = fs::remove_dir_all(&tree.top);
            self.done(&self.top, ["worktree", "prune"])?;
        }
        let _ = fs::remove_dir(&self.folder);
        let branch = format!("refs/heads/{}", tree.branch);
        let is_there = ["rev-parse", "--verify", "--quiet", &branch];
        if self.git(&self.top, is_there)?.is_err() {
            return Ok(None);
        }
        if self.is_ahead(tree)? {
            return Ok(Some(tree.branch.clone()));
        }
        self.done(&self.top, ["branch", "--quiet", "-D", &tree.branch])?;
        Ok(None)
    }

    /// Ends the worktrees that a killed process left; what was done in them stays on their branches.
    pub(super) fn sweep(&self) -> Result<()> {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let tree = self.tree(name);
            // One that was only half made has nothing to keep.
            let _ = self.commit(&tree, &format!("{name}: left behind"));
            let _ = self.end(&tree);
        }
        self.done(&self.top, ["worktree", "prune"]).map(drop)
    }

    /// Runs git, which must succeed, and returns what it says.
    fn done<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: impl IntoIterator<Item = W>,
    ) -> Result<String> {
        self.git(folder, words)?.map_err(|said| {
            let message = format!("git failed in {}: {said}", folder.display());
            let place = quote(&self.top.to_string_lossy());
            Error::new(Code::FileUnwritable, message).fix(format!("git -C {place} status"))
        })
    }

    /// Runs git and returns what it says, or what it complains of when it fails.
    fn git<W: AsRef<OsStr>>(
        &self,
        folder: &Path,
        words: impl IntoIterator<Item = W>,
    ) -> Result<std::result::Result<String, String>> {
        let mut command = Command::new("git");
        command.current_dir(folder).env_clear();
        // A worktree that lost its mark is not taken for a part of the repository around it.
        command.env("GIT_CEILING_DIRECTORIES", &self.folder);
        for name in ["PATH", "HOME", "XDG_CONFIG_HOME"] {
            command.envs(env::var_os(name).map(|value| (name, value)));
        }
        for (name, value) in [
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_EDITOR", "false"),
            ("GIT_AUTHOR_NAME", "cleo"),
            ("GIT_AUTHOR_EMAIL", "cleo@localhost"),
            ("GIT_COMMITTER_NAME", "cleo"),
            ("GIT_COMMITTER_EMAIL", "cleo@localhost"),
        ] {
            command.env(name, value);
        }
        for setting in [
            "core.hooksPath=/dev/null",
            "core.fsmonitor=false",
            "commit.gpgSign=false",
            "gc.auto=0",
            "submodule.recurse=false",
        ] {
            command.args(["-c", setting]);
        }
        command.args(words);
        let captured = process::capture(command, LIMIT, ANSWER_MAX)?;
        let finished = captured.finished;
        if finished.exit_code == Some(0) {
            return Ok(Ok(String::from_utf8_lossy(&captured.stdout).into_owned()));
        }
        let said = finished.last_lines.join("; ");
        Ok(Err(if said.is_empty() {
            "it said nothing".to_string()
        } else {
            said
        }))
    }
}

/// Copies outputs and lines of the manifest from one workspace to another: those that are named, else
/// all that the other lacks.
fn bring(from: &Path, to: &Path, output: Option<&str>, entry: Option<&str>) -> Result<()> {
    for name in outputs(&from.join(OUTPUT_DIR)) {
        let relative = format!("{OUTPUT_DIR}/{name}");
        let is_wanted = output.is_none_or(|output| output == relative);
        let target = to.join(&relative);
        if is_wanted && target.symlink_metadata().is_err() {
            let folder = to.join(OUTPUT_DIR);
            fs::create_dir_all(&folder).map_err(|cause| unwritable(&folder, cause))?;
            fs::copy(from.join(&relative), &target).map_err(|cause| unwritable(&target, cause))?;
        }
    }
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

/// Names the regular files among outputs, without the manifest.
fn outputs(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let regular = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let names = regular.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with("MANIFEST")).collect();
    names.sort();
    names
}
