//! `cleo skills validate`

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::cli::Face;
use crate::cli::screen::{Screen, Tone};
use crate::error::{Code, Error, Result};
use crate::ops::Surroundings;
use crate::ops::skills::{self, Validated};
use crate::skill::front_matter::Fault;

/// Judge skills by the Agent Skills standard
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo skills validate                    the skills in reach
  cleo skills validate skills/my-skill
  cleo skills validate .claude/skills

The standard sets no bounds to the size of a SKILL.md. One that keeps it and is too large for cleo
to load (1 MiB, 64 KiB before the text) is valid, with a warning.")]
pub(in crate::cli) struct Arguments {
    /// Folder of a skill, its SKILL.md, or a folder of skills; all skills in reach when left out
    paths: Vec<PathBuf>,

    /// Accepted for clarity: the judgement is always strict
    #[arg(long)]
    strict: bool,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Verdicts {
    verdict: &'static str,
    skills: Vec<Validated>,
    total: usize,
    invalid: usize,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    let skills = skills::validate(&surroundings, &arguments.paths)?;
    let invalid = skills.iter().filter(|skill| !skill.valid).count();
    let verdict = if invalid == 0 { "pass" } else { "fail" };
    let result = Verdicts {
        verdict,
        total: skills.len(),
        invalid,
        skills,
    };
    let error = refused(&result, &surroundings);
    let warnings: Vec<String> = result.skills.iter().filter_map(unloaded).collect();
    face.outcome(&result, error, &warnings, |screen| {
        result.skills.iter().for_each(|skill| render(screen, skill));
    })
}

/// Says that a skill keeps the standard and is of no use to cleo all the same.
fn unloaded(skill: &Validated) -> Option<String> {
    let (path, why) = (&skill.path, skill.unloaded.as_ref()?);
    Some(format!(
        "{path} keeps the standard, but cleo does not load it: {why}"
    ))
}

fn refused(result: &Verdicts, surroundings: &Surroundings) -> Option<Error> {
    let broken: Vec<&Validated> = result.skills.iter().filter(|skill| !skill.valid).collect();
    let first = broken.first()?;
    let fault = first.faults.first()?;
    let place = format!("{}:{}:{}", first.path, fault.line, fault.column);
    let more = match broken.len() {
        1 => String::new(),
        n => format!(" (and {} more skills)", n - 1),
    };
    let message = format!("{place}: {}{more}", fault.message);
    let workspace = surroundings.workspace().ok();
    let path = surroundings.typed(workspace.as_ref(), &first.path);
    Some(Error::new(Code::SkillInvalid, message).fix(look(&path, fault)))
}

/// The command that shows what is to be mended: the line at fault.
fn look(path: &str, fault: &Fault) -> String {
    match fault.code {
        "SKILL_FILE_MISSING" => format!("ls -la {path}"),
        "FILE_TOO_LARGE" => format!("ls -l {path}"),
        _ => format!("sed -n '{}p' {path}", fault.line),
    }
}

fn render(screen: &mut Screen, skill: &Validated) {
    if skill.valid {
        screen
            .say(Tone::Good, "valid   ")
            .line(Tone::Plain, &skill.path);
        return;
    }
    screen
        .say(Tone::Bad, "invalid ")
        .line(Tone::Plain, &skill.path);
    for fault in &skill.faults {
        let place = format!("  {}:{} ", fault.line, fault.column);
        screen.say(Tone::Dim, place).say(Tone::Warn, fault.code);
        screen.line(Tone::Plain, format!(" {}", fault.message));
    }
}
