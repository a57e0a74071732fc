//! `cleo skills export`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Tone, count};
use crate::error::Result;
use crate::ops::skills;

/// Write skills into a folder where other clients find them
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo skills export --to .claude/skills
  cleo skills export ct-spec-writer --to .agents/skills --dry-run

What is written is for other clients: it lacks the task section, and cleo itself goes on with the
skills that it carries. A copy that somebody changed counts as a skill of its own.")]
pub(in crate::cli) struct Arguments {
    /// Skills to write; the built-in ones when left out
    skills: Vec<String>,

    /// Folder to write to
    #[arg(long, value_name = "DIR")]
    to: PathBuf,

    /// Write over files that hold something else
    #[arg(long)]
    force: bool,

    /// Show what would be written
    #[arg(long, short = 'n')]
    dry_run: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let Arguments {
        skills,
        to,
        force,
        dry_run,
    } = arguments;
    let exported = skills::export(&face.surroundings()?, &to, &skills, force, dry_run)?;
    face.reply(&exported, &[], |screen| {
        let (tone, verb) = if dry_run {
            (Tone::Plain, "would write ")
        } else {
            (Tone::Good, "wrote ")
        };
        exported.files.iter().for_each(|file| {
            screen.say(tone, verb).line(Tone::Plain, file);
        });
        let there = exported.unchanged.len();
        if there > 0 {
            let told = count(there, "skill is", "skills are");
            screen.line(Tone::Dim, format!("{told} there already, unchanged"));
        }
    })
}
