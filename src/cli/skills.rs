//! `cleo skills …`

use std::io::stdin;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::Face;
use super::arguments::Format;
use super::screen::{Cell, Screen, Tone, count};
use crate::catalogue::Catalogue;
use crate::dispatch::{Decision, Subject};
use crate::error::{Code, Error, Result};
use crate::file::{Line, Lines};
use crate::id::TaskId;
use crate::ops::Surroundings;
use crate::ops::skills::{self, Shown, SkillInfo, Validated};
use crate::skill::front_matter::Fault;

#[derive(Subcommand)]
pub(super) enum Command {
    List(ListArguments),
    Show(ShowArguments),
    Validate(ValidateArguments),
    Dispatch(DispatchArguments),
    Export(ExportArguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::List(arguments) => face.run("skills.list", arguments, list),
        Command::Show(arguments) => face.run("skills.show", arguments, show),
        Command::Validate(arguments) => face.run("skills.validate", arguments, validate),
        Command::Dispatch(arguments) => face.run("skills.dispatch", arguments, choose),
        Command::Export(arguments) => face.run("skills.export", arguments, export),
    }
}

/// List the skills in reach, and which of them stand before others of the same name
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo skills list\n  cleo skills list --tier 2")]
pub(super) struct ListArguments {
    /// Only skills of this tier
    #[arg(long, value_name = "N")]
    tier: Option<u8>,
}

fn list(face: &mut Face<'_>, arguments: ListArguments) -> Result<ExitCode> {
    let listed = skills::list(&face.surroundings()?, arguments.tier)?;
    face.reply(&listed, &listed.warnings, |screen| {
        let rows = listed.skills.iter().map(skill_row).collect();
        screen.table(&["SKILL", "TIER", "SOURCE", "TAGS"], rows);
        for other in &listed.shadowed {
            let text = format!("{} stands before {}", other.shadowed_by, other.path);
            screen.say(Tone::Warn, "shadowed ").line(Tone::Plain, text);
        }
    })
}

fn skill_row(skill: &SkillInfo) -> Vec<Cell> {
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

/// Show a skill: what leads to it, and its text
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo skills show research-agent")]
pub(super) struct ShowArguments {
    /// The skill, in any letter case, with or without ct-
    skill: String,
}

fn show(face: &mut Face<'_>, arguments: ShowArguments) -> Result<ExitCode> {
    let shown = skills::show(&face.surroundings()?, &arguments.skill)?;
    face.reply(&shown, &[], |screen| show_skill(screen, &shown))
}

fn show_skill(screen: &mut Screen, shown: &Shown) {
    let skill = &shown.skill;
    screen.line(Tone::Strong, &skill.name);
    let tier = skill.tier.map(|tier| tier.to_string());
    screen
        .field("tier", tier.unwrap_or_default())
        .field("tags", skill.tags.join(", "))
        .field("types", skill.types.join(", "))
        .field("keywords", skill.keywords.join(", "))
        .field("may chain to", skill.chains.join(", "))
        .field("file", &skill.path)
        .field("stands before", skill.shadows.join(", "));
    screen.section("Description", &skill.description);
    screen.line(Tone::Plain, "").verbatim(&shown.body);
}

/// Longest line that is read, in bytes.
const LINE_MAX: usize = 4 << 20;

/// Choose the skill for a task, with reasons
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo skills dispatch T3 --explain
  echo '{\"title\":\"Investigate slow logins\"}' | cleo skills dispatch --stdin

A project's skills/manifest.json stands for the built-in one as a whole: its rows come first, and what
they say of a skill stands for all of the skill's own keywords. A skill that no row leads to brings
its own types and keywords after them.")]
pub(super) struct DispatchArguments {
    /// The task
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin")]
    task: Option<TaskId>,

    /// Read tasks as JSON lines and answer each on a line; needs no workspace
    #[arg(long)]
    stdin: bool,

    /// Use this skill, as `spawn --template` does
    #[arg(long, short, value_name = "SKILL")]
    template: Option<String>,

    /// Also say why each of the other skills was not chosen
    #[arg(long)]
    explain: bool,
}

fn choose(face: &mut Face<'_>, arguments: DispatchArguments) -> Result<ExitCode> {
    let Some(task) = arguments.task else {
        return dispatch_stream(face, &arguments);
    };
    let template = arguments.template.as_deref();
    let (decision, warnings) =
        skills::dispatch_task(&mut face.context()?, task, template, arguments.explain)?;
    face.reply(&decision, &warnings, |screen| {
        show_decision(screen, &decision)
    })
}

fn show_decision(screen: &mut Screen, decision: &Decision) {
    screen
        .say(Tone::Strong, &decision.task_id)
        .say(Tone::Plain, " → ");
    screen
        .say(Tone::Accent, &decision.skill)
        .line(Tone::Dim, format!("  {}", decision.reason));
    let others = decision.candidates.iter().skip(1);
    let rows = others.map(|other| (&other.skill, &other.reason)).chain(
        decision
            .rejected
            .iter()
            .map(|other| (&other.skill, &other.reason)),
    );
    let rows: Vec<Vec<Cell>> = rows
        .map(|(skill, reason)| vec![(Tone::Plain, skill.clone()), (Tone::Dim, reason.clone())])
        .collect();
    if !rows.is_empty() {
        screen.table(&["NOT CHOSEN", "BECAUSE"], rows);
    }
}

/// Answers each task: on a line of JSON, or for people when they ask for text. A line that is no task
/// gets an error; the others go on.
fn dispatch_stream(face: &mut Face<'_>, arguments: &DispatchArguments) -> Result<ExitCode> {
    let catalogue = skills::catalogue(&face.surroundings()?)?;
    if let Some(name) = &arguments.template {
        catalogue.skill(name)?;
    }
    catalogue
        .warnings
        .iter()
        .for_each(|text| face.output.note(text));
    let is_text = face.output.format() == Format::Text && face.globals.format == Some(Format::Text);
    let (mut answers, notes) = (face.output.stream(), face.output.notes());
    let mut failed: Option<Code> = None;
    let n_tasks = each(&catalogue, arguments, |answer| match answer {
        answer if !is_text => answers.send("skills.dispatch", &answer),
        Ok(decision) => answers.show(|screen| show_decision(screen, &decision)),
        Err(error) => {
            notes.explain(&error);
            failed = failed.or(Some(error.code));
            true
        }
    })?;
    if n_tasks == 0 {
        face.output.note("no tasks on standard input");
    }
    if let Some(code) = failed {
        answers.fails(code);
    }
    Ok(face.output.end(answers))
}

/// Hands out the answer for each line until nobody takes them any more; returns how many there were.
fn each(
    catalogue: &Catalogue,
    arguments: &DispatchArguments,
    mut take: impl FnMut(Result<Decision>) -> bool,
) -> Result<usize> {
    let mut lines = Lines::new(stdin().lock(), LINE_MAX);
    let unreadable =
        |cause| Error::new(Code::FileUnreadable, "standard input cannot be read").because(cause);
    let mut n_tasks = 0;
    while let Some(line) = lines.next_line().map_err(unreadable)? {
        if line
            .bytes
            .is_some_and(|bytes| bytes.trim_ascii().is_empty())
        {
            continue;
        }
        n_tasks += 1;
        if !take(answer(&line, catalogue, arguments)) {
            break;
        }
    }
    Ok(n_tasks)
}

fn answer(
    line: &Line<'_>,
    catalogue: &Catalogue,
    arguments: &DispatchArguments,
) -> Result<Decision> {
    let refused =
        |what: String| Error::new(Code::InputInvalid, format!("line {}{what}", line.number));
    let Some(bytes) = line.bytes else {
        return Err(refused(format!(" has more than {LINE_MAX} bytes")));
    };
    let mark = "\u{feff}".as_bytes();
    let bytes = bytes
        .strip_prefix(mark)
        .filter(|_| line.number == 1)
        .unwrap_or(bytes);
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(refused(": a task is a JSON object".to_string()));
    }
    let subject: Subject = serde_json::from_slice(bytes.trim_ascii_end()).map_err(|cause| {
        // The parser sees only this line, so its number is not the one that is meant.
        let what = cause.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        refused(format!(", column {}: {what}", cause.column()))
    })?;
    let template = arguments.template.as_deref();
    skills::dispatch_subject(catalogue, &subject, template, arguments.explain)
}

/// Write skills into a folder where other clients find them
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo skills export --to .claude/skills
  cleo skills export ct-spec-writer --to .agents/skills --dry-run

What is written is for other clients: it lacks the task section, and cleo itself goes on with the
skills that it carries. A copy that somebody changed counts as a skill of its own.")]
pub(super) struct ExportArguments {
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

fn export(face: &mut Face<'_>, arguments: ExportArguments) -> Result<ExitCode> {
    let (to, names, dry_run) = (&arguments.to, &arguments.skills, arguments.dry_run);
    let exported = skills::export(&face.surroundings()?, to, names, arguments.force, dry_run)?;
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

/// Judge skills by the Agent Skills standard
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo skills validate                    the skills in reach
  cleo skills validate skills/my-skill
  cleo skills validate .claude/skills

The standard sets no bounds to the size of a SKILL.md. One that keeps it and is too large for cleo
to load (1 MiB, 64 KiB before the text) is valid, with a warning.")]
pub(super) struct ValidateArguments {
    /// Folder of a skill, its SKILL.md, or a folder of skills; all skills in reach when left out
    paths: Vec<PathBuf>,

    /// Accepted for clarity: the judgement is always strict
    #[arg(long)]
    strict: bool,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Verdicts {
    verdict: &'static str,
    skills: Vec<Validated>,
    total: usize,
    invalid: usize,
}

fn validate(face: &mut Face<'_>, arguments: ValidateArguments) -> Result<ExitCode> {
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
    let unloaded = result.skills.iter().filter_map(|skill| {
        let (path, why) = (&skill.path, skill.unloaded.as_ref()?);
        Some(format!(
            "{path} keeps the standard, but cleo does not load it: {why}"
        ))
    });
    let warnings: Vec<String> = unloaded.collect();
    face.outcome(&result, error, &warnings, |screen| {
        result
            .skills
            .iter()
            .for_each(|skill| show_verdict(screen, skill));
    })
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

fn show_verdict(screen: &mut Screen, skill: &Validated) {
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
