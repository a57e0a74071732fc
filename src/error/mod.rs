//! Errors as data: a stable code, an exit code, a sentence and a fix.
//! Start at [`Code`]; its table is the only place that knows exit codes.

mod code;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::Serialize;

pub(crate) use code::Code;

/// Maximum length of a message in an answer, in characters.
const MESSAGE_MAX: usize = 6_000;

/// Result of everything in cleo that can fail.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Runs `work` and makes an error of a panic in it, which the panic hook has already reported.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        let message = "cleo panicked; its messages on standard error say where";
        Error::new(Code::Internal, message)
    })
}

/// Makes an error of a code with a formatted message.
macro_rules! error {
    ($code:ident, $($message:tt)+) => {
        $crate::error::Error::new($crate::error::Code::$code, format!($($message)+))
    };
}

/// Another way out of an error.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, schemars::JsonSchema)]
pub(crate) struct Alternative {
    /// The effect of the command, in a few words.
    pub(crate) action: String,
    /// A command that can be pasted.
    pub(crate) command: String,
}

/// A failure with everything that a face needs to render it.
#[derive(Clone, Debug)]
pub(crate) struct Error {
    pub(crate) code: Code,
    /// One sentence. May contain untrusted text.
    pub(crate) message: String,
    /// A command of a constant form that destroys nothing, if there is one.
    pub(crate) fix: Option<String>,
    pub(crate) alternatives: Vec<Alternative>,
    /// Invalid lines of the input.
    pub(crate) lines: Vec<usize>,
    pub(crate) source: Option<Arc<anyhow::Error>>,
    /// Whether a retry can succeed because others change its cause.
    pub(crate) passing: bool,
    /// The invalid field of the input.
    pub(crate) field: Option<String>,
    /// The fault of each invalid field, where all of them were checked.
    pub(crate) fields: BTreeMap<String, String>,
}

impl Error {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
            fix: None,
            alternatives: Vec::new(),
            lines: Vec::new(),
            source: None,
            passing: false,
            field: None,
            fields: BTreeMap::new(),
        }
    }

    pub(crate) fn in_field(mut self, field: impl Into<String>) -> Error {
        self.field = Some(field.into());
        self
    }

    pub(crate) fn in_line(mut self, number: usize) -> Error {
        self.message = format!("line {number}: {}", self.message);
        self
    }

    pub(crate) fn fix(mut self, command: impl Into<String>) -> Error {
        self.fix = Some(command.into());
        self
    }

    /// Adds a similar name to the message.
    pub(crate) fn did_you_mean(mut self, name: &str) -> Error {
        let _ = write!(self.message, "; did you mean `{name}`?");
        self
    }

    pub(crate) fn at_lines(mut self, lines: Vec<usize>) -> Error {
        self.lines = lines;
        self
    }

    pub(crate) fn or(mut self, action: impl Into<String>, command: impl Into<String>) -> Error {
        self.alternatives.push(Alternative {
            action: action.into(),
            command: command.into(),
        });
        self
    }

    pub(crate) fn because(mut self, source: impl Into<anyhow::Error>) -> Error {
        self.source = Some(Arc::new(source.into()));
        self
    }

    /// Sets whether a retry can succeed because others change its cause.
    pub(crate) fn passing(mut self, passing: bool) -> Error {
        self.passing = passing;
        self
    }

    /// Returns whether something was stopped because cleo is asked to end, or the work of its thread is.
    pub(crate) fn is_cut_short(&self) -> bool {
        matches!(self.code, Code::Interrupted | Code::Terminated)
    }

    /// Returns the message for an answer, where a long untrusted text is cut with `…`.
    pub(crate) fn display_message(&self) -> Cow<'_, str> {
        shorten(&self.message, MESSAGE_MAX)
    }

    pub(crate) fn is_retryable(&self) -> bool {
        let passes = [
            Code::LockTimeout,
            Code::RateLimited,
            Code::ServerBusy,
            Code::StoreUnavailable,
        ];
        passes.contains(&self.code) || self.passing
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code.name(), self.message)
    }
}

impl std::error::Error for Error {}

/// Returns whether a character is invisible and changes how a text is shown: control characters, line ends,
/// direction marks, and characters without width.
pub(crate) fn is_control_character(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'
                | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns whether a text is one line of at most `max` characters, not all of them blank.
pub(crate) fn is_visible_line(text: &str, max: usize) -> bool {
    let is_short = text.chars().count() <= max;
    is_short && !text.trim().is_empty() && !text.contains(is_control_character)
}

/// Quotes one argument for a POSIX shell, so that a command can be pasted.
pub(crate) fn quote(argument: &str) -> String {
    if argument.contains(is_control_character) {
        return escape_argument(argument);
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_string();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// Writes a command line as it would be typed.
pub(crate) fn quote_all(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| quote(word)).collect();
    words.join(" ")
}

/// Quotes an argument with invisible characters by POSIX.1-2024.
fn escape_argument(argument: &str) -> String {
    let mut quoted = String::from("$'");
    for c in argument.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\\' | '\'' => quoted.extend(['\\', c]),
            c if is_control_character(c) => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

/// Finds the name nearest to `wanted`, for "did you mean".
pub(crate) fn nearest<'a>(
    wanted: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        .filter(|(similarity, _)| *similarity > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// Returns a text of at most `max` characters; a longer one ends in `…`.
pub(crate) fn shorten(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_without_end_is_cut() {
        let error = |length| Error::new(Code::Usage, "ä".repeat(length));
        assert_eq!(
            error(MESSAGE_MAX).display_message(),
            "ä".repeat(MESSAGE_MAX)
        );
        let cut = error(MESSAGE_MAX + 1);
        assert_eq!(cut.display_message(), "ä".repeat(MESSAGE_MAX) + "…");
    }

    #[test]
    fn quoting_survives_shell() {
        assert_eq!(quote("a-b_c.d"), "a-b_c.d");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("$(x)"), "'$(x)'");
    }

    #[test]
    fn quoted_argument_has_no_control_chars() {
        for (argument, quoted) in [
            ("a\nb\tc", r"$'a\nb\tc'"),
            ("it's\n\\", r"$'it\'s\n\\'"),
            ("\u{1b}7", r"$'\0337'"),
            ("\u{9b}x", r"$'\302\233x'"),
            ("a\u{202e}b\u{2028}", r"$'a\342\200\256b\342\200\250'"),
        ] {
            assert_eq!(quote(argument), quoted);
        }
    }

    #[test]
    fn nearest_name_is_suggested_only_when_it_is_near() {
        assert_eq!(nearest("titel", ["title", "type"]), Some("title"));
        assert_eq!(nearest("zzz", ["title", "type"]), None);
        assert_eq!(nearest("sort", ["format"]), None);
    }
}
