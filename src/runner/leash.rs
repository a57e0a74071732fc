//! What ends a command when cleo is killed and can end nothing itself any more: a shell that waits at a
//! pipe whose other end cleo holds. The system closes that however cleo ends.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

const SCRIPT: &str = "read -r group || exit; read -r line; kill -9 -\"$group\"";

/// Ends the group of a command with cleo, until it is dropped.
pub(super) struct Leash(Option<Child>);

impl Leash {
    /// Gets ready before the command is started, which then never runs for long without it. Where there is no
    /// shell, the command goes on when cleo is killed.
    pub(super) fn begin() -> Leash {
        // In a group of its own it hears nothing of what is typed at the terminal.
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "cleo-leash"])
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        Leash(shell.ok())
    }

    /// Takes a command that leads its group.
    pub(super) fn take(&mut self, command: &Child) {
        let shell = self.0.as_mut().and_then(|shell| shell.stdin.as_mut());
        if let Some(input) = shell {
            // A shell that is gone ends nothing, as if there had been none.
            let _ = writeln!(input, "{}", command.id());
        }
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        if let Some(shell) = &mut self.0 {
            // Killed before its input ends, it ends nothing any more.
            let _ = shell.kill();
            let _ = shell.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> Child {
        let mut command = Command::new("sleep");
        command.arg("60").process_group(0).spawn().unwrap()
    }

    #[test]
    fn a_command_ends_with_who_held_the_other_end() {
        let mut sleeper = sleeper();
        let mut leash = Leash::begin();
        leash.take(&sleeper);
        drop(leash.0.as_mut().unwrap().stdin.take());
        assert_eq!(sleeper.wait().unwrap().code(), None);
    }

    #[test]
    fn a_leash_that_is_let_go_ends_nothing() {
        let mut sleeper = sleeper();
        let mut leash = Leash::begin();
        leash.take(&sleeper);
        drop(leash);
        assert!(sleeper.try_wait().unwrap().is_none());
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
}
