//! Reports of a run for CI services.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::{Face, environment};
use crate::error::{Code, Error, Result, quote};
use crate::ops::work::runs::{self, export};
use crate::run::report::github;

// A doc comment here would become the help of the commands.
#[derive(Args)]
pub(in crate::cli) struct Reporting {
    /// Report to a CI service: annotations on standard error, a job summary, and the outputs
    /// run_id, ok and failed
    #[arg(long, value_name = "SERVICE")]
    ci: Option<Ci>,

    /// Write results as JUnit XML, one suite per wave
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

/// A service that builds and tests.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ci {
    /// GitHub Actions
    Github,
}

impl Reporting {
    /// Refuses a run that has nothing to tell this way: it is not over tasks.
    pub(in crate::cli) fn refuse(&self, run: &str) -> Result<()> {
        if self.ci.is_none() && self.junit.is_none() {
            return Ok(());
        }
        let message = format!("{run} carries out a plan; `--ci` and `--junit` tell of tasks");
        Err(Error::new(Code::Usage, message).fix(format!("cleo runs resume {}", quote(run))))
    }

    pub(super) fn check(&self, face: &Face<'_>) -> Result<()> {
        match &self.junit {
            Some(path) => export::check_xml(&face.surroundings()?, path),
            None => Ok(()),
        }
    }

    pub(super) fn tell(&self, face: &Face<'_>, run: &str) -> Vec<String> {
        if self.ci.is_none() && self.junit.is_none() {
            return Vec::new();
        }
        let told = self.report(face, run);
        let faults = told.unwrap_or_else(|error| vec![error]);
        faults
            .iter()
            .map(|fault| fault.display_message().into_owned())
            .collect()
    }

    pub(super) fn tell_failure(&self, face: &Face<'_>, error: &Error) {
        if self.ci.is_some() {
            let line = github::failure(error.code.name(), &error.display_message());
            face.output.eprint(&line);
        }
    }

    fn report(&self, face: &Face<'_>, run: &str) -> Result<Vec<Error>> {
        let mut context = face.context()?;
        let shown = runs::show(&mut context, run)?;
        let mut faults = Vec::new();
        if self.ci.is_some() {
            let path = |name: &str| environment::variable(name).map(PathBuf::from);
            let places = export::Github {
                summary: path("GITHUB_STEP_SUMMARY"),
                outputs: path("GITHUB_OUTPUT"),
            };
            let (lines, more) = export::tell_github(&shown, &places);
            face.output.eprint(&lines);
            faults.extend(more);
        }
        if let Some(path) = &self.junit {
            faults.extend(export::xml(&context.surroundings, &shown, path).err());
        }
        Ok(faults)
    }
}
