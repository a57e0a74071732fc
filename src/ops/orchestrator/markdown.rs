//! A brief as Markdown, for people and for agents that begin anew.

use std::fmt::Write;
use std::path::Path;

use super::brief::{Brief, Finished, OpenSession, Waiting};
use super::few::Few;
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
    file::write_whole(&path, &markdown(brief))
}

/// Writes a brief as Markdown.
pub(crate) fn markdown(brief: &Brief) -> String {
    let (mut text, overview) = (format!("{MARK}\n"), &brief.overview);
    head(&mut text, brief);
    section(&mut text, "Done", &brief.done, finished);
    section(&mut text, "Open sessions", &brief.sessions, session);
    section(&mut text, "Active", &overview.standing.active, |one| {
        let holder = one.holder.iter().map(|name| format!(", held by {name}"));
        let entry = one
            .entry
            .iter()
            .map(|status| format!(", its entry says {status}"));
        let more: String = holder.chain(entry).collect();
        format!("{}{more}", line(&one.task))
    });
    section(&mut text, "Ready, most urgent first", &overview.ready, line);
    section(&mut text, "Waiting", &brief.waiting, waiting);
    section(&mut text, "Set aside", &brief.held_up, |one| {
        format!("{}: {}", line(one), one.status)
    });
    section(&mut text, "To follow", &overview.followups, |one| {
        format!("{}: {}", one.entry, one.needs.join(", "))
    });
    section(&mut text, "Notes", &brief.notes, |note| {
        let Note { at, by, text } = &note.note;
        format!("{at} {} ({by}): {text}", note.task)
    });
    section(&mut text, "Gates", &brief.gates, |one| {
        let passed = if one.passed.is_empty() {
            "none".to_string()
        } else {
            one.passed.join(", ")
        };
        format!("{}: passed {passed}; failures {}", one.task, one.failures)
    });
    next(&mut text, brief);
    text
}

fn head(text: &mut String, brief: &Brief) {
    let standing = &brief.overview.standing;
    let title = standing.epic.as_ref().map(line);
    let title = title.unwrap_or_else(|| "all work".to_string());
    let states: Vec<String> = standing
        .state
        .iter()
        .map(|(status, n)| format!("{n} {status}"))
        .collect();
    let standing = match states.is_empty() {
        true => "there are no tasks".to_string(),
        false => format!(
            "{} percent are done: {}",
            standing.percent,
            states.join(", ")
        ),
    };
    let _ = writeln!(text, "# Hand-over: {title}\n\nAt {}, {standing}.", brief.at);
    if let Some(goal) = &brief.goal {
        if !goal.description.is_empty() {
            let _ = write!(text, "\n> {}\n", goal.description);
        }
        let bullets: String = goal
            .acceptance
            .iter()
            .map(|one| format!("- {one}\n"))
            .collect();
        if !bullets.is_empty() {
            let _ = write!(text, "\nAccepted when:\n\n{bullets}");
        }
    }
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

fn next(text: &mut String, brief: &Brief) {
    let scope = brief
        .overview
        .standing
        .epic
        .as_ref()
        .map(|epic| format!(" --epic {}", epic.id))
        .unwrap_or_default();
    let recommended = &brief.overview.recommended;
    let _ = write!(
        text,
        "\n## Next\n\n{}, because {}:\n\n```sh\n{}\n```\n\nAfter that, and whenever in doubt:\n\n\
         ```sh\ncleo orchestrator start{scope}\n```\n",
        recommended.action, recommended.reason, recommended.command
    );
}
