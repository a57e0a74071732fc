//! The command line. Each command has its file; this one has the list and the one `match`.

mod arguments;
mod environment;
mod output;
mod screen;
mod usage;

mod add;
mod cancel;
mod complete;
mod delete;
mod demo;
mod deps;
mod explain;
mod find;
mod init;
mod list;
mod manifest;
mod orchestrator;
mod reopen;
mod research;
mod show;
mod skills;
mod spawn;
mod start;
mod update;
mod util;
mod verify;
mod why;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::{Error, Result};
use crate::ops::{Context, Surroundings};
use arguments::Globals;
use output::Output;

/// Turn a graph of tasks into work by AI agents that is checked, not believed
#[derive(Parser)]
#[command(name = "cleo", version, after_help = EXAMPLES, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  cleo init                                   make a workspace here
  cleo add 'Research token refresh' --label research
  cleo spawn T1 --format text                 print the prompt for an agent
  cleo verify output T1                       check what the agent left
  cleo complete T1                            done, if it verifies
  cleo demo                                   see all of it on real input

More: cleo help COMMAND, cleo help exit-codes, cleo explain CODE";

#[derive(Subcommand)]
enum Command {
    Init(init::Arguments),
    Add(Box<add::Arguments>),
    Update(Box<update::Arguments>),
    Show(show::Arguments),
    List(list::Arguments),
    Find(find::Arguments),
    Start(start::Arguments),
    Complete(complete::Arguments),
    Reopen(reopen::Arguments),
    Cancel(cancel::Arguments),
    Delete(delete::Arguments),
    Deps(deps::Arguments),
    #[command(subcommand)]
    Orchestrator(orchestrator::Command),
    Spawn(spawn::Arguments),
    Why(why::Arguments),
    Verify(verify::Arguments),
    #[command(subcommand)]
    Skills(skills::Command),
    #[command(subcommand)]
    Manifest(manifest::Command),
    #[command(subcommand)]
    Research(research::Command),
    Demo(demo::Arguments),
    Explain(explain::Arguments),
    Help(explain::HelpArguments),
    #[command(subcommand, hide = true)]
    Util(util::Command),
}

/// Runs the command of this process and returns its exit code.
pub fn run() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(fault) => return usage::report(&fault, &arguments),
    };
    let mut output = Output::new(&cli.globals);
    let mut face = Face {
        output: &mut output,
        globals: &cli.globals,
        arguments: &arguments,
        name: "cleo",
    };
    let done = environment::format().and_then(|_| dispatch(&mut face, cli.command));
    let name = face.name;
    match done {
        Ok(code) => code,
        Err(error) => output.error(name, usage::with_fix(error, &cli.globals, &arguments)),
    }
}

/// The one place that knows which command is which.
fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Init(arguments) => face.run("init", arguments, init::run),
        Command::Add(arguments) => face.run("add", *arguments, add::run),
        Command::Update(arguments) => face.run("update", *arguments, update::run),
        Command::Show(arguments) => face.run("show", arguments, show::run),
        Command::List(arguments) => face.run("list", arguments, list::run),
        Command::Find(arguments) => face.run("find", arguments, find::run),
        Command::Start(arguments) => face.run("start", arguments, start::run),
        Command::Complete(arguments) => face.run("complete", arguments, complete::run),
        Command::Reopen(arguments) => face.run("reopen", arguments, reopen::run),
        Command::Cancel(arguments) => face.run("cancel", arguments, cancel::run),
        Command::Delete(arguments) => face.run("delete", arguments, delete::run),
        Command::Deps(arguments) => face.run("deps", arguments, deps::run),
        Command::Orchestrator(command) => orchestrator::dispatch(face, command),
        Command::Spawn(arguments) => face.run("spawn", arguments, spawn::run),
        Command::Why(arguments) => face.run("why", arguments, why::run),
        Command::Verify(arguments) => verify::dispatch(face, arguments),
        Command::Skills(command) => skills::dispatch(face, command),
        Command::Manifest(command) => manifest::dispatch(face, command),
        Command::Research(command) => research::dispatch(face, command),
        Command::Demo(arguments) => face.run("demo", arguments, demo::run),
        Command::Explain(arguments) => face.run("explain", arguments, explain::run),
        Command::Help(arguments) => face.run("help", arguments, explain::help),
        Command::Util(command) => util::dispatch(face, command),
    }
}

/// What every command gets: where to answer and what surrounds it.
struct Face<'a> {
    output: &'a mut Output,
    globals: &'a Globals,
    arguments: &'a [OsString],
    name: &'static str,
}

impl Face<'_> {
    /// Runs one command under its name.
    fn run<A>(
        &mut self,
        name: &'static str,
        arguments: A,
        command: impl FnOnce(&mut Self, A) -> Result<ExitCode>,
    ) -> Result<ExitCode> {
        self.name = name;
        command(self, arguments)
    }

    /// Reads what surrounds the command.
    fn surroundings(&self) -> Result<Surroundings> {
        environment::surroundings(self.globals, self.name)
    }

    /// Opens the workspace.
    fn context(&self) -> Result<Context> {
        Context::open(self.surroundings()?)
    }

    /// Answers with a result.
    fn reply<T: serde::Serialize>(
        &mut self,
        result: &T,
        warnings: &[String],
        text: impl FnOnce(&mut screen::Screen),
    ) -> Result<ExitCode> {
        Ok(self.output.reply(self.name, result, None, warnings, text))
    }

    /// Answers with a verdict; one that failed carries its error beside the result.
    fn verdict<T: serde::Serialize>(
        &mut self,
        result: &T,
        error: Option<Error>,
        text: impl FnOnce(&mut screen::Screen),
    ) -> Result<ExitCode> {
        self.judged(result, error, &[], text)
    }

    /// Answers with a verdict and with warnings.
    fn judged<T: serde::Serialize>(
        &mut self,
        result: &T,
        error: Option<Error>,
        warnings: &[String],
        text: impl FnOnce(&mut screen::Screen),
    ) -> Result<ExitCode> {
        let error = error.map(|error| usage::with_fix(error, self.globals, self.arguments));
        Ok(self
            .output
            .reply(self.name, result, error.as_ref(), warnings, text))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_one_that_clap_can_build() {
        super::Cli::command().debug_assert();
    }
}
