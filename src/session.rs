//! Sessions: which part of the graph somebody works on, with focus and notes. Nobody needs one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::id::{TaskId, numbered_id};
use crate::task::Note;

numbered_id!(
    /// Id of a session, written `S1`, `S2`, …; never reused.
    SessionId, 'S', 's', "^S[1-9][0-9]*$", "session id; ids look like S1"
);

/// A stretch of work on a part of the graph.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Session {
    /// Id, never reused.
    pub(crate) id: SessionId,
    /// One line that says what it is for; may be empty.
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) status: SessionStatus,
    /// The task that it is about, with all below it; none means the whole workspace.
    pub(crate) scope: Option<TaskId>,
    /// The task that is worked on now.
    pub(crate) focus: Option<TaskId>,
    /// Who leads it.
    pub(crate) holder: String,
    /// Notes in order; only ever added to.
    pub(crate) notes: Vec<Note>,
    /// When it began, RFC 3339 in UTC.
    pub(crate) started_at: String,
    /// When it ended; none while it is open.
    pub(crate) ended_at: Option<String>,
}

/// Where a session stands.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SessionStatus {
    /// Somebody works in it.
    Open,
    /// It is over, and can be resumed.
    Ended,
}

impl SessionStatus {
    pub(crate) fn word(self) -> &'static str {
        match self {
            SessionStatus::Open => "open",
            SessionStatus::Ended => "ended",
        }
    }
}

impl fmt::Display for SessionStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

impl FromStr for SessionStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<SessionStatus, String> {
        match text.trim().to_lowercase().as_str() {
            "open" | "active" => Ok(SessionStatus::Open),
            "ended" | "closed" => Ok(SessionStatus::Ended),
            _ => Err(format!(
                "`{text}` is no status of a session; open and ended are"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_are_read_in_any_usual_spelling_and_nothing_else() {
        for (text, expected) in [("S1", Some(1)), ("s12", Some(12)), ("S007", Some(7))] {
            assert_eq!(text.parse().ok(), expected.map(SessionId), "{text}");
        }
        for text in ["", "S", "S0", "1", "T1", "S-1", "S99999999999"] {
            assert!(text.parse::<SessionId>().is_err(), "{text}");
        }
    }
}
