//! The programs that run agents: which are there, and whether they know the options that runs need.
//! They are only asked for their version and help, without the user's home and environment.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::Finding;
use crate::config::RUNNERS_PROGRAMS;
use crate::error::quote;
use crate::runner::agent::{self, Runners};
use crate::runner::probe::{self, Probed};

/// How long a program may take to say what it is.
const LIMIT: Duration = Duration::from_secs(30);

struct Client {
    name: &'static str,
    /// Words before `--help` that lead to the command that runs are made with.
    command: Vec<String>,
    /// What that command has to know.
    options: Vec<String>,
}

fn clients() -> Vec<Client> {
    let clients = agent::all().into_iter().map(|runner| {
        let (command, options) = agent::needs(&*runner);
        Client {
            name: runner.name(),
            command,
            options,
        }
    });
    clients.collect()
}

pub(super) fn look(path: &OsStr, runners: &Runners) -> Vec<Finding> {
    let clients = clients();
    let named = clients
        .iter()
        .map(|client| runners.program(client.name).unwrap_or(client.name));
    let named: Vec<&str> = named.collect();
    // Some of them take a second to say anything, so all are asked at once.
    let findings: Vec<Finding> = thread::scope(|scope| {
        let there = clients
            .iter()
            .zip(&named)
            .filter_map(|(client, name)| Some((client, *name, program(path, name)?)));
        let asked: Vec<_> = there
            .map(|(client, name, program)| scope.spawn(move || judge(client, name, &program, path)))
            .collect();
        let answers = asked.into_iter().filter_map(|asked| asked.join().ok());
        answers.collect()
    });
    let missing = clients.iter().zip(&named);
    let missing = missing.filter_map(|(client, name)| missing_elsewhere(client, name, path));
    let findings: Vec<Finding> = findings.into_iter().chain(missing).collect();
    if findings.is_empty() {
        let message = format!("none of {} is on the PATH", named.join(", "));
        return vec![Finding::ok("clients", message)];
    }
    findings
}

fn missing_elsewhere(client: &Client, name: &str, path: &OsStr) -> Option<Finding> {
    // A path that is not whole is looked for in the folder that an agent works in.
    let is_relative = name.contains('/') && !Path::new(name).is_absolute();
    if name == client.name || is_relative || program(path, name).is_some() {
        return None;
    }
    let message = format!(
        "{RUNNERS_PROGRAMS} has `{name}` run {}, which is no program that is there",
        client.name
    );
    let fix = format!("cleo config get {RUNNERS_PROGRAMS}");
    Some(Finding::warn("clients", message, fix))
}

pub(super) fn program(path: &OsStr, name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let is_path = name.contains('/');
    let own = Path::new(name).is_absolute().then(|| PathBuf::from(name));
    let places = std::env::split_paths(path).filter(|folder| folder.is_absolute() && !is_path);
    let places = places.map(|folder| folder.join(name));
    own.into_iter().chain(places).find(|program| {
        program
            .metadata()
            .is_ok_and(|there| there.is_file() && there.permissions().mode() & 0o111 != 0)
    })
}

fn judge(client: &Client, name: &str, program: &Path, path: &OsStr) -> Finding {
    let check = "clients";
    let ask = |words: &[&str]| probe::ask(program, words, path, LIMIT);
    let mut help: Vec<&str> = client.command.iter().map(String::as_str).collect();
    help.push("--help");
    let name = quote(name);
    let look = format!("{name} {}", help.join(" "));
    let version = match ask(&["--version"]) {
        Probed::Said(text) => text.lines().next().unwrap_or_default().trim().to_string(),
        Probed::Failed(why) => {
            let message = format!("{} {why}", program.display());
            return Finding::warn(check, message, format!("{name} --version"));
        }
    };
    let help = match ask(&help) {
        Probed::Said(text) => text,
        Probed::Failed(why) => {
            return Finding::warn(
                check,
                format!("{} {why} when asked for help", client.name),
                look,
            );
        }
    };
    let missing: Vec<&str> = client
        .options
        .iter()
        .map(String::as_str)
        .filter(|option| !knows(&help, option))
        .collect();
    let shown: String = version.chars().take(60).collect();
    if missing.is_empty() {
        return Finding::ok(
            check,
            format!(
                "{} ({shown}) knows every option that runs need",
                client.name
            ),
        );
    }
    let message = format!(
        "{} ({shown}) does not know {}",
        client.name,
        missing.join(", ")
    );
    Finding::warn(check, message, look)
}

fn knows(help: &str, option: &str) -> bool {
    help.match_indices(option).any(|(at, _)| {
        let after = help[at + option.len()..].chars().next();
        let before = help[..at].chars().next_back();
        !after.is_some_and(|c| c.is_alphanumeric() || c == '-') && before != Some('-')
    })
}

#[cfg(test)]
mod tests {
    use super::knows;

    #[test]
    fn an_option_is_not_mistaken_for_a_longer_one() {
        let help = "  -p, --print   x\n  --output-format <F>, --json-schema";
        assert!(knows(help, "--print") && knows(help, "--output-format"));
        assert!(!knows(help, "--json") && !knows(help, "--output"));
    }
}
