//! `cleo session …` and `cleo focus`

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::phase::counts_text;
use super::screen::{Screen, Tone};
use super::show::task_line;
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::api;
use crate::ops::sessions::{Focus, Moved, Sessions, Standing};
use crate::session::{
    EndSession, OneSession, ResumeSession, Session, SessionFilter, SessionStatus, SetFocus,
    StartSession, WhichSession,
};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Open a session
    #[command(after_help = "\
Examples:
  cleo session start --scope T1 --name 'Login'
  cleo session start

Prompts for tasks in its scope tell the agent that it works inside the session. A scope that
overlaps that of somebody else's session is refused (exit 32). A session about everything stands
beside all others: a task belongs to the open session with the nearest scope.")]
    Start(StartSession),
    /// Show a session with its notes, tasks, focus, claims and next task
    #[command(after_help = "Examples:\n  cleo session status\n  cleo session status --session S1")]
    Status(OneSession),
    /// End a session
    #[command(after_help = "\
Examples:
  cleo session end --note 'T4 waits for the certificate'
  cleo session end S1")]
    End(EndSession),
    /// Open an ended session again, with you in the lead
    #[command(after_help = "Examples:\n  cleo session resume S1")]
    Resume(ResumeSession),
    /// List sessions
    #[command(after_help = "Examples:\n  cleo session list\n  cleo session list --status open")]
    List(SessionFilter),
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
    which: WhichSession,
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Start(request) => face.call(&api::START_SESSION, request, render("Started")),
        Command::End(request) => face.call(&api::END_SESSION, request, render("Ended")),
        Command::Resume(request) => face.call(&api::RESUME_SESSION, request, render("Resumed")),
        Command::Status(which) => face.call(&api::SESSION, which, render_status),
        Command::List(filter) => face.call(&api::SESSIONS, filter, render_list),
    }
}

pub(super) fn focus(face: &mut Face<'_>, arguments: FocusArguments) -> Result<ExitCode> {
    let render = |screen: &mut Screen, focus: &Focus| match &focus.focus {
        Some(task) => task_line(screen, task),
        None => drop(screen.line(Tone::Dim, "no focus")),
    };
    let (session, task) = (arguments.which.session, arguments.task);
    match task.is_some() || arguments.clear {
        true => face.call(&api::SET_FOCUS, SetFocus { session, task }, render),
        false => face.call(&api::FOCUS, arguments.which, render),
    }
}

fn render_list(screen: &mut Screen, listed: &Sessions) {
    if listed.sessions.is_empty() {
        screen.line(Tone::Dim, "no sessions");
        return;
    }
    let head = ["ID", "STATUS", "SCOPE", "LED BY", "STARTED", "NAME"];
    let rows = listed.sessions.iter().map(|session| {
        vec![
            (Tone::Strong, session.id.to_string()),
            (Tone::Plain, session.status.to_string()),
            (Tone::Plain, scope_text(session)),
            (Tone::Plain, session.holder.clone()),
            (Tone::Dim, session.started_at.clone()),
            (Tone::Plain, session.name.clone()),
        ]
    });
    screen.table(&head, rows.collect());
}

fn scope_text(session: &Session) -> String {
    let scope = session.scope.map(|id| id.to_string());
    scope.unwrap_or_else(|| "everything".to_string())
}

fn render(verb: &str) -> impl FnOnce(&mut Screen, &Moved) {
    move |screen, moved| {
        screen.outcome(verb, moved.changed);
        session_line(screen, &moved.session);
    }
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

fn render_status(screen: &mut Screen, standing: &Standing) {
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
