//! Sessions: which part of the graph somebody works on, with focus and notes. It is optional.

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::id::{TaskId, numbered_id};
use crate::task::Note;
use crate::words::closed;

numbered_id!(
    /// Id of a session, written `S1`, `S2`, …; never reused.
    SessionId, 'S', 's', "session id; ids look like S1"
);

/// A period of work on a part of the graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Session {
    /// Id, never reused.
    pub(crate) id: SessionId,
    /// One line that says what it is for; may be empty.
    pub(crate) name: String,
    pub(crate) status: SessionStatus,
    /// The task that it is about, with all below it; none means the whole workspace.
    pub(crate) scope: Option<TaskId>,
    /// The task that is worked on now.
    pub(crate) focus: Option<TaskId>,
    /// The leader.
    pub(crate) holder: String,
    /// Notes in order; only ever added to.
    pub(crate) notes: Vec<Note>,
    /// When it began, RFC 3339 in UTC.
    pub(crate) started_at: String,
    /// When it ended; none while it is open.
    pub(crate) ended_at: Option<String>,
}

closed! {
    SessionStatus, "status of a session":
    /// Somebody works in it.
    Open = "open",
    /// It is over, and can be resumed.
    Ended = "ended",
}

#[derive(Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct StartSession {
    /// Task whose subtree the session covers [default: all tasks]
    #[arg(long, value_name = "TASK")]
    pub(crate) scope: Option<TaskId>,

    /// Short name
    #[arg(long, value_name = "TEXT")]
    #[schemars(transform = crate::task::schema::line(100))]
    pub(crate) name: Option<String>,

    /// Open the session although another one covers the same tasks
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct EndSession {
    /// Session to end (or CLEO_SESSION) [default: your open session]
    #[serde(rename = "id")]
    pub(crate) session: Option<SessionId>,

    /// Note for the next session
    #[arg(long, value_name = "TEXT")]
    #[schemars(transform = crate::task::schema::note)]
    pub(crate) note: Option<String>,

    /// End the session although it belongs to another agent or its owner still holds tasks
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct ResumeSession {
    /// The session
    #[serde(rename = "id")]
    pub(crate) session: SessionId,

    /// Reopen the session although another one covers the same tasks
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SessionFilter {
    /// Only sessions with this status: open or ended
    #[arg(long, short, value_name = "STATUS")]
    pub(crate) status: Option<SessionStatus>,
}

#[derive(Default, Args, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WhichSession {
    /// Session to use (or CLEO_SESSION) [default: your open session]
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<SessionId>,
}

#[derive(Args, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneSession {
    /// Session to use (or CLEO_SESSION) [default: your open session]
    #[arg(long, value_name = "SESSION")]
    #[serde(rename = "id")]
    pub(crate) session: Option<SessionId>,
}

/// The task that a session is to work on; none for no task.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetFocus {
    pub(crate) session: Option<SessionId>,
    pub(crate) task: Option<TaskId>,
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
