//! A criterion by which a task is accepted: words, and perhaps a command that proves them.

use crate::error::{Code, Error, Result, quote};

/// The separator of the words and the command.
const MARK: &str = " :: ";

/// Options of `find` whose command ends with the word `;`.
const ENDED: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// Programs that run the argument of their option `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ksh", "zsh", "ash"];

/// A line of a task's acceptance, split into words and command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Criterion<'a> {
    pub(crate) text: &'a str,
    /// The command as it was written; none when there is none.
    pub(crate) line: Option<&'a str>,
    /// The words of the command, split like a shell does it; nothing is expanded.
    pub(crate) command: Option<Vec<String>>,
}

impl<'a> Criterion<'a> {
    /// Splits a line at its last ` :: `. Text after it that cannot be split into words, because a quote is open,
    /// belongs to the criterion.
    pub(crate) fn read(line: &'a str) -> Criterion<'a> {
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

    /// Refuses a line with a command that cannot be split, or that only a shell carries out, and one with a mistyped mark.
    pub(crate) fn check(line: &str) -> Result<()> {
        let refused = |message: String| Error::new(Code::TaskInvalid, message);
        let Some((_, command)) = line.rsplit_once(MARK) else {
            // The colons of names such as `std::fs` have letters on both sides.
            let is_edge = |c: Option<char>| c.is_none_or(char::is_whitespace);
            let is_mistyped = line.match_indices("::").any(|(at, mark)| {
                is_edge(line[..at].chars().next_back())
                    || is_edge(line[at + mark.len()..].chars().next())
            });
            let message = format!(
                "`{line}` has no command: a blank and words belong on both sides of `::`, as in \
                 'tests pass :: cargo test'; a `::` of the text itself belongs into backticks"
            );
            return if is_mistyped {
                Err(refused(message))
            } else {
                Ok(())
            };
        };
        if let Some(sign) = find_shell_sign(command) {
            return Err(refused(format!(
                "an acceptance criterion is run without a shell: {}; use {}",
                for_shells(sign),
                in_shell(command)
            )));
        }
        if words(command).is_some() {
            return Ok(());
        }
        let message = format!(
            "`{command}` of an acceptance criterion is not a command: a quote is open, or it is empty"
        );
        Err(refused(message))
    }

    pub(crate) fn sentence(&self) -> String {
        match self.line {
            Some(line) => format!("{} (cleo runs `{line}`)", self.text),
            None => self.text.to_string(),
        }
    }
}

/// Splits a command into words as a shell would, and expands nothing. None when it is empty or a
/// quote is open.
pub(crate) fn words(command: &str) -> Option<Vec<String>> {
    let words = shlex::split(command)?;
    // A program has a name.
    (words.first().is_some_and(|program| !program.is_empty())).then_some(words)
}

/// Returns the first sign of a command that needs a shell: an operator outside of quotes, or an expansion, inside
/// double quotes too. Without a shell it is part of an argument, and the program could succeed without doing what the
/// command says.
pub(crate) fn find_shell_sign(command: &str) -> Option<&str> {
    let command = command.trim();
    let (mut quote, mut begin, mut letters) = (None, 0, command.char_indices());
    while let Some((at, letter)) = letters.next() {
        let rest = &command[at..];
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('"') | None, '\\') => drop(letters.next()),
            (None, '\'' | '"') => (quote, begin) = (Some(letter), at),
            (None, '&' | '|' | ';' | '<' | '>' | '\n') if !is_ended(command, at) => {
                return rest.get(..1);
            }
            (Some('"') | None, '$' | '`') => {
                let is_script = quote.is_some() && is_script(&command[..begin]);
                if let Some(sign) = find_expansion(rest).filter(|_| !is_script) {
                    return Some(sign);
                }
            }
            _ => {}
        }
    }
    None
}

/// Returns the sign at the beginning of a text that a shell expands: the output of a command, or a variable.
fn find_expansion(text: &str) -> Option<&str> {
    if text.starts_with('`') {
        return text.get(..1);
    }
    let rest = text.strip_prefix('$')?;
    let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let name = rest.find(is_end).unwrap_or(rest.len());
    match rest.chars().next()? {
        '(' | '{' | '@' | '*' | '#' | '?' | '-' | '$' | '!' => text.get(..2),
        _ => text.get(..=name).filter(|_| name > 0),
    }
}

/// Returns whether the argument after these words is the script of a shell, which expands it.
fn is_script(before: &str) -> bool {
    let is_shell = |word: &str| SHELLS.contains(&word.rsplit('/').next().unwrap_or(word));
    let words: Vec<&str> = before.split_whitespace().collect();
    let shell = words.iter().position(|word| is_shell(word));
    let options = shell.map_or(&[][..], |shell| &words[shell + 1..]);
    // The words after the first that is not an option are arguments of the script.
    let are_options = options.iter().all(|word| word.starts_with('-'));
    let last = options
        .last()
        .filter(|_| before.ends_with(char::is_whitespace));
    are_options && last.is_some_and(|option| !option.starts_with("--") && option.ends_with('c'))
}

/// Returns whether a sign is the word that ends a command of `find`.
fn is_ended(command: &str, at: usize) -> bool {
    let (before, rest) = command.split_at(at);
    let is_word = before.ends_with(' ') && (rest == ";" || rest.starts_with("; "));
    is_word && before.split_whitespace().any(|word| ENDED.contains(&word))
}

/// Explains a sign that needs a shell.
pub(crate) fn for_shells(sign: &str) -> String {
    let sign = match sign {
        "\n" => "the line break".to_string(),
        "`" => "the backtick".to_string(),
        sign => format!("`{sign}`"),
    };
    format!("{sign} would be no more than a part of an argument")
}

/// Writes a command so that a shell runs it.
pub(crate) fn in_shell(command: &str) -> String {
    let (command, mut written) = (command.trim(), String::new());
    for (at, letter) in command.char_indices() {
        // There it would end the command of the shell.
        if letter == ';' && is_ended(command, at) {
            written.push('\\');
        }
        written.push(letter);
    }
    format!("sh -c {}", quote(&written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_mark_divides_words_and_command() {
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
        assert!(Criterion::check("std::fmt is used").is_ok());
        for mistyped in [":: false", "passes ::false", "passes:: false", "x ::", "::"] {
            assert!(Criterion::check(mistyped).is_err(), "{mistyped}");
        }
    }

    #[test]
    fn shell_command_keeps_escaped_semicolon_of_find() {
        for (command, expected) in [
            ("true && false", r"sh -c 'true && false'"),
            (
                "find . -exec grep $X {} ;",
                r"sh -c 'find . -exec grep $X {} \;'",
            ),
            (
                "find . -exec true {} ; | cat",
                r"sh -c 'find . -exec true {} \; | cat'",
            ),
        ] {
            assert_eq!(in_shell(command), expected);
        }
    }

    #[test]
    fn shell_syntax_is_not_a_command() {
        for (command, sign) in [
            ("grep -q a f && grep -q b f", Some("&")),
            ("true &&false", Some("&")),
            ("echo ok|false", Some("|")),
            ("true; false", Some(";")),
            ("true\nfalse", Some("\n")),
            ("make >log", Some(">")),
            ("true 2>/dev/null", Some(">")),
            ("echo it\\'s; false", Some(";")),
            ("echo \"a\\\"b\" | cat", Some("|")),
            (" true\n", None),
            ("sh -c 'a && b; c > d'", None),
            ("grep '&&' f", None),
            ("grep -c '|' 'a | b'", None),
            ("awk -F ';' 'BEGIN { x=1 ; exit 0 }'", None),
            ("find . -name x -exec rm {} \\;", None),
            ("find . -name x -exec true {} ;", None),
            ("find . -name x -exec true {} ; | cat", Some("|")),
            ("grep \"it's; \" f", None),
            ("test 1 -gt 0", None),
            ("test -n \"$(cat report.md)\"", Some("$(")),
            ("test -n \"${HOME}\"", Some("${")),
            ("grep -q \"a $USER_1.\" f", Some("$USER_1")),
            ("test -n `cat f`", Some("`")),
            ("test -n \"`cat f`\"", Some("`")),
            ("test -e $HOME/f && true", Some("$HOME")),
            ("test $? = 0", Some("$?")),
            ("awk '{print $1}' f", None),
            ("grep 'a`b' f", None),
            ("grep -q \"it costs \\$5, \\`x\\`\" f", None),
            ("test -e \\$HOME", None),
            ("bash -ec \"echo $HOME\"", None),
            ("bash run.sh --exec \"$HOME\"", Some("$HOME")),
            ("bash -c \"true\" -c \"$NOPE\"", Some("$NOPE")),
            ("grep -qE \"a$|b$\" f", None),
            ("grep -q a$ f", None),
            ("ls *.md f? [ab]", None),
            ("sh -c 'test -n \"$(cat f)\"'", None),
            ("sh -c \"kill -9 $$\"", None),
            ("/bin/bash -euc \"test -n \\\"$X\\\"\"", None),
            ("sh -c \"test -n $1\" x \"$(cat f)\"", Some("$(")),
            ("sh -c $X", Some("$X")),
            ("grep -c \"$X\" f", Some("$X")),
        ] {
            assert_eq!(find_shell_sign(command), sign, "{command}");
        }
        assert_eq!(
            for_shells("`"),
            "the backtick would be no more than a part of an argument"
        );
        let read = Criterion::read("both :: true && false");
        assert!(read.command.is_some(), "it is never taken for words");
    }
}
