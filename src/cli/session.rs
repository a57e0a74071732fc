//! `cleo session …` and `cleo focus`

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::phase::counts_text;
use super::screen::{Cell, Screen, Tone};
use super::show::task_line;
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::sessions::{self, Moved, Standing};
use crate::session::{Session, SessionId, SessionStatus};

#[derive(Subcommand)]
pub(super) enum Command {
    Start(StartArguments),
    Status(StatusArguments),
    End(EndArguments),
    Resume(ResumeArguments),
    List(ListArguments),
}

/// Open a session
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo session start --scope T1 --name 'Login'
  cleo session start

Prompts for tasks in its scope tell the agent that it works inside the session. A scope that
overlaps that of somebody else's session is refused (exit 32). A session about everything stands
beside all others: a task belongs to the open session with the nearest scope.")]
pub(super) struct StartArguments {
    /// The task that it is about, with all below it; by default everything
    #[arg(long, value_name = "TASK")]
    scope: Option<TaskId>,

    /// What it is for, in a few words
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,

    /// Open it although somebody else's session is about the same tasks
    #[arg(long)]
    force: bool,
}

/// Show a session with its notes, tasks, focus, claims and next task
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo session status\n  cleo session status --session S1")]
pub(super) struct StatusArguments {
    #[command(flatten)]
    which: SessionOption,
}

/// End a session
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo session end --note 'T4 waits for the certificate'
  cleo session end S1")]
pub(super) struct EndArguments {
    /// The session; by default yours (or CLEO_SESSION)
    session: Option<SessionId>,

    /// Note for whoever resumes it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,

    /// End it although somebody else leads it, or its leader holds tasks of its scope
    #[arg(long)]
    force: bool,
}

/// Open an ended session again, with you in the lead
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo session resume S1")]
pub(super) struct ResumeArguments {
    /// The session
    session: SessionId,

    /// Open it although somebody else's session is about the same tasks by now
    #[arg(long)]
    force: bool,
}

/// List sessions
#[derive(Args)]
#[command(after_help = "Examples:\n  cleo session list\n  cleo session list --status open")]
pub(super) struct ListArguments {
    /// Only sessions with this status: open or ended
    #[arg(long, short, value_name = "STATUS")]
    status: Option<SessionStatus>,
}

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo focus\n  cleo focus T3\n  cleo focus --clear")]
pub(super) struct FocusArguments {
    /// The task; it must be in the scope of the session
    #[arg(conflicts_with = "clear")]
    task: Option<TaskId>,

    /// Focus on no task
    #[arg(long)]
    clear: bool,

    #[command(flatten)]
    which: SessionOption,
}

// Which session. A doc comment would become the help of `focus`.
#[derive(Args)]
struct SessionOption {
    /// Session to use (or CLEO_SESSION); by default the open one that you lead
    #[arg(long, value_name = "SESSION")]
    session: Option<SessionId>,
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Start(arguments) => face.run("session.start", arguments, |face, arguments| {
            let StartArguments { scope, name, force } = arguments;
            let moved = sessions::start(&mut face.context()?, scope, name, force)?;
            reply(face, "Started", &moved)
        }),
        Command::End(arguments) => face.run("session.end", arguments, |face, arguments| {
            let EndArguments {
                session,
                note,
                force,
            } = arguments;
            let moved = sessions::end(&mut face.context()?, session, note, force)?;
            reply(face, "Ended", &moved)
        }),
        Command::Resume(arguments) => face.run("session.resume", arguments, |face, arguments| {
            let ResumeArguments { session, force } = arguments;
            let moved = sessions::resume(&mut face.context()?, session, force)?;
            reply(face, "Resumed", &moved)
        }),
        Command::Status(arguments) => face.run("session.status", arguments, |face, arguments| {
            let standing = sessions::status(&mut face.context()?, arguments.which.session)?;
            face.reply(&standing, &[], |screen| show_status(screen, &standing))
        }),
        Command::List(arguments) => face.run("session.list", arguments, list),
    }
}

pub(super) fn focus(face: &mut Face<'_>, arguments: FocusArguments) -> Result<ExitCode> {
    let (mut context, id) = (face.context()?, arguments.which.session);
    let result = match arguments.task.is_some() || arguments.clear {
        true => sessions::set_focus(&mut context, id, arguments.task)?,
        false => sessions::focus(&mut context, id)?,
    };
    face.reply(&result, &[], |screen| match &result.focus {
        Some(task) => task_line(screen, task),
        None => {
            screen.line(Tone::Dim, "no focus");
        }
    })
}

fn list(face: &mut Face<'_>, arguments: ListArguments) -> Result<ExitCode> {
    let listed = sessions::list(&mut face.context()?, arguments.status)?;
    face.reply(&listed, &[], |screen| {
        if listed.sessions.is_empty() {
            screen.line(Tone::Dim, "no sessions");
            return;
        }
        let head = ["ID", "STATUS", "SCOPE", "LED BY", "STARTED", "NAME"];
        screen.table(&head, listed.sessions.iter().map(row).collect());
    })
}

fn row(session: &Session) -> Vec<Cell> {
    vec![
        (Tone::Strong, session.id.to_string()),
        (Tone::Plain, session.status.to_string()),
        (Tone::Plain, scope_text(session)),
        (Tone::Plain, session.holder.clone()),
        (Tone::Dim, session.started_at.clone()),
        (Tone::Plain, session.name.clone()),
    ]
}

fn scope_text(session: &Session) -> String {
    let scope = session.scope.map(|id| id.to_string());
    scope.unwrap_or_else(|| "everything".to_string())
}

fn reply(face: &mut Face<'_>, verb: &str, moved: &Moved) -> Result<ExitCode> {
    face.reply(moved, &[], |screen| {
        let (tone, word) = match moved.changed {
            true => (Tone::Good, verb),
            false => (Tone::Dim, "Unchanged"),
        };
        screen.say(tone, word).say(Tone::Plain, " ");
        session_line(screen, &moved.session);
    })
}

fn session_line(screen: &mut Screen, session: &Session) {
    let tone = match session.status {
        SessionStatus::Open => Tone::Accent,
        SessionStatus::Ended => Tone::Dim,
    };
    screen
        .say(Tone::Strong, session.id)
        .say(Tone::Plain, " ")
        .say(tone, session.status)
        .line(Tone::Plain, format!("  {}", session.name).trim_end());
}

fn show_status(screen: &mut Screen, standing: &Standing) {
    let session = &standing.session;
    let claimed: Vec<_> = standing.claims.iter().map(|claim| claim.task).collect();
    let focus = standing.focus.as_ref();
    let focus = focus.map(|task| format!("{} {}", task.id, task.title));
    let next = standing.next.map(|id| id.to_string());
    let notes = session.notes.iter();
    let notes: Vec<String> = notes
        .map(|note| format!("- {} {}: {}", note.at, note.by, note.text))
        .collect();
    session_line(screen, session);
    screen
        .field("scope", scope_text(session))
        .field("led by", &session.holder)
        .field("started", &session.started_at)
        .field("ended", session.ended_at.as_deref().unwrap_or_default())
        .field("tasks", counts_text(&standing.counts))
        .field("focus", focus.unwrap_or_default())
        .field("claimed", id::list(&claimed))
        .field("next", next.unwrap_or_default())
        .section("Notes", &notes.join("\n"));
}
