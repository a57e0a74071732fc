//! The context of a command, and how it replies.

use std::ffi::OsString;
use std::mem::{ManuallyDrop, take};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};
use serde::Serialize;

use super::arguments::Globals;
use super::output::Output;
use super::screen::Screen;
use super::{environment, usage};
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::ops::operation::{Operation, Run};
use crate::ops::plans::external::External;
use crate::ops::{Context, Notes, Surroundings};
use crate::runner::agent::Runners;

/// The output, options and settings of a command.
pub(super) struct Face<'a> {
    pub(super) output: &'a mut Output,
    pub(super) globals: &'a Globals,
    pub(super) settings: &'a Settings,
    /// The settings, or their error for commands that need none.
    pub(super) read: &'a Arc<Result<Settings>>,
    pub(super) arguments: &'a [OsString],
    pub(super) name: &'static str,
}

impl Face<'_> {
    pub(super) fn run<A>(
        &mut self,
        name: &'static str,
        arguments: A,
        command: impl FnOnce(&mut Self, A) -> Result<ExitCode>,
    ) -> Result<ExitCode> {
        self.name = name;
        command(self, arguments)
    }

    /// Runs an operation of the table and answers with its reply.
    pub(super) fn call<Request, Reply: Serialize>(
        &mut self,
        operation: &Operation<Request, Reply>,
        request: Request,
        text: impl FnOnce(&mut Screen, &Reply),
    ) -> Result<ExitCode> {
        self.call_as(operation.facts.name, operation, request, text)
    }

    /// Runs an operation under the name of another command.
    pub(super) fn call_as<Request, Reply: Serialize>(
        &mut self,
        name: &'static str,
        operation: &Operation<Request, Reply>,
        request: Request,
        text: impl FnOnce(&mut Screen, &Reply),
    ) -> Result<ExitCode> {
        self.name = name;
        match operation.run {
            Run::Inside(run) => {
                let mut context = self.last_context()?;
                let reply = run(&mut context, request)?;
                self.answer(&reply, take(&mut context.notes), text)
            }
            Run::Anywhere(run) => {
                let mut notes = Notes::default();
                let reply = run(&self.surroundings()?, &mut notes, request)?;
                self.answer(&reply, notes, text)
            }
        }
    }

    /// Runs a function in the workspace and replies with its result.
    pub(super) fn inside<Reply: Serialize>(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&mut Context) -> Result<Reply>,
        text: impl FnOnce(&mut Screen, &Reply),
    ) -> Result<ExitCode> {
        self.name = name;
        let mut context = self.last_context()?;
        let reply = work(&mut context)?;
        self.answer(&reply, take(&mut context.notes), text)
    }

    /// Runs a function with or without a workspace and replies with its result.
    pub(super) fn anywhere<Reply: Serialize>(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&Surroundings, &mut Notes) -> Result<Reply>,
        text: impl FnOnce(&mut Screen, &Reply),
    ) -> Result<ExitCode> {
        self.name = name;
        let mut notes = Notes::default();
        let reply = work(&self.surroundings()?, &mut notes)?;
        self.answer(&reply, notes, text)
    }

    pub(super) fn answer<Reply: Serialize>(
        &self,
        reply: &Reply,
        notes: Notes,
        text: impl FnOnce(&mut Screen, &Reply),
    ) -> Result<ExitCode> {
        let text = |screen: &mut Screen| text(screen, reply);
        self.outcome(reply, notes.failure, &notes.warnings, text)
    }

    pub(super) fn surroundings(&self) -> Result<Surroundings> {
        let read = Arc::clone(self.read);
        environment::surroundings(self.globals, self.settings, read, self.name)
    }

    /// Makes a planner or judge of a command line that the user typed.
    pub(super) fn external(&self, line: &str) -> Result<External> {
        let passed = Runners::from(self.settings)?.passed;
        External::new(line, self.surroundings()?.directory, passed)
    }

    pub(super) fn context(&self) -> Result<Context> {
        let context = Context::open(self.surroundings()?)?;
        let (around, root) = (&context.surroundings, &context.workspace.root);
        // A linked worktree of git has no workspace of its own.
        if around.root.is_none() && !around.directory.starts_with(root) && self.output.is_watched()
        {
            let root = root.display();
            self.output
                .note(&format!("in the workspace of the main checkout, {root}"));
        }
        Ok(context)
    }

    /// Opens a workspace that is never closed: closing the database takes a fiftieth of `cleo
    /// show`.
    fn last_context(&self) -> Result<ManuallyDrop<Context>> {
        self.context().map(ManuallyDrop::new)
    }

    pub(super) fn reply<T: Serialize>(
        &self,
        result: &T,
        warnings: &[String],
        text: impl FnOnce(&mut Screen),
    ) -> Result<ExitCode> {
        self.outcome(result, None, warnings, text)
    }

    pub(super) fn outcome<T: Serialize>(
        &self,
        result: &T,
        error: Option<Error>,
        warnings: &[String],
        text: impl FnOnce(&mut Screen),
    ) -> Result<ExitCode> {
        let error = self.with_fix(error);
        let reply = self
            .output
            .reply(self.name, result, error.as_ref(), warnings, text);
        Ok(reply)
    }

    pub(super) fn with_fix(&self, error: Option<Error>) -> Option<Error> {
        error.map(|error| usage::complete(error, self.globals, self.arguments))
    }
}

/// Arguments that are built only when their command is called. Building the options of all commands
/// took most of the time of a call.
pub(super) struct Later<A>(pub(super) A);

impl<A: FromArgMatches> FromArgMatches for Later<A> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Later<A>, clap::Error> {
        A::from_arg_matches(matches).map(Later)
    }

    fn update_from_arg_matches(
        &mut self,
        matches: &ArgMatches,
    ) -> std::result::Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<A: Args> Args for Later<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(A::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(A::augment_args_for_update)
    }
}

impl<A: Subcommand> Subcommand for Later<A> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(A::augment_subcommands)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(A::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        A::has_subcommand(name)
    }
}
