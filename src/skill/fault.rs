//! What is wrong in a file of a skill or a protocol, and where.

use std::fmt;

/// Something wrong in a file, with the place where it can be mended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Fault {
    /// A stable name such as `SKILL_NAME_UPPERCASE`.
    pub code: &'static str,
    /// The line in the file, from one.
    pub line: usize,
    /// The column in the line, in characters from one.
    pub column: usize,
    /// One sentence that says what is wrong.
    pub message: String,
}

impl Fault {
    /// A fault at `line` and `column`.
    pub fn new(
        code: &'static str,
        (line, column): (usize, usize),
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            line,
            column,
            message: message.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}: {}: {}",
            self.line, self.column, self.code, self.message
        )
    }
}

impl std::error::Error for Fault {}
