//! Settings by which git keeps other content than files hold, or none of them. An agent that changes them could have
//! other content committed than its task was verified with. A worktree may have some of its own
//! (`extensions.worktreeConfig`), and so may the checkout of the workspace, where the work is merged.

use std::path::Path;

use super::Trees;
use super::git::Words;
use crate::error::{Code, Error, Result};
use crate::file::read_start;
use crate::id;

const SETTINGS: [&str; 7] = [
    "attr.tree",
    "core.attributesfile",
    "core.autocrlf",
    "core.eol",
    "core.excludesfile",
    "core.filemode",
    "core.symlinks",
];
const RULES_MAX: u64 = 64 << 20;

impl Trees {
    /// Digests the settings that hold in a checkout and in the workspace, and where git has objects of others: such are
    /// lost with their place.
    pub(super) fn digest_conversion_settings(&self, top: &Path) -> Result<String> {
        let is_one = |entry: &String| {
            let key = entry.split('\n').next().unwrap_or_default();
            let is_merge_driver = key.starts_with("merge.") && key.ends_with(".driver");
            let is_other = ["filter.", "include.", "includeif."]
                .iter()
                .any(|section| key.starts_with(section));
            is_other || is_merge_driver || SETTINGS.contains(&key)
        };
        let mut found = self.git_in(top).list("config --list -z")?;
        found.extend(self.list("config --list -z")?);
        found.retain(is_one);
        let files =
            "--git-path objects/info/alternates --git-path info/attributes --git-path info/exclude";
        let files = self.run(format!("rev-parse --path-format=absolute {files}"))?;
        found.extend(files.lines().map(read_rules));
        found.push(self.rules_of_user(top, "core.attributesFile", "attributes")?);
        found.push(self.rules_of_user(top, "core.excludesFile", "ignore")?);
        Ok(id::digest(found.join("\0")))
    }

    /// Reads the file of rules that a setting names, or that git reads without it.
    fn rules_of_user(&self, top: &Path, setting: &str, name: &str) -> Result<String> {
        let folder = std::env::var("XDG_CONFIG_HOME").unwrap_or_default();
        let folder = if folder.is_empty() {
            "~/.config"
        } else {
            &folder
        };
        let words = [&*format!("{folder}/git/{name}"), "--get", setting];
        // Without a home folder there is no such file.
        let place = Words::with("config --type=path --default", words);
        let place = self.git_in(top).run(place).unwrap_or_default();
        if !place.is_empty() && !place.starts_with('/') {
            let message = format!(
                "{setting} is the relative path {place}, which is another file in each worktree; make it an absolute one"
            );
            let look = format!("git config --show-origin --get {setting}");
            return Err(Error::new(Code::InputInvalid, message).fix(look));
        }
        Ok(read_rules(&place))
    }

    /// Refuses a checkout in which other settings hold than in the workspace when the run began, also by `includeIf`: work
    /// of it would be committed otherwise than it was verified, or not merged.
    pub(in crate::coordinator) fn require_conversion(&self, top: &Path) -> Result<()> {
        match &self.base.conversion {
            Some(expected) if self.digest_conversion_settings(top)? != *expected => {
                let message = "settings that decide what git commits (filters, merge drivers, attributes, exclusions, \
                    includes, line endings, file modes, objects/info/alternates) were changed since the run began, or \
                    differ in a worktree (`includeIf`), so git may commit other content than was verified, or lose it; \
                    if you changed them, begin a new run";
                let look = "git config --show-origin --list";
                Err(Error::new(Code::InputInvalid, message).fix(look))
            }
            _ => Ok(()),
        }
    }
}

/// Reads a file of rules, which may not be there, by what git printed of its place.
fn read_rules(path: &str) -> String {
    let rules = read_start(Path::new(path), RULES_MAX);
    String::from_utf8_lossy(&rules.unwrap_or_default()).into_owned()
}
