//! Setting and reading the gates of a task.

use std::time::Duration;

use serde::Serialize;

use super::claims::{Caller, check_epoch};
use super::{Context, require};
use crate::error::Result;
use crate::gate::{Evidence, Gate, Gates, Record, check_agent};
use crate::id::TaskId;
use crate::runner::process;

/// How to set a gate.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The gate.
    pub gate: Gate,
    /// What to set it to, when no command decides.
    pub passed: bool,
    /// Command that decides, in words.
    pub command: Option<Vec<String>>,
    /// How long the command may take.
    pub time_limit: Duration,
    /// Role of who sets it.
    pub agent: Option<String>,
    /// Set it although an earlier gate is open.
    pub force: bool,
    /// Epoch of the claim under which it is set.
    pub epoch: Option<u32>,
}

/// The gates of a task.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TaskGates {
    /// The task.
    pub task_id: TaskId,
    /// True when every required gate has passed.
    pub passed: bool,
    /// The gates.
    #[serde(flatten)]
    pub gates: Gates,
}

/// Reads the gates of a task.
pub fn gates(context: &mut Context, task: TaskId) -> Result<TaskGates> {
    context.read(|transaction| {
        require(transaction, task)?;
        Ok(shown(task, transaction.gates(task)?))
    })
}

fn shown(task_id: TaskId, gates: Gates) -> TaskGates {
    TaskGates {
        task_id,
        passed: gates.all_passed(),
        gates,
    }
}

/// Sets a gate to what its command's result is, or to what the caller says. The rules are asked
/// before a command runs and again when its result is kept. A failure is always kept; the answer
/// says when it came after the last round ([`Gates::rounds_exceeded`]).
pub fn set(context: &mut Context, task: TaskId, setting: &Setting) -> Result<TaskGates> {
    check_agent(setting.agent.as_deref())?;
    let (id, gate, force) = (task.to_string(), setting.gate, setting.force);
    let wanted = setting.command.is_some() || setting.passed;
    let caller = Caller::of(context, task, setting.epoch);
    context.read(|transaction| {
        check_epoch(transaction, &require(transaction, task)?, &caller)?;
        transaction.gates(task)?.check(&id, gate, wanted, force)
    })?;
    let evidence = evidence(context, setting)?;
    let passed = evidence.outcome().unwrap_or(setting.passed);
    let (at, by) = (context.now(), context.surroundings.actor.clone());
    context.write(|transaction| {
        // Somebody may have taken over while the command ran.
        check_epoch(transaction, &require(transaction, task)?, &caller)?;
        let mut gates = transaction.gates(task)?;
        gates.check(&id, gate, passed, force)?;
        let forced = passed && !gates.open_before(gate).is_empty();
        gates.set(
            gate,
            Record {
                passed,
                at,
                by,
                agent: setting.agent.clone(),
                forced,
                evidence,
            },
        );
        transaction.put_gates(task, &gates)?;
        Ok(shown(task, gates))
    })
}

fn evidence(context: &Context, setting: &Setting) -> Result<Evidence> {
    let Some(command) = &setting.command else {
        return Ok(Evidence::Claim);
    };
    let finished = process::run(command, &context.surroundings.directory, setting.time_limit)?;
    Ok(Evidence::Command {
        command: command.clone(),
        exit_code: finished.exit_code,
        duration_ms: u64::try_from(finished.duration.as_millis()).unwrap_or(u64::MAX),
        output_digest: finished.output_digest,
        last_lines: finished.last_lines,
        timed_out: finished.timed_out,
    })
}
