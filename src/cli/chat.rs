//! `cleo chat`

use std::io::{IsTerminal, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::Face;
use super::screen::{Screen, Tone, count};
use crate::chat::{Pending, Turn};
use crate::config::CHAT_PENDING_TTL;
use crate::error::{Code, Error, Result};
use crate::file::{Lines, stdin_unreadable};
use crate::ops::answers::load_trusted_model;
use crate::ops::chat::{self, ChatRequest, DEFAULT};
use crate::task::rules::TEXT_MAX;

#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Every change needs your confirmation. Pending questions are stored with the conversation and
expire (setting chat.pendingTtl).

Examples of messages; `help` shows them with your own ids and titles. Put a text in quotes, or
write one capitalized word after `to`, `=` or `:`. A configured model interprets all other
messages.

  show my design for client 6
  change button radius to full for client 6
  list components for client 6
  change the title of my component called \"Home\" to \"Something new\" for client 6
  update component 101 description to \"Something new\" for client 6
  add \"premium\" security group to component 101 for client 6
  add a card with title \"News\" for client 6
  delete component 103 for client 6

Examples:
  cleo chat seed examples/chat/seed.json               something to talk about
  cleo chat --message 'update component 101 title to Welcome for client 6'
  cleo chat --message yes
  cleo chat                                            talk, one message a line, until /quit"
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,

    /// Send this message and exit [default: read one message per line from standard input]
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    message: Option<String>,

    /// Conversation to use; each has its own pending questions
    #[arg(long, short, value_name = "ID", default_value = DEFAULT)]
    conversation: String,
}

#[derive(Subcommand)]
enum Command {
    Seed(SeedArguments),
}

pub(super) fn dispatch(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match arguments.command {
        Some(Command::Seed(arguments)) => face.run("chat.seed", arguments, seed),
        None => face.run("chat", arguments, run),
    }
}

fn run(face: &mut Face<'_>, arguments: Arguments) -> Result<ExitCode> {
    match &arguments.message {
        Some(message) => say(face, message, &arguments.conversation, &mut None),
        None => talk(face, &arguments.conversation),
    }
}

/// Says a message; `shown` is what waited when the caller was answered last.
fn say(
    face: &mut Face<'_>,
    message: &str,
    conversation: &str,
    shown: &mut Option<Pending>,
) -> Result<ExitCode> {
    let said = ChatRequest {
        message,
        conversation,
        pending_ttl: face.settings.number(CHAT_PENDING_TTL).unwrap_or(0),
        remarks: &[],
        pending: shown.as_ref(),
    };
    let surroundings = face.surroundings()?;
    let model = load_trusted_model(&surroundings)?;
    let turn = chat::answer_message(&surroundings, &said, model.as_ref())?;
    shown.clone_from(&turn.pending);
    face.reply(&turn, &[], |screen| render(screen, &turn))
}

/// Answers line by line until there are no more. A faulty line does not end the talk; the first
/// fault decides how the command ends. Only a person may end it without a word.
fn talk(face: &mut Face<'_>, conversation: &str) -> Result<ExitCode> {
    // Without a workspace no line can be answered.
    face.surroundings()?.workspace()?;
    let is_person = stdin().is_terminal();
    let mut lines = Lines::new(stdin().lock(), TEXT_MAX);
    let (mut ended, mut is_heard, mut shown) = (ExitCode::SUCCESS, is_person, None);
    loop {
        if is_person {
            face.output.eprint("you> ");
        }
        let line = lines.next_line().map_err(stdin_unreadable)?;
        let Some(line) = line else {
            return is_heard.then_some(ended).ok_or_else(|| {
                let message = "no message: use `--message` or standard input";
                Error::new(Code::InputInvalid, message)
            });
        };
        let message = match line.bytes.map(|bytes| std::str::from_utf8(bytes)) {
            Some(Ok(text)) if text.trim().is_empty() => continue,
            Some(Ok(text)) if text.trim() == "/quit" => return Ok(ended),
            Some(Ok(text)) => Ok(text),
            Some(Err(_)) => Err(line_error(line.number, "is not UTF-8")),
            None => Err(line_error(
                line.number,
                &format!("has more than {TEXT_MAX} bytes"),
            )),
        };
        is_heard = true;
        let said = message.and_then(|message| say(face, message, conversation, &mut shown));
        if let Err(error) = said {
            let code = face.output.error(face.name, error);
            if ended == ExitCode::SUCCESS {
                ended = code;
            }
        }
    }
}

fn line_error(number: usize, what: &str) -> Error {
    Error::new(Code::InputInvalid, format!("line {number} {what}"))
}

fn render(screen: &mut Screen, turn: &Turn) {
    screen.line(Tone::Accent, format!("{}:", turn.agent));
    for line in turn.reply.lines() {
        screen.line(Tone::Plain, format!("  {line}"));
    }
}

/// Load designs, components and related data from a JSON file, replacing items with the same id
#[derive(Args)]
#[command(after_help = "\
Examples:
  cleo chat seed examples/chat/seed.json
  cleo chat seed - < seed.json")]
pub(in crate::cli) struct SeedArguments {
    /// JSON file; - reads standard input
    file: PathBuf,
}

fn seed(face: &mut Face<'_>, arguments: SeedArguments) -> Result<ExitCode> {
    let seeded = chat::seed(&face.surroundings()?, &arguments.file)?;
    face.reply(&seeded, &[], |screen| {
        let counts = [
            count(seeded.clients, "client", "clients"),
            count(seeded.designs, "design", "designs"),
            count(seeded.components, "component", "components"),
            count(seeded.security_groups, "security group", "security groups"),
            count(seeded.questions, "question", "questions"),
            count(seeded.answers, "answer", "answers"),
            count(seeded.media, "file", "files"),
        ];
        screen.pair(Tone::Good, "Loaded ", counts.join(", "));
    })
}
