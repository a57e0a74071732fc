//! A criterion by which a task is accepted: words, and perhaps a command that proves them.

use crate::error::{Code, Error, Result, quote};

/// What stands between the words and the command.
const MARK: &str = " :: ";

/// Words that a shell obeys. A program would take them for arguments, and could succeed without what they ask for.
const OBEYED: [&str; 11] = [
    "&&", "||", "|", "|&", "&", ";", ">", ">>", "<", "2>", "2>&1",
];

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

    /// Refuses a line with a command that cannot be split, or that only a shell carries out.
    pub fn check(line: &str) -> Result<()> {
        let Some((text, command)) = line.rsplit_once(MARK) else {
            return Ok(());
        };
        let refused = |message: String| Error::new(Code::TaskInvalid, message);
        if let Some(word) = obeyed(command) {
            let message = format!(
                "an acceptance criterion is run without a shell: {}",
                for_shells(&word)
            );
            let in_shell = format!("{}{MARK}{}", text.trim(), in_shell(command));
            return Err(refused(message).instead(line, in_shell));
        }
        if words(command).is_some() {
            return Ok(());
        }
        let message = format!(
            "`{command}` of an acceptance criterion is no command: a quote is open, or it is empty"
        );
        Err(refused(message).instead(line, text.trim()))
    }

    /// Writes the criterion for an agent.
    pub fn sentence(&self) -> String {
        match self.line {
            Some(line) => format!("{} (cleo runs `{line}`)", self.text),
            None => self.text.to_string(),
        }
    }
}

/// Splits a command into words as a shell would, and expands nothing. None when it is empty, a quote is open or
/// only a shell carries it out.
pub fn words(command: &str) -> Option<Vec<String>> {
    let words = shlex::split(command)?;
    // A program has a name.
    let has_name = words.first().is_some_and(|program| !program.is_empty());
    (has_name && obeyed(command).is_none()).then_some(words)
}

/// Returns the first word of a command, out of quotes, that a shell obeys; to a program it is an argument.
pub fn obeyed(command: &str) -> Option<String> {
    let written: Vec<&str> = command.split_whitespace().collect();
    let is_obeyed = |word: &String| {
        let is_end = word.len() > 1 && word.ends_with(';');
        (is_end || OBEYED.contains(&word.as_str())) && written.contains(&word.as_str())
    };
    shlex::split(command)?.into_iter().find(is_obeyed)
}

/// Says what a word is that only a shell obeys.
pub fn for_shells(word: &str) -> String {
    format!("`{word}` would be no more than an argument of the program")
}

/// Writes a command so that a shell carries it out.
pub fn in_shell(command: &str) -> String {
    format!("sh -c {}", quote(command.trim()))
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

    #[test]
    fn what_only_a_shell_carries_out_is_no_command() {
        for (command, word) in [
            ("grep -q a f && grep -q b f", Some("&&")),
            ("true || false", Some("||")),
            ("cargo test | tail", Some("|")),
            ("true; false", Some("true;")),
            ("make > log", Some(">")),
            ("sh -c 'a && b; c > d'", None),
            ("grep '&&' f", None),
            ("find . -name x -exec rm {} \\;", None),
            ("test 1 -gt 0", None),
        ] {
            assert_eq!(obeyed(command).as_deref(), word, "{command}");
            assert_eq!(words(command).is_none(), word.is_some(), "{command}");
        }
    }
}
