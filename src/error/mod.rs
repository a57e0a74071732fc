//! What can go wrong, as data: a stable code, an exit code, a sentence and what to type next.
//! Start at [`Code`]; its table is the only place that knows exit codes.

mod code;
mod paste;

use std::borrow::Cow;
use std::fmt::{self, Write};

use serde::Serialize;

pub use code::Code;
pub use paste::{nearest, quote, steers};

/// Longest message that an answer shows, in characters.
const MESSAGE_MAX: usize = 2_000;

/// Result of everything in cleo that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Another way out of an error.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Alternative {
    /// What it does, in a few words.
    pub action: String,
    /// A command that can be pasted.
    pub command: String,
}

/// A failure with everything that a face needs to render it.
#[derive(Debug)]
pub struct Error {
    /// The kind of failure.
    pub code: Code,
    /// What happened, to what: one sentence. May hold text from strangers.
    pub message: String,
    /// A command of a constant form, with ids at most, that destroys nothing, where there is one.
    pub fix: Option<String>,
    /// Other ways out.
    pub alternatives: Vec<Alternative>,
    /// Lines of the input that are at fault, where it has lines.
    pub lines: Vec<usize>,
    /// The cause, for people who look deeper.
    pub source: Option<anyhow::Error>,
    /// True when others can be expected to change what it failed of.
    pub passing: bool,
    /// The field of the input that is at fault, where it is one.
    pub field: Option<String>,
}

impl Error {
    /// Makes an error without a fix.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
            fix: None,
            alternatives: Vec::new(),
            lines: Vec::new(),
            source: None,
            passing: false,
            field: None,
        }
    }

    /// Names the field of the input that is at fault.
    pub fn in_field(mut self, field: impl Into<String>) -> Error {
        self.field = Some(field.into());
        self
    }

    /// Adds the command that mends it.
    pub fn fix(mut self, command: impl Into<String>) -> Error {
        self.fix = Some(command.into());
        self
    }

    /// Adds the name that was probably meant to the message.
    pub fn did_you_mean(mut self, name: &str) -> Error {
        let _ = write!(self.message, "; did you mean `{name}`?");
        self
    }

    /// Names the lines of the input that are at fault.
    pub fn at_lines(mut self, lines: Vec<usize>) -> Error {
        self.lines = lines;
        self
    }

    /// Adds another way out.
    pub fn or(mut self, action: impl Into<String>, command: impl Into<String>) -> Error {
        self.alternatives.push(Alternative {
            action: action.into(),
            command: command.into(),
        });
        self
    }

    /// Adds the cause.
    pub fn because(mut self, source: impl Into<anyhow::Error>) -> Error {
        self.source = Some(source.into());
        self
    }

    /// Says whether others can be expected to change what it failed of, so that trying again helps.
    pub fn passing(mut self, passing: bool) -> Error {
        self.passing = passing;
        self
    }

    /// Returns the message for an answer: one that a stranger's text made long ends in `…`.
    pub fn shown(&self) -> Cow<'_, str> {
        match self.message.char_indices().nth(MESSAGE_MAX) {
            Some((end, _)) => Cow::Owned(format!("{}…", &self.message[..end])),
            None => Cow::Borrowed(&self.message),
        }
    }

    /// Says whether the same command may succeed when run again.
    pub fn retryable(&self) -> bool {
        let passes = [Code::LockTimeout, Code::RateLimited, Code::ServerBusy];
        passes.contains(&self.code) || self.passing
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code.name(), self.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_end_is_cut() {
        let error = |length| Error::new(Code::Usage, "ä".repeat(length));
        assert_eq!(error(MESSAGE_MAX).shown(), "ä".repeat(MESSAGE_MAX));
        let cut = error(MESSAGE_MAX + 1);
        assert_eq!(cut.shown(), "ä".repeat(MESSAGE_MAX) + "…");
    }
}
