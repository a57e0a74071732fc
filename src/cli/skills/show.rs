//! `cleo skills show`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Screen, Tone};
use crate::error::Result;
use crate::ops::skills::{self, Shown};

/// Show a skill: what leads to it, and its text
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo skills show research-agent")]
pub(in crate::cli) struct Arguments {
    /// The skill, in any letter case, with or without ct-
    skill: String,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let shown = skills::show(&face.surroundings()?, &arguments.skill)?;
    face.reply(&shown, &[], |screen| render(screen, &shown))
}

fn render(screen: &mut Screen, shown: &Shown) {
    let skill = &shown.skill;
    screen.line(Tone::Strong, &skill.name);
    screen.field(
        "tier",
        skill.tier.map(|tier| tier.to_string()).unwrap_or_default(),
    );
    screen
        .field("tags", skill.tags.join(", "))
        .field("types", skill.types.join(", "));
    screen
        .field("keywords", skill.keywords.join(", "))
        .field("may chain to", skill.chains.join(", "));
    screen
        .field("file", &skill.path)
        .field("stands before", skill.shadows.join(", "));
    screen.section("Description", &skill.description);
    screen.line(Tone::Plain, "").verbatim(&shown.body);
}
