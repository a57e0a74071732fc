//! The agent programs: which are on the PATH, and whether they have the options that runs need.
//! They are only asked for their version and help, without the user's home and environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::thread;

use super::{Finding, PROBE_LIMIT};
use crate::config::RUNNERS_PROGRAMS;
use crate::error::quote;
use crate::runner::agent::{self, Runners};
use crate::runner::child::find_on_path;
use crate::runner::probe;

struct Client<'a> {
    runner: &'static str,
    /// The program of the settings, else the name of the runner.
    program: &'a str,
    /// Words before `--help`, for the command that runs use.
    command: Vec<String>,
    /// The options that runs need.
    options: Vec<String>,
}

pub(super) fn path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

pub(super) fn check(runners: &Runners) -> Vec<Finding> {
    let clients = agent::all().into_iter().map(|runner| {
        let (command, options) = agent::list_needed_options(&*runner);
        Client {
            program: runners.program(runner.name()).unwrap_or(runner.name()),
            runner: runner.name(),
            command,
            options,
        }
    });
    let clients: Vec<Client<'_>> = clients.collect();
    // Some programs take a second to answer, so all are asked at once.
    let mut findings: Vec<Finding> = thread::scope(|scope| {
        let found = clients
            .iter()
            .filter_map(|client| Some((client, find_program(client.program)?)));
        let threads: Vec<_> = found
            .map(|(client, program)| scope.spawn(move || check_program(client, &program)))
            .collect();
        let answers = threads.into_iter().filter_map(|thread| thread.join().ok());
        answers.collect()
    });
    findings.extend(clients.iter().filter_map(check_setting));
    if findings.is_empty() {
        let names: Vec<&str> = clients.iter().map(|client| client.program).collect();
        let message = format!("none of {} is on the PATH", names.join(", "));
        findings.push(Finding::ok("clients", message));
    }
    findings
}

/// Warns of a program in the settings that does not exist.
fn check_setting(client: &Client<'_>) -> Option<Finding> {
    let (runner, program) = (&client.runner, &client.program);
    // A relative path starts at the folder that an agent works in.
    let is_relative = program.contains('/') && !Path::new(program).is_absolute();
    if program == runner || is_relative || find_program(program).is_some() {
        return None;
    }
    let message =
        format!("{RUNNERS_PROGRAMS} has `{program}` for {runner}, but there is no such program");
    let fix = format!("cleo config get {RUNNERS_PROGRAMS}");
    Some(Finding::warn("clients", message, fix))
}

pub(super) fn find_program(name: &str) -> Option<PathBuf> {
    find_on_path(name, &path())
}

fn check_program(client: &Client<'_>, program: &Path) -> Finding {
    let (check, runner, name) = ("clients", client.runner, quote(client.program));
    let path = path();
    let ask = |words: &[&str]| probe::probe_program(program, words, &path, PROBE_LIMIT);
    let version = match ask(&["--version"]) {
        Ok(text) => text.lines().next().unwrap_or_default().trim().to_string(),
        Err(why) => {
            let message = format!("{} {why}", program.display());
            return Finding::warn(check, message, format!("{name} --version"));
        }
    };
    let mut words: Vec<&str> = client.command.iter().map(String::as_str).collect();
    words.push("--help");
    let fix = format!("{name} {}", words.join(" "));
    let help = match ask(&words) {
        Ok(text) => text,
        Err(why) => {
            return Finding::warn(check, format!("{runner} {why} when asked for help"), fix);
        }
    };
    let options = client.options.iter().map(String::as_str);
    let missing: Vec<&str> = options
        .filter(|option| !has_option(&help, option))
        .collect();
    let shown: String = version.chars().take(60).collect();
    match missing.is_empty() {
        true => Finding::ok(
            check,
            format!("{runner} ({shown}) knows every option that runs need"),
        ),
        false => {
            let message = format!("{runner} ({shown}) does not know {}", missing.join(", "));
            Finding::warn(check, message, fix)
        }
    }
}

fn has_option(help: &str, option: &str) -> bool {
    help.match_indices(option).any(|(at, _)| {
        let after = help[at + option.len()..].chars().next();
        let before = help[..at].chars().next_back();
        !after.is_some_and(|c| c.is_alphanumeric() || c == '-') && before != Some('-')
    })
}

#[cfg(test)]
mod tests {
    use super::has_option;

    #[test]
    fn option_is_not_mistaken_for_longer_one() {
        let help = "  -p, --print   x\n  --output-format <F>, --json-schema";
        assert!(has_option(help, "--print") && has_option(help, "--output-format"));
        assert!(!has_option(help, "--json") && !has_option(help, "--output"));
    }
}
