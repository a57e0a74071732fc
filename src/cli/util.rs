//! `cleo util …`: what the project makes from its own code. Hidden from help; people read the
//! files in docs/.

use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};

use super::Face;
use super::arguments::GLOBAL_OPTIONS;
use crate::error::{Code, Result};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Print a page of the reference as Markdown
    Reference(ReferenceArguments),
}

#[derive(Args)]
pub(super) struct ReferenceArguments {
    /// The page
    page: Page,
}

/// A page of the reference.
#[derive(Clone, Copy, ValueEnum)]
enum Page {
    /// Every command with its help
    Commands,
    /// Every error code
    ExitCodes,
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Reference(arguments) => face.run("util.reference", arguments, reference),
    }
}

fn reference(face: &mut Face<'_>, arguments: ReferenceArguments) -> Result<ExitCode> {
    let page = match arguments.page {
        Page::Commands => commands(),
        Page::ExitCodes => exit_codes(),
    };
    Ok(face.output.print(&page))
}

const MADE: &str = "<!-- Made by scripts/generate from the code. Do not edit. -->";

fn commands() -> String {
    let mut root = super::tree::whole().term_width(100);
    root.build();
    let mut page = format!("{MADE}\n\n# Commands\n");
    section(&mut page, &root, "cleo");
    for command in visible(&root) {
        sections_below(&mut page, command, "cleo");
    }
    page
}

/// Adds a command and those below it, in the order in which help lists them. The global options
/// stand once, at the top.
fn sections_below(page: &mut String, command: &clap::Command, above: &str) {
    let name = format!("{above} {}", command.get_name());
    let is_global = |argument: &clap::Arg| argument.get_help_heading() == Some(GLOBAL_OPTIONS);
    let own = command.clone().mut_args(|argument| {
        let hidden = is_global(&argument) || argument.is_hide_set();
        argument.hide(hidden)
    });
    section(page, &own, &name);
    for below in visible(command) {
        sections_below(page, below, &name);
    }
}

fn visible(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    let below = command.get_subcommands();
    below.filter(|below| !below.is_hide_set())
}

fn section(page: &mut String, command: &clap::Command, name: &str) {
    let help = command.clone().render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    let _ = writeln!(page, "\n## {name}\n\n```text\n{}\n```", text.trim_end());
}

fn exit_codes() -> String {
    let mut codes = Code::ALL.to_vec();
    codes.sort_by_key(|code| code.exit_code());
    let mut page = format!(
        "{MADE}\n\n# Exit codes\n\n\
         0 is success. Every failure has an exit code, for shells, and a finer code, for programs.\n\n\
         | Exit | Code | Meaning | What to do |\n| --- | --- | --- | --- |\n"
    );
    for code in codes {
        let (meaning, advice) = (code.meaning(), code.advice().replace('|', "\\|"));
        let _ = writeln!(
            page,
            "| {} | `{}` | {meaning} | {advice} |",
            code.exit_code(),
            code.name()
        );
    }
    page
}
