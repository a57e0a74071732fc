//! `cleo skills …`

use std::io::stdin;
use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::arguments::Format;
use super::screen::{Screen, Tone, count, dim, plain};
use crate::dispatch::{Decision, Subject};
use crate::error::{Code, Error, Result};
use crate::file::{Line, Lines, stdin_unreadable};
use crate::id::TaskId;
use crate::ops::api;
use crate::ops::skills::{
    self, Dispatch, Export, Exported, Listed, Shown, SkillName, SkillPaths, SkillQuery, Validated,
    Verdicts,
};

commands! {
    pub(super) (face, it)
    /// List available skills, and which ones override others of the same name
    #[command(after_help = "Examples:\n  cleo skills list\n  cleo skills list --tier 2")]
    List(SkillQuery) => face.call(&api::SKILLS, it, show_list);
    /// Show a skill: its dispatch rules and its text
    #[command(after_help = "Examples:\n  cleo skills show research-agent")]
    Show(SkillName) => face.call(&api::SKILL, it, show_skill);
    /// Check skills against the Agent Skills standard
    #[command(after_help = "\
Examples:
  cleo skills validate                    all available skills
  cleo skills validate skills/my-skill
  cleo skills validate .claude/skills

The standard does not limit the size of a SKILL.md. A valid file that is too large for cleo to
load (1 MiB, or 64 KiB of front matter) gets a warning.")]
    Validate(SkillPaths) => face.anywhere(
        "skills.validate",
        |around, notes| skills::validate(around, notes, it),
        show_verdicts,
    );
    /// Choose the skill for a task, with reasons
    Dispatch(DispatchArguments) => match it.task {
        Some(task) => {
            let (template, explain) = (it.template, it.explain);
            let wanted = Dispatch { task, template, explain };
            face.call(&api::DISPATCH, wanted, show_decision)
        }
        None => face.run("skills.dispatch", it, dispatch_stream),
    };
    /// Write skills to a folder where other clients find them
    #[command(after_help = "\
Examples:
  cleo skills export --to .claude/skills
  cleo skills export ct-spec-writer --to .agents/skills --dry-run

Exported skills are for other clients: they have no task section, and cleo ignores unchanged
copies. An edited copy counts as a separate skill.")]
    Export(Export) => face.anywhere(
        "skills.export",
        |around, notes| skills::export(around, notes, it),
        show_export,
    );
}

fn show_list(screen: &mut Screen, listed: &Listed) {
    let rows = listed.skills.iter().map(|skill| {
        let skill = &skill.skill;
        let (tone, off) = match skill.active {
            true => (Tone::Strong, ""),
            false => (Tone::Dim, " (inactive)"),
        };
        [
            (tone, format!("{}{off}", skill.name)),
            plain(skill.tier.map_or("-".to_string(), |tier| tier.to_string())),
            dim(format!("{:?}", skill.source).to_lowercase()),
            plain(skill.tags.join(", ")),
        ]
    });
    screen.rows(&["SKILL", "TIER", "SOURCE", "TAGS"], rows);
    for other in &listed.shadowed {
        let text = format!("{} by {}", other.path, other.shadowed_by);
        screen.pair(Tone::Warn, "overridden ", text);
    }
}

fn show_skill(screen: &mut Screen, shown: &Shown) {
    let skill = &shown.skill.skill;
    screen
        .line(Tone::Strong, &skill.name)
        .option("tier", skill.tier)
        .field("tags", skill.tags.join(", "))
        .field("types", skill.types.join(", "))
        .field("keywords", skill.keywords.join(", "))
        .field("may chain to", skill.chains.join(", "))
        .field("file", &skill.path)
        .field("overrides", shown.skill.shadows.join(", "));
    screen.section("Description", &skill.description);
    screen.line(Tone::Plain, "").verbatim(&shown.body);
}

/// Longest line that is read, in bytes.
const LINE_MAX: usize = 4 << 20;

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo skills dispatch T3 --explain
  echo '{\"title\":\"Investigate slow logins\"}' | cleo skills dispatch --stdin

A skills/manifest.json of the project replaces the built-in one. Its rows come first and replace
the keywords of the skills that they name. Other skills follow with their own types and keywords.")]
pub(super) struct DispatchArguments {
    /// The task
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin")]
    task: Option<TaskId>,

    /// Read tasks as JSON lines and print one result per line; needs no workspace
    #[arg(long)]
    stdin: bool,

    /// Use this skill, as with `spawn --template`
    #[arg(long, short, value_name = "SKILL")]
    template: Option<String>,

    /// Also show why the other skills were not chosen
    #[arg(long)]
    explain: bool,
}

fn show_decision(screen: &mut Screen, decision: &Decision) {
    screen
        .say(Tone::Strong, &decision.task_id)
        .say(Tone::Plain, " → ")
        .say(Tone::Accent, &decision.chosen.skill)
        .line(Tone::Dim, format!("  {}", decision.chosen.reason));
    let others = decision.candidates.iter().skip(1);
    let others = others.map(|other| [plain(&other.skill), dim(&other.reason)]);
    let rejected = decision.rejected.iter();
    let rejected = rejected.map(|other| [plain(&other.skill), dim(&other.reason)]);
    let rows: Vec<_> = others.chain(rejected).collect();
    if !rows.is_empty() {
        screen.rows(&["NOT CHOSEN", "BECAUSE"], rows);
    }
}

/// Answers each task with one line of JSON, or as text. An invalid line gets an error; the others
/// are answered.
fn dispatch_stream(face: &mut Face<'_>, arguments: DispatchArguments) -> Result<ExitCode> {
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
    let (mut failed, mut n_tasks) = (None, 0);
    let mut lines = Lines::new(stdin().lock(), LINE_MAX);
    while let Some(line) = lines.next_line().map_err(stdin_unreadable)? {
        if line.is_blank() {
            continue;
        }
        n_tasks += 1;
        let answer = parse_subject(&line).and_then(|subject| {
            let template = arguments.template.as_deref();
            skills::dispatch_subject(&catalogue, &subject, template, arguments.explain)
        });
        match answer {
            answer if !is_text => answers.send("skills.dispatch", &answer),
            Ok(decision) => answers.show(|screen| show_decision(screen, &decision)),
            Err(error) => {
                notes.explain(&error);
                failed = failed.or(Some(error.code));
            }
        }
        if !answers.is_open() {
            break;
        }
    }
    if n_tasks == 0 {
        face.output.note("no tasks on standard input");
    }
    if let Some(code) = failed {
        answers.fails(code);
    }
    Ok(face.output.end(answers))
}

fn parse_subject(line: &Line<'_>) -> Result<Subject> {
    let refused =
        |what: String| Error::new(Code::InputInvalid, format!("line {}{what}", line.number));
    let bytes = line.content(LINE_MAX)?;
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(refused(": a task is a JSON object".to_string()));
    }
    serde_json::from_slice(bytes.trim_ascii_end()).map_err(|cause| {
        // The parser sees only this line, so its line number is always 1.
        let what = cause.to_string();
        let what = what.split(" at line ").next().unwrap_or_default();
        refused(format!(", column {}: {what}", cause.column()))
    })
}

fn show_export(screen: &mut Screen, exported: &Exported) {
    let (tone, verb) = match exported.dry_run {
        true => (Tone::Plain, "would write "),
        false => (Tone::Good, "wrote "),
    };
    for file in &exported.files {
        screen.pair(tone, verb, file);
    }
    let there = exported.unchanged.len();
    if there > 0 {
        let skills = count(there, "skill", "skills");
        screen.line(Tone::Dim, format!("{skills} unchanged"));
    }
}

fn show_verdicts(screen: &mut Screen, result: &Verdicts) {
    for Validated {
        path,
        valid,
        faults,
        ..
    } in &result.skills
    {
        match valid {
            true => screen.say(Tone::Good, "valid   "),
            false => screen.say(Tone::Bad, "invalid "),
        };
        screen.line(Tone::Plain, path);
        for fault in faults {
            let place = format!("  {}:{} ", fault.line, fault.column);
            screen.say(Tone::Dim, place).say(Tone::Warn, fault.code);
            screen.line(Tone::Plain, format!(" {}", fault.message));
        }
    }
}
