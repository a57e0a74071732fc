//! Settings by which git keeps other content than files hold. An agent that changes them could have other content
//! committed than its task was verified with. `extensions.worktreeConfig` gives a worktree settings of its own.

use std::path::Path;

use super::Trees;
use crate::error::{Code, Error, Result};
use crate::file::read_start;
use crate::id;

const SETTINGS: [&str; 6] = [
    "core.attributesfile",
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.symlinks",
    "extensions.worktreeconfig",
];
const ATTRIBUTES_MAX: u64 = 1 << 20;

impl Trees {
    /// Digests the settings.
    pub(super) fn conversion(&self) -> Result<String> {
        let listed = self.listed(&self.top, ["config", "--list", "-z"])?;
        let is_one = |entry: &&str| {
            let key = entry.split_once('\n').map_or(*entry, |(key, _)| key);
            let is_merge_driver = key.starts_with("merge.") && key.ends_with(".driver");
            key.starts_with("filter.") || is_merge_driver || SETTINGS.contains(&key)
        };
        let mut found: Vec<&str> = listed.split('\0').filter(is_one).collect();
        let words = [
            "rev-parse",
            "--path-format=absolute",
            "--git-path",
            "info/attributes",
        ];
        let attributes = self.done(&self.top, words)?;
        let attributes = read_start(Path::new(attributes.trim_end_matches('\n')), ATTRIBUTES_MAX);
        let attributes = attributes.unwrap_or_default();
        let attributes = String::from_utf8_lossy(&attributes);
        found.push(&attributes);
        Ok(id::digest(found.join("\0")))
    }

    /// Refuses to commit work after the settings changed since the run began.
    pub(in crate::coordinator) fn require_conversion(&self) -> Result<()> {
        let expected = self.base.as_ref().and_then(|base| base.conversion.as_ref());
        let Some(expected) = expected else {
            return Ok(());
        };
        if self.conversion()? == *expected {
            return Ok(());
        }
        let message = "settings that decide what git commits (filters, merge drivers, attributes, line endings, file \
            modes, extensions.worktreeConfig) were changed since the run began, so git may commit other content than was \
            verified; if you changed them, begin a new run";
        let look = "git config --show-origin --list";
        Err(Error::new(Code::InputInvalid, message).fix(look))
    }
}
