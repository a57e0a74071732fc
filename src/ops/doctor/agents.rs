//! The files that `cleo init --agents` wrote, and the agents in files.

use super::Finding;
use crate::agent_files::Client;
use crate::error::quote;
use crate::ops::Surroundings;
use crate::ops::agents::{LeftOut, known_in};
use crate::ops::init::{self, Options};
use crate::workspace::Workspace;

pub(super) fn look(surroundings: &Surroundings, workspace: &Workspace) -> Vec<Finding> {
    let own_file = |client: &Client| match client {
        Client::Claude => ".claude/agents/cleo-subagent.md",
        Client::Codex => ".codex/agents/cleo-subagent.toml",
    };
    let there = Client::ALL
        .into_iter()
        .filter(|client| workspace.root.join(own_file(client)).exists());
    let findings: Vec<Finding> = there.map(|client| judge(surroundings, client)).collect();
    if findings.is_empty() {
        return vec![Finding::ok(
            "agents",
            "no agent files, which `cleo init --agents` would write",
        )];
    }
    findings
}

/// Looks at the files of agents that cannot be used: whoever is asked for one of theirs finds nobody.
pub(super) fn left_out(workspace: &Workspace) -> Vec<Finding> {
    let finding = |file: LeftOut| {
        let path = workspace.root.join(&file.file);
        let fix = format!("cat {}", quote(&path.to_string_lossy()));
        Finding::warn("agents.files", file.why, fix)
    };
    // What is wrong with the store is told by the look at it.
    let known = known_in(workspace).unwrap_or_default();
    known.left_out.into_iter().map(finding).collect()
}

fn judge(surroundings: &Surroundings, client: Client) -> Finding {
    let check = "agents";
    let options = Options {
        hooks: false,
        agents: vec![client],
        dry_run: true,
        force: false,
    };
    let command = format!("cleo init --agents {}", client.name());
    match init::init(surroundings, &options) {
        Err(error) => Finding::of(check, error),
        Ok(done) => match done.refusal {
            Some(refusal) => Finding::warn(check, refusal.message, format!("{command} --dry-run")),
            None if done.created.is_empty() && done.updated.is_empty() => Finding::ok(
                check,
                format!("the files for {} are up to date", client.name()),
            ),
            None => {
                let paths = [done.created, done.updated].concat().join(", ");
                Finding::warn(check, format!("missing or outdated: {paths}"), command)
            }
        },
    }
}
