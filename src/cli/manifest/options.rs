//! A manifest entry from options.

use std::io::{IsTerminal, stdin};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::error::{Code, Error, Result};
use crate::file;
use crate::id::TaskId;

/// Maximum size of an entry on standard input, in bytes.
const INPUT_MAX: u64 = 4 << 20;

// The fields of an entry as options; omitted ones are missing or empty.
#[derive(Args, Default, PartialEq, Serialize)]
#[command(next_help_heading = "Entry")]
pub(super) struct EntryOptions {
    /// Id of the entry: one word
    #[arg(long, value_name = "ID")]
    pub(super) id: Option<String>,

    /// Output file, relative to claudedocs/agent-outputs
    #[arg(long, value_name = "FILE")]
    pub(super) file: Option<String>,

    /// Title: one line
    #[arg(long, value_name = "TEXT")]
    pub(super) title: Option<String>,

    /// Date of the work [default: today]
    #[arg(long, value_name = "DATE")]
    pub(super) date: Option<String>,

    /// complete, partial, blocked or archived [default: complete]
    #[arg(long, value_name = "STATUS")]
    pub(super) status: Option<String>,

    /// Topics, repeated or separated by commas
    #[arg(long = "topic", value_name = "TOPIC", value_delimiter = ',')]
    pub(super) topics: Vec<String>,

    /// Finding: one fact in one sentence; a complete entry has 3 to 7
    #[arg(long = "finding", value_name = "TEXT")]
    pub(super) key_findings: Vec<String>,

    /// Mark the entry as ready to act on
    #[arg(long)]
    pub(super) actionable: bool,

    /// Follow-up task, or BLOCKED:reason (repeat for more)
    #[arg(long = "followup", value_name = "TASK|BLOCKED:REASON")]
    pub(super) needs_followup: Vec<String>,

    /// Linked tasks, repeated or separated by commas
    #[arg(long = "task", value_name = "TASK", value_delimiter = ',')]
    pub(super) linked_tasks: Vec<TaskId>,

    /// Skill used for the work
    #[arg(long, value_name = "SKILL")]
    pub(super) skill: Option<String>,
}

impl EntryOptions {
    /// Reads the entry from the options, or without any from standard input.
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
            "the entry is missing: pass it on standard input".into(),
        ));
    }
    let bytes = file::read_stdin(INPUT_MAX)?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let text = std::str::from_utf8(bytes);
    text.map(str::to_string).map_err(|cause| {
        let place = cause.valid_up_to() + 1;
        refused(format!("the entry is not UTF-8 from byte {place}"))
    })
}
