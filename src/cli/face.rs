//! What every command gets.

use std::ffi::OsString;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;

use super::arguments::Globals;
use super::output::Output;
use super::screen::Screen;
use super::{environment, usage};
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::ops::{Context, Surroundings};

/// Where a command answers, and what surrounds it.
pub(super) struct Face<'a> {
    pub(super) output: &'a mut Output,
    pub(super) globals: &'a Globals,
    pub(super) settings: &'a Settings,
    pub(super) arguments: &'a [OsString],
    /// Finds the schema of what a command answers.
    pub(super) schema: fn(&str) -> Option<Value>,
    pub(super) name: &'static str,
}

impl Face<'_> {
    /// Runs one command under its name.
    pub(super) fn run<A>(
        &mut self,
        name: &'static str,
        arguments: A,
        command: impl FnOnce(&mut Self, A) -> Result<ExitCode>,
    ) -> Result<ExitCode> {
        self.name = name;
        self.output.check_fields(name, self.schema)?;
        command(self, arguments)
    }

    /// Reads what surrounds the command.
    pub(super) fn surroundings(&self) -> Result<Surroundings> {
        environment::surroundings(self.globals, self.settings, self.name)
    }

    /// Opens the workspace.
    pub(super) fn context(&self) -> Result<Context> {
        Context::open(self.surroundings()?)
    }

    /// Answers with a result.
    pub(super) fn reply<T: Serialize>(
        &self,
        result: &T,
        warnings: &[String],
        text: impl FnOnce(&mut Screen),
    ) -> Result<ExitCode> {
        Ok(self.output.reply(self.name, result, None, warnings, text))
    }

    /// Answers with a verdict; one that failed carries its error beside the result.
    pub(super) fn verdict<T: Serialize>(
        &self,
        result: &T,
        error: Option<Error>,
        text: impl FnOnce(&mut Screen),
    ) -> Result<ExitCode> {
        self.outcome(result, error, &[], text)
    }

    /// Answers with a result, the error of what of it failed, and warnings.
    pub(super) fn outcome<T: Serialize>(
        &self,
        result: &T,
        error: Option<Error>,
        warnings: &[String],
        text: impl FnOnce(&mut Screen),
    ) -> Result<ExitCode> {
        let error = self.with_fix(error);
        Ok(self
            .output
            .reply(self.name, result, error.as_ref(), warnings, text))
    }

    /// Gives an error that stands beside a result its command to paste.
    pub(super) fn with_fix(&self, error: Option<Error>) -> Option<Error> {
        error.map(|error| usage::complete(error, self.globals, self.arguments))
    }
}
