//! What to type after the demo.

use serde::Serialize;

/// A command and what it is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Next {
    /// What it does, in a few words.
    pub(crate) action: &'static str,
    /// A command that can be pasted.
    pub(crate) command: String,
}

fn next(command: &str, action: &'static str) -> Next {
    Next {
        action,
        command: command.to_string(),
    }
}

/// Returns what to type in the folder of the demo.
pub(super) fn here(folder: &str, installed: bool) -> Vec<Next> {
    let folder = crate::error::quote(folder);
    let install = next("cargo install --path .", "puts cleo on the PATH");
    let rest = [
        next(&format!("cd {folder}"), "where it all is"),
        next("cleo list --tree", "the tasks"),
        next("cleo why T6", "why this skill and this prompt"),
        next("cat prompts/T6.md", "what an agent gets"),
        next(
            "cat claudedocs/agent-outputs/MANIFEST.jsonl",
            "what agents report",
        ),
    ];
    let install = (!installed).then_some(install);
    install.into_iter().chain(rest).collect()
}

/// Returns what to type in a project of the user's own.
pub(super) fn project() -> Vec<Next> {
    vec![
        next("cleo init --agents claude,codex", "in the project's folder"),
        next(
            "cleo add 'Research token refresh' --label research",
            "describes the work",
        ),
        next(
            "cleo spawn T1 --format text > prompt.md",
            "give prompt.md to an agent",
        ),
        next("cleo verify output T1", "checks what it left"),
        next("cleo complete T1", "done, if it verifies"),
    ]
}
