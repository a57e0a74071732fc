//! Asks a program for its version or help, with its own home and environment and a time limit, without
//! waiting for its descendants.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::{child, process};

const ANSWER_MAX: usize = 1 << 20;
/// A closed port, so that programs cannot call home.
const NO_NETWORK: &str = "http://127.0.0.1:9";

/// Returns what a program said, on standard output and then on standard error, or why it did not answer, to follow its
/// name.
pub(crate) fn probe_program(
    program: &Path,
    words: &[&str],
    path: &OsStr,
    limit: Duration,
) -> Result<String, String> {
    let Ok(home) = tempfile::Builder::new().prefix("cleo-probe-").tempdir() else {
        return Err("was not asked: there is no room for a scratch folder".to_string());
    };
    let mut command = child::command(program, home.path(), [("PATH".into(), path.into())]);
    command
        .args(words)
        .env("HOME", home.path())
        .env("NO_COLOR", "1")
        .env("CI", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .envs(["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"].map(|name| (name, NO_NETWORK)));
    let answer = process::run_with_input(command, Vec::new(), limit, ANSWER_MAX)
        .map_err(|error| format!("was not asked: {}", error.message))?;
    match answer.exit_code {
        _ if answer.timed_out => Err(format!("did not answer within {} s", limit.as_secs())),
        Some(0) => Ok([answer.stdout, answer.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .join("\n")),
        Some(code) => Err(format!("failed (exit code {code})")),
        None => Err("failed: a signal ended it".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Result<String, String> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        probe_program(
            Path::new("/bin/sh"),
            &["-c", script],
            &path,
            Duration::from_secs(1),
        )
    }

    #[test]
    fn probe_hides_home_and_env_of_user() {
        let said = sh("echo \"$HOME ${CLEO_AGENT-none} ${USER-none} $HTTPS_PROXY\"");
        let said = said.unwrap();
        assert!(
            said.contains("cleo-probe-") && said.contains(" none none http://127.0.0.1:9"),
            "{said}"
        );
    }

    #[test]
    fn probe_does_not_wait_for_hanging_or_left_processes() {
        assert_eq!(sh("sleep 60").unwrap_err(), "did not answer within 1 s");
        assert_eq!(sh("sleep 60 & echo 1.0"), Ok("1.0\n\n".to_string()));
        assert!(sh("exit 3").is_err());
    }
}
