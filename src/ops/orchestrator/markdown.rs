//! Overviews and briefs as Markdown, for people and for agents that begin anew.

use std::fmt::Write;
use std::path::Path;

use super::brief::{Brief, Finished, OpenSession, Waiting};
use super::few::Few;
use super::overview::{Overall, Overview, Start};
use crate::error::{Code, Error, Result};
use crate::ops::Context;
use crate::task::{Note, TaskView};
use crate::{file, id};

/// How every brief begins, so that one is written over and nothing else is.
const MARK: &str = "<!-- written by cleo orchestrator brief -->";

/// Writes a brief into a file, which must be new or a brief.
pub(crate) fn write_brief(context: &Context, path: &Path, brief: &Brief) -> Result<()> {
    let path = context.surroundings.directory.join(path);
    if path.symlink_metadata().is_ok() {
        let start = file::read_start(&path, MARK.len() as u64)?;
        if start != MARK.as_bytes() {
            let message = format!(
                "{} is there and no brief; it was not changed",
                path.display()
            );
            let other = "cleo orchestrator brief --format text";
            return Err(Error::new(Code::Exists, message).fix(other));
        }
    }
    file::write_whole(&path, &brief_text(brief))
}

/// Writes what an orchestrating agent needs to begin.
pub(crate) fn start_text(start: &Start) -> String {
    let overview = &start.overview;
    head(overview, "", "") + &work(overview) + &first(overview)
}

/// Writes where everything stands.
pub(crate) fn status_text(overall: &Overall) -> String {
    let overview = &overall.overview;
    let mut text = head(overview, "", "");
    section(&mut text, "Epics", &overall.epics, |one| {
        format!("{}: {} of {} done", line(&one.task), one.done, one.total)
    });
    text += &work(overview);
    section(&mut text, "Last entries", &overall.entries, |one| {
        format!("{}: {}, {}", one.id, one.status, one.title)
    });
    text + &first(overview)
}

/// Writes a brief.
pub(crate) fn brief_text(brief: &Brief) -> String {
    let overview = &brief.overview;
    let at = format!("At {}, ", brief.at);
    let mut text = format!("{MARK}\n{}", head(overview, "Hand-over: ", &at));
    if let Some(goal) = &brief.goal {
        if !goal.description.is_empty() {
            let _ = write!(text, "\n> {}\n", goal.description);
        }
        let bullets = goal.acceptance.iter().map(|one| format!("- {one}\n"));
        let bullets: String = bullets.collect();
        if !bullets.is_empty() {
            let _ = write!(text, "\nAccepted when:\n\n{bullets}");
        }
    }
    section(&mut text, "Done", &brief.done, finished);
    section(&mut text, "Open sessions", &brief.sessions, session);
    text += &work(overview);
    section(&mut text, "Waiting", &brief.waiting, waiting);
    section(&mut text, "Set aside", &brief.held_up, |one| {
        format!("{}: {}", line(one), one.status)
    });
    section(&mut text, "Notes", &brief.notes, |note| {
        let Note { at, by, text } = &note.note;
        format!("{at} {} ({by}): {text}", note.task)
    });
    section(&mut text, "Gates", &brief.gates, |one| {
        let passed = match one.passed.is_empty() {
            true => "none".to_string(),
            false => one.passed.join(", "),
        };
        format!("{}: passed {passed}; failures {}", one.task, one.failures)
    });
    let first = &overview.recommended;
    let (action, reason, command) = (first.action, &first.reason, &first.command);
    let again = format!("cleo orchestrator start{}", overview.option());
    let _ = write!(
        text,
        "\n## Next\n\n{action}, because {reason}:\n\n```sh\n{command}\n```\n\nAfter that, and whenever in \
         doubt:\n\n```sh\n{again}\n```\n"
    );
    text
}

fn head(overview: &Overview, before: &str, at: &str) -> String {
    let title = overview.epic.as_ref().map(line);
    let title = title.unwrap_or_else(|| "all work".to_string());
    let states = overview.state.iter();
    let states: Vec<String> = states.map(|(status, n)| format!("{n} {status}")).collect();
    let standing = match states.is_empty() {
        true => "there are no tasks".to_string(),
        false => format!(
            "{} percent are done: {}",
            overview.percent,
            states.join(", ")
        ),
    };
    format!("# {before}{title}\n\n{at}{standing}.\n")
}

fn work(overview: &Overview) -> String {
    let mut text = String::new();
    section(&mut text, "Active", &overview.active, |one| {
        let holder = one.holder.iter().map(|name| format!(", held by {name}"));
        let entry = one.entry.iter();
        let entry = entry.map(|status| format!(", its entry says {status}"));
        line(&one.task) + &holder.chain(entry).collect::<String>()
    });
    section(&mut text, "Ready, most urgent first", &overview.ready, line);
    section(&mut text, "To follow", &overview.followups, |one| {
        format!("{}: {}", one.entry, one.needs.join(", "))
    });
    section(
        &mut text,
        "Expired claims",
        &overview.expired_claims,
        |one| {
            let holder = one.holder.as_deref().unwrap_or_default();
            format!("{} of {holder}, {}", one.task, one.expires)
        },
    );
    section(&mut text, "Problems", &overview.problems, String::clone);
    text
}

/// Writes a part with its list; an empty one is left out.
fn section<T>(text: &mut String, heading: &str, few: &Few<T>, row: impl Fn(&T) -> String) {
    if few.total == 0 {
        return;
    }
    let _ = write!(text, "\n## {heading}\n\n");
    for one in &few.shown {
        let _ = writeln!(text, "- {}", row(one));
    }
    if few.total > few.shown.len() {
        let _ = writeln!(text, "- and {} more", few.total - few.shown.len());
    }
}

fn line(line: &TaskView) -> String {
    format!("{} {}", line.id, line.title)
}

fn finished(done: &Finished) -> String {
    let file = done.file.iter().map(|file| format!(" ({file})"));
    let findings = done
        .key_findings
        .iter()
        .map(|finding| format!("\n  - {finding}"));
    format!(
        "{}{}",
        line(&done.task),
        file.chain(findings).collect::<String>()
    )
}

fn session(OpenSession { session: one, task }: &OpenSession) -> String {
    let name = Some(&one.name).filter(|name| !name.is_empty());
    let name = name.map(|name| format!(" {name}")).unwrap_or_default();
    let scope = one.scope.map(|scope| format!(", about {scope}"));
    let focus = task.as_ref().map(|task| format!(", now at {}", line(task)));
    let notes = one.notes.iter().map(|note| format!("\n  - {}", note.text));
    let more: String = scope.into_iter().chain(focus).chain(notes).collect();
    format!("{}{name}, led by {}{more}", one.id, one.holder)
}

fn waiting(one: &Waiting) -> String {
    let why = match (one.stuck, one.waits_for.is_empty()) {
        (true, true) => "can never start".to_string(),
        (true, false) => format!("can never start: waits for {}", id::list(&one.waits_for)),
        (false, true) => "waits for its parts".to_string(),
        (false, false) => format!("waits for {}", id::list(&one.waits_for)),
    };
    format!("{}: {why}", line(&one.task))
}

/// Writes what comes first where the answer stands on a screen.
fn first(overview: &Overview) -> String {
    let first = &overview.recommended;
    let (action, reason, command) = (first.action, &first.reason, &first.command);
    format!("\n{action}, because {reason}\nnext: {command}\n")
}
