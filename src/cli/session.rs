//! `cleo session …` and `cleo focus`

use std::process::ExitCode;

use clap::Args;

use super::Face;
use super::phase::counts_text;
use super::screen::{Screen, Tone, dim, plain, strong};
use super::show::task_line;
use crate::error::Result;
use crate::id::{self, TaskId};
use crate::ops::api;
use crate::ops::sessions::{Focus, Moved, Sessions, Standing};
use crate::session::{
    EndSession, OneSession, ResumeSession, Session, SessionFilter, SetFocus, StartSession,
    WhichSession,
};

commands! {
    pub(super) (face, it)
    /// Open a session
    #[command(after_help = "\
Examples:
  cleo session start --scope T1 --name 'Login'
  cleo session start

Prompts of tasks in the scope name the session. A scope that overlaps another session is refused
(exit 32), except for a session that covers all tasks: a task belongs to the open session with the
nearest scope.")]
    Start(StartSession) => face.call(&api::START_SESSION, it, render("Started"));
    /// Show a session with its notes, tasks, focus, claims and next task
    #[command(after_help = "Examples:\n  cleo session status\n  cleo session status --session S1")]
    Status(OneSession) => face.call(&api::SESSION, it, render_status);
    /// End a session
    #[command(after_help = "\
Examples:
  cleo session end --note 'T4 waits for the certificate'
  cleo session end S1")]
    End(EndSession) => face.call(&api::END_SESSION, it, render("Ended"));
    /// Reopen an ended session, with you as its owner
    #[command(after_help = "Examples:\n  cleo session resume S1")]
    Resume(ResumeSession) => face.call(&api::RESUME_SESSION, it, render("Resumed"));
    /// List sessions
    #[command(after_help = "Examples:\n  cleo session list\n  cleo session list --status open")]
    List(SessionFilter) => face.call(&api::SESSIONS, it, render_list);
}

#[derive(Args)]
#[command(after_help = "Examples:\n  cleo focus\n  cleo focus T3\n  cleo focus --clear")]
pub(super) struct FocusArguments {
    /// Task in the scope of the session
    #[arg(conflicts_with = "clear")]
    task: Option<TaskId>,

    /// Clear the focus
    #[arg(long)]
    clear: bool,

    #[command(flatten)]
    which: WhichSession,
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
    let head = ["ID", "STATUS", "SCOPE", "LED BY", "STARTED", "NAME"];
    let rows = listed.sessions.iter().map(|session| {
        [
            strong(session.id),
            plain(session.status),
            plain(scope_text(session)),
            plain(&session.holder),
            dim(&session.started_at),
            plain(&session.name),
        ]
    });
    screen.list("no sessions", &head, rows);
}

fn scope_text(session: &Session) -> String {
    let scope = session.scope.map(|id| id.to_string());
    scope.unwrap_or_else(|| "everything".to_string())
}

fn render(verb: &str) -> impl FnOnce(&mut Screen, &Moved) {
    move |screen, moved| {
        let session = &moved.session;
        screen
            .outcome(verb, moved.changed)
            .headline(session.id, session.status, &session.name);
    }
}

fn render_status(screen: &mut Screen, standing: &Standing) {
    let session = &standing.session;
    let claimed: Vec<_> = standing.claims.iter().map(|claim| claim.task).collect();
    let focus = standing.focus.as_ref();
    let focus = focus.map(|task| format!("{} {}", task.id, task.title));
    let notes = session.notes.iter();
    let notes: Vec<String> = notes
        .map(|note| format!("- {} {}: {}", note.at, note.by, note.text))
        .collect();
    screen
        .headline(session.id, session.status, &session.name)
        .field("scope", scope_text(session))
        .field("led by", &session.holder)
        .time("started", &session.started_at)
        .option("ended", session.ended_at.as_ref())
        .field("tasks", counts_text(&standing.counts))
        .option("focus", focus)
        .field("claimed", id::list(&claimed))
        .option("next", standing.next)
        .section("Notes", &notes.join("\n"));
}
