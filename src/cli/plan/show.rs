//! `cleo plan show`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::make::named;
use super::{Picture, plan_text};
use crate::cli::Face;
use crate::cli::screen::Tone;
use crate::error::Result;
use crate::ops::plans;

/// Show a plan with who would get each step, or draw it
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo plan show plan.yaml
  cleo plan show plan.yaml --dot | dot -Tpng > plan.png")]
pub(in crate::cli) struct Arguments {
    /// JSON or YAML file of the plan; - reads standard input
    file: PathBuf,

    #[command(flatten)]
    picture: Picture,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let what = named(&arguments.file);
    let checked = plans::check(&face.surroundings()?, &arguments.file)?.readable(&what)?;
    if let Some(drawn) = arguments.picture.draw(face, &checked.plan) {
        return Ok(drawn);
    }
    face.reply(&checked, &checked.warnings, |screen| {
        plan_text(screen, &checked.plan, &checked.assignments);
        for (number, wave) in checked.waves.iter().enumerate() {
            screen
                .say(Tone::Dim, format!("wave {number}: "))
                .line(Tone::Plain, wave.join(", "));
        }
    })
}
