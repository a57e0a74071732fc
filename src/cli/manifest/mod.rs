//! `cleo manifest …`

mod options;

use clap::Args;

use self::options::EntryOptions;
use super::screen::{Screen, Tone, count, plain, strong};
use crate::error::Result;
use crate::id;
use crate::manifest::{Entry, Status};
use crate::ops::manifest::{
    self, Appended, Compact, Compaction, EntryId, Filter, Listed, Validated,
};
use crate::ops::operation::Nothing;
use crate::ops::{Context, api};

commands! {
    pub(super) (face, it)
    /// Append one entry to the manifest: checked, whole and durable
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

An empty or missing manifest is valid. A faulty line never hides the entries around it.")]
    Validate(Nothing) => face.call(&api::VALIDATE_MANIFEST, it, show_faults);
    /// Move torn, foreign and repeated lines out of the manifest, into a file beside it
    #[command(after_help = "\
Examples:
  cleo manifest compact --dry-run
  cleo manifest compact

Entries stay, archived ones too, and so do entries with faults that their author can fix. What
is moved stands in MANIFEST.rejected.jsonl with the reason. Agents that append with cleo wait.
A program that has the file open already, as with `cat >> MANIFEST.jsonl`, writes on to the old
one: that is taken over until nothing has come for a quarter of a second, two seconds at most. One
that writes later than that is not waited for, and what it writes then is lost.")]
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

Without options of an entry it is read from standard input as one JSON object, on one line or on
several. The epic of each linked task is added. Exit 6: every fault is named and nothing is
written. Exit 101: an entry with this id is there already.")]
pub(super) struct AppendArguments {
    #[command(flatten)]
    entry: EntryOptions,

    /// Check the entry and show it, but write nothing
    #[arg(long)]
    dry_run: bool,

    /// Epoch of the claim under which this is done (or CLEO_EPOCH); refused when that is lost
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
            (status_tone(entry.status), entry.status.to_string()),
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
        .say(Tone::Strong, &entry.id)
        .say(status_tone(entry.status), format!("  {}", entry.status))
        .line(Tone::Plain, format!("  {}", entry.title));
    screen
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

pub(super) fn status_tone(status: Status) -> Tone {
    match status {
        Status::Complete => Tone::Good,
        Status::Partial => Tone::Warn,
        Status::Blocked => Tone::Bad,
        Status::Archived => Tone::Dim,
    }
}

fn show_compaction(screen: &mut Screen, done: &Compaction) {
    let would = if done.dry_run { "would move" } else { "moved" };
    for fault in &done.rejected {
        screen
            .say(Tone::Dim, format!("  {would} "))
            .line(Tone::Plain, fault);
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
        screen.say(Tone::Good, "valid ").line(Tone::Plain, entries);
        return;
    }
    let faults = count(found.faults.len(), "fault", "faults");
    screen
        .say(Tone::Bad, "faulty ")
        .line(Tone::Plain, format!("{entries}, {faults}"));
    for fault in &found.faults {
        screen
            .say(
                Tone::Dim,
                format!("  line {} {}: ", fault.line, fault.code.name()),
            )
            .line(Tone::Plain, &fault.message);
    }
}
