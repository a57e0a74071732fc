//! `cleo skills dispatch`

use std::io::stdin;
use std::process::ExitCode;

use clap::Args;

use crate::catalogue::Catalogue;
use crate::cli::Face;
use crate::cli::arguments::Format;
use crate::cli::screen::{Cell, Screen, Tone};
use crate::dispatch::{Decision, Subject};
use crate::error::{Code, Error, Result};
use crate::file::{Line, Lines};
use crate::id::TaskId;
use crate::ops::skills;

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
pub(in crate::cli) struct Arguments {
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

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let Some(task) = arguments.task else {
        return stream(face, &arguments);
    };
    let template = arguments.template.as_deref();
    let (decision, warnings) =
        skills::dispatch_task(&mut face.context()?, task, template, arguments.explain)?;
    face.reply(&decision, &warnings, |screen| render(screen, &decision))
}

fn render(screen: &mut Screen, decision: &Decision) {
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
fn stream(face: &mut Face<'_>, arguments: &Arguments) -> Result<ExitCode> {
    let catalogue = skills::catalogue(&face.surroundings()?)?;
    if let Some(name) = &arguments.template {
        catalogue.skill(name)?;
    }
    catalogue
        .warnings
        .iter()
        .for_each(|text| face.output.note(text));
    let is_text = face.output.format() == Format::Text;
    match is_text && face.globals.format == Some(Format::Text) {
        true => as_text(face, &catalogue, arguments),
        false => as_lines(face, &catalogue, arguments),
    }
}

fn as_lines(face: &Face<'_>, catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    let mut answers = face.output.stream();
    let n_tasks = each(catalogue, arguments, |answer| {
        answers.send("skills.dispatch", &answer)
    })?;
    tell_of_none(face, n_tasks);
    Ok(face.output.end(answers))
}

fn as_text(face: &Face<'_>, catalogue: &Catalogue, arguments: &Arguments) -> Result<ExitCode> {
    let (mut stream, notes) = (face.output.stream(), face.output.notes());
    let mut failed: Option<Code> = None;
    let n_tasks = each(catalogue, arguments, |answer| match answer {
        Ok(decision) => stream.show(|screen| render(screen, &decision)),
        Err(error) => {
            notes.explain(&error);
            failed = failed.or(Some(error.code));
            true
        }
    })?;
    tell_of_none(face, n_tasks);
    if let Some(code) = failed {
        stream.fails(code);
    }
    Ok(face.output.end(stream))
}

fn tell_of_none(face: &Face<'_>, n_tasks: usize) {
    if n_tasks == 0 {
        face.output.note("no tasks on standard input");
    }
}

/// Hands out the answer for each line until nobody takes them any more; returns how many there were.
fn each(
    catalogue: &Catalogue,
    arguments: &Arguments,
    mut take: impl FnMut(Result<Decision>) -> bool,
) -> Result<usize> {
    let mut lines = Lines::new(stdin().lock(), LINE_MAX);
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

fn answer(line: &Line<'_>, catalogue: &Catalogue, arguments: &Arguments) -> Result<Decision> {
    let refused = |what: String| {
        let error = Error::new(Code::InputInvalid, format!("line {}{what}", line.number));
        error.fix("cleo skills dispatch --help")
    };
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

fn unreadable(cause: std::io::Error) -> Error {
    Error::new(Code::FileUnreadable, "standard input cannot be read").because(cause)
}
