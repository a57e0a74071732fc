//! `cleo trust`

use std::io::{BufRead, IsTerminal, stdin};
use std::process::ExitCode;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::Face;
use super::screen::{Screen, Tone, clean, count, status};
use crate::error::Result;
use crate::ops::Notes;
use crate::ops::review::{self, Review};
use crate::ops::trust::Standing;

#[derive(Args)]
#[command(after_help = "\
Commands of criteria and gates, stored runs, workers, model URLs, runners set by the project, and
skills and protocols that replace built-in ones may have come with a repository, an import or a
batch. None of them is used until you trust it, on this machine, for this folder, and exactly as
it is now. Programs that a command starts are not checked. What you type yourself (add
--acceptance, run --command, verify --run, agents register) is trusted at once. Without a terminal
and without --yes, nothing is trusted, and the exit code is 82 if something is untrusted.

Examples:
  cleo trust                  review, then answer y or n
  cleo trust --list
  cleo trust --yes            in a script
  cleo trust summarizer       only the worker of this name
  cleo trust --remove         remove all trust in this folder")]
pub(super) struct Arguments {
    /// Only what has this name, such as that of a worker, or this text in it
    #[arg(value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    only: Option<String>,

    /// Trust everything shown
    #[arg(long, short, conflicts_with_all = ["list", "remove"])]
    yes: bool,

    /// Only show the list
    #[arg(long, visible_alias = "dry-run", conflicts_with = "remove")]
    list: bool,

    /// Remove trust in it
    #[arg(long)]
    remove: bool,
}

pub(super) fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    let (surroundings, mut notes) = (face.surroundings()?, Notes::default());
    let only = arguments.only.as_deref();
    if arguments.remove {
        let revoked = review::revoke(&surroundings, &mut notes, face.settings, only)?;
        return face.answer(&revoked, notes, render);
    }
    let mut review = review::review(&surroundings, &mut notes, face.settings, only)?;
    if !arguments.list && review.untrusted > 0 {
        match arguments.yes || is_accepted_by_user(face, &review) {
            true => review = review::accept(&surroundings, review)?,
            false => notes.failure = review.error(&surroundings, only),
        }
    }
    face.answer(&review, notes, render)
}

/// Shows what is not trusted to a person, and asks. Needs a terminal.
fn is_accepted_by_user(face: &mut Face<'_>, review: &Review) -> bool {
    if !stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return false;
    }
    let mut question = String::new();
    for one in &review.items {
        if one.standing != Standing::Trusted {
            let (what, origin) = (clean(&one.item.what), clean(&one.item.origin));
            question += &format!("{what}  ({origin})\n");
        }
    }
    let n = count(review.untrusted, "thing", "things");
    face.output.eprint(&format!("{question}trust {n}? [y/N] "));
    let mut line = String::new();
    let read = stdin().lock().read_line(&mut line);
    read.is_ok() && matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

fn render(screen: &mut Screen, review: &Review) {
    if review.total == 0 {
        screen.line(Tone::Dim, "nothing here would run or be called");
        return;
    }
    for one in &review.items {
        let (tone, word) = status(one.standing);
        screen
            .say(tone, word)
            .say(Tone::Plain, format!("  {}", one.item.what))
            .line(Tone::Dim, format!("  ({})", one.item.origin));
    }
    let total = count(review.total, "thing", "things");
    let untrusted = format!("{total}, {} not trusted", review.untrusted);
    screen.line(Tone::Dim, untrusted);
}
