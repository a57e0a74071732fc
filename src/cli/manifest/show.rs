//! `cleo manifest show`, and how one entry looks in every command.

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::id;
use crate::manifest::{Entry, Status};
use crate::ops::manifest;

/// Show an entry of the manifest
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo manifest show auth-2026-01-26
  cleo manifest show auth-2026-01-26 --json | jq -r '.result.entry.key_findings[]'")]
pub(in crate::cli) struct Arguments {
    /// Id of the entry
    id: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let shown = manifest::show(&face.context()?, &arguments.id)?;
    face.reply(&shown, &shown.warnings, |screen| {
        render(screen, &shown.entry);
        screen.field("line", shown.line);
    })
}

/// Shows an entry.
pub(in crate::cli) fn render(screen: &mut Screen, entry: &Entry) {
    let list = |items: &[String]| items.join(", ");
    screen
        .say(Tone::Strong, &entry.id)
        .say(tone(entry.status), format!("  {}", entry.status))
        .line(Tone::Plain, format!("  {}", entry.title));
    screen
        .field("file", &entry.file)
        .field("date", &entry.date)
        .field("topics", list(&entry.topics))
        .field("tasks", id::list(&entry.linked_tasks));
    let followups: Vec<String> = entry
        .needs_followup
        .iter()
        .map(ToString::to_string)
        .collect();
    screen
        .field("follow-up", list(&followups))
        .field("actionable", if entry.actionable { "yes" } else { "no" });
    for (name, value) in [
        ("agent", &entry.agent_type),
        ("skill", &entry.skill),
        ("appended by", &entry.created_by),
        ("appended at", &entry.created_at),
    ] {
        screen.field(name, value.as_deref().unwrap_or_default());
    }
    let findings: Vec<String> = entry
        .key_findings
        .iter()
        .map(|text| format!("- {text}"))
        .collect();
    screen.section("Findings", &findings.join("\n"));
}

/// The tone of a status.
pub(in crate::cli) fn tone(status: Status) -> Tone {
    match status {
        Status::Complete => Tone::Good,
        Status::Partial => Tone::Warn,
        Status::Blocked => Tone::Bad,
        Status::Archived => Tone::Dim,
    }
}
