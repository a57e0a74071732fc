//! A criterion by which a task is accepted: words, and perhaps a command that proves them.

use crate::error::{Code, Error, Result, quote};

/// What stands between the words and the command.
const MARK: &str = " :: ";

/// Options of `find` whose command ends with a word that is `;`.
const ENDED: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

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
        if let Some(sign) = obeyed(command) {
            let message = format!(
                "an acceptance criterion is run without a shell: {}",
                for_shells(sign)
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

/// Splits a command into words as a shell would, and expands nothing. None when it is empty or a
/// quote is open.
pub fn words(command: &str) -> Option<Vec<String>> {
    let words = shlex::split(command)?;
    // A program has a name.
    (words.first().is_some_and(|program| !program.is_empty())).then_some(words)
}

/// Returns the first sign of a command, out of quotes, that a shell obeys. Without a shell it is part of an
/// argument, and the program could succeed without what is asked for.
pub fn obeyed(command: &str) -> Option<char> {
    let (mut quote, mut letters) = (None, command.trim().char_indices());
    while let Some((at, letter)) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('"') | None, '\\') => drop(letters.next()),
            (None, '\'' | '"') => quote = Some(letter),
            (None, '&' | '|' | ';' | '<' | '>' | '\n') if !is_ended(command.trim(), at) => {
                return Some(letter);
            }
            _ => {}
        }
    }
    None
}

/// Says whether a sign is the word that ends a command of `find`.
fn is_ended(command: &str, at: usize) -> bool {
    let (before, rest) = command.split_at(at);
    let is_word = before.ends_with(' ') && (rest == ";" || rest.starts_with("; "));
    is_word && before.split_whitespace().any(|word| ENDED.contains(&word))
}

/// Says what a sign is that only a shell obeys.
pub fn for_shells(sign: char) -> String {
    let sign = match sign {
        '\n' => "the line break".to_string(),
        sign => format!("`{sign}`"),
    };
    format!("{sign} would be no more than a part of an argument")
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
        for (command, sign) in [
            ("grep -q a f && grep -q b f", Some('&')),
            ("true &&false", Some('&')),
            ("echo ok|false", Some('|')),
            ("true; false", Some(';')),
            ("true\nfalse", Some('\n')),
            ("make >log", Some('>')),
            ("true 2>/dev/null", Some('>')),
            ("echo it\\'s; false", Some(';')),
            ("echo \"a\\\"b\" | cat", Some('|')),
            (" true\n", None),
            ("sh -c 'a && b; c > d'", None),
            ("grep '&&' f", None),
            ("grep -c '|' 'a | b'", None),
            ("awk -F ';' 'BEGIN { x=1 ; exit 0 }'", None),
            ("find . -name x -exec rm {} \\;", None),
            ("find . -name x -exec true {} ;", None),
            ("find . -name x -exec true {} ; | cat", Some('|')),
            ("grep \"it's; \" f", None),
            ("test 1 -gt 0", None),
        ] {
            assert_eq!(obeyed(command), sign, "{command}");
        }
        let read = Criterion::read("both :: true && false");
        assert!(read.command.is_some(), "it is never taken for words");
    }
}
