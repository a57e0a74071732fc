//! `cleo session …`

mod end;
mod list;
mod note;
mod resume;
pub(super) mod show;
mod start;
mod status;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::screen::{Screen, Tone};
use crate::error::Result;
use crate::ops::sessions::Kept;
use crate::session::{Session, SessionId, SessionStatus};

#[derive(Subcommand)]
pub(super) enum Command {
    Start(start::Arguments),
    Status(status::Arguments),
    Note(note::Arguments),
    End(end::Arguments),
    Resume(resume::Arguments),
    List(list::Arguments),
    Show(show::Arguments),
}

// Which session. A doc comment would become that of the commands that take it.
#[derive(Args)]
pub(super) struct SessionOption {
    /// Session to use (or CLEO_SESSION); the open one that you lead unless told
    #[arg(long, value_name = "SESSION")]
    pub(super) session: Option<SessionId>,
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Start(arguments) => face.run("session.start", arguments, start::run),
        Command::Status(arguments) => face.run("session.status", arguments, status::run),
        Command::Note(arguments) => face.run("session.note", arguments, note::run),
        Command::End(arguments) => face.run("session.end", arguments, end::run),
        Command::Resume(arguments) => face.run("session.resume", arguments, resume::run),
        Command::List(arguments) => face.run("session.list", arguments, list::run),
        Command::Show(arguments) => face.run("session.show", arguments, show::run),
    }
}

fn kept_reply(face: &mut Face<'_>, verb: &str, kept: &Kept) -> Result<ExitCode> {
    face.reply(kept, &[], |screen| {
        let (tone, word) = match kept.changed {
            true => (Tone::Good, verb),
            false => (Tone::Dim, "Unchanged"),
        };
        screen.say(tone, word).say(Tone::Plain, " ");
        session_line(screen, &kept.session);
    })
}

/// Writes a session on one line: id, status, name.
pub(super) fn session_line(screen: &mut Screen, session: &Session) {
    let tone = match session.status {
        SessionStatus::Open => Tone::Accent,
        SessionStatus::Ended => Tone::Dim,
    };
    screen.say(Tone::Strong, session.id).say(Tone::Plain, " ");
    screen
        .say(tone, session.status)
        .line(Tone::Plain, format!("  {}", session.name).trim_end());
}

fn session_fields(screen: &mut Screen, session: &Session) {
    session_line(screen, session);
    let scope = session.scope.map(|id| id.to_string());
    screen
        .field("scope", scope.unwrap_or_else(|| "everything".to_string()))
        .field("led by", &session.holder)
        .field("started", &session.started_at)
        .field("ended", session.ended_at.as_deref().unwrap_or_default());
}

fn notes(screen: &mut Screen, session: &Session) {
    let lines = session.notes.iter();
    let lines: Vec<String> = lines
        .map(|note| format!("- {} {}: {}", note.at, note.by, note.text))
        .collect();
    screen.section("Notes", &lines.join("\n"));
}
