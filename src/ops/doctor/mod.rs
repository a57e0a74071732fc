//! Looking at everything that cleo stands on, and saying what is wrong and how to mend it. Nothing
//! is changed but by [`remove_damaged`].

mod agents;
mod clients;
mod damage;
mod database;
mod files;
mod folders;
mod git;
mod model;

use std::ffi::OsString;

use serde::Serialize;

use super::{Context, Surroundings};
use crate::config::Settings;
use crate::error::{Code, Error, Result};
use crate::runner::agent::Runners;

/// How something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) enum Status {
    /// As it should be.
    Ok,
    /// It works, and somebody should look at it.
    Warn,
    /// It is broken.
    Fail,
}

/// What one look found.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Finding {
    /// What was looked at, such as `database.integrity`.
    pub(crate) check: &'static str,
    /// How it was found.
    pub(crate) status: Status,
    /// What was found. May hold text from strangers.
    pub(crate) message: String,
    /// A command that mends it or shows more, when something is wrong.
    pub(crate) fix: Option<String>,
}

/// Everything that was found.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct Examined {
    /// The findings.
    pub(crate) findings: Vec<Finding>,
    /// How many.
    pub(crate) total: usize,
    /// How many only deserve a look.
    pub(crate) warned: usize,
    /// How many are broken.
    pub(crate) failed: usize,
}

impl Finding {
    fn ok(check: &'static str, message: impl Into<String>) -> Finding {
        Finding::new(check, Status::Ok, message.into(), None)
    }

    fn warn(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding::new(check, Status::Warn, message.into(), Some(fix.into()))
    }

    fn fail(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding::new(check, Status::Fail, message.into(), Some(fix.into()))
    }

    /// Makes a finding of an error: what it says, with its way out.
    fn of(check: &'static str, error: Error) -> Finding {
        // Doctor has just looked.
        let fix = error.fix.filter(|fix| !fix.ends_with("cleo doctor"));
        let fix = fix.unwrap_or(format!("cleo explain {}", error.code.name()));
        Finding::fail(check, error.message, fix)
    }

    fn new(check: &'static str, status: Status, message: String, fix: Option<String>) -> Finding {
        Finding {
            check,
            status,
            message,
            fix,
        }
    }
}

/// What a face found around it, for the looks that need it.
pub(crate) struct Patient {
    /// What surrounds the command.
    pub(crate) surroundings: Surroundings,
    /// The settings, or what is wrong with them.
    pub(crate) settings: Result<Settings>,
    /// Looks up a variable of the environment.
    pub(crate) variable: fn(&str) -> Option<OsString>,
    /// Where programs are looked for.
    pub(crate) path: OsString,
}

/// Looks at everything. The error is the verdict, when something is broken.
pub(crate) fn examine(patient: Patient) -> (Examined, Option<Error>) {
    let Patient {
        surroundings,
        settings,
        variable,
        path,
    } = patient;
    let mut runners = Runners::default();
    let mut findings = match settings {
        Ok(settings) => {
            let ok = Finding::ok("settings", "every layer can be read");
            let mut findings = vec![ok, model::look(&settings, variable)];
            match Runners::from(&settings) {
                Ok(of_settings) => runners = of_settings,
                Err(error) => findings.push(Finding::of("runners", error)),
            }
            findings
        }
        Err(error) => vec![Finding::of("settings", error)],
    };
    match surroundings.workspace() {
        Ok(workspace) => {
            let around = Surroundings {
                root: Some(workspace.root.clone()),
                ..surroundings.clone()
            };
            findings.extend(folders::look(&workspace));
            findings.extend(database::look(&surroundings, &workspace));
            findings.push(database::agency(&workspace));
            findings.extend(damage::look(&workspace));
            findings.extend(files::skills(&around));
            findings.push(match Context::open(around.clone()) {
                Ok(mut context) => files::manifest(&mut context),
                Err(error) => Finding {
                    status: Status::Warn,
                    message: "it cannot be judged without the database".to_string(),
                    ..Finding::of("manifest", error)
                },
            });
            findings.extend(agents::look(&around, &workspace));
            findings.extend(agents::left_out(&workspace));
            findings.push(git::look(&path, &workspace.root));
        }
        Err(error) => findings.push(Finding::of("workspace", error)),
    }
    findings.extend(clients::look(&path, &runners));
    verdict(findings)
}

/// Removes the damaged rows that no other command removes, and then looks at everything.
pub(crate) fn remove_damaged(patient: Patient) -> Result<(Examined, Option<Error>)> {
    let around = &patient.surroundings;
    around.assignment.refuse_agent("removes no damaged rows")?;
    let removed = damage::remove(&around.workspace()?)?;
    let (examined, _) = examine(patient);
    Ok(verdict([removed, examined.findings].concat()))
}

fn verdict(findings: Vec<Finding>) -> (Examined, Option<Error>) {
    let number = |status| {
        findings
            .iter()
            .filter(|finding| finding.status == status)
            .count()
    };
    let (warned, failed) = (number(Status::Warn), number(Status::Fail));
    let first = findings
        .iter()
        .find(|finding| finding.status == Status::Fail);
    let error = first.map(|first| {
        let others = match failed {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        let message = format!("{}: {}{others}", first.check, first.message);
        let error = Error::new(Code::DoctorFound, message);
        match &first.fix {
            Some(fix) => error.fix(fix),
            None => error,
        }
    });
    let examined = Examined {
        total: findings.len(),
        warned,
        failed,
        findings,
    };
    (examined, error)
}

/// Makes one finding of a check that may itself fail.
fn checked(check: &'static str, found: Result<Finding>) -> Finding {
    found.unwrap_or_else(|error| Finding::of(check, error))
}
