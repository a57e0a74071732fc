//! `cleo demo`: how the steps look. What they do is in [`crate::ops::demo`].

mod work;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::environment;
use super::screen::{Cell, Screen, Tone};
use crate::error::Result;
use crate::id::TaskId;
use crate::ops::demo::{Choice, Demo, Line, Next, Options, Step, demo};

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo demo
  cleo demo --dir /tmp/try-cleo
  cleo demo --json | jq '.result.steps[] | select(.step == \"wave\")'

No AI and no network: a small shell script plays the agents. Everything is in the
folder of the demo; remove the folder and nothing is left.")]
pub(super) struct Arguments {
    /// Folder to use, new or empty; cleo-demo, or the next that is free, when left out
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (program, installed) = environment::program()?;
    let options = Options {
        folder: arguments.dir,
        program,
        installed,
    };
    let done = demo(&face.surroundings()?, &options)?;
    face.reply(&done, &[], |screen| render(screen, &done))
}

fn render(screen: &mut Screen, demo: &Demo) {
    screen
        .say(Tone::Strong, "cleo demo")
        .line(Tone::Plain, format!(" in {}", demo.folder))
        .line(
            Tone::Warn,
            "A small shell script, agent.sh, plays the agents. No AI takes part.",
        );
    for step in &demo.steps {
        match step {
            Step::Tasks { epic, tasks } => show_tasks(screen, epic, tasks),
            Step::Dispatch { choices } => show_dispatch(screen, choices),
            Step::Waves { waves } => show_waves(screen, waves),
            Step::Wave { .. } | Step::Done { .. } => {}
        }
    }
    work::show(screen, &demo.steps);
    work::show_lies(screen, &demo.steps);
    for step in &demo.steps {
        if let Step::Done { epic, done } = step {
            screen.line(Tone::Plain, "").line(
                Tone::Good,
                format!("{epic} is complete: all {done} tasks are done."),
            );
        }
    }
    show_next(screen, "Look around", &demo.look);
    show_next(screen, "Now on your own project", &demo.next);
}

/// Begins a part: what it shows, and the command that shows it.
fn begin(screen: &mut Screen, heading: &str, command: &str) {
    screen
        .line(Tone::Plain, "")
        .say(Tone::Strong, heading)
        .say(Tone::Plain, "  ")
        .line(Tone::Accent, command);
}

fn show_tasks(screen: &mut Screen, epic: &Line, tasks: &[Line]) {
    begin(
        screen,
        "1  An epic of eight tasks, with dependencies",
        "cleo add --batch tasks.jsonl",
    );
    for (line, indent) in std::iter::once((epic, "")).chain(tasks.iter().map(|task| (task, "  "))) {
        screen
            .say(Tone::Dim, format!("   {indent}{}  ", line.id))
            .line(Tone::Plain, &line.title);
    }
}

fn show_dispatch(screen: &mut Screen, choices: &[Choice]) {
    begin(
        screen,
        "2  A skill for each, with the reason",
        "cleo skills dispatch TASK",
    );
    let row = |choice: &Choice| -> Vec<Cell> {
        vec![
            (Tone::Dim, format!("   {}", choice.task_id)),
            (Tone::Plain, choice.skill.clone()),
            (Tone::Dim, choice.reason.clone()),
        ]
    };
    screen.table(
        &["   TASK", "SKILL", "BECAUSE"],
        choices.iter().map(row).collect(),
    );
}

fn show_waves(screen: &mut Screen, waves: &[Vec<TaskId>]) {
    begin(
        screen,
        "3  Waves: what can be done side by side",
        "cleo orchestrator waves",
    );
    let waves: Vec<String> = waves.iter().map(|wave| crate::id::list(wave)).collect();
    screen.line(Tone::Plain, format!("   {}", waves.join("  →  ")));
}

fn show_next(screen: &mut Screen, heading: &str, commands: &[Next]) {
    screen.line(Tone::Plain, "").line(Tone::Strong, heading);
    let longest = commands.iter().map(|next| next.command.len()).max();
    let width = longest.unwrap_or_default();
    for next in commands {
        screen
            .say(Tone::Accent, format!("   {:width$}", next.command))
            .line(Tone::Dim, format!("  {}", next.action));
    }
}
