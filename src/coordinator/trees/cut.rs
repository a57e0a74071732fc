//! Merges that a process was killed in. What is begun stands in the file that is locked for the turn, so
//! whoever has the next turn finds it there, ends what still goes on of it, and takes back what it has
//! changed, unless it came to its end.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::copying::copy;
use super::git::DIFF;
use super::{Tree, Trees};
use crate::error::Result;
use crate::file::{read, unwritable};
use crate::runner::orphans;

/// Most bytes of what is noted of a merge.
const NOTE_MAX: u64 = 1 << 20;
/// How many files are named in one call of git.
const NAMED_AT_ONCE: usize = 200;

/// A merge that was begun, and is neither made nor taken back.
#[derive(Debug, Deserialize, Serialize)]
struct Begun {
    run: String,
    /// What tells the git of this run from its agents.
    place: PathBuf,
    message: String,
    /// The commit that was checked out before.
    head: String,
    /// The commit that is merged.
    tip: String,
}

impl Trees {
    /// Notes that a branch is about to be merged.
    pub(super) fn note_merge(&self, tree: &Tree, message: &str) -> Result<()> {
        let branch = format!("refs/heads/{}", tree.branch);
        let told = self.done(&self.top, ["rev-parse", "HEAD", &branch])?;
        let (head, tip) = told.trim().split_once('\n').unwrap_or_default();
        let begun = Begun {
            run: self.run.clone(),
            place: self.place_of_git(),
            message: message.to_string(),
            head: head.to_string(),
            tip: tip.to_string(),
        };
        let text = serde_json::to_vec(&begun).unwrap_or_default();
        fs::write(&self.mark, text).map_err(|cause| unwritable(&self.mark, cause))
    }

    /// Notes that nothing is being merged any more.
    pub(super) fn forget_merge(&self) -> Result<()> {
        fs::write(&self.mark, "").map_err(|cause| unwritable(&self.mark, cause))
    }

    /// Settles a merge that a process was killed in: its git is ended, and what is not merged by then is
    /// taken back. One that somebody else began or has gone on with stays theirs.
    pub(super) fn recover(&self) -> Result<()> {
        let noted = read(&self.mark, NOTE_MAX).unwrap_or_default();
        let Ok(begun) = serde_json::from_slice::<Begun>(&noted) else {
            return Ok(());
        };
        orphans::end(&begun.run, &begun.place, &[]);
        self.unlock_index()?;
        let is_made = ["merge-base", "--is-ancestor", &begun.tip, "HEAD"];
        let is_made = self.git(&self.top, is_made)?.is_ok();
        let head = self.done(&self.top, ["rev-parse", "HEAD"])?;
        match self.merge_head()? {
            // Only its own marks were still to be removed.
            Some(tip) if is_made && tip == begun.tip => {
                self.done(&self.top, ["merge", "--quit"])?;
            }
            Some(tip) if tip == begun.tip && self.is_own(&begun)? && self.has_conflicts()? => {
                self.done(&self.top, ["merge", "--abort"])?;
            }
            None if !is_made && head.trim() == begun.head => self.take_back(&begun)?,
            _ => {}
        }
        self.forget_merge()
    }

    /// Removes the lock of the index that a git left which was killed. Whoever waits for somebody while
    /// it has the lock has written to it by then.
    fn unlock_index(&self) -> Result<()> {
        let lock = self.mark.with_file_name("index.lock");
        let there = lock.symlink_metadata();
        match there.is_ok_and(|there| there.is_file() && there.len() == 0) {
            true => fs::remove_file(&lock).map_err(|cause| unwritable(&lock, cause)),
            false => Ok(()),
        }
    }

    /// Says whether what is being merged bears the message of a run: people merge such a branch under
    /// another one.
    fn is_own(&self, begun: &Begun) -> Result<bool> {
        let words = [
            "rev-parse",
            "--path-format=absolute",
            "--git-path",
            "MERGE_MSG",
        ];
        let place = self.done(&self.top, words)?;
        let message = fs::read_to_string(place.trim_end_matches('\n')).unwrap_or_default();
        Ok(message.starts_with(&begun.message))
    }

    /// Says whether there are conflicts that nobody has settled.
    fn has_conflicts(&self) -> Result<bool> {
        Ok(!self.unmerged(&self.top)?.is_empty())
    }

    /// Takes back what a merge has written that came to no end. Git begins none where these files are
    /// changed, so they were as the commit has them; what lies there now is kept with the files of the run
    /// all the same, because somebody may have changed it since.
    fn take_back(&self, begun: &Begun) -> Result<()> {
        self.done(&self.top, ["reset", "--quiet"])?;
        let (head, tip) = (begun.head.as_str(), begun.tip.as_str());
        let theirs = self.changed(&[&format!("{head}...{tip}")])?;
        let added = self.changed(&["--diff-filter=A", head, tip])?;
        for path in added.intersection(&theirs) {
            self.put_by(begun, path)?;
            let file = self.top.join(path);
            if file.symlink_metadata().is_ok() {
                fs::remove_file(&file).map_err(|cause| unwritable(&file, cause))?;
            }
        }
        let written = &self.changed(&["--diff-filter=a", head, tip])? & &theirs;
        let written: Vec<String> = (&written & &self.changed(&[])?).into_iter().collect();
        for paths in written.chunks(NAMED_AT_ONCE) {
            paths.iter().try_for_each(|path| self.put_by(begun, path))?;
            let words = ["--literal-pathspecs", "checkout", "--quiet", "--"];
            let paths = paths.iter().map(String::as_str);
            self.done(&self.top, words.into_iter().chain(paths))?;
        }
        Ok(())
    }

    /// Names the files that differ.
    fn changed(&self, between: &[&str]) -> Result<BTreeSet<String>> {
        let words = [&DIFF[..], between].concat();
        let names = self.listed(&self.top, words)?;
        let names = names.split('\0').filter(|name| !name.is_empty());
        Ok(names.map(str::to_string).collect())
    }

    /// Keeps a file with those of the run, if it is there.
    fn put_by(&self, begun: &Begun, path: &str) -> Result<()> {
        let file = self.top.join(path);
        let aside = begun.place.with_file_name("outputs").join("cut").join(path);
        match file.symlink_metadata() {
            Ok(there) if there.is_file() => copy(&self.top, &file, None, &aside),
            _ => Ok(()),
        }
    }
}
