//! `cleo manifest append`

use std::process::ExitCode;

use clap::Args;

use super::correcting::corrected;
use super::options::EntryOptions;
use crate::cli::Face;
use crate::cli::arguments::EpochOption;
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::id;
use crate::ops::manifest::{self, Appended};

/// Append one entry to the manifest: checked, whole and durable
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

Unless --id, --file and --title are all given, the entry is read from standard input as one JSON
object, on one line or on several. What options say is added to its lists, and else counts instead
of what it says. The epic of each linked task is added. Exit 6: every fault is named and nothing is
written. Exit 101: an entry with this id is there already.")]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    entry: EntryOptions,

    /// Check the entry and show it, but write nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    claim: EpochOption,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let mut context = face.context()?;
    let (text, warnings) = arguments.entry.read(context.surroundings.clock.date())?;
    let (epoch, dry_run) = (arguments.claim.epoch, arguments.dry_run);
    let appended = manifest::append(&mut context, &text, epoch, dry_run);
    let mut appended =
        appended.map_err(|error| corrected(error, &mut context, &text, epoch, dry_run))?;
    appended.warnings.extend(warnings);
    face.reply(&appended, &appended.warnings, |screen| {
        render(screen, &appended)
    })
}

fn render(screen: &mut Screen, appended: &Appended) {
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
