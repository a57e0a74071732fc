//! The agents of the demo, played by a script that is no AI. What it does, a real agent does too:
//! it is started with its ids in the environment, and what counts is what it leaves behind.

use std::path::Path;
use std::time::Duration;

use crate::error::{Code, Error, Result};
use crate::ops::spawn::Spawned;
use crate::runner::{child, process};
use crate::workspace::Workspace;

/// How long the script may take.
const LIMIT: Duration = Duration::from_secs(60);

/// How the script behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Honesty {
    /// Writes what is due.
    Honest,
    /// Writes nothing and says the same.
    Lying,
}

/// Runs the script for a prompt and returns its last message.
pub(super) fn play(
    workspace: &Workspace,
    program: &Path,
    spawned: &Spawned,
    honesty: Honesty,
) -> Result<String> {
    let mut words = vec!["env".to_string()];
    words.extend(environment(workspace, program, spawned));
    words.extend(["sh", "agent.sh"].map(String::from));
    if honesty == Honesty::Lying {
        words.push("--lie".to_string());
    }
    let environment = child::work_environment(std::iter::empty());
    let finished = process::run(&words, &workspace.root, &LIMIT.into(), environment)?;
    let said = finished.last_lines.join("\n");
    if finished.exit_code == Some(0) {
        return Ok(said);
    }
    let message = format!("agent.sh failed for {}: {said}", spawned.task_id);
    Err(Error::new(Code::Internal, message).fix("cleo demo"))
}

fn environment(workspace: &Workspace, program: &Path, spawned: &Spawned) -> Vec<String> {
    let root = workspace.root.to_string_lossy();
    [
        ("CLEO_ROOT", &*root),
        ("CLEO_AGENT", "agent.sh"),
        ("CLEO_PROGRAM", &program.to_string_lossy()),
        ("CLEO_TASK_ID", &spawned.task_id.to_string()),
        ("CLEO_MANIFEST_ID", &spawned.manifest_id),
        ("CLEO_OUTPUT_FILE", &spawned.output_file),
    ]
    .map(|(name, value)| format!("{name}={value}"))
    .to_vec()
}
