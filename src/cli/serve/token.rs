//! `cleo serve token …`

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::cli::Face;
use crate::cli::screen::{Cell, Screen, Tone};
use crate::error::Result;
use crate::ops::tokens::{self, Scope, Token};

#[derive(Subcommand)]
pub(super) enum Command {
    /// Make a token; it is printed once and kept nowhere
    Create(Create),
    /// List the tokens, without what makes them such
    List(List),
    /// Take a token away; whoever calls with it is refused from now on
    Revoke(Revoke),
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo serve token create                             for you, for everything
  cleo serve token create --user ann --scope write --expires 30d")]
pub(super) struct Create {
    /// Who calls with it: executions and conversations are this user's; you unless told
    #[arg(long, value_name = "NAME")]
    user: Option<String>,

    /// What it allows: read, write, or admin, which also sees what is others'
    #[arg(long, value_name = "SCOPE", default_value = "write")]
    scope: Scope,

    /// How long it holds, such as 12h or 30d; until it is revoked unless told
    #[arg(long, value_name = "TIME", value_parser = lasts)]
    expires: Option<u64>,
}

#[derive(Args)]
pub(super) struct List {}

#[derive(Args)]
pub(super) struct Revoke {
    /// The token, by the id that `cleo serve token list` shows
    token: String,
}

pub(super) fn dispatch(face: &mut Face<'_>, command: Command) -> Result<ExitCode> {
    match command {
        Command::Create(arguments) => face.run("serve.token.create", arguments, create),
        Command::List(arguments) => face.run("serve.token.list", arguments, list),
        Command::Revoke(arguments) => face.run("serve.token.revoke", arguments, revoke),
    }
}

/// Reads a time such as `90s`, `12h`, `30d` or `4w`, in seconds.
fn lasts(text: &str) -> std::result::Result<u64, String> {
    let wrong = || format!("`{text}` is no time such as 12h or 30d");
    let unit = match text.chars().last() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3_600,
        Some('d') => 86_400,
        Some('w') => 7 * 86_400,
        _ => return Err(wrong()),
    };
    let count: u32 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    Some(u64::from(count) * unit)
        .filter(|seconds| (1..=100 * 366 * 86_400).contains(seconds))
        .ok_or_else(wrong)
}

fn create(face: &mut Face<'_>, arguments: Create) -> Result<ExitCode> {
    let surroundings = face.surroundings()?;
    let user = arguments.user.as_deref().unwrap_or(&surroundings.actor);
    let created = tokens::create(&surroundings, user, arguments.scope, arguments.expires)?;
    face.reply(&created, &[], |screen| {
        screen.line(Tone::Strong, &created.secret);
        screen.line(
            Tone::Dim,
            "It is shown this once. Callers send it as `Authorization: Bearer …`.",
        );
        headline(screen, &created.token);
    })
}

fn list(face: &mut Face<'_>, _: List) -> Result<ExitCode> {
    let listed = tokens::list(&face.surroundings()?)?;
    face.reply(&listed, &[], |screen| {
        if listed.total == 0 {
            screen.line(Tone::Dim, "no tokens");
            return;
        }
        let head = ["TOKEN", "USER", "SCOPE", "MADE", "ENDS"];
        screen.table(&head, listed.tokens.iter().map(row).collect());
    })
}

fn revoke(face: &mut Face<'_>, arguments: Revoke) -> Result<ExitCode> {
    let revoked = tokens::revoke(&face.surroundings()?, &arguments.token)?;
    face.reply(&revoked, &[], |screen| {
        screen.say(Tone::Good, "Revoked ");
        headline(screen, &revoked.token);
    })
}

fn headline(screen: &mut Screen, token: &Token) {
    let ends = token.expires_at.as_deref().unwrap_or("when it is revoked");
    screen.say(Tone::Strong, &token.id).line(
        Tone::Plain,
        format!("  {}  {}  ends {ends}", token.user, token.scope),
    );
}

fn row(token: &Token) -> Vec<Cell> {
    vec![
        (Tone::Strong, token.id.clone()),
        (Tone::Plain, token.user.clone()),
        (Tone::Plain, token.scope.to_string()),
        (Tone::Dim, token.created_at.clone()),
        (Tone::Dim, token.expires_at.clone().unwrap_or_default()),
    ]
}
