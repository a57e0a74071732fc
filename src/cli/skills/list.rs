//! `cleo skills list`

use std::process::ExitCode;

use clap::Args;

use crate::cli::Face;
use crate::cli::screen::{Cell, Screen, Tone};
use crate::error::Result;
use crate::ops::skills::{self, Listed, SkillInfo};

/// List the skills in reach, and which of them stand before others of the same name
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo skills list\n  cleo skills list --tier 2")]
pub(in crate::cli) struct Arguments {
    /// Only skills of this tier
    #[arg(long, value_name = "N")]
    tier: Option<u8>,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let listed = skills::list(&face.surroundings()?, arguments.tier)?;
    face.reply(&listed, &listed.warnings, |screen| render(screen, &listed))
}

fn render(screen: &mut Screen, listed: &Listed) {
    screen.table(
        &["SKILL", "TIER", "SOURCE", "TAGS"],
        listed.skills.iter().map(row).collect(),
    );
    for other in &listed.shadowed {
        let text = format!("{} stands before {}", other.shadowed_by, other.path);
        screen.say(Tone::Warn, "shadowed ").line(Tone::Plain, text);
    }
}

fn row(skill: &SkillInfo) -> Vec<Cell> {
    let tone = if skill.active {
        Tone::Strong
    } else {
        Tone::Dim
    };
    let tier = skill.tier.map_or("-".to_string(), |tier| tier.to_string());
    let source = format!("{:?}", skill.source).to_lowercase();
    let off = if skill.active { "" } else { " (inactive)" };
    vec![
        (tone, format!("{}{off}", skill.name)),
        (Tone::Plain, tier),
        (Tone::Dim, source),
        (Tone::Plain, skill.tags.join(", ")),
    ]
}
