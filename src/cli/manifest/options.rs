//! An entry of the manifest as options say it.

use std::io::{IsTerminal, stdin};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::error::{Code, Error, Result};
use crate::file;
use crate::id::TaskId;

/// Most that is read from standard input, in bytes: an entry with room for line ends and blanks.
const INPUT_MAX: u64 = 4 << 20;

// The fields of an entry as options; what is left out is missing or empty.
#[derive(Args, Default, PartialEq, Serialize)]
#[command(next_help_heading = "Entry")]
pub(super) struct EntryOptions {
    /// Name of the entry: one word
    #[arg(long, value_name = "ID")]
    pub(super) id: Option<String>,

    /// Output file, relative to claudedocs/agent-outputs
    #[arg(long, value_name = "FILE")]
    pub(super) file: Option<String>,

    /// One line
    #[arg(long, value_name = "TEXT")]
    pub(super) title: Option<String>,

    /// Day of the work; today by default
    #[arg(long, value_name = "DATE")]
    pub(super) date: Option<String>,

    /// complete, partial, blocked or archived; complete by default
    #[arg(long, value_name = "STATUS")]
    pub(super) status: Option<String>,

    /// What it is about; may be repeated or separated by commas
    #[arg(long = "topic", value_name = "TOPIC", value_delimiter = ',')]
    pub(super) topics: Vec<String>,

    /// One fact in one sentence; a complete entry has 3 to 7
    #[arg(long = "finding", value_name = "TEXT")]
    pub(super) key_findings: Vec<String>,

    /// Somebody can act on it now
    #[arg(long)]
    pub(super) actionable: bool,

    /// Task that has to follow, or BLOCKED:reason; may be repeated
    #[arg(long = "followup", value_name = "TASK|BLOCKED:REASON")]
    pub(super) needs_followup: Vec<String>,

    /// Task that it belongs to; may be repeated or separated by commas
    #[arg(long = "task", value_name = "TASK", value_delimiter = ',')]
    pub(super) linked_tasks: Vec<TaskId>,

    /// Skill that the work was done by
    #[arg(long, value_name = "SKILL")]
    pub(super) skill: Option<String>,
}

impl EntryOptions {
    /// Reads the entry: from the options where any is given, so that nobody is waited for, else from standard
    /// input.
    pub(super) fn read(mut self, today: String) -> Result<String> {
        if self == EntryOptions::default() {
            return read_stdin();
        }
        self.date.get_or_insert(today);
        self.status.get_or_insert("complete".to_string());
        Ok(json!(self).to_string())
    }
}

fn read_stdin() -> Result<String> {
    let refused = |message: String| Error::new(Code::EntryInvalid, message);
    if stdin().is_terminal() {
        return Err(refused(
            "no entry is given: put it on standard input".into(),
        ));
    }
    let bytes = file::read_stdin(INPUT_MAX)?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let text = std::str::from_utf8(bytes);
    text.map(str::to_string).map_err(|cause| {
        let place = cause.valid_up_to() + 1;
        refused(format!("the entry is no UTF-8 from byte {place}"))
    })
}
