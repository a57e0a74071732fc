//! `cleo manifest …`

use std::io::{IsTerminal, stdin};

use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::screen::{Screen, Tone, count, plain, status, strong};
use crate::error::{Code, Error, Result};
use crate::file::read_stdin;
use crate::id::{self, TaskId};
use crate::manifest::Entry;
use crate::ops::manifest::{
    self, Appended, Compact, Compaction, EntryId, Filter, Listed, Validated,
};
use crate::ops::operation::Nothing;
use crate::ops::{Context, api};

commands! {
    pub(super) (face, it)
    /// Check an entry and append it to the manifest
    Append(Box<AppendArguments>) => {
        face.inside("manifest.append", |context| append(context, *it), show_appended)
    };
    /// List the entries of the manifest, newest last
    #[command(after_help = "\
Examples:
  cleo manifest list --limit 20
  cleo manifest list --task T3
  cleo manifest list --status blocked --json | jq -r '.result.entries[].needs_followup[]'")]
    List(Filter) => face.call(&api::ENTRIES, it, show_entries);
    /// Show an entry of the manifest
    #[command(after_help = "\
Examples:
  cleo manifest show auth-2026-01-26
  cleo manifest show auth-2026-01-26 --json | jq -r '.result.entry.key_findings[]'")]
    Show(EntryId) => face.call(&api::ENTRY, it, |screen, shown| {
        show_entry(screen, &shown.entry);
        screen.field("line", shown.line);
    });
    /// Check every line of the manifest (exit 6)
    #[command(after_help = "\
Examples:
  cleo manifest validate
  cleo manifest validate --json | jq -r '.result.faults[] | \"\\(.line) \\(.code) \\(.message)\"'

An empty or missing manifest is valid. An invalid line does not hide other entries.")]
    Validate(Nothing) => face.call(&api::VALIDATE_MANIFEST, it, show_faults);
    /// Move torn, invalid and duplicate lines of the manifest to another file
    #[command(after_help = "\
Examples:
  cleo manifest compact --dry-run
  cleo manifest compact

Valid and archived entries stay, and so do entries with errors that their author can fix. Removed
lines go to MANIFEST.rejected.jsonl with the reason. Agents that append with cleo wait; lines that
a program appends to the open file meanwhile, as with `cat >> MANIFEST.jsonl`, are copied.")]
    Compact(Compact) => face.call(&api::COMPACT, it, show_compaction);
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo manifest append < entry.json
  cleo manifest append <<'CLEO_ENTRY'
  {\"id\":\"auth-2026-01-26\",\"file\":\"2026-01-26_auth.md\",\"title\":\"Token refresh\",
   \"date\":\"2026-01-26\",\"status\":\"complete\",\"topics\":[\"auth\"],
   \"key_findings\":[\"First fact.\",\"Second fact.\",\"Third fact.\"],
   \"actionable\":true,\"needs_followup\":[],\"linked_tasks\":[\"T3\"]}
  CLEO_ENTRY
  cleo manifest append --id auth-2026-01-26 --file 2026-01-26_auth.md --title 'Token refresh' \\
    --finding 'First fact.' --finding 'Second fact.' --finding 'Third fact.' --task T3

Without entry options, reads one JSON object from standard input. The epics of linked tasks are
added. Exit 6: the entry is invalid; all errors are listed and nothing is written. Exit 101: an
entry with this id exists.")]
pub(super) struct AppendArguments {
    #[command(flatten)]
    entry: EntryOptions,

    /// Check and show the entry, but write nothing
    #[arg(long)]
    dry_run: bool,

    /// Epoch of your claim (or CLEO_EPOCH); fails if the claim was lost
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    epoch: Option<u32>,
}

fn append(context: &mut Context, arguments: AppendArguments) -> Result<Appended> {
    let text = arguments.entry.read(context.surroundings.clock.date())?;
    manifest::append(context, &text, arguments.epoch, arguments.dry_run)
}

fn show_appended(screen: &mut Screen, appended: &Appended) {
    let entry = &appended.entry;
    let done = if appended.dry_run {
        "valid "
    } else {
        "appended "
    };
    screen.say(Tone::Good, done).say(Tone::Strong, &entry.id);
    screen.line(Tone::Dim, format!("  {}", entry.status));
    screen.field("linked to", id::list(&entry.linked_tasks));
}

pub(super) fn show_entries(screen: &mut Screen, listed: &Listed) {
    let rows = listed.entries.iter().map(|entry| {
        [
            strong(&entry.id),
            status(entry.status),
            plain(id::list(&entry.linked_tasks)),
            plain(&entry.title),
        ]
    });
    screen.list("no entries", &["ID", "STATUS", "TASKS", "TITLE"], rows);
    if listed.total > listed.entries.len() {
        let (shown, total) = (listed.entries.len(), listed.total);
        screen.line(Tone::Dim, format!("the newest {shown} of {total}"));
    }
}

pub(super) fn show_entry(screen: &mut Screen, entry: &Entry) {
    screen
        .headline(&entry.id, entry.status, &entry.title)
        .field("file", &entry.file)
        .field("date", &entry.date)
        .field("topics", entry.topics.join(", "))
        .field("tasks", id::list(&entry.linked_tasks));
    let followups = entry.needs_followup.iter().map(ToString::to_string);
    screen
        .field("follow-up", followups.collect::<Vec<_>>().join(", "))
        .field("actionable", if entry.actionable { "yes" } else { "no" })
        .option("agent", entry.agent_type.as_ref())
        .option("skill", entry.skill.as_ref())
        .option("appended by", entry.created_by.as_ref())
        .option("appended at", entry.created_at.as_ref());
    let findings = entry.key_findings.iter().map(|text| format!("- {text}"));
    screen.section("Findings", &findings.collect::<Vec<_>>().join("\n"));
}

fn show_compaction(screen: &mut Screen, done: &Compaction) {
    let would = if done.dry_run { "would move" } else { "moved" };
    for fault in &done.rejected {
        screen.pair(Tone::Dim, format!("  {would} "), fault);
    }
    let kept = count(done.kept, "line stays", "lines stay");
    let moved = match done.total {
        0 => String::new(),
        n => format!(", {would} {n} to {}", done.file),
    };
    screen.line(Tone::Plain, format!("{kept}{moved}"));
}

fn show_faults(screen: &mut Screen, found: &Validated) {
    let entries = count(found.entries, "entry", "entries");
    if found.valid {
        screen.pair(Tone::Good, "valid ", entries);
        return;
    }
    let faults = count(found.faults.len(), "fault", "faults");
    screen.pair(Tone::Bad, "faulty ", format!("{entries}, {faults}"));
    for fault in &found.faults {
        let place = format!("  line {} {}: ", fault.line, fault.code.name());
        screen.pair(Tone::Dim, place, &fault.message);
    }
}

/// Maximum size of an entry on standard input, in bytes.
const INPUT_MAX: u64 = 4 << 20;

// The fields of an entry as options; omitted ones are missing or empty.
#[derive(Args, Default, PartialEq, Serialize)]
#[command(next_help_heading = "Entry")]
struct EntryOptions {
    /// Id of the entry: one word
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// Output file, relative to claudedocs/agent-outputs
    #[arg(long, value_name = "FILE")]
    file: Option<String>,

    /// Title: one line
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Date of the work [default: today]
    #[arg(long, value_name = "DATE")]
    date: Option<String>,

    /// complete, partial, blocked or archived [default: complete]
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,

    /// Topics, repeated or separated by commas
    #[arg(long = "topic", value_name = "TOPIC", value_delimiter = ',')]
    topics: Vec<String>,

    /// Finding: one fact in one sentence; a complete entry has 3 to 7
    #[arg(long = "finding", value_name = "TEXT")]
    key_findings: Vec<String>,

    /// Mark the entry as ready to act on
    #[arg(long)]
    actionable: bool,

    /// Follow-up task, or BLOCKED:reason (repeat for more)
    #[arg(long = "followup", value_name = "TASK|BLOCKED:REASON")]
    needs_followup: Vec<String>,

    /// Linked tasks, repeated or separated by commas
    #[arg(long = "task", value_name = "TASK", value_delimiter = ',')]
    linked_tasks: Vec<TaskId>,

    /// Skill used for the work
    #[arg(long, value_name = "SKILL")]
    skill: Option<String>,
}

impl EntryOptions {
    /// Reads the entry from the options, or without any from standard input.
    fn read(mut self, today: String) -> Result<String> {
        if self == EntryOptions::default() {
            return read_entry();
        }
        self.date.get_or_insert(today);
        self.status.get_or_insert("complete".to_string());
        Ok(json!(self).to_string())
    }
}

fn read_entry() -> Result<String> {
    let refused = |message: String| Error::new(Code::EntryInvalid, message);
    if stdin().is_terminal() {
        return Err(refused(
            "the entry is missing: pass it on standard input".into(),
        ));
    }
    let bytes = read_stdin(INPUT_MAX)?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let text = std::str::from_utf8(bytes);
    text.map(str::to_string).map_err(|cause| {
        let place = cause.valid_up_to() + 1;
        refused(format!("the entry is not UTF-8 from byte {place}"))
    })
}
