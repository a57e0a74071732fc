//! The words of an entry: its status, what has to follow, and ids of tasks.

use std::fmt;

use serde::{Serialize, Serializer};

use super::text::{is_placeholder, line, shown};
use crate::id::TaskId;

/// Leads a follow-up that is a reason and no task.
const BLOCKED: &str = "BLOCKED:";

/// How far the work of an entry came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// All of it.
    Complete,
    /// Some of it.
    Partial,
    /// None that holds.
    Blocked,
    /// It counts no longer.
    Archived,
}

impl Status {
    /// All statuses, in the order in which messages name them.
    pub const ALL: [Status; 4] = [
        Status::Complete,
        Status::Partial,
        Status::Blocked,
        Status::Archived,
    ];

    /// Returns the word as it stands in the manifest.
    pub fn word(self) -> &'static str {
        match self {
            Status::Complete => "complete",
            Status::Partial => "partial",
            Status::Blocked => "blocked",
            Status::Archived => "archived",
        }
    }
}

impl std::str::FromStr for Status {
    type Err = String;

    fn from_str(text: &str) -> Result<Status, String> {
        let found = Status::ALL.into_iter().find(|status| status.word() == text);
        found.ok_or_else(|| {
            let words = Status::ALL.map(Status::word).join(", ");
            format!("{} is no status; use one of {words}", shown(text))
        })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
}

/// What has to follow an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followup {
    /// Work on a task.
    Task(TaskId),
    /// `BLOCKED:` and the reason.
    Blocked(String),
}

impl fmt::Display for Followup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Followup::Task(id) => id.fmt(formatter),
            Followup::Blocked(reason) => write!(formatter, "{}{reason}", BLOCKED),
        }
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Followup {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Followup".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string"})
    }
}

impl Serialize for Followup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Reads one follow-up.
pub(super) fn followup(text: &str) -> Option<Followup> {
    let Some(reason) = text.strip_prefix(BLOCKED) else {
        return task(text).map(Followup::Task);
    };
    let fits = line(reason).is_none() && !is_placeholder(reason);
    fits.then(|| Followup::Blocked(reason.to_string()))
}

/// Reads a task id without blanks around it: [`super::glance::TaskSearch`] relies on that.
pub(super) fn task(text: &str) -> Option<TaskId> {
    // Asked several times for each line of a manifest; nearly all ids are as plain as this.
    if let [b'T' | b't', digits @ ..] = text.as_bytes()
        && (1..=9).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_digit)
    {
        let number = digits
            .iter()
            .fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
        return (number > 0).then_some(TaskId(number));
    }
    let bare = text.starts_with(['T', 't']) && !text.ends_with(char::is_whitespace);
    bare.then(|| text.parse().ok()).flatten()
}
