//! From settings to runners. Pure.
//!
//! A project's file is untrusted input. It can choose runners, but only the user names programs and variables.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::choice::{Rules, parse_pairs, read, read_rules, refuse_runner};
use super::claude::Claude;
use super::codex::Codex;
use super::copilot::Copilot;
use super::gemini::Gemini;
use super::opencode::OpenCode;
use super::{CommandLine, Job, Limits, Runner};
use crate::config::{
    GATES_ENVIRONMENT, RUN_RUNNER_JOBS, RUNNERS_BY_SKILL, RUNNERS_BY_TIER, RUNNERS_COMMAND,
    RUNNERS_DEFAULT, RUNNERS_ENVIRONMENT, RUNNERS_PROGRAMS, Settings,
};
use crate::error::{Code, Error, Result};

#[derive(Clone, Debug, Default)]
pub(crate) struct Runners {
    pub(crate) rules: Rules,
    /// The command line of the runner `command`.
    pub(crate) command: Option<String>,
    pub(crate) passed: Vec<String>,
    /// Most agents of a runner at a time, by its name.
    pub(crate) jobs: BTreeMap<String, usize>,
    programs: Vec<(String, String)>,
    /// The variable that says the command line, where one does.
    command_variable: Option<&'static str>,
}

impl Runners {
    pub(crate) fn from(settings: &Settings) -> Result<Runners> {
        require_user(settings, &[RUNNERS_COMMAND, RUNNERS_PROGRAMS])?;
        read_gate_variables(settings)?;
        let text = |name| settings.text(name).unwrap_or_default();
        let wrong = |name: &str, error: Error| invalid(name, settings.variable(name), &error);
        let rules = |name| read_rules(&text(name)).map_err(|error| wrong(name, error));
        let all = settings.text(RUNNERS_DEFAULT).map(|name| read(&name));
        let programs = parse_pairs(&text(RUNNERS_PROGRAMS));
        let jobs = parse_pairs(&text(RUN_RUNNER_JOBS))
            .and_then(|pairs| pairs.into_iter().map(read_limit).collect());
        Ok(Runners {
            rules: Rules {
                skills: rules(RUNNERS_BY_SKILL)?,
                tiers: rules(RUNNERS_BY_TIER)?,
                all: all
                    .transpose()
                    .map_err(|error| wrong(RUNNERS_DEFAULT, error))?,
            },
            command: settings.text(RUNNERS_COMMAND),
            command_variable: settings.variable(RUNNERS_COMMAND),
            passed: names(settings, RUNNERS_ENVIRONMENT),
            jobs: jobs.map_err(|error| wrong(RUN_RUNNER_JOBS, error))?,
            programs: programs.map_err(|error| wrong(RUNNERS_PROGRAMS, error))?,
        })
    }

    /// Returns where the program of a runner is, if that is not the one that the PATH leads to.
    pub(crate) fn program(&self, runner: &str) -> Option<&str> {
        let program = self.programs.iter().find(|(of, _)| of == runner);
        program.map(|(_, program)| program.as_str())
    }

    /// Returns the runner of a name. `command` is what the command line says of `command`.
    pub(crate) fn find(&self, name: &str, command: Option<&str>) -> Result<Box<dyn Runner>> {
        if name == "command" {
            let line = match (command, &self.command) {
                (Some(said), _) => CommandLine::read(said)?,
                (None, Some(set)) => CommandLine::read(set)
                    .map_err(|error| invalid(RUNNERS_COMMAND, self.command_variable, &error))?,
                (None, None) => return Err(no_command()),
            };
            return Ok(Box::new(line));
        }
        let known = all().into_iter().find(|runner| runner.name() == name);
        known.ok_or_else(|| refuse_runner(name))
    }
}

fn read_limit((runner, most): (String, String)) -> Result<(String, usize)> {
    match most.parse() {
        Ok(limit) if limit > 0 => Ok((runner, limit)),
        _ => {
            let message = format!("`{runner}={most}` is not a limit such as claude=2");
            Err(Error::new(Code::InputInvalid, message))
        }
    }
}

fn names(settings: &Settings, name: &str) -> Vec<String> {
    let text = settings.text(name).unwrap_or_default();
    let names = text.split(',').map(str::trim);
    let names = names.filter(|name| !name.is_empty());
    names.map(String::from).collect()
}

/// Refuses settings that the project's file sets.
fn require_user(settings: &Settings, names: &[&str]) -> Result<()> {
    let Some(name) = names.iter().find(|name| settings.is_from_project(name)) else {
        return Ok(());
    };
    let message = format!(
        "{name} is set by the project's file, which cannot say what is started here nor what it sees"
    );
    Err(Error::new(Code::ConfigInvalid, message)
        .or("remove the setting", format!("cleo config unset {name}")))
}

/// Reads the names of the user's variables for commands of gates and criteria: those of agents, because they run what
/// agents wrote, and those that the settings name.
pub(crate) fn read_gate_variables(settings: &Settings) -> Result<Vec<String>> {
    let all = [RUNNERS_ENVIRONMENT, GATES_ENVIRONMENT];
    require_user(settings, &all)?;
    Ok(all.iter().flat_map(|name| names(settings, name)).collect())
}

/// Returns the error of the runner `command` without a command line.
pub(crate) fn no_command() -> Error {
    let message =
        "the runner `command` needs a command line: give `--command`, or set `runners.command`";
    Error::new(Code::Usage, message)
}

/// The error about a setting, or about the variable that says it: what a file says does not count beside that.
fn invalid(name: &str, variable: Option<&str>, error: &Error) -> Error {
    let message = format!("{}: {}", variable.unwrap_or(name), error.message);
    let unset = variable.map(|variable| format!("unset {variable}"));
    let fix = unset.unwrap_or_else(|| format!("cleo config get {name}"));
    Error::new(Code::ConfigInvalid, message).fix(fix)
}

pub(crate) fn all() -> Vec<Box<dyn Runner>> {
    vec![
        Box::new(Claude),
        Box::new(Codex),
        Box::new(Gemini),
        Box::new(OpenCode),
        Box::new(Copilot),
    ]
}

/// Returns the command of a runner and the options that it must support.
pub(crate) fn list_needed_options(runner: &dyn Runner) -> (Vec<String>, Vec<String>) {
    // All that can be looked up in a help text.
    let example = Job {
        folder: PathBuf::from("."),
        model: Some("model".to_string()),
        limits: Limits {
            cost: Some(1.0),
            ..Limits::default()
        },
        ..Job::default()
    };
    let words = runner.invocation(&example).words;
    let is_option = |word: &&String| word.starts_with('-') && word.len() > 1;
    let lead = words[1..].iter().take_while(|word| !is_option(word));
    let options = words.iter().filter(is_option);
    let name = |word: &String| word.split('=').next().unwrap_or_default().to_string();
    (lead.cloned().collect(), options.map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Key, Origin};

    fn read_settings(pairs: &[(&str, &str)], of: &str) -> Result<Runners> {
        let mut settings = Settings::default();
        for (name, value) in pairs {
            let key = Key::require(name).unwrap();
            let path = format!("/x/{of}/config.yaml");
            let origin = Origin::File { path, line: 1 };
            settings.add(key, key.read(value).unwrap(), origin);
        }
        Runners::from(&settings)
    }

    #[test]
    fn program_path_can_be_set() {
        let runners = read_settings(&[("runners.programs", "codex=/opt/codex")], "cleo").unwrap();
        assert_eq!(runners.program("codex"), Some("/opt/codex"));
        assert_eq!(runners.program("claude"), None);
    }

    #[test]
    fn project_chooses_runners_and_starts_nothing() {
        let choice = [("runners.default", "codex"), ("runners.byTier", "1=gemini")];
        assert!(read_settings(&choice, ".cleo").is_ok());
        for pair in [
            ("runners.command", "sh -c evil"),
            ("runners.programs", "claude=/tmp/evil"),
            ("runners.environment", "AWS_*"),
        ] {
            let error = read_settings(&[pair], ".cleo").unwrap_err();
            assert_eq!(error.code, Code::ConfigInvalid);
            assert!(read_settings(&[pair], "cleo").is_ok());
        }
    }

    #[test]
    fn error_names_its_setting() {
        for pair in [
            ("runners.default", "nobody"),
            ("runners.bySkill", "ct-docs"),
            ("runners.programs", "x"),
        ] {
            let error = read_settings(&[pair], "cleo").unwrap_err();
            assert!(error.message.starts_with(pair.0), "{}", error.message);
        }
        assert!(
            read_settings(&[], "cleo")
                .unwrap()
                .find("command", None)
                .is_err()
        );
    }

    #[test]
    fn fix_of_variable_unsets_it() {
        for (name, value) in [
            ("runners.default", "nobody"),
            ("runners.bySkill", "ct-docs"),
            ("runners.byTier", "nonsense"),
            ("runners.programs", "x"),
            ("runners.command", "'open"),
        ] {
            let key = Key::require(name).unwrap();
            let mut settings = Settings::default();
            let origin = Origin::Variable(key.variable);
            settings.add(key, key.read(value).unwrap(), origin);
            let read = Runners::from(&settings).and_then(|it| it.find("command", None));
            let error = read.err().unwrap();
            assert!(
                error.message.starts_with(&format!("{}: ", key.variable)),
                "{error}"
            );
            let unset = format!("unset {}", key.variable);
            assert_eq!(error.fix.as_deref(), Some(unset.as_str()));
        }
    }

    #[test]
    fn all_runners_are_listed() {
        let mut names: Vec<&str> = all().iter().map(|runner| runner.name()).collect();
        names.push("command");
        assert_eq!(names, super::super::choice::NAMES);
    }
}
