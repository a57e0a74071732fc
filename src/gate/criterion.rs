//! A criterion by which a task is accepted: words, and perhaps a command that proves them.

use crate::error::{Code, Error, Result};

/// What stands between the words and the command.
const MARK: &str = " :: ";

/// A line of a task's acceptance, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criterion<'a> {
    /// The words.
    pub text: &'a str,
    /// The command as it was written; none when there is none.
    pub line: Option<&'a str>,
    /// The words of the command, split like a shell does it; nothing is expanded.
    pub command: Option<Vec<String>>,
}

impl<'a> Criterion<'a> {
    /// Takes a line apart at its last ` :: `. What follows and is no command, because a quote is
    /// open, belongs to the words.
    pub fn read(line: &'a str) -> Criterion<'a> {
        let parts = line.rsplit_once(MARK);
        let split = parts.and_then(|(text, command)| Some((text, command, words(command)?)));
        match split {
            Some((text, line, command)) => Criterion {
                text: text.trim(),
                line: Some(line.trim()),
                command: Some(command),
            },
            None => Criterion {
                text: line,
                line: None,
                command: None,
            },
        }
    }

    /// Refuses a line with a command that cannot be split.
    pub fn check(line: &str) -> Result<()> {
        let faulty = line.rsplit_once(MARK).filter(|(_, it)| words(it).is_none());
        let Some((text, command)) = faulty else {
            return Ok(());
        };
        let message = format!(
            "`{command}` of an acceptance criterion is no command: a quote is open, or it is empty"
        );
        Err(Error::new(Code::TaskInvalid, message).instead(line, text.trim()))
    }

    /// Writes the criterion for an agent.
    pub fn sentence(&self) -> String {
        match self.line {
            Some(line) => format!("{} (cleo runs `{line}`)", self.text),
            None => self.text.to_string(),
        }
    }
}

/// Splits a command into words as a shell would, and expands nothing. None when it is empty or a
/// quote is open.
pub fn words(command: &str) -> Option<Vec<String>> {
    let words = shlex::split(command)?;
    // A program has a name.
    (words.first().is_some_and(|program| !program.is_empty())).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mark_divides_words_and_command() {
        for (line, text, command) in [
            (
                "tests pass :: cargo test -p auth",
                "tests pass",
                Some(vec!["cargo", "test", "-p", "auth"]),
            ),
            (
                "a :: b :: sh -c 'x; y'",
                "a :: b",
                Some(vec!["sh", "-c", "x; y"]),
            ),
            ("std::fmt is used", "std::fmt is used", None),
            ("open :: sh -c 'x", "open :: sh -c 'x", None),
            ("x :: $HOME/*", "x", Some(vec!["$HOME/*"])),
            ("x :: ''", "x :: ''", None),
        ] {
            let read = Criterion::read(line);
            let words = command.map(|words| words.into_iter().map(String::from).collect());
            assert_eq!((read.text, read.command), (text, words), "{line}");
        }
        assert!(Criterion::check("open :: sh -c 'x").is_err());
        assert!(Criterion::check("std::fmt :: true").is_ok());
    }
}
