//! `cleo route`

use std::io::{BufReader, stdin};
use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::agent::{MESSAGE_MAX, SUPERVISOR};
use crate::cli::Face;
use crate::cli::screen::{Cell, Screen, Tone, count};
use crate::config::{ROUTING_MATCH, Settings};
use crate::error::{Code, Error, Result};
use crate::file::{Lines, stdin_unreadable};
use crate::ops::route::{Options, Router};
use crate::route::{Candidate, Decision, Match, Query};

/// Longest line that is read, in bytes: room for a message of which JSON escapes every character.
const LINE_MAX: usize = 6 * MESSAGE_MAX + 4_096;

/// How much of standard input is read at once, in bytes.
const CHUNK: usize = 1 << 16;

#[derive(Args)]
#[command(after_help = "\
Score: one point for each word of the message (of three or more characters) that is in the
objective, name, description or tags of the agent, and two for each tag in the message; the words
of a tag must be next to each other. In a tie the agent listed first wins. If no agent scores, the
result is `finalize`.

Examples:
  cleo route 'Help me design a creative layout for my blog.' --explain
  cleo route 'Help me design a layout' --agent peter-logical
  cleo route 'Check the invoice' --agents agents.yaml
  cleo route --stdin < messages.txt")]
pub(in crate::cli) struct Arguments {
    /// The message
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin")]
    message: Option<String>,

    /// Prefer this agent, if it is active and not a supervisor
    #[arg(long = "agent", value_name = "AGENT")]
    requested_agent: Option<String>,

    /// Show all candidates with the parts of their score
    #[arg(long)]
    explain: bool,

    /// Use only the agents in this file, at most 16 MiB: a JSON array, JSON lines or a YAML list
    #[arg(long, value_name = "FILE")]
    agents: Option<PathBuf>,

    /// Read one message per line, as text or {"message":…,"agent":…}, and print one result per line
    /// (exit 81 if some are invalid)
    #[arg(long)]
    stdin: bool,

    /// Also match parts of words
    #[arg(long)]
    substring: bool,

    /// Maximum number of candidates
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

pub(in crate::cli) fn run(face: &mut Face<'_>, mut arguments: Arguments) -> Result<ExitCode> {
    let is_twice = |file: &PathBuf| arguments.stdin && file.as_os_str() == "-";
    if arguments.agents.as_ref().is_some_and(is_twice) {
        let message = "agents and messages cannot both come from standard input";
        return Err(Error::new(Code::Usage, message));
    }
    let Some(message) = arguments.message.take() else {
        return stream(face, &arguments);
    };
    let query = Query::new(message, arguments.requested_agent.clone())?;
    let router = Router::open(
        &face.surroundings()?,
        options(&arguments, face.settings, true),
        Some(&query.message),
    )?;
    // The program ends with this answer: to free each word of many agents would take a tenth of its time.
    let router = ManuallyDrop::new(router);
    let routed = router.route(&query);
    face.reply(&routed, &router.warnings, |screen| {
        render(screen, &routed.decision, arguments.explain);
    })
}

fn options(arguments: &Arguments, settings: &Settings, explain: bool) -> Options {
    Options {
        agents: arguments.agents.clone(),
        by: match arguments.substring {
            true => Match::Substring,
            false => match_of(settings),
        },
        explain: explain.then_some(arguments.limit),
    }
}

pub(in crate::cli) fn match_of(settings: &Settings) -> Match {
    match settings.text(ROUTING_MATCH).as_deref() {
        Some("substring") => Match::Substring,
        _ => Match::Token,
    }
}

fn render(screen: &mut Screen, decision: &Decision<'_>, explain: bool) {
    let tone = if decision.is_agent() {
        Tone::Accent
    } else {
        Tone::Warn
    };
    screen
        .say(Tone::Dim, format!("{SUPERVISOR} → "))
        .say(tone, decision.agent)
        .line(Tone::Plain, format!("  {}", decision.reason));
    if explain {
        render_parts(screen, decision);
    }
}

fn render_parts(screen: &mut Screen, decision: &Decision<'_>) {
    let candidates = decision.candidates.as_deref().unwrap_or_default();
    let winner = candidates.iter().find(|one| one.id == decision.agent);
    render_words(screen, decision, winner);
    match (decision.runner_up, decision.margin) {
        (Some(second), Some(margin)) => screen.field(
            "lead",
            format!("{margin} over {} with {}", second.id, second.score),
        ),
        (None, Some(margin)) if margin > 0 => {
            screen.field("lead", format!("{margin} over all others"))
        }
        _ => screen,
    };
    let rows = candidates
        .iter()
        .map(|one| row(one, one.id == decision.agent));
    let head = ["AGENT", "SCORE", "BASE", "TAGS", "WORDS", "TAGS NAMED"];
    screen.rows(&head, rows);
    let left = decision.total - candidates.len();
    if left > 0 {
        let more = count(left, "more candidate", "more candidates");
        screen.line(Tone::Dim, format!("{more}; see them with --limit"));
    }
}

fn render_words(screen: &mut Screen, decision: &Decision<'_>, winner: Option<&Candidate<'_>>) {
    if decision.terms.is_empty() {
        return;
    }
    screen.say(Tone::Dim, format!("{:>14} ", "words"));
    for term in &decision.terms {
        let is_won = winner.is_some_and(|winner| winner.matched_terms.contains(term));
        match is_won {
            true => screen.say(Tone::Good, format!(" [{term}]")),
            false => screen.say(Tone::Plain, format!(" {term}")),
        };
    }
    screen.line(Tone::Plain, "");
}

fn row(one: &Candidate<'_>, is_winner: bool) -> [Cell; 6] {
    let (name, words) = match is_winner {
        true => (Tone::Accent, Tone::Good),
        false if one.score == 0 => (Tone::Dim, Tone::Dim),
        false => (Tone::Plain, Tone::Plain),
    };
    [
        (name, one.id.to_string()),
        (words, one.score.to_string()),
        (words, one.base.to_string()),
        (words, format!("+{}", one.tag_boost)),
        (words, one.matched_terms.join(" ")),
        (words, one.matched_tags.join(", ")),
    ]
}

/// Answers each message with one line, in order. An invalid message gets an error on its line.
fn stream(face: &mut Face<'_>, arguments: &Arguments) -> Result<ExitCode> {
    let options = options(arguments, face.settings, arguments.explain);
    let router = Router::open(&face.surroundings()?, options, None)?;
    let warnings = router.warnings.iter();
    warnings.for_each(|warning| face.output.note(warning));
    let mut lines = Lines::new(BufReader::with_capacity(CHUNK, stdin()), LINE_MAX);
    let (mut answers, mut n_lines, mut n_faulty) = (face.output.stream(), 0_usize, 0_usize);
    while let Some(line) = lines.next_line().map_err(stdin_unreadable)? {
        let query = line.parse(LINE_MAX, Query::parse).map(|query| Query {
            agent: query.agent.or_else(|| arguments.requested_agent.clone()),
            ..query
        });
        n_lines += 1;
        n_faulty += usize::from(query.is_err());
        let routed = query.as_ref().map(|query| router.route(query));
        answers.send("route", &routed.map_err(Error::clone));
        if !answers.is_open() {
            break;
        }
        if lines.needs_input() {
            answers.flush();
        }
    }
    if n_lines == 0 {
        face.output.note("no messages on standard input");
    }
    if n_faulty > 0 {
        answers.fails(Code::StepsFailed);
    }
    Ok(face.output.end(answers))
}
