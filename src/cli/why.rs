//! `cleo why`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::screen::{Screen, Tone, dim, plain};
use crate::error::{Result, quote};
use crate::id::TaskId;
use crate::ops::api;
use crate::ops::spawn::Why;
use crate::ops::tasks::One;
use crate::ops::work::runs::why::{RunWhy, TaskWhy, why as why_run};

#[derive(Args)]
#[command(after_help = "\
For a run, explains its status and, for each task, what it waits for, why it failed, and whether
the prompt of its last attempt would still be the same.

Examples:
  cleo why T3
  cleo why --run run_1769418000000_1")]
pub(super) struct Arguments {
    /// The task whose prompt is explained
    #[arg(required_unless_present = "run")]
    task: Option<TaskId>,

    /// Explain a run in place of a task
    #[arg(long, value_name = "RUN", conflicts_with = "task")]
    run: Option<String>,
}

pub(super) fn dispatch(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match (arguments.task, arguments.run) {
        (Some(task), _) => face.call(&api::WHY, One { task }, render),
        (None, Some(run)) => face.inside("why", |context| why_run(context, &run), render_run),
        (None, None) => Err(error!(Usage, "name a task or a run")),
    }
}

fn render(screen: &mut Screen, why: &Why) {
    let receipt = &why.receipt;
    screen
        .say(Tone::Strong, why.task_id)
        .say(Tone::Plain, " → ")
        .line(Tone::Accent, &receipt.chosen.skill);
    screen
        .field("spawned", &why.at)
        .field("decided by", receipt.chosen.strategy);
    screen
        .field("matched", receipt.chosen.matched.join(", "))
        .field("because", &receipt.chosen.reason);
    if let Some((skill, reason)) = &receipt.runner_up {
        screen.field("runner-up", format!("{skill}: {reason}"));
    }
    for used in &receipt.protocols {
        screen.field(
            "protocol",
            format!("{} v{} ({})", used.name, used.version, used.why),
        );
    }
    screen
        .field("entry", &receipt.manifest_id)
        .field("prompt", &receipt.prompt_digest)
        .option("verified", why.verified_at.as_ref())
        .option("forced", why.forced.as_ref());
    if let Some(fault) = &why.fault {
        let text = format!("The prompt can no longer be built: {fault}");
        screen.line(Tone::Warn, text);
        return;
    }
    if why.reproduced {
        screen.line(Tone::Good, "The prompt would be the same today.");
        return;
    }
    screen.line(
        Tone::Warn,
        "The prompt would differ today; these inputs changed:",
    );
    let short = |digest: &Option<String>| match digest {
        Some(digest) => dim(&digest[..digest.len().min(19)]),
        None => dim("-"),
    };
    let rows = why.changed.iter();
    let rows = rows.map(|change| {
        [
            plain(&change.input),
            short(&change.then),
            short(&change.now),
        ]
    });
    screen.rows(&["INPUT", "THEN", "NOW"], rows);
}

fn render_run(screen: &mut Screen, why: &RunWhy) {
    let run = &why.run;
    screen
        .headline(&run.id, run.status, run.kind)
        .field("because", &why.reason);
    if run.routing_reason != why.reason {
        screen.field("routed", &run.routing_reason);
    }
    why.tasks.iter().for_each(|task| render_task(screen, task));
    screen.field("all of it", format!("cleo runs show {}", quote(&run.id)));
}

fn render_task(screen: &mut Screen, TaskWhy { task, spawn, .. }: &TaskWhy) {
    let title = match task.outcome.filter(|_| task.state.is_undone()) {
        Some(outcome) => format!("({outcome})  {}", task.planned.title),
        None => task.planned.title.clone(),
    };
    screen
        .headline(task.planned.task_id, task.state, title)
        .field("because", task.reason.as_deref().unwrap_or_default());
    if task.attempts > 1 {
        screen.field("attempts", task.attempts);
    }
    if let Some(spawn) = spawn {
        let receipt = &spawn.receipt;
        screen
            .field(
                "skill",
                format!("{}: {}", receipt.chosen.skill, receipt.chosen.reason),
            )
            .field("prompt", describe_prompt(spawn));
    }
}

fn describe_prompt(spawn: &Why) -> String {
    let changed = spawn.changed.iter().map(|change| change.input.as_str());
    let changed: Vec<&str> = changed.collect();
    match &spawn.fault {
        Some(fault) => format!("it can no longer be built: {fault}"),
        None if spawn.reproduced => "it would be the same today".to_string(),
        None => format!("it would differ today; changed: {}", changed.join(", ")),
    }
}
