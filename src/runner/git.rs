//! Calls of git: no shell, no questions, no network, no hooks.
//!
//! The settings of the user and of the machine are read, because the content of a repository depends on them:
//! filters such as git-lfs, line endings, merge drivers, global ignores, and safe repositories of others. Without
//! them a worktree would differ from the user's checkout and commits would hold wrong content. Every setting that
//! could change an answer on which a removal, a merge, a commit or a proof depends is set here, which takes
//! precedence over all files of settings, also those of a repository that an agent has changed. Git does not pass
//! these on to the git of a submodule, so such questions repeat their options as arguments.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use super::child;

const VARIABLES: [(&str, &str); 9] = [
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    // Commits have the parents that they name.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_PAGER", "cat"),
];

const SETTINGS: &[&str] = &[
    // Programs that git would start.
    "core.hooksPath=/dev/null core.fsmonitor=false gc.auto=0 maintenance.auto=false \
     rerere.enabled=false log.showSignature=false",
    // Signing would ask for a key, or wait for one.
    "commit.gpgSign=false tag.gpgSign=false merge.verifySignatures=false",
    // Changes that git would not see or not name.
    "core.commitGraph=false core.multiPackIndex=false core.untrackedCache=false core.checkStat=default \
     core.ignoreStat=false core.trustctime=true core.quotePath=false \
     diff.autoRefreshIndex=true diff.ignoreSubmodules=none diff.orderFile=/dev/null \
     diff.relative=false diff.renames=false status.showUntrackedFiles=all \
     sparse.expectFilesOutsideOfPatterns=false submodule.recurse=false color.ui=false",
    // On other systems folders may indeed not tell letter case apart.
    #[cfg(target_os = "linux")]
    "core.ignoreCase=false",
    // The content of commits and merges.
    "add.ignoreErrors=false advice.addEmbeddedRepo=false advice.graftFileDeprecated=false attr.tree= \
     branch.autoSetupMerge=false branch.autoSetupRebase=never commit.cleanup=default \
     core.safecrlf=false i18n.commitEncoding=UTF-8 i18n.logOutputEncoding=UTF-8 \
     merge.autoStash=false merge.branchdesc=false merge.conflictStyle=merge \
     merge.default=text merge.directoryRenames=conflict merge.ff=true merge.log=false \
     merge.renames=true merge.stat=false",
];

pub(crate) fn command(program: &OsStr, folder: &Path) -> Command {
    let mut command = child::command(program, folder, child::variables(&[child::GIT]));
    command.envs(VARIABLES);
    for setting in SETTINGS.iter().flat_map(|some| some.split(' ')) {
        command.args(["-c", setting]);
    }
    command
}
