//! Asks a program for its version or help, with its own home and environment and a time limit, without
//! waiting for its descendants.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::child;

const ANSWER_MAX: u64 = 1 << 20;
/// How long to wait for the rest of an answer after the program has ended.
const LINGER: Duration = Duration::from_millis(500);
/// Nobody listens there, so a program that wants to call home gets no further.
const NO_NETWORK: &str = "http://127.0.0.1:9";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Probed {
    /// It said this, on standard output and then on standard error.
    Said(String),
    /// It did not answer; why, to follow its name.
    Failed(String),
}

pub(crate) fn ask(program: &Path, words: &[&str], path: &OsStr, limit: Duration) -> Probed {
    let Ok(home) = tempfile::Builder::new().prefix("cleo-probe-").tempdir() else {
        return Probed::Failed("was not asked: there is no room for a scratch folder".to_string());
    };
    let child = child::command(program, home.path(), [("PATH".into(), path.into())])
        .args(words)
        .env("HOME", home.path())
        .env("NO_COLOR", "1")
        .env("CI", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .envs(["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"].map(|name| (name, NO_NETWORK)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    match child {
        Ok(child) => answer(child, limit),
        Err(cause) => Probed::Failed(format!("cannot be started: {cause}")),
    }
}

fn answer(mut child: Child, limit: Duration) -> Probed {
    let heard = [child.stdout.take().map(hear), child.stderr.take().map(hear)];
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(None) if start.elapsed() < limit => thread::sleep(Duration::from_millis(5)),
            ended => break ended.ok().flatten(),
        }
    };
    // What it left running must not outlive the question, nor keep the pipes open.
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let _ = child.wait();
    let said = heard
        .into_iter()
        .flatten()
        .filter_map(|heard| heard.recv_timeout(LINGER).ok());
    let said = said.collect::<Vec<_>>().join("\n");
    match status {
        None => Probed::Failed(format!("did not answer within {} s", limit.as_secs())),
        Some(status) if !status.success() => Probed::Failed(format!("failed ({status})")),
        Some(_) => Probed::Said(said),
    }
}

fn hear(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What came before a fault still counts.
        let _ = pipe.take(ANSWER_MAX).read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Probed {
        let path = std::env::var_os("PATH").unwrap_or_default();
        ask(
            Path::new("/bin/sh"),
            &["-c", script],
            &path,
            Duration::from_secs(1),
        )
    }

    #[test]
    fn a_program_is_asked_without_the_home_and_the_environment_of_the_user() {
        let said = sh("echo \"$HOME ${CLEO_AGENT-none} ${USER-none} $HTTPS_PROXY\"");
        let Probed::Said(said) = said else {
            panic!("{said:?}")
        };
        assert!(
            said.contains("cleo-probe-") && said.contains(" none none http://127.0.0.1:9"),
            "{said}"
        );
    }

    #[test]
    fn a_program_that_hangs_or_leaves_others_behind_is_not_waited_for() {
        let Probed::Failed(why) = sh("sleep 60") else {
            panic!()
        };
        assert_eq!(why, "did not answer within 1 s");
        assert_eq!(
            sh("sleep 60 & echo 1.0"),
            Probed::Said("1.0\n\n".to_string())
        );
        assert!(matches!(sh("exit 3"), Probed::Failed(_)));
    }
}
