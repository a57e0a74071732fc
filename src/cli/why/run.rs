//! `cleo why --run`

use std::process::ExitCode;

use super::{Arguments, nothing};
use crate::cli::Face;
use crate::cli::run::table::state_tone;
use crate::cli::runs::words::status_tone;
use crate::cli::screen::{Screen, Tone};
use crate::error::{Result, quote};
use crate::ops::runs::why::{RunWhy, TaskWhy, why};
use crate::ops::spawn::Why;
use crate::run::board::TaskState;

pub(in crate::cli) fn of_run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let run = arguments.run.ok_or_else(nothing)?;
    let why = why(&mut face.context()?, &run)?;
    face.reply(&why, &[], |screen| render(screen, &why))
}

fn render(screen: &mut Screen, why: &RunWhy) {
    let run = &why.run;
    screen.say(Tone::Strong, &run.id).say(Tone::Plain, " ");
    screen
        .say(status_tone(run.status), run.status)
        .line(Tone::Plain, format!("  {}", run.kind))
        .field("because", &why.reason);
    if run.routing_reason != why.reason {
        screen.field("routed", &run.routing_reason);
    }
    why.tasks.iter().for_each(|task| task_lines(screen, task));
    screen.field("all of it", format!("cleo runs show {}", quote(&run.id)));
}

fn task_lines(screen: &mut Screen, task: &TaskWhy) {
    let state = match task.outcome.filter(|_| task.state == TaskState::Failed) {
        Some(outcome) => format!(" {} ({outcome})", task.state),
        None => format!(" {}", task.state),
    };
    screen
        .say(Tone::Strong, task.task_id)
        .say(state_tone(task.state), state)
        .line(Tone::Plain, format!("  {}", task.title))
        .field("because", &task.reason);
    if task.attempts > 1 {
        screen.field("tries", task.attempts);
    }
    if let Some(spawn) = &task.spawn {
        let receipt = &spawn.receipt;
        screen
            .field("skill", format!("{}: {}", receipt.skill, receipt.reason))
            .field("prompt", prompt(spawn));
    }
}

/// Says whether the prompt of a task would still come out.
fn prompt(spawn: &Why) -> String {
    let changed = spawn.changed.iter().map(|change| change.input.as_str());
    let changed: Vec<&str> = changed.collect();
    match &spawn.fault {
        Some(fault) => format!("none comes out today: {fault}"),
        None if spawn.reproduced => "the same comes out today".to_string(),
        None => format!("another comes out today; changed: {}", changed.join(", ")),
    }
}
