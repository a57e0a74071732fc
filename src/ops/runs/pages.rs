//! What happened in a run and what its agents wrote, a part at a time.

mod lines;
mod written;

use serde::{Deserialize, Serialize};

use self::lines::{Found, Lines};
use super::listing::owned;
use super::{journal, no_run, settled};
use crate::error::{Code, Error, Result, quote};
use crate::file;
use crate::id::{TaskId, digest};
use crate::ops::Surroundings;
use crate::ops::work::Memory;
use crate::run::Line;
use crate::run::transcript;
use crate::store::agency::Agency;

/// Most bytes of a prompt.
const PROMPT_MAX: u64 = 4 << 20;
/// Most matches that are told.
const MATCHES_MAX: usize = 10_000;

/// Some of what happened.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct EventPage {
    /// The events, in order.
    pub(crate) events: Vec<Line>,
    /// Cursor to go on from; none at the end.
    pub(crate) next: Option<u64>,
}

/// Some lines of what an agent wrote.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct LogPage {
    /// How many lines there are by now.
    pub(crate) total: usize,
    /// Number of the first of these lines, from 0.
    pub(crate) from: usize,
    pub(crate) lines: Vec<LogLine>,
    /// Whether more may come.
    pub(crate) following: bool,
    /// Numbers of the lines that hold what is looked for.
    pub(crate) matches: Option<Vec<usize>>,
}

/// A line with its number.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct LogLine {
    /// Its number, from 0.
    pub(crate) n: usize,
    /// When, in milliseconds since the run began; none where nobody knows.
    pub(crate) ms: Option<u64>,
    /// What it says.
    #[serde(flatten)]
    pub(crate) line: transcript::Line,
}

/// A prompt as an agent got it.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Debug, Serialize)]
pub(crate) struct PromptText {
    pub(crate) text: String,
    /// How many bytes it has.
    pub(crate) bytes: usize,
    pub(crate) digest: String,
}

/// Which lines.
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct LogWanted {
    pub(crate) task: Option<TaskId>,
    /// The try; by default the last.
    pub(crate) attempt: Option<u32>,
    /// Number of the first line; below 0 from the end.
    pub(crate) from: i64,
    #[serde(default = "usual_limit")]
    #[cfg_attr(feature = "schemas", schemars(range(min = 1, max = 2000)))]
    pub(crate) limit: u32,
    /// Words to look for.
    #[serde(rename = "q")]
    pub(crate) words: String,
}

fn usual_limit() -> u32 {
    500
}

pub(crate) fn events(
    surroundings: &Surroundings,
    id: &str,
    user: Option<&str>,
    task: Option<TaskId>,
    since: u64,
    limit: u32,
) -> Result<EventPage> {
    let workspace = surroundings.workspace()?;
    let mut agency = settled(&workspace, &surroundings.clock)?.ok_or_else(|| no_run(id))?;
    let transaction = agency.read()?;
    owned(&*transaction, id, user)?;
    let events = transaction.events(Some(id), since, limit)?;
    let is_full = events.len() >= limit as usize;
    let next = events.last().map(|event| event.cursor).filter(|_| is_full);
    let wanted = task.map(|task| task.to_string());
    let lines = events.iter().map(Line::from);
    let fits = |line: &Line| wanted.is_none() || line.task_id == wanted;
    Ok(EventPage {
        events: lines.filter(fits).collect(),
        next,
    })
}

pub(crate) fn log(
    surroundings: &Surroundings,
    memory: &mut Memory,
    id: &str,
    user: Option<&str>,
    wanted: &LogWanted,
) -> Result<LogPage> {
    let found = Found::find(surroundings, memory, id, user, wanted)?;
    let mut lines = found.lines(wanted.task)?;
    let total = lines.total();
    let from = match usize::try_from(wanted.from) {
        Ok(from) => from.min(total),
        Err(_) => {
            total.saturating_sub(usize::try_from(wanted.from.unsigned_abs()).unwrap_or(total))
        }
    };
    let matches = match wanted.words.is_empty() {
        true => None,
        false => Some(matches(&mut lines, &wanted.words)?),
    };
    let shown = from..from.saturating_add(wanted.limit as usize).min(total);
    let shown: Result<Vec<LogLine>> = shown
        .map(|n| {
            let raw = lines.line(n)?;
            let mut line = transcript::line(raw.ch, &raw.text);
            line.error |= raw.error;
            line.bytes += raw.beyond;
            line.cut |= raw.beyond > 0;
            let ms = raw.ms;
            Ok(LogLine { n, ms, line })
        })
        .collect();
    Ok(LogPage {
        total,
        from,
        lines: shown?,
        following: found.is_going_on(),
        matches,
    })
}

fn matches(lines: &mut Lines<'_>, words: &str) -> Result<Vec<usize>> {
    let words = words.to_lowercase();
    let mut matches = Vec::new();
    for n in 0..lines.total() {
        if matches.len() == MATCHES_MAX {
            break;
        }
        if lines.line(n)?.text.to_lowercase().contains(&words) {
            matches.push(n);
        }
    }
    Ok(matches)
}

pub(crate) fn prompt(
    surroundings: &Surroundings,
    id: &str,
    user: Option<&str>,
    task: TaskId,
    attempt: u32,
) -> Result<PromptText> {
    let workspace = surroundings.workspace()?;
    let mut agency = settled(&workspace, &surroundings.clock)?.ok_or_else(|| no_run(id))?;
    owned(&*agency.read()?, id, user)?;
    let path = journal::place(&workspace, id)?.join(format!("{task}-{attempt}.prompt.md"));
    let missing = || {
        let message = format!("the run {id} has no prompt of try {attempt} of {task}");
        Error::new(Code::RunNotFound, message).fix(format!("cleo runs show {}", quote(id)))
    };
    if !path.is_file() {
        return Err(missing());
    }
    let bytes = file::read(&path, PROMPT_MAX)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(PromptText {
        digest: digest(&bytes),
        bytes: bytes.len(),
        text,
    })
}
